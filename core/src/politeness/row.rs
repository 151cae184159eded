//! The stored row of a site, and the way from it back to a live state.
//!
//! The row carries what is convenient to remember (seeds, robots copies, the page queue beside it); what must be remembered is the
//! account, and that comes from the ledger when the two differ.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Arrival, HostState, OriginRobots, Seed, SiteRules};
use crate::codec::Stored;
use crate::exclusion::Exclusions;
use crate::ledger::{EndKind, FinishReason, SiteAccount, WaitReason};
use crate::page_choice::PageQueue;
use crate::site::Site;
use crate::time::Timestamp;

/// Where a site stands between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteStanding {
    /// Its turn has come or will come; nobody works on it yet.
    Due,
    /// A host queue works on it.
    Live,
    /// It waits, and no host queue is kept for it meanwhile.
    Parked {
        /// Why.
        reason: WaitReason,
    },
    /// Its cycle is over; the next begins when it is due again.
    Finished {
        /// Why it ended.
        reason: FinishReason,
    },
    /// The operator paused it; it is due only after `resume`.
    Paused,
}

/// What is stored of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRow {
    /// The site.
    pub site: Site,
    /// Where it stands.
    pub standing: SiteStanding,
    /// When it is to be looked at again.
    pub due_at: Timestamp,
    /// When it became known.
    pub first_seen_at: Timestamp,
    /// Where its crawl starts.
    pub seeds: Vec<Seed>,
    /// Its robots cache.
    pub robots: Vec<OriginRobots>,
    /// Its account when the row was written.
    pub account: SiteAccount,
}

impl Stored for SiteRow {
    const VERSION: u8 = 1;
}

impl SiteRow {
    /// The row of a site that was never asked anything.
    pub fn new(site: Site, now: Timestamp) -> Self {
        Self {
            site,
            standing: SiteStanding::Due,
            due_at: now,
            first_seen_at: now,
            seeds: Vec::new(),
            robots: Vec::new(),
            account: SiteAccount::default(),
        }
    }
}

impl HostState {
    /// The state of a site that the store knows. `account` is the ledger's where it has one.
    ///
    /// A ticket found open was sent by a process that is gone: it counts as spent, and the delay runs from `now` (P14).
    pub fn restore(
        row: SiteRow,
        queue: PageQueue,
        account: Option<SiteAccount>,
        rules: Arc<SiteRules>,
        exclusions: Exclusions,
        now: Timestamp,
    ) -> Self {
        let mut state = Self::new(row.site, rules, Exclusions::default());
        state.account = account.unwrap_or(row.account);
        state.robots = row.robots;
        state.queue = queue.indexed();
        for seed in row.seeds {
            state.add_seed(seed);
        }
        state.on_exclusions(exclusions);
        if let Some(open) = state.account.open.clone() {
            state.queue.count_try(&open.url);
            let arrival = Arrival { at: now, took: Duration::ZERO, wire_bytes: 0, chance: 0.0 };
            state.record_outcome(open.ticket, EndKind::Lost, arrival);
        }
        state
    }

    /// The row to store, and the queue to store beside it.
    pub fn to_row(&self, standing: SiteStanding, due_at: Timestamp, first_seen_at: Timestamp) -> SiteRow {
        SiteRow {
            site: self.site.clone(),
            standing,
            due_at,
            first_seen_at,
            seeds: self.seeds.clone(),
            robots: self.robots.clone(),
            account: self.account.clone(),
        }
    }
}
