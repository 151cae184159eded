//! `LedgerActor` owns the ledger: it numbers what happened, writes it, and answers when it is durable.
//!
//! Appends that come within [`GROUP_WINDOW`] share one fsync; since politeness waits seconds anyway, that costs no throughput. It does
//! not judge: what an event means is [`LedgerBook::apply`]'s business. Invariant: an append is answered after its fsync, in order.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{LedgerBook, LedgerEntry, LedgerEvent, SiteAccount};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::events::{EventHub, NodeEvent};
use crate::storage::{LedgerError, LedgerStore};
use crate::supervisor::{FatalFailure, NodeSupervisor};

/// Longest time an append waits for others to share its fsync.
pub const GROUP_WINDOW: Duration = Duration::from_millis(10);

/// Details of past requests are kept this long.
pub const DETAILS_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Owns the ledger.
pub struct LedgerActor {
    store: Box<dyn LedgerStore>,
    book: LedgerBook,
    supervisor: Addr<NodeSupervisor>,
    waiting: Vec<(u64, oneshot::Sender<u64>)>,
    durable_seq: u64,
    failed: bool,
    events: EventHub,
    /// Entries to tell once they are durable; none while nobody watches.
    untold: Vec<LedgerEntry>,
}

/// The ledger took nothing, because it failed; the node is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger failed and the node is ending")]
pub struct LedgerUnavailable;

/// Write events; answered with the number of the last one when all are durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<u64, LedgerUnavailable>")]
pub struct AppendEvents(pub Vec<(Timestamp, LedgerEvent)>);

/// Like [`AppendEvents`], with the answer's way in it.
#[derive(Message)]
#[rtype(result = "()")]
struct AppendInOrder {
    events: Vec<(Timestamp, LedgerEvent)>,
    durable: oneshot::Sender<u64>,
}

/// Sends events off at once, however full the ledger's mailbox is, so that those of one sender keep their order; what is given back is
/// the same as the answer to [`AppendEvents`]. Without any events it waits for all that was sent before.
pub(crate) fn append_in_order(
    ledger: &Addr<LedgerActor>,
    events: Vec<(Timestamp, LedgerEvent)>,
) -> impl Future<Output = Result<u64, LedgerUnavailable>> + Send + use<> {
    let (durable, is_durable) = oneshot::channel();
    ledger.do_send(AppendInOrder { events, durable });
    async move { is_durable.await.map_err(|_| LedgerUnavailable) }
}

/// The account of a site as the ledger knows it, with the number of the newest entry in it; answered when both are durable, so that a
/// row made of it is never ahead of the disk. None for a site that the ledger does not know, and when the ledger has failed.
#[derive(Debug, Message)]
#[rtype(result = "Option<(SiteAccount, u64)>")]
pub struct AccountOf(pub Site);

/// The exclusions in force, as the ledger knows them.
#[derive(Debug, Message)]
#[rtype(result = "Exclusions")]
pub struct ExclusionsInForce;

/// Number of the newest entry that is durable.
#[derive(Debug, Message)]
#[rtype(result = "u64")]
pub struct LastSeq;

#[derive(Message)]
#[rtype(result = "()")]
struct SyncNow;

impl LedgerActor {
    /// Over a ledger that was opened and folded into `book`.
    pub fn new(store: Box<dyn LedgerStore>, book: LedgerBook, supervisor: Addr<NodeSupervisor>) -> Self {
        let durable_seq = book.last_seq;
        let (events, untold) = (EventHub::default(), Vec::new());
        Self { store, book, supervisor, waiting: Vec::new(), durable_seq, failed: false, events, untold }
    }

    /// Tells `events` of each entry once it is durable.
    pub fn with_events(self, events: EventHub) -> Self {
        Self { events, ..self }
    }

    /// Writes events; a sender that is dropped instead of used says that the ledger has failed.
    fn append(
        &mut self,
        events: Vec<(Timestamp, LedgerEvent)>,
        durable: oneshot::Sender<u64>,
        ctx: &mut Context<Self>,
    ) {
        if self.failed {
            return;
        }
        let newest_at = events.iter().map(|(at, _)| *at).max().unwrap_or_default();
        match self.rotate_if_due(newest_at).and_then(|()| self.write(events)) {
            Ok(seq) => self.answer_when_durable(seq, durable, ctx),
            Err(error) => self.fail(&error),
        }
    }

