//! robots.txt across sites: what the borrower and the lender do.

use super::*;
use crate::codec;
use crate::exclusion::{Domain, Exclusion};
use crate::robots::RobotsPolicy;

const RULES: &str = "User-agent: *\nDisallow: /private\nCrawl-delay: 20\n";

fn origin(raw: &str) -> Origin {
    url(raw).origin()
}

fn to(target: &str) -> ResponseHead {
    ResponseHead::new(301).with("location", target)
}

/// A site whose robots.txt lies at `b.test`, as its next action says.
#[track_caller]
fn borrower() -> Play {
    let mut play = Play::new();
    play.answer_robots(&to("https://b.test/robots.txt"), "");
    assert_eq!(play.state.next_action(play.now), HostAction::BorrowRobots(origin("https://b.test/")));
    assert_eq!(play.state.next_wakeup(), None);
    play
}

fn read(rules: &str, num_hops: u8) -> LentRobots {
    let policy = RobotsPolicy::parse(rules.as_bytes(), "LohiSoftBot");
    let expires_at = START.plus(Duration::from_secs(3600));
    LentRobots::Read(Box::new(PolicyCopy { policy, fetched_at: START, expires_at, num_hops, kept_at: START }))
}

fn lend(play: &mut Play, lent: LentRobots) {
    let arrival = play.arrival();
    play.state.on_borrowed(&origin("https://b.test/"), lent, arrival);
}

#[test]
fn rules_of_another_sites_file_count_for_the_site_that_redirects_there() {
    let mut play = borrower();
    play.link("https://a.test/private/x");
    lend(&mut play, read(RULES, 0));
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    play.finish_after_guess();
    let dropped = &play.state.queue().get(&url("https://a.test/private/x")).unwrap().standing;
    assert!(matches!(dropped, EntryStanding::Dropped(DropReason::Robots { line: 2, .. })), "{dropped:?}");
}

#[test]
fn borrowed_crawl_delay_holds_for_the_very_next_request() {
    let mut play = borrower();
    lend(&mut play, read(RULES, 0));
    // The redirect ended 100 ms ago.
    assert_eq!(play.pause(), Duration::from_millis(19_900));
}

#[test]
fn rules_are_kept_no_longer_than_the_lenders_copy() {
    let mut play = borrower();
    lend(&mut play, read("", 0));
    play.store_page();
    play.link("https://a.test/x");
    play.now = START.plus(Duration::from_secs(3600));
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn a_lender_that_cannot_be_asked_makes_the_file_unreachable() {
    let mut play = borrower();
    lend(&mut play, LentRobots::Unreachable);
    assert_eq!(play.pause(), Duration::from_secs(60));
    assert_eq!(play.ask().intent.url, url("https://a.test/robots.txt"));
}

#[test]
fn redirects_of_both_sites_count_together() {
    for (lenders_hops, is_read) in [(4, true), (5, false), (u8::MAX, false)] {
        let mut play = borrower();
        lend(&mut play, read("", lenders_hops));
        let was_read = play.state.robots().iter().any(|robots| robots.copy.is_some());
        assert_eq!(was_read, is_read, "{lenders_hops} redirects of the lender, one of the borrower");
    }
}

#[test]
fn an_answer_that_nobody_waits_for_changes_nothing() {
    let mut play = borrower();
    let arrival = play.arrival();
    let before = play.state.account().clone();
    play.state.on_borrowed(&origin("https://c.test/"), LentRobots::Unreachable, arrival);
    assert_eq!(play.state.account(), &before);
    assert_eq!(play.state.borrows_from(), Some(origin("https://b.test/")));
    lend(&mut play, read("", 0));
    lend(&mut play, LentRobots::Unreachable);
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
}

#[test]
fn another_sites_page_is_never_asked_for_as_robots() {
    let mut play = Play::new();
    play.answer_robots(&to("https://b.test/x/robots.txt"), "");
    assert_eq!(play.state.borrows_from(), None);
    assert_eq!(play.pause(), Duration::from_secs(60));
}

#[test]
fn a_borrower_that_is_excluded_waits_for_nobody() {
    let mut play = borrower();
    play.state.on_exclusions(exclusions("a.test"));
    assert_eq!(play.state.borrows_from(), None);
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::Excluded));
}

