//! Parameters that name the visit and not the page: tracking parameters, click ids and session ids.
//!
//! The lists are short on purpose. A parameter that is taken off wrongly loses a page; one that stays costs a request of the budget.
//! So campaign and referrer parameters with a life of their own (`ref`, `source`, `mc_cid`) stay.

use std::borrow::Cow;

/// Prefix of the campaign parameters that web analytics add.
const CAMPAIGN_PREFIX: &str = "utm_";

/// Parameters by which advertisers and networks tell one click or share from another; lower case.
const CLICK_IDS: &[&str] = &[
    "fbclid",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "msclkid",
    "yclid",
    "ysclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "li_fat_id",
    "srsltid",
    "epik",
    "sccid",
    "rdt_cid",
    "irclickid",
    "vmcid",
];

/// Parameters that always hold a session id; lower case.
const SESSION_IDS: &[&str] = &["phpsessid", "jsessionid", "bv_sessionid", "_sessionid", "sessionid"];

/// Parameters that hold a session id where the value looks like one, and else may well be a story's number; lower case.
const PERHAPS_SESSION_IDS: &[&str] = &["sid", "_sid"];

/// Letters and digits from which on the value of a [`PERHAPS_SESSION_IDS`] parameter is a session id.
const MIN_SESSION_ID_CHARS: usize = 16;

/// How a servlet container writes the session into the path, in any case.
const PATH_SESSION: &[u8] = b";jsessionid=";

/// Text without `;jsessionid=..` parts. One pass is enough: what follows a part begins with a delimiter, so taking the part out never
/// joins two halves of another.
pub(super) fn without_path_session(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(first) = find_path_session(&text) else { return text };
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut next) = (&*text, Some(first));
    while let Some(start) = next {
        out.push_str(&rest[..start]);
        let value = &rest[start + PATH_SESSION.len()..];
        rest = &value[value.find([';', '/', '&', '?']).unwrap_or(value.len())..];
        next = find_path_session(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A query without tracking parameters and session ids; may come out empty. What is left keeps its order and its empty parameters.
pub(super) fn without_tracking(query: Cow<'_, str>) -> Cow<'_, str> {
    let query = without_path_session(query);
    if !query.split('&').any(names_the_visit) {
        return query;
    }
    let kept: Vec<&str> = query.split('&').filter(|parameter| !names_the_visit(parameter)).collect();
    Cow::Owned(kept.join("&"))
}

fn find_path_session(text: &str) -> Option<usize> {
    let is_session = |start: &usize| {
        text.as_bytes()[*start..].get(..PATH_SESSION.len()).is_some_and(|part| part.eq_ignore_ascii_case(PATH_SESSION))
    };
    text.match_indices(';').map(|(start, _)| start).find(is_session)
}

fn names_the_visit(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let is_one_of = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_campaign =
        name.get(..CAMPAIGN_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(CAMPAIGN_PREFIX));
    is_campaign
        || is_one_of(CLICK_IDS)
        || is_one_of(SESSION_IDS)
        || (is_one_of(PERHAPS_SESSION_IDS) && is_session_id(value))
}

fn is_session_id(value: &str) -> bool {
    value.len() >= MIN_SESSION_ID_CHARS && value.bytes().all(|b| b.is_ascii_alphanumeric())
}
