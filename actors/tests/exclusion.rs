//! Taking a domain out while it is being crawled, and back in (P8).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_actors::frontier::{ExcludeDomain, ExclusionAnswer, IncludeDomain};
use lohisoftbot_actors::index::StorePage;
use lohisoftbot_actors::permits::Permits;
use lohisoftbot_actors::ports::GateState;
use lohisoftbot_actors::storage::{Applied, ExclusionCounts};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::{page, site};
use lohisoftbot_actors::testkit::web::{LoggedEnd, LoggedRequest, ScriptedAnswer};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::RequestKind;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

async fn exclude(node: &TestNode, domain: &str) -> ExclusionAnswer {
    let order = ExcludeDomain { domain: Domain::parse(domain).unwrap(), reason: "asked".to_owned() };
    node.frontier.send(order).await.unwrap().expect("it is durable")
}

async fn include(node: &TestNode, domain: &str) -> bool {
    node.frontier.send(IncludeDomain(Domain::parse(domain).unwrap())).await.unwrap().expect("it is durable")
}

fn num_open(node: &TestNode) -> usize {
    let is_open = |request: &&LoggedRequest| request.end == LoggedEnd::Open && request.url.host() == "a.test";
    node.web.log().iter().filter(is_open).count()
}

#[test]
fn open_connection_is_closed_before_the_answer_and_no_request_follows() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 10);
        node.web.on("http://a.test/page-2", [ScriptedAnswer::never()]);
        node.web.site("b.test", 10);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(MINUTE).await;
        assert_eq!(num_open(&node), 1);
        let answer = exclude(&node, "a.test").await;
        assert_eq!(num_open(&node), 0, "no connection is open when the answer comes");
        assert_eq!(answer.num_live_sites, 1);
        assert_eq!((answer.stored.num_sites, answer.stored.num_pages), (1, 2));
        let num_asked = node.web.pages_asked("a.test").len();
        sleep(HOUR).await;
        assert_eq!(node.web.pages_asked("a.test").len(), num_asked);
        assert_eq!(node.web.pages_asked("b.test").len(), 10, "other sites go on");
        assert!(node.row("a.test").await.is_none());
        assert_eq!(node.stored_pages("a.test").await, [""; 0]);
        node.stop().await;
    });
}

#[test]
fn exclusion_counts_what_left_the_store() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 3);
        node.web.on("http://b.test/", [ScriptedAnswer::page_with_links(&["http://a.test/", "http://www.a.test/"])]);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        // www.a.test was asked for once, and is no page; links to it went with the end of a.test's cycle or go now.
        let answer = exclude(&node, "a.test").await;
        let stored = answer.stored;
        assert_eq!((answer.num_live_sites, answer.num_live_urls), (0, 0));
        let wanted = ExclusionCounts {
            num_anchors_to: stored.num_anchors_to,
            num_frontier_urls: stored.num_frontier_urls,
            num_sites: 1,
            num_pages: 3,
            num_anchors_from: 4,
        };
        assert_eq!(stored, wanted);
        assert!((1..=2).contains(&stored.num_anchors_to), "{stored:?}");
        assert!(stored.num_frontier_urls >= 3, "{stored:?}");
        assert_eq!(exclude(&node, "a.test").await.stored, ExclusionCounts::default(), "nothing is left");
        node.stop().await;
    });
}

#[test]
fn page_that_comes_late_is_refused_by_the_store() {
    run_paused(async {
        let node = TestNode::start_new().await;
        exclude(&node, "a.test").await;
        let permits = Permits::new(1, 1 << 20, 1 << 20);
        let late = StorePage {
            record: Box::new(page("http://a.test/", 1)),
            links: Vec::new(),
            permit: permits.acquire(RequestKind::Page).await,
        };
        let applied = node.index.send(late).await.unwrap().unwrap();
        assert!(matches!(applied, Applied::RefusedExcluded { .. }), "{applied:?}");
        permits.acquire(RequestKind::Page).await;
        assert_eq!(node.stats.num_pages_stored.get(), 0);
        node.stop().await;
    });
}

