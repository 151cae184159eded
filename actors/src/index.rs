//! `IndexActor` owns the record store and is its only writer.
//!
//! A change is applied when it comes, so that whoever reads next sees it; answers gather for up to a batch interval, until
//! all of the batch was flushed and fsynced together. An exclusion does not wait for others. The store checks exclusions in
//! the transaction of each write, so nothing late slips in.
//!
//! Invariant: the answer to a change means durable; `TakeFromStore` alone does not ask for that.
//!
//! Pages whose time has passed are removed without anyone asking for it: see `expiry`.

mod expiry;

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::record::{PageRecord, StoredLink};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use tokio::sync::oneshot;

use crate::events::{EventHub, NodeEvent, Removal};
use crate::permits::PagePermit;
use crate::ports::Clock;
use crate::stats::NodeStats;
use crate::storage::{Applied, RecordStore, StoreChange, StoreError};
use crate::supervisor::{FatalFailure, NodeSupervisor};

/// Owns the record store.
pub struct IndexActor {
    store: Box<dyn RecordStore>,
    batch_interval: Duration,
    supervisor: Addr<NodeSupervisor>,
    stats: Arc<NodeStats>,
    clock: Arc<dyn Clock>,
    gathered: Vec<Pending>,
    flush_at: Option<SpawnHandle>,
    expiry: expiry::Alarm,
    failed: bool,
    events: EventHub,
}

/// A change that is applied but not durable yet.
struct Pending {
    permit: Option<PagePermit>,
    answer: Box<dyn FnOnce()>,
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

/// Read the store.
pub struct ReadStore<T: Send + 'static> {
    read: Read<T>,
    durability: Durability,
}

/// What a read may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// Only what is on the disk; all changes are flushed first.
    Flushed,
    /// What is applied, on the disk or not.
    AsApplied,
}

type Read<T> = Box<dyn FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send>;
type Write<T> = Box<dyn FnOnce(&mut dyn RecordStore) -> Result<T, StoreError> + Send>;

/// Read rows and change them in one go: no other change comes between. The answer's way is in it.
#[derive(Message)]
#[rtype(result = "()")]
struct WriteStore<T: Send + 'static> {
    write: Write<T>,
    answer: oneshot::Sender<T>,
}

/// Like [`WriteStore`], answered at once: for changes that a crash may take back.
#[derive(Message)]
#[rtype(result = "Result<T, StoreUnavailable>")]
pub(crate) struct TakeFromStore<T: Send + 'static>(pub(crate) Write<T>);

/// Sends a change off at once, however full the store's mailbox is: whatever the caller sends later comes after it. What is given back
/// ends when the change is durable.
pub(crate) fn write_store<T: Send + 'static>(
    index: &Addr<IndexActor>,
    write: impl FnOnce(&mut dyn RecordStore) -> Result<T, StoreError> + Send + 'static,
) -> impl Future<Output = Result<T, StoreUnavailable>> + Send + 'static {
    let (answer, answered) = oneshot::channel();
    index.do_send(WriteStore { write: Box::new(write), answer });
    async move { answered.await.map_err(|_| StoreUnavailable) }
}

impl<T: Send + 'static> ReadStore<T> {
    /// Sees every change sent before it, and only what is durable; costs a flush.
    pub fn flushed(read: impl FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send + 'static) -> Self {
        Self { read: Box::new(read), durability: Durability::Flushed }
    }

    /// Sees every change sent before it, durable or not; costs no flush.
    pub fn as_applied(read: impl FnOnce(&dyn RecordStore) -> Result<T, StoreError> + Send + 'static) -> Self {
        Self { read: Box::new(read), durability: Durability::AsApplied }
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

/// Whether a change waits for others to share its flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgency {
    AtOnce,
    WithOthers,
}

