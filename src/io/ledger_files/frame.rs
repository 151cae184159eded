//! Frames: what a segment is made of after its header.
//!
//! A frame is a length (4 bytes, little endian), a CRC-32 (4 bytes) and that many bytes: one for the kind, then the body. All
//! entries that are synced together make one frame, so a power cut tears at most the last frame, and all of it was never
//! acknowledged. A body is lines: each a length (4 bytes) and a versioned [`LedgerEntry`].

use std::io::{self, Read};

use lohisoftbot_core::codec::{self, CodecError};
use lohisoftbot_core::ledger::LedgerEntry;

/// Bytes before the payload.
pub const PREFIX_BYTES: usize = 8;
/// Largest payload. A writer closes a frame at [`FULL_FRAME_BYTES`]; one entry may be as large as the codec allows.
pub const MAX_PAYLOAD_BYTES: usize = 2 << 20;
/// A frame that has grown to this takes no further line.
pub const FULL_FRAME_BYTES: usize = 256 << 10;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Entries, as they happened.
    Entries,
    /// Lines of the snapshot at the segment's head.
    Snapshot,
    /// The snapshot is complete; the body is the count of its lines.
    SnapshotEnd,
}

impl FrameKind {
    const fn byte(self) -> u8 {
        match self {
            Self::Entries => 1,
            Self::Snapshot => 2,
            Self::SnapshotEnd => 3,
        }
    }

    const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Entries),
            2 => Some(Self::Snapshot),
            3 => Some(Self::SnapshotEnd),
            _ => None,
        }
    }
}

/// A frame being written.
#[derive(Debug)]
pub struct FrameBuilder {
    bytes: Vec<u8>,
}

impl FrameBuilder {
    /// An empty frame.
    pub fn new(kind: FrameKind) -> Self {
        let mut bytes = vec![0; PREFIX_BYTES];
        bytes.push(kind.byte());
        Self { bytes }
    }

    /// Adds a line.
    pub fn push(&mut self, entry: &LedgerEntry) -> Result<(), CodecError> {
        let line = codec::encode(entry)?;
        let len = u32::try_from(line.len()).expect("the codec writes at most 1 MiB");
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(&line);
        Ok(())
    }

    /// Whether it should be closed.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_FRAME_BYTES
    }

    /// The whole frame.
    pub fn finish(mut self) -> Vec<u8> {
        let payload = &self.bytes[PREFIX_BYTES..];
        let len = u32::try_from(payload.len()).expect("a full frame and one line are below 2 MiB");
        let crc = crc32fast::hash(payload);
        self.bytes[..4].copy_from_slice(&len.to_le_bytes());
        self.bytes[4..PREFIX_BYTES].copy_from_slice(&crc.to_le_bytes());
        self.bytes
    }

    /// The frame that ends a snapshot of `num_lines` lines.
    pub fn snapshot_end(num_lines: u64) -> Vec<u8> {
        let mut builder = Self::new(FrameKind::SnapshotEnd);
        builder.bytes.extend_from_slice(&num_lines.to_le_bytes());
        builder.finish()
    }
}

/// A frame read back.
#[derive(Debug)]
pub enum Frame {
    /// Entries.
    Entries(Vec<LedgerEntry>),
    /// Snapshot lines.
    Snapshot(Vec<LedgerEntry>),
    /// End of the snapshot, with the count of its lines.
    SnapshotEnd(u64),
}

/// What a frame is, by its checksum and its lengths alone: its lines are counted and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// So many entries.
    Entries(u64),
    /// So many snapshot lines.
    Snapshot(u64),
    /// End of the snapshot, with the count of its lines.
    SnapshotEnd(u64),
}

/// Why there is no frame.
#[derive(Debug)]
pub enum FrameFault {
    /// The file cannot be read.
    Io(io::Error),
    /// Bytes that are no whole, sound frame: a torn tail, or damage.
    Unsound(String),
    /// A sound frame whose content does not read: never a torn tail.
    Unreadable(String),
}

/// Reads the next frame and its size in the file; none at the end.
pub fn read_frame(file: &mut impl Read) -> Result<Option<(Frame, u64)>, FrameFault> {
    let Some(payload) = read_payload(file)? else { return Ok(None) };
    let frame = parse_payload(&payload).map_err(FrameFault::Unreadable)?;
    Ok(Some((frame, (PREFIX_BYTES + payload.len()) as u64)))
}

/// The outline of the next frame and its size in the file; none at the end. An order of magnitude quicker than to read it.
pub fn read_outline(file: &mut impl Read) -> Result<Option<(Outline, u64)>, FrameFault> {
    let Some(payload) = read_payload(file)? else { return Ok(None) };
    let outline = outline_of(&payload).map_err(FrameFault::Unreadable)?;
    Ok(Some((outline, (PREFIX_BYTES + payload.len()) as u64)))
}

