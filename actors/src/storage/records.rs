//! The port of the record store: one atomic change at a time, reads, and the checkpoint that makes changes durable.

use std::path::PathBuf;

use lohisoftbot_core::codec::CodecError;
use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::politeness::PageRenewal;
use lohisoftbot_core::record::{InlinkRow, PageRecord, StoredLink};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{RobotsCopy, SiteFrontier, SiteRow};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::advice::{BACKUP_ADVICE, FAULT_ADVICE, FILE_ADVICE};

/// One change. Applied whole or not at all; what an exclusion covers is refused or left out, whoever asks and however late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// A page was fetched: its record and its links replace what was stored of it. The store sets `target_sites`
    /// of the record, and drops a canonical URL of another site.
    SavePage {
        /// The record.
        record: Box<PageRecord>,
        /// Its links in page order.
        links: Vec<StoredLink>,
    },
    /// A page was found unchanged (304): it counts as fetched anew. Its links stay.
    RenewPage(PageRenewal),
    /// A page is gone: its record and the links on it go.
    RemovePage {
        /// Which.
        url: PageUrl,
    },
    /// A site's state. Parts that are `None` stay as they are stored.
    SaveSite {
        /// The row; replaces the stored one, and with it the site's place among the due.
        row: Box<SiteRow>,
        /// The queue.
        frontier: Option<SiteFrontier>,
        /// All copies of robots.txt.
        robots: Option<Vec<RobotsCopy>>,
    },
    /// A cycle ended: links to pages of the site that are not stored are dropped.
    FinishCycle {
        /// Of which site.
        site: Site,
    },
    /// A domain is out: everything of it goes, now and in future. Not one transaction but several, each atomic: the first puts the
    /// exclusion in force; a purge that a crash cut short is ended when the store is opened next.
    Exclude {
        /// Which.
        domain: Domain,
        /// When and why.
        exclusion: Exclusion,
    },
    /// The operator takes a domain back in. Nothing comes back by itself.
    Include {
        /// Which.
        domain: Domain,
    },
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Done, with nothing more to say.
    Done,
    /// There was nothing to change: no such page, or no such exclusion.
    Absent,
    /// The page is stored.
    Saved(SaveCounts),
    /// Nothing was stored: the host is excluded.
    RefusedExcluded {
        /// By this domain.
        domain: Domain,
    },
    /// Nothing was stored: the site has its 20 pages, all of this cycle.
    RefusedFull,
    /// The cycle is over.
    Finished(CycleCounts),
    /// The domain is out.
    Excluded(ExclusionCounts),
}

/// What a saved page brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveCounts {
    /// The page that made room: of those that were longest not found right, the one that was asked last, since the better are asked first.
    pub evicted: Option<PageUrl>,
    /// Links stored.
    pub num_links: u64,
    /// Links left out because their target is excluded.
    pub num_links_excluded: u64,
    /// Links left out because there were too many to one site.
    pub num_links_over_cap: u64,
}

/// What the end of a cycle dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleCounts {
    /// Links to pages that are not stored.
    pub num_links: u64,
    /// Rows that had no other links.
    pub num_rows: u64,
}

/// What an exclusion removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ExclusionCounts {
    /// Sites that are gone as a whole.
    pub num_sites: u64,
    /// URLs taken out of queues.
    pub num_frontier_urls: u64,
    /// Page records.
    pub num_pages: u64,
    /// Links that stood on a page of the domain.
    pub num_anchors_from: u64,
    /// Links to the domain that stood on other pages.
    pub num_anchors_to: u64,
}

impl ExclusionCounts {
    /// Adds the counts of another part of the work.
    pub fn add(&mut self, more: Self) {
        self.num_sites += more.num_sites;
        self.num_frontier_urls += more.num_frontier_urls;
        self.num_pages += more.num_pages;
        self.num_anchors_from += more.num_anchors_from;
        self.num_anchors_to += more.num_anchors_to;
    }
}

/// A site and when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSite {
    /// When.
    pub due_at: Timestamp,
    /// Which.
    pub site: Site,
}

/// How many sites stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StandingCounts {
    /// Waiting for their turn.
    pub num_due: u64,
    /// Worked on.
    pub num_live: u64,
    /// Waiting in mid-cycle.
    pub num_parked: u64,
    /// Resting until the next cycle.
    pub num_finished: u64,
    /// Stopped by the operator.
    pub num_paused: u64,
}

/// Counts of what is stored; kept with each change, never counted by a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct StoreStats {
    /// Sites known.
    pub num_sites: u64,
    /// By standing.
    pub standing: StandingCounts,
    /// Page records.
    pub num_pages: u64,
    /// Links stored.
    pub num_links: u64,
    /// Rows the links lie in: one a source page and target site.
    pub num_inlink_rows: u64,
    /// URLs in queues, those done with included.
    pub num_frontier_urls: u64,
    /// Exclusions in force.
    pub num_exclusions: u64,
    /// Changes ever applied.
    pub change_seq: u64,
}

/// A site that the search index has to look at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnindexedSite {
    /// Which.
    pub site: Site,
    /// The change that touched its pages, or links to them, last.
    pub change_seq: u64,
}

/// What a checkpoint made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// All changes up to this number.
    pub change_seq: u64,
    /// The ledger entries that these changes stand for.
    pub ledger_seq: u64,
}

