//! How a host actor saves its state, breaks off a request, and gives its site up.
//!
//! Retiring goes in this order: the last events are durable in the ledger, the row is durable in the store, the frontier knows; then the
//! actor stops. So a site never has two actors, and none is forgotten.

use std::time::Duration;

use actix::prelude::*;
use futures_util::future::{Either, ready};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{FinishReason, SiteAccount, TicketNumber, WaitReason};
use lohisoftbot_core::politeness::{Arrival, OriginRobots};
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use super::{HostActor, Step};
use crate::frontier::Retired;
use crate::index::ApplyChange;
use crate::storage::StoreChange;

/// The exclusions that touch this site changed. Answered with the number of URLs that left the queue, once no request to an excluded
/// host is open.
#[derive(Debug, Message)]
#[rtype(result = "usize")]
pub struct ExclusionsChanged(pub Exclusions);

/// Give the site up soon: an open request is broken off, and the row is stored with this standing.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StopHost(pub SiteStanding);

#[derive(Message)]
#[rtype(result = "()")]
struct Aborted(TicketNumber);

#[derive(Message)]
#[rtype(result = "()")]
struct LastEventsRecorded {
    recorded: Option<(SiteAccount, u64)>,
    standing: SiteStanding,
    due_at: Timestamp,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

impl HostActor {
    pub(super) fn park(&mut self, until: Timestamp, reason: WaitReason, ctx: &mut Context<Self>) {
        self.ports.stats.num_sites_parked.add_one();
        tracing::debug!(site = %self.state.site(), %until, ?reason, "parked");
        self.retire(SiteStanding::Parked { reason }, until, ctx);
    }

    pub(super) fn finish(&mut self, reason: FinishReason, ctx: &mut Context<Self>) {
        self.ports.stats.num_sites_finished.add_one();
        tracing::debug!(site = %self.state.site(), ?reason, "cycle finished");
        let account = self.state.account();
        self.apply(StoreChange::FinishCycle { site: self.state.site().clone() });
        self.parts.last_cycle_finished_at = Some(self.now());
        self.retire(SiteStanding::Finished { reason }, account.next_cycle_at.max(account.not_before()), ctx);
    }

    /// Gives the site up in mid-cycle; it is due when its next request may be sent.
    pub(super) fn stop_early(&mut self, standing: SiteStanding, ctx: &mut Context<Self>) {
        let due_at = self.state.account().not_before().max(self.now());
        self.retire(standing, due_at, ctx);
    }

    fn retire(&mut self, standing: SiteStanding, due_at: Timestamp, ctx: &mut Context<Self>) {
        self.step = Step::Retiring(Vec::new());
        let me = ctx.address();
        let append = match self.pending_append() {
            None => Either::Left(ready(None)),
            Some((append, account)) => {
                Either::Right(async move { append.await.ok().and_then(Result::ok).map(|seq| (account, seq)) })
            }
        };
        actix_rt::spawn(async move {
            let recorded = append.await;
            me.do_send(LastEventsRecorded { recorded, standing, due_at });
        });
    }

    /// Stores how far the cycle has come, so that a crash costs little of it. Nobody waits for it.
    pub(super) fn save_progress(&mut self) {
        let due_at = self.now();
        let change = self.save_site(SiteStanding::Live, due_at);
        self.apply(change);
    }

    fn save_site(&mut self, standing: SiteStanding, due_at: Timestamp) -> StoreChange {
        let row = SiteRow {
            site: self.state.site().clone(),
            standing,
            due_at,
            first_seen_at: self.parts.first_seen_at,
            seeds: self.state.seeds().to_vec(),
            account: self.acked.0.clone(),
            account_seq: self.acked.1,
            num_pages: 0,
            last_cycle_finished_at: self.parts.last_cycle_finished_at,
        };
        let stored_robots = || self.state.robots().iter().filter_map(OriginRobots::to_stored).collect();
        let robots = std::mem::take(&mut self.robots_changed).then(stored_robots);
        StoreChange::SaveSite { row: Box::new(row), frontier: Some(self.state.queue().to_stored()), robots }
    }

