//! `NodeSupervisor` holds the factory of the extractors, replaces one that died, and ends the node in order when it cannot go on.
//!
//! A host actor that died is the frontier's to replace, since only the frontier knows its generation. A ledger or store that failed is
//! nobody's to replace: their files may be damaged, and a person must look; so the node ends. Invariant: a fatal failure is said once.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use actix_rt::ArbiterHandle;
use tokio::sync::oneshot;

use crate::extractor::ExtractorActor;
use crate::host::ExtractorPool;
use crate::index::IndexActor;
use crate::stats::NodeStats;

/// A dead extractor is replaced after this; doubled for each further death, up to a minute.
const FIRST_RESTART_DELAY: Duration = Duration::from_millis(500);
const LONGEST_RESTART_DELAY: Duration = Duration::from_secs(60);

/// Replaces what died; ends the node when it cannot go on.
pub struct NodeSupervisor {
    stats: Arc<NodeStats>,
    extractors: Option<ExtractorFactory>,
    fatal: Option<oneshot::Sender<String>>,
}

/// How extractors are made.
pub struct ExtractorFactory {
    /// One arbiter each.
    pub arbiters: Vec<ArbiterHandle>,
    /// Where records go.
    pub index: Addr<IndexActor>,
    /// For directives.
    pub product_token: Arc<str>,
    /// Filled by the supervisor, used by host actors.
    pub pool: Option<ExtractorPool>,
    num_deaths: u32,
}

/// The node cannot go on; the text says why and what to do.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct FatalFailure(pub String);

/// Start the extractors; answered with the pool.
#[derive(Message)]
#[rtype(result = "Result<ExtractorPool, ()>")]
pub struct StartExtractors(pub ExtractorFactory);

/// An extractor is gone.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct ExtractorDied {
    /// Its place in the pool.
    pub place: usize,
}

/// The node ends: give the extractors up, and replace none that dies.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct EndSupervision;

#[derive(Message)]
#[rtype(result = "()")]
struct ReplaceExtractor(usize);

impl ExtractorFactory {
    /// For `arbiters.len()` extractors.
    pub fn new(arbiters: Vec<ArbiterHandle>, index: Addr<IndexActor>, product_token: Arc<str>) -> Self {
        Self { arbiters, index, product_token, pool: None, num_deaths: 0 }
    }

    fn start(&self, place: usize, stats: Arc<NodeStats>, supervisor: Addr<NodeSupervisor>) -> Addr<ExtractorActor> {
        let (index, product_token) = (self.index.clone(), self.product_token.clone());
        ExtractorActor::start_in_arbiter(&self.arbiters[place], move |_| {
            ExtractorActor::new(index, product_token, stats, DeathNotice { place, supervisor })
        })
    }
}

impl NodeSupervisor {
    /// With the sender that ends the node.
    pub fn new(stats: Arc<NodeStats>, fatal: oneshot::Sender<String>) -> Self {
        Self { stats, extractors: None, fatal: Some(fatal) }
    }
}

/// Tells the supervisor when the actor that holds it is gone.
pub struct DeathNotice {
    place: usize,
    supervisor: Addr<NodeSupervisor>,
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        self.supervisor.do_send(ExtractorDied { place: self.place });
    }
}

impl Actor for NodeSupervisor {
    type Context = Context<Self>;
}

impl Handler<StartExtractors> for NodeSupervisor {
    type Result = Result<ExtractorPool, ()>;

    fn handle(&mut self, StartExtractors(mut factory): StartExtractors, ctx: &mut Self::Context) -> Self::Result {
        let start = |place| factory.start(place, self.stats.clone(), ctx.address());
        let pool = ExtractorPool::new((0..factory.arbiters.len()).map(start).collect());
        factory.pool = Some(pool.clone());
        self.extractors = Some(factory);
        Ok(pool)
    }
}

impl Handler<ExtractorDied> for NodeSupervisor {
    type Result = ();

    fn handle(&mut self, ExtractorDied { place }: ExtractorDied, ctx: &mut Self::Context) {
        let Some(factory) = &mut self.extractors else { return };
        let delay = FIRST_RESTART_DELAY.saturating_mul(1 << factory.num_deaths.min(16)).min(LONGEST_RESTART_DELAY);
        factory.num_deaths += 1;
        tracing::warn!(place, delay_ms = delay.as_millis() as u64, "an extractor died and is replaced");
        ctx.notify_later(ReplaceExtractor(place), delay);
    }
}

impl Handler<ReplaceExtractor> for NodeSupervisor {
    type Result = ();

    fn handle(&mut self, ReplaceExtractor(place): ReplaceExtractor, ctx: &mut Self::Context) {
        let Some(factory) = &self.extractors else { return };
        let extractor = factory.start(place, self.stats.clone(), ctx.address());
        if let Some(pool) = &factory.pool {
            pool.replace(place, extractor);
        }
        self.stats.num_actor_restarts.add_one();
    }
}

impl Handler<EndSupervision> for NodeSupervisor {
    type Result = ();

    fn handle(&mut self, _: EndSupervision, _: &mut Self::Context) {
        // With the pool emptied, the extractors end after the pages that wait for them.
        if let Some(pool) = self.extractors.take().and_then(|factory| factory.pool) {
            pool.close();
        }
    }
}

impl Handler<FatalFailure> for NodeSupervisor {
    type Result = ();

    fn handle(&mut self, FatalFailure(why): FatalFailure, _: &mut Self::Context) {
        if let Some(fatal) = self.fatal.take() {
            tracing::error!(why, "the node cannot go on and ends");
            // The receiver is the node's main task; if it is gone, the node is ending already.
            let _ = fatal.send(why);
        }
    }
}
