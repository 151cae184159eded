//! `HostActor` carries one live site: it asks its [`HostState`] what to do, does it, and reports how it ended.
//!
//! The way of a request: name resolved, slot at its address, gate, permit, then the ticket made durable in the ledger, then the request;
//! each step is a spawned future that comes back as a message. The actor holds one timer. It decides nothing.
//!
//! Invariants: one step is under way at a time (`step`); the request leaves only after its ticket is durable; the stored row's account
//! is the fold of the ledger up to `acked.1`, never ahead of it.

mod parts;
mod retire;

use std::rc::Rc;
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::ledger::{LedgerEvent, RequestKind, SiteAccount, TicketNumber};
use lohisoftbot_core::outcome::{self, Answer, ResolveFailure};
use lohisoftbot_core::politeness::{
    Arrival, FoundUrl, HostAction, HostState, PageEnd, RequestIntent, RobotsEnd, Seed, Ticket,
};
use lohisoftbot_core::robots::status::BodyEnd;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::extractor::{ExtractPage, ExtractorActor, PageExtracted};
use crate::frontier::{AddSeeds, FrontierActor, LinksFound};
use crate::index::{ApplyChange, IndexActor};
use crate::ledger::{AppendEvents, LedgerActor};
use crate::permits::PagePermit;
use crate::ports::{AddressSlot, FetchOrder, FetchReport, VettedAddress};
use crate::storage::StoreChange;

pub use parts::{ExtractorPool, HostAddresses, HostParts, HostPorts, SiteIdentity};
pub use retire::{ExclusionsChanged, StopHost};

/// One live site.
pub struct HostActor {
    state: HostState,
    parts: HostParts,
    ports: Rc<HostPorts>,
    ledger: Addr<LedgerActor>,
    index: Addr<IndexActor>,
    frontier: Addr<FrontierActor>,
    rng: fastrand::Rng,
    acked: (SiteAccount, u64),
    step: Step,
    timer: Option<SpawnHandle>,
    stop_as: Option<SiteStanding>,
    robots_changed: bool,
    has_retired: bool,
}

/// What is under way.
enum Step {
    /// Nothing; a timer may run.
    Idle,
    /// Address, gate and permit are being had for this request.
    Preparing(RequestIntent),
    /// The ticket is on its way to the disk.
    Recording(Ticket, Prepared),
    /// The request is out.
    InFlight(Ticket, PagePermit, JoinHandle<()>),
    /// The request is being broken off; the sender waits to hear that no connection is open.
    Aborting(TicketNumber, Option<oneshot::Sender<()>>),
    /// The page is being read.
    Extracting(TicketNumber, u16, Arrival),
    /// The site is being given up; seeds that come late are handed back.
    Retiring(Vec<Seed>),
}

/// All that a request needs before its ticket.
struct Prepared {
    address: VettedAddress,
    slot: AddressSlot,
    permit: PagePermit,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Wake;

#[derive(Message)]
#[rtype(result = "()")]
struct Ready(Result<Prepared, ResolveFailure>);

#[derive(Message)]
#[rtype(result = "()")]
struct TicketRecorded(TicketNumber);

#[derive(Message)]
#[rtype(result = "()")]
struct EventsRecorded {
    seq: u64,
    account: SiteAccount,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Fetched(TicketNumber, FetchReport);

/// Seeds for this site.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct SeedsAdded(pub Vec<Seed>);

/// Links from other sites to this one.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct InlinksFound(pub Vec<PageUrl>);

/// A copy of the state, to look at.
#[derive(Debug, Message)]
#[rtype(result = "Option<Box<HostState>>")]
pub struct DescribeState;

impl HostActor {
    /// Ready to be started on the arbiter whose ports these are.
    pub fn new(state: HostState, parts: HostParts, ports: Rc<HostPorts>, addresses: HostAddresses) -> Self {
        let HostAddresses { ledger, index, frontier } = addresses;
        let acked = (parts.account.clone(), parts.account_seq);
        let rng = fastrand::Rng::with_seed(parts.random_seed);
        Self {
            state,
            parts,
            ports,
            ledger,
            index,
            frontier,
            rng,
            acked,
            step: Step::Idle,
            timer: None,
            stop_as: None,
            robots_changed: true,
            has_retired: false,
        }
    }

    fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }

    /// Asks the state what to do, and does it.
    fn proceed(&mut self, ctx: &mut Context<Self>) {
        if !matches!(self.step, Step::Idle) {
            return;
        }
        if let Some(standing) = self.stop_as {
            return self.stop_early(standing, ctx);
        }
        let now = self.now();
        let action = self.state.next_action(now);
        self.flush_events(ctx);
        match action {
            HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => self.prepare(intent, ctx),
            HostAction::WaitUntil(until) => self.wake_in(until.since(now), ctx),
            HostAction::Park { until, reason } => self.park(until, reason, ctx),
            HostAction::Finish(reason) => self.finish(reason, ctx),
            HostAction::AwaitOutcome => {}
        }
    }

    fn wake_in(&mut self, span: Duration, ctx: &mut Context<Self>) {
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        self.timer = Some(ctx.notify_later(Wake, span));
    }

    fn prepare(&mut self, intent: RequestIntent, ctx: &mut Context<Self>) {
        let origin = intent.url.origin();
        let (ports, me) = (self.ports.clone(), ctx.address());
        self.step = Step::Preparing(intent);
        actix_rt::spawn(async move {
            let ready = match ports.resolver.resolve(origin.host(), origin.port()).await {
                Err(failure) => Err(failure),
                Ok(address) => {
                    let slot = ports.address_gate.slot(address).await;
                    ports.fetch_gate.pass().await;
                    Ok(Prepared { address, slot, permit: ports.permits.acquire().await })
                }
            };
            me.do_send(Ready(ready));
        });
    }

    /// Sends the state's new events to the ledger. Their durability is noted when it comes; nobody waits for it here.
    fn flush_events(&mut self, ctx: &mut Context<Self>) {
        let Some((append, account)) = self.pending_append() else { return };
        let me = ctx.address();
        actix_rt::spawn(async move {
            if let Ok(Ok(seq)) = append.await {
                me.do_send(EventsRecorded { seq, account });
            }
        });
    }

    /// The state's new events as a request to the ledger, and the account after them.
    fn pending_append(&mut self) -> Option<(Request<LedgerActor, AppendEvents>, SiteAccount)> {
        let events = self.state.take_events();
        if events.is_empty() {
            return None;
        }
        let site = self.state.site().clone();
        self.ports.note_events(&site, &events);
        let to_entry = |(at, event)| (at, LedgerEvent::Site { site: site.clone(), event });
        let append = self.ledger.send(AppendEvents(events.into_iter().map(to_entry).collect()));
        Some((append, self.state.account().clone()))
    }

    fn record_ticket(&mut self, ticket: Ticket, prepared: Prepared, ctx: &mut Context<Self>) {
        let number = ticket.number;
        let Some((append, account)) = self.pending_append() else { return };
        let me = ctx.address();
        self.step = Step::Recording(ticket, prepared);
        actix_rt::spawn(async move {
            // Without an answer the ledger is gone, and with it the leave to send anything.
            if let Ok(Ok(seq)) = append.await {
                me.do_send(EventsRecorded { seq, account });
                me.do_send(TicketRecorded(number));
            }
        });
    }

