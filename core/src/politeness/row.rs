//! The way from a site's stored parts back to a live state.
//!
//! The stored parts carry what is convenient to remember (seeds, robots copies, the page queue); what must be remembered is the account,
//! and the caller puts the ledger's into the row where the two differ.

use std::sync::Arc;

use super::{HostState, OriginRobots, SiteRules};
use crate::exclusion::Exclusions;
use crate::page_choice::PageQueue;
use crate::site_row::SiteRow;
use crate::time::Timestamp;

impl HostState {
    /// The state of a site that the store knows.
    ///
    /// A ticket found open was sent by a process that is gone: it counts as spent, and the delay runs from `now` (P14).
    pub fn restore(
        row: SiteRow,
        queue: PageQueue,
        robots: Vec<OriginRobots>,
        rules: Arc<SiteRules>,
        exclusions: Exclusions,
        now: Timestamp,
    ) -> Self {
        let mut state = Self::new(row.site, rules, Exclusions::default());
        state.account = row.account;
        state.robots = robots;
        state.queue = queue;
        state.seeds = row.seeds;
        state.change_rate = row.change_rate;
        if state.change_rate.cycle < state.account.cycle {
            // The newest cycle opened after the row was stored: what the one before saw is learnt now, as it was then.
            state.change_rate.begin_cycle(state.account.cycle, &state.rules.interval_bounds());
        }
        state.queue_seeds();
        // The store may show the queue as it was before the newest cycle began. Where no page was asked since, nothing in it is settled.
        if state.account.num_page_requests == 0 {
            state.queue.reopen();
            state.queue_seeds();
        }
        state.queue_known_sitemaps(now);
        state.on_exclusions(exclusions);
        if let Some(open) = state.account.open.clone() {
            state.queue.count_try(&open.url);
            state.record_lost(open.ticket, now);
        }
        state
    }
}
