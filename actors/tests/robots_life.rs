//! The life of robots.txt through a whole node: what each answer to it lets the node ask, how long it counts, and how often it is asked.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::frontier::{PauseSite, ResumeSite};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::assert_polite;
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::ledger::{FinishReason, RequestKind, WaitReason};
use lohisoftbot_core::outcome::FetchFailure;
use lohisoftbot_core::page_choice::{DropReason, EntryStanding};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::MAX_ROBOTS_BYTES;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::url::PageUrl;
use tokio::time::sleep;

/// Shorter than the first wait of the ladder.
const MAX_WAIT: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);
const ROBOTS: &str = "http://a.test/robots.txt";
const RULES: &str = "User-agent: *\nDisallow: /page-1\n";

const EMPTY: SiteStanding = SiteStanding::Finished { reason: FinishReason::QueueEmpty };
const UNREADABLE: SiteStanding = SiteStanding::Parked { reason: WaitReason::RobotsUnreachable };
const ASKED_TO_WAIT: SiteStanding = SiteStanding::Parked { reason: WaitReason::RetryAfter };
const ALL_PAGES: &[&str] = &["/", "/page-1", "/page-2"];

fn to(target: &str) -> ScriptedAnswer {
    ScriptedAnswer::answer(ResponseHead::new(302).with("location", target), "")
}

fn with_retry_after(status: u16) -> ScriptedAnswer {
    ScriptedAnswer::answer(ResponseHead::new(status).with("retry-after", "7200"), "")
}

fn robots_times(node: &TestNode) -> Vec<Duration> {
    let log = node.web.log();
    let first = log[0].started_at;
    let robots = log.iter().filter(|request| request.kind == RequestKind::Robots);
    robots.map(|request| request.started_at.since(first)).collect()
}

/// A site of three pages whose robots.txt answers like this: the pages that are asked, and how the site stands then.
#[track_caller]
fn check(what: &str, answer: ScriptedAnswer, pages: &[&str], standing: SiteStanding) {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 3);
        node.web.on(ROBOTS, [answer]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MAX_WAIT).await;
        assert_eq!(node.web.pages_asked("a.test"), pages, "{what}");
        assert_eq!(node.row("a.test").await.unwrap().standing, standing, "{what}");
        assert_eq!(robots_times(&node).len(), 1, "{what}");
        node.stop().await;
    });
}

#[test]
fn what_comes_back_decides_what_may_be_asked() {
    let ruled: &[&str] = &["/", "/page-2"];
    check("rules", ScriptedAnswer::text(RULES), ruled, EMPTY);
    check("rules as HTML", ScriptedAnswer::html(RULES), ruled, EMPTY);
    check("a page", ScriptedAnswer::html("<h1>Welcome</h1>"), ALL_PAGES, EMPTY);
    check("an empty file", ScriptedAnswer::text(""), ALL_PAGES, EMPTY);
    for status in [400, 402, 403, 404, 405, 410, 418, 451, 499] {
        check(&status.to_string(), ScriptedAnswer::status(status), ALL_PAGES, EMPTY);
    }
    for status in [401, 407] {
        check(&status.to_string(), ScriptedAnswer::status(status), &[], EMPTY);
    }
    for status in [100, 300, 304, 305, 399, 429, 500, 502, 503, 504, 599, 600, 999] {
        check(&status.to_string(), ScriptedAnswer::status(status), &[], UNREADABLE);
    }
    for status in [429, 503, 403, 301] {
        check(&format!("{status} with Retry-After"), with_retry_after(status), &[], ASKED_TO_WAIT);
    }
    check("rules that break off", ScriptedAnswer::text(RULES).cut_short(), &[], UNREADABLE);
}

#[test]
fn no_answer_is_no_leave() {
    for failure in FetchFailure::ALL {
        check(failure.describe(), ScriptedAnswer::failure(failure), &[], UNREADABLE);
    }
}

#[test]
fn rules_count_up_to_the_bound_of_what_is_read() {
    let comments = "# read over\n".repeat(MAX_ROBOTS_BYTES / 12 + 1);
    let text = format!("{RULES}{comments}Disallow: /page-2\n");
    check("600 KB", ScriptedAnswer::text(&text), &["/", "/page-2"], EMPTY);
    check("600 KB, cut there", ScriptedAnswer::text(&text).cut_short(), &["/", "/page-2"], EMPTY);
}

