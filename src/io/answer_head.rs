//! Reading the head of an answer: a pure function from the bytes that came to a clean head, or to the reason why there is none.
//!
//! Real servers send heads that no grammar allows, and a head that a browser reads should be read here too. So folds are joined,
//! lines that are no field are dropped, line ends may lack their CR. What decides where the body ends is read strictly: two
//! different lengths are no answer. Bodies are the matter of `body_framing`; the meaning of fields is the rules' matter.
//!
//! Invariant: the same bytes give the same result however they are cut into reads, since every call sees all of them.

use lohisoftbot_core::response::ResponseHead;

/// Caps on one answer's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadCaps {
    /// Bytes, line ends included.
    pub bytes: usize,
    /// Lines, status line and folds included.
    pub lines: usize,
}

/// Where the body ends (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body, whatever the fields say.
    Empty,
    /// After that many bytes.
    Length(u64),
    /// After the chunk of size zero.
    Chunked,
    /// Where the server closes the connection.
    UntilClose,
}

/// A head that was read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// Status and clean fields.
    pub head: ResponseHead,
    /// Where the body ends.
    pub framing: Framing,
    /// Transfer codings under the chunks, lower case, in the order they were applied.
    pub transfer_codings: Vec<String>,
    /// Bytes that the head took.
    pub num_bytes: usize,
    /// Lines that the head took.
    pub num_lines: usize,
}

impl AnswerHead {
    /// Whether this is a 1xx head, which another one follows (RFC 9110 §15.2).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.head.status)
    }
}

/// Why there is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadFault {
    /// The bytes are no HTTP/1 answer.
    Malformed,
    /// A cap was reached before the end.
    TooLarge,
}

/// Empty lines that may stand before a status line: some servers end a body with a line end too many.
const MAX_LEADING_EMPTY_LINES: usize = 4;

/// Reads the head that `bytes` begin with; none where its end has not come yet.
pub fn read_head(bytes: &[u8], caps: HeadCaps) -> Result<Option<AnswerHead>, HeadFault> {
    let mut lines = Lines { bytes, at: 0, num_lines: 0, caps };
    let mut num_empty = 0;
    let status = loop {
        let Some(line) = lines.next_line()? else {
            return may_become_status_line(lines.rest()).then_some(None).ok_or(HeadFault::Malformed);
        };
        if !line.is_empty() {
            break status_of(line).ok_or(HeadFault::Malformed)?;
        }
        num_empty += 1;
        if num_empty > MAX_LEADING_EMPTY_LINES {
            return Err(HeadFault::Malformed);
        }
    };
    let mut fields = Fields::default();
    loop {
        match lines.next_line()? {
            None => return Ok(None),
            Some([]) => break,
            Some(line) => fields.add_line(line),
        }
    }
    let (num_bytes, num_lines) = (lines.at, lines.num_lines);
    fields.into_head(status, num_bytes, num_lines).map(Some)
}

/// Splits at line feeds, a carriage return before one belonging to the line end (RFC 9112 §2.2).
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    num_lines: usize,
    caps: HeadCaps,
}

