//! Pages that are a barrier: one row a mark or a shape. All are written for this test in the manner of what is publicly known.

use super::{check, check_at};
use crate::barrier::BarrierKind::{Challenge, LoginRedirect, PasswordForm, PaywalledContent};

#[test]
fn challenge_pages_of_the_common_services() {
    for page in [
        // Cloudflare: the managed challenge, the older check of five seconds, the captcha form.
        "<title>Just a moment...</title><meta name=robots content=noindex,nofollow><body><div class=main-wrapper><noscript>\
         <span>Enable JavaScript and cookies to continue</span></noscript></div><script>(function(){window._cf_chl_opt = {cRay: 'x'};\
         var a = document.createElement('script');}());</script>",
        "<title>Ein Moment</title><script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8'></script><body>",
        "<title>x</title><form id=challenge-form action='/page?__cf_chl_f_tk=abc' method=POST><input type=hidden name=md></form>",
        "<title>Just a moment...</title><h1>site.example</h1><div id=cf-please-wait><p>Checking your browser</p></div>",
        "<title>  just a moment...\n</title><body><p>Please stand by.</p>",
        // Akamai: interstitial and behavioural challenge.
        "<meta http-equiv=refresh content=\"5; URL='/news?bm-verify=AAQAAAAN_____xxx'\"><title>&nbsp;</title><body><iframe src=''></iframe>",
        "<title></title><body><div id=sec-if-cpt-container role=main><p>Powered and protected by</p></div>",
        "<body><iframe id=sec-cpt-if src='/_sec/cp_challenge/crypto_message-4-3.htm'></iframe>",
        // Imperva.
        "<html style='height:100%'><head><META NAME=ROBOTS CONTENT='NOINDEX, NOFOLLOW'></head><body><iframe id=main-iframe \
         src='/_Incapsula_Resource?SWUDNSAI=31&xinfo=5-1'>Request unsuccessful. Incapsula incident ID: 1</iframe></body></html>",
        "<head><script src='/_Incapsula_Resource?SWJIYLWA=719d34d3'></script></head><body></body>",
        // DataDome.
        "<title>site.example</title><body><p id=cmsg>Please enable JS and disable any ad blocker</p><script data-cfasync=false>\
         var dd={'rt':'c'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>",
        "<iframe src='https://geo.captcha-delivery.com/captcha/?initialCid=A' width=100%></iframe>",
        // HUMAN.
        "<title>Access to this page has been denied</title><div id=px-captcha></div><p>Reference ID 1-2-3</p>",
        "<body><script src='//captcha.px-cloud.net/PXab/captcha.js?a=c'></script>",
        // AWS WAF, should it come with 200.
        "<title></title><script type=text/javascript>\n window.awsWafCookieDomainList = [];\n window.gokuProps = {'key':'A'};</script>\
         <script src='https://1c5c.d474.us-west-2.token.awswaf.com/1c5c/challenge.js'></script>",
        // Sucuri, DDoS-Guard, Vercel, Kasada, F5.
        "<html><title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},u,c,U,r,i,l=0,a,\
         e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='cz0i';</script></html>",
        "<title>x</title><body data-ddg-origin=true><div id=link-ddg><a href=https://ddos-guard.net>DDoS-Guard</a></div>\
         <script src='https://check.ddos-guard.net/check.js'></script>",
        "<title>DDoS-Guard</title><body><h1>Checking your browser before accessing site.example</h1>",
        "<title>Vercel Security Checkpoint</title><body><p>We're verifying your browser</p><p>Website owner? Click here to fix</p>",
        "<body><script>window.KPSDK={};KPSDK.now=1;</script><script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/\
         2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?KP_UIDz=1'></script>",
        "<noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 1.</noscript><script>(function(){\n\
         window[\"bobcmn\"] = \"1011111\";})();</script><script src='/TSPD/08f1?type=9'></script><body>",
        // Anubis and go-away.
        "<title>Making sure you're not a bot!</title><script id=anubis_version type=application/json>\"v1.21\"</script>\
         <script id=anubis_challenge type=application/json>{\"rules\":{\"difficulty\":4}}</script><body><h1>Making sure</h1>",
        "<meta http-equiv=refresh content='3; url=/.within.website/x/cmd/anubis/api/pass-challenge?challenge=1'><title>x</title>",
        "<title>Checking</title><script async type=module src='/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/\
         challenge/js-pow-sha256/asset/load.mjs'></script><body><p>Protected by go-away</p>",
        "<meta http-equiv=refresh content='2; url=/page?__goaway_challenge=meta-refresh&__goaway_id=1'><title>x</title>",
        // Hosts and smaller services.
        "<html><head><meta http-equiv='refresh' content='0;/.well-known/sgcaptcha/?r=%2F&y=ipc:1'></meta></head></html>",
        "<title>One moment, please...</title><form id=wsidchk-form style='display:none'><input type=hidden id=wsidchk></form>",
        "<title>Client Challenge</title><noscript>JavaScript is disabled</noscript><script src='/_fs-ch-1T1wmsGaOgGaSxcX/script.js'></script>",
        "<title>Bot Verification</title><form id=lsrecaptcha-form method=POST action='/.lsrecap/recaptcha?'></form>",
        "<title>Establishing a secure connection ...</title><script src='/.bunny-shield/assets/shield-challenge.js'></script>",
        "<html><script>var arg1='38B18065C640DD60B8A3AD8BFA4DE2D694EDD37C';var _0x4818=['x'];</script></html>",
    ] {
        check(page, Some(Challenge));
    }
}

