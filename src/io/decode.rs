//! Undoing the content codings of a body while it streams in: gzip, deflate, br, zstd, and several of them in a row.
//!
//! A body is hostile until read: a few bytes can decode to gigabytes. So each step decodes into a buffer of fixed size and stops at
//! a cap on the output, on its ratio to what came, on what the steps pass between them, and on what comes in without anything
//! coming out. What was decoded before a cap or a fault is kept: a page that ends early is better than none.
//!
//! Invariant: the output never exceeds [`DecodeCaps::bytes`], and no call decodes more than one buffer beyond a cap.

mod gzip;
mod stage;

use bytes::Bytes;

use self::stage::Stage;

/// Caps on one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeCaps {
    /// Decoded bytes.
    pub bytes: usize,
    /// Decoded bytes for one received byte.
    pub ratio: u32,
}

/// Codings in a row; more than this is no honest server.
pub const MAX_CODINGS: usize = 3;

/// Output below this is never held against the ratio: short bodies of one repeated line compress beyond any ratio.
const RATIO_FREE_BYTES: usize = 64 * 1024;

/// What received bytes, and bytes between two codings, may exceed the output cap by: coded data can be larger than plain data.
const CODING_OVERHEAD_BYTES: usize = 64 * 1024;

/// The first bytes of a gzip file (RFC 1952 §2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Size of the buffer that each step decodes into.
const STEP_BYTES: usize = 16 * 1024;

/// What of a gzip file is undone in one go. At the highest ratio of deflate it decodes to sixteen megabytes, some hundredths of a second.
const FILE_PIECE_BYTES: usize = 16 * 1024;

/// Whether more of the body is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    Continue,
    /// No: a cap was reached, or the coded data is broken.
    Stop,
}

/// A decoded body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// As far as it went.
    pub body: Bytes,
    /// It is not all there: over a cap, broken, or ended early.
    pub cut: bool,
}

/// Decodes one body.
pub struct BodyDecoder {
    stages: Vec<Stage>,
    caps: DecodeCaps,
    /// Bytes fed.
    num_received: usize,
    /// Bytes passed on by each stage but the last.
    num_between: usize,
    body: Vec<u8>,
    cut: bool,
}

impl BodyDecoder {
    /// For a body to which these codings were applied, in that order (RFC 9110 §8.4). A coding that is not known, or too many of
    /// them, gives a decoder that keeps nothing and says that the body is cut.
    pub fn new<'a>(codings: impl IntoIterator<Item = &'a str>, caps: DecodeCaps) -> Self {
        let mut stages = Vec::new();
        let mut is_known = true;
        for coding in codings {
            match stage::of_coding(coding) {
                stage::Known::Plain => {}
                stage::Known::Coded(stage) => stages.push(stage),
                stage::Known::No => is_known = false,
            }
        }
        is_known &= stages.len() <= MAX_CODINGS;
        stages.reverse();
        Self { stages, caps, num_received: 0, num_between: 0, body: Vec::new(), cut: !is_known }
    }

    /// Decodes the next bytes that came.
    pub fn feed(&mut self, bytes: &[u8]) -> Flow {
        if self.cut {
            return Flow::Stop;
        }
        self.num_received = self.num_received.saturating_add(bytes.len());
        let flow = match self.num_received.checked_sub(self.caps.bytes.saturating_add(CODING_OVERHEAD_BYTES)) {
            Some(1..) => Flow::Stop,
            Some(0) | None => self.push(0, bytes),
        };
        self.cut |= flow == Flow::Stop;
        flow
    }

    /// Whether anything was decoded.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// The body, now that no more bytes come.
    pub fn finish(self) -> Decoded {
        let is_whole = !self.cut && self.stages.iter().all(Stage::is_complete);
        Decoded { body: Bytes::from(self.body), cut: !is_whole }
    }

    /// Runs `bytes` through the stages from `index` on.
    fn push(&mut self, index: usize, bytes: &[u8]) -> Flow {
        if index == self.stages.len() {
            return self.keep(bytes);
        }
        if index > 0 {
            self.num_between = self.num_between.saturating_add(bytes.len());
            if self.num_between > self.caps.bytes.saturating_add(CODING_OVERHEAD_BYTES).saturating_mul(MAX_CODINGS) {
                return Flow::Stop;
            }
        }
        let mut input = bytes;
        let mut buffer = vec![0; STEP_BYTES];
        loop {
            let step = self.stages[index].decode(input, &mut buffer);
            if step.num_written > 0 && self.push(index + 1, &buffer[..step.num_written]) == Flow::Stop {
                return Flow::Stop;
            }
            input = &input[step.num_read..];
            match step.next {
                stage::Next::Broken => return Flow::Stop,
                stage::Next::NeedsInput => return Flow::Continue,
                stage::Next::HasMore => {}
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Flow {
        let by_ratio = self.num_received.saturating_mul(self.caps.ratio as usize).max(RATIO_FREE_BYTES);
        let room = self.caps.bytes.min(by_ratio).saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Flow::Stop } else { Flow::Continue }
    }
}

/// Undoes the gzip that a body has as a file, whatever its name and type say: `sitemap.xml.gz` under any Content-Type, and a gzip of a
/// gzip where a server compressed what was compressed. A body that does not begin like gzip comes back as it is.
///
/// Before each piece it asks whether the content is still wished for; where it is not, it stops there.
pub fn gunzip_file(body: Bytes, caps: DecodeCaps, is_wished: impl Fn() -> bool) -> Decoded {
    let mut decoded = Decoded { body, cut: false };
    for _ in 0..MAX_CODINGS {
        if !decoded.body.starts_with(&GZIP_MAGIC) {
            break;
        }
        let mut decoder = BodyDecoder::new(["gzip"], caps);
        for piece in decoded.body.chunks(FILE_PIECE_BYTES) {
            if !is_wished() {
                return Decoded { body: Bytes::new(), cut: true };
            }
            if decoder.feed(piece) == Flow::Stop {
                break;
            }
        }
        let undone = decoder.finish();
        decoded = Decoded { cut: undone.cut || decoded.cut, ..undone };
    }
    decoded
}

#[cfg(test)]
mod tests;
