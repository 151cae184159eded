//! What holds after any row of calls, in any order: short rows that proptest can shrink. [`crate::play`] has the long ones.

use std::sync::Arc;
use std::time::Duration;

use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::ledger::{RequestKind, SiteAccount, SiteEvent};
use lohisoftbot_core::outcome::{Answer, FetchFailure, ResolveFailure};
use lohisoftbot_core::politeness::{
    Arrival, FoundUrl, HostAction, HostState, PageEnd, RobotsEnd, Seed, SeedScheme, SitemapEnd, StoredAs, Ticket,
};
use lohisoftbot_core::record::ContentMark;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::status::BodyEnd;
use lohisoftbot_core::site_row::SiteRow;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use proptest::prelude::*;

use crate::rng::Rng;
use crate::rules::random_rules;
use crate::server::Temper;

/// One call.
#[derive(Clone, Debug)]
enum Call {
    Pass(u64),
    Ask,
    Unresolved(ResolveFailure),
    RobotsAnswer(u16),
    RobotsHop(u8),
    Page,
    Sitemap(u8),
    PageAnswer(u16, Option<u64>),
    Fail,
    Link(u8),
    Seed(u8),
    Exclude(bool),
    Restore,
}

fn calls() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => prop_oneof![0u64..20_000, 0u64..100_000_000].prop_map(Call::Pass),
        6 => Just(Call::Ask),
        1 => prop_oneof![
            Just(ResolveFailure::NoSuchName),
            Just(ResolveFailure::NameServers),
            Just(ResolveFailure::AddressRefused("10.0.0.0/8".to_owned()))
        ]
        .prop_map(Call::Unresolved),
        3 => prop_oneof![Just(200u16), Just(404), Just(403), Just(401), Just(503), 100u16..700].prop_map(Call::RobotsAnswer),
        1 => any::<u8>().prop_map(Call::RobotsHop),
        3 => Just(Call::Page),
        2 => any::<u8>().prop_map(Call::Sitemap),
        2 => (100u16..700, proptest::option::of(0u64..1_000_000)).prop_map(|(status, wait)| Call::PageAnswer(status, wait)),
        1 => Just(Call::Fail),
        3 => any::<u8>().prop_map(Call::Link),
        1 => any::<u8>().prop_map(Call::Seed),
        1 => any::<bool>().prop_map(Call::Exclude),
        1 => Just(Call::Restore),
    ]
}

fn some_url(number: u8) -> PageUrl {
    let host =
        ["https://a.test", "https://www.a.test", "http://a.test", "https://x.a.test:8443"][usize::from(number % 4)];
    PageUrl::parse(&format!("{host}/{}", number / 4), None).expect("a host and a number make a URL")
}

/// A state, a clock, and the account that its events make.
struct Row {
    state: HostState,
    now: Timestamp,
    folded: SiteAccount,
    num_open: u32,
}

impl Row {
    fn new() -> Self {
        let rules = Arc::new(random_rules(&mut Rng::new(7), Temper::Moody));
        let home = some_url(0);
        let mut state = HostState::new(home.site(), rules, Exclusions::default());
        state.add_seed(Seed {
            url: PageUrl::parse("https://a.test/", None).expect("a constant URL parses"),
            scheme: SeedScheme::Guessed,
        });
        Self { state, now: Timestamp::from_secs(1_800_000_000), folded: SiteAccount::default(), num_open: 0 }
    }

    fn arrival(&self) -> Arrival {
        Arrival { at: self.now, took: Duration::from_millis(700), wire_bytes: 1, chance: 0.5 }
    }

    /// The number of the open ticket, if it is of this kind.
    fn open(&self, kind: RequestKind) -> Option<u32> {
        self.state.account().open.as_ref().filter(|open| open.kind == kind).map(|open| open.ticket)
    }

    fn ask(&mut self) -> Option<Ticket> {
        match self.state.next_action(self.now) {
            HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => {
                let ticket = self.state.open_ticket(intent.clone(), self.now);
                assert!(ticket.is_some(), "a proposal made now holds now");
                assert_eq!(self.state.open_ticket(intent, self.now), None, "no second ticket beside an open one");
                ticket
            }
            HostAction::BorrowRobots(_)
            | HostAction::WaitUntil(_)
            | HostAction::Park { .. }
            | HostAction::Finish(_)
            | HostAction::AwaitOutcome => None,
        }
    }

    fn answer_robots(&mut self, head: &ResponseHead) {
        if let Some(ticket) = self.open(RequestKind::Robots) {
            let body = b"User-agent: *\nDisallow: /1\nCrawl-delay: 40\nSitemap: /7\nSitemap: /8\nSitemap: /9\n";
            let end = RobotsEnd::Answered { head, body, body_end: BodyEnd::Whole };
            self.state.on_robots(ticket, end, self.arrival());
        }
    }

