//! The way of a request: prepared, its ticket made durable, sent, and broken off if need be.
//!
//! Each step runs beside the actor and comes back as a message, a panic of a port included, so that no step waits for ever.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use actix::prelude::*;
use futures_util::FutureExt;
use lohisoftbot_core::ledger::{RequestKind, TicketNumber};
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::outcome::{FetchFailure, ResolveFailure};
use lohisoftbot_core::politeness::{Arrival, RequestIntent, Ticket};
use lohisoftbot_core::record::StoredCopy;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::retire::Stop;
use super::{EventsRecorded, HostActor, HostPorts, Step};
use crate::index::{IndexActor, ReadStore};
use crate::permits::PagePermit;
use crate::ports::{AddressSlot, FetchOrder, FetchReport, VettedAddress};

/// A request that had to wait for longer than this, behind others at its address or during a pause, looks its name up once more.
const MAX_ADDRESS_AGE: Duration = Duration::from_secs(60);

/// All that a request needs before its ticket.
pub(super) struct Prepared {
    address: VettedAddress,
    slot: AddressSlot,
    permit: PagePermit,
    /// What the store holds of the page.
    copy: Option<StoredCopy>,
}

/// A step that runs beside the actor; broken off when it is dropped, so that none outlives its actor.
pub(super) struct Underway(JoinHandle<()>);

#[derive(Message)]
#[rtype(result = "()")]
struct Ready(RequestNumber, Result<Prepared, ResolveFailure>);

/// Tells one preparation of an actor from the next, so that what comes late of one is not taken for another's.
pub(super) type RequestNumber = u64;

#[derive(Message)]
#[rtype(result = "()")]
struct TicketRecorded(TicketNumber);

#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Fetched(pub(super) TicketNumber, pub(super) FetchReport);

#[derive(Message)]
#[rtype(result = "()")]
struct Aborted(TicketNumber);

impl Underway {
    /// Runs `work` and sends what it gives to `host`, or `if_lost` where it panics.
    fn run<M>(host: Addr<HostActor>, work: impl Future<Output = M> + 'static, if_lost: M) -> Self
    where
        M: Message<Result = ()> + Send + 'static,
        HostActor: Handler<M>,
    {
        Self(actix_rt::spawn(async move {
            let message = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
                tracing::error!("a port panicked; the request counts as failed");
                if_lost
            });
            host.do_send(message);
        }))
    }

    /// Breaks it off; the future ends when nothing of it is left.
    async fn broken_off(mut self) {
        self.0.abort();
        // Either way the task is gone then, and its connection with it.
        let _ = (&mut self.0).await;
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl HostActor {
    pub(super) fn prepare(&mut self, intent: RequestIntent, ctx: &mut Context<Self>) {
        let (origin, kind) = (intent.url.origin(), intent.kind);
        let ports = self.ports.clone();
        let stored = self.state.may_have_copy(&intent).then(|| (self.index.clone(), intent.url.clone()));
        self.num_preparations += 1;
        let number = self.num_preparations;
        let work = async move {
            let mut prepared = prepared(&ports, &origin, kind).await;
            // Last of all, so that no validator is sent of a record that went while its page waited for its turn.
            if let (Ok(prepared), Some((index, url))) = (&mut prepared, stored) {
                prepared.copy = stored_copy(&index, url, ports.clock.now()).await;
            }
            Ready(number, prepared)
        };
        let underway = Underway::run(ctx.address(), work, Ready(number, Err(ResolveFailure::NameServers)));
        self.step = Step::Preparing(intent, number, underway);
    }

    fn record_ticket(&mut self, ticket: Ticket, prepared: Prepared, ctx: &mut Context<Self>) {
        let number = ticket.number;
        let (append, account) = self.append_events();
        let me = ctx.address();
        self.step = Step::Recording(ticket, prepared);
        actix_rt::spawn(async move {
            match append.await {
                Ok(seq) => {
                    me.do_send(EventsRecorded { seq, account });
                    me.do_send(TicketRecorded(number));
                }
                // The ledger is gone, and with it the leave to send anything.
                Err(_) => me.do_send(Stop),
            }
        });
    }

    fn send(&mut self, ticket: Ticket, prepared: Prepared, ctx: &mut Context<Self>) {
        let identity = (self.parts.identity)(self.state.site(), self.state.account().cycle);
        let Prepared { address, slot, permit, copy } = prepared;
        let order = FetchOrder {
            url: ticket.intent.url.clone(),
            kind: ticket.intent.kind,
            address,
            source: identity.source,
            user_agent: identity.user_agent,
            condition: copy.and_then(|copy| copy.condition),
            slot,
        };
        match ticket.intent.kind {
            RequestKind::Robots => self.ports.stats.num_robots_requests.add_one(),
            RequestKind::Page => self.ports.stats.num_page_requests.add_one(),
            RequestKind::Sitemap => {
                self.ports.stats.num_page_requests.add_one();
                self.ports.stats.num_sitemap_requests.add_one();
            }
        }
        tracing::trace!(url = %order.url, ticket = ticket.number, "request");
        let (number, ports) = (ticket.number, self.ports.clone());
        let work = async move {
            let report = ports.fetcher.fetch(order).await;
            Fetched(number, report)
        };
        let lost = FetchReport { result: Err(FetchFailure::Reset), wire_bytes: 0, took: Duration::ZERO };
        let underway = Underway::run(ctx.address(), work, Fetched(number, lost));
        self.step = Step::InFlight(ticket, permit, underway);
    }

    /// The ticket was recorded but its request did not leave, or was broken off.
    fn abandon(&mut self, ticket: TicketNumber, ctx: &mut Context<Self>) {
        let arrival = Arrival { at: self.now(), took: Duration::ZERO, wire_bytes: 0, chance: 0.0 };
        self.state.on_abandoned(ticket, arrival);
        self.settle(ctx);
    }

    /// Breaks the open request off; gives a receiver that hears when its connection is closed. `None` where no request is out.
    pub(super) fn abort(&mut self, ctx: &mut Context<Self>) -> Option<oneshot::Receiver<()>> {
        let (closed, is_closed) = oneshot::channel();
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::InFlight(ticket, permit, underway) => {
                self.step = Step::Aborting(ticket.number, vec![closed]);
                let me = ctx.address();
                actix_rt::spawn(async move {
                    underway.broken_off().await;
                    drop(permit);
                    me.do_send(Aborted(ticket.number));
                });
                Some(is_closed)
            }
            Step::Aborting(ticket, mut waiting) => {
                waiting.push(closed);
                self.step = Step::Aborting(ticket, waiting);
                Some(is_closed)
            }
            other => {
                self.step = other;
                None
            }
        }
    }
}

