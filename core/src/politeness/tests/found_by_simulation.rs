//! Faults that the simulation (`core/tests/simulation`) found, or that writing it brought to light: each with the shortest
//! way there.

use super::*;
use crate::exclusion::{Domain, Exclusion};
use crate::robots::status::BodyEnd;
use crate::site_row::SiteRow;

fn excluding(domain: &str) -> Exclusions {
    let mut exclusions = Exclusions::default();
    exclusions.insert(Domain::parse(domain).unwrap(), Exclusion { at: START, reason: String::new() });
    exclusions
}

fn hop_to(target: &str) -> ResponseHead {
    ResponseHead::new(302).with("location", target)
}

impl Play {
    /// The name of the next request's host is looked up in vain.
    #[track_caller]
    fn unresolved(&mut self, failure: &ResolveFailure) -> PageUrl {
        loop {
            match self.state.next_action(self.now) {
                HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => {
                    let arrival = self.arrival();
                    self.state.on_unresolved(&intent.url, failure, arrival);
                    return intent.url;
                }
                HostAction::WaitUntil(until) | HostAction::Park { until, .. } => self.now = until,
                other => panic!("no request to come: {other:?}"),
            }
        }
    }

    /// As the store and the ledger would bring it back, `robots` as given.
    fn restart(&mut self, queue: PageQueue, robots: Vec<OriginRobots>) {
        let mut row = SiteRow::new(self.state.site().clone(), self.state.seeds().to_vec(), START);
        row.account = self.state.account().clone();
        self.state = HostState::restore(row, queue, robots, rules(), Exclusions::default(), self.now);
    }

    /// Fails the next robots request so that nothing was heard.
    #[track_caller]
    fn refuse_robots(&mut self) -> Ticket {
        let ticket = self.ask();
        let arrival = self.arrival();
        self.state.on_robots(ticket.number, RobotsEnd::Failed(FetchFailure::ConnectRefused), arrival);
        ticket
    }
}

#[test]
fn the_end_of_a_ticket_that_is_not_open_changes_nothing() {
    let mut play = Play::new();
    let ticket = play.ask();
    let before = play.state.account().clone();
    let arrival = play.arrival();
    play.state.on_abandoned(ticket.number + 1, arrival);
    assert_eq!(*play.state.account(), before);
}

#[test]
fn a_closed_cycle_wakes_for_the_next_one_and_an_excluded_site_not_at_all() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.finish_after_guess();
    assert_eq!(play.state.next_wakeup(), Some(play.state.account().next_cycle_at));
    play.link("https://a.test/late");
    assert_eq!(play.state.next_wakeup(), Some(play.state.account().not_before()));
    play.state.on_exclusions(excluding("a.test"));
    assert_eq!(play.state.next_wakeup(), None);
}

#[test]
fn retry_after_on_any_answer_to_robots_txt_is_obeyed() {
    for status in [301, 401, 403, 503] {
        let mut play = Play::new();
        play.link("https://www.a.test/");
        let mut head = hop_to("/r").with("retry-after", "5000");
        head.status = status;
        play.answer_robots(&head, "");
        assert_eq!(play.pause(), Duration::from_secs(5000), "{status}");
    }
}

#[test]
fn a_robots_redirect_to_a_host_without_address_counts_as_unreachable() {
    for failure in
        [ResolveFailure::NoSuchName, ResolveFailure::NameServers, ResolveFailure::AddressRefused(String::new())]
    {
        let mut play = Play::new();
        for wanted in [60, 120] {
            play.answer_robots(&hop_to("https://x.a.test/robots.txt"), "");
            assert_eq!(play.unresolved(&failure), url("https://x.a.test/robots.txt"));
            assert_eq!(play.pause(), Duration::from_secs(wanted), "{failure:?}");
        }
    }
}

#[test]
fn a_crawl_delay_outlives_a_crash_that_lost_the_copy_which_named_it() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nCrawl-delay: 300\n");
    play.ask();
    play.restart(PageQueue::default(), Vec::new());
    assert_eq!(play.pause(), Duration::from_secs(300));
}

#[test]
fn a_robots_redirect_to_the_twenty_first_origin_is_not_followed() {
    let mut play = Play::new();
    for host in 1..20 {
        play.link(&format!("https://h{host}.a.test/"));
    }
    for _ in 0..19 {
        play.answer_robots(&ResponseHead::new(401), "");
    }
    play.answer_robots(&hop_to("https://h20.a.test/robots.txt"), "");
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_ne!(play.ask().intent.url.host(), "h20.a.test");
}

