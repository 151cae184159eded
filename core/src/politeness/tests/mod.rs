mod barriers;
mod discover;
mod edges;
mod found_by_simulation;
mod freshness;
mod lending;
mod records;
mod sitemaps;

use std::time::Duration;

use super::*;
use crate::barrier::BarrierKind;
use crate::outcome::{Answer, FetchFailure, Permanence, RedirectTarget, ResolveFailure};
use crate::page_choice::{DropReason, EntryStanding};
use crate::record::{Condition, ContentMark, Renewal, StoredCopy};
use crate::response::ResponseHead;

const START: Timestamp = Timestamp::from_secs(1_800_000_000);

fn rules() -> Arc<SiteRules> {
    Arc::new(SiteRules {
        min_delay: Duration::from_secs(5),
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
        max_crawl_delay: Duration::from_secs(86_400),
        park_after: Duration::from_secs(60),
        backoff: BackoffPolicy::default(),
        budget: Budget::default(),
        max_queued_urls: 1000,
        recrawl_interval: Duration::from_secs(30 * 86_400),
        min_recrawl_interval: Duration::from_secs(7 * 86_400),
        max_recrawl_interval: Duration::from_secs(90 * 86_400),
        product_token: "LohiSoftBot".to_owned(),
    })
}

/// Plays the carrier and the server of one site; its clock moves only by what the state asks for.
struct Play {
    state: HostState,
    now: Timestamp,
}

impl Play {
    fn with_seed(raw: &str, scheme: SeedScheme) -> Self {
        let url = url(raw);
        let mut state = HostState::new(url.site(), rules(), Exclusions::default());
        state.add_seed(Seed { url, scheme });
        Self { state, now: START }
    }

    fn new() -> Self {
        Self::with_seed("https://a.test/", SeedScheme::Written)
    }

    /// Waits as told, then opens the ticket of the next request.
    #[track_caller]
    fn ask(&mut self) -> Ticket {
        for _ in 0..4 {
            match self.state.next_action(self.now) {
                HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => {
                    let ticket = self.state.open_ticket(intent, self.now).expect("a proposal made now holds now");
                    assert!(self.state.on_ticket_durable(ticket.number));
                    return ticket;
                }
                HostAction::WaitUntil(until) | HostAction::Park { until, .. } => self.now = until,
                other => panic!("no request to come: {other:?}"),
            }
        }
        panic!("waits without end");
    }

    fn arrival(&mut self) -> Arrival {
        let took = Duration::from_millis(100);
        self.now = self.now.plus(took);
        Arrival { at: self.now, took, wire_bytes: 1000, chance: 0.0 }
    }

    #[track_caller]
    fn answer_robots(&mut self, head: &ResponseHead, body: &str) -> Ticket {
        let ticket = self.ask();
        assert_eq!(ticket.intent.kind, RequestKind::Robots, "{}", ticket.intent.url);
        let arrival = self.arrival();
        self.state.on_robots(
            ticket.number,
            RobotsEnd::Answered { head, body: body.as_bytes(), body_end: crate::robots::status::BodyEnd::Whole },
            arrival,
        );
        ticket
    }

    #[track_caller]
    fn allow_all(&mut self) {
        self.answer_robots(&ResponseHead::new(404), "");
    }

    #[track_caller]
    fn answer(&mut self, end: PageEnd) -> Ticket {
        let ticket = self.ask();
        assert_eq!(ticket.intent.kind, RequestKind::Page, "{}", ticket.intent.url);
        let arrival = self.arrival();
        self.state.on_outcome(ticket.number, end, arrival);
        ticket
    }

    #[track_caller]
    fn store_page(&mut self) -> Ticket {
        self.answer(PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) })
    }

    /// Nothing is left but the guess at a sitemap; it is answered with 404, and the cycle ends.
    #[track_caller]
    fn finish_after_guess(&mut self) {
        let ticket = self.ask();
        assert_eq!((ticket.intent.kind, ticket.intent.url.path_and_query()), (RequestKind::Sitemap, "/sitemap.xml"));
        let arrival = self.arrival();
        self.state.on_outcome(ticket.number, PageEnd::Answered { status: 404, answer: Answer::Gone }, arrival);
        assert_eq!(self.state.next_action(self.now), HostAction::Finish(FinishReason::QueueEmpty));
    }

    fn link(&mut self, raw: &str) {
        self.state.on_links([FoundUrl { url: url(raw), depth: 1, num_hops: 0 }], self.now);
    }

    /// How long from now until the next request may start.
    #[track_caller]
    fn pause(&mut self) -> Duration {
        match self.state.next_action(self.now) {
            HostAction::WaitUntil(until) | HostAction::Park { until, .. } => until.since(self.now),
            HostAction::FetchRobots(_) | HostAction::Fetch(_) => Duration::ZERO,
            other => panic!("no request to come: {other:?}"),
        }
    }
}