impl Handler<Ready> for HostActor {
    type Result = ();

    fn handle(&mut self, Ready(number, ready): Ready, ctx: &mut Self::Context) {
        let intent = match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Preparing(intent, underway, _) if underway == number => intent,
            // The preparation was broken off when its end was on the way already.
            other => return self.step = other,
        };
        let now = self.now();
        match ready {
            Ok(prepared) => match self.state.open_ticket(intent, now) {
                Some(ticket) => {
                    self.state.on_stored_copy(ticket.number, prepared.copy.clone());
                    self.record_ticket(ticket, prepared, ctx);
                }
                None => self.proceed(ctx),
            },
            Err(failure) => {
                note_unresolved(intent.url.host(), &failure);
                let arrival = Arrival { at: now, took: Duration::ZERO, wire_bytes: 0, chance: self.rng.f64() };
                self.state.on_unresolved(&intent.url, &failure, arrival);
                self.settle(ctx);
            }
        }
    }
}

impl Handler<TicketRecorded> for HostActor {
    type Result = ();

    fn handle(&mut self, TicketRecorded(number): TicketRecorded, ctx: &mut Self::Context) {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Recording(ticket, prepared) if ticket.number == number => {
                if self.stop_as.is_none() && self.state.on_ticket_durable(number) {
                    self.send(ticket, prepared, ctx);
                } else {
                    self.abandon(number, ctx);
                }
            }
            other => self.step = other,
        }
    }
}

impl Handler<Aborted> for HostActor {
    type Result = ();

    fn handle(&mut self, Aborted(ticket): Aborted, ctx: &mut Self::Context) {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Aborting(number, waiting) if number == ticket => {
                for closed in waiting {
                    // Whoever waited may be gone.
                    let _ = closed.send(());
                }
                self.abandon(ticket, ctx);
            }
            other => self.step = other,
        }
    }
}

/// All that a request needs before its ticket: address, slot there, permit, in this order, so that no permit waits for a slot.
async fn prepared(ports: &HostPorts, origin: &Origin, kind: RequestKind) -> Result<Prepared, ResolveFailure> {
    loop {
        // Before the look-up, so that no address grows as old as a pause.
        ports.fetch_gate.pass().await;
        let address = ports.resolver.resolve(origin.host(), origin.port()).await?;
        let looked_up_at = ports.clock.now();
        let slot = ports.address_gate.slot(address).await;
        ports.fetch_gate.pass().await;
        let permit = ports.permits.acquire(kind).await;
        let is_old = ports.clock.now().since(looked_up_at) > MAX_ADDRESS_AGE;
        if is_old && ports.resolver.resolve(origin.host(), origin.port()).await? != address {
            continue;
        }
        return Ok(Prepared { address, slot, permit, copy: None });
    }
}

/// What the store holds of a page now. Without an answer the store is gone and the node is ending: then the page is asked plainly.
async fn stored_copy(index: &Addr<IndexActor>, url: PageUrl, now: Timestamp) -> Option<StoredCopy> {
    let record = index.send(ReadStore::as_applied(move |store| store.page(&url))).await.ok()?.ok()??;
    Some(StoredCopy::of(&record, now))
}

/// A refused address is for the operator to see: it may be the node's own configuration that refuses it. Missing names are the web's.
fn note_unresolved(host: &str, failure: &ResolveFailure) {
    match failure {
        ResolveFailure::AddressRefused(why) => {
            tracing::warn!(host, why, "address refused; nothing of this host is asked")
        }
        ResolveFailure::NoSuchName | ResolveFailure::NameServers => tracing::debug!(host, ?failure, "no address"),
    }
}
