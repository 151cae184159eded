//! Pages that are a barrier in their body, written in the manner of what is publicly known of such pages, and honest pages that look
//! like one.
//!
//! A barrier links to a page that must not be asked: the links of a barrier are not followed.

use super::faults::PageFault;

/// What an ordinary page wears to show its fault.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dress {
    /// Goes into its head element.
    pub(super) in_head: &'static str,
    /// Goes before its text.
    pub(super) in_body: &'static str,
    /// Goes into its header.
    pub(super) fields: &'static [(&'static str, &'static str)],
}

/// What the page of a fault wears, if it is an ordinary page.
pub(super) fn dress(fault: PageFault) -> Dress {
    DRESSES.iter().find(|(of, _)| *of == fault).map_or(Dress::default(), |(_, dress)| *dress)
}

const fn head(in_head: &'static str) -> Dress {
    Dress { in_head, in_body: "", fields: &[] }
}

const fn body(in_body: &'static str) -> Dress {
    Dress { in_head: "", in_body, fields: &[] }
}

const DRESSES: [(PageFault, Dress); 17] = [
    (
        PageFault::Paywalled,
        head(
            "<script type=\"application/ld+json\">{\"@context\":\"https://schema.org\",\"@graph\":[{\"@type\":\"Organization\"},\
             {\"@type\":\"NewsArticle\",\"isAccessibleForFree\":\"False\",\"hasPart\":{\"@type\":\"WebPageElement\",\
             \"isAccessibleForFree\":\"False\",\"cssSelector\":\".rest\"}}]}</script>\n",
        ),
    ),
    (PageFault::PaywalledTier, head("<meta property=\"article:content_tier\" content=\"locked\">\n")),
    (PageFault::MeteredTier, head("<meta property=\"article:content_tier\" content=\"metered\">\n")),
    (
        PageFault::FreeArticle,
        head(
            "<script type=\"application/ld+json\">{\"@type\":\"NewsArticle\",\"isAccessibleForFree\":true}</script>\n",
        ),
    ),
    (
        PageFault::PaidPart,
        head(
            "<script type=\"application/ld+json\">{\"@type\":\"NewsArticle\",\"hasPart\":{\"@type\":\"WebPageElement\",\
             \"isAccessibleForFree\":false,\"cssSelector\":\".extra\"}}</script>\n",
        ),
    ),
    (
        PageFault::PaidThing,
        head("<script type=\"application/ld+json\">{\"@type\":\"Museum\",\"isAccessibleForFree\":false}</script>\n"),
    ),
    (
        PageFault::AboutLogins,
        body(
            "<p>To log in, choose Sign in, then type your user name and your password. A login is required for members only.</p>\n\
             <p><a href=\"/\">Log in</a></p>\n",
        ),
    ),
    (
        PageFault::PasswordHelp,
        body(
            "<p>A field for a password:</p><code><input type=\"password\" value=\"example\"></code>\n\
             <pre>&lt;input type=\"password\"&gt;</pre>\n",
        ),
    ),
    (
        PageFault::LoginBox,
        body(
            "<form class=\"box\" method=\"post\" action=\"/session\"><label>Name <input name=\"user\"></label>\
             <label>Password <input type=\"password\" name=\"password\"></label><button>Log in</button></form>\n",
        ),
    ),
    (PageFault::LoginLinked, body("<p><a href=\"/account/login\">Log in</a></p>\n")),
    (
        PageFault::AboutChallenges,
        body(
            "<p>You see \u{201c}Just a moment...\u{201d} or \u{201c}Checking your browser before accessing\u{201d}: a challenge.</p>\n\
             <pre>&lt;script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"&gt;\nwindow._cf_chl_opt\n\
             &lt;div id=\"px-captcha\"&gt;</pre>\n",
        ),
    ),
    (
        PageFault::CaptchaOnForm,
        body(
            "<form method=\"post\" action=\"/contact\"><label>Your message <textarea name=\"text\"></textarea></label>\
             <div class=\"g-recaptcha\" data-sitekey=\"6Lpractice\"></div><button>Send</button></form>\n",
        ),
    ),
    (
        PageFault::BehindProtection,
        Dress {
            in_head: "<script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>\n",
            in_body: "",
            fields: &[
                ("CF-Ray", "8c0ffee8c0ffee00-OTP"),
                ("X-DataDome", "protected"),
                ("Set-Cookie", "__cf_bm=practice; Path=/; HttpOnly"),
            ],
        },
    ),
    (
        PageFault::NewsletterForm,
        body(
            "<form method=\"post\" action=\"/mail\"><input type=\"email\" name=\"mail\"><button>Subscribe</button></form>\n",
        ),
    ),
    (
        PageFault::SearchForm,
        body(
            "<form role=\"search\" action=\"/articles\"><input type=\"search\" name=\"q\"><button>Search</button></form>\n",
        ),
    ),
    (PageFault::ScriptNote, body("<noscript><p>Please enable JavaScript and cookies to continue.</p></noscript>\n")),
    (
        PageFault::CookieBanner,
        body(
            "<div role=\"dialog\" id=\"cookie-banner\"><p>We use cookies. Accept them to go on.</p><button>Accept</button></div>\n",
        ),
    ),
];

