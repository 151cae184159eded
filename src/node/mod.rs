//! A running node: opens ledger and store, starts the actors on their arbiters, and ends them in order.
//!
//! Start: what the configuration alone can refuse, then the control socket (a second node must touch nothing), then the ledger, then the store, then what the ledger knows
//! better is folded into the store; only then does anything crawl. End: host actors give their sites up, the last changes are durable, the
//! store's checkpoint names the ledger's end.

mod account;
pub mod assemble;
mod control_api;
mod dry_run;
mod event_json;
mod explain;
mod guard;
pub(crate) mod lost_ledger;
pub mod progress;
mod public;
pub mod run;
mod searching;
pub mod session;
mod streams;

use std::sync::Arc;

use actix::prelude::*;
use actix_rt::{Arbiter, ArbiterHandle};
use lohisoftbot_actors::address_gate::{AddressGateActor, GateDoor};
use lohisoftbot_actors::clock::AnchoredClock;
use lohisoftbot_actors::events::EventHub;
use lohisoftbot_actors::frontier::{FrontierActor, FrontierAddresses, StopAll};
use lohisoftbot_actors::host::HostPorts;
use lohisoftbot_actors::index::{CheckpointAt, IndexActor};
use lohisoftbot_actors::ledger::{LastSeq, LedgerActor};
use lohisoftbot_actors::permits::Permits;
use lohisoftbot_actors::ports::{Clock, LocalGate, NetworkFactory, WholePlacement};
use lohisoftbot_actors::search::{EndSearch, SearchActor, SearchIndexError};
use lohisoftbot_actors::stats::NodeStats;
use lohisoftbot_actors::storage::{EntryFilter, FAULT_ADVICE, RecordStore, catch_up};
use lohisoftbot_actors::supervisor::{EndSupervision, ExtractorFactory, NodeSupervisor, StartExtractors};
use lohisoftbot_core::config::Config;
use lohisoftbot_core::identity::{IdentityRefusal, IdentityStanding};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::check::holds_address;
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::{LedgerFiles, LedgerReader};
use crate::io::network::Network;
use crate::io::search_index::TantivyIndex;
use crate::io::sled_store::{SledStore, StoreOptions};
use guard::GuardedNetwork;

pub(crate) use account::{audit_ledger, finding_fields, gap_fields};
pub use control_api::NodeApi;

