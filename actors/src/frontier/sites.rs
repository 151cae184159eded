//! Sites between store and host actor: loading those that are due, admitting seeds, pausing and resuming, looking at one.

use std::collections::BTreeMap;

use actix::prelude::*;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::{HostState, OriginRobots, Seed};
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;

use super::{FrontierActor, LoadedSite, SitesLoaded};
use crate::host::{DescribeState, StopHost};
use crate::index::{ApplyChange, IndexActor, ReadStore};
use crate::ledger::{AccountOf, LedgerActor};
use crate::storage::StoreChange;

const END_OF_TIME: Timestamp = Timestamp::from_millis(u64::MAX);

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
}

/// Stop working on a site until it is resumed.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct PauseSite(pub Site);

/// Work on a paused site again.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct ResumeSite(pub Site);

/// Look at a site.
#[derive(Debug, Message)]
#[rtype(result = "Option<Box<SiteView>>")]
pub struct ViewSite(pub Site);

/// All that is known of a site.
#[derive(Clone, Debug)]
pub struct SiteView {
    /// Its row; the account in it is the newest one.
    pub row: SiteRow,
    /// Its queue.
    pub queue: PageQueue,
    /// Its robots cache.
    pub robots: Vec<OriginRobots>,
    /// Its stored pages.
    pub pages: Vec<PageRecord>,
}

/// Loads up to `limit` due sites that are not among `known_live`; none if the store is gone.
pub(super) async fn load_due(
    index: &Addr<IndexActor>,
    ledger: &Addr<LedgerActor>,
    now: Timestamp,
    limit: usize,
    known_live: Vec<Site>,
) -> Option<SitesLoaded> {
    let read = ReadStore::as_applied(move |store| {
        let mut sites = Vec::new();
        // One more than wanted, however late it is due: it tells when to look again.
        let coming = store.due_until(END_OF_TIME, limit + 1)?;
        let (due, later): (Vec<_>, Vec<_>) = coming.into_iter().partition(|due| due.due_at <= now);
        let next_due = if due.len() > limit { Some(now) } else { later.first().map(|due| due.due_at) };
        for due in due.into_iter().take(limit).filter(|due| !known_live.contains(&due.site)) {
            if let Some(row) = store.site(&due.site)? {
                let queue = store.frontier(&due.site)?.into();
                let robots = store.robots(&due.site)?.iter().filter_map(OriginRobots::from_stored).collect();
                sites.push(LoadedSite { row, queue, robots });
            }
        }
        Ok((sites, next_due))
    });
    let (mut sites, next_due) = index.send(read).await.ok()?.ok()?;
    for loaded in &mut sites {
        if let Some((account, seq)) = ledger.send(AccountOf(loaded.row.site.clone())).await.ok()? {
            loaded.row.account = account;
            loaded.row.account_seq = seq;
        }
    }
    Some(SitesLoaded { sites, next_due })
}

impl FrontierActor {
    /// Gives a site that is not live another standing; then looks for due sites.
    pub(super) fn restand(&mut self, site: Site, standing: SiteStanding, due_at: Timestamp, ctx: &mut Context<Self>) {
        let index = self.index.clone();
        let change = async move {
            let wanted = site.clone();
            let row = index.send(ReadStore::flushed(move |store| store.site(&wanted))).await.ok()?.ok()??;
            let row = SiteRow { standing, due_at, ..row };
            let change = StoreChange::SaveSite { row: Box::new(row), frontier: None, robots: None };
            index.send(ApplyChange(change)).await.ok()?.ok()
        };
        let then = change.into_actor(self).map(move |_, frontier: &mut Self, ctx| frontier.wake_at(due_at, ctx));
        ctx.wait(then);
    }
}

impl Handler<AddSeeds> for FrontierActor {
    type Result = ResponseActFuture<Self, SeedCounts>;