    /// The ticket was recorded but its request did not leave, or was broken off.
    pub(super) fn abandon(&mut self, ticket: TicketNumber, ctx: &mut Context<Self>) {
        let arrival = Arrival { at: self.now(), took: Duration::ZERO, wire_bytes: 0, chance: 0.0 };
        self.state.on_abandoned(ticket, arrival);
        self.settle(ctx);
    }

    /// Breaks the open request off; gives a receiver that hears when its connection is closed. `None` where no request is out.
    fn abort(&mut self, ctx: &mut Context<Self>) -> Option<oneshot::Receiver<()>> {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::InFlight(ticket, permit, task) => {
                let (closed, is_closed) = oneshot::channel();
                self.step = Step::Aborting(ticket.number, Some(closed));
                let me = ctx.address();
                task.abort();
                actix_rt::spawn(async move {
                    // Either way the task is gone now, and its connection with it.
                    let _ = task.await;
                    drop(permit);
                    me.do_send(Aborted(ticket.number));
                });
                Some(is_closed)
            }
            other => {
                self.step = other;
                None
            }
        }
    }

    fn open_host_is_excluded(&self, exclusions: &Exclusions) -> bool {
        self.state.open_host().is_some_and(|host| exclusions.covers_host(host))
    }
}

impl Handler<Aborted> for HostActor {
    type Result = ();

    fn handle(&mut self, Aborted(ticket): Aborted, ctx: &mut Self::Context) {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Aborting(number, mut closed) if number == ticket => {
                if let Some(closed) = closed.take() {
                    // Whoever waited may be gone.
                    let _ = closed.send(());
                }
                self.abandon(ticket, ctx);
            }
            other => self.step = other,
        }
    }
}

impl Handler<ExclusionsChanged> for HostActor {
    type Result = ResponseFuture<usize>;

    fn handle(&mut self, ExclusionsChanged(exclusions): ExclusionsChanged, ctx: &mut Self::Context) -> Self::Result {
        let closed = if self.open_host_is_excluded(&exclusions) { self.abort(ctx) } else { None };
        let num_urls = self.state.on_exclusions(exclusions);
        self.robots_changed = true;
        if closed.is_none() {
            self.proceed(ctx);
        }
        Box::pin(async move {
            if let Some(closed) = closed {
                // An error means that the actor is gone, and its request with it.
                let _ = closed.await;
            }
            num_urls
        })
    }
}

impl Handler<StopHost> for HostActor {
    type Result = ();

    fn handle(&mut self, StopHost(standing): StopHost, ctx: &mut Self::Context) {
        self.stop_as = Some(standing);
        if self.abort(ctx).is_none() {
            self.proceed(ctx);
        }
    }
}

impl Handler<LastEventsRecorded> for HostActor {
    type Result = ();

    fn handle(&mut self, last: LastEventsRecorded, ctx: &mut Self::Context) {
        let LastEventsRecorded { recorded, standing, due_at } = last;
        if let Some((account, seq)) = recorded {
            self.acked = (account, seq);
        }
        let change = self.save_site(standing, due_at);
        let (index, me) = (self.index.clone(), ctx.address());
        actix_rt::spawn(async move {
            // Without an answer the store is gone and the node is ending; then the ledger's account is what counts at the next start.
            if let Ok(Ok(_)) = index.send(ApplyChange(change)).await {
                me.do_send(RowStored { standing, due_at });
            }
        });
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct RowStored {
    standing: SiteStanding,
    due_at: Timestamp,
}

impl Handler<RowStored> for HostActor {
    type Result = ();

    fn handle(&mut self, RowStored { standing, due_at }: RowStored, ctx: &mut Self::Context) {
        let late_seeds = match &mut self.step {
            Step::Retiring(late) => std::mem::take(late),
            _ => Vec::new(),
        };
        self.has_retired = true;
        let (site, generation) = (self.state.site().clone(), self.parts.generation);
        let (frontier, me) = (self.frontier.clone(), ctx.address());
        actix_rt::spawn(async move {
            // Without an answer the frontier is gone, and this actor is of no more use either.
            let _ = frontier.send(Retired { site, generation, standing, due_at, late_seeds }).await;
            me.do_send(Stop);
        });
    }
}

impl Handler<Stop> for HostActor {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        ctx.stop();
    }
}