/// A node could not be started. Nothing was crawled.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The ledger does not open.
    #[error(transparent)]
    Ledger(#[from] lohisoftbot_actors::storage::LedgerError),
    /// The ledger is gone, or has lost its end.
    #[error(transparent)]
    LostLedger(#[from] lost_ledger::LostLedgerError),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] lohisoftbot_actors::storage::StoreError),
    /// The store does not open.
    #[error(transparent)]
    StoreOpen(#[from] crate::io::sled_store::StoreOpenError),
    /// The search index can neither be opened nor made.
    #[error(transparent)]
    Search(#[from] SearchIndexError),
    /// Ledger and store do not fit together.
    #[error(transparent)]
    CatchUp(#[from] lohisoftbot_actors::storage::CatchUpError),
    /// A root certificate cannot be read.
    #[error(transparent)]
    Tls(#[from] crate::io::tls::TlsSetupError),
    /// `network.resolve` cannot be used.
    #[error(transparent)]
    Resolve(#[from] crate::io::host_overrides::OverrideError),
    /// The node may crawl nothing at all.
    #[error(transparent)]
    Identity(#[from] IdentityRefusal),
    /// An actor ended before it answered.
    #[error("an actor ended while the node was starting: {FAULT_ADVICE}")]
    Actors,
}

/// What the configuration and the machine allow, found out without making or changing anything.
pub struct NodeSetup {
    standing: IdentityStanding,
    network: Network,
}

impl NodeSetup {
    /// Refuses a node that may crawl nothing, and a network that cannot be set up.
    pub fn new(config: &Config) -> Result<Self, StartError> {
        let standing = IdentityStanding::of(config, holds_address);
        if config.network.allow_ranges.is_empty() {
            standing.may_crawl_public()?;
        }
        Ok(Self { standing, network: assemble::network(config)? })
    }
}

/// A running node.
pub struct Node {
    pub(crate) frontier: Addr<FrontierActor>,
    pub(crate) index: Addr<IndexActor>,
    /// None where there is no search index.
    pub(crate) search: Option<Addr<SearchActor>>,
    pub(crate) ledger: Addr<LedgerActor>,
    pub(crate) ledger_reader: Arc<LedgerReader>,
    supervisor: Addr<NodeSupervisor>,
    pub(crate) gate: Arc<LocalGate>,
    pub(crate) stats: Arc<NodeStats>,
    pub(crate) clock: Arc<AnchoredClock>,
    pub(crate) events: EventHub,
    arbiters: Vec<Arbiter>,
    fatal: Option<oneshot::Receiver<String>>,
}

impl Node {
    /// Opens the data directory of `config` and starts to crawl what is due there.
    pub async fn start(config: &Config, NodeSetup { standing, network }: NodeSetup) -> Result<Self, StartError> {
        let clock = Arc::new(AnchoredClock::from_system());
        let dir = DataDir::new(&config.store.data_dir);
        lost_ledger::refuse(&dir)?;
        let (ledger_files, book, report) = LedgerFiles::open(&dir.ledger(), clock.now())?;
        if let Some(torn) = &report.torn_tail {
            tracing::warn!(path = %torn.path.display(), num_bytes = torn.num_bytes, "cut off what a crash left half-written");
        }
        let ledger_reader = Arc::new(LedgerReader::with_indexes(&dir.ledger()));
        let (mut store, opened) = SledStore::open(&dir, StoreOptions { cache_bytes: config.store.cache_bytes })?;
        if !opened.moved_snapshots.is_empty() || opened.num_unfinished_snapshots > 0 {
            tracing::warn!(?opened, "the store was left untidy by a crash; its log is whole");
        }
        let search_index = match config.search.enabled {
            true => Some(TantivyIndex::open(&dir.search(), &config.search)?),
            // What changes while there is no index is not followed: the next one is built anew.
            false => {
                store.forget_index()?;
                None
            }
        };
        bring_up(&mut store, &ledger_reader, book.last_seq)?;
        if let Err(refusal) = standing.may_crawl_public() {
            tracing::info!("only the opened ranges are crawled: {refusal}");
        }

        let stats = Arc::new(NodeStats::default());
        let (fatal_sender, fatal) = oneshot::channel();
        let supervisor = NodeSupervisor::new(stats.clone(), fatal_sender).start();
        let num_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut arbiters = Vec::new();
        let mut new_arbiter = || {
            let arbiter = Arbiter::new();
            let handle = arbiter.handle();
            arbiters.push(arbiter);
            handle
        };
        let events = EventHub::default();
        let exclusions = book.exclusions.clone();
        let (to_ledger, to_index) = (events.clone(), events.clone());
        let to_supervisor = supervisor.clone();
        let ledger = LedgerActor::start_in_arbiter(&new_arbiter(), move |_| {
            LedgerActor::new(Box::new(ledger_files), book, to_supervisor).with_events(to_ledger)
        });
        let (to_supervisor, to_stats, to_clock) = (supervisor.clone(), stats.clone(), clock.clone());
        let batch_interval = config.store.batch_interval;
        let index = IndexActor::start_in_arbiter(&new_arbiter(), move |_| {
            IndexActor::new(Box::new(store), batch_interval, to_supervisor, to_stats, to_clock).with_events(to_index)
        });
        let commit_interval = config.search.commit_interval;
        let search = search_index.map(|search_index| {
            let to_store = index.clone();
            SearchActor::start_in_arbiter(&new_arbiter(), move |_| {
                SearchActor::new(Box::new(search_index), to_store, commit_interval)
            })
        });
        let product_token: Arc<str> = config.identity.product.as_str().into();
        let extractor_arbiters = (0..num_cores).map(|_| new_arbiter()).collect();
        let factory = ExtractorFactory::new(extractor_arbiters, index.clone(), product_token);
        let started = supervisor.send(StartExtractors(factory)).await.map_err(|_| StartError::Actors)?;
        let extractors = started.map_err(|()| StartError::Actors)?;

        let gate = Arc::new(LocalGate::default());
        let permits = Permits::new(
            config.network.max_in_flight as usize,
            usize::try_from(config.network.max_in_flight_bytes).unwrap_or(usize::MAX),
            usize::try_from(config.network.max_body_bytes).unwrap_or(usize::MAX),
        );
        let address_rules = assemble::address_rules(config);
        let address_gate =
            GateDoor::new(AddressGateActor::new(address_rules, clock.clone(), supervisor.clone()).start());
        let network: Arc<dyn NetworkFactory> = Arc::new(GuardedNetwork::new(network, standing));
        let num_host_arbiters = match config.network.host_threads {
            0 => num_cores,
            wanted => wanted as usize,
        };
        let host_arbiters: Vec<ArbiterHandle> = (0..num_host_arbiters).map(|_| new_arbiter()).collect();
        for arbiter in &host_arbiters {
            let (network, gate, permits) = (network.clone(), gate.clone(), permits.clone());
            let (clock, extractors, stats) = (clock.clone(), extractors.clone(), stats.clone());
            let address_gate = address_gate.clone();
            arbiter.spawn_fn(move || {
                HostPorts {
                    fetcher: network.fetcher(),
                    resolver: network.resolver(),
                    address_gate: std::rc::Rc::new(address_gate),
                    fetch_gate: gate,
                    permits,
                    clock,
                    extractors,
                    stats,
                }
                .install();
            });
        }
        let addresses = FrontierAddresses {
            index: index.clone(),
            ledger: ledger.clone(),
            host_arbiters,
            clock: clock.clone(),
            placement: Arc::new(WholePlacement),
            stats: stats.clone(),
        };
        let frontier = FrontierActor::new(assemble::frontier_settings(config), addresses, exclusions);
        let frontier = frontier.with_events(events.clone()).start();
        Ok(Self {
            frontier,
            index,
            search,
            ledger,
            ledger_reader,
            supervisor,
            gate,
            stats,
            clock,
            events,
            arbiters,
            fatal: Some(fatal),
        })
    }

    /// The counters.
    pub fn stats(&self) -> Arc<NodeStats> {
        self.stats.clone()
    }

    /// The node's time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Resolves when the node cannot go on, with the reason.
    pub(crate) fn take_fatal(&mut self) -> Option<oneshot::Receiver<String>> {
        self.fatal.take()
    }

    /// Ends in order: sites are given up, everything is durable, the arbiters are gone.
    pub async fn stop(self) {
        // An actor that is gone has failed, and its failure was said where it happened.
        let _ = self.frontier.send(StopAll).await;
        if let Some(search) = &self.search {
            let _ = search.send(EndSearch).await;
        }
        if let Ok(last_seq) = self.ledger.send(LastSeq).await {
            let _ = self.index.send(CheckpointAt(last_seq)).await;
        }
        let _ = self.supervisor.send(EndSupervision).await;
        for arbiter in self.arbiters {
            arbiter.stop();
            if arbiter.join().is_err() {
                tracing::warn!("an arbiter's thread ended by a panic");
            }
        }
    }
}

/// Folds what the ledger knows better into the store.
fn bring_up(store: &mut SledStore, reader: &LedgerReader, last_seq: u64) -> Result<(), StartError> {
    let unseen = reader.stream(EntryFilter::since_checkpoint(store.ledger_seq()))?;
    let counts = catch_up(store, last_seq, unseen.entries())?;
    if counts.num_entries > 0 {
        tracing::info!(num_entries = counts.num_entries, num_sites = counts.num_sites, "caught up with the ledger");
    }
    store.checkpoint(last_seq)?;
    Ok(())
}
