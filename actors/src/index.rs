//! `IndexActor` owns the record store and is its only writer.
//!
//! Changes gather for up to a batch interval, are applied, flushed and fsynced together, and are answered then; an exclusion does not
//! wait for others. The store checks exclusions in the transaction of each write, so nothing late slips in. Invariant: an answer means
//! durable.

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::record::{PageRecord, StoredLink};
use tokio::sync::oneshot;

use crate::permits::PagePermit;
use crate::stats::NodeStats;
use crate::storage::{Applied, RecordStore, StoreChange, StoreError};
use crate::supervisor::{FatalFailure, NodeSupervisor};

/// Owns the record store.
pub struct IndexActor {
    store: Box<dyn RecordStore>,
    batch_interval: Duration,
    supervisor: Addr<NodeSupervisor>,
    stats: std::sync::Arc<NodeStats>,
    gathered: Vec<Pending>,
    flush_at: Option<SpawnHandle>,
    failed: bool,
}

struct Pending {
    change: StoreChange,
    permit: Option<PagePermit>,
    answer: oneshot::Sender<Applied>,
}

/// The store took nothing, because it failed; the node is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record store failed and the node is ending")]
pub struct StoreUnavailable;

/// Apply a change; answered when it is durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<Applied, StoreUnavailable>")]
pub struct ApplyChange(pub StoreChange);

/// Store a page; its permit ends when the record is durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<Applied, StoreUnavailable>")]
pub struct StorePage {
    /// The record.
    pub record: Box<PageRecord>,
    /// Its links, in page order.
    pub links: Vec<StoredLink>,
    /// Ends with it.
    pub permit: PagePermit,
}

type Reading<T> = Box<dyn FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send>;

/// Read the store.
pub struct ReadStore<T: Send + 'static> {
    read: Reading<T>,
    freshness: Freshness,
}

/// What a read sees of the changes that are still gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freshness {
    /// All of them; they are flushed first.
    Flushed,
    /// None of them.
    AsApplied,
}

impl<T: Send + 'static> ReadStore<T> {
    /// Sees every change sent before it; costs a flush.
    pub fn flushed(read: impl FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send + 'static) -> Self {
        Self { read: Box::new(read), freshness: Freshness::Flushed }
    }

    /// Sees what was answered before it; costs no flush.
    pub fn as_applied(read: impl FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send + 'static) -> Self {
        Self { read: Box::new(read), freshness: Freshness::AsApplied }
    }
}

impl<T: Send + 'static> Message for ReadStore<T> {
    type Result = Result<T, StoreUnavailable>;
}

/// Make everything durable and note that the ledger is reflected up to here; the last message before the end.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), StoreUnavailable>")]
pub struct CheckpointAt(pub u64);

#[derive(Message)]
#[rtype(result = "()")]
struct FlushNow;

impl IndexActor {
    /// Over an open store; `batch_interval` is the longest time a change waits for others.
    pub fn new(
        store: Box<dyn RecordStore>,
        batch_interval: Duration,
        supervisor: Addr<NodeSupervisor>,
        stats: std::sync::Arc<NodeStats>,
    ) -> Self {
        Self { store, batch_interval, supervisor, stats, gathered: Vec::new(), flush_at: None, failed: false }
    }

    fn gather(
        &mut self,
        change: StoreChange,
        permit: Option<PagePermit>,
        ctx: &mut Context<Self>,
    ) -> ResponseFuture<Result<Applied, StoreUnavailable>> {
        if self.failed {
            return Box::pin(std::future::ready(Err(StoreUnavailable)));
        }
        let at_once = matches!(change, StoreChange::Exclude { .. } | StoreChange::Include { .. });
        let (answer, answered) = oneshot::channel();
        self.gathered.push(Pending { change, permit, answer });
        if at_once {
            self.flush(ctx);
        } else if self.flush_at.is_none() {
            self.flush_at = Some(ctx.notify_later(FlushNow, self.batch_interval));
        }
        Box::pin(async move { answered.await.map_err(|_| StoreUnavailable) })
    }

    fn flush(&mut self, ctx: &mut Context<Self>) {
        if let Some(timer) = self.flush_at.take() {
            ctx.cancel_future(timer);
        }
        if let Err(error) = self.try_flush(self.store.ledger_seq()) {
            self.fail(&error);
        }
    }

    fn try_flush(&mut self, ledger_seq: u64) -> Result<(), StoreError> {
        let mut applied = Vec::with_capacity(self.gathered.len());
        for pending in self.gathered.drain(..) {
            let done = self.store.apply(pending.change)?;
            applied.push((done, pending.permit, pending.answer));
        }
        self.store.checkpoint(ledger_seq)?;
        for (done, permit, answer) in applied {
            if matches!(done, Applied::Saved(_)) {
                self.stats.num_pages_stored.add_one();
            }
            drop(permit);
            // Whoever asked may be gone; the change stands all the same.
            let _ = answer.send(done);
        }
        Ok(())
    }

    fn fail(&mut self, error: &StoreError) {
        self.failed = true;
        self.gathered.clear();
        self.supervisor.do_send(FatalFailure(error.to_string()));
    }
}

impl Actor for IndexActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(1024);
    }
}

impl Handler<ApplyChange> for IndexActor {
    type Result = ResponseFuture<Result<Applied, StoreUnavailable>>;

    fn handle(&mut self, ApplyChange(change): ApplyChange, ctx: &mut Self::Context) -> Self::Result {
        self.gather(change, None, ctx)
    }
}

impl Handler<StorePage> for IndexActor {
    type Result = ResponseFuture<Result<Applied, StoreUnavailable>>;

    fn handle(&mut self, StorePage { record, links, permit }: StorePage, ctx: &mut Self::Context) -> Self::Result {
        self.gather(StoreChange::SavePage { record, links }, Some(permit), ctx)
    }
}

impl<T: Send + 'static> Handler<ReadStore<T>> for IndexActor {
    type Result = Result<T, StoreUnavailable>;

    fn handle(&mut self, ReadStore { read, freshness }: ReadStore<T>, ctx: &mut Self::Context) -> Self::Result {
        if freshness == Freshness::Flushed && !self.gathered.is_empty() {
            self.flush(ctx);
        }
        if self.failed {
            return Err(StoreUnavailable);
        }
        read(&*self.store).map_err(|error| {
            self.fail(&error);
            StoreUnavailable
        })
    }
}

impl Handler<CheckpointAt> for IndexActor {
    type Result = Result<(), StoreUnavailable>;

    fn handle(&mut self, CheckpointAt(ledger_seq): CheckpointAt, _: &mut Self::Context) -> Self::Result {
        if self.failed {
            return Err(StoreUnavailable);
        }
        self.try_flush(ledger_seq).map_err(|error| {
            self.fail(&error);
            StoreUnavailable
        })
    }
}

impl Handler<FlushNow> for IndexActor {
    type Result = ();

    fn handle(&mut self, _: FlushNow, ctx: &mut Self::Context) {
        self.flush_at = None;
        self.flush(ctx);
    }
}