#[test]
fn redirects_are_followed_five_times_and_no_more() {
    let cases: [(usize, bool); 4] = [(1, true), (5, true), (6, false), (40, false)];
    for (num_hops, is_read) in cases {
        run_paused(async {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 3);
            node.web.on(ROBOTS, [to("/hop-1")]);
            for hop in 1..num_hops {
                node.web.on(&format!("http://a.test/hop-{hop}"), [to(&format!("/hop-{}", hop + 1))]);
            }
            node.web.on(&format!("http://a.test/hop-{num_hops}"), [ScriptedAnswer::text(RULES)]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MAX_WAIT).await;
            let pages: &[&str] = if is_read { &["/", "/page-2"] } else { &[] };
            assert_eq!(node.web.pages_asked("a.test"), pages, "{num_hops} redirects");
            assert_eq!(robots_times(&node).len(), 1 + num_hops.min(5), "{num_hops} redirects");
            assert_polite(&node.web.log(), DELAY);
            node.stop().await;
        });
    }
    for away in ["/robots.txt", "", "http://", "ftp://a.test/robots.txt", "http://u:p@a.test/x", "http://b.test/x"] {
        check(&format!("a redirect to {away:?}"), to(away), &[], UNREADABLE);
    }
}

#[test]
fn redirects_within_the_site_may_change_scheme_host_and_port() {
    for target in ["https://a.test/robots.txt", "http://www.a.test/robots.txt", "http://a.test:8080/rules"] {
        run_paused(async {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 3);
            node.web.on(ROBOTS, [to(target)]);
            node.web.on(target, [ScriptedAnswer::text(RULES)]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MAX_WAIT).await;
            assert_eq!(node.web.pages_asked("a.test"), ["/", "/page-2"], "{target}");
            node.stop().await;
        });
    }
}

#[test]
fn one_request_serves_all_urls_of_an_origin_and_each_origin_has_its_own() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let homes = ["http://a.test/", "https://a.test/", "http://a.test:8080/", "http://www.a.test/"];
        node.web.on("https://a.test/robots.txt", [ScriptedAnswer::text("User-agent: *\nDisallow: /\n")]);
        let seeds: Vec<String> =
            homes.iter().flat_map(|home| (0..4).map(move |number| format!("{home}{number}"))).collect();
        node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MAX_WAIT).await;
        let log = node.web.log();
        for home in homes {
            let of_origin = |kind| {
                log.iter().filter(|request| request.kind == kind && request.url.as_str().starts_with(home)).count()
            };
            assert_eq!(of_origin(RequestKind::Robots), 1, "{home}");
            assert_eq!(of_origin(RequestKind::Page), if home.starts_with("https") { 0 } else { 4 }, "{home}");
        }
        assert_polite(&log, DELAY);
        node.stop().await;
    });
}

#[test]
fn no_more_than_twenty_origins_are_asked_in_a_cycle() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let links: Vec<String> = (0..40).map(|number| format!("http://h{number}.a.test/")).collect();
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&as_strs(&links))]);
        for link in &links {
            node.web.on(&format!("{link}robots.txt"), [ScriptedAnswer::text("User-agent: *\nDisallow: /\n")]);
        }
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MAX_WAIT).await;
        assert_eq!(robots_times(&node).len(), 20);
        node.stop().await;
    });
}

fn as_strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

/// A site whose Crawl-delay of two hours makes its cycle last for almost two days; its file comes with this Cache-Control.
async fn slow_site(cache_control: Option<&str>) -> TestNode {
    let node = TestNode::start_new().await;
    node.web.site("a.test", 30);
    let mut head = ResponseHead::new(200);
    if let Some(value) = cache_control {
        head.push("cache-control", value.as_bytes());
    }
    node.web.on(ROBOTS, [ScriptedAnswer::answer(head, "User-agent: *\nCrawl-delay: 7200\n")]);
    node.seed(&["http://a.test/"]).await;
    node
}

