//! What the store knows of itself: one row that changes with every transaction, so that counts and rows never disagree.

use lohisoftbot_actors::storage::{StandingCounts, StoreStats};
use lohisoftbot_core::codec::Stored;
use lohisoftbot_core::site_row::SiteStanding;
use serde::{Deserialize, Serialize};

use super::trees::{NUM_TREES, TreeName};

/// The key of the state in `meta`.
pub const STATE_KEY: &[u8] = b"state";
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
}

impl Stored for StoreState {
    const VERSION: u8 = 1;
}

impl StoreState {
    /// The state of an empty store.
    pub fn new(epoch: u64) -> Self {
        Self { schema: SCHEMA, epoch, change_seq: 0, ledger_seq: 0, counts: Counts::default() }
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
