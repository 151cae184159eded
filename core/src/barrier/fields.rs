//! The header fields and cookies that only a challenge carries.
//!
//! Left out on purpose, since every answer of a protected site may carry them: `cf-ray`, `server: cloudflare`, `x-iinfo`, `x-datadome`,
//! `x-sucuri-id`, and the cookies `__cf_bm`, `datadome`, `visid_incap_*`, `_abck`, `__ddg1_`, `aws-waf-token`.

use crate::response::ResponseHead;

/// A field by which a bot protection marks a challenge.
pub(super) struct FieldMark {
    /// Whose it is.
    #[cfg(test)]
    pub(super) service: &'static str,
    /// Name of the field, lower case.
    pub(super) name: &'static str,
    /// Its values that mark a challenge, lower case.
    pub(super) values: &'static [&'static str],
    /// Where it is documented or publicly known.
    #[cfg(test)]
    pub(super) source: &'static str,
}

macro_rules! field_marks {
    ($([$service:literal, $name:literal, $values:expr, $source:literal],)*) => {
        /// All rows.
        pub(super) const FIELD_MARKS: &[FieldMark] = &[$(FieldMark {
            #[cfg(test)]
            service: $service,
            name: $name,
            values: &$values,
            #[cfg(test)]
            source: $source,
        },)*];
    };
}

// One row a field: service, name, values, source.
field_marks![
    [
        "Cloudflare",
        "cf-mitigated",
        ["challenge"],
        "https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/"
    ],
    [
        "AWS WAF",
        "x-amzn-waf-action",
        ["challenge", "captcha"],
        "https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html"
    ],
    [
        "Vercel",
        "x-vercel-mitigated",
        ["challenge", "deny"],
        "https://github.com/glizzykingdreko/Vercel-Attack-Mode-Solver"
    ],
    ["DataDome", "x-dd-b", ["1", "2"], "https://docs.datadome.co/reference/validate-request"],
    [
        "SiteGround",
        "sg-captcha",
        ["challenge"],
        "publicly observed on answers with 202 and a refresh to /.well-known/sgcaptcha/"
    ],
];

/// Cookies that the server sets with a challenge alone, by the start of their name, lower case. Anubis: the test cookie that comes with
/// its challenge page (github.com/TecharoHQ/anubis); it is cleared, with an empty value, once the challenge is passed.
pub(super) const COOKIE_MARKS: &[&str] = &["techaro.lol-anubis-cookie-verification"];

pub(super) fn is_challenge(head: &ResponseHead) -> bool {
    FIELD_MARKS.iter().any(|mark| {
        head.all(mark.name).any(|value| {
            let value = value.trim_ascii();
            mark.values.iter().any(|wanted| value.eq_ignore_ascii_case(wanted.as_bytes()))
        })
    }) || head.all("set-cookie").any(sets_marked_cookie)
}

fn sets_marked_cookie(cookie: &[u8]) -> bool {
    let pair = cookie.split(|byte| *byte == b';').next().unwrap_or_default();
    let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return false };
    let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let starts = |mark: &&str| name.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()));
    !value.is_empty() && value != b"\"\"" && COOKIE_MARKS.iter().any(starts)
}
