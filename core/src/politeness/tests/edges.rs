//! Where a rule begins and ends: the moment, the count and the case beside it.

use super::*;
use crate::exclusion::{Domain, Exclusion};

fn excluding(domain: &str) -> Exclusions {
    let mut exclusions = Exclusions::default();
    exclusions.insert(Domain::parse(domain).unwrap(), Exclusion { at: START, reason: String::new() });
    exclusions
}

fn barrier(retry_after: Option<Duration>) -> PageEnd {
    PageEnd::Answered {
        status: 403,
        answer: Answer::Barrier { kind: BarrierKind::Forbidden, status: 403, retry_after },
    }
}

/// How often an event was recorded since they were taken last.
fn count(play: &mut Play, which: impl Fn(&SiteEvent) -> bool) -> usize {
    play.state.take_events().iter().filter(|(_, event)| which(event)).count()
}

#[test]
fn barriers_leave_the_site_alone_for_a_week() {
    assert_eq!(BARRIER_PARK, Duration::from_secs(604_800));
}

#[test]
fn of_two_waits_that_end_together_the_later_one_gives_the_reason() {
    let mut play = Play::new();
    play.allow_all();
    play.answer(barrier(Some(BARRIER_PARK)));
    let wait = play.state.account().wait.unwrap();
    assert_eq!((wait.until.since(play.now), wait.reason), (BARRIER_PARK, WaitReason::RetryAfter));
}

#[test]
fn seeds_and_robots_of_hosts_that_are_not_excluded_stay() {
    let mut play = Play::new();
    play.state.add_seed(Seed { url: url("https://www.a.test/"), scheme: SeedScheme::Written });
    play.allow_all();
    play.store_page();
    play.allow_all();
    play.state.on_exclusions(excluding("www.a.test"));
    let seeds: Vec<_> = play.state.seeds().iter().map(|seed| seed.url.as_str().to_owned()).collect();
    let origins: Vec<_> = play.state.robots().iter().map(|robots| robots.origin.host().to_owned()).collect();
    assert_eq!((seeds, origins), (vec!["https://a.test/".to_owned()], vec!["a.test".to_owned()]));
}

#[test]
fn events_are_there_until_they_are_taken() {
    let mut play = Play::new();
    assert!(!play.state.has_events());
    play.ask();
    assert!(play.state.has_events());
    play.state.take_events();
    assert!(!play.state.has_events());
    assert_eq!(play.state.max_queued_urls(), 1000);
}

#[test]
fn forbidden_url_that_was_never_stored_has_no_record_to_remove() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /private/\n");
    play.link("https://a.test/private/x");
    play.store_page();
    play.finish_after_guess();
    assert_eq!(play.state.take_removals(), []);
}

#[test]
fn url_of_an_origin_whose_robots_failed_stands_back_behind_a_forbidden_one_too() {
    let mut play = Play::new();
    play.state.add_seed(Seed { url: url("https://www.a.test/"), scheme: SeedScheme::Written });
    // The page behind that home page is better than the deep one, the forbidden one better than both.
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /forbidden\n");
    play.store_page();
    play.answer_robots(&ResponseHead::new(503), "");
    play.link("https://a.test/forbidden");
    play.link("https://a.test/forbidden");
    play.state.on_links([FoundUrl { url: url("https://a.test/deep"), depth: 9, num_hops: 0 }], play.now);
    assert_eq!(play.store_page().intent.url, url("https://a.test/deep"));
}

#[test]
fn site_that_ends_before_its_first_cycle_or_twice_closes_none() {
    let mut play = Play::new();
    play.state.on_exclusions(excluding("a.test"));
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::Excluded));
    assert_eq!(play.state.take_events(), []);

    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    play.finish_after_guess();
    play.state.on_exclusions(excluding("a.test"));
    play.state.next_action(play.now);
    assert_eq!(count(&mut play, |event| matches!(event, SiteEvent::CycleClosed { .. })), 1);
}

#[test]
fn parked_site_tells_whether_its_crawl_delay_or_its_slow_answers_hold_it() {
    // Until the backoff is forgiven a delay of a minute is two.
    for (robots, took, wanted) in [
        ("User-agent: *\nCrawl-delay: 60\n", Duration::from_millis(100), WaitReason::CrawlDelay),
        ("User-agent: *\nCrawl-delay: 59\n", Duration::from_secs(50), WaitReason::SlowAnswers),
        ("", Duration::from_secs(50), WaitReason::SlowAnswers),
    ] {
        let mut play = Play::new();
        play.answer_robots(&ResponseHead::new(200), robots);
        play.answer(busy(503, None));
        play.link("https://a.test/b");
        let ticket = play.ask();
        play.now = play.now.plus(took);
        let arrival = Arrival { at: play.now, took, wire_bytes: 1, chance: 0.0 };
        play.state.on_outcome(
            ticket.number,
            PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) },
            arrival,
        );
        play.link("https://a.test/c");
        let action = play.state.next_action(play.now);
        assert!(matches!(action, HostAction::Park { reason, .. } if reason == wanted), "{robots:?}: {action:?}");
    }
}

