//! Sitemaps through a whole node in memory: found, read, counted, survived.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::extractor::DieNow;
use lohisoftbot_actors::frontier::{Discovery, ExcludeDomain};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::{LoggedEnd, ScriptedAnswer};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::ResolveFailure;
use lohisoftbot_core::page_choice::{DropReason, EntryStanding};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::url::PageUrl;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const NAMED: &str = "Sitemap: http://a.test/map.xml\n";

/// A node whose site has a home page without links, one page more, and this robots.txt and sitemap.
async fn node_with(robots: &str, map: ScriptedAnswer) -> TestNode {
    let node = TestNode::start_new().await;
    node.web.site("a.test", 1);
    node.web.on("http://a.test/hidden", [ScriptedAnswer::page_with_links(&[])]);
    node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text(robots)]);
    node.web.on("http://a.test/map.xml", [map]);
    node
}

async fn crawl(node: &TestNode) {
    node.seed(&["http://a.test/"]).await;
    node.when_idle(MINUTE).await;
    assert_polite(&node.web.log(), DELAY);
}

async fn standing(node: &TestNode, address: &str) -> Option<EntryStanding> {
    let url = PageUrl::parse(address, None).unwrap();
    let site = url.site();
    let frontier = node.read(move |store| store.frontier(&site)).await;
    frontier.entries.into_iter().find(|entry| entry.url == url).map(|entry| entry.standing)
}

fn sitemaps_asked(node: &TestNode) -> Vec<String> {
    node.web.asked(RequestKind::Sitemap, "a.test")
}

#[test]
fn page_that_only_a_named_sitemap_lists_is_found_and_stored() {
    run_paused(async {
        let node = node_with(NAMED, ScriptedAnswer::sitemap(&["http://a.test/hidden"])).await;
        crawl(&node).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/", "http://a.test/hidden"]);
        assert_eq!(sitemaps_asked(&node), ["/map.xml"]);
        assert_eq!((node.stats.num_sitemap_requests.get(), node.stats.num_page_requests.get()), (1, 3));
        let account = node.row("a.test").await.unwrap().account;
        assert_eq!((account.num_sitemap_requests, account.num_page_requests), (1, 3));
        node.stop().await;
    });
}

#[test]
fn page_that_only_the_guessed_sitemap_lists_is_found_and_stored() {
    run_paused(async {
        let node = node_with("User-agent: *\nAllow: /\n", ScriptedAnswer::status(404)).await;
        node.web.on("http://a.test/sitemap.xml", [ScriptedAnswer::sitemap(&["/hidden"])]);
        crawl(&node).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/", "http://a.test/hidden"]);
        assert_eq!(sitemaps_asked(&node), ["/sitemap.xml"]);
        node.stop().await;
    });
}

#[test]
fn site_with_links_enough_is_not_asked_for_a_sitemap_that_it_does_not_name() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 30);
        crawl(&node).await;
        assert_eq!((sitemaps_asked(&node).len(), node.web.pages_asked("a.test").len()), (0, 20));
        node.stop().await;
    });
}

#[test]
fn page_requests_and_those_for_sitemaps_share_one_budget_through_a_restart() {
    run_paused(async {
        let disk = TestDisk::new();
        let robots = "Sitemap: /1.xml\nSitemap: /2.xml\nSitemap: /3.xml\n";
        let pages: Vec<String> = (0..50).map(|number| format!("http://a.test/page-{number}")).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let prepare = |node: &TestNode| {
            node.web.site("a.test", 30);
            node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text(robots)]);
            for name in ["1.xml", "2.xml", "3.xml"] {
                node.web.on(&format!("http://a.test/{name}"), [ScriptedAnswer::sitemap(&pages)]);
            }
        };
        let first = TestNode::start(&disk, TestSettings::default()).await;
        prepare(&first);
        first.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(13)).await;
        let before = first.web.log();
        assert_eq!(before.last().unwrap().kind, RequestKind::Sitemap, "the first sitemap is asked before the restart");
        let starts_at = first.clock.now();
        first.stop().await;

        let second = TestNode::start(&disk, TestSettings { starts_at, ..TestSettings::default() }).await;
        prepare(&second);
        second.when_idle(MINUTE).await;
        let after = second.web.log();
        let num_sitemaps = |log: &[_]| {
            log.iter()
                .filter(|asked: &&lohisoftbot_actors::testkit::web::LoggedRequest| asked.kind == RequestKind::Sitemap)
                .count()
        };
        assert_eq!(num_sitemaps(&before) + num_sitemaps(&after), 2);
        let a_test = site("a.test");
        assert_eq!(num_page_requests(&before, &a_test) + num_page_requests(&after, &a_test), 20);
        second.stop().await;
    });
}

#[test]
fn sitemap_that_makes_its_reading_panic_is_dropped_and_the_site_goes_on() {
    run_paused(async {
        let map = ScriptedAnswer::text("http://a.test/hidden#data-fail-point=\"panic\"\n");
        let node = node_with(NAMED, map).await;
        node.web.site("a.test", 4);
        crawl(&node).await;
        assert_eq!(node.stats.num_extraction_panics.get(), 1);
        assert_eq!(node.stored_pages("a.test").await.len(), 4);
        let dropped = EntryStanding::Dropped(DropReason::ExtractionFailed);
        assert_eq!(standing(&node, "http://a.test/map.xml").await, Some(dropped));
        node.stop().await;
    });
}