    fn answer_when_durable(&mut self, seq: u64, durable: oneshot::Sender<u64>, ctx: &mut Context<Self>) {
        if self.failed {
            return;
        }
        if seq <= self.durable_seq {
            // A carrier that is gone needs no answer.
            let _ = durable.send(seq);
            return;
        }
        if self.waiting.is_empty() {
            ctx.notify_later(SyncNow, GROUP_WINDOW);
        }
        self.waiting.push((seq, durable));
    }

    fn write(&mut self, events: Vec<(Timestamp, LedgerEvent)>) -> Result<u64, LedgerError> {
        let mut entries = Vec::with_capacity(events.len());
        for (at, event) in events {
            let entry = LedgerEntry { seq: self.book.last_seq + 1, at, event };
            self.book.apply(&entry);
            entries.push(entry);
        }
        self.store.append(&entries)?;
        if self.events.is_watched() {
            self.untold.extend(entries);
        }
        Ok(self.book.last_seq)
    }

    fn rotate_if_due(&mut self, at: Timestamp) -> Result<(), LedgerError> {
        if !self.store.wants_rotation(at) {
            return Ok(());
        }
        let snapshot: Vec<LedgerEvent> = self.book.snapshot(at).collect();
        let num_kept = snapshot.len();
        // The lines of the snapshot repeat what is known, under the number of the newest entry: they take no numbers.
        self.store.rotate(at, &mut snapshot.into_iter())?;
        let kept_since = Timestamp::from_millis(at.as_millis().saturating_sub(DETAILS_KEPT.as_millis() as u64));
        let num_expired = self.store.expire(kept_since)?;
        tracing::info!(num_expired, num_kept, "ledger segment begun");
        Ok(())
    }

    fn fail(&mut self, error: &LedgerError) {
        self.failed = true;
        self.waiting.clear();
        self.untold.clear();
        self.supervisor.do_send(FatalFailure(error.to_string()));
    }
}

impl Actor for LedgerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(1024);
    }
}

impl Handler<AppendEvents> for LedgerActor {
    type Result = ResponseFuture<Result<u64, LedgerUnavailable>>;

    fn handle(&mut self, AppendEvents(events): AppendEvents, ctx: &mut Self::Context) -> Self::Result {
        let (durable, is_durable) = oneshot::channel();
        self.append(events, durable, ctx);
        Box::pin(async move { is_durable.await.map_err(|_| LedgerUnavailable) })
    }
}

impl Handler<AppendInOrder> for LedgerActor {
    type Result = ();

    fn handle(&mut self, AppendInOrder { events, durable }: AppendInOrder, ctx: &mut Self::Context) {
        self.append(events, durable, ctx);
    }
}

impl Handler<SyncNow> for LedgerActor {
    type Result = ();

    fn handle(&mut self, _: SyncNow, _: &mut Self::Context) {
        if self.failed {
            return;
        }
        match self.store.sync() {
            Ok(()) => {
                self.durable_seq = self.book.last_seq;
                for entry in self.untold.drain(..) {
                    self.events.tell(&NodeEvent::Recorded(Arc::new(entry)));
                }
                for (seq, durable) in self.waiting.drain(..) {
                    // A carrier that is gone needs no answer; its entries stand all the same.
                    let _ = durable.send(seq);
                }
            }
            Err(error) => self.fail(&error),
        }
    }
}

impl Handler<AccountOf> for LedgerActor {
    type Result = ResponseFuture<Option<(SiteAccount, u64)>>;

    fn handle(&mut self, AccountOf(site): AccountOf, ctx: &mut Self::Context) -> Self::Result {
        let Some(account) = self.book.accounts.get(&site).cloned() else { return Box::pin(std::future::ready(None)) };
        let (durable, is_durable) = oneshot::channel();
        self.answer_when_durable(self.book.last_seq, durable, ctx);
        Box::pin(async move { is_durable.await.ok().map(|seq| (account, seq)) })
    }
}

impl Handler<ExclusionsInForce> for LedgerActor {
    type Result = MessageResult<ExclusionsInForce>;

    fn handle(&mut self, _: ExclusionsInForce, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.book.exclusions.clone())
    }
}

impl Handler<LastSeq> for LedgerActor {
    type Result = u64;

    fn handle(&mut self, _: LastSeq, _: &mut Self::Context) -> u64 {
        self.durable_seq
    }
}