#[test]
fn pages_by_a_copy_of_the_last_cycle_count_among_the_origins_too() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.state.record(play.now, SiteEvent::CycleOpened { cycle: 2, next_cycle_at: play.now });
    play.link("https://a.test/b");
    play.store_page();
    assert_eq!(play.state.account().robots_origins.len(), 1);
}

#[test]
fn a_seed_on_an_excluded_host_is_not_taken() {
    let mut play = Play::new();
    play.state.on_exclusions(excluding("blog.a.test"));
    play.state.add_seed(Seed { url: url("https://blog.a.test/"), scheme: SeedScheme::Written });
    assert!(play.state.queue().get(&url("https://blog.a.test/")).is_none());
}

#[test]
fn exclusion_ends_a_robots_redirect_that_it_touches() {
    for domain in ["x.a.test", "www.a.test"] {
        let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
        play.link("https://a.test/");
        play.answer_robots(&hop_to("https://x.a.test/r"), "");
        play.state.on_exclusions(excluding(domain));
        assert_eq!(play.ask().intent.url.path_and_query(), "/robots.txt", "{domain}");
    }
}

#[test]
fn an_answer_on_the_way_from_an_origin_that_is_excluded_meanwhile_rules_nothing() {
    let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
    play.link("https://a.test/");
    play.answer_robots(&hop_to("https://a.test/r"), "");
    let ticket = play.ask();
    play.state.on_exclusions(excluding("www.a.test"));
    let arrival = play.arrival();
    let head = ResponseHead::new(404);
    play.state.on_robots(
        ticket.number,
        RobotsEnd::Answered { head: &head, body: b"", body_end: BodyEnd::Whole },
        arrival,
    );
    assert_eq!(play.state.robots(), []);
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn a_guess_that_turned_out_right_is_a_guess_no_longer() {
    let mut play = Play::with_seed("https://a.test/", SeedScheme::Guessed);
    play.allow_all();
    play.store_page();
    play.now = play.now.plus(Duration::from_secs(2 * 86_400));
    play.link("https://a.test/b");
    play.refuse_robots();
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn a_guess_is_judged_by_its_own_origin_and_not_by_one_it_redirects_to() {
    let mut play = Play::with_seed("https://a.test/", SeedScheme::Guessed);
    play.answer_robots(&hop_to("https://www.a.test/robots.txt"), "");
    play.refuse_robots();
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn a_dead_name_beside_the_main_host_does_not_park_the_site() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.link("https://dead.a.test/");
    play.link("https://a.test/b");
    assert_eq!(play.unresolved(&ResolveFailure::NoSuchName), url("https://dead.a.test/robots.txt"));
    assert_eq!(play.store_page().intent.url, url("https://a.test/b"));
}

#[test]
fn a_host_whose_name_servers_fail_stands_back_and_is_given_up_after_three_tries() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.link("https://lame.a.test/");
    play.link("https://a.test/b");
    play.unresolved(&ResolveFailure::NameServers);
    assert_eq!(play.store_page().intent.url, url("https://a.test/b"));
    play.unresolved(&ResolveFailure::NameServers);
    play.unresolved(&ResolveFailure::NameServers);
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
}

#[test]
fn a_side_origin_that_failed_is_tried_again_in_the_next_cycle() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.link("https://www.a.test/");
    for _ in 0..3 {
        play.answer_robots(&ResponseHead::new(500), "");
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    play.now = play.state.next_wakeup().unwrap();
    play.allow_all();
    play.store_page();
    assert_eq!(play.ask().intent.url, url("https://www.a.test/robots.txt"));
}

#[test]
fn pages_are_asked_by_a_copy_in_force_however_often_a_new_one_failed() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200).with("cache-control", "max-age=600"), "");
    play.store_page();
    for page in 0..4 {
        play.now = play.now.plus(Duration::from_secs(2 * 3600));
        play.link(&format!("https://a.test/{page}"));
        play.answer_robots(&ResponseHead::new(500), "");
        play.answer(PageEnd::Failed(FetchFailure::Reset));
    }
}

#[test]
fn a_crash_as_a_cycle_opens_does_not_skip_the_cycle() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.finish_after_guess();
    let queue_before = play.state.queue().clone();
    play.now = play.state.next_wakeup().unwrap();
    assert_eq!(play.ask().intent.kind, RequestKind::Robots);
    play.restart(queue_before, Vec::new());
    play.allow_all();
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
}

