//! A whole node in memory: all actors on one arbiter, twins for all ports, time moved by the test.
//!
//! [`run_paused`] gives the test its system; [`TestNode::stop`] fails if anything is left running. What a test does not stop dies with its
//! system, like a process that is killed.

use std::io::Write;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use actix_rt::{Arbiter, System};
use lohisoftbot_core::address_gate::AddressRules;
use lohisoftbot_core::backoff::BackoffPolicy;
use lohisoftbot_core::budget::Budget;
use lohisoftbot_core::politeness::SiteRules;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::SiteRow;
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use super::disk::TestDisk;
use super::storage_contract::{seed, site};
use super::web::{ScriptedWeb, TableResolver};
use crate::address_gate::{AddressGateActor, GateDoor};
use crate::clock::AnchoredClock;
use crate::events::EventHub;
use crate::frontier::{
    AddSeeds, Discovery, FrontierActor, FrontierAddresses, FrontierSettings, SeedCounts, StopAll, ViewSite, WhenIdle,
};
use crate::host::{ExtractorPool, HostPorts, IdentityOf, SiteIdentity};
use crate::index::{CheckpointAt, IndexActor, ReadStore};
use crate::ledger::{LastSeq, LedgerActor};
use crate::permits::Permits;
use crate::ports::{AddressGate, Clock, LocalGate, OpenAddressGate, WholePlacement};
use crate::stats::NodeStats;
use crate::storage::{EntryFilter, LedgerRead, RecordStore, StoreError, catch_up};
use crate::supervisor::{EndSupervision, ExtractorFactory, NodeSupervisor, StartExtractors};

/// The delay between two requests to a site in [`TestSettings::default`].
pub const DELAY: Duration = Duration::from_secs(5);
/// When the first node of a test starts.
pub const FIRST_START: Timestamp = Timestamp::from_secs(1_800_000_000);

/// A test that takes longer, in real time, is one whose actors keep each other busy for ever.
const LONGEST_TEST: Duration = Duration::from_secs(120);

/// Runs a test on a system of its own whose clock moves only when nothing else is left to do.
pub fn run_paused<T>(test: impl Future<Output = T>) -> T {
    let (ended, has_ended) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if has_ended.recv_timeout(LONGEST_TEST) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            // The macro's output would be captured, and lost with the process.
            let _ = std::io::stderr().write_all(b"a test with a paused clock runs for ever\n");
            std::process::abort();
        }
    });
    let builder = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().expect("a runtime without I/O starts")
    };
    let done = System::with_tokio_rt(builder).block_on(test);
    drop(ended);
    done
}

/// How a node in memory is set up.
#[derive(Clone)]
pub struct TestSettings {
    /// The rules of every site.
    pub rules: SiteRules,
    /// Which sites are taken up.
    pub discovery: Discovery,
    /// Most sites live at once.
    pub max_live_sites: usize,
    /// Most pages in flight.
    pub max_pages_in_flight: usize,
    /// The manners at each address; none leaves them open, since without more ado every name is at one address.
    pub address_rules: Option<AddressRules>,
    /// Extractors.
    pub num_extractors: usize,
    /// How the node shows itself.
    pub identity: IdentityOf,
    /// When it starts.
    pub starts_at: Timestamp,
}

impl Default for TestSettings {
    fn default() -> Self {
        let rules = SiteRules {
            min_delay: DELAY,
            response_time_factor: 5,
            max_adaptive_delay: Duration::from_secs(60),
            max_crawl_delay: Duration::from_secs(86_400),
            park_after: Duration::from_secs(60),
            backoff: BackoffPolicy::default(),
            budget: Budget::default(),
            max_queued_urls: 1000,
            recrawl_interval: Duration::from_secs(30 * 86_400),
            // Nothing is learnt: the interval stays what a test sets it to.
            min_recrawl_interval: Duration::MAX,
            max_recrawl_interval: Duration::ZERO,
            product_token: "LohiSoftBot".to_owned(),
        };
        let identity =
            |_: &Site, _: u32| SiteIdentity { user_agent: "LohiSoftBot/1.0 (test)".to_owned(), source: None };
        Self {
            rules,
            discovery: Discovery::Seeds,
            max_live_sites: 100,
            max_pages_in_flight: 100,
            address_rules: None,
            num_extractors: 1,
            identity: Arc::new(identity),
            starts_at: FIRST_START,
        }
    }
}

