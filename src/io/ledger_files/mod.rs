//! The ledger as files: `ledger-YYYY-MM-DD-NNNN.log`, append-only, CRC-framed, one a day.
//!
//! Invariants:
//! - a segment carries its name only once its header and snapshot are complete and durable, so the newest one alone says all that
//!   must not be forgotten;
//! - what [`LedgerStore::sync`] has acknowledged is on the disk; a crash tears at most what it has not;
//! - one process writes; a second is kept out by a lock on `lock`, readers need none.
//!
//! Damage in the middle is never skipped: a lost ticket would be a budget broken. Nothing here panics on any bytes.

#[cfg(test)]
mod damage_tests;
mod frame;
#[cfg(test)]
mod index_tests;
mod progress;
mod reader;
mod segment;
mod site_entries;
mod site_index;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{LedgerError, LedgerStore};
use lohisoftbot_core::ledger::{LedgerBook, LedgerEntry, LedgerEvent};
use lohisoftbot_core::time::Timestamp;

use self::frame::{FrameBuilder, FrameKind};
use self::segment::{Header, Piece, SegmentName, SegmentReader, Tail, io_error};
use crate::io::durable::{self, LockAttempt};

pub use self::reader::{LedgerReader, LedgerSummary, Line};
pub use self::site_entries::SiteEntries;

/// A segment that has grown to this is followed by another, even on the same day.
pub const MAX_SEGMENT_BYTES: u64 = 256 << 20;
/// The lock file of the directory.
pub const LOCK_FILE: &str = "lock";

/// What opening the ledger found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// Segments there are.
    pub num_segments: usize,
    /// Lines of the newest segment that were folded, its snapshot included.
    pub num_lines: u64,
    /// The torn tail that was cut off, if there was one.
    pub torn_tail: Option<TornTail>,
    /// Segments that a crash left half-begun and that were removed; they held copies alone.
    pub num_unfinished: usize,
}

/// The end of a segment that a crash tore; never acknowledged to anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Of which segment.
    pub path: PathBuf,
    /// Where it began.
    pub offset: u64,
    /// Its length.
    pub num_bytes: u64,
}

/// The ledger, open for writing.
#[derive(Debug)]
pub struct LedgerFiles {
    dir: PathBuf,
    name: SegmentName,
    path: PathBuf,
    file: File,
    began: Timestamp,
    num_bytes: u64,
    last_seq: u64,
    waiting: Vec<Vec<u8>>,
    building: Option<FrameBuilder>,
    health: Health,
    // Held as long as the ledger is open.
    _lock: File,
}

/// After a failed write or sync the kernel may have dropped the bytes: nothing after it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Sound,
    Failed,
}

impl LedgerFiles {
    /// Opens the ledger in `dir` for writing, creating it where there is none, and folds its newest segment.
    ///
    /// A torn tail is cut off and reported. Any other damage, in any segment, is an error, and nothing is changed.
    pub fn open(dir: &Path, now: Timestamp) -> Result<(Self, LedgerBook, OpenReport), LedgerError> {
        let lock_path = dir.join(LOCK_FILE);
        if !lock_path.exists() {
            // A copy without its lock: what is refused is to stay without it.
            let segments = segment::list(dir)?;
            segment::ensure_closed_ones_are_whole(&segments)?;
            if let Some((_, newest)) = segments.last() {
                SegmentReader::open(newest, Tail::MayBeTorn)?.skim()?;
            }
        }
        durable::create_dir(dir).map_err(io_error("create", dir))?;
        let lock = match durable::try_lock(&lock_path).map_err(io_error("lock", &lock_path))? {
            LockAttempt::Ours(lock) => lock,
            LockAttempt::Held => return Err(LedgerError::Held { path: dir.to_owned() }),
        };
        let mut report = OpenReport::default();
        let mut book = LedgerBook::default();
        let segments = segment::list(dir)?;
        segment::ensure_closed_ones_are_whole(&segments)?;
        report.num_segments = segments.len();
        let (name, path, began, num_bytes) = match segments.into_iter().next_back() {
            Some((name, path)) => {
                let (header, num_bytes) = fold_segment(&path, &mut book, &mut report)?;
                report.num_unfinished = remove_unfinished(dir)?;
                (name, path, header.began, num_bytes)
            }
            None => {
                report.num_segments = 1;
                report.num_unfinished = remove_unfinished(dir)?;
                let name = SegmentName::following(None, now);
                let (path, num_bytes) =
                    write_segment(dir, &name, Header { began: now, first_seq: 1 }, &mut std::iter::empty())?;
                (name, path, now, num_bytes)
            }
        };
        let file = open_for_append(&path, &report)?;
        let last_seq = book.last_seq;
        let ledger = Self {
            dir: dir.to_owned(),
            name,
            path,
            file,
            began,
            num_bytes,
            last_seq,
            waiting: Vec::new(),
            building: None,
            health: Health::Sound,
            _lock: lock,
        };
        Ok((ledger, book, report))
    }

