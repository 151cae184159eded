//! Segments: their names, their order, their headers, and reading one from its head to its end.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{LedgerError, LineOrigin};
use lohisoftbot_core::ledger::LedgerEntry;
use lohisoftbot_core::time::Timestamp;

use super::frame::{self, Frame, FrameFault, Outline};

/// The first bytes of a segment.
const MAGIC: [u8; 8] = *b"LSBLEDGR";
/// The form of segments that this program writes.
pub const VERSION: u16 = 1;
/// Size of the header: magic, version, two spare bytes, begin, first number, CRC-32.
pub const HEADER_BYTES: usize = 32;
/// What the name of a segment ends in while it is being written.
pub const UNFINISHED_SUFFIX: &str = ".log.new";

/// A segment's name: `ledger-2026-11-30-0001.log`. Names order as segments do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentName {
    /// The day it began, `YYYY-MM-DD`.
    pub date: String,
    /// From 1, within the day.
    pub number: u32,
}

impl SegmentName {
    /// Reads a file name; none if it is no segment's.
    pub fn parse(file_name: &str) -> Option<Self> {
        let (date, number) = file_name.strip_prefix("ledger-")?.strip_suffix(".log")?.rsplit_once('-')?;
        let sound = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        Some(Self { date: sound.then(|| date.to_owned())?, number: number.parse().ok()? })
    }

    /// The name of the segment that begins `at`, after `last`. Never orders before `last`, even if the clock was set back.
    pub fn following(last: Option<&Self>, at: Timestamp) -> Self {
        let today = at.to_string()[..10].to_owned();
        match last {
            Some(last) if last.date >= today => Self { date: last.date.clone(), number: last.number + 1 },
            _ => Self { date: today, number: 1 },
        }
    }

    /// The file name.
    pub fn file_name(&self) -> String {
        format!("ledger-{}-{:04}.log", self.date, self.number)
    }
}

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// When it began.
    pub began: Timestamp,
    /// Number of the first entry in it; its snapshot repeats what was before.
    pub first_seq: u64,
}

impl Header {
    /// Its bytes.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.began.as_millis().to_le_bytes());
        bytes[20..28].copy_from_slice(&self.first_seq.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER_BYTES], path: &Path) -> Result<Self, LedgerError> {
        let damaged = |what: &str| damaged(path, 0, what);
        if bytes[..8] != MAGIC {
            return Err(damaged("it does not begin as a ledger segment does"));
        }
        let number = |range: std::ops::Range<usize>| {
            u64::from_le_bytes(bytes[range].try_into().expect("the ranges below are eight bytes long"))
        };
        if crc32fast::hash(&bytes[..28]).to_le_bytes() != bytes[28..] {
            return Err(damaged("the checksum of its header does not match"));
        }
        let found = u16::from_le_bytes([bytes[8], bytes[9]]);
        if found != VERSION {
            return Err(LedgerError::UnknownVersion { path: path.to_owned(), found, known: VERSION });
        }
        Ok(Self { began: Timestamp::from_millis(number(12..20)), first_seq: number(20..28) })
    }
}

/// The segments of a directory, oldest first. A directory that is missing has none.
pub fn list(dir: &Path) -> Result<Vec<(SegmentName, PathBuf)>, LedgerError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("list", dir)(error)),
    };
    let mut segments = Vec::new();
    for entry in entries {
        let path = entry.map_err(io_error("list", dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(SegmentName::parse);
        segments.extend(name.map(|name| (name, path)));
    }
    segments.sort();
    Ok(segments)
}

/// Reads all segments but the newest by their checksums: what is damaged or missing there is an error. The newest alone says what must not
/// be forgotten, and yet a node is not to begin on a ledger that has lost what it says of past requests: nobody else could account for them.
pub fn ensure_closed_ones_are_whole(segments: &[(SegmentName, PathBuf)]) -> Result<(), LedgerError> {
    for pair in segments.windows(2) {
        let [(_, path), (_, next)] = pair else { continue };
        let wanted = SegmentReader::open(path, Tail::MustBeWhole)?.skim()?;
        let first = SegmentReader::open(next, Tail::MayBeTorn)?.header().first_seq;
        if first != wanted {
            return Err(missing_before(next, first, wanted));
        }
    }
    Ok(())
}

/// Whether a segment may end in a frame that a crash tore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// It is the newest: an unsound last frame was never acknowledged.
    MayBeTorn,
    /// A newer one follows, so all of it was durable.
    MustBeWhole,
}