/// A running node.
pub struct TestNode {
    /// The web it crawls.
    pub web: ScriptedWeb,
    /// Its names.
    pub resolver: TableResolver,
    /// The gate that `pause` shuts.
    pub gate: Arc<LocalGate>,
    /// Its counters.
    pub stats: Arc<NodeStats>,
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// Its frontier.
    pub frontier: Addr<FrontierActor>,
    /// Its store.
    pub index: Addr<IndexActor>,
    /// Its ledger.
    pub ledger: Addr<LedgerActor>,
    /// Its supervisor.
    pub supervisor: Addr<NodeSupervisor>,
    /// Its extractors.
    pub extractors: ExtractorPool,
    /// Its gate of shared addresses, where the settings have rules for it.
    pub address_gate: Option<Addr<AddressGateActor>>,
    /// Tells what happens.
    pub events: EventHub,
    /// Says why it cannot go on.
    pub fatal: oneshot::Receiver<String>,
    disk: TestDisk,
    fetch_port: Weak<ScriptedWeb>,
}

impl TestNode {
    /// Starts a node on an empty disk with the usual settings.
    pub async fn start_new() -> Self {
        Self::start(&TestDisk::new(), TestSettings::default()).await
    }

    /// Starts a node as a process would: the store is brought up to the ledger first.
    pub async fn start(disk: &TestDisk, settings: TestSettings) -> Self {
        let mut store = disk.lend(disk.take());
        let book = disk.ledger.book();
        let missed = disk.ledger.entries(&EntryFilter::since_checkpoint(store.ledger_seq())).expect("it reads");
        catch_up(&mut store, book.last_seq, missed.into_iter().map(Ok::<_, StoreError>)).expect("it catches up");

        let stats = Arc::new(NodeStats::default());
        let clock: Arc<dyn Clock> = Arc::new(AnchoredClock::anchored_at(settings.starts_at));
        let (web, resolver, gate) =
            (ScriptedWeb::new(clock.clone()), TableResolver::default(), Arc::<LocalGate>::default());
        let exclusions = book.exclusions.clone();
        let (fatal_sender, fatal) = oneshot::channel();
        let supervisor = NodeSupervisor::new(stats.clone(), fatal_sender).start();
        let events = EventHub::default();
        let ledger = LedgerActor::new(Box::new(disk.ledger_writer()), book, supervisor.clone());
        let ledger = ledger.with_events(events.clone()).start();
        let batch = Duration::from_millis(200);
        let index = IndexActor::new(Box::new(store), batch, supervisor.clone(), stats.clone(), clock.clone());
        let index = index.with_events(events.clone()).start();
        let arbiter = Arbiter::current();
        let factory = ExtractorFactory::new(
            vec![arbiter.clone(); settings.num_extractors],
            index.clone(),
            settings.rules.product_token.as_str().into(),
        );
        let started = supervisor.send(StartExtractors(factory)).await.expect("the supervisor runs");
        let extractors = started.expect("extractors start");
        let fetcher = Rc::new(web.clone());
        let fetch_port = Rc::downgrade(&fetcher);
        let body_cap = 2 << 20;
        let address_gate =
            settings.address_rules.map(|rules| AddressGateActor::new(rules, clock.clone(), supervisor.clone()).start());
        let gate_port: Rc<dyn AddressGate> = match &address_gate {
            Some(gate) => Rc::new(GateDoor::new(gate.clone())),
            None => Rc::new(OpenAddressGate),
        };
        HostPorts {
            fetcher,
            resolver: Rc::new(resolver.clone()),
            address_gate: gate_port,
            fetch_gate: gate.clone(),
            permits: Permits::new(settings.max_pages_in_flight, settings.max_pages_in_flight * body_cap, body_cap),
            clock: clock.clone(),
            extractors: extractors.clone(),
            stats: stats.clone(),
        }
        .install();
        let frontier_settings = FrontierSettings {
            rules: Arc::new(settings.rules),
            discovery: settings.discovery,
            max_live_sites: settings.max_live_sites,
            identity: settings.identity,
            random_seed: 7,
        };
        let addresses = FrontierAddresses {
            index: index.clone(),
            ledger: ledger.clone(),
            host_arbiters: vec![arbiter],
            clock: clock.clone(),
            placement: Arc::new(WholePlacement),
            stats: stats.clone(),
        };
        let frontier = FrontierActor::new(frontier_settings, addresses, exclusions);
        let frontier = frontier.with_events(events.clone()).start();
        let disk = disk.clone();
        Self {
            web,
            resolver,
            gate,
            stats,
            clock,
            frontier,
            index,
            ledger,
            supervisor,
            extractors,
            address_gate,
            events,
            fatal,
            disk,
            fetch_port,
        }
    }