fn exclusions(domain: &str) -> Exclusions {
    let mut exclusions = Exclusions::default();
    exclusions.insert(Domain::parse(domain).unwrap(), Exclusion { at: START, reason: String::new() });
    exclusions
}

#[test]
fn a_lender_asks_once_for_all_that_wait_and_before_its_own_pages() {
    let mut play = Play::new();
    play.allow_all();
    play.link("https://www.a.test/");
    let www = origin("https://www.a.test/");
    play.state.want_robots(www.clone(), play.now);
    play.state.want_robots(www.clone(), play.now);
    assert_eq!(play.state.take_lent(), []);
    let asked = play.answer_robots(&ResponseHead::new(200), RULES);
    assert_eq!(asked.intent.url, url("https://www.a.test/robots.txt"));
    let lent = play.state.take_lent();
    assert!(matches!(&lent[..], [(of, LentRobots::Read(copy))] if *of == www && copy.num_hops == 0), "{lent:?}");
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
}

#[test]
fn a_lender_gives_a_fresh_copy_at_once() {
    let mut play = Play::new();
    play.answer_robots(&to("/hop"), "");
    play.answer_robots(&ResponseHead::new(200), RULES);
    play.state.want_robots(origin("https://a.test/"), play.now);
    let lent = play.state.take_lent();
    assert!(matches!(&lent[..], [(_, LentRobots::Read(copy))] if copy.num_hops == 1), "{lent:?}");
    assert_eq!(play.state.account().last_ticket, 2);
}

#[test]
fn a_lender_that_fails_says_so_and_is_not_pressed_again() {
    let mut play = Play::new();
    play.state.want_robots(origin("https://a.test/"), play.now);
    play.answer_robots(&ResponseHead::new(503), "");
    for want_again in [false, true] {
        if want_again {
            play.state.want_robots(origin("https://a.test/"), play.now);
        }
        assert_eq!(play.state.take_lent(), [(origin("https://a.test/"), LentRobots::Unreachable)]);
    }
    assert_eq!(play.pause(), Duration::from_secs(60));
}

#[test]
fn a_lender_has_nothing_for_origins_that_it_may_not_ask() {
    let check = |what: &str, play: &mut Play, wanted: &str| {
        play.state.want_robots(origin(wanted), play.now);
        assert_eq!(play.state.take_lent(), [(origin(wanted), LentRobots::Unreachable)], "{what}");
    };
    let mut play = Play::new();
    play.allow_all();
    check("another site's", &mut play, "https://b.test/");
    check("one that nothing of the site leads to", &mut play, "https://a.test:81/");
    play.link("https://www.a.test/");
    play.state.on_exclusions(exclusions("www.a.test"));
    check("excluded", &mut play, "https://www.a.test/");
    for number in 0..19 {
        play.link(&format!("https://h{number}.a.test/"));
        play.state.want_robots(origin(&format!("https://h{number}.a.test/")), play.now);
        play.allow_all();
    }
    play.state.take_lent();
    play.link("https://h99.a.test/");
    check("the 21st of the cycle", &mut play, "https://h99.a.test/");
}

#[test]
fn wants_end_with_an_exclusion_a_dead_name_and_a_refused_address() {
    let www = || origin("https://www.a.test/");
    let mut play = Play::new();
    play.allow_all();
    play.link("https://www.a.test/");
    play.state.want_robots(www(), play.now);
    play.state.on_exclusions(exclusions("www.a.test"));
    assert_eq!(play.state.take_lent(), [(www(), LentRobots::Unreachable)]);
    for failure in [
        ResolveFailure::NoSuchName,
        ResolveFailure::NameServers,
        ResolveFailure::AddressRefused("127.0.0.0/8".to_owned()),
    ] {
        let mut play = Play::new();
        play.allow_all();
        play.link("https://www.a.test/");
        play.state.want_robots(www(), play.now);
        let arrival = play.arrival();
        play.state.on_unresolved(&url("https://www.a.test/robots.txt"), &failure, arrival);
        assert_eq!(play.state.take_lent(), [(www(), LentRobots::Unreachable)], "{failure:?}");
    }
}

