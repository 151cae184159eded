//! `LedgerActor` owns the ledger: it numbers what happened, writes it, and answers when it is durable.
//!
//! Appends that come within [`GROUP_WINDOW`] share one fsync; since politeness waits seconds anyway, that costs no throughput. It does
//! not judge: what an event means is [`LedgerBook::apply`]'s business. Invariant: an append is answered after its fsync, in order.

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{LedgerBook, LedgerEntry, LedgerEvent, SiteAccount};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

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
    failed: bool,
}

/// The ledger took nothing, because it failed; the node is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger failed and the node is ending")]
pub struct LedgerUnavailable;

/// Write events; answered with the number of the last one when all are durable.
#[derive(Debug, Message)]
#[rtype(result = "Result<u64, LedgerUnavailable>")]
pub struct AppendEvents(pub Vec<(Timestamp, LedgerEvent)>);

/// The account of a site as the ledger knows it, with the number of the newest entry in it.
#[derive(Debug, Message)]
#[rtype(result = "Option<(SiteAccount, u64)>")]
pub struct AccountOf(pub Site);

/// The exclusions in force, as the ledger knows them.
#[derive(Debug, Message)]
#[rtype(result = "Exclusions")]
pub struct ExclusionsInForce;

/// Number of the newest entry.
#[derive(Debug, Message)]
#[rtype(result = "u64")]
pub struct LastSeq;

#[derive(Message)]
#[rtype(result = "()")]
struct SyncNow;

impl LedgerActor {
    /// Over a ledger that was opened and folded into `book`.
    pub fn new(store: Box<dyn LedgerStore>, book: LedgerBook, supervisor: Addr<NodeSupervisor>) -> Self {
        Self { store, book, supervisor, waiting: Vec::new(), failed: false }
    }

    fn write(&mut self, events: Vec<(Timestamp, LedgerEvent)>) -> Result<u64, LedgerError> {
        let mut entries = Vec::with_capacity(events.len());
        for (at, event) in events {
            let entry = LedgerEntry { seq: self.book.last_seq + 1, at, event };
            self.book.apply(&entry);
            entries.push(entry);
        }
        self.store.append(&entries)?;
        Ok(self.book.last_seq)
    }

    fn rotate_if_due(&mut self, at: Timestamp) -> Result<(), LedgerError> {
        if !self.store.wants_rotation(at) {
            return Ok(());
        }
        let snapshot: Vec<LedgerEvent> = self.book.snapshot(at).collect();
        self.store.rotate(at, &mut snapshot.into_iter())?;

        let kept_since = Timestamp::from_millis(at.as_millis().saturating_sub(DETAILS_KEPT.as_millis() as u64));
        let num_expired = self.store.expire(kept_since)?;
        tracing::info!(num_expired, "ledger segment begun");
        Ok(())
    }

    fn fail(&mut self, error: &LedgerError) {
        self.failed = true;
        self.waiting.clear();
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
        let newest_at = events.iter().map(|(at, _)| *at).max().unwrap_or_default();
        let written = if self.failed {
            None
        } else {
            let written = self.rotate_if_due(newest_at).and_then(|()| self.write(events));
            written.map_err(|error| self.fail(&error)).ok()
        };
        let Some(seq) = written else { return Box::pin(std::future::ready(Err(LedgerUnavailable))) };
        let (durable, is_durable) = oneshot::channel();
        if self.waiting.is_empty() {
            ctx.notify_later(SyncNow, GROUP_WINDOW);
        }
        self.waiting.push((seq, durable));
        Box::pin(async move { is_durable.await.map_err(|_| LedgerUnavailable) })
    }
}

impl Handler<SyncNow> for LedgerActor {
    type Result = ();

    fn handle(&mut self, _: SyncNow, _: &mut Self::Context) {
        match self.store.sync() {
            Ok(()) => {
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
    type Result = Option<(SiteAccount, u64)>;

    fn handle(&mut self, AccountOf(site): AccountOf, _: &mut Self::Context) -> Self::Result {
        self.book.accounts.get(&site).map(|account| (account.clone(), self.book.last_seq))
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
        self.book.last_seq
    }
}
