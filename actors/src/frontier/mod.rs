//! `FrontierActor` knows which sites are known, due, live or parked. It alone starts host actors, so a site never has two.
//!
//! Parked and due sites lie in the store, ordered by time; only live ones are held here. Messages of a host actor carry its generation,
//! so what a dead one left behind changes nothing. It decides nothing about requests: that is each site's state.

mod exclude;
mod links;
mod sites;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use actix_rt::ArbiterHandle;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::key;
use lohisoftbot_core::politeness::{HostState, Seed, SiteRules};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::host::{HostActor, HostAddresses, HostParts, HostPorts, SeedsAdded, SiteIdentity, StopHost};
use crate::index::IndexActor;
use crate::ledger::LedgerActor;
use crate::ports::{Clock, Placement};
use crate::stats::NodeStats;

pub use exclude::{ExcludeDomain, ExclusionAnswer, IncludeDomain};
pub use links::LinksFound;
pub use sites::{AddSeeds, PauseSite, ResumeSite, SeedCounts, SiteView, ViewSite};

/// A host actor that died is followed by another no sooner than this.
const RESTART_DELAY: Duration = Duration::from_secs(30);
/// Sites loaded from the store at once.
const LOAD_BATCH: usize = 64;
/// The store is asked for due sites at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Which sites are taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// Those of the seeds.
    Seeds,
    /// Those that links lead to as well, up to so many sites in all.
    Links {
        /// Cap on known sites.
        max_sites: u64,
    },
}

/// Gives the identity for a site and the number of its cycle.
pub type IdentityOf = Arc<dyn Fn(&Site, u32) -> SiteIdentity + Send + Sync>;

/// What the frontier works by.
#[derive(Clone)]
pub struct FrontierSettings {
    /// The rules of every site.
    pub rules: Arc<SiteRules>,
    /// Which sites are taken up.
    pub discovery: Discovery,
    /// Most sites live at once.
    pub max_live_sites: usize,
    /// How the node shows itself to a site in a cycle.
    pub identity: IdentityOf,
    /// Seeds the jitter of host actors.
    pub random_seed: u64,
}

/// Starts and retires host actors.
pub struct FrontierActor {
    settings: FrontierSettings,
    index: Addr<IndexActor>,
    ledger: Addr<LedgerActor>,
    clock: Arc<dyn Clock>,
    placement: Arc<dyn Placement>,
    stats: Arc<NodeStats>,
    arbiters: Vec<ArbiterHandle>,
    exclusions: Exclusions,
    live: HashMap<Site, LiveSite>,
    next_generation: u64,
    is_loading: bool,
    look_again: bool,
    next_due: Option<Timestamp>,
    timer: Option<SpawnHandle>,
    idle_waiters: Vec<(Duration, oneshot::Sender<()>)>,
    stop_waiters: Vec<oneshot::Sender<()>>,
    is_stopping: bool,
}

struct LiveSite {
    address: Addr<HostActor>,
    generation: u64,
}

/// A host actor gave its site up; its row is stored.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Retired {
    /// Which site.
    pub site: Site,
    /// Which of its actors.
    pub generation: u64,
    /// How it stands.
    pub standing: SiteStanding,
    /// When it is due.
    pub due_at: Timestamp,
    /// Seeds that came too late for that actor.
    pub late_seeds: Vec<Seed>,
}

/// A host actor died without retiring.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct HostGone {
    /// Which site.
    pub site: Site,
    /// Which of its actors.
    pub generation: u64,
}

/// Answered when nothing is live and no wait ends within `max_wait`.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct WhenIdle {
    /// Waits that end sooner are waited for.
    pub max_wait: Duration,
}

/// Stop every host actor; answered when none is left.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StopAll;

#[derive(Message)]
#[rtype(result = "()")]
struct Tick;

