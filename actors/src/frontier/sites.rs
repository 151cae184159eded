//! Admitting seeds, pausing and resuming.

use std::collections::BTreeMap;

use actix::prelude::*;
use futures_util::future::{BoxFuture, ready};
use lohisoftbot_core::politeness::Seed;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SeedTaken, SiteRow, SiteStanding, take_seed};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use super::{FrontierActor, Wish};
use crate::events::FoundBy;
use crate::host::{SeedsAdded, StopHost};
use crate::storage::{Applied, RecordStore, StoreChange, StoreError};

/// Seeds to crawl from.
#[derive(Debug, Message)]
#[rtype(result = "SeedCounts")]
pub struct AddSeeds(pub Vec<Seed>);

/// What became of seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, MessageResponse, serde::Serialize)]
pub struct SeedCounts {
    /// Sites that were not known.
    pub num_new_sites: u64,
    /// Sites that were known.
    pub num_known_sites: u64,
    /// Seeds whose domain is excluded.
    pub num_excluded: u64,
    /// Seeds beyond what is kept of one site.
    pub num_over_cap: u64,
}

/// Stop working on a site until it is resumed. Answered with whether the site is known.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct PauseSite(pub Site);

/// Work on a paused site again. Answered with whether it was paused.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct ResumeSite(pub Site);

impl FrontierActor {
    /// Hands seeds to the actors of live sites and stores those of others. What is given back ends when all are.
    pub(super) fn admit(&mut self, seeds: Vec<Seed>, ctx: &mut Context<Self>) -> BoxFuture<'static, SeedCounts> {
        let mut counts = SeedCounts::default();
        let mut by_site: BTreeMap<Site, Vec<Seed>> = BTreeMap::new();
        for seed in seeds {
            if self.exclusions.covers_host(seed.url.host()) {
                counts.num_excluded += 1;
            } else {
                by_site.entry(seed.url.site()).or_default().push(seed);
            }
        }
        let (live, resting): (Vec<_>, Vec<_>) = by_site.into_iter().partition(|(site, _)| self.live.contains_key(site));
        counts.num_known_sites += live.len() as u64;
        for (site, seeds) in live {
            self.hand_over(&site, seeds, ctx);
        }
        if resting.is_empty() {
            return Box::pin(ready(counts));
        }
        let (now, touched) = (self.clock.now(), resting.iter().map(|(site, _)| site.clone()).collect::<Vec<_>>());
        let stored = self.change_store(touched, move |store| store_seeds(store, resting, now, counts), ctx);
        let (found, are_found) = oneshot::channel();
        self.tell_found(FoundBy::Seed, are_found);
        Box::pin(async move {
            let (counts, new_sites) = stored.await.unwrap_or((counts, Vec::new()));
            // Whoever tells of them may be gone with the node.
            let _ = found.send(new_sites);
            counts
        })
    }

    /// Hands seeds of a live site to its actor; should that die first, they are admitted anew.
    fn hand_over(&self, site: &Site, seeds: Vec<Seed>, ctx: &mut Context<Self>) {
        let Some(live) = self.live.get(site) else { return };
        let (taken, me) = (live.address.send(SeedsAdded(seeds.clone())), ctx.address());
        actix_rt::spawn(async move {
            if taken.await.is_err() {
                me.do_send(AddSeeds(seeds));
            }
        });
    }
}

/// Adds seeds to the rows of their sites, in one go; says which sites are new, too.
fn store_seeds(
    store: &mut dyn RecordStore,
    by_site: Vec<(Site, Vec<Seed>)>,
    now: Timestamp,
    mut counts: SeedCounts,
) -> Result<(SeedCounts, Vec<Site>), StoreError> {
    let mut new_sites = Vec::new();
    for (site, seeds) in by_site {
        let stored = store.site(&site)?;
        let (num_new, num_known) = if stored.is_none() { (1, 0) } else { (0, 1) };
        let mut row = stored.unwrap_or_else(|| SiteRow::new(site.clone(), Vec::new(), now));
        let (num_before, num_seeds) = (row.seeds.len(), seeds.len() as u64);
        for seed in seeds {
            match take_seed(&mut row.seeds, seed) {
                SeedTaken::New | SeedTaken::Known => {}
                SeedTaken::NoRoom => counts.num_over_cap += 1,
            }
        }
        let has_new = row.seeds.len() > num_before;
        if has_new && matches!(row.standing, SiteStanding::Finished { .. }) {
            // What is left of the cycle's budget may go to the new seeds; the state machine says so or waits.
            row.due_at = now;
        }
        let change = StoreChange::SaveSite { row: Box::new(row), frontier: None, robots: None };
        if has_new && matches!(store.apply(change)?, Applied::RefusedExcluded { .. }) {
            counts.num_excluded += num_seeds;
        } else {
            counts.num_new_sites += num_new;
            counts.num_known_sites += num_known;
            new_sites.extend((num_new > 0 && has_new).then_some(site));
        }
    }
    Ok((counts, new_sites))
}

impl Handler<AddSeeds> for FrontierActor {
    type Result = ResponseFuture<SeedCounts>;

    fn handle(&mut self, AddSeeds(seeds): AddSeeds, ctx: &mut Self::Context) -> Self::Result {
        self.admit(seeds, ctx)
    }
}

impl Handler<PauseSite> for FrontierActor {
    type Result = ResponseFuture<bool>;

    fn handle(&mut self, PauseSite(site): PauseSite, ctx: &mut Self::Context) -> Self::Result {
        if let Some(live) = self.live.get_mut(&site) {
            // The actor may be retiring in another way already, so the wish is kept here too.
            live.wish = Some(Wish::Pause);
            live.address.do_send(StopHost(SiteStanding::Paused));
            return Box::pin(ready(true));
        }
        let paused = self.restand(site, |_| true, SiteStanding::Paused, self.clock.now(), ctx);
        Box::pin(async move { paused.await.unwrap_or(false) })
    }
}

impl Handler<ResumeSite> for FrontierActor {
    type Result = ResponseFuture<bool>;

    fn handle(&mut self, ResumeSite(site): ResumeSite, ctx: &mut Self::Context) -> Self::Result {
        if let Some(live) = self.live.get_mut(&site) {
            let was_to_pause = live.wish == Some(Wish::Pause);
            if was_to_pause {
                live.wish = Some(Wish::Resume);
            }
            return Box::pin(ready(was_to_pause));
        }
        let is_paused = |row: &SiteRow| row.standing == SiteStanding::Paused;
        let resumed = self.restand(site, is_paused, SiteStanding::Due, self.clock.now(), ctx);
        Box::pin(async move { resumed.await.unwrap_or(false) })
    }
}