#[test]
fn one_good_answer_forgives_one_rung_and_the_old_pace_comes_back() {
    let mut play = Play::new();
    play.allow_all();
    play.answer(busy(503, None));
    for page in ["b", "c", "d"] {
        play.link(&format!("https://a.test/{page}"));
    }
    play.state.take_events();
    assert_eq!(play.state.account().rung, 1);
    play.store_page();
    assert_eq!((play.state.account().rung, play.pause()), (0, Duration::from_secs(10)));
    play.store_page();
    assert_eq!(play.pause(), Duration::from_secs(5));
    // What there is nothing of is not forgiven, nor ended.
    assert_eq!(count(&mut play, |event| matches!(event, SiteEvent::Forgiven { .. })), 1);
    play.store_page();
    let is_needless = |event: &SiteEvent| matches!(event, SiteEvent::Forgiven { .. } | SiteEvent::BarrierStreak(_));
    assert_eq!(count(&mut play, is_needless), 0);
}

#[track_caller]
fn check_dead_name(play: &mut Play, wanted_others: bool) {
    let arrival = play.arrival();
    play.state.on_unresolved(&url("https://a.test/x"), &ResolveFailure::NoSuchName, arrival);
    let waits = play.state.account().wait.is_some_and(|wait| wait.reason == WaitReason::NoSuchName);
    assert_eq!(!waits, wanted_others);
}

#[test]
fn dead_name_says_nothing_about_the_site_where_another_host_was_read_or_waits() {
    // Its own file was read, and nothing of another host.
    let mut play = Play::new();
    play.allow_all();
    check_dead_name(&mut play, false);
    // The file of another host could not be read, and nothing else of it waits.
    let mut play = Play::new();
    play.allow_all();
    play.state.add_seed(Seed { url: url("https://www.a.test/"), scheme: SeedScheme::Written });
    play.store_page();
    for _ in 0..MAX_SIDE_ORIGIN_ROBOTS_TRIES {
        play.answer_robots(&ResponseHead::new(503), "");
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    play.link("https://a.test/x");
    check_dead_name(&mut play, false);
    // Another host waits.
    let mut play = Play::new();
    play.link("https://www.a.test/");
    check_dead_name(&mut play, true);
    // Another host was read, and nothing more of it waits.
    let mut play = Play::with_seed("https://www.a.test/", SeedScheme::Written);
    play.allow_all();
    play.store_page();
    play.link("https://a.test/x");
    check_dead_name(&mut play, true);
}

#[test]
fn answer_that_is_no_html_page_is_told_by_its_status_where_that_is_not_200() {
    for (status, answer, wanted) in [
        (200, Answer::OtherType, DropReason::NotHtml),
        (206, Answer::OtherContent, DropReason::Status(206)),
        (204, Answer::OtherContent, DropReason::Status(204)),
    ] {
        let mut play = Play::new();
        play.allow_all();
        play.answer(PageEnd::Answered { status, answer });
        let standing = &play.state.queue().get(&url("https://a.test/")).unwrap().standing;
        assert_eq!(*standing, EntryStanding::Dropped(wanted), "{status}");
    }
}

#[test]
fn robots_copy_comes_back_from_the_store_as_it_was() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /x\n");
    let robots = &play.state.robots()[0];
    let stored = robots.to_stored().expect("a small file can be stored");
    assert_eq!(OriginRobots::from_stored(&stored).as_ref(), Some(robots));
}

#[test]
fn a_crawl_delay_longer_than_the_file_may_be_kept_still_lets_pages_be_asked() {
    for (delay_secs, cache_control) in [(7200, "no-store"), (86_400, "max-age=86400"), (9_999_999, "max-age=600")] {
        let mut play = Play::new();
        let head = ResponseHead::new(200).with("cache-control", cache_control);
        let rules = format!("User-agent: *\nCrawl-delay: {delay_secs}\n");
        for page in ["/", "/x"] {
            play.answer_robots(&head, &rules);
            assert_eq!(play.store_page().intent.url.path_and_query(), page, "{delay_secs} s, {cache_control}");
            play.link("https://a.test/x");
        }
        // Nothing was asked after the third file, but its day is over.
        play.link("https://a.test/y");
        play.answer_robots(&head, &rules);
        play.now = play.now.plus(Duration::from_secs(86_400 + 601));
        play.answer_robots(&head, &rules);
    }
}

