//! One coding: bytes in, bytes out, a buffer at a time. The caps are the caller's.

use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, HeapAlloc, HuffmanCode};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};

use super::gzip::{Gzip, looks_like_zlib};

/// What the name of a coding stands for.
pub enum Known {
    /// Nothing to undo.
    Plain,
    /// This.
    Coded(Stage),
    /// Nothing that can be undone here.
    No,
}

/// The coding of that name, lower case (RFC 9110 §8.4.1, RFC 7932, RFC 8878). `none` and `utf-8` are what careless servers write
/// for `identity`.
pub fn of_coding(name: &str) -> Known {
    match name {
        "identity" | "none" | "utf-8" => Known::Plain,
        "gzip" | "x-gzip" => Known::Coded(Stage::Gzip(Gzip::new())),
        "deflate" => Known::Coded(Stage::Deflate(Deflate::Unseen(Vec::new()))),
        "br" => Known::Coded(Stage::Brotli(Box::new(Brotli::new()))),
        "zstd" => Zstd::new().map_or(Known::No, |zstd| Known::Coded(Stage::Zstd(zstd))),
        _ => Known::No,
    }
}

/// What one call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the input that are done with.
    pub num_read: usize,
    /// Bytes of the buffer that were filled.
    pub num_written: usize,
    /// What now.
    pub next: Next,
}

/// What a stage can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing before more input comes: all of it is read.
    NeedsInput,
    /// More, with the rest of the input or with what it holds inside.
    HasMore,
    /// Nothing any more.
    Broken,
}

impl Step {
    /// All input was taken in, or let go behind the end of the data.
    pub fn took_all(input: &[u8]) -> Self {
        Self { num_read: input.len(), num_written: 0, next: Next::NeedsInput }
    }

    /// The data makes no sense.
    pub const BROKEN: Self = Self { num_read: 0, num_written: 0, next: Next::Broken };
}

/// One coding being undone.
pub enum Stage {
    /// RFC 1952, several members in a row.
    Gzip(Gzip),
    /// RFC 1950, or what many servers send in its place: bare RFC 1951.
    Deflate(Deflate),
    /// RFC 7932.
    Brotli(Box<Brotli>),
    /// RFC 8878, several frames in a row.
    Zstd(Zstd),
}

impl Stage {
    /// Decodes some of `input` into `output`.
    pub fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Gzip(gzip) => gzip.decode(input, output),
            Self::Deflate(deflate) => deflate.decode(input, output),
            Self::Brotli(brotli) => brotli.decode(input, output),
            Self::Zstd(zstd) => zstd.decode(input, output),
        }
    }

    /// Whether the data may end here. No data at all is the empty body that some servers send with a coding's name.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Gzip(gzip) => gzip.is_complete(),
            Self::Deflate(deflate) => deflate.is_complete(),
            Self::Brotli(brotli) => brotli.place.is_end(),
            Self::Zstd(zstd) => zstd.place.is_end(),
        }
    }
}

/// Where a decoder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Inside,
    Done,
}

impl Place {
    fn is_end(self) -> bool {
        matches!(self, Self::Start | Self::Done)
    }
}

/// `deflate`: which of its two forms it is shows in the first two bytes.
pub enum Deflate {
    /// Fewer than two bytes came.
    Unseen(Vec<u8>),
    /// The data runs.
    Running {
        /// The first bytes, not yet decoded.
        held: Vec<u8>,
        /// The decoder.
        inflate: Box<Decompress>,
    },
    /// The data is over.
    Done,
}

