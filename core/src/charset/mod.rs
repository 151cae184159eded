//! Which charset a page is in, and its text.
//!
//! The order is fixed: byte order mark, charset of Content-Type, the WHATWG prescan of the first 1,024 bytes, a `meta` after them,
//! UTF-8 if the bytes are valid UTF-8, and last a [`Fallback`] that the caller names. What is declared is believed, even where the
//! bytes look like something else: that is what browsers do, and what the author saw.
//!
//! Invariant: never fails; bytes that mean nothing in the charset become U+FFFD.

mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use self::prescan::{Reach, prescan};

/// Most bytes that the statistical detection looks at.
const MAX_DETECTED_BYTES: usize = 256 * 1024;

/// What a page without any declaration counts as when its bytes are not valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// windows-1252, the default of browsers in most places.
    Windows1252,
    /// A guess from the bytes themselves.
    Detect,
}

/// What the choice of a charset rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The body starts with a byte order mark.
    ByteOrderMark,
    /// The charset parameter of Content-Type.
    ContentType,
    /// A declaration in the first 1,024 bytes.
    Prescan,
    /// A `meta` further down.
    LaterMeta,
    /// Nothing is declared and the bytes are valid UTF-8.
    ValidUtf8,
    /// Nothing is declared and the bytes are not UTF-8.
    Fallback,
}

/// The text of a body and its charset, as the lower-case name of the WHATWG Encoding Standard.
///
/// `content_type` is the value of that header, if it came.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>, fallback: Fallback) -> (Cow<'a, str>, &'static str) {
    let (encoding, _) = choose(body, content_type, fallback);
    let (text, _) = encoding.decode_with_bom_removal(body);
    (text, name_of(encoding))
}

/// The charset of a body, and why.
pub fn choose(body: &[u8], content_type: Option<&str>, fallback: Fallback) -> (&'static Encoding, Evidence) {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return (encoding, Evidence::ByteOrderMark);
    }
    if let Some(encoding) = content_type.and_then(of_content_type) {
        return (encoding, Evidence::ContentType);
    }
    if let Some(encoding) = prescan(body, Reach::FirstKibibyte) {
        return (encoding, Evidence::Prescan);
    }
    if let Some(encoding) = prescan(body, Reach::WholeBody) {
        return (encoding, Evidence::LaterMeta);
    }
    if is_utf8_so_far(body) {
        return (UTF_8, Evidence::ValidUtf8);
    }
    let guess = match fallback {
        Fallback::Windows1252 => WINDOWS_1252,
        Fallback::Detect => detect(body),
    };
    (guess, Evidence::Fallback)
}

/// The encoding that the charset parameter of a Content-Type value names, if it names a known one.
///
/// Lenient where servers are sloppy: single quotes count as quotes, empty parameters are skipped, the first charset wins.
pub fn of_content_type(value: &str) -> Option<&'static Encoding> {
    let label = value.split(';').skip(1).find_map(|parameter| {
        let (name, label) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(label)
    })?;
    Encoding::for_label(label.trim_matches(|c: char| c.is_ascii_whitespace() || c == '"' || c == '\'').as_bytes())
}

/// The encoding of that lower-case or any other label.
pub fn of_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
}

/// A body that ends inside a character was cut there; that says nothing against UTF-8.
fn is_utf8_so_far(body: &[u8]) -> bool {
    std::str::from_utf8(body).map_or_else(|e| e.error_len().is_none(), |_| true)
}

fn detect(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&body[..body.len().min(MAX_DETECTED_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The encoding's name in lower case. `encoding_rs` spells some in capitals, and a static name costs no allocation a page.
fn name_of(encoding: &'static Encoding) -> &'static str {
    const LOWERED: [&str; 26] = [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "ibm866",
        "iso-8859-2",
        "iso-8859-3",
        "iso-8859-4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i",
        "iso-8859-10",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "gbk",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "shift_jis",
        "euc-kr",
        "replacement",
    ];
    let name = encoding.name();
    LOWERED.into_iter().find(|lowered| lowered.eq_ignore_ascii_case(name)).unwrap_or(name)
}
