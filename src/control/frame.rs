//! Lines over a byte stream, with a cap: a peer that never ends its line holds no more than [`MAX_REQUEST_BYTES`].

use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest request line in bytes, its end aside.
pub const MAX_REQUEST_BYTES: usize = 64 << 10;

/// Longest answer line in bytes; a command that would say more is told so instead.
pub const MAX_RESPONSE_BYTES: usize = 8 << 20;

const READ_CHUNK_BYTES: usize = 4 << 10;

/// What came next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line longer than the cap; nothing after it can be told apart, so the connection is of no more use.
    TooLong,
    /// The peer has said all. A last line without an end is no request: it may have been cut.
    End,
}

/// Reads lines of a stream, keeping what came beyond the line for the next call.
pub struct LineReader<R> {
    stream: R,
    buffer: Vec<u8>,
    searched: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader at the start of a stream.
    pub fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new(), searched: 0 }
    }

    /// The stream.
    pub fn stream(&self) -> &R {
        &self.stream
    }

    /// The next line. Dropping the future loses nothing: what was read stays in the buffer.
    pub async fn next(&mut self) -> std::io::Result<Frame> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let end = self.searched + at;
                let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
                self.searched = 0;
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(if line.len() > MAX_REQUEST_BYTES { Frame::TooLong } else { Frame::Line(line) });
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > MAX_REQUEST_BYTES + 1 {
                return Ok(Frame::TooLong);
            }
            self.buffer.reserve(READ_CHUNK_BYTES);
            let wanted = READ_CHUNK_BYTES as u64;
            if (&mut self.stream).take(wanted).read_buf(&mut self.buffer).await? == 0 {
                return Ok(Frame::End);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut reader = LineReader::new(bytes);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut found = Vec::new();
            loop {
                found.push(reader.next().await.unwrap());
                if !matches!(found.last(), Some(Frame::Line(_))) {
                    return found;
                }
            }
        })
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_told_apart_whatever_their_end() {
        assert_eq!(frames(b"a\nbc\r\n\nd\n"), [line("a"), line("bc"), line(""), line("d"), Frame::End]);
        assert_eq!(frames(b""), [Frame::End]);
    }

    #[test]
    fn line_without_end_is_no_request() {
        assert_eq!(frames(b"a\n{\"command\":\"shutdown\"}"), [line("a"), Frame::End]);
    }

    #[test]
    fn line_at_the_cap_is_read_and_a_longer_one_is_refused() {
        let longest = "x".repeat(MAX_REQUEST_BYTES);
        assert_eq!(frames(format!("{longest}\n").as_bytes()), [line(&longest), Frame::End]);
        assert_eq!(frames(format!("{longest}\r\n").as_bytes()), [line(&longest), Frame::End]);
        assert_eq!(frames(format!("{longest}x\n").as_bytes()), [Frame::TooLong]);
    }

    #[test]
    fn endless_line_is_given_up_soon_after_the_cap() {
        let mut reader = LineReader::new(tokio::io::repeat(b'x'));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(reader.next()).unwrap(), Frame::TooLong);
        assert!(reader.buffer.len() <= MAX_REQUEST_BYTES + 2 + READ_CHUNK_BYTES, "{}", reader.buffer.len());
    }
}