#[test]
fn sitemap_that_is_lost_with_its_extractor_is_dropped_and_the_site_goes_on() {
    run_paused(async {
        let node = node_with(NAMED, ScriptedAnswer::sitemap(&["/hidden"])).await;
        node.web.site("a.test", 4);
        let extractors = node.extractors.clone();
        node.web.watch(move |order| {
            if order.kind == RequestKind::Sitemap {
                extractors.for_site(&order.url.site()).unwrap().do_send(DieNow);
            }
        });
        crawl(&node).await;
        assert_eq!(node.stored_pages("a.test").await.len(), 4);
        assert_eq!(node.stats.num_actor_restarts.get(), 1);
        node.stop().await;
    });
}

#[test]
fn what_is_no_sitemap_is_dropped_and_says_so() {
    run_paused(async {
        for body in ["<!doctype html><title>Not found</title>", "", "\u{1f}\u{8b}", "nothing of the kind"] {
            let node = node_with(NAMED, ScriptedAnswer::text(body)).await;
            crawl(&node).await;
            let dropped = EntryStanding::Dropped(DropReason::NoSitemap);
            // A text that is not even gzip has its first byte in two, and reads as nothing known.
            assert_eq!(standing(&node, "http://a.test/map.xml").await, Some(dropped), "{body:?}");
            assert_eq!(node.web.pages_asked("a.test"), ["/"], "{body:?}");
            node.stop().await;
        }
    });
}

#[test]
fn last_line_of_a_sitemap_that_was_cut_is_no_page() {
    run_paused(async {
        let map = ScriptedAnswer::text("http://a.test/hidden\nhttp://a.test/hidden/long").cut_short();
        let node = node_with(NAMED, map).await;
        crawl(&node).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/hidden"]);
        node.stop().await;
    });
}

#[test]
fn exclusion_breaks_off_a_request_for_a_sitemap() {
    run_paused(async {
        let node = node_with(NAMED, ScriptedAnswer::never()).await;
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        assert_eq!(sitemaps_asked(&node), ["/map.xml"]);
        let exclude = ExcludeDomain { domain: Domain::parse("a.test").unwrap(), reason: String::new() };
        node.frontier.send(exclude).await.unwrap().unwrap();
        assert!(matches!(node.web.log().last().unwrap().end, LoggedEnd::Dropped(_)));
        sleep(10 * MINUTE).await;
        assert_eq!(sitemaps_asked(&node).len(), 1);
        assert_eq!(node.stored_pages("a.test").await.len(), 0);
        node.stop().await;
    });
}

#[test]
fn addresses_of_sitemaps_are_vetted_and_nothing_of_another_site_is_asked() {
    run_paused(async {
        let robots = "Sitemap: http://inside.a.test/map.xml\nSitemap: http://b.test/map.xml\nSitemap: /map.xml\n";
        let map =
            ScriptedAnswer::sitemap(&["http://b.test/x", "http://127.0.0.1/x", "http://inside.a.test/x", "/hidden"]);
        let disk = TestDisk::new();
        let discovery = Discovery::Links { max_sites: 1000 };
        let node = TestNode::start(&disk, TestSettings { discovery, ..TestSettings::default() }).await;
        node.web.site("a.test", 1);
        node.web.on("http://a.test/hidden", [ScriptedAnswer::page_with_links(&[])]);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text(robots)]);
        node.web.on("http://a.test/map.xml", [map]);
        node.resolver.fail("inside.a.test", ResolveFailure::AddressRefused("10.0.0.0/8".to_owned()));
        crawl(&node).await;
        let hosts: Vec<String> = node.web.log().iter().map(|asked| asked.url.host().to_owned()).collect();
        assert!(hosts.iter().all(|host| host == "a.test"), "{hosts:?}");
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/hidden"]);
        let refused = standing(&node, "http://inside.a.test/map.xml").await;
        assert!(matches!(refused, Some(EntryStanding::Dropped(DropReason::AddressRefused { .. }))), "{refused:?}");
        node.stop().await;
    });
}

#[test]
fn redirect_of_a_sitemap_stays_in_the_site_and_a_busy_one_makes_the_site_wait() {
    run_paused(async {
        let head = ResponseHead::new(302).with("location", "http://b.test/map.xml");
        let disk = TestDisk::new();
        let discovery = Discovery::Links { max_sites: 1000 };
        let node = TestNode::start(&disk, TestSettings { discovery, ..TestSettings::default() }).await;
        node.web.site("a.test", 3);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text("Sitemap: /away.xml\nSitemap: /busy.xml\n")]);
        node.web.on("http://a.test/away.xml", [ScriptedAnswer::answer(head, "")]);
        let busy = ResponseHead::new(503).with("retry-after", "40");
        node.web.on("http://a.test/busy.xml", [ScriptedAnswer::answer(busy, "")]);
        crawl(&node).await;
        let log = node.web.log();
        let place = log.iter().position(|asked| asked.url.path_and_query() == "/busy.xml").unwrap();
        let LoggedEnd::Ended(ended_at) = log[place].end else { panic!("{:?}", log[place]) };
        node.when_idle(10 * MINUTE).await;
        let log = node.web.log();
        let gap = log[place + 1].started_at.since(ended_at);
        assert!(gap >= Duration::from_secs(60), "{gap:?}");
        assert!(
            log.iter().all(|asked| asked.url.host() == "a.test"),
            "a sitemap's redirect is no link to another site"
        );
        node.stop().await;
    });
}
