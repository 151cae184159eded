//! gzip (RFC 1952): member headers and trailers around deflate data. Several members follow each other; what stands behind the
//! last one and is no member is let go. A trailer that came must fit the data; one that is missing is forgiven, since the
//! deflate data itself says where it ends.

use crc32fast::Hasher;
use flate2::{Decompress, Status};

use super::stage::{Next, Step, inflate_step};

/// A gzip stream being undone.
pub struct Gzip {
    place: Place,
    /// Bytes of a header or trailer that is not whole yet.
    held: Vec<u8>,
    num_members: u32,
}

enum Place {
    Header,
    Data(Box<Member>),
    Trailer { crc: u32, size: u32 },
    Garbage,
}

struct Member {
    inflate: Decompress,
    crc: Hasher,
}

/// A header with a longer name, comment or extra field is no web server's.
const MAX_HEADER_BYTES: usize = 8 * 1024;

const TRAILER_BYTES: usize = 8;

impl Gzip {
    /// At the start of a stream.
    pub fn new() -> Self {
        Self { place: Place::Header, held: Vec::new(), num_members: 0 }
    }

    /// Decodes some of `input` into `output`.
    pub fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match &mut self.place {
            Place::Header => self.read_header(input),
            Place::Data(member) => match inflate_step(&mut member.inflate, input, output) {
                Ok((step, status)) => {
                    member.crc.update(&output[..step.num_written]);
                    match status {
                        Status::StreamEnd => {
                            let (crc, size) = (member.crc.clone().finalize(), member.inflate.total_out() as u32);
                            self.num_members = self.num_members.saturating_add(1);
                            self.place = Place::Trailer { crc, size };
                            Step { next: Next::HasMore, ..step }
                        }
                        Status::Ok | Status::BufError => step,
                    }
                }
                Err(broken) => broken,
            },
            Place::Trailer { crc, size } => {
                let expected = [crc.to_le_bytes(), size.to_le_bytes()].concat();
                let num_read = input.len().min(TRAILER_BYTES - self.held.len());
                self.held.extend_from_slice(&input[..num_read]);
                if self.held.len() < TRAILER_BYTES {
                    return Step::took_all(input);
                }
                let fits = self.held == expected;
                self.held.clear();
                self.place = Place::Header;
                Step { num_read, num_written: 0, next: if fits { Next::HasMore } else { Next::Broken } }
            }
            Place::Garbage => Step::took_all(input),
        }
    }

    /// Whether the data may end here.
    pub fn is_complete(&self) -> bool {
        match self.place {
            Place::Header => self.num_members > 0 || self.held.is_empty(),
            Place::Data(_) => false,
            Place::Trailer { .. } | Place::Garbage => true,
        }
    }

    fn read_header(&mut self, input: &[u8]) -> Step {
        let num_held = self.held.len();
        let room = MAX_HEADER_BYTES.saturating_sub(num_held);
        self.held.extend_from_slice(&input[..input.len().min(room)]);
        match header_length(&self.held) {
            Header::Whole(length) => {
                self.held.clear();
                self.place = Place::Data(Box::new(Member { inflate: Decompress::new(false), crc: Hasher::new() }));
                Step { num_read: length - num_held, num_written: 0, next: Next::HasMore }
            }
            Header::Begun if self.held.len() < MAX_HEADER_BYTES => Step::took_all(input),
            Header::Begun | Header::No if self.num_members > 0 => {
                self.place = Place::Garbage;
                Step::took_all(input)
            }
            Header::Begun | Header::No => Step::BROKEN,
        }
    }
}

/// Whether bytes are a member header.
enum Header {
    Whole(usize),
    Begun,
    No,
}

/// RFC 1952 §2.3: fixed part, then what the flags announce.
fn header_length(bytes: &[u8]) -> Header {
    const FIXED: [u8; 3] = [0x1f, 0x8b, 8];
    const HAS_CRC: u8 = 2;
    const HAS_EXTRA: u8 = 4;
    const HAS_NAME: u8 = 8;
    const HAS_COMMENT: u8 = 16;
    let compared = bytes.len().min(FIXED.len());
    if bytes[..compared] != FIXED[..compared] {
        return Header::No;
    }
    let Some(&flags) = bytes.get(3) else { return Header::Begun };
    let mut at = 10;
    if flags & HAS_EXTRA != 0 {
        let Some(&[low, high]) = bytes.get(at..at + 2) else { return Header::Begun };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            let Some(length) = bytes.get(at..).and_then(|rest| memchr::memchr(0, rest)) else { return Header::Begun };
            at += length + 1;
        }
    }
    if flags & HAS_CRC != 0 {
        at += 2;
    }
    if bytes.len() < at { Header::Begun } else { Header::Whole(at) }
}

/// Whether deflate data has the two-byte header of RFC 1950 §2.2; bare deflate data cannot begin so but by chance.
pub fn looks_like_zlib(first: &[u8]) -> bool {
    match *first {
        [method, flags, ..] => {
            method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
        }
        [] | [_] => false,
    }
}
