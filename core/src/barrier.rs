//! Barriers: a login, a paywall or a bot protection before a site, recognised so that it is never passed (P5).
//!
//! Recognised are statuses, fields that the makers of bot protections document, and redirects to an evident login page. What this
//! deliberately does not do: look into a body, or guess. A field that every answer of a protected site carries is no evidence; one
//! that only a challenge carries is.

use serde::{Deserialize, Serialize};

use crate::response::ResponseHead;
use crate::url::PageUrl;

/// What stands before the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BarrierKind {
    /// 401 or 407: credentials are wanted.
    LoginRequired,
    /// 402: money is wanted.
    PaymentRequired,
    /// 403: the server will not, whatever is tried.
    Forbidden,
    /// 451: a law or a court stands before it.
    LegallyBlocked,
    /// A bot protection wants a proof that a person is there.
    Challenge,
    /// The way leads to an evident login page.
    LoginRedirect,
}

impl BarrierKind {
    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::LoginRequired => "a login is required",
            Self::PaymentRequired => "a payment is required",
            Self::Forbidden => "access is forbidden",
            Self::LegallyBlocked => "blocked for legal reasons",
            Self::Challenge => "a bot protection asks for a proof",
            Self::LoginRedirect => "redirected to a login page",
        }
    }
}

/// Fields by which a bot protection marks a challenge, with the values that do: Cloudflare, AWS WAF, Vercel. All lower case.
const CHALLENGE_FIELDS: &[(&str, &[&str])] = &[
    ("cf-mitigated", &["challenge"]),
    ("x-amzn-waf-action", &["challenge", "captcha"]),
    ("x-vercel-mitigated", &["challenge", "deny"]),
];

/// Last path segments that evidently are login pages; lower case, without hyphens, underscores and a script's file ending.
const LOGIN_SEGMENTS: &[&str] =
    &["login", "logon", "signin", "signon", "wplogin", "userlogin", "loginform", "loginpage"];

/// Pairs of last path segments of login flows that do not say so in the last one; lower case.
const LOGIN_FLOWS: &[[&str; 2]] =
    &[["oauth", "authorize"], ["oauth2", "authorize"], ["openid", "auth"], ["saml2", "sso"], ["saml", "sso"]];

/// First labels of hosts that exist to log people in; lower case.
const LOGIN_HOSTS: &[&str] = &["accounts", "auth", "idp", "login", "signin", "sso"];

/// Endings of script files that are looked past.
const SCRIPT_ENDINGS: &[&str] = &[".php", ".aspx", ".asp", ".jsp", ".jsf", ".do", ".action", ".cgi", ".html", ".htm"];

/// The barrier that a status alone announces.
pub const fn of_status(status: u16) -> Option<BarrierKind> {
    match status {
        401 | 407 => Some(BarrierKind::LoginRequired),
        402 => Some(BarrierKind::PaymentRequired),
        403 => Some(BarrierKind::Forbidden),
        451 => Some(BarrierKind::LegallyBlocked),
        _ => None,
    }
}

/// The barrier that an answer's head announces, status and fields; the redirect's target is asked about with [`is_login_redirect`].
pub fn of_head(head: &ResponseHead) -> Option<BarrierKind> {
    if is_challenge(head) { Some(BarrierKind::Challenge) } else { of_status(head.status) }
}

fn is_challenge(head: &ResponseHead) -> bool {
    CHALLENGE_FIELDS.iter().any(|(name, marks)| {
        head.all(name).any(|value| {
            let value = value.trim_ascii();
            marks.iter().any(|mark| value.eq_ignore_ascii_case(mark.as_bytes()))
        })
    })
}

/// Whether a redirect from `request` to `target` sends the visitor to log in.
///
/// A login page that was itself asked for and moves within its host is no barrier: nothing else was to be had there.
pub fn is_login_redirect(request: &PageUrl, target: &PageUrl) -> bool {
    if request.host() == target.host() {
        return is_login_path(target) && !is_login_path(request);
    }
    is_login_path(target) || is_login_host(target.host()) && first_label(request.host()) != first_label(target.host())
}

