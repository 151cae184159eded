//! Plays the host actor of one site: does what the state machine says, most of the time at the right moment.
//!
//! Every step takes the new events, folds them into an account of its own and compares; and asks the watcher about every request.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use lohisoftbot_core::barrier::BarrierKind;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{FinishReason, RequestKind, SiteAccount, SiteEvent, TicketNumber};
use lohisoftbot_core::origin::{Origin, Scheme};
use lohisoftbot_core::outcome::{self, Answer};
use lohisoftbot_core::page_choice::{LinkedPage, PageLinks};
use lohisoftbot_core::politeness::{
    Arrival, HostAction, HostState, PageEnd, RequestIntent, RobotsEnd, Seed, SeedScheme, SiteRules, SitemapEnd,
    StoredAs, Ticket,
};
use lohisoftbot_core::record::{ContentMark, Renewal};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::checker::{Checker, Promises, Watched};
use crate::crash::Snapshot;
use crate::ledger::AuditedLedger;
use crate::records::{MOST_RECORDS, Shelf};
use crate::replies::{PageSaid, SitemapReply};
use crate::rng::Rng;
use crate::rules::random_rules;
use crate::server::{Server, Temper};
use crate::trace;

const START: Timestamp = Timestamp::from_secs(1_800_000_000);
/// No wait is longer: 30 days of Retry-After, and what a delay adds.
const LONGEST_WAIT: Duration = Duration::from_secs(33 * 86_400);
/// Steps at one moment that bring nothing: a loop without end.
const MOST_IDLE_STEPS: u32 = 200;

/// What the carrier is at.
#[derive(Clone, Debug)]
pub enum Stage {
    Idle,
    Preparing(RequestIntent),
    /// Since when, too.
    Recording(Ticket, Timestamp),
    InFlight(Ticket),
    /// Another site is asked for its robots.txt.
    Borrowing(Origin),
}

/// One site, its carrier and its watcher.
pub struct Carrier {
    pub rng: Rng,
    pub now: Timestamp,
    pub server: Server,
    pub checker: Checker,
    pub ledger: AuditedLedger,
    pub state: HostState,
    pub rules: Arc<SiteRules>,
    pub exclusions: Exclusions,
    pub excluded: Vec<String>,
    pub stage: Stage,
    /// The fold of all events, durable or not.
    pub account: SiteAccount,
    /// The fold of the durable ones, and how many they are.
    pub durable: SiteAccount,
    pub num_durable: u64,
    pub pending: VecDeque<(Timestamp, SiteEvent)>,
    pub snapshots: VecDeque<Snapshot>,
    pub first_seed: Seed,
    /// Origins whose robots.txt other sites wait for.
    pub wanted: Vec<Origin>,
    num_idle_steps: u32,
    num_unsent_tickets: u32,
    pub num_crashes: u64,
    pub num_cycles: u64,
    pub num_recrawls: u64,
    /// What the store has of the site.
    pub shelf: Shelf,
    last_step_at: Timestamp,
}

impl Carrier {
    pub fn new(number: u64, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let server = Server::new(number, &mut rng);
        let rules = Arc::new(random_rules(&mut rng, server.temper));
        let checker = Checker::new(Promises {
            site: server.site.clone(),
            min_delay: rules.min_delay,
            budget: rules.budget.page_requests().into(),
            shortest_interval: rules.min_recrawl_interval.min(rules.recrawl_interval),
            longest_interval: rules.max_recrawl_interval.max(rules.recrawl_interval),
        });
        let ledger = AuditedLedger::new(server.site.clone(), &rules);
        let guessed = server.temper == Temper::Moody && rng.once_in(3);
        let scheme = if guessed { SeedScheme::Guessed } else { SeedScheme::Written };
        let first_seed = Seed { url: server.home().clone(), scheme };
        let state = HostState::new(server.site.clone(), rules.clone(), Exclusions::default());
        let mut carrier = Self {
            rng,
            now: START,
            server,
            checker,
            ledger,
            state,
            rules,
            exclusions: Exclusions::default(),
            excluded: Vec::new(),
            stage: Stage::Idle,
            account: SiteAccount::default(),
            durable: SiteAccount::default(),
            num_durable: 0,
            pending: VecDeque::new(),
            snapshots: VecDeque::new(),
            first_seed: first_seed.clone(),
            wanted: Vec::new(),
            num_idle_steps: 0,
            num_unsent_tickets: 0,
            num_crashes: 0,
            num_cycles: 0,
            num_recrawls: 0,
            shelf: Shelf::default(),
            last_step_at: START,
        };
        carrier.add_seed(first_seed);
        carrier
    }

