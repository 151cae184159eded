//! Loading the sites that are due, starting their actors, and knowing when to look again.

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::key;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::{HostState, OriginRobots};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use super::{FrontierActor, LiveSite};
use crate::host::{HostActor, HostAddresses, HostParts, HostPorts};
use crate::index::{IndexActor, TakeFromStore, write_store};
use crate::ledger::{AccountOf, LedgerActor};
use crate::storage::{RecordStore, StoreChange, StoreError};

/// Sites loaded from the store at once.
const LOAD_BATCH: usize = 64;
/// The store is asked for due sites at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

#[derive(Message)]
#[rtype(result = "()")]
struct Tick;

/// A site as the store and the ledger know it.
struct LoadedSite {
    row: SiteRow,
    queue: PageQueue,
    robots: Vec<OriginRobots>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct SitesLoaded {
    sites: Vec<LoadedSite>,
    next_due: Option<Timestamp>,
}

/// A change of rows is durable; or the store is gone.
#[derive(Message)]
#[rtype(result = "()")]
struct ChangeEnded;

impl FrontierActor {
    /// Sites that a crash cut off stand as live in the store: they are due again. Comes before the first look for due sites.
    pub(super) fn take_back_live(&mut self, ctx: &mut Context<Self>) {
        self.change_store([], take_back_live, ctx);
    }

    /// Looks for due sites, as far as there is room; remembers to do so later where there is none.
    pub(super) fn look_for_due(&mut self, ctx: &mut Context<Self>) {
        let num_free = self.settings.max_live_sites.max(1).saturating_sub(self.live.len());
        if self.is_loading || self.is_stopping || num_free == 0 {
            self.look_again = true;
            return;
        }
        self.is_loading = true;
        self.look_again = false;
        let (now, limit) = (self.clock.now(), num_free.min(LOAD_BATCH));
        let (index, ledger, me) = (self.index.clone(), self.ledger.clone(), ctx.address());
        actix_rt::spawn(async move {
            let loaded = load_due(&index, &ledger, now, limit).await;
            // Without an answer the store is gone and the node is ending: then nothing is due.
            me.do_send(loaded.unwrap_or(SitesLoaded { sites: Vec::new(), next_due: None }));
        });
    }

    fn start_host(&mut self, loaded: LoadedSite, ctx: &mut Context<Self>) {
        let LoadedSite { row, queue, robots } = loaded;
        let site = row.site.clone();
        let exclusions = self.exclusions.touching(&site);
        let generation = self.next_generation;
        self.next_generation += 1;
        let parts = HostParts {
            identity: self.settings.identity.clone(),
            account: row.account.clone(),
            account_seq: row.account_seq,
            random_seed: self.settings.random_seed ^ generation,
            generation,
            first_seen_at: row.first_seen_at,
            last_cycle_finished_at: row.last_cycle_finished_at,
        };
        let rules = self.settings.rules.clone();
        let state = HostState::restore(row, queue, robots, rules, exclusions, self.clock.now());
        let addresses =
            HostAddresses { ledger: self.ledger.clone(), index: self.index.clone(), frontier: ctx.address() };
        let place = usize::from(key::partition(&site)) % self.arbiters.len();
        let address = HostActor::start_in_arbiter(&self.arbiters[place], move |_| {
            HostActor::new(state, parts, HostPorts::of_thread(), addresses)
        });
        self.live.insert(site, LiveSite { address, generation, wish: None });
        self.stats.num_sites_live.set(self.live.len() as u64);
    }

    /// A row is due at `at`.
    pub(super) fn note_due(&mut self, at: Timestamp, ctx: &mut Context<Self>) {
        if self.is_loading {
            // What is being read may not know it yet, and will say when to wake.
            self.look_again = true;
        }
        self.wake_at(self.next_due.map_or(at, |known| known.min(at)), ctx);
    }

    fn wake_at(&mut self, at: Timestamp, ctx: &mut Context<Self>) {
        self.next_due = Some(at);
        self.cancel_timer(ctx);
        if self.is_stopping {
            return;
        }
        let span = at.since(self.clock.now()).min(LONGEST_SLEEP);
        self.timer = Some(ctx.notify_later(Tick, span));
    }

    pub(super) fn cancel_timer(&mut self, ctx: &mut Context<Self>) {
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
    }

    /// Changes rows of sites that are not live, in one go. What is given back ends when the change is durable; none if the store failed.
    /// Sites `touched` that are being loaded meanwhile are loaded again.
    pub(super) fn change_store<T: Send + 'static>(
        &mut self,
        touched: impl IntoIterator<Item = Site>,
        change: impl FnOnce(&mut dyn RecordStore) -> Result<T, StoreError> + Send + 'static,
        ctx: &mut Context<Self>,
    ) -> oneshot::Receiver<T> {
        if self.is_loading {
            self.changed_while_loading.extend(touched);
        }
        self.num_changes += 1;
        let changed = write_store(&self.index, change);
        let (answer, answered) = oneshot::channel();
        let me = ctx.address();
        actix_rt::spawn(async move {
            let changed = changed.await;
            me.do_send(ChangeEnded);
            if let Ok(changed) = changed {
                // Whoever asked may be gone.
                let _ = answer.send(changed);
            }
        });
        answered
    }

