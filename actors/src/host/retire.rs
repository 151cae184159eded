//! How a host actor saves its state, breaks off a request, and gives its site up.
//!
//! Retiring goes in this order: the last events are durable in the ledger, the row is durable in the store, the frontier knows; then the
//! actor stops. So a site never has two actors, and none is forgotten.

use actix::prelude::*;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{FinishReason, SiteAccount, WaitReason};
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;

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
struct LastEventsRecorded {
    seq: u64,
    account: SiteAccount,
    standing: SiteStanding,
    due_at: Timestamp,
}

/// Stop without more ado; without having retired, this is a death that the frontier hears of.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Stop;

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
        self.borrowers.clear();
        let me = ctx.address();
        // All that was sent before is durable when this is, so the row's account is the whole of it.
        let (append, account) = self.append_events();
        actix_rt::spawn(async move {
            match append.await {
                Ok(seq) => me.do_send(LastEventsRecorded { seq, account, standing, due_at }),
                // The ledger is gone and the node is ending: what is durable in it is what counts at the next start.
                Err(_) => me.do_send(Stop),
            }
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
            change_rate: self.state.change_rate(),
        };
        let stored_robots = || self.state.robots().iter().filter_map(OriginRobots::to_stored).collect();
        let robots = std::mem::take(&mut self.robots_changed).then(stored_robots);
        StoreChange::SaveSite { row: Box::new(row), frontier: Some(self.state.queue().to_stored()), robots }
    }

    fn open_host_is_excluded(&self, exclusions: &Exclusions) -> bool {
        self.state.open_host().is_some_and(|host| exclusions.covers_host(host))
    }
}

impl Handler<ExclusionsChanged> for HostActor {
    type Result = ResponseFuture<usize>;

    fn handle(&mut self, ExclusionsChanged(exclusions): ExclusionsChanged, ctx: &mut Self::Context) -> Self::Result {
        let closed = if self.open_host_is_excluded(&exclusions) { self.abort(ctx) } else { None };
        if matches!(&self.step, Step::Preparing(intent, ..) if exclusions.covers_host(intent.url.host())) {
            // It would not leave any more; so it gives up its turn at its address too.
            self.step = Step::Idle;
        }
        let num_urls = self.state.on_exclusions(exclusions);
        self.robots_changed = true;
        if matches!(self.step, Step::Borrowing) && self.state.borrows_from().is_none() {
            self.step = Step::Idle;
        }
        self.answer_borrowers();
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
        // A pause outlasts the end of the node, whichever comes first.
        if self.stop_as != Some(SiteStanding::Paused) {
            self.stop_as = Some(standing);
        }
        if let Step::Preparing(..) | Step::Borrowing = self.step {
            // What is being waited for (a gate, a permit, another site) may never come.
            self.step = Step::Idle;
        }
        if self.abort(ctx).is_none() {
            self.proceed(ctx);
        }
    }
}

impl Handler<LastEventsRecorded> for HostActor {
    type Result = ();

    fn handle(&mut self, last: LastEventsRecorded, ctx: &mut Self::Context) {
        let LastEventsRecorded { seq, account, standing, due_at } = last;
        self.acked = (account, seq);
        let change = self.save_site(standing, due_at);
        let (index, me) = (self.index.clone(), ctx.address());
        actix_rt::spawn(async move {
            match index.send(ApplyChange(change)).await {
                Ok(Ok(_)) => me.do_send(RowStored { standing, due_at }),
                // The store is gone and the node is ending; the ledger's account is what counts at the next start.
                Ok(Err(_)) | Err(_) => me.do_send(Stop),
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
            Step::Idle
            | Step::Preparing(..)
            | Step::Recording(..)
            | Step::InFlight(..)
            | Step::Aborting(..)
            | Step::Borrowing
            | Step::Extracting(..) => Vec::new(),
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