    /// One event of the run.
    pub fn step(&mut self) -> Watched {
        if !self.mishap()? {
            match self.stage.clone() {
                Stage::Idle => self.ask_what_to_do()?,
                Stage::Preparing(intent) => self.prepared(intent)?,
                Stage::Recording(ticket, given_at) => self.recorded(ticket, given_at)?,
                Stage::InFlight(ticket) => self.answered(&ticket)?,
                Stage::Borrowing(origin) => self.borrowed(&origin),
            }
        }
        self.take_events()?;
        self.take_lent()?;
        self.ledger.check()?;
        // Beside stored pages that the queue had lost.
        if self.state.queue().entries().len() > self.rules.max_queued_urls + MOST_RECORDS {
            return Err(format!("the queue holds {} URLs", self.state.queue().entries().len()));
        }
        self.num_idle_steps = if self.now > self.last_step_at { 0 } else { self.num_idle_steps + 1 };
        self.last_step_at = self.now;
        if self.num_idle_steps > MOST_IDLE_STEPS {
            return Err(format!("{MOST_IDLE_STEPS} steps at one moment lead nowhere"));
        }
        Ok(())
    }

    pub fn add_seed(&mut self, seed: Seed) {
        trace::note(|| format!("{} seed {} ({:?})", self.now, seed.url, seed.scheme));
        if seed.scheme == SeedScheme::Guessed && seed.url.origin().scheme() == Scheme::Https {
            self.checker.guess(seed.url.origin());
        }
        self.state.add_seed(seed);
    }

    /// Folds the new events, and says how many there were.
    pub fn take_events(&mut self) -> Watched {
        for url in self.state.take_removals() {
            self.shelf.remove(&url);
        }
        let events = self.state.take_events();
        self.checker.wrote(events.len() as u64);
        for (at, event) in events {
            trace::note(|| format!("{at}   {event:?}"));
            self.account.apply(at, &event);
            match &event {
                SiteEvent::CycleOpened { cycle, next_cycle_at } => {
                    self.num_cycles += 1;
                    self.checker.cycle_begins(*cycle, at, *next_cycle_at)?;
                }
                SiteEvent::CycleClosed { reason: FinishReason::QueueEmpty } => self.check_no_cycle_is_skipped()?,
                _ => {}
            }
            self.pending.push_back((at, event));
        }
        if self.account != *self.state.account() {
            return Err(format!("the events make {:?}, the account is {:?}", self.account, self.state.account()));
        }
        if self.rng.once_in(6) {
            let num = self.rng.place(self.pending.len() + 1);
            self.make_durable(num);
        }
        Ok(())
    }

    /// The next `num` events reach the disk.
    pub fn make_durable(&mut self, num: usize) {
        for (at, event) in self.pending.drain(..num) {
            self.durable.apply(at, &event);
            self.num_durable += 1;
            self.ledger.read(at, event);
        }
        self.checker.durable(self.num_durable);
    }

    fn ask_what_to_do(&mut self) -> Watched {
        let action = self.state.next_action(self.now);
        trace::note(|| format!("{} {action:?}", self.now));
        self.check_wakeup(&action)?;
        match action {
            HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => self.prepare(intent),
            HostAction::WaitUntil(until) => self.sleep(Some(until)),
            HostAction::Park { until, .. } => {
                self.nobody_is_left_waiting()?;
                self.sleep(Some(until))
            }
            HostAction::BorrowRobots(origin) => {
                self.stage = Stage::Borrowing(origin);
                Ok(())
            }
            HostAction::Finish(reason) => {
                self.nobody_is_left_waiting()?;
                self.check_harvest(reason)?;
                if self.rng.once_in(4) && self.recrawl()? {
                    return Ok(());
                }
                self.sleep(self.state.next_wakeup())
            }
            HostAction::AwaitOutcome => Err("an outcome is awaited, but nothing was asked".to_owned()),
        }
    }

    /// What the state machine says and when it wants to be woken belong together.
    fn check_wakeup(&self, action: &HostAction) -> Watched {
        let wakeup = self.state.next_wakeup();
        let fits = match action {
            HostAction::FetchRobots(_) | HostAction::Fetch(_) => wakeup.is_some_and(|at| at <= self.now),
            HostAction::WaitUntil(until) => {
                wakeup == Some(*until) && *until > self.now && until.since(self.now) <= self.rules.park_after
            }
            HostAction::Park { until, .. } => {
                let span = until.since(self.now);
                wakeup == Some(*until) && span > self.rules.park_after && span < LONGEST_WAIT
            }
            HostAction::Finish(FinishReason::Excluded) => wakeup.is_none_or(|at| at > self.now),
            // At once, where the cycle took longer than the interval.
            HostAction::Finish(_) => {
                wakeup.is_some_and(|at| at > self.now || self.state.account().next_cycle_at <= self.now)
            }
            HostAction::BorrowRobots(_) | HostAction::AwaitOutcome => wakeup.is_none(),
        };
        if fits { Ok(()) } else { Err(format!("{action:?}, but to be woken at {wakeup:?}, now {}", self.now)) }
    }