fn url(raw: &str) -> PageUrl {
    PageUrl::parse(raw, None).unwrap()
}

fn busy(status: u16, retry_after: Option<Duration>) -> PageEnd {
    PageEnd::Answered { status, answer: Answer::Busy { status, retry_after } }
}

#[test]
fn robots_comes_before_the_first_page_and_the_delay_between() {
    let mut play = Play::new();
    play.allow_all();
    assert_eq!(play.pause(), Duration::from_secs(5));
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    play.finish_after_guess();
}

#[test]
fn a_forbidden_url_is_dropped_with_its_line_and_never_asked() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /private/\n");
    play.link("https://a.test/private/x");
    play.store_page();
    play.finish_after_guess();
    let dropped = &play.state.queue().get(&url("https://a.test/private/x")).unwrap().standing;
    assert!(matches!(dropped, EntryStanding::Dropped(DropReason::Robots { line: 2, .. })), "{dropped:?}");
}

#[test]
fn a_tightened_file_gives_up_stored_pages_at_once() {
    let mut play = Play::new();
    let head = ResponseHead::new(200).with("cache-control", "max-age=600");
    play.answer_robots(&head, "User-agent: *\nAllow: /\n");
    play.link("https://a.test/old");
    play.store_page();
    play.store_page();
    assert_eq!(play.state.take_removals(), []);
    play.now = play.now.plus(Duration::from_secs(3600));
    play.link("https://a.test/new");
    play.answer_robots(&head, "User-agent: *\nDisallow: /old\n");
    assert_eq!(play.state.take_removals(), [url("https://a.test/old")]);
    assert_eq!(play.store_page().intent.url, url("https://a.test/new"));
}

#[test]
fn a_page_that_search_may_not_use_is_not_asked() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nContent-Usage: /private search=n\nAllow: /\n");
    play.link("https://a.test/private");
    play.store_page();
    play.finish_after_guess();
    let dropped = &play.state.queue().get(&url("https://a.test/private")).unwrap().standing;
    assert!(matches!(dropped, EntryStanding::Dropped(DropReason::Robots { line: 2, .. })), "{dropped:?}");
}

#[test]
fn every_origin_has_a_robots_file_of_its_own() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.link("https://www.a.test/");
    assert_eq!(play.ask().intent.url, url("https://www.a.test/robots.txt"));
}

#[test]
fn budget_ends_the_cycle_and_no_second_one_opens_before_the_interval_is_over() {
    let mut play = Play::new();
    for page in 0..40 {
        play.link(&format!("https://a.test/{page}"));
    }
    play.allow_all();
    let first_page_at = play.state.account().not_before();
    for _ in 0..20 {
        play.store_page();
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::BudgetSpent));
    play.link("https://a.test/more");
    let almost = first_page_at.plus(Duration::from_secs(30 * 86_400 - 1));
    assert_eq!(play.state.next_action(almost), HostAction::Finish(FinishReason::BudgetSpent));
    let due = first_page_at.plus(Duration::from_secs(30 * 86_400));
    assert!(matches!(play.state.next_action(due), HostAction::FetchRobots(_)));
    assert_eq!(play.state.account().cycle, 2);
}

#[test]
fn new_urls_resume_a_cycle_that_has_budget_left() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.finish_after_guess();
    play.link("https://a.test/late");
    play.store_page();
    assert_eq!((play.state.account().cycle, play.state.account().num_page_requests), (1, 3));
}

#[test]
fn retry_after_makes_the_whole_site_wait_and_is_never_shortened() {
    let mut play = Play::new();
    play.allow_all();
    play.link("https://a.test/b");
    play.answer(busy(429, Some(Duration::from_secs(7200))));
    assert_eq!(play.pause(), Duration::from_secs(7200));
    let parked = play.state.next_action(play.now);
    assert!(matches!(parked, HostAction::Park { reason: WaitReason::RetryAfter, .. }), "{parked:?}");
}

