//! Honest pages that look like a barrier and are none: each is stored.

use super::{article, check, check_at, read_at};
use crate::barrier::BarrierKind::Challenge;

const LOGIN_BOX: &str =
    "<form action=/login method=post><input name=user><input type=password name=pass><button>Log in</button></form>";

#[track_caller]
fn check_honest(html: &str) {
    check(html, None);
}

#[test]
fn pages_about_logins_and_passwords() {
    let text = article();
    check_honest(&format!("<title>How to log in safely</title><h1>Log in, sign in, password</h1>{text}"));
    check_honest(&format!(
        "<title>Change your password</title><h1>Help</h1>{text}<code><input type=password value=secret></code>"
    ));
    // Short as it is, the input is an example.
    check_honest("<title>Help</title><h1>Password field</h1><pre><input type=password></pre><p>So it looks.</p>");
    check_honest("<title>Forms</title><p>Write <code>&lt;input type=\"password\"&gt;</code> for a password.</p>");
    check_honest(&format!("<title>Login</title><nav><a href=/login>Log in</a></nav><h1>Login</h1>{text}"));
    check_honest("<title>Contact</title><p>Call us.</p><a href=/login>Log in</a><a href=/register>Register</a>");
}

#[test]
fn login_box_beside_content() {
    let text = article();
    check_honest(&format!("<title>Shop</title>{LOGIN_BOX}<h1>Tools</h1>{text}"));
    let tiles = "<div><a href=/p/1>Hammer, 500 g</a><span>12.90</span></div>".repeat(24);
    check_honest(&format!("<title>Shop</title>{LOGIN_BOX}{tiles}"));
    // A short page of a site whose login box stands in its header, opens on a click, or is hidden until then.
    for frame in ["header", "nav", "footer", "div role=dialog", "div hidden", "div aria-hidden=true", "dialog"] {
        let tag = frame.split(' ').next().unwrap();
        check_honest(&format!("<title>Hours</title><{frame}>{LOGIN_BOX}</{tag}><h1>Open from 9 to 5</h1>"));
    }
    check_honest(&format!(
        "<title>x</title><template>{LOGIN_BOX}</template><noscript>{LOGIN_BOX}</noscript><p>Hello</p>"
    ));
}

#[test]
fn other_forms() {
    check_honest(
        "<title>Search</title><form action=/search role=search><input name=q type=search><button>Search</button></form>",
    );
    check_honest("<title>Find</title><form action=/find><input name=q></form>");
    check_honest(
        "<title>News by mail</title><p>Once a month.</p><form><input type=email name=mail><button>Subscribe</button></form>",
    );
    check_honest(
        "<title>Contact</title><form method=post><input name=name><textarea name=text></textarea><div class=g-recaptcha data-sitekey=6L>\
         </div><button>Send</button></form><script src=https://www.google.com/recaptcha/api.js async defer></script>",
    );
    check_honest(&format!("<title>Post</title>{}<div class=cf-turnstile data-sitekey=0x4></div>", article()));
    check_honest(
        "<title>x</title><p>Short.</p><script src='https://www.google.com/recaptcha/api.js?render=6L'></script>",
    );
    let cookies =
        "<div id=cookie-banner role=dialog><p>We use cookies to remember you.</p><button>Accept</button></div>";
    check_honest(&format!("<title>Small</title>{cookies}<p>A short page.</p>"));
    check_honest(&format!("{}<p>A short page.</p>", cookies.replace(" role=dialog", "")));
}

#[test]
fn pages_about_bot_protections() {
    let quoted = "<p>You see \u{201c}Just a moment...\u{201d} and \u{201c}Checking your browser before accessing\u{201d}.</p>\
                  <pre>&lt;script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"&gt; window._cf_chl_opt</pre>";
    check_honest(&format!(
        "<title>What Cloudflare's 'Just a moment...' means</title><h1>Just a moment...</h1>{quoted}"
    ));
    check_honest(&format!("<title>Just a moment...</title><h1>A novel in parts</h1>{}", article()));
    check_honest(&format!("<title>Anubis</title><p>anubis_challenge, /.within.website/x/cmd/anubis/</p>{quoted}"));
    check_honest(
        "<title>Demo</title><p id=demo>px-captcha</p><a href='/.well-known/sgcaptcha/'>x</a><p id=anubis_challenge_notes>x</p>",
    );
    // Frameworks put the text of a page into a script once more.
    check_honest(&format!(
        "<title>Notes</title><script>self.__next_f.push([1,\"{}window._cf_chl_opt and sucuri_cloudproxy_js= and window.gokuProps\"])</script>\
         <p>Notes.</p>",
        "On protections. ".repeat(12)
    ));
    check_honest(
        "<title>Notes</title><script type=application/json>{\"text\":\"window._cf_chl_opt\"}</script><p>Notes.</p>",
    );
}

