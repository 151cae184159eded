//! Faults of the node's own: a ledger that fails, actors and ports that panic.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lohisoftbot_actors::extractor::DieNow;
use lohisoftbot_actors::frontier::{HostGone, RESTART_DELAY, Retired};
use lohisoftbot_actors::host::SiteIdentity;
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn no_request_leaves_when_the_ledger_cannot_be_synced() {
    run_paused(async {
        let disk = TestDisk::new();
        disk.break_ledger();
        let mut node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 5);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(10 * MINUTE).await;
        assert_eq!(node.web.log().len(), 0);
        assert!(node.fatal.try_recv().unwrap().contains("cannot sync"));
        node.stop().await;
    });
}

#[test]
fn no_request_leaves_after_the_ledger_fails_and_the_node_can_end() {
    run_paused(async {
        let disk = TestDisk::new();
        let mut node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 30);
        node.web.site("b.test", 30);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(MINUTE).await;
        let num_before = node.web.log().len();
        disk.break_ledger();
        sleep(10 * MINUTE).await;
        assert_eq!(node.web.log().len(), num_before);
        assert!(node.fatal.try_recv().is_ok());
        node.stop().await;
    });
}

/// A node whose host actor panics just before its `nth` request leaves.
async fn start_with_panic_at(nth: u32) -> TestNode {
    let calls = Arc::new(AtomicU32::new(0));
    let identity = move |_: &_, _| {
        // It is asked for twice a request: for the ticket, and when the request leaves.
        assert_ne!(calls.fetch_add(1, Ordering::SeqCst) + 1, 2 * nth, "the test says so");
        SiteIdentity { user_agent: "x".to_owned(), source: None }
    };
    let settings = TestSettings { identity: Arc::new(identity), ..TestSettings::default() };
    TestNode::start(&TestDisk::new(), settings).await
}

#[test]
fn host_actor_that_panics_is_followed_by_another_that_goes_on_from_the_ledger() {
    run_paused(async {
        let node = start_with_panic_at(4).await;
        node.web.site("a.test", 30);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        assert_eq!(node.stats.num_actor_restarts.get(), 1);
        assert_eq!(num_page_requests(&log, &site("a.test")), 19, "the open ticket counts as spent");
        assert_polite(&log, DELAY);
        let pause = log[3].started_at.since(log[2].started_at);
        assert!(pause >= RESTART_DELAY, "{pause:?}");
        node.stop().await;
    });
}

#[test]
fn fetch_port_that_panics_counts_as_a_failed_request() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 3);
        node.web.on("http://a.test/page-1", [ScriptedAnswer::panic(), ScriptedAnswer::html("<title>x</title>")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(5 * MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/page-1", "/page-2", "/page-1"]);
        assert_eq!(node.stats.num_failures.get(), 1);
        assert_eq!(node.stored_pages("a.test").await.len(), 3);
        node.stop().await;
    });
}

#[test]
fn page_that_makes_extraction_panic_is_dropped_and_the_site_goes_on() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        node.web.on("http://a.test/page-1", [ScriptedAnswer::html("<p data-fail-point=\"panic\">")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 4);
        assert_eq!(node.stored_pages("a.test").await.len(), 3);
        assert_eq!(node.stats.num_extraction_panics.get(), 1);
        node.stop().await;
    });
}

/// A page that was lost with its extractor used to hold its site, and its permit's place, for ever.
#[test]
fn page_that_is_lost_with_its_extractor_is_dropped_and_the_extractor_replaced() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        let extractors = node.extractors.clone();
        node.web.watch(move |order| {
            if order.url.path_and_query() == "/page-1" {
                extractors.for_site(&order.url.site()).expect("an extractor lives").do_send(DieNow);
            }
        });
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 4);
        assert_eq!(node.stored_pages("a.test").await.len(), 3);
        assert_eq!(node.stats.num_actor_restarts.get(), 1);
        node.stop().await;
    });
}

#[test]
fn another_extractor_reads_the_pages_of_a_dead_one() {
    run_paused(async {
        let settings = TestSettings { num_extractors: 3, ..TestSettings::default() };
        let node = TestNode::start(&TestDisk::new(), settings).await;
        node.web.site("a.test", 4);
        let extractors = node.extractors.clone();
        node.web.watch(move |order| {
            if order.url.path_and_query() == "/page-1" {
                extractors.for_site(&order.url.site()).expect("an extractor lives").do_send(DieNow);
            }
        });
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await.len(), 4);
        node.stop().await;
    });
}

#[test]
fn what_a_dead_actor_left_behind_changes_nothing() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 10);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(20)).await;
        let stale = Retired {
            site: site("a.test"),
            generation: 999,
            standing: SiteStanding::Due,
            due_at: Timestamp::EPOCH,
            late_seeds: Vec::new(),
        };
        node.frontier.send(stale).await.unwrap();
        node.frontier.send(HostGone { site: site("a.test"), generation: 999 }).await.unwrap();
        assert_eq!(node.stats.num_sites_live.get(), 1);
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 10);
        assert_eq!(node.stats.num_actor_restarts.get(), 0);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}