fn is_login_host(host: &str) -> bool {
    // A name of two labels or one is a site of its own, such as `login.gov`, and not a site's door.
    host.split('.').count() > 2 && LOGIN_HOSTS.contains(&first_label(host))
}

fn first_label(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

fn is_login_path(url: &PageUrl) -> bool {
    let path = url.as_url().path().to_ascii_lowercase();
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let Some(last) = segments.next() else { return false };
    let stem = SCRIPT_ENDINGS.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    let letters: String = stem.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    if LOGIN_SEGMENTS.contains(&letters.as_str()) {
        return true;
    }
    segments.next().is_some_and(|before| LOGIN_FLOWS.contains(&[before, stem]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_redirect(request: &str, target: &str, wanted: bool) {
        let (from, to) = (PageUrl::parse(request, None).unwrap(), PageUrl::parse(target, None).unwrap());
        assert_eq!(is_login_redirect(&from, &to), wanted, "{request} -> {target}");
    }

    #[test]
    fn statuses_that_announce_a_barrier() {
        for (status, wanted) in [
            (401, Some(BarrierKind::LoginRequired)),
            (402, Some(BarrierKind::PaymentRequired)),
            (403, Some(BarrierKind::Forbidden)),
            (407, Some(BarrierKind::LoginRequired)),
            (451, Some(BarrierKind::LegallyBlocked)),
            (200, None),
            (404, None),
            (429, None),
            (503, None),
        ] {
            assert_eq!(of_status(status), wanted, "{status}");
        }
    }

    #[test]
    fn fields_that_only_a_challenge_carries() {
        for (status, name, value, wanted) in [
            (200, "cf-mitigated", "challenge", Some(BarrierKind::Challenge)),
            (403, "CF-Mitigated", " Challenge ", Some(BarrierKind::Challenge)),
            (202, "x-amzn-waf-action", "challenge", Some(BarrierKind::Challenge)),
            (405, "x-amzn-waf-action", "captcha", Some(BarrierKind::Challenge)),
            (429, "x-vercel-mitigated", "challenge", Some(BarrierKind::Challenge)),
            (200, "cf-ray", "challenge", None),
            (200, "server", "cloudflare", None),
            (200, "cf-mitigated", "", None),
            (403, "cf-mitigated", "other", Some(BarrierKind::Forbidden)),
        ] {
            assert_eq!(of_head(&ResponseHead::new(status).with(name, value)), wanted, "{status} {name}: {value}");
        }
    }

    #[test]
    fn redirects_to_a_login_are_seen() {
        for target in [
            "https://a.example/login",
            "https://a.example/users/sign_in?return_to=%2Fx",
            "https://a.example/wp-login.php?redirect_to=x",
            "https://a.example/Account/LogOn.aspx",
            "https://a.example/accounts/login/",
            "https://other.example/oauth2/authorize?client_id=1",
            "https://accounts.other.example/v3/x",
            "https://sso.a.example/",
        ] {
            check_redirect("https://a.example/page", target, true);
        }
        check_redirect("https://a.example/login", "https://accounts.other.example/x", true);
    }

    #[test]
    fn other_redirects_are_not() {
        for target in [
            "https://a.example/blog/login-problems",
            "https://a.example/loginova",
            "https://a.example/login/help",
            "https://www.a.example/",
            "https://author.a.example/",
            "https://a.example/?next=/login",
            "https://login.example/",
        ] {
            check_redirect("http://a.example/page", target, false);
        }
        check_redirect("http://a.example/login", "https://a.example/login/", false);
        check_redirect("http://login.a.example/", "https://login.a.example/start", false);
        check_redirect("http://login.a.example/", "https://login.b.example/start", false);
    }
}