/// Holds records and state. Owned by one actor; changes are durable when [`RecordStore::checkpoint`] has returned.
pub trait RecordStore: Send {
    /// Applies one change. After an `Err` the node must end: the store may hold the change in part in memory, never on the disk.
    fn apply(&mut self, change: StoreChange) -> Result<Applied, StoreError>;

    /// Makes every change so far durable, and notes that the ledger is reflected in the rows up to `ledger_seq`.
    fn checkpoint(&mut self, ledger_seq: u64) -> Result<Checkpoint, StoreError>;

    /// The newest ledger entry that a checkpoint was made with; 0 for none.
    fn ledger_seq(&self) -> u64;

    /// The record of a page.
    fn page(&self, url: &PageUrl) -> Result<Option<PageRecord>, StoreError>;

    /// The records of a site, by URL.
    fn pages_of(&self, site: &Site) -> Result<Vec<PageRecord>, StoreError>;

    /// The rows of links to a site, by source URL.
    fn inlinks_of_site(&self, site: &Site) -> Result<Vec<InlinkRow>, StoreError>;

    /// The links to one page: rows with those links alone, by source URL.
    fn inlinks_of(&self, url: &PageUrl) -> Result<Vec<InlinkRow>, StoreError> {
        let mut rows = self.inlinks_of_site(&url.site())?;
        rows.iter_mut().for_each(|row| row.links.retain(|link| link.target == *url));
        rows.retain(|row| !row.links.is_empty());
        Ok(rows)
    }

    /// The row of a site.
    fn site(&self, site: &Site) -> Result<Option<SiteRow>, StoreError>;

    /// The queue of a site; empty where none is stored.
    fn frontier(&self, site: &Site) -> Result<SiteFrontier, StoreError>;

    /// The copies of robots.txt of a site, by origin.
    fn robots(&self, site: &Site) -> Result<Vec<RobotsCopy>, StoreError>;

    /// Up to `limit` site rows in key order, those after `after`: call again with the last one for the next page.
    fn sites_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<SiteRow>, StoreError>;

    /// Up to `limit` sites whose time has come, the longest due first. Live and paused sites are never among them.
    fn due_until(&self, now: Timestamp, limit: usize) -> Result<Vec<DueSite>, StoreError>;

    /// The next site to come due.
    fn first_due(&self) -> Result<Option<DueSite>, StoreError>;

    /// Up to `limit` stored pages whose `unavailable_after` has passed, the longest expired first.
    fn expired_until(&self, now: Timestamp, limit: usize) -> Result<Vec<PageUrl>, StoreError>;

    /// When the next stored page expires, or the first one did.
    fn first_expiry(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Tells this store from others: drawn at random when it was created.
    fn epoch(&self) -> u64;

    /// Up to `limit` of the rows of links to a site, by source URL.
    fn some_inlinks_of_site(&self, site: &Site, limit: usize) -> Result<Vec<InlinkRow>, StoreError>;

    /// Up to `limit` sites of which pages are stored, in key order, those after `after`.
    fn sites_with_pages_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<Site>, StoreError>;

    /// Up to `limit` sites whose pages, or links to their pages, changed since the search index was noted to have them: in key order,
    /// those after `after`.
    fn unindexed_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<UnindexedSite>, StoreError>;

    /// How many there are.
    fn num_unindexed(&self) -> u64;

    /// The search index committed these sites as they were at their changes; its commit carries `commit_seq`. A site that changed since
    /// stays unindexed.
    fn note_indexed(&mut self, done: &[UnindexedSite], commit_seq: u64) -> Result<(), StoreError>;

    /// What the last noted commit carried; none if no index is known to fit this store, so that one must be built.
    fn indexed_seq(&self) -> Result<Option<u64>, StoreError>;

    /// From now on no index is known to fit this store.
    fn forget_index(&mut self) -> Result<(), StoreError>;

    /// Sites stored as live: at start, those that a crash cut off.
    fn live_sites(&self) -> Result<Vec<Site>, StoreError>;

    /// The exclusions in force.
    fn exclusions(&self) -> &Exclusions;

    /// Counts.
    fn stats(&self) -> StoreStats;
}

/// The store failed. Each of these ends the node: it must not go on with a store it cannot trust.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The engine below failed, or found its files damaged.
    #[error("the record store {} failed while {doing}: {detail}. Start again; if this stays, {BACKUP_ADVICE}", path.display())]
    Engine {
        /// The store's directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The engine's words.
        detail: String,
    },
    /// A row does not read.
    #[error(
        "a row of tree `{tree}` in the record store is damaged (key {key}): {source}. Nothing was deleted; {BACKUP_ADVICE}"
    )]
    Row {
        /// Of which tree.
        tree: &'static str,
        /// Its key, printable.
        key: String,
        /// What is wrong.
        source: CodecError,
    },
    /// A value cannot be stored.
    #[error("a value for tree `{tree}` cannot be stored: {source}; {FAULT_ADVICE}")]
    Unstorable {
        /// For which tree.
        tree: &'static str,
        /// Why not.
        source: CodecError,
    },
    /// A file beside the engine cannot be written or read.
    #[error("cannot {action} {}: {source}; {FILE_ADVICE}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Somebody else wrote to the store: a fault of the program.
    #[error(
        "the record store was changed by another writer: change {wanted} was expected, change {found} is stored; {FAULT_ADVICE}"
    )]
    ForeignWriter {
        /// The change number this writer knows.
        wanted: u64,
        /// The one that is stored.
        found: u64,
    },
}