impl IndexActor {
    /// Over an open store; `batch_interval` is the longest time a change waits for others.
    pub fn new(
        store: Box<dyn RecordStore>,
        batch_interval: Duration,
        supervisor: Addr<NodeSupervisor>,
        stats: Arc<NodeStats>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            batch_interval,
            supervisor,
            stats,
            clock,
            gathered: Vec::new(),
            flush_at: None,
            expiry: expiry::Alarm::default(),
            failed: false,
            events: EventHub::default(),
        }
    }

    /// Tells `events` of each record that came or went, once that is durable.
    pub fn with_events(self, events: EventHub) -> Self {
        Self { events, ..self }
    }

    /// Applies a change; what is given back ends when it is durable.
    fn change(
        &mut self,
        change: StoreChange,
        permit: Option<PagePermit>,
        ctx: &mut Context<Self>,
    ) -> ResponseFuture<Result<Applied, StoreUnavailable>> {
        let urgency = match &change {
            StoreChange::Exclude { .. } | StoreChange::Include { .. } => Urgency::AtOnce,
            StoreChange::SavePage { .. }
            | StoreChange::RenewPage(_)
            | StoreChange::RemovePage { .. }
            | StoreChange::SaveSite { .. }
            | StoreChange::FinishCycle { .. } => Urgency::WithOthers,
        };
        let expires_at = match &change {
            StoreChange::SavePage { record, .. } => record.unavailable_after,
            StoreChange::RenewPage(renewed) => renewed.renewal.unavailable_after(),
            StoreChange::RemovePage { .. }
            | StoreChange::SaveSite { .. }
            | StoreChange::FinishCycle { .. }
            | StoreChange::Exclude { .. }
            | StoreChange::Include { .. } => None,
        };
        // Kept for whoever watches now, so that it costs nothing where nobody does.
        let subject = match &change {
            StoreChange::SavePage { record, .. } => self.events.is_watched().then(|| record.url.clone()),
            StoreChange::RemovePage { url } => self.events.is_watched().then(|| url.clone()),
            StoreChange::RenewPage { .. }
            | StoreChange::SaveSite { .. }
            | StoreChange::FinishCycle { .. }
            | StoreChange::Exclude { .. }
            | StoreChange::Include { .. } => None,
        };
        let (answer, answered) = oneshot::channel();
        if let Some(done) = self.run(|store| store.apply(change)) {
            if let Some(at) = expires_at {
                self.note_expiry(at, ctx);
            }
            let (stats, events, clock) = (self.stats.clone(), self.events.clone(), self.clock.clone());
            let answer = Box::new(move || {
                if matches!(done, Applied::Saved(_)) {
                    stats.num_pages_stored.add_one();
                }
                if let Some(url) = subject {
                    tell_of_page(&events, url, &done, clock.now());
                }
                // Whoever asked may be gone; the change stands all the same.
                let _ = answer.send(done);
            });
            self.gather(Pending { permit, answer }, urgency, ctx);
        }
        Box::pin(async move { answered.await.map_err(|_| StoreUnavailable) })
    }

    /// Runs `work` on the store; none if the store has failed, now or before.
    fn run<T>(&mut self, work: impl FnOnce(&mut dyn RecordStore) -> Result<T, StoreError>) -> Option<T> {
        if self.failed {
            return None;
        }
        work(&mut *self.store).map_err(|error| self.fail(&error)).ok()
    }

    fn gather(&mut self, pending: Pending, urgency: Urgency, ctx: &mut Context<Self>) {
        self.gathered.push(pending);
        match urgency {
            Urgency::AtOnce => self.flush(ctx),
            Urgency::WithOthers if self.flush_at.is_none() => {
                self.flush_at = Some(ctx.notify_later(FlushNow, self.batch_interval));
            }
            Urgency::WithOthers => {}
        }
    }

    fn flush(&mut self, ctx: &mut Context<Self>) {
        if let Some(timer) = self.flush_at.take() {
            ctx.cancel_future(timer);
        }
        self.checkpoint(self.store.ledger_seq());
    }

    /// Makes everything durable and answers; none if the store has failed.
    fn checkpoint(&mut self, ledger_seq: u64) -> Option<()> {
        self.run(|store| store.checkpoint(ledger_seq))?;
        for Pending { permit, answer } in self.gathered.drain(..) {
            drop(permit);
            answer();
        }
        Some(())
    }

    fn fail(&mut self, error: &StoreError) {
        self.failed = true;
        self.gathered.clear();
        self.supervisor.do_send(FatalFailure(error.to_string()));
    }
}