/// A site as the store and the ledger know it.
struct LoadedSite {
    row: SiteRow,
    queue: lohisoftbot_core::page_choice::PageQueue,
    robots: Vec<lohisoftbot_core::politeness::OriginRobots>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct SitesLoaded {
    sites: Vec<LoadedSite>,
    next_due: Option<Timestamp>,
}

/// Whom the frontier talks to, and what it runs on.
pub struct FrontierAddresses {
    /// The store.
    pub index: Addr<IndexActor>,
    /// The ledger.
    pub ledger: Addr<LedgerActor>,
    /// Where host actors run; their ports are installed there.
    pub host_arbiters: Vec<ArbiterHandle>,
    /// The node's clock.
    pub clock: Arc<dyn Clock>,
    /// Which partitions are this node's.
    pub placement: Arc<dyn Placement>,
    /// The node's counters.
    pub stats: Arc<NodeStats>,
}

impl FrontierActor {
    /// With the exclusions in force.
    pub fn new(settings: FrontierSettings, addresses: FrontierAddresses, exclusions: Exclusions) -> Self {
        let FrontierAddresses { index, ledger, host_arbiters, clock, placement, stats } = addresses;
        Self {
            settings,
            index,
            ledger,
            clock,
            placement,
            stats,
            arbiters: host_arbiters,
            exclusions,
            live: HashMap::new(),
            next_generation: 1,
            is_loading: false,
            look_again: false,
            next_due: None,
            timer: None,
            idle_waiters: Vec::new(),
            stop_waiters: Vec::new(),
            is_stopping: false,
        }
    }

    /// Looks for due sites, as far as there is room.
    fn look_for_due(&mut self, ctx: &mut Context<Self>) {
        let num_free = self.settings.max_live_sites.saturating_sub(self.live.len());
        if self.is_loading || self.is_stopping || num_free == 0 {
            self.look_again = true;
            return;
        }
        self.is_loading = true;
        self.look_again = false;
        // Rows of sites that went live a moment ago may still be among the due.
        let limit = num_free.min(LOAD_BATCH) + self.live.len().min(LOAD_BATCH);
        let known_live: Vec<Site> = self.live.keys().cloned().collect();
        let now = self.clock.now();
        let (index, ledger, me) = (self.index.clone(), self.ledger.clone(), ctx.address());
        actix_rt::spawn(async move {
            if let Some(loaded) = sites::load_due(&index, &ledger, now, limit, known_live).await {
                me.do_send(loaded);
            }
        });
    }

    fn start_host(&mut self, loaded: LoadedSite, ctx: &mut Context<Self>) {
        let LoadedSite { row, queue, robots } = loaded;
        let site = row.site.clone();
        let exclusions = self.exclusions.touching(&site);
        let generation = self.next_generation;
        self.next_generation += 1;
        let parts = HostParts {
            identity: (self.settings.identity)(&site, row.account.cycle),
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
        self.live.insert(site, LiveSite { address, generation });
        self.stats.num_sites_live.set(self.live.len() as u64);
    }

    fn forget_live(&mut self, site: &Site, generation: u64) -> bool {
        let is_it = self.live.get(site).is_some_and(|live| live.generation == generation);
        if is_it {
            self.live.remove(site);
            self.stats.num_sites_live.set(self.live.len() as u64);
        }
        is_it
    }

    fn wake_at(&mut self, at: Timestamp, ctx: &mut Context<Self>) {
        let at = self.next_due.map_or(at, |known| known.min(at));
        self.next_due = Some(at);
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        let span = at.since(self.clock.now()).min(LONGEST_SLEEP);
        self.timer = Some(ctx.notify_later(Tick, span));
    }

    /// Tells those who wait for the end of all work, or of the node.
    fn answer_waiters(&mut self) {
        if !self.live.is_empty() || self.is_loading {
            return;
        }
        for waiter in self.stop_waiters.drain(..) {
            // Whoever waited may be gone.
            let _ = waiter.send(());
        }
        let next_wait = self.next_due.map(|due| due.since(self.clock.now()));
        let (idle, busy) = std::mem::take(&mut self.idle_waiters)
            .into_iter()
            .partition(|(max_wait, _)| next_wait.is_none_or(|wait| wait > *max_wait));
        self.idle_waiters = busy;
        for (_, waiter) in idle {
            let _ = waiter.send(());
        }
    }
}

impl Actor for FrontierActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.look_for_due(ctx);
    }
}