/// The payload of the next frame, its checksum compared; none at the end.
fn read_payload(file: &mut impl Read) -> Result<Option<Vec<u8>>, FrameFault> {
    let mut prefix = [0; PREFIX_BYTES];
    match read_up_to(file, &mut prefix).map_err(FrameFault::Io)? {
        0 => return Ok(None),
        PREFIX_BYTES => {}
        short => return Err(FrameFault::Unsound(format!("a frame of {short} bytes is cut short"))),
    }
    let (len, crc) = parse_prefix(&prefix);
    if len == 0 || len > MAX_PAYLOAD_BYTES {
        return Err(FrameFault::Unsound(format!("a frame claims {len} bytes")));
    }
    let mut payload = vec![0; len];
    let got = read_up_to(file, &mut payload).map_err(FrameFault::Io)?;
    if got < len {
        return Err(FrameFault::Unsound(format!("a frame of {len} bytes is cut short at {got}")));
    }
    if crc32fast::hash(&payload) != crc {
        return Err(FrameFault::Unsound("a checksum does not match".to_owned()));
    }
    Ok(Some(payload))
}

/// Whether a sound frame begins anywhere in `bytes`: then what lies before it is damage, and no torn tail.
pub fn holds_a_frame(bytes: &[u8]) -> bool {
    (0..bytes.len()).any(|start| {
        let Some((prefix, rest)) = bytes[start..].split_first_chunk::<PREFIX_BYTES>() else { return false };
        let (len, crc) = parse_prefix(prefix);
        (1..=MAX_PAYLOAD_BYTES).contains(&len)
            && rest.len() >= len
            && FrameKind::of_byte(rest[0]).is_some()
            && crc32fast::hash(&rest[..len]) == crc
    })
}

fn parse_prefix(prefix: &[u8; PREFIX_BYTES]) -> (usize, u32) {
    let [l0, l1, l2, l3, c0, c1, c2, c3] = *prefix;
    (u32::from_le_bytes([l0, l1, l2, l3]) as usize, u32::from_le_bytes([c0, c1, c2, c3]))
}

fn parse_payload(payload: &[u8]) -> Result<Frame, String> {
    let (kind, body) = kind_and_body(payload)?;
    match kind {
        FrameKind::Entries => Ok(Frame::Entries(parse_lines(body)?)),
        FrameKind::Snapshot => Ok(Frame::Snapshot(parse_lines(body)?)),
        FrameKind::SnapshotEnd => Ok(Frame::SnapshotEnd(parse_count(body)?)),
    }
}

fn outline_of(payload: &[u8]) -> Result<Outline, String> {
    let (kind, body) = kind_and_body(payload)?;
    match kind {
        FrameKind::Entries => Ok(Outline::Entries(count_lines(body)?)),
        FrameKind::Snapshot => Ok(Outline::Snapshot(count_lines(body)?)),
        FrameKind::SnapshotEnd => Ok(Outline::SnapshotEnd(parse_count(body)?)),
    }
}

fn kind_and_body(payload: &[u8]) -> Result<(FrameKind, &[u8]), String> {
    let (&kind, body) = payload.split_first().ok_or("a frame is empty")?;
    let kind = FrameKind::of_byte(kind).ok_or_else(|| format!("a frame has the unknown kind {kind}"))?;
    Ok((kind, body))
}

fn parse_count(body: &[u8]) -> Result<u64, String> {
    let count = body.try_into().map_err(|_| "the end of a snapshot has no count")?;
    Ok(u64::from_le_bytes(count))
}

fn parse_lines(mut body: &[u8]) -> Result<Vec<LedgerEntry>, String> {
    let mut lines = Vec::new();
    while let Some(line) = next_line(&mut body)? {
        lines.push(codec::decode(line).map_err(|error| error.to_string())?);
    }
    Ok(lines)
}

fn count_lines(mut body: &[u8]) -> Result<u64, String> {
    let mut num_lines = 0;
    while next_line(&mut body)?.is_some() {
        num_lines += 1;
    }
    Ok(num_lines)
}

/// Takes the next line off a body; none at its end.
fn next_line<'a>(body: &mut &'a [u8]) -> Result<Option<&'a [u8]>, String> {
    if body.is_empty() {
        return Ok(None);
    }
    let (len, rest) = body.split_first_chunk::<4>().ok_or("a line has no length")?;
    let len = u32::from_le_bytes(*len) as usize;
    let (line, rest) = rest.split_at_checked(len).ok_or("a line is longer than its frame")?;
    *body = rest;
    Ok(Some(line))
}

fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