impl Deflate {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Unseen(first) => {
                let num_read = input.len().min(2 - first.len());
                first.extend_from_slice(&input[..num_read]);
                if first.len() < 2 {
                    return Step::took_all(input);
                }
                let held = std::mem::take(first);
                let inflate = Box::new(Decompress::new(looks_like_zlib(&held)));
                *self = Self::Running { held, inflate };
                Step { num_read, num_written: 0, next: Next::HasMore }
            }
            Self::Running { held, inflate } => {
                let is_held = !held.is_empty();
                let mut step = match inflate_step(inflate, if is_held { held } else { input }, output) {
                    Ok((step, Status::StreamEnd)) => {
                        *self = Self::Done;
                        return Step { num_read: if is_held { 0 } else { step.num_read }, next: Next::HasMore, ..step };
                    }
                    Ok((step, Status::Ok | Status::BufError)) => step,
                    // What was held was counted as read when it was taken in.
                    Err(broken) => return Step { num_read: if is_held { 0 } else { broken.num_read }, ..broken },
                };
                if is_held {
                    held.drain(..step.num_read);
                    step = Step { num_read: 0, next: Next::HasMore, ..step };
                }
                step
            }
            Self::Done => Step::took_all(input),
        }
    }

    fn is_complete(&self) -> bool {
        match self {
            Self::Unseen(first) => first.is_empty(),
            Self::Running { .. } => false,
            Self::Done => true,
        }
    }
}

/// One call of the inflater.
pub fn inflate_step(inflate: &mut Decompress, input: &[u8], output: &mut [u8]) -> Result<(Step, Status), Step> {
    let (read_before, written_before) = (inflate.total_in(), inflate.total_out());
    let result = inflate.decompress(input, output, FlushDecompress::None);
    let num_read = (inflate.total_in() - read_before) as usize;
    let num_written = (inflate.total_out() - written_before) as usize;
    match result {
        Ok(status) => {
            // A full buffer may hide more output even where all input is read.
            let next = if num_read == input.len() && num_written < output.len() {
                Next::NeedsInput
            } else if num_read == 0 && num_written == 0 && status != Status::StreamEnd {
                Next::Broken
            } else {
                Next::HasMore
            };
            Ok((Step { num_read, num_written, next }, status))
        }
        Err(_) => Err(Step { num_read, num_written, next: Next::Broken }),
    }
}

/// `br`. Windows beyond 16 MiB are no part of RFC 7932 and are refused.
pub struct Brotli {
    state: BrotliState<HeapAlloc<u8>, HeapAlloc<u32>, HeapAlloc<HuffmanCode>>,
    place: Place,
}

impl Brotli {
    fn new() -> Self {
        let (bytes, words, codes) = (HeapAlloc::default(), HeapAlloc::default(), HeapAlloc::default());
        Self { state: BrotliState::new_strict(bytes, words, codes), place: Place::Start }
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.place == Place::Done {
            return Step::took_all(input);
        }
        if !input.is_empty() {
            self.place = Place::Inside;
        }
        let (mut left_in, mut num_read, mut left_out, mut num_written) = (input.len(), 0, output.len(), 0);
        let result = BrotliDecompressStream(
            &mut left_in,
            &mut num_read,
            input,
            &mut left_out,
            &mut num_written,
            output,
            &mut 0,
            &mut self.state,
        );
        let next = match result {
            BrotliResult::ResultSuccess => {
                self.place = Place::Done;
                Next::HasMore
            }
            BrotliResult::NeedsMoreInput => Next::NeedsInput,
            BrotliResult::NeedsMoreOutput => Next::HasMore,
            BrotliResult::ResultFailure => Next::Broken,
        };
        Step { num_read, num_written, next }
    }
}

/// `zstd`, with the window of at most 8 MiB that RFC 9659 sets for the web.
pub struct Zstd {
    decoder: ZstdDecoder<'static>,
    place: Place,
}

/// 8 MiB as a power of two (RFC 9659 §3).
const MAX_ZSTD_WINDOW_LOG: u32 = 23;

impl Zstd {
    fn new() -> Option<Self> {
        let mut decoder = ZstdDecoder::new().ok()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG)).ok()?;
        Some(Self { decoder, place: Place::Start })
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if input.is_empty() && self.place != Place::Inside {
            return Step::took_all(input);
        }
        let capacity = output.len();
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around(output);
        let result = self.decoder.run(&mut source, &mut target);
        let (num_read, num_written) = (source.pos(), target.pos());
        let next = match result {
            Ok(0) => {
                self.place = Place::Done;
                Next::HasMore
            }
            Ok(_) => {
                self.place = Place::Inside;
                if num_read == input.len() && num_written < capacity { Next::NeedsInput } else { Next::HasMore }
            }
            Err(_) => Next::Broken,
        };
        Step { num_read, num_written, next }
    }
}
