//! `FrontierActor` knows which sites are known, due, live or parked. It alone starts host actors, so a site never has two.
//!
//! Parked and due sites lie in the store, ordered by time; only live ones are held here. Messages of a host actor carry its generation,
//! so what a dead one left behind changes nothing. It decides nothing about requests: that is each site's state.
//!
//! Rows of sites that are not live are changed in one go in the store, never read here and written back later. Invariants: a site whose
//! row changed while it was being loaded is loaded again before it starts; a row stands as live from its loading until its actor retires.

mod due;
mod exclude;
mod idle;
mod lending;
mod links;
mod recrawl;
mod sites;
mod view;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use actix_rt::ArbiterHandle;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::politeness::{Seed, SiteRules};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::events::{EventHub, FoundBy, NodeEvent};
use crate::host::{HostActor, IdentityOf};
use crate::index::IndexActor;
use crate::ledger::LedgerActor;
use crate::ports::{Clock, Placement};
use crate::stats::NodeStats;

pub use exclude::{ExcludeDomain, ExclusionAnswer, IncludeDomain};
pub use idle::{StopAll, WhenIdle};
pub use lending::BorrowRobots;
pub use links::LinksFound;
pub use recrawl::RecrawlSite;
pub use sites::{AddSeeds, PauseSite, ResumeSite, SeedCounts};
pub use view::{SiteView, ViewSite};

/// A host actor that died is followed by another no sooner than this.
pub const RESTART_DELAY: Duration = Duration::from_secs(30);

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
    borrowings: HashMap<Site, lending::Borrowing>,
    num_borrowings: u64,
    is_loading: bool,
    changed_while_loading: HashSet<Site>,
    num_changes: usize,
    look_again: bool,
    next_due: Option<Timestamp>,
    timer: Option<SpawnHandle>,
    idle_waiters: Vec<(Duration, oneshot::Sender<()>)>,
    stop_waiters: Vec<oneshot::Sender<()>>,
    is_stopping: bool,
    events: EventHub,
}

struct LiveSite {
    address: Addr<HostActor>,
    generation: u64,
    wish: Option<Wish>,
}

/// What the operator wants of a site once its actor is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Pause,
    Resume,
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
            borrowings: HashMap::new(),
            num_borrowings: 0,
            is_loading: false,
            changed_while_loading: HashSet::new(),
            num_changes: 0,
            look_again: false,
            next_due: None,
            timer: None,
            idle_waiters: Vec::new(),
            stop_waiters: Vec::new(),
            is_stopping: false,
            events: EventHub::default(),
        }
    }

    /// Tells `events` of each site that is found or parked, once its row is stored.
    pub fn with_events(self, events: EventHub) -> Self {
        Self { events, ..self }
    }

    /// Tells who watches of sites whose rows are durable when `stored` ends.
    fn tell_found(&self, by: FoundBy, stored: oneshot::Receiver<Vec<Site>>) {
        let (events, clock) = (self.events.clone(), self.clock.clone());
        actix_rt::spawn(async move {
            for site in stored.await.unwrap_or_default() {
                events.tell(&NodeEvent::SiteFound { site, by, at: clock.now() });
            }
        });
    }

    fn forget_live(&mut self, site: &Site, generation: u64) -> Option<LiveSite> {
        let is_it = self.live.get(site).is_some_and(|live| live.generation == generation);
        let live = if is_it { self.live.remove(site) } else { None };
        self.stats.num_sites_live.set(self.live.len() as u64);
        live
    }
}

impl Actor for FrontierActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.take_back_live(ctx);
    }
}

impl Handler<Retired> for FrontierActor {
    type Result = ();

    fn handle(&mut self, retired: Retired, ctx: &mut Self::Context) {
        let Retired { site, generation, standing, due_at, late_seeds } = retired;
        let Some(live) = self.forget_live(&site, generation) else { return };
        if !late_seeds.is_empty() {
            // Nobody waits for the counts.
            drop(self.admit(late_seeds, ctx));
        }
        if let SiteStanding::Parked { reason } = standing {
            let site = site.clone();
            self.events.tell(&NodeEvent::SiteParked { site, until: due_at, reason, at: self.clock.now() });
        }
        match (live.wish, standing) {
            (Some(Wish::Pause), SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. }) => {
                self.restand(site, |_| true, SiteStanding::Paused, due_at, ctx);
            }
            (Some(Wish::Resume), SiteStanding::Paused) => {
                self.restand(site, |_| true, SiteStanding::Due, due_at, ctx);
            }
            (_, SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. }) => {
                self.note_due(due_at, ctx);
            }
            (_, SiteStanding::Live | SiteStanding::Paused) => {}
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
        let Some(live) = self.forget_live(&site, generation) else { return };
        // At the end of the node its row may stay as it is: the next start takes it back.
        if !self.is_stopping {
            tracing::warn!(%site, "a host actor died; the site goes on from its ledger");
            self.stats.num_actor_restarts.add_one();
            let standing = match live.wish {
                Some(Wish::Pause) => SiteStanding::Paused,
                Some(Wish::Resume) | None => SiteStanding::Due,
            };
            self.restand(site, |_| true, standing, self.clock.now().plus(RESTART_DELAY), ctx);
            if self.look_again {
                self.look_for_due(ctx);
            }
        }
        self.answer_waiters();
    }
}