impl<'a> Lines<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn next_line(&mut self) -> Result<Option<&'a [u8]>, HeadFault> {
        let rest = self.rest();
        let Some(length) = memchr::memchr(b'\n', rest) else {
            return if self.bytes.len() > self.caps.bytes { Err(HeadFault::TooLarge) } else { Ok(None) };
        };
        self.at += length + 1;
        self.num_lines += 1;
        if self.at > self.caps.bytes || self.num_lines > self.caps.lines {
            return Err(HeadFault::TooLarge);
        }
        let line = &rest[..length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

const PROTOCOL: &[u8] = b"HTTP/";

/// Whether a line without end may still turn out to be a status line: a mail server's greeting is told at once, not at the
/// time-out.
fn may_become_status_line(begun: &[u8]) -> bool {
    let begun = begun.strip_prefix(b"\r").unwrap_or(begun);
    let compared = begun.len().min(PROTOCOL.len());
    begun[..compared].eq_ignore_ascii_case(&PROTOCOL[..compared])
}

/// The code in `HTTP/1.1 200 Reason`; the reason may be missing, and the version may be any.
fn status_of(line: &[u8]) -> Option<u16> {
    let (protocol, rest) = line.split_at_checked(PROTOCOL.len())?;
    if !protocol.eq_ignore_ascii_case(PROTOCOL) || !rest.first()?.is_ascii_digit() {
        return None;
    }
    let mut words = rest.split(|b| *b == b' ' || *b == b'\t').filter(|word| !word.is_empty());
    let code = words.nth(1)?;
    if code.len() != 3 {
        return None;
    }
    let code: u16 = std::str::from_utf8(code).ok()?.parse().ok()?;
    (100..=999).contains(&code).then_some(code)
}

/// Fields as they come in; a fold goes to the field before it.
#[derive(Default)]
struct Fields {
    fields: Vec<(String, Vec<u8>)>,
    last_was_dropped: bool,
}

impl Fields {
    fn add_line(&mut self, line: &[u8]) {
        if matches!(line[0], b' ' | b'\t') {
            // RFC 9112 §5.2: a user agent replaces each fold by a space.
            if let (false, Some((_, value))) = (self.last_was_dropped, self.fields.last_mut()) {
                let folded = clean_value(line);
                if !value.is_empty() && !folded.is_empty() {
                    value.push(b' ');
                }
                value.extend_from_slice(&folded);
            }
            return;
        }
        let parts = memchr::memchr(b':', line).map(|colon| (line[..colon].trim_ascii_end(), &line[colon + 1..]));
        let field = parts.filter(|(name, _)| !name.is_empty() && name.iter().all(|b| is_token_byte(*b)));
        self.last_was_dropped = field.is_none();
        if let Some((name, value)) = field {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            self.fields.push((name, clean_value(value)));
        }
    }

    fn into_head(self, status: u16, num_bytes: usize, num_lines: usize) -> Result<AnswerHead, HeadFault> {
        let has_no_body = matches!(status, 100..200 | 204 | 304);
        let mut head = ResponseHead::new(status);
        let mut codings = Vec::new();
        let mut length = None;
        for (name, value) in &self.fields {
            match name.as_str() {
                "transfer-encoding" => codings.extend(list_items(value)),
                "content-length" if !has_no_body => read_length(value, &mut length)?,
                "content-length" => {}
                _ => head.push(name, value),
            }
        }
        let is_chunked = codings.last().is_some_and(|coding| coding == "chunked");
        let framing = match (has_no_body, codings.is_empty(), is_chunked, length) {
            (true, _, _, _) => Framing::Empty,
            (false, _, true, _) => Framing::Chunked,
            // RFC 9112 §6.3: a coding that does not end in chunked runs until the close.
            (false, false, false, _) | (false, true, false, None) => Framing::UntilClose,
            (false, true, false, Some(length)) => Framing::Length(length),
        };
        if let Framing::Length(length) = framing {
            head.push("content-length", length.to_string().as_bytes());
        }
        codings.retain(|coding| coding != "chunked" && coding != "identity");
        Ok(AnswerHead { head, framing, transfer_codings: codings, num_bytes, num_lines })
    }
}

/// Takes one Content-Length value. Equal ones merge; differing or unreadable ones leave the end of the body unknown, which
/// RFC 9112 §6.3 calls an unrecoverable error. An empty value counts as none.
fn read_length(value: &[u8], length: &mut Option<u64>) -> Result<(), HeadFault> {
    for item in list_items(value) {
        let is_number = item.bytes().all(|b| b.is_ascii_digit());
        let read = item.parse::<u64>().ok().filter(|_| is_number).ok_or(HeadFault::Malformed)?;
        if length.is_some_and(|earlier| earlier != read) {
            return Err(HeadFault::Malformed);
        }
        *length = Some(read);
    }
    Ok(())
}

/// The items of a comma-separated list (RFC 9110 §5.6.1), lower case, parameters and empty items left out.
pub fn list_items(value: &[u8]) -> impl Iterator<Item = String> + '_ {
    value.split(|b| *b == b',').filter_map(|item| {
        let name = item.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).to_ascii_lowercase())
    })
}

/// RFC 9110 §5.5: white space around a value is no part of it, and a NUL or a bare CR inside becomes a space.
fn clean_value(value: &[u8]) -> Vec<u8> {
    let value: Vec<u8> = value.iter().map(|b| if matches!(b, 0 | b'\r') { b' ' } else { *b }).collect();
    value.trim_ascii().to_vec()
}

/// RFC 9110 §5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
