//! The lines of a robots.txt, cleaned so that no byte sequence can hurt or mislead what reads them.
//!
//! Kept: the line's number in the original file, and its text trimmed. Cleaned: the byte order mark, NUL bytes, bytes
//! that are not UTF-8 (each becomes its percent triplet, which is what it would be in a URL), overlong lines,
//! everything past the cap.
//!
//! Invariant: no text is longer than [`MAX_LINE_BYTES`], and all of them together no longer than [`MAX_TEXT_BYTES`].

use std::borrow::Cow;
use std::fmt::Write as _;

/// How much of a robots.txt is read, in bytes after decoding; RFC 9309 §2.5 asks for at least 500 KiB.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Longest line that is read whole; the rest of a longer one is ignored. Eight times what browsers take as a URL, as
/// Google reads it.
pub(super) const MAX_LINE_BYTES: usize = 2083 * 8 - 1;

/// Bytes of cleaned text that are read of one file. A file that is UTF-8, as it must be (RFC 9309 §2.3), never comes
/// near: cleaning makes text longer only where bytes are not UTF-8.
pub(super) const MAX_TEXT_BYTES: usize = MAX_ROBOTS_BYTES + 64 * 1024;

/// Whether a line was UTF-8 before it was cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WellFormed {
    Utf8,
    OtherBytes,
}

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceLine<'a> {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its text, trimmed and clean.
    pub text: Cow<'a, str>,
    /// What it was made of.
    pub well_formed: WellFormed,
}

/// Calls `take` with each line of a file that is not blank.
pub(super) fn each_line(bytes: &[u8], mut take: impl FnMut(SourceLine<'_>)) {
    let decoded = decode(cap(bytes));
    let mut rest: &[u8] = &decoded;
    let mut number = 0;
    let mut num_text_bytes = 0;
    while !rest.is_empty() {
        let raw;
        (raw, rest) = split_line(rest);
        number += 1;
        let (text, well_formed) = clean(raw);
        num_text_bytes += text.len();
        if num_text_bytes > MAX_TEXT_BYTES {
            return;
        }
        if !text.is_empty() {
            take(SourceLine { number, text, well_formed });
        }
    }
}

/// The first [`MAX_ROBOTS_BYTES`], without a last line that the cut may have shortened: half an Allow line allows too
/// much.
fn cap(bytes: &[u8]) -> &[u8] {
    if bytes.len() < MAX_ROBOTS_BYTES {
        return bytes;
    }
    let read = &bytes[..MAX_ROBOTS_BYTES];
    match bytes.get(MAX_ROBOTS_BYTES) {
        Some(b'\n' | b'\r') => read,
        _ => &read[..memchr::memrchr2(b'\n', b'\r', read).map_or(0, |end| end + 1)],
    }
}

/// Takes a byte order mark off. A file that is UTF-16 breaks RFC 9309 §2.3, but its owner's wish is readable all the
/// same; one that only claims to be (directives in UTF-16 cannot be without NUL bytes) is read as what it is.
fn decode(bytes: &[u8]) -> Cow<'_, [u8]> {
    let (encoding, rest) = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => return Cow::Borrowed(rest),
        [0xFE, 0xFF, rest @ ..] => (encoding_rs::UTF_16BE, rest),
        [0xFF, 0xFE, rest @ ..] => (encoding_rs::UTF_16LE, rest),
        _ => return Cow::Borrowed(bytes),
    };
    if !rest.contains(&0) {
        return Cow::Borrowed(rest);
    }
    Cow::Owned(encoding.decode_without_bom_handling(rest).0.into_owned().into_bytes())
}

/// The first line, and what follows its CR, LF or CRLF.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else { return (bytes, &[]) };
    let after = if bytes[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
    (&bytes[..end], &bytes[after..])
}

fn clean(raw: &[u8]) -> (Cow<'_, str>, WellFormed) {
    // The cut comes first, so that one endless line costs no more than its readable part.
    let head = &raw[..raw.len().min(MAX_LINE_BYTES + 4)];
    match std::str::from_utf8(head) {
        Ok(text) if !text.contains('\0') => (Cow::Borrowed(cut(text, MAX_LINE_BYTES).trim()), WellFormed::Utf8),
        _ => clean_slowly(head),
    }
}