#[test]
fn a_lenders_wrong_guess_at_its_scheme_ends_the_want() {
    let mut play = Play::with_seed("https://a.test/", SeedScheme::Guessed);
    play.state.want_robots(origin("https://a.test/"), play.now);
    let ticket = play.ask();
    let arrival = play.arrival();
    play.state.on_robots(ticket.number, RobotsEnd::Failed(FetchFailure::ConnectRefused), arrival);
    assert_eq!(play.state.take_lent(), [(origin("https://a.test/"), LentRobots::Unreachable)]);
    assert_eq!(play.ask().intent.url, url("http://a.test/robots.txt"));
}

#[test]
fn a_lender_that_borrows_in_turn_hands_on_what_it_got() {
    let mut play = borrower();
    play.state.want_robots(origin("https://a.test/"), play.now);
    assert_eq!(play.state.take_lent(), []);
    lend(&mut play, read(RULES, 1));
    let lent = play.state.take_lent();
    assert!(matches!(&lent[..], [(_, LentRobots::Read(copy))] if copy.num_hops == 2), "{lent:?}");
}

/// The bytes that the form without a count of redirects was written in.
#[test]
fn copies_of_version_1_are_read_as_copies_without_redirects() {
    let old = hex(include_str!("origin_robots_v1.hex"));
    let read: OriginRobots = codec::decode(&old).unwrap();
    let copy = read.copy.as_ref().unwrap();
    assert_eq!((read.origin.clone(), copy.num_hops), (origin("https://a.test/"), 0));
    assert_eq!((copy.fetched_at, copy.kept_at), (START, START));
    assert_eq!(copy.policy, RobotsPolicy::parse(RULES.as_bytes(), "LohiSoftBot"));
    assert_eq!(codec::decode::<OriginRobots>(&codec::encode(&read).unwrap()).unwrap(), read);
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

#[test]
fn copy_is_lent_until_it_runs_out_and_a_failure_holds_until_its_retry() {
    let of_itself = || origin("https://a.test/");
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200).with("cache-control", "max-age=600"), RULES);
    let expires_at = play.now.plus(Duration::from_secs(600));
    play.state.want_robots(of_itself(), Timestamp::from_millis(expires_at.as_millis() - 1));
    assert!(matches!(play.state.take_lent()[..], [(_, LentRobots::Read(_))]));
    play.state.want_robots(of_itself(), expires_at);
    assert_eq!(play.state.take_lent(), []);

    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(503), "");
    let retry_at = play.now.plus(Duration::from_secs(60));
    play.state.want_robots(of_itself(), Timestamp::from_millis(retry_at.as_millis() - 1));
    assert_eq!(play.state.take_lent(), [(of_itself(), LentRobots::Unreachable)]);
    play.state.want_robots(of_itself(), retry_at);
    assert_eq!(play.state.take_lent(), []);
}

#[test]
fn lender_that_waits_no_longer_than_it_stays_live_keeps_what_is_wanted_of_it() {
    for (retry_after, is_kept) in [(60, true), (61, false), (3600, false)] {
        let mut play = Play::new();
        play.allow_all();
        play.link("https://a.test/x");
        play.answer(busy(429, Some(Duration::from_secs(retry_after))));
        let later = play.now;
        play.state.want_robots(origin("https://a.test/"), later.plus(Duration::from_secs(86_400)));
        play.state.next_action(later);
        assert_eq!(play.state.take_lent().is_empty(), is_kept, "{retry_after} s");
    }
}

#[test]
fn borrowed_copy_is_kept_from_when_it_came_and_changes_no_delay_that_is_long_enough() {
    let mut play = borrower();
    play.now = play.now.plus(Duration::from_secs(30));
    play.state.take_events();
    lend(&mut play, read("", 0));
    let copy = play.state.robots()[0].copy.clone().unwrap();
    assert_eq!((copy.fetched_at, copy.kept_at), (START, play.now));
    assert!(play.state.take_events().iter().all(|(_, event)| !matches!(event, SiteEvent::Delay(_))));
}
