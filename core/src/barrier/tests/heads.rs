//! Heads and redirects: one row a mark, one row a look-alike.

use crate::barrier::*;
use crate::response::ResponseHead;
use crate::url::PageUrl;

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
        (403, "x-vercel-mitigated", "deny", Some(BarrierKind::Challenge)),
        (202, "sg-captcha", "challenge", Some(BarrierKind::Challenge)),
        (403, "x-dd-b", "1", Some(BarrierKind::Challenge)),
        (200, "X-DD-B", "2", Some(BarrierKind::Challenge)),
        (
            200,
            "set-cookie",
            "techaro.lol-anubis-cookie-verification=0199-a; Path=/; HttpOnly",
            Some(BarrierKind::Challenge),
        ),
        (401, "www-authenticate", "Basic realm=x", Some(BarrierKind::LoginRequired)),
        (200, "cf-ray", "8a1b2c3d4e5f-OTP", None),
        (200, "server", "cloudflare", None),
        (200, "server", "DDoS-Guard", None),
        (200, "x-cdn", "Imperva", None),
        (200, "x-iinfo", "10-1-2 NNNN CT(1 2 0)", None),
        (200, "x-sucuri-id", "15001", None),
        (200, "x-datadome", "protected", None),
        (200, "x-dd-b", "0", None),
        (200, "set-cookie", "__cf_bm=abc; path=/", None),
        (200, "set-cookie", "datadome=abc; Max-Age=31536000", None),
        (200, "set-cookie", "visid_incap_1=abc; path=/", None),
        (200, "set-cookie", "_abck=abc~-1~; path=/", None),
        (200, "set-cookie", "techaro.lol-anubis-cookie-verification=; Max-Age=0", None),
        (200, "set-cookie", "techaro.lol-anubis-auth=ey; Path=/", None),
        (200, "set-cookie", "seen=techaro.lol-anubis-cookie-verification=1", None),
        (200, "www-authenticate", "Basic realm=more", None),
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

#[track_caller]
fn check_challenge_redirect(target: &str, wanted: bool) {
    assert_eq!(is_challenge_redirect(&PageUrl::parse(target, None).unwrap()), wanted, "{target}");
}

#[test]
fn redirects_to_a_challenge_are_seen() {
    for target in [
        "https://validate.perfdrive.com/64b926/?ssc=https%3A%2F%2Fa.example%2F",
        "https://a.example/.well-known/sgcaptcha/?r=%2F&y=ipc:1",
        "https://a.example/.within.website/x/cmd/anubis/api/check?x=1",
        "https://a.example/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/challenge/x/verify",
        "https://a.example/page?__cf_chl_rt_tk=abc",
        "https://a.example/page?x=1&__goaway_challenge=cookie",
        "https://a.example/page?bm-verify=AAQ",
        "https://a.example/.lsrecap/recaptcha?page=1",
    ] {
        check_challenge_redirect(target, true);
    }
    for target in [
        "https://a.example/challenge",
        "https://a.example/blog/sgcaptcha/",
        "https://a.example/cdn-cgi/l/email-protection",
        "https://a.example/?q=__cf_chl_",
        "https://perfdrive.com/",
        "https://a.example/.well-known/security.txt",
    ] {
        check_challenge_redirect(target, false);
    }
}

#[test]
fn only_what_is_before_the_page_itself_takes_its_record_away() {
    for (kind, wanted) in [
        (BarrierKind::LoginRequired, true),
        (BarrierKind::PaymentRequired, true),
        (BarrierKind::LegallyBlocked, true),
        (BarrierKind::LoginRedirect, true),
        (BarrierKind::PasswordForm, true),
        (BarrierKind::PaywalledContent, true),
        (BarrierKind::Forbidden, false),
        (BarrierKind::Challenge, false),
    ] {
        assert_eq!(kind.closes_page(), wanted, "{kind:?}");
    }
}

#[test]
fn login_form_at_its_own_address_stands_before_nothing() {
    for (kind, url, wanted) in [
        (BarrierKind::PasswordForm, "https://a.example/login?next=/x", true),
        (BarrierKind::PasswordForm, "https://a.example/members", false),
        (BarrierKind::LoginRequired, "https://a.example/login", false),
        (BarrierKind::Challenge, "https://a.example/login", false),
    ] {
        assert_eq!(stands_before_nothing(kind, &PageUrl::parse(url, None).unwrap()), wanted, "{kind:?} {url}");
    }
}
