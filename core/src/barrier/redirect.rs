//! Redirects that send the visitor to log in, or to a challenge.

use ::url::Url;

use crate::url::PageUrl;

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

/// Hosts that exist to challenge visitors: Radware Bot Manager, DataDome.
pub(super) const CHALLENGE_HOSTS: &[&str] = &["validate.perfdrive.com", "geo.captcha-delivery.com"];

/// Starts of paths under which services serve their challenges: SiteGround, Anubis, go-away, Akamai, LiteSpeed, Cloudflare.
pub(super) const CHALLENGE_PATHS: &[&str] = &[
    "/.well-known/sgcaptcha/",
    "/.within.website/x/cmd/anubis/",
    "/.well-known/.git.gammaspectra.live/git/go-away/",
    "/_sec/cp_challenge/",
    "/.lsrecap/recaptcha",
    "/cdn-cgi/challenge-platform/",
];

/// Starts of names of query parameters that a challenge adds: Cloudflare, go-away, Akamai.
pub(super) const CHALLENGE_PARAMETERS: &[&str] = &["__cf_chl_", "__goaway_challenge", "bm-verify"];

/// Whether a redirect leads to a challenge of a bot protection.
pub fn is_challenge_redirect(target: &PageUrl) -> bool {
    let url = target.as_url();
    CHALLENGE_HOSTS.contains(&target.host())
        || CHALLENGE_PATHS.iter().any(|start| url.path().starts_with(start))
        || url.query_pairs().any(|(name, _)| CHALLENGE_PARAMETERS.iter().any(|start| name.starts_with(start)))
}

/// Whether a redirect from `request` to `target` sends the visitor to log in.
///
/// A login page that was itself asked for and moves within its host is no barrier: nothing else was to be had there.
pub fn is_login_redirect(request: &PageUrl, target: &PageUrl) -> bool {
    if request.host() == target.host() {
        return is_login_address(target.as_url()) && !is_login_address(request.as_url());
    }
    is_login_address(target.as_url())
        || is_login_host(target.host()) && first_label(request.host()) != first_label(target.host())
}

fn is_login_host(host: &str) -> bool {
    // A name of two labels or one is a site of its own, such as `login.gov`, and not a site's door.
    host.split('.').count() > 2 && LOGIN_HOSTS.contains(&first_label(host))
}

fn first_label(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

/// Whether a URL is evidently that of a login page, by its path.
pub fn is_login_address(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let Some(last) = segments.next() else { return false };
    let stem = SCRIPT_ENDINGS.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    let letters: String = stem.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    if LOGIN_SEGMENTS.contains(&letters.as_str()) {
        return true;
    }
    segments.next().is_some_and(|before| LOGIN_FLOWS.contains(&[before, stem]))
}
