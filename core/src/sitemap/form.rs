//! Which form a file has, its text, and the reading of the simplest form: one URL a line.

use std::borrow::Cow;

use ::url::Url;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;

use super::listing::Listing;
use super::meter::Meter;
use super::{NoSitemap, SitemapKind, SitemapLimits, SitemapReading, xml};
use crate::charset;
use crate::url::{MAX_RAW_URL_BYTES, resolve};

/// Where an XML declaration is looked for: white space and a server's warnings may stand before it.
const DECLARATION_REACH_BYTES: usize = 1024;

/// What ends a line of a list.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// The first bytes of a gzip member (RFC 1952 §2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether gzip still stands between the file and its text.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP_MAGIC)
}

/// The text of a file, without byte order marks.
pub(super) fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    let (text, _) = encoding_of(bytes, content_type).decode_with_bom_removal(bytes);
    text
}

/// A byte order mark, else the charset of Content-Type, else that of the XML declaration (RFC 7303 §3), else what the bytes look like.
fn encoding_of(bytes: &[u8], content_type: Option<&str>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    // XML in UTF-16 shows itself, and is read as such whatever is declared: nothing else has these bytes.
    match bytes {
        [b'<', 0, _, 0, ..] => return UTF_16LE,
        [0, b'<', 0, _, ..] => return UTF_16BE,
        _ => {}
    }
    if let Some(encoding) = content_type.and_then(charset::of_content_type).or_else(|| declared(bytes)) {
        return encoding;
    }
    // A file that ends inside a character was cut there; that says nothing against UTF-8.
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        Err(fault) if fault.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

/// The encoding that `<?xml encoding="..."?>` names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(DECLARATION_REACH_BYTES)];
    let declaration = &head[memmem::find(head, b"<?xml ")?..];
    let declaration = &declaration[..memmem::find(declaration, b"?>")?];
    let value = &declaration[memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let label = &value[..value.iter().position(|byte| byte == quote)?];
    let encoding = Encoding::for_label(label).filter(|_| matches!(quote, b'"' | b'\''))?;
    // These bytes could be read, so they are not UTF-16, whatever they say.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// Whether a file is all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    BrokenOff,
}

/// Reads a decoded file in whichever form it has.
pub(super) fn read(
    text: &str,
    ending: Ending,
    at: &Url,
    limits: &SitemapLimits,
    meter: &mut Meter<'_>,
) -> SitemapReading {
    let text = text.trim_start_matches(is_blank);
    if text.is_empty() {
        return SitemapReading::nothing(NoSitemap::Empty);
    }
    if text.starts_with('<') {
        return xml::read(text, at, limits, meter);
    }
    let is_list = text.lines().next().is_some_and(|line| url_of_line(line).is_some());
    if !is_list && text.contains('<') {
        // A warning, or the blank page of a template, before the markup.
        return xml::read(text, at, limits, meter);
    }
    match ending {
        Ending::Whole => lines(text, limits, meter),
        Ending::BrokenOff => lines(without_last_line(text), limits, meter),
    }
}

/// Half an address is the address of another page, so a line counts only with its end.
fn without_last_line(text: &str) -> &str {
    text.rfind(LINE_ENDS).map_or("", |end| &text[..end])
}

/// A list of URLs, one a line. A line that is no absolute URL says nothing.
fn lines(text: &str, limits: &SitemapLimits, meter: &mut Meter<'_>) -> SitemapReading {
    let mut listing = Listing::new(SitemapKind::Text, limits);
    for line in text.split(LINE_ENDS) {
        if !meter.may_go_on(line.len()) {
            listing.cut();
            break;
        }
        let Some(url) = url_of_line(line) else { continue };
        listing.add_page(url, None);
        if listing.is_full() {
            break;
        }
    }
    let reading = listing.into_reading();
    if reading.urls.is_empty() {
        return SitemapReading { cut: reading.cut, ..SitemapReading::nothing(NoSitemap::Unknown) };
    }
    reading
}

/// The absolute URL that a line holds; a column after a tab is not part of it.
fn url_of_line(line: &str) -> Option<Url> {
    let line = line.trim_matches(is_blank);
    let line = line.split('\t').next().unwrap_or(line).trim_matches(is_blank);
    if line.is_empty() || line.len() > MAX_RAW_URL_BYTES {
        return None;
    }
    resolve(line, None).ok()
}

/// White space in the widest sense: also what has no width, as byte order marks that came along with a copied address.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}
