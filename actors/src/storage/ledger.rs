//! The port of the ledger: append, make durable, read back.

use std::io;
use std::path::PathBuf;

use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteEvent};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use super::advice::{BACKUP_ADVICE, FAULT_ADVICE, FILE_ADVICE, HELD_ADVICE};

/// Writes the ledger. Owned by one actor; entries are durable when [`LedgerStore::sync`] has returned, and not before.
pub trait LedgerStore: Send {
    /// Takes entries in, in order and without gaps. They lie in memory until the next [`LedgerStore::sync`].
    fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), LedgerError>;

    /// Brings everything appended onto the disk. After an `Err` nothing may be relied on: the node must end.
    fn sync(&mut self) -> Result<(), LedgerError>;

    /// Whether a new segment is wanted: another day has begun, or this one has grown too large.
    fn wants_rotation(&self, now: Timestamp) -> bool;

    /// Syncs, then begins a new segment with `snapshot` at its head. The new segment takes over only when all of it is durable.
    fn rotate(&mut self, at: Timestamp, snapshot: &mut dyn Iterator<Item = LedgerEvent>) -> Result<(), LedgerError>;

    /// Removes segments all of whose entries are older than `older_than`, but never the newest; says how many went.
    fn expire(&mut self, older_than: Timestamp) -> Result<usize, LedgerError>;
}

/// Reads the ledger, beside a writer if need be; sees what was synced.
pub trait LedgerRead: Send + Sync {
    /// The entries that `filter` lets through, oldest first.
    fn entries(&self, filter: &EntryFilter) -> Result<Vec<LedgerEntry>, LedgerError>;
}

/// Whether the lines that repeat the state so far at the head of a segment are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotLines {
    /// They tell nothing new to who reads what happened.
    #[default]
    LeaveOut,
    /// They stand for what expired, to who rebuilds the state.
    Include,
}

/// Where a line stands in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// At the head: it repeats the state so far, under the number of the newest entry before it.
    Snapshot,
    /// It happened then.
    Entry,
}

/// Which entries are wanted. The default wants all that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only of this site.
    pub site: Option<Site>,
    /// Only of these kinds; all where empty.
    pub kinds: Vec<EntryKind>,
    /// Only entries with a larger number.
    pub after_seq: u64,
    /// Only the newest so many.
    pub newest: Option<usize>,
    /// Whether snapshots are wanted too.
    pub snapshots: SnapshotLines,
}

impl EntryFilter {
    /// All that a store has to be told whose last checkpoint was made at `ledger_seq`.
    pub fn since_checkpoint(ledger_seq: u64) -> Self {
        Self { after_seq: ledger_seq, snapshots: SnapshotLines::Include, ..Self::default() }
    }

    /// Whether `entry` is wanted, the count aside.
    pub fn wants(&self, origin: LineOrigin, entry: &LedgerEntry) -> bool {
        entry.seq > self.after_seq
            && (origin == LineOrigin::Entry || self.snapshots == SnapshotLines::Include)
            && (self.kinds.is_empty() || self.kinds.contains(&EntryKind::of(&entry.event)))
            && self.site.as_ref().is_none_or(|wanted| match &entry.event {
                LedgerEvent::Site { site, .. } => site == wanted,
                LedgerEvent::Excluded { domain, .. } | LedgerEvent::Included { domain } => domain.touches_site(wanted),
            })
    }
}

/// The kinds of entries, for filters and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A cycle began or ended.
    Cycle,
    /// Leave to send a request.
    Ticket,
    /// How a request ended.
    Outcome,
    /// A wait began, or a rung was forgiven.
    Wait,
    /// Barrier answers in a row.
    Barrier,
    /// A domain went out.
    Exclusion,
    /// A domain came back in.
    Inclusion,
    /// A site's account at the head of a segment.
    Snapshot,
    /// Rules of another site's robots.txt that count for this one.
    Robots,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Cycle,
        Self::Ticket,
        Self::Outcome,
        Self::Wait,
        Self::Barrier,
        Self::Exclusion,
        Self::Inclusion,
        Self::Snapshot,
        Self::Robots,
    ];

    /// The kind of an event.
    pub fn of(event: &LedgerEvent) -> Self {
        match event {
            LedgerEvent::Site { event, .. } => match event {
                SiteEvent::CycleOpened { .. }
                | SiteEvent::CycleClosed { .. }
                | SiteEvent::CycleResumed
                | SiteEvent::NextCyclePutOff { .. } => Self::Cycle,
                SiteEvent::Ticket { .. } => Self::Ticket,
                SiteEvent::RobotsBorrowed { .. } => Self::Robots,
                SiteEvent::Outcome { .. } => Self::Outcome,
                SiteEvent::Wait { .. } | SiteEvent::Forgiven { .. } | SiteEvent::Delay(_) => Self::Wait,
                SiteEvent::BarrierStreak(_) => Self::Barrier,
                SiteEvent::Snapshot(_) => Self::Snapshot,
            },
            LedgerEvent::Excluded { .. } => Self::Exclusion,
            LedgerEvent::Included { .. } => Self::Inclusion,
        }
    }

    /// One word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::Ticket => "ticket",
            Self::Outcome => "outcome",
            Self::Wait => "wait",
            Self::Barrier => "barrier",
            Self::Exclusion => "exclusion",
            Self::Inclusion => "inclusion",
            Self::Snapshot => "snapshot",
            Self::Robots => "robots",
        }
    }
}

/// The ledger failed. Each of these ends the node: without its ledger it may ask nothing.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file system refused.
    #[error("cannot {action} {}: {source}; {FILE_ADVICE}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Bytes that were durable are no longer what they were.
    #[error(
        "ledger segment {} is damaged at byte {offset}: {what}. Nothing was changed; {BACKUP_ADVICE}: without this segment the node \
         could break budgets and waits it has promised",
        path.display()
    )]
    Damaged {
        /// Which segment.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// In what way.
        what: String,
    },
    /// Another process has it open for writing.
    #[error("the ledger in {} is held by another process: {HELD_ADVICE}", path.display())]
    Held {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error("ledger segment {} has version {found}, this program reads up to {known}: use the newer program", path.display())]
    UnknownVersion {
        /// Which segment.
        path: PathBuf,
        /// Version found.
        found: u16,
        /// Newest version known.
        known: u16,
    },
    /// An entry does not follow the one before it: a fault of the caller.
    #[error("ledger entry {got} does not follow entry {last}: {FAULT_ADVICE}")]
    OutOfOrder {
        /// Number of the newest entry.
        last: u64,
        /// Number of the entry refused.
        got: u64,
    },
    /// An entry cannot be encoded.
    #[error("a ledger entry cannot be written: {0}; {FAULT_ADVICE}")]
    Unencodable(#[from] lohisoftbot_core::codec::CodecError),
}