    fn prepare(&mut self, intent: RequestIntent) -> Watched {
        let resolved = self.server.resolve(intent.url.host(), self.now);
        self.now = self.now.plus(self.rng.millis(0, 40));
        match resolved {
            Ok(()) => self.stage = Stage::Preparing(intent),
            Err(failure) => {
                trace::note(|| format!("{} no address for {}: {failure:?}", self.now, intent.url));
                let main = self.server.origins[0].origin.host();
                let is_sole_host = self.server.origins.iter().all(|truth| truth.origin.host() == main);
                self.checker.unresolved(&intent.url, &failure, self.now, is_sole_host);
                let arrival = self.arrival(Duration::ZERO);
                self.state.on_unresolved(&intent.url, &failure, arrival);
            }
        }
        Ok(())
    }

    /// Address, slot and permit are there: sometimes much later.
    fn prepared(&mut self, intent: RequestIntent) -> Watched {
        self.now = self.now.plus(match self.rng.below(60) {
            0 => self.rng.millis(0, 200_000_000),
            1..=4 => self.rng.millis(0, 90_000),
            _ => self.rng.millis(0, 30),
        });
        self.stage = Stage::Idle;
        let Some(ticket) = self.state.open_ticket(intent.clone(), self.now) else {
            trace::note(|| format!("{} no ticket for {}", self.now, intent.url));
            return Ok(());
        };
        self.look_up_copy(&ticket);
        if self.rng.once_in(8) && self.state.open_ticket(intent, self.now).is_some() {
            return Err("P2: two tickets are open".to_owned());
        }
        self.stage = Stage::Recording(ticket, self.now);
        Ok(())
    }

    /// The ticket is on the disk; the request leaves.
    fn recorded(&mut self, ticket: Ticket, given_at: Timestamp) -> Watched {
        self.now = self.now.plus(self.rng.millis(0, 25));
        self.make_durable(self.pending.len());
        if !self.state.on_ticket_durable(ticket.number) {
            self.num_unsent_tickets += 1;
            if self.num_unsent_tickets > 5 {
                return Err(format!(
                    "tickets are given again and again for {}, which may not be asked",
                    ticket.intent.url
                ));
            }
            self.abandon(ticket.number);
            return Ok(());
        }
        self.num_unsent_tickets = 0;
        trace::note(|| format!("{} -> {:?} {}", self.now, ticket.intent.kind, ticket.intent.url));
        self.checker.request(ticket.intent.kind, &ticket.intent.url, given_at, self.now)?;
        self.stage = Stage::InFlight(ticket);
        Ok(())
    }

    /// The open ticket's request is broken off, or never left.
    pub fn abandon(&mut self, ticket: TicketNumber) {
        self.stage = Stage::Idle;
        self.checker.aborted(self.now);
        let arrival = self.arrival(Duration::ZERO);
        self.state.on_abandoned(ticket, arrival);
    }

    fn answered(&mut self, ticket: &Ticket) -> Watched {
        let took = self.server.time_to_answer();
        self.now = self.now.plus(took);
        self.stage = Stage::Idle;
        match ticket.intent.kind {
            RequestKind::Robots => self.robots_answered(ticket, took),
            RequestKind::Page => self.page_answered(ticket, took)?,
            RequestKind::Sitemap => self.sitemap_answered(ticket, took),
        }
        if self.rng.once_in(10) {
            self.take_snapshot();
        }
        Ok(())
    }

    fn robots_answered(&mut self, ticket: &Ticket, took: Duration) {
        let reply = self.server.answer_robots(&ticket.intent.url, self.now);
        trace::note(|| format!("{} <- {:?}, wait until {:?}", self.now, reply.said, reply.wait_until));
        self.checker.robots_ended(&reply, self.now, took);
        let end = match &reply.answer {
            Ok((head, body, body_end)) => RobotsEnd::Answered { head, body: body.as_bytes(), body_end: *body_end },
            Err(failure) => RobotsEnd::Failed(*failure),
        };
        let arrival = self.arrival(took);
        self.state.on_robots(ticket.number, end, arrival);
    }