/// The path of the page that the barrier of this name links to.
pub(super) fn behind_path(name: &str) -> String {
    format!("/unfollowed/behind-{name}.html")
}

/// Head and body elements of the page that is a barrier, if this fault is one; each with its own way of saying so.
fn elements(fault: PageFault) -> Option<(&'static str, &'static str)> {
    const BODIES: [(PageFault, &str, &str); 7] = [
        (
            PageFault::ChallengeScript,
            "<title>Just a moment...</title>",
            "<p>Checking whether the connection is secure.</p><script>(function(){window._cf_chl_opt={cType:'managed'};}());</script>",
        ),
        (
            PageFault::ChallengeRefresh,
            "<title>&nbsp;</title><meta http-equiv=\"refresh\" content=\"5; URL='/?bm-verify=AAQAAAAN_practice'\">",
            "<p>Please wait.</p>",
        ),
        (
            PageFault::ChallengeFrame,
            "",
            "<iframe id=\"main-iframe\" src=\"/_Incapsula_Resource?SWUDNSAI=31&amp;xinfo=1\">Request unsuccessful.</iframe>",
        ),
        (
            PageFault::ChallengeProof,
            "<title>Making sure that you are no bot</title><script id=\"anubis_challenge\" type=\"application/json\">{}</script>",
            "<h1>Making sure that you are no bot</h1><p>Loading...</p>",
        ),
        (
            PageFault::ChallengeWords,
            "<title>Just a moment...</title>",
            "<h1>One moment</h1><p>Checking your browser.</p>",
        ),
        (
            PageFault::ChallengeCaptcha,
            "<title>Security check</title>",
            "<h1>Are you a person?</h1><form method=\"post\"><div class=\"h-captcha\" data-sitekey=\"practice\"></div>\
             <input type=\"hidden\" name=\"to\" value=\"/\"><button>Go on</button></form>",
        ),
        (
            PageFault::PasswordForm,
            "<title>Members</title>",
            "<h1>Members only</h1><form method=\"post\" action=\"/enter\"><label>Name <input name=\"user\"></label>\
             <label>Password <input type=\"password\" name=\"password\"></label><button>Log in</button></form>",
        ),
    ];
    BODIES.iter().find(|(of, ..)| *of == fault).map(|(_, head, body)| (*head, *body))
}

/// Whether the page of this fault is nothing but a barrier, with a link to a page behind it.
pub(super) fn is_bare_barrier(fault: PageFault) -> bool {
    elements(fault).is_some()
}

/// The page of a fault that is nothing but a barrier. The canary words stand in its text, and nothing of it may be kept.
pub(super) fn bare_barrier(fault: PageFault, name: &str, canaries: &str) -> String {
    let (head, body) = elements(fault).unwrap_or_default();
    let behind = behind_path(name);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{head}\n</head>\n<body>\n{body}\n<p>{canaries}</p>\n\
         <p><a href=\"{behind}\">Go on</a></p>\n</body>\n</html>\n"
    )
}
