//! `HostActor` carries one live site: it asks its [`HostState`] what to do, does it, and reports how it ended.
//!
//! The way of a request: name resolved, slot at its address, gate, permit, then the ticket made durable in the ledger, then the request;
//! each step is a spawned future that comes back as a message. The actor holds one timer. It decides nothing.
//!
//! Invariants: one step is under way at a time (`step`); the request leaves only after its ticket is durable; no request outlives its
//! actor; the stored row's account is the fold of the ledger up to `acked.1`, never ahead of it.

mod answers;
mod lending;
mod parts;
mod request;
mod retire;
mod sitemap;

use std::rc::Rc;
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::discovery::LinkDropCounts;
use lohisoftbot_core::ledger::{LedgerEvent, SiteAccount, SiteEvent, TicketNumber};
use lohisoftbot_core::politeness::{Arrival, FoundUrl, HostAction, HostState, RequestIntent, Seed, Ticket};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use tokio::sync::oneshot;

use self::request::{Prepared, RequestNumber, Underway};
use crate::frontier::{AddSeeds, FrontierActor};
use crate::index::{ApplyChange, IndexActor};
use crate::ledger::{LedgerActor, LedgerUnavailable, append_in_order};
use crate::permits::PagePermit;
use crate::storage::StoreChange;

pub use lending::LendRobots;
pub use parts::{ExtractorPool, HostAddresses, HostParts, HostPorts, IdentityOf, SiteIdentity};
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
    told_dropped_links: LinkDropCounts,
    borrowers: Vec<lending::Borrower>,
    num_preparations: RequestNumber,
}

/// What is under way.
enum Step {
    /// Nothing; a timer may run.
    Idle,
    /// Address, gate and permit are being had for this request.
    Preparing(RequestIntent, RequestNumber, #[allow(dead_code, reason = "held for its drop")] Underway),
    /// The ticket is on its way to the disk.
    Recording(Ticket, Prepared),
    /// The request is out.
    InFlight(Ticket, PagePermit, Underway),
    /// The request is being broken off; the senders wait to hear that no connection is open.
    Aborting(TicketNumber, Vec<oneshot::Sender<()>>),
    /// Another site asks for the robots.txt that this one's redirects to.
    Borrowing,
    /// The page or sitemap is being read.
    Extracting(TicketNumber, u16, Arrival),
    /// The site is being given up; seeds that come late are handed back.
    Retiring(Vec<Seed>),
}

#[derive(Message)]
#[rtype(result = "()")]
struct Wake;

#[derive(Message)]
#[rtype(result = "()")]
struct EventsRecorded {
    seq: u64,
    account: SiteAccount,
}

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
            told_dropped_links: LinkDropCounts::default(),
            borrowers: Vec::new(),
            num_preparations: 0,
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
            HostAction::BorrowRobots(origin) => self.borrow(origin, ctx),
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

    /// Sends the state's new events to the ledger. Their durability is noted when it comes; nobody waits for it here.
    fn flush_events(&mut self, ctx: &mut Context<Self>) {
        self.answer_borrowers();
        self.tell_dropped_links();
        for url in self.state.take_removals() {
            self.apply(StoreChange::RemovePage { url });
        }
        for renewed in self.state.take_renewals() {
            self.apply(StoreChange::RenewPage(renewed));
        }
        if !self.state.has_events() {
            return;
        }
        let (append, account) = self.append_events();
        let me = ctx.address();
        actix_rt::spawn(async move {
            if let Ok(seq) = append.await {
                me.do_send(EventsRecorded { seq, account });
            }
        });
    }

    /// Adds the links that the state left out since the last time to the node's count.
    fn tell_dropped_links(&mut self) {
        let dropped = *self.state.dropped_links();
        self.ports.stats.dropped_links.add(&dropped.since(&self.told_dropped_links));
        self.told_dropped_links = dropped;
    }

    /// Puts the state's new events on their way to the ledger; gives what waits for their durability, and the account after them.
    fn append_events(&mut self) -> (impl Future<Output = Result<u64, LedgerUnavailable>> + use<>, SiteAccount) {
        let events = self.state.take_events();
        let site = self.state.site().clone();
        self.ports.note_events(&site, &events);
        let to_entry = |(at, mut event)| {
            if let SiteEvent::Ticket { from, .. } = &mut event {
                *from = (self.parts.identity)(&site, self.state.account().cycle).source;
            }
            (at, LedgerEvent::Site { site: site.clone(), event })
        };
        let append = append_in_order(&self.ledger, events.into_iter().map(to_entry).collect());
        (append, self.state.account().clone())
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

impl Handler<EventsRecorded> for HostActor {
    type Result = ();

    fn handle(&mut self, EventsRecorded { seq, account }: EventsRecorded, _: &mut Self::Context) {
        if seq > self.acked.1 {
            self.acked = (account, seq);
        }
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
        // The operator was told that they are known: a death of this actor must not lose them.
        self.save_progress();
        self.proceed(ctx);
    }
}

impl Handler<InlinksFound> for HostActor {
    type Result = ();

    fn handle(&mut self, InlinksFound(urls): InlinksFound, _: &mut Self::Context) {
        if !matches!(self.step, Step::Retiring(_)) {
            let now = self.now();
            self.state.on_links(urls.into_iter().map(|url| FoundUrl { url, depth: 1, num_hops: 0 }), now);
            self.tell_dropped_links();
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