#[test]
fn a_file_is_asked_for_again_after_a_day_or_sooner_if_it_says_so() {
    for (cache_control, hours) in [
        (None, &[0, 24][..]),
        (Some("max-age=864000"), &[0, 24]),
        (Some("max-age=36000"), &[0, 10, 20, 30, 40]),
        // Every page has a file of its own: each comes two hours after the other.
        (Some("no-store"), &[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76]),
    ] {
        run_paused(async {
            let node = slow_site(cache_control).await;
            node.when_idle(3 * HOUR).await;
            let asked: Vec<u64> = robots_times(&node).iter().map(|at| at.as_secs() / 3600).collect();
            assert_eq!(asked, hours, "{cache_control:?}");
            assert_eq!(node.web.pages_asked("a.test").len(), 20);
            assert_polite(&node.web.log(), 2 * HOUR);
            node.stop().await;
        });
    }
}

#[test]
fn a_good_copy_rules_on_for_a_day_while_the_file_fails_then_nothing_is_asked_for_half_a_day() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 30);
        let rules = "User-agent: *\nDisallow: /page-7\nCrawl-delay: 7200\n";
        node.web.on(ROBOTS, [ScriptedAnswer::text(rules), ScriptedAnswer::status(503)]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(30 * HOUR).await;
        let log = node.web.log();
        let first = log[0].started_at;
        let pages = log.iter().filter(|request| request.kind == RequestKind::Page);
        let hours: Vec<u64> = pages.map(|page| page.started_at.since(first).as_secs() / 3600).collect();
        assert_eq!(hours[..11], [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]);
        // Silence begins with the 24th hour; from its twelfth hour on the old copy rules again.
        assert!(hours.len() > 15 && hours[11] >= 36, "{hours:?}");
        assert!(!node.web.pages_asked("a.test").contains(&"/page-7".to_owned()));
        assert_polite(&log, 2 * HOUR);
        node.stop().await;
    });
}

#[test]
fn a_tightened_file_takes_what_it_forbids_out_of_the_queue_and_the_store_at_once() {
    run_paused(async {
        let settings = TestSettings::default();
        let node = TestNode::start(&TestDisk::new(), settings).await;
        node.web.site("a.test", 40);
        let loose = "User-agent: *\nCrawl-delay: 7200\n";
        let tight = "User-agent: *\nCrawl-delay: 7200\nDisallow: /page\n";
        node.web.on(ROBOTS, [ScriptedAnswer::text(loose), ScriptedAnswer::text(tight)]);
        node.seed(&["http://a.test/"]).await;
        sleep(23 * HOUR).await;
        let num_asked = node.web.pages_asked("a.test").len();
        assert_eq!(node.stored_pages("a.test").await.len(), num_asked);
        assert!(num_asked > 5);
        // The file is read again after a day.
        sleep(3 * HOUR).await;
        assert_eq!(robots_times(&node).len(), 2);
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
        let queue = node.read(|store| store.frontier(&PageUrl::parse("http://a.test/", None).unwrap().site())).await;
        let forbidden = EntryStanding::Dropped(DropReason::Robots { line: 3, text: "Disallow: /page".to_owned() });
        assert_eq!(queue.entries.iter().filter(|entry| entry.standing == forbidden).count(), 39);
        assert_eq!(node.web.pages_asked("a.test").len(), num_asked);
        node.stop().await;
    });
}

#[test]
fn a_copy_that_ran_out_during_a_pause_is_read_again_before_the_first_page() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 2);
        let head = ResponseHead::new(200).with("cache-control", "max-age=600");
        node.web.on(ROBOTS, [ScriptedAnswer::answer(head, ""), ScriptedAnswer::text("User-agent: *\nDisallow: /\n")]);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(1)).await;
        node.frontier.send(PauseSite(site("a.test"))).await.unwrap();
        sleep(HOUR).await;
        node.frontier.send(ResumeSite(site("a.test"))).await.unwrap();
        node.when_idle(MAX_WAIT).await;
        assert_eq!(robots_times(&node).len(), 2);
        assert!(node.web.pages_asked("a.test").is_empty());
        node.stop().await;
    });
}
