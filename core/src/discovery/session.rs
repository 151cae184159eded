//! Session ids that the canonical form leaves in: under names that mean one only where the value looks like it.
//!
//! Known names are taken off by [`crate::url`] already. What is left here stays in the URL, since the page may answer to nothing else; but
//! the page is taken up under one session id only.

use std::borrow::Cow;

use crate::url::PageUrl;

/// Names under which programs hand on a session id; lower case. `s` is the forum's, `oscsid`, `zenid` and `xtcsid` the shops'.
const NAMES: [&str; 18] = [
    "s",
    "sid",
    "ssid",
    "psid",
    "session",
    "session_id",
    "session-id",
    "sess",
    "sess_id",
    "sessid",
    "sesskey",
    "sessionkey",
    "oscsid",
    "zenid",
    "xtcsid",
    "cftoken",
    "ci_session",
    "asp.net_sessionid",
];
/// How names begin that end in characters of the server's own.
const NAME_START: &str = "aspsessionid";
/// From this length on a value may be a session id.
const MIN_VALUE_CHARS: usize = 16;

/// Path and query without session ids; none where there is no session id in them.
pub(super) fn without_session(url: &PageUrl) -> Option<String> {
    let text = url.path_and_query();
    let path_len = url.as_url().path().len();
    let (path, query) = text.split_at(path_len);
    let bare_path = without_path_session(path);
    let parameters = query.strip_prefix('?').unwrap_or_default();
    let kept: Vec<&str> = parameters.split('&').filter(|parameter| !is_session(parameter)).collect();
    let is_same_query = kept.len() == parameters.split('&').count();
    if is_same_query && matches!(bare_path, Cow::Borrowed(_)) {
        return None;
    }
    let mut bare = bare_path.into_owned();
    let kept = kept.join("&");
    if !kept.is_empty() {
        bare.push('?');
        bare.push_str(&kept);
    }
    Some(bare)
}

/// Without `;name=id` at the end of a segment, and without segments like `(S(id))`, as ASP.NET writes them for those without cookies.
fn without_path_session(path: &str) -> Cow<'_, str> {
    if !path.contains([';', '(']) {
        return Cow::Borrowed(path);
    }
    let is_bracketed = |segment: &str| {
        let inner = segment.strip_prefix("(S(").and_then(|rest| rest.strip_suffix("))"));
        inner.is_some_and(looks_like_an_id)
    };
    let mut changed = false;
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        if is_bracketed(segment) {
            changed = true;
            continue;
        }
        match segment.rsplit_once(';') {
            Some((bare, parameter)) if is_session(parameter) => {
                changed = true;
                kept.push(bare);
            }
            Some(_) | None => kept.push(segment),
        }
    }
    if changed { Cow::Owned(kept.join("/")) } else { Cow::Borrowed(path) }
}

fn is_session(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let starts_so = name.get(..NAME_START.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME_START));
    (starts_so || NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))) && looks_like_an_id(value)
}

/// Long, of letters and digits, with both or with nothing but digits of base 16.
fn looks_like_an_id(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() >= MIN_VALUE_CHARS && has_digit && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