impl Handler<Tick> for FrontierActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        self.timer = None;
        self.look_for_due(ctx);
    }
}

impl Handler<SitesLoaded> for FrontierActor {
    type Result = ();

    fn handle(&mut self, SitesLoaded { sites, next_due }: SitesLoaded, ctx: &mut Self::Context) {
        self.is_loading = false;
        self.next_due = next_due;
        for loaded in sites {
            let site = &loaded.row.site;
            let is_mine = self.placement.is_mine(key::partition(site));
            let has_room = self.live.len() < self.settings.max_live_sites;
            if is_mine && has_room && !self.is_stopping && !self.live.contains_key(site) {
                self.start_host(loaded, ctx);
            }
        }
        let has_room = self.live.len() < self.settings.max_live_sites;
        match next_due {
            Some(due) if due > self.clock.now() => self.wake_at(due, ctx),
            Some(_) if has_room => self.look_for_due(ctx),
            // Looked for again when a live site retires.
            Some(_) => self.look_again = true,
            None => {}
        }
        if self.look_again && has_room {
            self.look_for_due(ctx);
        }
        self.answer_waiters();
    }
}

impl Handler<Retired> for FrontierActor {
    type Result = ();

    fn handle(&mut self, retired: Retired, ctx: &mut Self::Context) {
        if !self.forget_live(&retired.site, retired.generation) {
            return;
        }
        if !retired.late_seeds.is_empty() {
            ctx.notify(AddSeeds(retired.late_seeds));
        }
        match retired.standing {
            SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. } => {
                self.wake_at(retired.due_at, ctx);
            }
            SiteStanding::Live | SiteStanding::Paused => {}
        }
        if self.look_again {
            self.look_for_due(ctx);
        }
        self.answer_waiters();
    }
}

impl Handler<HostGone> for FrontierActor {
    type Result = ();

    fn handle(&mut self, HostGone { site, generation }: HostGone, ctx: &mut Self::Context) {
        if !self.forget_live(&site, generation) {
            return;
        }
        if !self.is_stopping {
            tracing::warn!(%site, "a host actor died; the site goes on from its ledger");
            self.stats.num_actor_restarts.add_one();
            self.restand(site, SiteStanding::Due, self.clock.now().plus(RESTART_DELAY), ctx);
        }
        self.answer_waiters();
    }
}

impl Handler<WhenIdle> for FrontierActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, WhenIdle { max_wait }: WhenIdle, _: &mut Self::Context) -> Self::Result {
        let (idle, is_idle) = oneshot::channel();
        self.idle_waiters.push((max_wait, idle));
        self.answer_waiters();
        Box::pin(async move {
            // An error means that the frontier is gone; then nothing is live either.
            let _ = is_idle.await;
        })
    }
}

impl Handler<StopAll> for FrontierActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: StopAll, _: &mut Self::Context) -> Self::Result {
        self.is_stopping = true;
        for live in self.live.values() {
            live.address.do_send(StopHost(SiteStanding::Due));
        }
        let (stopped, is_stopped) = oneshot::channel();
        self.stop_waiters.push(stopped);
        self.answer_waiters();
        Box::pin(async move {
            let _ = is_stopped.await;
        })
    }
}

impl FrontierActor {
    /// Hands seeds of a live site to its actor.
    fn hand_over(&self, site: &Site, seeds: Vec<Seed>) {
        if let Some(live) = self.live.get(site) {
            live.address.do_send(SeedsAdded(seeds));
        }
    }
}