#[test]
fn file_that_ran_out_while_a_crawl_delay_held_the_site_up_counts_ten_minutes_more() {
    for (late_secs, wanted) in [(0, "/"), (600, "/"), (601, "/robots.txt")] {
        let mut play = Play::new();
        let head = ResponseHead::new(200).with("cache-control", "max-age=600");
        play.answer_robots(&head, "User-agent: *\nCrawl-delay: 7200\n");
        play.now = play.now.plus(Duration::from_secs(7200 + late_secs));
        assert_eq!(play.ask().intent.url.path_and_query(), wanted, "{late_secs} s late");
    }
}

#[test]
fn url_of_the_only_origin_whose_file_was_asked_stands_back_where_that_failed() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(503), "");
    play.link("https://www.a.test/");
    assert_eq!(play.ask().intent.url, url("https://www.a.test/robots.txt"));
}

#[test]
fn page_that_answers_ends_the_failures_of_its_origins_file() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200).with("cache-control", "max-age=600"), "");
    play.store_page();
    play.now = play.now.plus(Duration::from_secs(3600));
    play.link("https://a.test/x");
    play.answer_robots(&ResponseHead::new(503), "");
    assert_eq!(play.state.robots()[0].num_failures, 1);
    play.store_page();
    assert_eq!(play.state.robots()[0].num_failures, 0);
}

#[test]
fn home_page_goes_first_where_the_robots_file_is_forbidden_and_once_alone() {
    let mut play = Play::with_seed("https://a.test/deep", SeedScheme::Written);
    play.answer_robots(&ResponseHead::new(403), "");
    let first = play.state.next_action(play.now.plus(Duration::from_secs(5)));
    assert!(matches!(&first, HostAction::Fetch(intent) if intent.url.is_home()), "{first:?}");
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    assert_eq!(play.store_page().intent.url, url("https://a.test/deep"));

    // Where it cannot be asked at all, it holds nothing up.
    let mut play = Play::with_seed("https://a.test/deep", SeedScheme::Written);
    play.answer_robots(&ResponseHead::new(403), "");
    play.ask();
    let ticket = play.state.account().open.as_ref().unwrap().ticket;
    let arrival = play.arrival();
    play.state.on_abandoned(ticket, arrival);
    let arrival = play.arrival();
    let refused = ResolveFailure::AddressRefused("10.0.0.1 is private".to_owned());
    play.state.on_unresolved(&url("https://a.test/"), &refused, arrival);
    play.link("https://a.test/later");
    assert_eq!(play.ask().intent.url, url("https://a.test/later"));
}

#[test]
fn what_waits_is_judged_by_a_tightened_file_before_its_turn_comes() {
    let mut play = Play::new();
    let head = ResponseHead::new(200).with("cache-control", "max-age=600");
    play.answer_robots(&head, "");
    play.store_page();
    play.link("https://a.test/later");
    play.link("https://a.test/other");
    play.now = play.now.plus(Duration::from_secs(3600));
    play.answer_robots(&head, "User-agent: *\nDisallow: /later\n");
    let standing = |raw: &str| &play.state.queue().get(&url(raw)).unwrap().standing;
    assert!(matches!(standing("https://a.test/later"), EntryStanding::Dropped(DropReason::Robots { .. })));
    assert_eq!(*standing("https://a.test/other"), EntryStanding::Queued);
}

#[test]
fn copy_that_runs_out_while_name_servers_are_silent_is_read_anew_right_after() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200).with("cache-control", "max-age=600"), "");
    let read_at = play.now;
    play.store_page();
    play.link("https://a.test/x");
    play.now = read_at.plus(Duration::from_secs(590));
    let arrival = play.arrival();
    play.state.on_unresolved(&url("https://a.test/x"), &ResolveFailure::NameServers, arrival);
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn spent_cycle_goes_on_only_where_the_settings_give_it_more_requests() {
    let mut play = Play::new();
    play.allow_all();
    for page in 0..30 {
        play.link(&format!("https://a.test/{page}"));
    }
    for _ in 0..20 {
        play.store_page();
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::BudgetSpent));
    play.state.take_events();
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::BudgetSpent));
    assert_eq!(play.state.take_events(), []);

    let restored_with = |page_requests: u16, account: SiteAccount| {
        let mut row = crate::site_row::SiteRow::new(play.state.site().clone(), play.state.seeds().to_vec(), START);
        row.account = account;
        let rules = SiteRules { budget: Budget::new(page_requests, 20).unwrap(), ..(*rules()).clone() };
        let (queue, robots) = (play.state.queue().clone(), play.state.robots().to_vec());
        HostState::restore(row, queue, robots, Arc::new(rules), Exclusions::default(), play.now)
    };
    // As if the cycle had been spent under a budget of twelve.
    let account = SiteAccount { num_page_requests: 12, ..play.state.account().clone() };
    let mut same = restored_with(12, account.clone());
    assert_eq!(same.next_action(play.now), HostAction::Finish(FinishReason::BudgetSpent));
    let mut raised = restored_with(13, account);
    assert!(matches!(raised.next_action(play.now), HostAction::WaitUntil(_)));
}