    /// Seeds, each a URL.
    pub async fn seed(&self, urls: &[&str]) -> SeedCounts {
        let seeds = urls.iter().map(|url| seed(url)).collect();
        self.frontier.send(AddSeeds(seeds)).await.expect("the frontier runs")
    }

    /// Waits until nothing is live and no wait ends within `max_wait`.
    pub async fn when_idle(&self, max_wait: Duration) {
        self.frontier.send(WhenIdle { max_wait }).await.expect("the frontier runs");
    }

    /// The row of a host's site, with the newest account.
    pub async fn row(&self, host: &str) -> Option<SiteRow> {
        let view = self.frontier.send(ViewSite(site(host))).await.expect("the frontier runs");
        view.map(|view| view.row)
    }

    /// Reads the store.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.index.send(ReadStore::as_applied(read)).await.expect("the index runs").expect("the store reads")
    }

    /// URLs of the stored pages of a host's site.
    pub async fn stored_pages(&self, host: &str) -> Vec<String> {
        let site = site(host);
        self.read(move |store| Ok(store.pages_of(&site)?.iter().map(|page| page.url.to_string()).collect())).await
    }

    /// Ends the node in order; panics if anything of it is left running. Its disk can be used again then.
    pub async fn stop(self) {
        self.frontier.send(StopAll).await.expect("the frontier runs");
        assert_eq!(self.stats.num_sites_live.get(), 0, "sites live after StopAll");
        let last_seq = self.ledger.send(LastSeq).await.expect("the ledger runs");
        // A store or ledger that failed has said so by `fatal`.
        let _ = self.index.send(CheckpointAt(last_seq)).await.expect("the index runs");
        self.supervisor.send(EndSupervision).await.expect("the supervisor runs");
        HostPorts::uninstall();
        let left =
            (self.frontier.downgrade(), self.index.downgrade(), self.ledger.downgrade(), self.supervisor.downgrade());
        let gate_left = self.address_gate.as_ref().map(Addr::downgrade);
        let Self { disk, fetch_port, stats, frontier, index, ledger, supervisor, extractors, address_gate, .. } = self;
        drop((frontier, index, ledger, supervisor, extractors, address_gate));
        let num_restarts = stats.num_actor_restarts.get();
        // Longer than any timer of an actor that ends.
        tokio::time::sleep(Duration::from_secs(120)).await;
        let (frontier, index, ledger, supervisor) = left;
        assert!(frontier.upgrade().is_none(), "the frontier is left running");
        assert!(fetch_port.upgrade().is_none(), "a host actor or a request is left");
        assert!(index.upgrade().is_none() && disk.is_free(), "the index is left running, or an extractor");
        assert!(ledger.upgrade().is_none(), "the ledger is left running");
        assert!(gate_left.is_none_or(|gate| gate.upgrade().is_none()), "the gate of shared addresses is left running");
        assert!(supervisor.upgrade().is_none(), "the supervisor is left running, or an extractor");
        assert_eq!(stats.num_actor_restarts.get(), num_restarts, "an actor was replaced at the end");
    }
}
