//! Taking a body out of the bytes of a connection, and knowing exactly whether all of it came.
//!
//! Decoding content codings is `decode`'s matter. Chunk extensions and trailers are read over: nothing in them is wanted, and the
//! connection is never used again, so the body is whole as soon as the chunk of size zero is announced (RFC 9112 §7.1, §8).
//!
//! Invariant: [`BodyReader::end_at_close`] says [`BodyEnd::Whole`] only where the framing itself says so.

use super::answer_head::Framing;

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// All of it came.
    Whole,
    /// The connection closed before its end, or its chunks are broken.
    Truncated,
    /// It stopped coming for longer than the idle time-out.
    Stalled,
}

/// Reads one body.
#[derive(Debug)]
pub struct BodyReader {
    state: State,
}

#[derive(Debug)]
enum State {
    Length(u64),
    UntilClose,
    ChunkSize(ChunkSize),
    ChunkData(u64),
    /// The line end behind a chunk's data.
    ChunkEnd,
    Ended(BodyEnd),
}

/// A chunk-size line read so far.
#[derive(Debug, Default)]
struct ChunkSize {
    size: u64,
    num_digits: u8,
    num_bytes: u16,
    in_extension: bool,
}

/// Longest chunk-size line, extensions included, in bytes.
const MAX_CHUNK_LINE_BYTES: u16 = 4096;

/// Digits that fit a chunk size of 64 bits.
const MAX_CHUNK_DIGITS: u8 = 16;

impl BodyReader {
    /// At the start of a body.
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => State::Ended(BodyEnd::Whole),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkSize(ChunkSize::default()),
            Framing::UntilClose => State::UntilClose,
        };
        Self { state }
    }

    /// Takes bytes off the connection and adds what belongs to the body to `body`; bytes behind its end are let go.
    pub fn feed(&mut self, mut bytes: &[u8], body: &mut Vec<u8>) {
        while !bytes.is_empty() {
            match &mut self.state {
                State::Ended(_) => return,
                State::UntilClose => {
                    body.extend_from_slice(bytes);
                    return;
                }
                State::Length(left) => {
                    take_data(&mut bytes, left, body);
                    if *left == 0 {
                        self.state = State::Ended(BodyEnd::Whole);
                    }
                }
                State::ChunkData(left) => {
                    take_data(&mut bytes, left, body);
                    if *left == 0 {
                        self.state = State::ChunkEnd;
                    }
                }
                State::ChunkEnd => {
                    self.state = match bytes[0] {
                        b'\r' => State::ChunkEnd,
                        b'\n' => State::ChunkSize(ChunkSize::default()),
                        _ => State::Ended(BodyEnd::Truncated),
                    };
                    bytes = &bytes[1..];
                }
                State::ChunkSize(line) => {
                    let byte = bytes[0];
                    bytes = &bytes[1..];
                    if let Some(next) = line.take(byte) {
                        self.state = next;
                    }
                }
            }
        }
    }

    /// How the body ended; none while more of it may come.
    pub fn end(&self) -> Option<BodyEnd> {
        match self.state {
            State::Ended(end) => Some(end),
            State::Length(_) | State::UntilClose | State::ChunkSize(_) | State::ChunkData(_) | State::ChunkEnd => None,
        }
    }

    /// How the body ended, now that the server has closed the connection in order.
    pub fn end_at_close(&self) -> BodyEnd {
        match self.state {
            State::Ended(end) => end,
            State::UntilClose => BodyEnd::Whole,
            State::Length(_) | State::ChunkSize(_) | State::ChunkData(_) | State::ChunkEnd => BodyEnd::Truncated,
        }
    }
}

fn take_data(bytes: &mut &[u8], left: &mut u64, body: &mut Vec<u8>) {
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    let (data, rest) = bytes.split_at(length);
    body.extend_from_slice(data);
    *bytes = rest;
    *left -= length as u64;
}

