//! The byte-level search for a charset declaration (WHATWG HTML, "prescan a byte stream to determine its encoding").
//!
//! It is a reader of its own, not the HTML tokenizer: the standard's steps differ from real parsing on purpose (a `meta` inside a
//! script counts, an unfinished tag at the end does not). Past the first kibibyte, where a browser would meet the `meta` in its
//! parser, the same steps run on with the contents of raw-text elements skipped.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The bytes that the standard lets a prescan look at.
const PRESCAN_BYTES: usize = 1024;

/// Elements whose content is text to the HTML parser (scripting on), so that a `meta` in it is none.
const RAW_TEXT: [&[u8]; 9] =
    [b"script", b"style", b"title", b"textarea", b"noscript", b"iframe", b"noembed", b"noframes", b"xmp"];

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The standard's prescan.
    FirstKibibyte,
    /// All of the body, as the parser would meet it.
    WholeBody,
}

/// The declared encoding, if one is found.
pub(super) fn prescan(body: &[u8], reach: Reach) -> Option<&'static Encoding> {
    let bytes = match reach {
        Reach::FirstKibibyte => &body[..body.len().min(PRESCAN_BYTES)],
        Reach::WholeBody => body,
    };
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    find_meta(bytes, reach).or_else(|| xml_declaration(bytes))
}

fn find_meta(bytes: &[u8], reach: Reach) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        at += memchr(b'<', bytes.get(at..)?)?;
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // The two dashes that close a comment may be those that opened it.
            at += 2 + memmem::find(&rest[2..], b"-->")? + 3;
        } else if rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"<meta") && is_space_or_slash(rest[5]) {
            let mut tag = Attributes { bytes, at: at + 5 };
            if let Some(encoding) = tag.declared_encoding()? {
                return Some(encoding);
            }
            at = tag.at;
        } else if let Some(name) = tag_name(rest) {
            let is_start = rest[1] != b'/';
            let mut tag = Attributes { bytes, at: at + name.len() + if is_start { 1 } else { 2 } };
            while tag.next()?.is_some() {}
            at = tag.at;
            if reach == Reach::WholeBody && is_start {
                at = after_raw_text(bytes, at, name);
            }
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at += memchr(b'>', rest)?;
        } else {
            at += 1;
        }
    }
}

/// The bytes of a tag's name up to white space or `>`, if a tag starts here.
fn tag_name(rest: &[u8]) -> Option<&[u8]> {
    let start = if rest.get(1) == Some(&b'/') { 2 } else { 1 };
    if !rest.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let name = &rest[start..];
    let end = name.iter().position(|b| is_space(*b) || *b == b'>').unwrap_or(name.len());
    Some(&name[..end])
}

/// Where the end tag of a raw-text element begins; `at` itself for any other element.
fn after_raw_text(bytes: &[u8], at: usize, name: &[u8]) -> usize {
    if !RAW_TEXT.iter().any(|raw| raw.eq_ignore_ascii_case(name)) {
        return at;
    }
    for close in memmem::find_iter(&bytes[at..], b"</") {
        let after = &bytes[at + close + 2..];
        let ends = after.get(name.len()).is_some_and(|b| is_space_or_slash(*b) || *b == b'>');
        if ends && after[..name.len()].eq_ignore_ascii_case(name) {
            return at + close;
        }
    }
    bytes.len()
}

struct Attributes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Attributes<'_> {
    /// Reads the attributes of a `meta`. None: the bytes ran out. Some(None): it declares nothing.
    fn declared_encoding(&mut self) -> Option<Option<&'static Encoding>> {
        #[derive(PartialEq)]
        enum Pragma {
            Unknown,
            Needed,
            NotNeeded,
        }
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut has_content_type_pragma = false;
        let mut pragma = Pragma::Unknown;
        let mut encoding: Option<Option<&'static Encoding>> = None;
        while let Some((name, value)) = self.next()? {
            // Only three names matter, so only those can be duplicates that matter.
            if seen.contains(&name) {
                continue;
            }
            match name.as_slice() {
                b"http-equiv" => has_content_type_pragma = value == b"content-type",
                b"content" => {
                    if encoding.is_none()
                        && let Some(found) = of_meta_content(&value)
                    {
                        encoding = Some(Some(found));
                        pragma = Pragma::Needed;
                    }
                }
                b"charset" => {
                    encoding = Some(Encoding::for_label(&value));
                    pragma = Pragma::NotNeeded;
                }
                _ => continue,
            }
            seen.push(name);
        }
        let counts = match pragma {
            Pragma::Unknown => false,
            Pragma::Needed => has_content_type_pragma,
            Pragma::NotNeeded => true,
        };
        Some(encoding.flatten().filter(|_| counts).map(ascii_readable))
    }

    /// The standard's "get an attribute": name and value, both lowered. None: the bytes ran out. Some(None): the tag is over.
    #[allow(clippy::type_complexity, reason = "the two layers are two different ends, and both are needed")]
    fn next(&mut self) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        while is_space_or_slash(self.byte()?) {
            self.at += 1;
        }
        if self.byte()? == b'>' {
            return Some(None);
        }
        let mut name = Vec::new();
        loop {
            match self.byte()? {
                b'=' if !name.is_empty() => break,
                b'/' | b'>' => return Some(Some((name, Vec::new()))),
                b if is_space(b) => {
                    self.skip_space()?;
                    if self.byte()? != b'=' {
                        return Some(Some((name, Vec::new())));
                    }
                    break;
                }
                b => name.push(b.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        self.skip_space()?;
        let value = self.value()?;
        Some(Some((name, value)))
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let first = self.byte()?;
        if first == b'"' || first == b'\'' {
            let start = self.at + 1;
            let len = memchr(first, &self.bytes[start..])?;
            self.at = start + len + 1;
            return Some(self.bytes[start..start + len].to_ascii_lowercase());
        }
        let start = self.at;
        while !is_space(self.byte()?) && self.byte()? != b'>' {
            self.at += 1;
        }
        Some(self.bytes[start..self.at].to_ascii_lowercase())
    }

    fn skip_space(&mut self) -> Option<()> {
        while is_space(self.byte()?) {
            self.at += 1;
        }
        Some(())
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// "Extract a character encoding from a meta element": the first `charset=` in a `content` value.
fn of_meta_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[memmem::find(rest, b"charset")? + b"charset".len()..];
        let after_space = trim_start(rest);
        if let Some(value) = after_space.strip_prefix(b"=") {
            let value = trim_start(value);
            let label = match value.first()? {
                quote @ (b'"' | b'\'') => &value[1..1 + memchr(*quote, &value[1..])?],
                _ => value.split(|b| is_space(*b) || *b == b';').next()?,
            };
            return Encoding::for_label(label);
        }
    }
}

/// "Get an XML encoding": the declaration that XHTML served as HTML starts with.
fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let after = &declaration[memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let value = trim_controls(trim_controls(after).strip_prefix(b"=")?);
    let quote = *value.first()?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let label = &value[1..1 + memchr(quote, &value[1..])?];
    if label.iter().any(|b| *b <= 0x20) {
        return None;
    }
    Encoding::for_label(label).map(ascii_readable)
}

/// A declaration that could be read as ASCII cannot be in UTF-16, whatever it says; x-user-defined means windows-1252.
fn ascii_readable(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|b| is_space(**b)).count()..]
}

fn trim_controls(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|b| **b <= 0x20).count()..]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn is_space_or_slash(byte: u8) -> bool {
    is_space(byte) || byte == b'/'
}