    fn send(&mut self, ticket: Ticket, prepared: Prepared, ctx: &mut Context<Self>) {
        let order = FetchOrder {
            url: ticket.intent.url.clone(),
            kind: ticket.intent.kind,
            address: prepared.address,
            source: self.parts.identity.source,
            user_agent: self.parts.identity.user_agent.clone(),
            etag: None,
            last_modified: None,
        };
        match ticket.intent.kind {
            RequestKind::Robots => self.ports.stats.num_robots_requests.add_one(),
            RequestKind::Page => self.ports.stats.num_page_requests.add_one(),
        }
        tracing::trace!(url = %order.url, ticket = ticket.number, "request");
        let (fetch, me, number) = (self.ports.fetcher.fetch(order), ctx.address(), ticket.number);
        let Prepared { slot, permit, .. } = prepared;
        let task = actix_rt::spawn(async move {
            let report = fetch.await;
            drop(slot);
            me.do_send(Fetched(number, report));
        });
        self.step = Step::InFlight(ticket, permit, task);
    }

    fn arrival(&mut self, report: &FetchReport) -> Arrival {
        self.ports.stats.num_wire_bytes.add(report.wire_bytes);
        Arrival { at: self.now(), took: report.took, wire_bytes: report.wire_bytes, chance: self.rng.f64() }
    }

    fn on_robots_report(&mut self, ticket: &Ticket, report: &FetchReport) {
        let arrival = self.arrival(report);
        let end = match &report.result {
            Ok(response) => RobotsEnd::Answered {
                head: &response.head,
                body: &response.body,
                body_end: if response.cut { BodyEnd::Cut } else { BodyEnd::Whole },
            },
            Err(failure) => RobotsEnd::Failed(*failure),
        };
        self.state.on_robots(ticket.number, end, arrival);
        self.robots_changed = true;
    }

    fn on_page_report(&mut self, ticket: &Ticket, report: FetchReport, permit: PagePermit, ctx: &mut Context<Self>) {
        let arrival = self.arrival(&report);
        let url = ticket.intent.url.clone();
        let response = match report.result {
            Err(failure) => {
                self.ports.stats.num_failures.add_one();
                return self.state.on_outcome(ticket.number, PageEnd::Failed(failure), arrival);
            }
            Ok(response) => response,
        };
        let status = response.head.status;
        match outcome::classify(&response.head, &url, arrival.at) {
            Answer::Html => {
                self.step = Step::Extracting(ticket.number, status, arrival);
                let page = ExtractPage {
                    ticket: ticket.number,
                    url,
                    head: response.head,
                    body: response.body,
                    cut: response.cut,
                    cycle: self.state.account().cycle,
                    fetched_at: arrival.at,
                    permit,
                    reply_to: ctx.address(),
                };
                self.extractor().do_send(page);
            }
            answer => {
                self.note_answer(&answer, &url);
                self.state.on_outcome(ticket.number, PageEnd::Answered { status, answer }, arrival);
            }
        }
    }

    fn note_answer(&mut self, answer: &Answer, url: &PageUrl) {
        match answer {
            Answer::Barrier { .. } => self.ports.stats.num_barriers.add_one(),
            Answer::Gone => self.apply(StoreChange::RemovePage { url: url.clone() }),
            Answer::Redirect { target: outcome::RedirectTarget::To(target), .. }
                if target.site() != *self.state.site() =>
            {
                self.frontier.do_send(LinksFound(vec![target.clone()]));
            }
            _ => {}
        }
    }

    /// The extractor of this site: the same one for all its pages.
    fn extractor(&self) -> Addr<ExtractorActor> {
        self.ports.extractors.for_site(self.state.site())
    }

    /// A change that nobody waits for; if the store fails, the node ends.
    fn apply(&self, change: StoreChange) {
        self.index.do_send(ApplyChange(change));
    }

    /// After a request has ended: note it, save the state, go on.
    fn settle(&mut self, ctx: &mut Context<Self>) {
        self.step = Step::Idle;
        self.flush_events(ctx);
        self.save_progress();
        self.proceed(ctx);
    }
}

impl Actor for HostActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.flush_events(ctx);
        self.proceed(ctx);
    }
}

impl Handler<Wake> for HostActor {
    type Result = ();

    fn handle(&mut self, _: Wake, ctx: &mut Self::Context) {
        self.timer = None;
        self.proceed(ctx);
    }
}