#[test]
fn a_restart_counts_no_link_to_a_seed() {
    let mut play = Play::new();
    let queue = play.state.queue().clone();
    play.restart(queue, Vec::new());
    assert_eq!(play.state.queue().entries()[0].num_inlinks, 1);
}

#[test]
fn after_a_forbidden_robots_txt_the_home_page_is_asked_first() {
    let mut play = Play::with_seed("https://a.test/deep/page", SeedScheme::Written);
    play.answer_robots(&ResponseHead::new(403), "");
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    assert_eq!(play.store_page().intent.url, url("https://a.test/deep/page"));
}

#[test]
fn the_twenty_first_origin_is_dropped() {
    let mut play = Play::new();
    for host in 1..21 {
        play.link(&format!("https://h{host}.a.test/"));
    }
    for _ in 0..20 {
        play.answer_robots(&ResponseHead::new(401), "");
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    let last = play.state.queue().get(&url("https://h20.a.test/")).unwrap();
    assert_eq!(last.standing, EntryStanding::Dropped(DropReason::TooManyOrigins));
}

#[test]
fn a_shorter_wait_does_not_end_a_longer_one() {
    let mut play = Play::new();
    play.allow_all();
    play.link("https://a.test/b");
    let answer = Answer::Barrier { kind: BarrierKind::Challenge, status: 429, retry_after: None };
    play.answer(PageEnd::Answered { status: 429, answer });
    assert_eq!(play.pause(), BARRIER_PARK);
}

#[test]
fn a_ticket_whose_host_was_excluded_is_not_sent_even_if_the_host_is_taken_back_in_at_once() {
    let mut play = Play::new();
    play.allow_all();
    let ticket = play.ask();
    play.state.on_exclusions(excluding("a.test"));
    play.state.on_exclusions(Exclusions::default());
    assert!(!play.state.on_ticket_durable(ticket.number));
}

#[test]
fn a_robots_hop_whose_origin_was_excluded_before_it_left_is_not_sent() {
    let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
    play.answer_robots(&hop_to("https://a.test/r"), "");
    let hop = play.ask();
    play.state.on_exclusions(excluding("www.a.test"));
    assert!(!play.state.on_ticket_durable(hop.number));
}

#[test]
fn a_queue_older_than_a_cycle_that_asked_nothing_settles_nothing() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.finish_after_guess();
    let (queue, robots) = (play.state.queue().clone(), Vec::new());
    play.now = play.state.account().next_cycle_at;
    assert!(matches!(play.state.next_action(play.now), HostAction::FetchRobots(_)));
    // That cycle ends without a request; the store still has the queue of the one before.
    let arrival = play.arrival();
    play.state.on_unresolved(&url("https://a.test/"), &ResolveFailure::AddressRefused(String::new()), arrival);
    assert!(matches!(play.state.next_action(play.now), HostAction::Finish(_)));
    play.restart(queue, robots);
    assert_eq!(play.state.queue().entries()[0].standing, EntryStanding::Queued);
}

#[test]
fn a_refused_port_costs_its_own_origin_and_no_other() {
    let mut play = Play::new();
    play.allow_all();
    play.link("https://a.test:22/");
    play.link("https://a.test/b");
    let refused = ResolveFailure::AddressRefused("port 22 is not for the web".to_owned());
    let arrival = play.arrival();
    play.state.on_unresolved(&url("https://a.test:22/"), &refused, arrival);
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    assert_eq!(play.store_page().intent.url, url("https://a.test/b"));
    play.finish_after_guess();
}

#[test]
fn a_ticket_for_a_hop_ends_with_the_exclusion_of_the_origin_whose_file_led_there() {
    let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
    play.answer_robots(&hop_to("https://a.test/hop"), "");
    let ticket = play.ask();
    assert_eq!(ticket.intent.url, url("https://a.test/hop"));
    play.state.on_exclusions(excluding("www.a.test"));
    assert!(!play.state.on_ticket_durable(ticket.number));
}

#[test]
fn a_ticket_for_another_url_outlives_the_exclusion_of_an_origin_whose_file_redirects() {
    // An origin's own robots.txt may be asked for its own sake, whoever's file led there.
    let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
    play.answer_robots(&hop_to("https://a.test/robots.txt"), "");
    let ticket = play.ask();
    assert_eq!(ticket.intent.url, url("https://a.test/robots.txt"));
    play.state.on_exclusions(excluding("www.a.test"));
    assert!(play.state.on_ticket_durable(ticket.number));
}
