//! What a host actor is made of beside its state.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::sync::{Arc, RwLock};

use actix::Addr;
use lohisoftbot_core::key;
use lohisoftbot_core::ledger::{SiteAccount, SiteEvent};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use crate::extractor::ExtractorActor;
use crate::frontier::FrontierActor;
use crate::index::IndexActor;
use crate::ledger::LedgerActor;
use crate::permits::Permits;
use crate::ports::{AddressGate, Clock, Fetch, FetchGate, Resolve};
use crate::stats::NodeStats;

/// How the node shows itself to one site, throughout a cycle (P9, P10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteIdentity {
    /// The User-Agent field.
    pub user_agent: String,
    /// The address that requests leave from; the system's choice where none is configured.
    pub source: Option<Ipv4Addr>,
}

/// How the node shows itself to a site in a cycle.
pub type IdentityOf = Arc<dyn Fn(&Site, u32) -> SiteIdentity + Send + Sync>;

/// What one host actor is told at its start.
#[derive(Clone)]
pub struct HostParts {
    /// Its identity towards the site; asked for each request, since a cycle may begin under this actor.
    pub identity: IdentityOf,
    /// The account as stored or as the ledger has it.
    pub account: SiteAccount,
    /// The newest ledger entry in that account.
    pub account_seq: u64,
    /// Seed of its jitter.
    pub random_seed: u64,
    /// Which of the site's actors it is.
    pub generation: u64,
    /// When the site became known.
    pub first_seen_at: Timestamp,
    /// When its last cycle ended.
    pub last_cycle_finished_at: Option<Timestamp>,
}

/// Whom a host actor talks to.
#[derive(Clone)]
pub struct HostAddresses {
    /// Writes its events.
    pub ledger: Addr<LedgerActor>,
    /// Stores its row.
    pub index: Addr<IndexActor>,
    /// Started it.
    pub frontier: Addr<FrontierActor>,
}

/// The ports of one host arbiter, shared by its actors.
pub struct HostPorts {
    /// Sends requests.
    pub fetcher: Rc<dyn Fetch>,
    /// Finds addresses.
    pub resolver: Rc<dyn Resolve>,
    /// Slots at addresses.
    pub address_gate: Rc<dyn AddressGate>,
    /// The node's gate.
    pub fetch_gate: Arc<dyn FetchGate>,
    /// The node's permits.
    pub permits: Permits,
    /// The node's clock.
    pub clock: Arc<dyn Clock>,
    /// The node's extractors.
    pub extractors: ExtractorPool,
    /// The node's counters.
    pub stats: Arc<NodeStats>,
}

thread_local! {
    static PORTS: RefCell<Option<Rc<HostPorts>>> = const { RefCell::new(None) };
}

impl HostPorts {
    /// Makes these the ports of the calling arbiter's thread.
    pub fn install(self) {
        PORTS.with_borrow_mut(|ports| *ports = Some(Rc::new(self)));
    }

    /// Takes them from the calling arbiter's thread; host actors that have them keep them.
    pub fn uninstall() {
        PORTS.with_borrow_mut(|ports| *ports = None);
    }

    /// The ports of the calling arbiter's thread.
    pub(crate) fn of_thread() -> Rc<Self> {
        PORTS.with_borrow(Clone::clone).expect("a host arbiter's ports are installed before its first actor starts")
    }

    /// Counts and logs what happened to a site.
    pub(super) fn note_events(&self, site: &Site, events: &[(Timestamp, SiteEvent)]) {
        for (_, event) in events {
            if let SiteEvent::Wait { until, reason, rung } = event {
                self.stats.num_waits.add_one();
                tracing::debug!(%site, %until, ?reason, rung, "site waits");
            }
        }
    }
}

/// The extractors, one per core; one that died is replaced in place.
#[derive(Clone)]
pub struct ExtractorPool(Arc<RwLock<Vec<Addr<ExtractorActor>>>>);

impl ExtractorPool {
    /// Of these; at least one.
    pub fn new(extractors: Vec<Addr<ExtractorActor>>) -> Self {
        assert!(!extractors.is_empty(), "a node has at least one extractor");
        Self(Arc::new(RwLock::new(extractors)))
    }

    /// The extractor that reads the pages of `site`, or another while that one is dead; none once the pool is closed.
    pub fn for_site(&self, site: &Site) -> Option<Addr<ExtractorActor>> {
        let extractors = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (before, from) = extractors.split_at(usize::from(key::partition(site)).checked_rem(extractors.len())?);
        from.iter().chain(before).find(|extractor| extractor.connected()).cloned()
    }

    /// Lets go of all extractors: each ends when it has read the pages it was sent.
    pub fn close(&self) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }

    /// Puts `extractor` in the place of one that died.
    pub fn replace(&self, place: usize, extractor: Addr<ExtractorActor>) {
        let mut extractors = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(dead) = extractors.get_mut(place) {
            *dead = extractor;
        }
    }
}