#[test]
fn backoff_doubles_and_the_recovering_site_gets_twice_the_delay() {
    let mut play = Play::new();
    play.allow_all();
    for wanted in [60, 120, 240] {
        play.answer(busy(503, None));
        play.link("https://a.test/b");
        assert_eq!(play.pause(), Duration::from_secs(wanted));
    }
    play.link("https://a.test/c");
    play.store_page();
    assert_eq!(play.pause(), Duration::from_secs(10));
}

#[test]
fn three_tries_for_a_busy_answer_and_two_for_none() {
    for (end, wanted) in [(busy(500, None), 3), (PageEnd::Failed(FetchFailure::Reset), 2)] {
        let mut play = Play::new();
        play.allow_all();
        for _ in 0..wanted {
            play.answer(end.clone());
        }
        assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty), "{end:?}");
    }
}

#[test]
fn crawl_delay_is_honoured_in_full_and_parks_the_site_beyond_a_minute() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nCrawl-delay: 300\n");
    assert_eq!(play.pause(), Duration::from_secs(300));
    assert!(matches!(play.state.next_action(play.now), HostAction::Park { reason: WaitReason::CrawlDelay, .. }));
}

#[test]
fn slow_answers_lengthen_the_delay_up_to_the_cap() {
    for (took, wanted) in [(100, 5), (3_000, 15), (50_000, 60)] {
        let mut play = Play::new();
        play.allow_all();
        play.link("https://a.test/b");
        let ticket = play.ask();
        play.now = play.now.plus(Duration::from_millis(took));
        let arrival = Arrival { at: play.now, took: Duration::from_millis(took), wire_bytes: 1, chance: 0.0 };
        play.state.on_outcome(
            ticket.number,
            PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) },
            arrival,
        );
        assert_eq!(play.pause(), Duration::from_secs(wanted), "after {took} ms");
    }
}

#[test]
fn unreachable_robots_means_no_page_request() {
    let mut play = Play::new();
    for wanted in [60, 120, 240, 480] {
        play.answer_robots(&ResponseHead::new(503), "");
        assert_eq!(play.pause(), Duration::from_secs(wanted));
    }
    assert_eq!(play.state.account().num_page_requests, 0);
}

#[test]
fn robots_behind_a_login_forbids_everything() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(401), "User-agent: *\nAllow: /\n");
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    assert_eq!(play.state.account().num_page_requests, 0);
}

#[test]
fn robots_redirect_is_followed_hop_by_hop_with_the_delay_and_its_rules_are_the_first_origins() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(301).with("location", "https://www.a.test/robots.txt"), "");
    assert_eq!(play.pause(), Duration::from_secs(5));
    let hop = play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /x\n");
    assert_eq!(hop.intent.url, url("https://www.a.test/robots.txt"));
    play.link("https://a.test/x");
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    play.finish_after_guess();
}

#[test]
fn a_copy_rules_on_when_the_file_cannot_be_read_any_more() {
    let mut play = Play::new();
    let head = ResponseHead::new(200).with("cache-control", "max-age=600");
    play.answer_robots(&head, "User-agent: *\nDisallow: /x\n");
    play.store_page();
    play.now = play.now.plus(Duration::from_secs(3600));
    play.link("https://a.test/y");
    play.answer_robots(&ResponseHead::new(500), "");
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_eq!(play.store_page().intent.url, url("https://a.test/y"));
}

#[test]
fn guessed_https_gives_way_to_http_without_backoff() {
    let mut play = Play::with_seed("https://a.test/", SeedScheme::Guessed);
    let ticket = play.ask();
    let arrival = play.arrival();
    play.state.on_robots(ticket.number, RobotsEnd::Failed(FetchFailure::ConnectRefused), arrival);
    assert_eq!(play.pause(), Duration::from_secs(5));
    assert_eq!(play.ask().intent.url, url("http://a.test/robots.txt"));
}