#[test]
fn pages_behind_a_bot_protection_that_lets_visitors_pass() {
    let text = article();
    for script in [
        "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        "<script src='/cdn-cgi/challenge-platform/h/g/scripts/jsd/8/main.js'></script>",
        "<script>(function(){function c(){var b=a.contentDocument;if(b){var d=b.createElement('script');d.innerHTML=\"window.__CF$cv$params={}\"}}})();\
         </script>",
        "<script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/p.js'></script>",
        "<script src='https://client.px-cloud.net/PXab/main.min.js'></script><script>window._pxAppId='PXab'</script>",
        "<script src='https://js.datadome.co/tags.js'></script><script>window.ddjskey='A'</script>",
        "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
    ] {
        check_honest(&format!("<title>Small</title>{script}<p>A short page.</p>"));
    }
    for script in [
        "<script src='/_Incapsula_Resource?SWJIYLWA=719d&ns=2'></script>",
        "<script src='/TSPD/08f1ab?type=17'></script>",
        "<script src='https://a.b.eu-west-1.token.awswaf.com/a/b/challenge.js' defer></script>",
        "<script src='/_fs-ch-1T1wmsGaOgGaSxcX/challenge.js'></script>",
    ] {
        check_honest(&format!("<title>News</title>{script}{text}"));
        let list = "<li><a href=/a>One of many links</a></li>".repeat(40);
        check_honest(&format!("<title>Index</title>{script}<ul>{list}</ul>"));
    }
    check_honest(&format!(
        "<title>News</title><noscript>Please enable JavaScript to view the page content.</noscript>{text}"
    ));
    check_honest(
        "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
    );
    check_honest(
        "<meta http-equiv=refresh content='3; url=/news/new-home'><title>Moved</title><p>This page has moved.</p>",
    );
    // A shop whose login opens in a corner of its own, as a component.
    let corner =
        "<login-corner><template shadowrootmode=open><form><input type=password></form></template></login-corner>";
    check_honest(&format!("<title>Shop</title><header>{corner}</header><p>Chairs and tables.</p>"));
    check_honest(&format!("<title>Shop</title>{corner}{text}"));
    let shown = format!("<my-story><template shadowrootmode=open>{text}</template></my-story>");
    check_honest(&format!("<title>News</title>{corner}{shown}"));
    check_honest(&format!("<meta http-equiv=refresh content='5; url=/login'><title>News</title>{text}"));
}

#[test]
fn pages_that_are_free_or_speak_of_something_else() {
    let ld = |json: &str| check_honest(&format!("<script type=application/ld+json>{json}</script>{}", article()));
    for json in [
        r#"{"@type":"NewsArticle","isAccessibleForFree":true}"#,
        r#"{"@type":"NewsArticle","isAccessibleForFree":"True"}"#,
        r#"{"@type":"NewsArticle","hasPart":{"@type":"WebPageElement","isAccessibleForFree":false,"cssSelector":".x"}}"#,
        r#"{"@type":"NewsArticle","isAccessibleForFree":true,"hasPart":[{"@type":"WebPageElement","isAccessibleForFree":"False"}]}"#,
        r#"{"@type":"Museum","name":"x","isAccessibleForFree":false}"#,
        r#"{"@graph":[{"@type":"WebPage"},{"@type":"Event","isAccessibleForFree":false},{"@type":"Course","isAccessibleForFree":"false"}]}"#,
        r#"{"@type":"Dataset","isAccessibleForFree":false}"#,
        r#"{"@type":"NewsArticle","isAccessibleForFree":false,"url":"https://site.example/news/another.html"}"#,
        r#"{"@type":"ItemList","itemListElement":[{"@type":"NewsArticle","isAccessibleForFree":false,"url":"/a"}]}"#,
        r#"{"@type":"NewsArticle","articleBody":"isAccessibleForFree: false"}"#,
        r#"{"isAccessibleForFree":false}"#,
        r#"{"@type":"NewsArticle","isAccessibleForFree":false"#,
        "[[[[",
        "",
    ] {
        ld(json);
    }
    let text = article();
    for tier in ["free", "metered", ""] {
        check_honest(&format!("<meta property='article:content_tier' content='{tier}'>{text}"));
    }
    check_honest(&format!("<pre>{{\"@type\":\"NewsArticle\",\"isAccessibleForFree\":false}}</pre>{text}"));
    check_honest(&format!(
        "<article itemscope itemtype='https://schema.org/NewsArticle'><div itemprop=hasPart itemscope \
         itemtype='https://schema.org/WebPageElement'><meta itemprop=isAccessibleForFree content=False></div>{text}</article>"
    ));
    check_honest(&format!(
        "<div itemscope itemtype='https://schema.org/Museum'><meta itemprop=isAccessibleForFree content=False></div>{text}"
    ));
}

#[test]
fn page_of_which_only_the_start_came_is_not_judged_by_how_little_it_holds() {
    let url = ::url::Url::parse("https://site.example/shop").unwrap();
    let head = crate::response::ResponseHead::new(200);
    let cut = |html: &str| {
        let page = crate::extract::FetchedPage {
            url: &url,
            head: &head,
            body: html.as_bytes(),
            cut: true,
            product_token: "lohisoftbot",
        };
        crate::extract::extract(page, &mut || true).barrier
    };
    assert_eq!(cut(LOGIN_BOX), None);
    assert_eq!(cut("<div data-sitekey=x></div>"), None);
    assert_eq!(cut("<title>Just a moment...</title>"), None);
    assert_eq!(cut("<script id=anubis_challenge type=application/json>{}</script>"), Some(Challenge));
}

#[test]
fn barrier_changes_nothing_of_what_is_read() {
    let page = read_at("https://site.example/x", "<title>Just a moment...</title><h1>Wait</h1><a href=/y>why</a>");
    assert_eq!((page.title.as_deref(), page.headings.len(), page.links.len()), (Some("Just a moment..."), 1, 1));
    assert_eq!(page.barrier, Some(Challenge));
    check_at("https://login.site.example/", "<title>Sign-in service</title><p>Choose your school.</p>", None);
}

proptest::proptest! {
    #[test]
    fn no_json_makes_it_panic(json in "[\\[\\]{}:,\"a@/ ]{0,40}isAccessibleForFree[\\[\\]{}:,\"a@/ ]{0,40}") {
        super::read_at("https://site.example/x", &format!("<script type=application/ld+json>{json}</script>"));
    }
}