#[test]
fn request_that_is_being_prepared_does_not_leave() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 5);
        node.gate.set(GateState::Shut);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        exclude(&node, "test").await;
        node.gate.set(GateState::Open);
        sleep(HOUR).await;
        assert_eq!(node.web.log().len(), 0);
        assert_eq!(node.stats.num_sites_live.get(), 0);
        node.stop().await;
    });
}

#[test]
fn part_of_a_site_goes_and_the_rest_goes_on() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let home = ["/x", "http://shop.a.test/", "http://shop.a.test/y", "http://blog.a.test/"];
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&home)]);
        node.web.on("http://shop.a.test/", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        sleep(2 * MINUTE).await;
        assert_eq!(node.web.log().last().unwrap().end, LoggedEnd::Open);
        let answer = exclude(&node, "shop.a.test").await;
        assert!(matches!(node.web.log().last().unwrap().end, LoggedEnd::Dropped(_)));
        assert_eq!((answer.num_live_sites, answer.num_live_urls), (1, 2));
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("shop.a.test"), ["/"]);
        assert_eq!(node.web.pages_asked("blog.a.test"), ["/"]);
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/x"]);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

#[test]
fn seeds_of_an_excluded_domain_are_refused_and_the_rest_of_the_budget_goes_on_after_inclusion() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 30);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        exclude(&node, "a.test").await;
        assert_eq!(node.seed(&["http://a.test/", "http://www.a.test/"]).await.num_excluded, 2);
        sleep(HOUR).await;
        assert!(!include(&node, "b.test").await);
        assert!(include(&node, "a.test").await);
        assert_eq!(node.seed(&["http://a.test/"]).await.num_new_sites, 1);
        node.when_idle(MINUTE).await;
        assert_eq!(num_page_requests(&node.web.log(), &site("a.test")), 20, "one budget for before and after");
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

#[test]
fn exclusion_holds_over_a_kill() {
    let disk = TestDisk::new();
    run_paused(async {
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 5);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        exclude(&node, "a.test").await;
    });
    disk.crash();
    run_paused(async {
        let node = TestNode::start(&disk, TestSettings::default()).await;
        assert_eq!(node.seed(&["http://a.test/"]).await.num_excluded, 1);
        sleep(HOUR).await;
        assert_eq!(node.web.log().len(), 0);
        node.stop().await;
    });
}

#[test]
fn second_exclusion_waits_for_the_connection_that_the_first_one_closes() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        let (first, second) = futures_util::future::join(exclude(&node, "a.test"), exclude(&node, "test")).await;
        assert_eq!((first.num_live_sites, second.num_live_sites), (1, 1));
        assert!(matches!(node.web.log().last().unwrap().end, LoggedEnd::Dropped(_)));
        node.stop().await;
    });
}

/// The preparation of the excluded host's request ends in the very moment in which the exclusion comes.
#[test]
fn address_of_an_excluded_host_is_never_dialled_for_another_of_its_site() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let (out, stays) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3));
        node.resolver.place("out.a.test", out);
        node.resolver.place("stays.a.test", stays);
        let dialled = Rc::new(RefCell::new(Vec::new()));
        let seen = dialled.clone();
        node.web.watch(move |order| {
            seen.borrow_mut().push((order.url.host().to_owned(), *order.address.socket_addr().ip()));
        });
        node.gate.set(GateState::Shut);
        node.seed(&["http://out.a.test/", "http://stays.a.test/"]).await;
        sleep(Duration::from_secs(1)).await;
        let domain = Domain::parse("out.a.test").unwrap();
        let answered = node.frontier.send(ExcludeDomain { domain, reason: String::new() });
        node.gate.set(GateState::Open);
        answered.await.unwrap().expect("it is durable");
        node.when_idle(MINUTE).await;
        let dialled = dialled.borrow().clone();
        assert!(!dialled.is_empty());
        assert!(dialled.iter().all(|(host, to)| host == "stays.a.test" && *to == stays), "{dialled:?}");
        node.stop().await;
    });
}