fn clean_slowly(raw: &[u8]) -> (Cow<'_, str>, WellFormed) {
    let mut text = String::with_capacity(raw.len() + 16);
    let mut well_formed = WellFormed::Utf8;
    for chunk in raw.utf8_chunks() {
        text.extend(chunk.valid().chars().filter(|c| *c != '\0'));
        for byte in chunk.invalid() {
            well_formed = WellFormed::OtherBytes;
            write!(text, "%{byte:02X}").expect("writing to a String never fails");
        }
    }
    (Cow::Owned(cut(&text, MAX_LINE_BYTES).trim().to_owned()), well_formed)
}

/// At most `max_bytes` of a text, cut between characters.
pub(super) fn cut(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], wanted: &[(u32, &str)]) {
        let mut got = Vec::new();
        each_line(bytes, |line| got.push((line.number, line.text.into_owned())));
        let got: Vec<(u32, &str)> = got.iter().map(|(n, t)| (*n, t.as_str())).collect();
        assert_eq!(got, wanted, "{:?}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn lines_keep_their_number_whatever_ends_them() {
        check(b"a\nb\r\nc\rd", &[(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
        check(b"a\n\n\r\n\r\rb\n", &[(1, "a"), (6, "b")]);
        check(b"\n\r\n  \t \n x ", &[(4, "x")]);
        check(b"", &[]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        check(b"\xEF\xBB\xBFa\n", &[(1, "a")]);
        check(b"\xFE\xFF\0a\0\n\0b", &[(1, "a"), (2, "b")]);
        check(b"\xFF\xFEa\0\n\0b\0", &[(1, "a"), (2, "b")]);
        check(b"\xFF\xFEa\nb", &[(1, "a"), (2, "b")]);
        check("\u{ef}a".as_bytes(), &[(1, "\u{ef}a")]);
    }

    #[test]
    fn bytes_that_are_not_utf8_become_their_triplets_and_nul_goes() {
        check(b"/caf\xE9/x", &[(1, "/caf%E9/x")]);
        check(b"/\xC3\xA9\xFF", &[(1, "/\u{e9}%FF")]);
        check(b"\0\0 a\0b \0", &[(1, "ab")]);
    }

    #[test]
    fn an_overlong_line_is_cut_between_characters() {
        let line = "\u{e9}".repeat(MAX_LINE_BYTES);
        let mut lengths = Vec::new();
        each_line(format!("{line}\nb").as_bytes(), |line| lengths.push((line.number, line.text.len())));
        assert_eq!(lengths, [(1, MAX_LINE_BYTES - 1), (2, 1)]);
    }

    #[test]
    fn what_lies_past_the_cap_is_not_read_and_neither_is_the_line_it_cuts() {
        let mut file = b"first\n".to_vec();
        file.resize(MAX_ROBOTS_BYTES - 5, b'\n');
        let num_lines = u32::try_from(file.len() - 5).unwrap();
        let mut whole = file.clone();
        whole.extend(b"last\n");
        assert_eq!(whole.len(), MAX_ROBOTS_BYTES);
        check(&whole, &[(1, "first"), (num_lines + 1, "last")]);
        file.extend(b"Allow: /only/this\n");
        check(&file, &[(1, "first")]);
    }

    #[test]
    fn line_at_the_cap_is_whole_only_where_the_file_shows_its_end() {
        let num_lines = u32::try_from(MAX_ROBOTS_BYTES - 5).unwrap();
        let mut file = vec![b'\n'; MAX_ROBOTS_BYTES - 5];
        file.extend(b"/last");
        // Nobody knows whether a file of this very length was cut.
        check(&file, &[]);
        for end in [&b"\n"[..], b"\r\nmore"] {
            check(&[&file, end].concat(), &[(num_lines + 1, "/last")]);
        }
        check(&[&file, &b" more\n"[..]].concat(), &[]);
    }

    #[test]
    fn text_that_fills_its_cap_is_read_to_the_last_line_and_no_further() {
        assert_eq!(MAX_TEXT_BYTES, 24_064 * 24);
        let mut file = b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\n".repeat(24_064);
        file.extend(b"x\n");
        let mut num_lines = 0;
        each_line(&file, |_| num_lines += 1);
        assert_eq!(num_lines, 24_064);
    }

    #[test]
    fn garbage_cannot_swell_past_its_cap() {
        let mut num_bytes = 0;
        each_line(&vec![0xFF; MAX_ROBOTS_BYTES - 1], |line| num_bytes += line.text.len());
        assert!(num_bytes <= MAX_TEXT_BYTES);
        let rows = b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\n".repeat(MAX_ROBOTS_BYTES / 8 - 1);
        num_bytes = 0;
        each_line(&rows[8..], |line| num_bytes += line.text.len());
        assert!((577_516..=577_536).contains(&num_bytes), "{num_bytes}");
    }
}