impl Handler<Ready> for HostActor {
    type Result = ();

    fn handle(&mut self, Ready(ready): Ready, ctx: &mut Self::Context) {
        let Step::Preparing(intent) = std::mem::replace(&mut self.step, Step::Idle) else { return };
        let now = self.now();
        match ready {
            Ok(prepared) => match self.state.open_ticket(intent, now) {
                Some(ticket) => self.record_ticket(ticket, prepared, ctx),
                None => self.proceed(ctx),
            },
            Err(failure) => {
                tracing::debug!(site = %self.state.site(), ?failure, "no address");
                let arrival = Arrival { at: now, took: Duration::ZERO, wire_bytes: 0, chance: self.rng.f64() };
                self.state.on_unresolved(&intent.url, &failure, arrival);
                self.settle(ctx);
            }
        }
    }
}

impl Handler<EventsRecorded> for HostActor {
    type Result = ();

    fn handle(&mut self, EventsRecorded { seq, account }: EventsRecorded, _: &mut Self::Context) {
        if seq > self.acked.1 {
            self.acked = (account, seq);
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

impl Handler<Fetched> for HostActor {
    type Result = ();

    fn handle(&mut self, Fetched(number, report): Fetched, ctx: &mut Self::Context) {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::InFlight(ticket, permit, _) if ticket.number == number => {
                match ticket.intent.kind {
                    RequestKind::Robots => self.on_robots_report(&ticket, &report),
                    RequestKind::Page => self.on_page_report(&ticket, report, permit, ctx),
                }
                if matches!(self.step, Step::Idle) {
                    self.settle(ctx);
                }
            }
            other => self.step = other,
        }
    }
}

impl Handler<PageExtracted> for HostActor {
    type Result = ();

    fn handle(&mut self, PageExtracted { ticket, stored, links }: PageExtracted, ctx: &mut Self::Context) {
        let Step::Extracting(number, status, arrival) = self.step else { return };
        if number != ticket {
            return;
        }
        let depth = self.state.open_depth().saturating_add(1);
        let (own, others): (Vec<_>, Vec<_>) =
            links.into_iter().map(|link| link.0).partition(|url| self.state.site().contains_host(url.host()));
        self.state.on_links(own.into_iter().map(|url| FoundUrl { url, depth, num_hops: 0 }));
        self.state.on_outcome(ticket, PageEnd::Page { status, stored }, arrival);
        if !others.is_empty() {
            self.frontier.do_send(LinksFound(others));
        }
        self.settle(ctx);
    }
}

impl Handler<SeedsAdded> for HostActor {
    type Result = ();

    fn handle(&mut self, SeedsAdded(seeds): SeedsAdded, ctx: &mut Self::Context) {
        if self.has_retired {
            return self.frontier.do_send(AddSeeds(seeds));
        }
        if let Step::Retiring(late) = &mut self.step {
            late.extend(seeds);
            return;
        }
        for seed in seeds {
            self.state.add_seed(seed);
        }
        self.proceed(ctx);
    }
}

impl Handler<InlinksFound> for HostActor {
    type Result = ();

    fn handle(&mut self, InlinksFound(urls): InlinksFound, _: &mut Self::Context) {
        if !matches!(self.step, Step::Retiring(_)) {
            self.state.on_links(urls.into_iter().map(|url| FoundUrl { url, depth: 1, num_hops: 0 }));
        }
    }
}

impl Handler<DescribeState> for HostActor {
    type Result = Option<Box<HostState>>;

    fn handle(&mut self, _: DescribeState, _: &mut Self::Context) -> Self::Result {
        Some(Box::new(self.state.clone()))
    }
}

/// Tells the frontier when the actor goes without having retired: it died in a handler.
impl Drop for HostActor {
    fn drop(&mut self) {
        if !self.has_retired {
            let (site, generation) = (self.state.site().clone(), self.parts.generation);
            self.frontier.do_send(crate::frontier::HostGone { site, generation });
        }
    }
}