#[test]
fn written_https_backs_off() {
    let mut play = Play::new();
    let ticket = play.ask();
    let arrival = play.arrival();
    play.state.on_robots(ticket.number, RobotsEnd::Failed(FetchFailure::ConnectRefused), arrival);
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn redirects_are_queued_as_pages_and_a_chain_over_five_is_dropped() {
    let mut play = Play::new();
    play.allow_all();
    for hop in 1..=6 {
        let target = url(&format!("https://a.test/{hop}"));
        let answer = Answer::Redirect {
            target: RedirectTarget::To(target),
            permanence: Permanence::Temporary,
            retry_after: None,
        };
        play.answer(PageEnd::Answered { status: 302, answer });
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    assert_eq!(play.state.account().num_page_requests, 6);
}

#[test]
fn barrier_on_the_home_page_parks_the_site_for_seven_days() {
    let mut play = Play::new();
    play.allow_all();
    play.link("https://a.test/b");
    let answer = Answer::Barrier { kind: BarrierKind::Forbidden, status: 403, retry_after: None };
    play.answer(PageEnd::Answered { status: 403, answer });
    assert_eq!(play.pause(), BARRIER_PARK);
}

#[test]
fn three_barriers_in_a_row_park_the_site_and_a_page_between_starts_the_count_anew() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    let barrier = || PageEnd::Answered {
        status: 403,
        answer: Answer::Barrier { kind: BarrierKind::Forbidden, status: 403, retry_after: None },
    };
    for page in 0..9 {
        play.link(&format!("https://a.test/{page}"));
    }
    play.answer(barrier());
    play.answer(barrier());
    play.store_page();
    play.answer(barrier());
    play.answer(barrier());
    assert!(play.pause() <= Duration::from_secs(10));
    play.answer(barrier());
    assert_eq!(play.pause(), BARRIER_PARK);
}

#[test]
fn a_name_that_does_not_exist_parks_longer_each_time_and_is_dropped_then() {
    let mut play = Play::new();
    for wanted in [3600, 86_400, 7 * 86_400] {
        let arrival = play.arrival();
        play.state.on_unresolved(&url("https://a.test/"), &ResolveFailure::NoSuchName, arrival);
        assert_eq!(play.pause(), Duration::from_secs(wanted));
        play.now = play.now.plus(Duration::from_secs(wanted));
    }
    let arrival = play.arrival();
    play.state.on_unresolved(&url("https://a.test/"), &ResolveFailure::NoSuchName, arrival);
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::NoSuchName));
}

#[test]
fn site_whose_address_is_refused_ends_for_that_reason() {
    let mut play = Play::new();
    assert!(matches!(play.state.next_action(play.now), HostAction::FetchRobots(_)));
    let arrival = play.arrival();
    let refused = ResolveFailure::AddressRefused("10.0.0.1 is private".to_owned());
    play.state.on_unresolved(&url("https://a.test/"), &refused, arrival);
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::AddressRefused));
}

#[test]
fn exclusion_empties_the_queue_and_stops_a_durable_ticket() {
    let mut play = Play::new();
    let ticket = play.ask();
    let mut exclusions = Exclusions::default();
    let domain = crate::exclusion::Domain::parse("a.test").unwrap();
    exclusions.insert(domain, crate::exclusion::Exclusion { at: START, reason: String::new() });
    assert_eq!(play.state.on_exclusions(exclusions), 1);
    assert!(!play.state.on_ticket_durable(ticket.number));
    let arrival = play.arrival();
    play.state.on_abandoned(ticket.number, arrival);
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::Excluded));
}

#[test]
fn replaying_the_events_gives_the_same_account() {
    let mut play = Play::new();
    let mut replayed = SiteAccount::default();
    play.allow_all();
    play.answer(busy(503, None));
    play.link("https://a.test/b");
    play.store_page();
    for (at, event) in play.state.take_events() {
        replayed.apply(at, &event);
    }
    assert_eq!(&replayed, play.state.account());
}

#[test]
fn a_ticket_found_open_counts_as_spent_and_the_delay_runs_from_the_restart() {
    let mut play = Play::new();
    play.allow_all();
    play.ask();
    let mut row = crate::site_row::SiteRow::new(play.state.site().clone(), play.state.seeds().to_vec(), START);
    row.account = play.state.account().clone();
    let restart = play.now.plus(Duration::from_secs(100));
    let queue = play.state.queue().clone();
    let robots = play.state.robots().to_vec();
    let mut state = HostState::restore(row, queue, robots, rules(), Exclusions::default(), restart);
    assert_eq!(state.account().num_page_requests, 1);
    assert_eq!(state.next_action(restart), HostAction::WaitUntil(restart.plus(Duration::from_secs(5))));
}

#[test]
fn host_and_depth_of_the_open_request_are_told() {
    let mut play = Play::new();
    assert_eq!((play.state.open_host(), play.state.open_depth()), (None, 0));
    play.allow_all();
    play.store_page();
    play.state.on_links([FoundUrl { url: url("https://www.a.test/deep"), depth: 3, num_hops: 0 }], play.now);
    play.allow_all();
    play.ask();
    assert_eq!((play.state.open_host(), play.state.open_depth()), (Some("www.a.test"), 3));
}
