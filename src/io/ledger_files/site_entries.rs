//! The entries that are about one site, from all segments: of closed ones the frames that their index names, of the newest one all.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{EntryFilter, LedgerError, LineOrigin};
use lohisoftbot_core::ledger::LedgerEntry;
use lohisoftbot_core::site::Site;

use super::frame::{self, Frame, FrameFault};
use super::progress::{AfterFault, Progress};
use super::reader::{LedgerReader, Lines};
use super::segment::{damaged, io_error};
use super::site_index;

/// Whether a reader may write indexes beside the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// What is missing or damaged is built.
    Build,
    /// What is there is used; nothing is written.
    UseOnly,
}

/// Entries about one site, oldest first, read as they are asked for.
#[derive(Debug)]
pub struct SiteEntries {
    reader: LedgerReader,
    site: Site,
    progress: Progress<Current, LedgerEntry>,
}

/// The segment that is being read.
#[derive(Debug)]
enum Current {
    /// Frame by frame, as its index says.
    Frames(PathBuf, BufReader<File>, VecDeque<u64>),
    /// From its head to its end.
    Lines(Box<Lines>),
}

impl SiteEntries {
    pub(super) fn new(reader: LedgerReader, site: Site, segments: VecDeque<PathBuf>) -> Self {
        Self { reader, site, progress: Progress::new(segments, AfterFault::End) }
    }

    fn wanted(&self) -> EntryFilter {
        EntryFilter { site: Some(self.site.clone()), ..EntryFilter::default() }
    }

    /// Opens the next segment; none at the end.
    fn open_next(&mut self) -> Result<Option<Current>, LedgerError> {
        let Some(path) = self.progress.segments.pop_front() else { return Ok(None) };
        // The newest one grows.
        let places = if self.progress.segments.is_empty() { None } else { self.places(&path) };
        match places {
            None => Ok(Some(Current::Lines(Box::new(self.reader.lines_of(path, self.wanted()))))),
            Some(places) => match File::open(&path) {
                Ok(file) => Ok(Some(Current::Frames(path, BufReader::new(file), places.into()))),
                // It expired while we read the ones before it.
                Err(error) if error.kind() == ErrorKind::NotFound => self.open_next(),
                Err(error) => Err(io_error("open", &path)(error)),
            },
        }
    }

    /// Where the index of a segment says that it speaks of the site.
    fn places(&self, path: &Path) -> Option<Vec<u64>> {
        site_index::find(path, &self.site).or_else(|| match self.reader.indexes() {
            Indexes::UseOnly => None,
            Indexes::Build => {
                // Two that look at once build one index.
                let _turn = self.reader.turn_to_build();
                site_index::find(path, &self.site).or_else(|| {
                    if let Err(error) = site_index::build(path, self.reader.stop_flag()) {
                        tracing::warn!(%error, "no index of a ledger segment; it is read as a whole");
                    }
                    site_index::find(path, &self.site)
                })
            }
        })
    }

    /// Reads on until an entry is ready; false at the end.
    fn read_on(&mut self) -> Result<bool, LedgerError> {
        while self.progress.ready.is_empty() {
            match &mut self.progress.current {
                None => match self.open_next()? {
                    Some(next) => self.progress.current = Some(next),
                    None => return Ok(false),
                },
                Some(Current::Lines(lines)) => match lines.next() {
                    Some(line) => self.progress.ready.push_back(line?.entry),
                    None => self.progress.current = None,
                },
                Some(Current::Frames(path, file, places)) => match places.pop_front() {
                    None => self.progress.current = None,
                    Some(place) => {
                        self.reader.stop_flag().check(path)?;
                        let lines = entries_at(path, file, place)?;
                        let filter = self.wanted();
                        let wanted = lines.into_iter().filter(|line| filter.wants(LineOrigin::Entry, line));
                        self.progress.ready.extend(wanted);
                    }
                },
            }
        }
        Ok(true)
    }
}

fn entries_at(path: &Path, file: &mut BufReader<File>, place: u64) -> Result<Vec<LedgerEntry>, LedgerError> {
    file.seek(SeekFrom::Start(place)).map_err(io_error("read", path))?;
    match frame::read_frame(file) {
        Ok(Some((Frame::Entries(lines), _))) => Ok(lines),
        Ok(Some((Frame::Snapshot(_) | Frame::SnapshotEnd(_), _)) | None) => {
            Err(damaged(path, place, "no entries stand where its index says"))
        }
        Err(FrameFault::Io(error)) => Err(io_error("read", path)(error)),
        Err(FrameFault::Unsound(what) | FrameFault::Unreadable(what)) => Err(damaged(path, place, &what)),
    }
}

impl Iterator for SiteEntries {
    type Item = Result<LedgerEntry, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read_on = self.read_on();
        self.progress.hand_out(read_on)
    }
}