/// What the change of a page, now durable, comes to for whoever watches.
fn tell_of_page(events: &EventHub, url: PageUrl, done: &Applied, at: Timestamp) {
    match done {
        Applied::Saved(counts) => {
            events.tell(&NodeEvent::PageStored { url, at });
            if let Some(url) = counts.evicted.clone() {
                events.tell(&NodeEvent::PageRemoved { url, why: Removal::MadeRoom, at });
            }
        }
        // A renewal and what is not about one page tell of none.
        Applied::Done => events.tell(&NodeEvent::PageRemoved { url, why: Removal::Withdrawn, at }),
        Applied::Absent
        | Applied::RefusedExcluded { .. }
        | Applied::RefusedFull
        | Applied::Finished(_)
        | Applied::Excluded(_) => {}
    }
}

impl Actor for IndexActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(1024);
        self.give_up_expired(ctx);
    }
}

impl Handler<ApplyChange> for IndexActor {
    type Result = ResponseFuture<Result<Applied, StoreUnavailable>>;

    fn handle(&mut self, ApplyChange(change): ApplyChange, ctx: &mut Self::Context) -> Self::Result {
        self.change(change, None, ctx)
    }
}

impl Handler<StorePage> for IndexActor {
    type Result = ResponseFuture<Result<Applied, StoreUnavailable>>;

    fn handle(&mut self, StorePage { record, links, permit }: StorePage, ctx: &mut Self::Context) -> Self::Result {
        self.change(StoreChange::SavePage { record, links }, Some(permit), ctx)
    }
}

impl<T: Send + 'static> Handler<WriteStore<T>> for IndexActor {
    type Result = ();

    fn handle(&mut self, WriteStore { write, answer }: WriteStore<T>, ctx: &mut Self::Context) {
        if let Some(done) = self.run(write) {
            let answer = Box::new(move || {
                // Whoever asked may be gone; the change stands all the same.
                let _ = answer.send(done);
            });
            self.gather(Pending { permit: None, answer }, Urgency::WithOthers, ctx);
        }
    }
}

impl<T: Send + 'static> Handler<TakeFromStore<T>> for IndexActor {
    type Result = Result<T, StoreUnavailable>;

    fn handle(&mut self, TakeFromStore(write): TakeFromStore<T>, ctx: &mut Self::Context) -> Self::Result {
        let done = self.run(write).ok_or(StoreUnavailable)?;
        self.gather(Pending { permit: None, answer: Box::new(|| {}) }, Urgency::WithOthers, ctx);
        Ok(done)
    }
}

impl<T: Send + 'static> Handler<ReadStore<T>> for IndexActor {
    type Result = Result<T, StoreUnavailable>;

    fn handle(&mut self, ReadStore { read, durability }: ReadStore<T>, ctx: &mut Self::Context) -> Self::Result {
        if durability == Durability::Flushed && !self.gathered.is_empty() {
            self.flush(ctx);
        }
        self.run(|store| read(store)).ok_or(StoreUnavailable)
    }
}

impl Handler<CheckpointAt> for IndexActor {
    type Result = Result<(), StoreUnavailable>;

    fn handle(&mut self, CheckpointAt(ledger_seq): CheckpointAt, ctx: &mut Self::Context) -> Self::Result {
        self.end_expiry(ctx);
        self.checkpoint(ledger_seq).ok_or(StoreUnavailable)
    }
}

impl Handler<FlushNow> for IndexActor {
    type Result = ();

    fn handle(&mut self, _: FlushNow, ctx: &mut Self::Context) {
        self.flush_at = None;
        self.flush(ctx);
    }
}