impl ChunkSize {
    /// Takes one byte; the next state where the line ended or broke.
    fn take(&mut self, byte: u8) -> Option<State> {
        self.num_bytes += 1;
        if self.num_bytes > MAX_CHUNK_LINE_BYTES {
            return Some(State::Ended(BodyEnd::Truncated));
        }
        match (byte, self.in_extension) {
            (b'\n', _) if self.num_digits == 0 => Some(State::Ended(BodyEnd::Truncated)),
            (b'\n', _) if self.size == 0 => Some(State::Ended(BodyEnd::Whole)),
            (b'\n', _) => Some(State::ChunkData(self.size)),
            (_, true) => None,
            // White space before an extension or a line end is bad but harmless; the digits are over.
            (b';' | b' ' | b'\t' | b'\r', false) => {
                self.in_extension = self.num_digits > 0;
                (!self.in_extension).then_some(State::Ended(BodyEnd::Truncated))
            }
            (_, false) => match char::from(byte).to_digit(16) {
                Some(digit) if self.num_digits < MAX_CHUNK_DIGITS => {
                    self.num_digits += 1;
                    self.size = self.size << 4 | u64::from(digit);
                    None
                }
                Some(_) | None => Some(State::Ended(BodyEnd::Truncated)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(framing: Framing, bytes: &str, body: &str, end: BodyEnd) {
        for piece in [1, 3, bytes.len().max(1)] {
            let mut reader = BodyReader::new(framing);
            let mut got = Vec::new();
            for part in bytes.as_bytes().chunks(piece) {
                reader.feed(part, &mut got);
            }
            let got = String::from_utf8(got).unwrap();
            assert_eq!((got.as_str(), reader.end_at_close()), (body, end), "{bytes:?} in pieces of {piece}");
        }
    }

    #[test]
    fn bodies_end_where_their_framing_says() {
        use BodyEnd::{Truncated, Whole};
        check(Framing::Empty, "rest", "", Whole);
        check(Framing::Length(0), "rest", "", Whole);
        check(Framing::Length(4), "bodyrest", "body", Whole);
        check(Framing::Length(9), "body", "body", Truncated);
        check(Framing::Length(u64::MAX), "body", "body", Truncated);
        check(Framing::UntilClose, "body", "body", Whole);
        check(Framing::UntilClose, "", "", Whole);
        check(Framing::Chunked, "4\r\nbody\r\n0\r\n\r\n", "body", Whole);
        check(Framing::Chunked, "4\nbody\n0\n\n", "body", Whole);
        check(Framing::Chunked, "2\r\nbo\r\n02;x=\"y\"\r\ndy\r\n0000 ; z\r\nTrailer: 1\r\n\r\n", "body", Whole);
        check(Framing::Chunked, "A  \r\n0123456789\r\n0\r\n", "0123456789", Whole);
        check(Framing::Chunked, "4\r\nbody\r\n0\r\n", "body", Whole);
    }

    #[test]
    fn broken_or_cut_chunks_keep_what_came_and_are_truncated() {
        for (bytes, body) in [
            ("", ""),
            ("4", ""),
            ("4\r\nbo", "bo"),
            ("4\r\nbody", "body"),
            ("4\r\nbody\r\n", "body"),
            ("4\r\nbody\r\n0", "body"),
            ("4\r\nbodyX\r\n0\r\n", "body"),
            ("4\r\nbody\r\n\r\n0\r\n", "body"),
            ("4\r\nbody\r\nzz\r\n", "body"),
            ("4\r\nbody\r\n-1\r\nx", "body"),
            (";x\r\n", ""),
            ("<html>", ""),
            ("12345678901234567\r\nx", ""),
            ("ffffffffffffffff\r\nx", "x"),
        ] {
            check(Framing::Chunked, bytes, body, BodyEnd::Truncated);
        }
        check(Framing::Chunked, &format!("4;{}\r\nbody", "x".repeat(5000)), "", BodyEnd::Truncated);
    }

    proptest! {
        #[test]
        fn chunking_a_body_and_reading_it_gives_the_body(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..10), step in 1usize..40) {
            let mut wire = Vec::new();
            for piece in &pieces {
                wire.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                wire.extend_from_slice(piece);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            let mut reader = BodyReader::new(Framing::Chunked);
            let mut body = Vec::new();
            for part in wire.chunks(step) {
                reader.feed(part, &mut body);
            }
            prop_assert_eq!(reader.end(), Some(BodyEnd::Whole));
            prop_assert_eq!(body, pieces.concat());
        }

        #[test]
        fn no_bytes_make_it_panic_or_grow_the_body(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = BodyReader::new(Framing::Chunked);
            let mut body = Vec::new();
            reader.feed(&bytes, &mut body);
            prop_assert!(body.len() <= bytes.len());
        }
    }
}
