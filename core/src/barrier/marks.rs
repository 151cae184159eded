//! The marks of challenge pages: what their makers put into structured places of the page, and where that is publicly known.
//!
//! A mark is looked for in its own place alone, never in text, so that a page about a challenge is none. Many a mark also stands on good
//! pages of a protected site (a script that watches visitors); such a mark counts on a stub alone, a page that holds little else.

/// Where in a page a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The `src` of a `script`.
    ScriptSrc,
    /// The first bytes of an inline script; not anywhere in it, since some frameworks put the page's text into a script.
    ScriptStart,
    /// The `src` of an `iframe`.
    FrameSrc,
    /// The `action` of a `form`.
    FormAction,
    /// The `id` of any element; the whole of it.
    Id,
    /// The `content` of a meta refresh.
    Refresh,
    /// The title; the whole of it, any case.
    Title,
}

/// How much a mark proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    /// Good pages never carry it.
    Anywhere,
    /// Good pages carry it too: it counts on a page with little text and few links.
    OnStub,
    /// Mere words: they count on a page that holds nothing else.
    OnBare,
}

/// One mark.
pub(super) struct Mark {
    /// Whose challenge it is.
    #[cfg(test)]
    pub(super) service: &'static str,
    pub(super) place: Place,
    pub(super) text: &'static str,
    pub(super) holds: Holds,
    /// Where it is documented or publicly known.
    #[cfg(test)]
    pub(super) source: &'static str,
}

macro_rules! marks {
    ($([$service:literal, $place:ident, $text:literal, $holds:ident, $source:literal],)*) => {
        /// All rows.
        pub(super) const MARKS: &[Mark] = &[$(Mark {
            #[cfg(test)]
            service: $service,
            place: Place::$place,
            text: $text,
            holds: Holds::$holds,
            #[cfg(test)]
            source: $source,
        },)*];
    };
}