/// A piece of a segment.
#[derive(Debug)]
pub enum Piece {
    /// Lines of one frame.
    Lines(LineOrigin, Vec<LedgerEntry>),
    /// The segment ends; with the offset of a torn frame, if one lies there.
    End {
        /// Where the sound part ends.
        sound_bytes: u64,
        /// Bytes behind it.
        torn_bytes: u64,
    },
}

/// Reads one segment, checking as it goes: order of frames, checksums, numbers without gaps.
#[derive(Debug)]
pub struct SegmentReader {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    tail: Tail,
    offset: u64,
    piece_at: u64,
    num_snapshot_lines: u64,
    in_snapshot: bool,
    next_seq: u64,
}

impl SegmentReader {
    /// Opens a segment and reads its header.
    pub fn open(path: &Path, tail: Tail) -> Result<Self, LedgerError> {
        let mut file = BufReader::new(File::open(path).map_err(io_error("open", path))?);
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(path, 0, "its header is cut short"),
            _ => io_error("read", path)(error),
        })?;
        let header = Header::decode(&bytes, path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            header,
            tail,
            offset: HEADER_BYTES as u64,
            piece_at: HEADER_BYTES as u64,
            num_snapshot_lines: 0,
            in_snapshot: true,
            next_seq: header.first_seq,
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Number of the next entry: after [`Piece::End`], the one that follows the segment.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Where the frame of the last piece begins.
    pub fn piece_at(&self) -> u64 {
        self.piece_at
    }

    /// The next piece.
    pub fn next_piece(&mut self) -> Result<Piece, LedgerError> {
        loop {
            let frame = match frame::read_frame(&mut self.file) {
                Ok(Some((frame, size))) => {
                    self.check(&frame)?;
                    self.piece_at = self.offset;
                    self.offset += size;
                    frame
                }
                // A segment gets its name only with its snapshot complete.
                Ok(None) if self.in_snapshot => return Err(self.damaged("its snapshot has no end")),
                Ok(None) => return Ok(Piece::End { sound_bytes: self.offset, torn_bytes: 0 }),
                Err(FrameFault::Io(error)) => return Err(io_error("read", &self.path)(error)),
                Err(FrameFault::Unreadable(what)) => return Err(self.damaged(&what)),
                Err(FrameFault::Unsound(what)) => return self.end_at_torn_frame(&what),
            };
            match frame {
                Frame::Entries(lines) => return Ok(Piece::Lines(LineOrigin::Entry, lines)),
                Frame::Snapshot(lines) => return Ok(Piece::Lines(LineOrigin::Snapshot, lines)),
                Frame::SnapshotEnd(_) => {}
            }
        }
    }

    /// Reads on to the end by checksums and counts alone, without a look at what the lines say; returns the number that follows.
    pub fn skim(mut self) -> Result<u64, LedgerError> {
        loop {
            match frame::read_outline(&mut self.file) {
                Ok(Some((outline, size))) => {
                    self.check_order(outline)?;
                    match outline {
                        Outline::Entries(num_lines) => self.next_seq += num_lines,
                        Outline::Snapshot(_) | Outline::SnapshotEnd(_) => {}
                    }
                    self.offset += size;
                }
                Ok(None) if self.in_snapshot => return Err(self.damaged("its snapshot has no end")),
                Ok(None) => return Ok(self.next_seq),
                Err(FrameFault::Io(error)) => return Err(io_error("read", &self.path)(error)),
                Err(FrameFault::Unreadable(what)) => return Err(self.damaged(&what)),
                Err(FrameFault::Unsound(what)) => return self.end_at_torn_frame(&what).map(|_| self.next_seq),
            }
        }
    }

    fn check(&mut self, frame: &Frame) -> Result<(), LedgerError> {
        let outline = match frame {
            Frame::Entries(lines) => Outline::Entries(lines.len() as u64),
            Frame::Snapshot(lines) => Outline::Snapshot(lines.len() as u64),
            Frame::SnapshotEnd(count) => Outline::SnapshotEnd(*count),
        };
        self.check_order(outline)?;
        if let Frame::Entries(lines) = frame {
            for line in lines {
                if line.seq != self.next_seq {
                    let what = format!("entry {} stands where entry {} belongs", line.seq, self.next_seq);
                    return Err(self.damaged(&what));
                }
                self.next_seq += 1;
            }
        }
        Ok(())
    }

    /// First the snapshot, whole, then the entries.
    fn check_order(&mut self, outline: Outline) -> Result<(), LedgerError> {
        match (outline, self.in_snapshot) {
            (Outline::Entries(_), true) => Err(self.damaged("entries stand before the end of its snapshot")),
            (Outline::Snapshot(_) | Outline::SnapshotEnd(_), false) => Err(self.damaged("it has a second snapshot")),
            (Outline::Entries(_), false) => Ok(()),
            (Outline::Snapshot(num_lines), true) => {
                self.num_snapshot_lines += num_lines;
                Ok(())
            }
            (Outline::SnapshotEnd(count), true) if count == self.num_snapshot_lines => {
                self.in_snapshot = false;
                Ok(())
            }
            (Outline::SnapshotEnd(count), true) => {
                Err(self.damaged(&format!("its snapshot has {} lines of {count}", self.num_snapshot_lines)))
            }
        }
    }

    /// A torn tail is at most one frame, with no sound frame behind it; anything else is damage.
    fn end_at_torn_frame(&mut self, what: &str) -> Result<Piece, LedgerError> {
        if self.tail == Tail::MustBeWhole || self.in_snapshot {
            return Err(self.damaged(what));
        }
        let file = self.file.get_mut();
        let read_rest = |file: &mut File| -> io::Result<Vec<u8>> {
            file.seek(SeekFrom::Start(self.offset))?;
            let mut rest = Vec::new();
            file.take((frame::PREFIX_BYTES + frame::MAX_PAYLOAD_BYTES + 1) as u64).read_to_end(&mut rest)?;
            Ok(rest)
        };
        let rest = read_rest(file).map_err(io_error("read", &self.path))?;
        let too_long = rest.len() > frame::PREFIX_BYTES + frame::MAX_PAYLOAD_BYTES;
        if too_long || frame::holds_a_frame(&rest[1..]) {
            return Err(self.damaged(what));
        }
        Ok(Piece::End { sound_bytes: self.offset, torn_bytes: rest.len() as u64 })
    }

    fn damaged(&self, what: &str) -> LedgerError {
        damaged(&self.path, self.offset, what)
    }
}

/// Makes an I/O error of `action` on `path`.
pub fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    let path = path.to_owned();
    move |source| LedgerError::Io { action, path, source }
}

/// The report that entries are missing before a segment, which begins with `first`.
pub fn missing_before(path: &Path, first: u64, wanted: u64) -> LedgerError {
    damaged(path, 0, &format!("it begins with entry {first} where entry {wanted} belongs: a segment is missing"))
}

/// Makes a damage report.
pub fn damaged(path: &Path, offset: u64, what: &str) -> LedgerError {
    LedgerError::Damaged { path: path.to_owned(), offset, what: what.to_owned() }
}