    fn handle(&mut self, AddSeeds(seeds): AddSeeds, _: &mut Self::Context) -> Self::Result {
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
            self.hand_over(&site, seeds);
        }
        let (index, now) = (self.index.clone(), self.clock.now());
        let admit = async move {
            let admitted = admit(index, resting, now).await.unwrap_or_default();
            counts.num_new_sites += admitted.num_new_sites;
            counts.num_known_sites += admitted.num_known_sites;
            counts
        };
        let then = admit.into_actor(self).map(|counts, frontier: &mut Self, ctx: &mut Context<Self>| {
            frontier.look_for_due(ctx);
            counts
        });
        Box::pin(then)
    }
}

/// Stores the seeds of sites that are not live.
async fn admit(index: Addr<IndexActor>, by_site: Vec<(Site, Vec<Seed>)>, now: Timestamp) -> Option<SeedCounts> {
    let mut counts = SeedCounts::default();
    let names: Vec<Site> = by_site.iter().map(|(site, _)| site.clone()).collect();
    let read =
        ReadStore::flushed(move |store| names.iter().map(|site| store.site(site)).collect::<Result<Vec<_>, _>>());
    let rows = index.send(read).await.ok()?.ok()?;
    let mut changes = Vec::new();
    for ((site, seeds), row) in by_site.into_iter().zip(rows) {
        match row {
            None => counts.num_new_sites += 1,
            Some(_) => counts.num_known_sites += 1,
        }
        let mut row = row.unwrap_or_else(|| SiteRow::new(site, Vec::new(), now));
        let num_before = row.seeds.len();
        for seed in seeds {
            if !row.seeds.contains(&seed) {
                row.seeds.push(seed);
            }
        }
        let has_new = row.seeds.len() > num_before;
        if has_new && matches!(row.standing, SiteStanding::Finished { .. }) {
            // What is left of the cycle's budget may go to the new seeds; the state machine says so or waits.
            row.due_at = now;
        }
        if has_new {
            let change = StoreChange::SaveSite { row: Box::new(row), frontier: None, robots: None };
            changes.push(index.send(ApplyChange(change)));
        }
    }
    for change in futures_util::future::join_all(changes).await {
        change.ok()?.ok()?;
    }
    Some(counts)
}

impl Handler<PauseSite> for FrontierActor {
    type Result = bool;

    fn handle(&mut self, PauseSite(site): PauseSite, ctx: &mut Self::Context) -> bool {
        match self.live.get(&site) {
            Some(live) => live.address.do_send(StopHost(SiteStanding::Paused)),
            None => self.restand(site, SiteStanding::Paused, self.clock.now(), ctx),
        }
        true
    }
}

impl Handler<ResumeSite> for FrontierActor {
    type Result = bool;

    fn handle(&mut self, ResumeSite(site): ResumeSite, ctx: &mut Self::Context) -> bool {
        let is_resting = !self.live.contains_key(&site);
        if is_resting {
            self.restand(site, SiteStanding::Due, self.clock.now(), ctx);
        }
        is_resting
    }
}

impl Handler<ViewSite> for FrontierActor {
    type Result = ResponseFuture<Option<Box<SiteView>>>;

    fn handle(&mut self, ViewSite(site): ViewSite, _: &mut Self::Context) -> Self::Result {
        let (index, ledger) = (self.index.clone(), self.ledger.clone());
        let live = self.live.get(&site).map(|live| live.address.clone());
        Box::pin(async move {
            let wanted = site.clone();
            let read = ReadStore::flushed(move |store| {
                let Some(row) = store.site(&wanted)? else { return Ok(None) };
                let queue = store.frontier(&wanted)?.into();
                let robots = store.robots(&wanted)?.iter().filter_map(OriginRobots::from_stored).collect();
                Ok(Some(SiteView { row, queue, robots, pages: store.pages_of(&wanted)? }))
            });
            let mut view = index.send(read).await.ok()?.ok()??;
            if let Some((account, _)) = ledger.send(AccountOf(site)).await.ok()? {
                view.row.account = account;
            }
            if let Some(live) = live
                && let Ok(Some(state)) = live.send(DescribeState).await
            {
                let state: Box<HostState> = state;
                view.queue = state.queue().clone();
                view.robots = state.robots().to_vec();
                view.row.standing = SiteStanding::Live;
            }
            Some(Box::new(view))
        })
    }
}