// One row a mark: service, place, text, how much it proves, source.
marks![
    // Not `/cdn-cgi/challenge-platform/` alone: JavaScript Detections puts a script from there on every page
    // (developers.cloudflare.com/bots/additional-configurations/javascript-detections/).
    [
        "Cloudflare",
        ScriptStart,
        "window._cf_chl_",
        Anywhere,
        "github.com/VeNoMouS/cloudscraper cloudscraper/cloudflare.py"
    ],
    ["Cloudflare", FormAction, "__cf_chl_", Anywhere, "github.com/VeNoMouS/cloudscraper cloudscraper/cloudflare.py"],
    ["Cloudflare", ScriptSrc, "/orchestrate/chl_page/", OnStub, "github.com/scaredos/cfresearch"],
    [
        "Cloudflare",
        ScriptSrc,
        "/orchestrate/managed/",
        OnStub,
        "github.com/VeNoMouS/cloudscraper cloudscraper/cloudflare.py"
    ],
    [
        "Cloudflare",
        ScriptSrc,
        "/orchestrate/jsch/",
        OnStub,
        "github.com/VeNoMouS/cloudscraper cloudscraper/cloudflare.py"
    ],
    [
        "Cloudflare",
        ScriptSrc,
        "/orchestrate/captcha/",
        OnStub,
        "github.com/VeNoMouS/cloudscraper cloudscraper/cloudflare.py"
    ],
    [
        "Cloudflare",
        Id,
        "cf-challenge-running",
        OnStub,
        "github.com/FlareSolverr/FlareSolverr src/flaresolverr_service.py"
    ],
    ["Cloudflare", Id, "trk_jschal_js", OnStub, "github.com/FlareSolverr/FlareSolverr src/flaresolverr_service.py"],
    ["Cloudflare", Id, "cf-please-wait", OnStub, "github.com/FlareSolverr/FlareSolverr src/flaresolverr_service.py"],
    [
        "Cloudflare",
        Title,
        "Just a moment...",
        OnBare,
        "github.com/FlareSolverr/FlareSolverr src/flaresolverr_service.py"
    ],
    ["Akamai", Refresh, "bm-verify=", Anywhere, "publicly observed interstitial of Bot Manager"],
    ["Akamai", Id, "sec-if-cpt-container", OnStub, "publicly observed behavioural challenge of Bot Manager"],
    ["Akamai", FrameSrc, "/_sec/cp_challenge/", OnStub, "publicly observed cryptographic challenge of Bot Manager"],
    ["Akamai", ScriptSrc, "/_sec/cp_challenge/", OnStub, "publicly observed cryptographic challenge of Bot Manager"],
    ["Imperva", FrameSrc, "/_Incapsula_Resource?", OnStub, "publicly observed check of Imperva"],
    ["Imperva", ScriptSrc, "/_Incapsula_Resource?", OnStub, "publicly observed check of Imperva"],
    ["DataDome", ScriptSrc, "//ct.captcha-delivery.com/", OnStub, "publicly observed block page of DataDome"],
    ["DataDome", FrameSrc, "//geo.captcha-delivery.com/", OnStub, "publicly observed block page of DataDome"],
    [
        "HUMAN (PerimeterX)",
        Id,
        "px-captcha",
        OnStub,
        "github.com/PerimeterX/perimeterx-python-wsgi block_template.mustache"
    ],
    [
        "HUMAN (PerimeterX)",
        ScriptSrc,
        "//captcha.px-cdn.net/",
        OnStub,
        "github.com/PerimeterX/perimeterx-python-wsgi block_template.mustache"
    ],
    [
        "HUMAN (PerimeterX)",
        ScriptSrc,
        "//captcha.px-cloud.net/",
        OnStub,
        "github.com/PerimeterX/perimeterx-python-wsgi"
    ],
    ["AWS WAF", ScriptStart, "window.gokuProps", OnStub, "publicly observed interstitial of AWS WAF"],
    ["AWS WAF", ScriptSrc, ".token.awswaf.com/", OnStub, "https://docs.aws.amazon.com/waf/latest/developerguide/"],
    ["AWS WAF", ScriptSrc, ".captcha.awswaf.com/", OnStub, "https://docs.aws.amazon.com/waf/latest/developerguide/"],
    ["Sucuri", ScriptStart, "sucuri_cloudproxy_js=", OnStub, "publicly observed check of the Sucuri firewall"],
    ["DDoS-Guard", ScriptSrc, "//check.ddos-guard.net/", OnStub, "publicly observed check of DDoS-Guard"],
    ["DDoS-Guard", ScriptSrc, "/.well-known/ddos-guard/js-challenge/", OnStub, "publicly observed check of DDoS-Guard"],
    ["DDoS-Guard", Id, "link-ddg", OnStub, "github.com/FlareSolverr/FlareSolverr src/providers/cloudflare.ts"],
    ["DDoS-Guard", Title, "DDoS-Guard", OnBare, "github.com/FlareSolverr/FlareSolverr src/flaresolverr_service.py"],
    ["Vercel", Title, "Vercel Security Checkpoint", OnBare, "publicly observed checkpoint of Vercel"],
    [
        "Kasada",
        ScriptSrc,
        "/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js",
        OnStub,
        "publicly observed; good pages load p.js or c.js from there"
    ],
    ["Kasada", ScriptStart, "window.KPSDK={}", OnStub, "publicly observed interstitial of Kasada"],
    ["F5 BIG-IP", ScriptStart, "window[\"bobcmn\"]", OnStub, "publicly observed challenge of BIG-IP"],
    ["F5 BIG-IP", ScriptSrc, "/TSPD/", OnStub, "publicly observed challenge of BIG-IP"],
    ["Anubis", Id, "anubis_challenge", Anywhere, "github.com/EnableSecurity/wafw00f wafw00f/plugins/anubis.py"],
    ["Anubis", ScriptSrc, "/.within.website/x/cmd/anubis/", OnStub, "github.com/TecharoHQ/anubis anubis.go"],
    [
        "Anubis",
        Refresh,
        "/.within.website/x/cmd/anubis/",
        Anywhere,
        "github.com/TecharoHQ/anubis lib/challenge/metarefresh"
    ],
    ["go-away", ScriptSrc, "/git/go-away/cmd/go-away/", OnStub, "git.gammaspectra.live/git/go-away"],
    ["go-away", Refresh, "__goaway_challenge=", Anywhere, "git.gammaspectra.live/git/go-away"],
    [
        "Fastly",
        ScriptSrc,
        "/_fs-ch-",
        OnStub,
        "https://www.fastly.com/documentation/guides/security/bot-management/client-challenges/"
    ],
    ["SiteGround", Refresh, "/.well-known/sgcaptcha/", Anywhere, "publicly observed on hosts of SiteGround"],
    ["Imunify360", Id, "wsidchk-form", Anywhere, "publicly observed splash of WebShield"],
    ["LiteSpeed", FormAction, "/.lsrecap/recaptcha", Anywhere, "publicly observed reCAPTCHA page of LiteSpeed"],
    ["bunny.net", ScriptSrc, "/.bunny-shield/assets/", OnStub, "publicly observed check of Bunny Shield"],
    ["Radware", ScriptSrc, "//validate.perfdrive.com/", OnStub, "publicly observed redirect of Bot Manager"],
    ["Alibaba Cloud", ScriptStart, "var arg1='", OnStub, "publicly observed check that sets acw_sc__v2"],
];

/// Longest start of an attribute or a script that a mark is looked for in, in bytes.
const MAX_SEARCHED_BYTES: usize = 512;
/// The same for the start of an inline script.
const MAX_SCRIPT_START_BYTES: usize = 160;

/// What the marks in this place prove, the strongest of those that stand there.
pub(super) fn strongest(place: Place, text: &str) -> Option<Holds> {
    let max = if place == Place::ScriptStart { MAX_SCRIPT_START_BYTES } else { MAX_SEARCHED_BYTES };
    let text = text.trim_ascii();
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let start = &text[..end];
    let stands = |mark: &&Mark| match place {
        Place::Id => start == mark.text,
        Place::Title => start.eq_ignore_ascii_case(mark.text),
        Place::ScriptSrc | Place::ScriptStart | Place::FrameSrc | Place::FormAction | Place::Refresh => {
            start.contains(mark.text)
        }
    };
    MARKS.iter().filter(|mark| mark.place == place).filter(stands).map(|mark| mark.holds).min()
}