    /// Gives a site that is not live another standing, if its row is as `wanted`; tells whether it was.
    pub(super) fn restand(
        &mut self,
        site: Site,
        wanted: fn(&SiteRow) -> bool,
        standing: SiteStanding,
        due_at: Timestamp,
        ctx: &mut Context<Self>,
    ) -> oneshot::Receiver<bool> {
        match standing {
            SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. } => {
                self.note_due(due_at, ctx)
            }
            SiteStanding::Live | SiteStanding::Paused => {}
        }
        let change = {
            let site = site.clone();
            move |store: &mut dyn RecordStore| match store.site(&site)?.filter(wanted) {
                None => Ok(false),
                Some(row) => save_row(store, SiteRow { standing, due_at, ..row }).map(|()| true),
            }
        };
        self.change_store([site], change, ctx)
    }
}

fn save_row(store: &mut dyn RecordStore, row: SiteRow) -> Result<(), StoreError> {
    store.apply(StoreChange::SaveSite { row: Box::new(row), frontier: None, robots: None })?;
    Ok(())
}

fn take_back_live(store: &mut dyn RecordStore) -> Result<(), StoreError> {
    for site in store.live_sites()? {
        if let Some(row) = store.site(&site)? {
            let due_at = row.account.not_before();
            save_row(store, SiteRow { standing: SiteStanding::Due, due_at, ..row })?;
        }
    }
    Ok(())
}

/// Loads up to `limit` due sites, which stand as live from then on; none if the store or the ledger is gone.
async fn load_due(
    index: &Addr<IndexActor>,
    ledger: &Addr<LedgerActor>,
    now: Timestamp,
    limit: usize,
) -> Option<SitesLoaded> {
    let take = TakeFromStore(Box::new(move |store| take_due(store, now, limit)));
    let mut loaded = index.send(take).await.ok()?.ok()?;
    let ask = |site: &LoadedSite| ledger.send(AccountOf(site.row.site.clone()));
    let accounts: Vec<_> = loaded.sites.iter().map(ask).collect();
    for (site, account) in loaded.sites.iter_mut().zip(futures_util::future::join_all(accounts).await) {
        if let Some((account, seq)) = account.ok()? {
            site.row.account = account;
            site.row.account_seq = seq;
        }
    }
    Some(loaded)
}

fn take_due(store: &mut dyn RecordStore, now: Timestamp, limit: usize) -> Result<SitesLoaded, StoreError> {
    let mut sites = Vec::new();
    for due in store.due_until(now, limit)? {
        if let Some(row) = store.site(&due.site)? {
            let mut queue: PageQueue = store.frontier(&due.site)?.into();
            let pages = store.pages_of(&due.site)?;
            queue.note_records(pages.iter().map(|page| (&page.url, page.cycle)), row.account.cycle);
            let robots = store.robots(&due.site)?.iter().filter_map(OriginRobots::from_stored).collect();
            save_row(store, SiteRow { standing: SiteStanding::Live, ..row.clone() })?;
            sites.push(LoadedSite { row, queue, robots });
        }
    }
    let next_due = store.first_due()?.map(|due| due.due_at);
    Ok(SitesLoaded { sites, next_due })
}

impl Handler<Tick> for FrontierActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        self.timer = None;
        self.look_for_due(ctx);
    }
}

impl Handler<ChangeEnded> for FrontierActor {
    type Result = ();

    fn handle(&mut self, _: ChangeEnded, ctx: &mut Self::Context) {
        self.num_changes -= 1;
        self.look_for_due(ctx);
        self.answer_waiters();
    }
}

impl Handler<SitesLoaded> for FrontierActor {
    type Result = ();

    fn handle(&mut self, SitesLoaded { sites, next_due }: SitesLoaded, ctx: &mut Self::Context) {
        self.is_loading = false;
        let changed = std::mem::take(&mut self.changed_while_loading);
        self.next_due = None;
        if let Some(due) = next_due {
            self.wake_at(due, ctx);
        }
        for loaded in sites {
            let site = &loaded.row.site;
            let is_mine = self.placement.is_mine(key::partition(site));
            if is_mine && !self.is_stopping && !changed.contains(site) {
                self.start_host(loaded, ctx);
            } else {
                // Back among the due, unless it was paused meanwhile.
                let is_live = |row: &SiteRow| row.standing == SiteStanding::Live;
                self.restand(site.clone(), is_live, SiteStanding::Due, loaded.row.due_at, ctx);
            }
        }
        if self.look_again || next_due.is_some_and(|due| due <= self.clock.now()) {
            self.look_for_due(ctx);
        }
        self.answer_waiters();
    }
}
