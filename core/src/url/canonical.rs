//! The canonical crawl form: one spelling for all the spellings of one address.
//!
//! It is the WHATWG serialisation, and then: no fragment, no user info, no single trailing dot of the host, no empty query; percent
//! triplets in upper case and decoded where they stand for an unreserved character (RFC 3986 §6.2.2.1 and §6.2.2.2); no tracking
//! parameters and no session ids. Everything else can change what a server answers, so it stays as it is: scheme, `www`, order of
//! parameters, empty parameters, doubled and trailing slashes, names of index pages.
//!
//! Invariant: `canonicalize(canonicalize(u)) == canonicalize(u)`.

use std::borrow::Cow;

use ::url::{Position, Url};

use super::UrlRefusal;
use super::parameters;
use crate::origin::Scheme;

/// What the WHATWG URL parser makes of `raw`, against `base` where it is relative; http and https only.
pub fn resolve(raw: &str, base: Option<&Url>) -> Result<Url, UrlRefusal> {
    let raw = match base {
        Some(_) => two_leading_slashes(raw),
        None => Cow::Borrowed(raw),
    };
    let mut url = Url::options().base_url(base).parse(&raw).map_err(|_| UrlRefusal::Unparsable)?;
    match Scheme::of(&url) {
        Some(_) => {
            encode_carets(&mut url);
            Ok(url)
        }
        None => Err(UrlRefusal::OtherScheme),
    }
}

/// A reference that starts with more than two slashes names a host like one that starts with two (URL Standard, "special authority ignore
/// slashes state"); the `url` crate (2.5.8) finds an empty host in it instead.
fn two_leading_slashes(raw: &str) -> Cow<'_, str> {
    let is_skipped = |c: char| matches!(c, '\t' | '\n' | '\r');
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let start = raw.trim_start_matches(|c: char| c <= ' ');
    let rest = start.trim_start_matches(|c| is_slash(c) || is_skipped(c));
    let num_slashes = start[..start.len() - rest.len()].chars().filter(|c| is_slash(*c)).count();
    if num_slashes > 2 { Cow::Owned(format!("//{rest}")) } else { Cow::Borrowed(raw) }
}

/// The canonical crawl form of `raw`, against `base` where it is relative. User info is taken off: whether a URL that carried some may
/// be asked at all is [`super::PageUrl`]'s business.
pub fn canonical(raw: &str, base: Option<&Url>) -> Result<Url, UrlRefusal> {
    resolve(raw, base).map(canonicalize)
}

/// The canonical crawl form of a parsed http or https URL.
pub fn canonicalize(mut url: Url) -> Url {
    url.set_fragment(None);
    // Neither setter can fail on http or https with a host; on any other URL there is nothing to take off.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    drop_root_dot(&mut url);
    encode_carets(&mut url);

    let path = parameters::without_path_session(normal_triplets(url.path()));
    let query = url.query().map(|query| parameters::without_tracking(normal_triplets(query)));
    let query = query.filter(|query| !query.is_empty());
    if path == url.path() && query.as_deref() == url.query() {
        return url;
    }
    let mut text = String::with_capacity(url.as_str().len());
    text.push_str(&url[..Position::BeforePath]);
    text.push_str(&path);
    if let Some(query) = &query {
        text.push('?');
        text.push_str(query);
    }
    // Parsed anew, because a path segment can have become `..` by losing its session id.
    Url::parse(&text).unwrap_or(url)
}

/// `^` belongs to the path percent-encode set of the URL Standard; the `url` crate (2.5.8) leaves it as it is.
fn encode_carets(url: &mut Url) {
    if url.path().contains('^') {
        let path = url.path().replace('^', "%5E");
        url.set_path(&path);
    }
}

/// `example.com.` names the same host as `example.com`, which is what sites expect in the Host field. A host that ends in more than one
/// dot is no name at all and is left to be refused.
fn drop_root_dot(url: &mut Url) {
    let bare =
        url.host_str().and_then(|host| host.strip_suffix('.')).filter(|bare| !bare.is_empty() && !bare.ends_with('.'));
    if let Some(bare) = bare.map(str::to_owned) {
        // On failure the host stays as it is, dot included, which is a valid form too.
        let _ = url.set_host(Some(&bare));
    }
}

/// Percent triplets in upper case, those of unreserved characters decoded. A stray `%` stays, and a triplet stays encoded where its
/// character would complete a stray `%` to a new triplet: `%%36%31` does not mean `%61`.
fn normal_triplets(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // How many hex digits would complete the stray percent sign that `out` ends with.
    let mut open_digits = 0u8;
    let mut at = 0;
    while at < bytes.len() {
        let Some(decoded) = triplet(&bytes[at..]) else {
            let byte = bytes[at];
            open_digits = match (byte, open_digits) {
                (b'%', _) => 2,
                (_, 2) if byte.is_ascii_hexdigit() => 1,
                (_, _) => 0,
            };
            out.push(char::from(byte));
            at += 1;
            continue;
        };
        let completes_a_stray = open_digits > 0 && decoded.is_ascii_hexdigit();
        if is_unreserved(decoded) && !completes_a_stray {
            out.push(char::from(decoded));
        } else {
            out.extend(text[at..at + 3].chars().map(|c| c.to_ascii_uppercase()));
        }
        open_digits = 0;
        at += 3;
    }
    Cow::Owned(out)
}

/// The byte that a percent triplet at the start of `bytes` stands for.
fn triplet(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [b'%', high, low, ..] => Some(hex_value(*high)? * 16 + hex_value(*low)?),
        _ => None,
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// RFC 3986 §2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