#[test]
fn captcha_with_nothing_beside_it() {
    for page in [
        "<title>Security check</title><h1>Please verify you are human</h1><form method=post><div class=g-recaptcha data-sitekey=6L></div>\
         <input type=hidden name=to value=/><button>Go on</button></form>",
        "<title>One more step</title><div class=h-captcha data-sitekey=abc><textarea name=h-captcha-response></textarea></div>",
        "<p>Checking</p><div class=cf-turnstile data-sitekey=0x4AAA></div><script src=https://challenges.cloudflare.com/turnstile/v0/api.js>\
         </script>",
    ] {
        check(page, Some(Challenge));
    }
}

#[test]
fn password_form_and_little_else() {
    let form = "<form method=post action=/enter><label>User <input name=user></label><label>Password <input type=password name=pass>\
                </label><label><input type=checkbox> Stay logged in</label><button>Log in</button></form>";
    for page in [
        form.to_owned(),
        format!("<title>Members</title><h1>Members only</h1>{form}<p><a href=/lost>Lost your password?</a> <a href=/>Home</a></p>"),
        format!("<nav><a href=/>Home</a><a href=/shop>Shop</a></nav><h1>Intranet</h1>{form}<footer>{}</footer>", "words ".repeat(200)),
        form.replace("type=password", "TYPE=' Password '"),
        format!("{form}<div role=dialog aria-label=cookies><p>{}</p></div>", "We use cookies. ".repeat(60)),
        "<form method=post><p>This page is protected. Enter the password to see it.</p><input type=password name=post_password></form>"
            .to_owned(),
        // One form around the whole page, as some frameworks have it.
        format!("<form id=form1><input type=hidden name=state>{}</form>", form.replace("<form method=post action=/enter>", "<div>")),
    ] {
        check(&page, Some(PasswordForm));
    }
}

#[test]
fn password_form_in_a_shadow_root() {
    let form = "<form method=post><label>Password <input type=password></label><button>Log in</button></form>";
    for mode in ["open", "closed", "OPEN"] {
        check(&format!("<login-box><template shadowrootmode={mode}>{form}</template></login-box>"), Some(PasswordForm));
        let nested = format!("<p><template shadowrootmode={mode}>{form}</template>");
        check(&format!("<my-app><template shadowrootmode=open>{nested}</template></my-app>"), Some(PasswordForm));
    }
    // No browser shows what these hold.
    check(&format!("<login-box><template>{form}</template></login-box>"), None);
    check(&format!("<login-box><template shadowrootmode=shut>{form}</template></login-box>"), None);
    check(&format!("<template><p><template shadowrootmode=open>{form}</template></template>"), None);
}

#[test]
fn page_that_sends_its_visitor_to_log_in_and_holds_little_else() {
    for refresh in ["0;url=/login", "3; URL='/account/sign-in?next=/'", "0; url=https://accounts.site.example/"] {
        check(
            &format!("<meta http-equiv=refresh content=\"{refresh}\"><title>One moment</title>"),
            Some(LoginRedirect),
        );
    }
    check("<meta http-equiv=refresh content='0; url=/home'><title>One moment</title>", None);
    check("<meta http-equiv=refresh content='600; url=/login'><title>Board</title><p>Ten trains.</p>", None);
}

#[test]
fn login_page_at_its_own_address_may_explain_itself() {
    let page = format!(
        "<h1>Welcome</h1><form><input type=password></form><p>{}</p>{}",
        "Our library is open to all who are its members. ".repeat(20),
        "<a href=/x>Link</a>".repeat(60)
    );
    check_at("https://site.example/user/login?next=/x", &page, Some(PasswordForm));
    check_at("https://site.example/wp-login.php", &page, Some(PasswordForm));
    check_at("https://site.example/welcome", &page, None);
}

#[test]
fn page_that_says_it_is_not_free() {
    let ld = |json: &str| {
        format!("<title>News</title><script type='application/ld+json'>{json}</script>{}", super::article())
    };
    for json in [
        r#"{"@context":"https://schema.org","@type":"NewsArticle","headline":"x","isAccessibleForFree":false}"#,
        r#"{"@type":"NewsArticle","isAccessibleForFree":"False"}"#,
        r#"{"@type":["Article","NewsArticle"],"isAccessibleForFree":"false"}"#,
        r#"{"@type":"https://schema.org/WebPage","isAccessibleForFree":"http://schema.org/False"}"#,
        // The form that Google documents: the page, and which part of it.
        r#"{"@type":"NewsArticle","isAccessibleForFree":false,"hasPart":{"@type":"WebPageElement","isAccessibleForFree":false,
            "cssSelector":".paywall"}}"#,
        r#"{"@context":"https://schema.org","@graph":[{"@type":"Organization","name":"x"},{"@type":"NewsArticle","isAccessibleForFree":false,
            "mainEntityOfPage":{"@id":"https://www.site.example/news/page.html"}}]}"#,
        r#"[{"@type":"BreadcrumbList"},{"@type":"BlogPosting","isAccessibleForFree":false,"url":"/news/page.html/"}]"#,
        r#"{"@type":"WebPage","mainEntity":{"@type":"Article","isAccessibleForFree":false}}"#,
        "\n//<![CDATA[\n{\"@type\":\"Article\",\"isAccessibleForFree\":false}\n//]]>\n",
    ] {
        check(&ld(json), Some(PaywalledContent));
    }
    let by_canonical =
        ld(r#"{"@type":"Article","isAccessibleForFree":false,"url":"https://site.example/news/long-name"}"#);
    check(&format!("<link rel=canonical href=/news/long-name>{by_canonical}"), Some(PaywalledContent));
    let text = super::article();
    check(&format!("<meta property='article:content_tier' content='locked'>{text}"), Some(PaywalledContent));
    check(
        &format!(
            "<article itemscope itemtype='https://schema.org/NewsArticle'><meta itemprop=isAccessibleForFree content=False>{text}</article>"
        ),
        Some(PaywalledContent),
    );
}
