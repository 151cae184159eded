//! Reading the ledger, beside a running writer if need be: needs no lock, changes no segment, sees what was synced.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lohisoftbot_actors::storage::{EntryFilter, LedgerError, LedgerRead, LineOrigin};
use lohisoftbot_core::ledger::LedgerEntry;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use super::progress::{AfterFault, Progress};
use super::segment::{self, Piece, SegmentReader, Tail, io_error, missing_before};
use super::site_entries::{Indexes, SiteEntries};

/// Reads the ledger of one directory.
#[derive(Clone, Debug)]
pub struct LedgerReader {
    dir: PathBuf,
    indexes: Indexes,
    building: Arc<Mutex<()>>,
    stop: StopFlag,
}

/// Ends the reads of a node that stops: a ledger of years is read for longer than anyone waits.
#[derive(Clone, Debug, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// An error once it is set; looked at before each frame of `segment`.
    pub(super) fn check(&self, segment: &Path) -> Result<(), LedgerError> {
        if self.0.load(Ordering::Relaxed) {
            return Err(io_error("read on in", segment)(io::Error::new(ErrorKind::Interrupted, "the node stops")));
        }
        Ok(())
    }
}

/// A line and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub entry: LedgerEntry,
    /// Whether it happened then, or repeats what was.
    pub origin: LineOrigin,
}

/// What reading all of the ledger found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerSummary {
    /// Segments.
    pub num_segments: usize,
    /// Entries in them.
    pub num_entries: u64,
    /// Lines of their snapshots.
    pub num_snapshot_lines: u64,
    /// Number of the newest entry.
    pub last_seq: u64,
    /// Bytes at the end that a crash tore, or that a writer is just writing.
    pub torn_bytes: u64,
}

impl LedgerReader {
    /// A reader of the ledger in `dir`; an empty one where there is no such directory.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), indexes: Indexes::UseOnly, building: Arc::default(), stop: StopFlag::default() }
    }

    /// The same for the node that owns the directory: it builds the indexes that are missing or damaged.
    pub fn with_indexes(dir: &Path) -> Self {
        Self { indexes: Indexes::Build, ..Self::new(dir) }
    }

    /// Ends what this reader and its clones are reading, and whatever they are asked to read from now on, with an error.
    pub fn stop(&self) {
        self.stop.0.store(true, Ordering::Relaxed);
    }

    /// The lines that `filter` lets through, oldest first, read as they are asked for; its count does not apply here.
    pub fn stream(&self, filter: EntryFilter) -> Result<Lines, LedgerError> {
        let mut segments: VecDeque<PathBuf> = segment::list(&self.dir)?.into_iter().map(|(_, path)| path).collect();
        // A segment is of no interest where the next one begins at or before the first number that is wanted.
        while let Some(next) = segments.get(1) {
            match SegmentReader::open(next, Tail::MayBeTorn) {
                Ok(reader) if reader.header().first_seq <= filter.after_seq.saturating_add(1) => {
                    segments.pop_front();
                }
                Ok(_) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.lines(segments, filter, AfterFault::End))
    }

    /// The same of a ledger that may be damaged: each damage, and each segment that is missing, comes as an error in its place, and
    /// what is sound behind it follows. For who judges what is left and says what is not.
    pub fn stream_what_is_left(&self, filter: EntryFilter) -> Result<Lines, LedgerError> {
        let segments = segment::list(&self.dir)?.into_iter().map(|(_, path)| path).collect();
        Ok(self.lines(segments, filter, AfterFault::GoOnBehindDamage))
    }

    /// The entries that are about a site, oldest first, read as they are asked for.
    pub fn of_site(&self, site: &Site) -> Result<SiteEntries, LedgerError> {
        let segments = segment::list(&self.dir)?.into_iter().map(|(_, path)| path).collect();
        Ok(SiteEntries::new(self.clone(), site.clone(), segments))
    }

    /// The lines of one segment.
    pub(super) fn lines_of(&self, segment: PathBuf, filter: EntryFilter) -> Lines {
        self.lines(VecDeque::from([segment]), filter, AfterFault::End)
    }

    fn lines(&self, segments: VecDeque<PathBuf>, filter: EntryFilter, after_fault: AfterFault) -> Lines {
        let progress = Progress::new(segments, after_fault);
        Lines { filter, progress, next_seq: None, summary: <_>::default(), stop: self.stop.clone() }
    }

    pub(super) fn stop_flag(&self) -> &StopFlag {
        &self.stop
    }

    pub(super) fn indexes(&self) -> Indexes {
        self.indexes
    }

    pub(super) fn turn_to_build(&self) -> MutexGuard<'_, ()> {
        self.building.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of the newest entry; none where there is no segment.
    pub fn last_seq(&self) -> Result<Option<u64>, LedgerError> {
        let Some((_, newest)) = segment::list(&self.dir)?.pop() else { return Ok(None) };
        Ok(Some(SegmentReader::open(&newest, Tail::MayBeTorn)?.skim()?.saturating_sub(1)))
    }

    /// What is missing at its beginning although it is too young to have expired: a segment goes only once the one behind it is older
    /// than `kept`. A segment whose head does not read says nothing here; it is told of as damage.
    pub fn lost_beginning(&self, kept: Duration) -> Result<Option<String>, LedgerError> {
        let segments = segment::list(&self.dir)?;
        let mut heads = segments
            .iter()
            .filter_map(|(_, path)| Some((path, SegmentReader::open(path, Tail::MayBeTorn).ok()?.header())));
        let Some((path, oldest)) = heads.next() else { return Ok(None) };
        let newest_began = heads.map(|(_, header)| header.began).fold(oldest.began, Timestamp::max);
        let has_expired = oldest.began.plus(kept) <= newest_began;
        Ok((oldest.first_seq > 1 && !has_expired).then(|| {
            format!(
                "ledger segment {} begins with entry {} at {}, and what stood before it was not old enough to expire",
                path.display(),
                oldest.first_seq,
                oldest.began
            )
        }))
    }

    /// Whether nothing of it has expired.
    pub fn begins_with_first_entry(&self) -> Result<bool, LedgerError> {
        match segment::list(&self.dir)?.first() {
            Some((_, path)) => Ok(SegmentReader::open(path, Tail::MayBeTorn)?.header().first_seq == 1),
            None => Ok(true),
        }
    }

    /// Reads everything and checks it: checksums, order, numbers without gaps over all segments.
    pub fn verify(&self) -> Result<LedgerSummary, LedgerError> {
        // No number is larger: every line is read and none is kept.
        let mut lines = self.stream(EntryFilter::default())?;
        lines.filter.after_seq = u64::MAX;
        match lines.next() {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Ok(lines.summary),
        }
    }
}