    fn page_answered(&mut self, ticket: &Ticket, took: Duration) -> Watched {
        let url = &ticket.intent.url;
        let mut reply = self.server.answer_page(url, self.now);
        self.perhaps_not_modified(url, &mut reply);
        let stored = self.stored_as(url);
        // A barrier in the body of a page that came well is one to the site all the same; the page's links are not followed.
        if let (PageSaid::Good, StoredAs::Barrier(_)) = (reply.said, stored) {
            reply.said = PageSaid::Barrier;
            reply.links.clear();
        }
        trace::note(|| format!("{} <- {:?}, wait until {:?}", self.now, reply.said, reply.wait_until));
        self.checker.page_ended(&reply, self.now, took);
        let arrival = self.arrival(took);
        let end = match &reply.answer {
            Err(failure) => PageEnd::Failed(*failure),
            Ok(head) => match outcome::classify(RequestKind::Page, head, url, arrival.at) {
                Answer::Html => PageEnd::Page { status: head.status, stored },
                Answer::NotModified => PageEnd::NotModified(Renewal::of_head(head, &self.rules.product_token)),
                answer => PageEnd::Answered { status: head.status, answer },
            },
        };
        if matches!(end, PageEnd::Page { .. }) {
            let links = reply.links.into_iter().map(|url| LinkedPage { url, above: None }).collect();
            self.state.on_page_links(ticket.number, PageLinks { links, ..PageLinks::default() }, self.now);
            // The page is read before its end is told.
            self.now = self.now.plus(self.rng.millis(0, 50));
        }
        if let PageEnd::Page { stored: StoredAs::Record(mark), .. } = end
            && !self.exclusions.covers_host(url.host())
        {
            self.keep_record(url, mark);
        }
        self.state.on_outcome(ticket.number, end, arrival);
        self.judge_records(url, reply.answer.as_ref().ok())
    }

    fn sitemap_answered(&mut self, ticket: &Ticket, took: Duration) {
        let url = &ticket.intent.url;
        let SitemapReply { reply, end } = self.server.answer_sitemap(url, self.now);
        trace::note(|| format!("{} <- sitemap {:?}, wait until {:?}", self.now, reply.said, reply.wait_until));
        self.checker.page_ended(&reply, self.now, took);
        let arrival = self.arrival(took);
        let failed = |state: &mut HostState, end| state.on_outcome(ticket.number, end, arrival);
        match &reply.answer {
            Err(failure) => failed(&mut self.state, PageEnd::Failed(*failure)),
            Ok(head) => match outcome::classify(RequestKind::Sitemap, head, url, arrival.at) {
                Answer::Sitemap => {
                    self.now = self.now.plus(self.rng.millis(0, 50));
                    self.state.on_sitemap(ticket.number, head.status, end, arrival);
                }
                answer => failed(&mut self.state, PageEnd::Answered { status: head.status, answer }),
            },
        }
    }

    fn stored_as(&mut self, url: &PageUrl) -> StoredAs {
        match self.rng.below(20) {
            0 => StoredAs::Noindex,
            1 => StoredAs::ExtractionFailed,
            2 => StoredAs::Full,
            // A calm site hides none of its pages.
            3 if self.server.temper == Temper::Moody => StoredAs::Barrier(BarrierKind::PaywalledContent),
            _ => StoredAs::Record(self.mark_of(url)),
        }
    }

    pub fn arrival(&mut self, took: Duration) -> Arrival {
        Arrival { at: self.now, took, wire_bytes: self.rng.below(50_000), chance: self.rng.fraction() }
    }

    /// An end that no open request has.
    pub fn stale_end(&mut self) -> Watched {
        let open = self.state.account().open.as_ref().map(|open| open.ticket);
        let last = self.state.account().last_ticket;
        let stale: TicketNumber = if self.rng.once_in(2) { last.wrapping_sub(1) } else { last + 7 };
        if open == Some(stale) {
            return Ok(());
        }
        let before = self.state.account().clone();
        let arrival = self.arrival(Duration::from_secs(1));
        match self.rng.below(4) {
            0 => self.state.on_outcome(
                stale,
                PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) },
                arrival,
            ),
            1 => self.state.on_abandoned(stale, arrival),
            2 => self.state.on_sitemap(stale, 200, SitemapEnd::NoSitemap, arrival),
            _ => {
                let failure = lohisoftbot_core::outcome::FetchFailure::Reset;
                self.state.on_robots(stale, RobotsEnd::Failed(failure), arrival);
            }
        }
        if *self.state.account() == before {
            Ok(())
        } else {
            Err(format!("the end of ticket {stale} counted, open was {open:?}"))
        }
    }
}
