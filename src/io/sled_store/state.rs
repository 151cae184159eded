//! What the store knows of itself: one row that changes with every transaction, so that counts and rows never disagree.

use lohisoftbot_actors::storage::{StandingCounts, StoreStats};
use lohisoftbot_core::codec::{self, CodecError, Stored};
use lohisoftbot_core::site_row::SiteStanding;
use serde::{Deserialize, Serialize};

use super::trees::{NUM_TREES, TreeName};

/// The key of the state in `meta`.
pub const STATE_KEY: &[u8] = b"state";
/// The key in `meta` of the change number that the last commit of the search index carried; absent while there is no index of this store.
pub const INDEXED_KEY: &[u8] = b"indexed";
/// What keys in `meta` of purges under way begin with; the domain follows.
pub const PURGE_PREFIX: &[u8] = b"purge:";
/// The form of keys and trees that this program writes.
pub const SCHEMA: u32 = 1;

/// Counts of rows and of what is in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows of each tree; `meta` is not counted.
    pub rows: [u64; NUM_TREES],
    /// Links in `inlinks`.
    pub num_links: u64,
    /// URLs in `frontier`.
    pub num_frontier_urls: u64,
    /// Sites by standing.
    pub standing: StandingCounts,
}

impl Counts {
    /// The count of sites that stand so.
    pub fn of_standing(&mut self, standing: SiteStanding) -> &mut u64 {
        match standing {
            SiteStanding::Due => &mut self.standing.num_due,
            SiteStanding::Live => &mut self.standing.num_live,
            SiteStanding::Parked { .. } => &mut self.standing.num_parked,
            SiteStanding::Finished { .. } => &mut self.standing.num_finished,
            SiteStanding::Paused => &mut self.standing.num_paused,
        }
    }
}

/// The state of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreState {
    /// Form of keys and trees.
    pub schema: u32,
    /// Drawn at random when the store was created: tells one store from another.
    pub epoch: u64,
    /// Transactions so far.
    pub change_seq: u64,
    /// Newest ledger entry that a checkpoint was made with.
    pub ledger_seq: u64,
    /// What there is.
    pub counts: Counts,
    /// Every page that expires lies in `expiries`; false in a store that was written before there was such a tree.
    pub expiries_entered: bool,
}

impl Stored for StoreState {
    const VERSION: u8 = 3;

    fn from_older(version: u8, body: &[u8]) -> Result<Self, CodecError> {
        match version {
            1 => codec::decode_body::<StoreStateV1>(body).map(Self::from),
            2 => codec::decode_body::<StoreStateV2>(body).map(Self::from),
            found => Err(CodecError::UnknownVersion { found, known: Self::VERSION }),
        }
    }
}

/// Trees of version 2: all but `unindexed`, which came last.
const NUM_TREES_V2: usize = 9;

/// The form of version 2, which knew no search index.
#[derive(Serialize, Deserialize)]
struct StoreStateV2 {
    schema: u32,
    epoch: u64,
    change_seq: u64,
    ledger_seq: u64,
    rows: [u64; NUM_TREES_V2],
    num_links: u64,
    num_frontier_urls: u64,
    standing: StandingCounts,
    expiries_entered: bool,
}

impl From<StoreStateV2> for StoreState {
    fn from(old: StoreStateV2) -> Self {
        let StoreStateV2 { schema, epoch, change_seq, ledger_seq, expiries_entered, .. } = old;
        let mut rows = [0; NUM_TREES];
        rows[..NUM_TREES_V2].copy_from_slice(&old.rows);
        let counts =
            Counts { rows, num_links: old.num_links, num_frontier_urls: old.num_frontier_urls, standing: old.standing };
        Self { schema, epoch, change_seq, ledger_seq, counts, expiries_entered }
    }
}

/// Trees of version 1: all but `expiries` and what came after.
const NUM_TREES_V1: usize = 8;

/// The form of version 1, which had no tree of expiries.
#[derive(Serialize, Deserialize)]
struct StoreStateV1 {
    schema: u32,
    epoch: u64,
    change_seq: u64,
    ledger_seq: u64,
    rows: [u64; NUM_TREES_V1],
    num_links: u64,
    num_frontier_urls: u64,
    standing: StandingCounts,
}

impl From<StoreStateV1> for StoreState {
    fn from(old: StoreStateV1) -> Self {
        let mut rows = [0; NUM_TREES];
        rows[..NUM_TREES_V1].copy_from_slice(&old.rows);
        let counts =
            Counts { rows, num_links: old.num_links, num_frontier_urls: old.num_frontier_urls, standing: old.standing };
        let StoreStateV1 { schema, epoch, change_seq, ledger_seq, .. } = old;
        Self { schema, epoch, change_seq, ledger_seq, counts, expiries_entered: false }
    }
}

impl StoreState {
    /// The state of an empty store.
    pub fn new(epoch: u64) -> Self {
        let counts = Counts::default();
        Self { schema: SCHEMA, epoch, change_seq: 0, ledger_seq: 0, counts, expiries_entered: true }
    }

    /// As the port tells it.
    pub fn stats(&self) -> StoreStats {
        let rows = |tree: TreeName| self.counts.rows[tree.index()];
        StoreStats {
            num_sites: rows(TreeName::Sites),
            standing: self.counts.standing,
            num_pages: rows(TreeName::Pages),
            num_links: self.counts.num_links,
            num_inlink_rows: rows(TreeName::Inlinks),
            num_frontier_urls: self.counts.num_frontier_urls,
            num_exclusions: rows(TreeName::Exclusions),
            change_seq: self.change_seq,
        }
    }
}