    fn end_page(&mut self, end: PageEnd) {
        if let Some(ticket) = self.open(RequestKind::Page).or_else(|| self.open(RequestKind::Sitemap)) {
            self.state.on_outcome(ticket, end, self.arrival());
        }
    }

    fn call(&mut self, call: &Call) {
        match call {
            Call::Pass(millis) => self.now = self.now.plus(Duration::from_millis(*millis)),
            Call::Ask => {
                self.ask();
            }
            Call::Unresolved(failure) => {
                if let HostAction::FetchRobots(intent) | HostAction::Fetch(intent) = self.state.next_action(self.now) {
                    self.state.on_unresolved(&intent.url, failure, self.arrival());
                }
            }
            Call::RobotsAnswer(status) => self.answer_robots(&ResponseHead::new(*status)),
            Call::RobotsHop(number) => {
                self.answer_robots(&ResponseHead::new(301).with("location", some_url(*number).as_str()));
            }
            Call::Page => self.end_page(PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) }),
            Call::Sitemap(number) => {
                if let Some(ticket) = self.open(RequestKind::Sitemap) {
                    let (pages, sitemaps) = (vec![some_url(*number)], vec![some_url(number.wrapping_add(1))]);
                    self.state.on_sitemap(ticket, 200, SitemapEnd::Read { pages, sitemaps }, self.arrival());
                }
            }
            Call::PageAnswer(status, wait) => {
                let retry_after = wait.map(Duration::from_secs);
                let answer = Answer::Busy { status: *status, retry_after };
                self.end_page(PageEnd::Answered { status: *status, answer });
            }
            Call::Fail => self.end_page(PageEnd::Failed(FetchFailure::Reset)),
            Call::Link(number) => {
                self.state.on_links([FoundUrl { url: some_url(*number), depth: 1, num_hops: 0 }], self.now);
            }
            Call::Seed(number) => self.state.add_seed(Seed { url: some_url(*number), scheme: SeedScheme::Written }),
            Call::Exclude(out) => {
                let mut exclusions = Exclusions::default();
                if *out {
                    let exclusion = Exclusion { at: self.now, reason: String::new() };
                    exclusions.insert(Domain::parse("www.a.test").expect("a constant domain parses"), exclusion);
                }
                self.state.on_exclusions(exclusions);
            }
            Call::Restore => self.restore(),
        }
    }

    fn restore(&mut self) {
        self.fold();
        let mut row = SiteRow::new(self.state.site().clone(), self.state.seeds().to_vec(), self.now);
        row.account = self.folded.clone();
        let (queue, robots) = (self.state.queue().clone(), self.state.robots().to_vec());
        let rules = Arc::new(random_rules(&mut Rng::new(7), Temper::Moody));
        self.state = HostState::restore(row, queue, robots, rules, Exclusions::default(), self.now);
    }

    /// Folds the new events; tickets and their ends take turns.
    fn fold(&mut self) {
        for (at, event) in self.state.take_events() {
            match &event {
                SiteEvent::Ticket { .. } => self.num_open += 1,
                SiteEvent::Outcome { .. } => self.num_open -= 1,
                _ => {}
            }
            assert!(self.num_open <= 1, "one request at a time");
            self.folded.apply(at, &event);
        }
    }
}

proptest! {
    #[test]
    fn events_make_the_account_and_one_ticket_is_open_at_a_time(calls in proptest::collection::vec(calls(), 0..120)) {
        let mut row = Row::new();
        for call in &calls {
            row.call(call);
            row.fold();
            prop_assert_eq!(&row.folded, row.state.account(), "after {:?}", call);
        }
    }

    #[test]
    fn no_action_comes_before_the_account_allows_it(calls in proptest::collection::vec(calls(), 0..120)) {
        let mut row = Row::new();
        for call in &calls {
            row.call(call);
            let not_before = row.state.account().not_before();
            match row.state.next_action(row.now) {
                HostAction::FetchRobots(_) | HostAction::Fetch(_) => prop_assert!(row.now >= not_before),
                HostAction::WaitUntil(until) | HostAction::Park { until, .. } => prop_assert_eq!(until, not_before),
                HostAction::BorrowRobots(_) | HostAction::Finish(_) | HostAction::AwaitOutcome => {}
            }
        }
    }

    #[test]
    fn any_seed_of_the_simulation_keeps_the_promises(seed: u64) {
        prop_assert_eq!(crate::play(seed, crate::Length::Events(300)).err(), None);
    }
}