    /// Number of the newest entry, synced or not.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    fn ensure_sound(&self) -> Result<(), LedgerError> {
        match self.health {
            Health::Sound => Ok(()),
            Health::Failed => Err(io_error("write", &self.path)(io::Error::other("an earlier write failed"))),
        }
    }

    fn close_frame(&mut self) {
        self.waiting.extend(self.building.take().map(FrameBuilder::finish));
    }

    /// Frame by frame, each synced before the next: so an unsound frame with a sound one behind it is damage, never a torn tail.
    fn write_waiting(&mut self) -> io::Result<()> {
        for frame in std::mem::take(&mut self.waiting) {
            self.file.write_all(&frame)?;
            self.file.sync_data()?;
            self.num_bytes += frame.len() as u64;
        }
        Ok(())
    }
}

impl LedgerStore for LedgerFiles {
    fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), LedgerError> {
        self.ensure_sound()?;
        for entry in entries {
            if entry.seq != self.last_seq + 1 {
                return Err(LedgerError::OutOfOrder { last: self.last_seq, got: entry.seq });
            }
            let frame = self.building.get_or_insert_with(|| FrameBuilder::new(FrameKind::Entries));
            frame.push(entry)?;
            self.last_seq = entry.seq;
            if frame.is_full() {
                self.close_frame();
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        self.ensure_sound()?;
        self.close_frame();
        self.write_waiting().map_err(|error| {
            self.health = Health::Failed;
            io_error("write", &self.path)(error)
        })
    }

    fn wants_rotation(&self, now: Timestamp) -> bool {
        let day = |at: Timestamp| at.as_secs() / 86_400;
        day(now) > day(self.began) || self.num_bytes >= MAX_SEGMENT_BYTES
    }

    fn rotate(&mut self, at: Timestamp, snapshot: &mut dyn Iterator<Item = LedgerEvent>) -> Result<(), LedgerError> {
        self.sync()?;
        let name = SegmentName::following(Some(&self.name), at);
        let seq = self.last_seq;
        let header = Header { began: at, first_seq: seq + 1 };
        let mut lines = snapshot.map(|event| LedgerEntry { seq, at, event });
        // Whatever fails from here on may leave a newer segment in place: then nothing more may go into the old one.
        self.health = Health::Failed;
        let (path, num_bytes) = write_segment(&self.dir, &name, header, &mut lines)?;
        self.file = open_for_append(&path, &OpenReport::default())?;
        self.health = Health::Sound;
        self.name = name;
        self.path = path;
        self.began = at;
        self.num_bytes = num_bytes;
        Ok(())
    }

    fn expire(&mut self, older_than: Timestamp) -> Result<usize, LedgerError> {
        let segments = segment::list(&self.dir)?;
        let mut num_expired = 0;
        // A segment ends where the next one begins; the newest has no next one, so it stays.
        for pair in segments.windows(2) {
            let [(_, path), (_, next)] = pair else { continue };
            if SegmentReader::open(next, Tail::MayBeTorn)?.header().began > older_than {
                break;
            }
            fs::remove_file(path).map_err(io_error("remove", path))?;
            // An index that is left behind says nothing, and one that never was is none to remove.
            let _ = fs::remove_file(site_index::path_of(path));
            num_expired += 1;
        }
        if num_expired > 0 {
            durable::sync_dir(&self.dir).map_err(io_error("sync", &self.dir))?;
        }
        Ok(num_expired)
    }
}

/// A crash in the middle of a rotation leaves a file that no one relies on yet: its lines are copies. One in the middle of building an
/// index, or between the end of a segment and that of its index, leaves a file that nobody would look at again.
fn remove_unfinished(dir: &Path) -> Result<usize, LedgerError> {
    let mut num_removed = 0;
    for entry in fs::read_dir(dir).map_err(io_error("list", dir))? {
        let path = entry.map_err(io_error("list", dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("ledger-") && name.ends_with(segment::UNFINISHED_SUFFIX) {
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
            num_removed += 1;
        }
        let is_lone_index = name.ends_with(".idx") && !path.with_extension("log").exists();
        if name.starts_with("ledger-") && (name.ends_with(".idx.new") || is_lone_index) {
            // It says nothing, so one that cannot be removed hurts nobody.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(num_removed)
}

/// Folds the newest segment into `book`; returns its header and the size of its sound part.
fn fold_segment(path: &Path, book: &mut LedgerBook, report: &mut OpenReport) -> Result<(Header, u64), LedgerError> {
    let mut reader = SegmentReader::open(path, Tail::MayBeTorn)?;
    loop {
        match reader.next_piece()? {
            Piece::Lines(_, lines) => {
                report.num_lines += lines.len() as u64;
                lines.iter().for_each(|line| book.apply(line));
            }
            Piece::End { sound_bytes, torn_bytes } => {
                // A snapshot may be empty although entries stand before it.
                book.last_seq = reader.next_seq() - 1;
                if torn_bytes > 0 {
                    report.torn_tail =
                        Some(TornTail { path: path.to_owned(), offset: sound_bytes, num_bytes: torn_bytes });
                }
                return Ok((reader.header(), sound_bytes));
            }
        }
    }
}

/// Opens a segment at its end, cutting off a torn tail first.
fn open_for_append(path: &Path, report: &OpenReport) -> Result<File, LedgerError> {
    let file = OpenOptions::new().append(true).open(path).map_err(io_error("open", path))?;
    if let Some(torn) = &report.torn_tail {
        file.set_len(torn.offset).and_then(|()| file.sync_all()).map_err(io_error("cut the torn tail of", path))?;
    }
    Ok(file)
}

/// Writes a new segment whole, syncs it and only then gives it its name; returns its path and size.
fn write_segment(
    dir: &Path,
    name: &SegmentName,
    header: Header,
    lines: &mut dyn Iterator<Item = LedgerEntry>,
) -> Result<(PathBuf, u64), LedgerError> {
    let path = dir.join(name.file_name());
    let unfinished = dir.join(format!("{}.new", name.file_name()));
    let failed = |error| io_error("write", &unfinished)(error);
    let mut file = io::BufWriter::new(File::create(&unfinished).map_err(failed)?);
    let mut num_bytes = 0;
    let mut write = |bytes: &[u8]| {
        num_bytes += bytes.len() as u64;
        file.write_all(bytes)
    };
    write(&header.encode()).map_err(failed)?;
    let mut num_lines = 0;
    let mut frame = None;
    for line in lines {
        let open = frame.get_or_insert_with(|| FrameBuilder::new(FrameKind::Snapshot));
        open.push(&line)?;
        num_lines += 1;
        if open.is_full() {
            write(&frame.take().map(FrameBuilder::finish).unwrap_or_default()).map_err(failed)?;
        }
    }
    write(&frame.map(FrameBuilder::finish).unwrap_or_default()).map_err(failed)?;
    write(&FrameBuilder::snapshot_end(num_lines)).map_err(failed)?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&unfinished, &path).map_err(failed)?;
    durable::sync_dir(dir).map_err(io_error("sync", dir))?;
    Ok((path, num_bytes))
}