impl LedgerRead for LedgerReader {
    fn entries(&self, filter: &EntryFilter) -> Result<Vec<LedgerEntry>, LedgerError> {
        let mut wanted = VecDeque::new();
        for line in self.stream(filter.clone())? {
            wanted.push_back(line?.entry);
            if filter.newest.is_some_and(|newest| wanted.len() > newest) {
                wanted.pop_front();
            }
        }
        Ok(wanted.into())
    }
}

/// Lines of the ledger, read as they are asked for.
#[derive(Debug)]
pub struct Lines {
    filter: EntryFilter,
    progress: Progress<SegmentReader, Line>,
    next_seq: Option<u64>,
    summary: LedgerSummary,
    stop: StopFlag,
}

impl Lines {
    /// What was read so far; of a segment, its count and its last number once its end was reached.
    pub fn summary(&self) -> LedgerSummary {
        self.summary
    }

    /// Only the entries, as [`lohisoftbot_actors::storage::catch_up`] takes them.
    pub fn entries(self) -> impl Iterator<Item = Result<LedgerEntry, LedgerError>> {
        self.map(|line| line.map(|line| line.entry))
    }

    /// Reads on until a line is ready; false at the end.
    fn read_on(&mut self) -> Result<bool, LedgerError> {
        while self.progress.ready.is_empty() {
            let Some(reader) = &mut self.progress.current else {
                if !self.open_next()? {
                    return Ok(false);
                }
                continue;
            };
            self.stop.check(reader.path())?;
            match reader.next_piece()? {
                Piece::Lines(origin, lines) => {
                    match origin {
                        LineOrigin::Entry => self.summary.num_entries += lines.len() as u64,
                        LineOrigin::Snapshot => self.summary.num_snapshot_lines += lines.len() as u64,
                    }
                    let wanted = lines.into_iter().filter(|entry| self.filter.wants(origin, entry));
                    self.progress.ready.extend(wanted.map(|entry| Line { entry, origin }));
                }
                Piece::End { torn_bytes, .. } => {
                    self.next_seq = Some(reader.next_seq());
                    self.summary.last_seq = reader.next_seq() - 1;
                    self.summary.torn_bytes = torn_bytes;
                    self.progress.current = None;
                }
            }
        }
        Ok(true)
    }

    fn open_next(&mut self) -> Result<bool, LedgerError> {
        let Some(path) = self.progress.segments.pop_front() else { return Ok(false) };
        let tail = if self.progress.segments.is_empty() { Tail::MayBeTorn } else { Tail::MustBeWhole };
        let reader = match SegmentReader::open(&path, tail) {
            Ok(reader) => reader,
            // It expired while we read the ones before it.
            Err(LedgerError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                self.next_seq = None;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        let first = reader.header().first_seq;
        if let Some(wanted) = self.next_seq.filter(|wanted| *wanted != first) {
            // Behind a gap it is as sound as any.
            self.progress.segments.push_front(path.clone());
            return Err(missing_before(&path, first, wanted));
        }
        self.summary.num_segments += 1;
        self.progress.current = Some(reader);
        Ok(true)
    }
}

impl Iterator for Lines {
    type Item = Result<Line, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read_on = self.read_on();
        if read_on.is_err() {
            // Which number belongs behind a fault, nobody knows.
            self.next_seq = None;
        }
        self.progress.hand_out(read_on)
    }
}
