//! Waits: a parked site holds no actor, comes back when due, and no end of the node shortens anything.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::storage::RecordStore;
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, cut_off, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, FIRST_START, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::{LoggedEnd, LoggedRequest, ScriptedAnswer};
use lohisoftbot_core::ledger::WaitReason;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

fn busy(retry_after_secs: u64) -> ScriptedAnswer {
    let head = ResponseHead::new(503).with("retry-after", retry_after_secs.to_string());
    ScriptedAnswer::answer(head, "")
}

fn starting_at(starts_at: Timestamp) -> TestSettings {
    TestSettings { starts_at, ..TestSettings::default() }
}

fn ended_at(request: &LoggedRequest) -> Timestamp {
    match request.end {
        LoggedEnd::Ended(at) | LoggedEnd::Dropped(at) => at,
        LoggedEnd::Open => panic!("still open: {request:?}"),
    }
}

#[test]
fn parked_site_holds_no_actor_and_comes_back_when_due() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [busy(600), ScriptedAnswer::html("<title>x</title>")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stats.num_sites_live.get(), 0);
        let row = node.row("a.test").await.unwrap();
        assert_eq!(row.standing, SiteStanding::Parked { reason: WaitReason::RetryAfter });
        sleep(Duration::from_secs(590)).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/"]);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/"]);
        let log = node.web.log();
        assert!(log[2].started_at.since(ended_at(&log[1])) >= Duration::from_secs(600));
        node.stop().await;
    });
}

#[test]
fn crawl_delay_of_minutes_parks_the_site_between_requests_and_is_kept() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text("User-agent: *\nCrawl-delay: 300\n")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(Duration::from_secs(400)).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 4);
        assert_polite(&node.web.log(), Duration::from_secs(300));
        assert!(node.stats.num_sites_parked.get() >= 4);
        node.stop().await;
    });
}

#[test]
fn sites_that_retire_together_each_come_back_when_due() {
    run_paused(async {
        let settings = TestSettings { max_live_sites: 6, ..TestSettings::default() };
        let node = TestNode::start(&TestDisk::new(), settings).await;
        let seeds: Vec<String> = (0..12).map(|number| format!("http://s{number}.test/")).collect();
        for (url, number) in seeds.iter().zip(0..) {
            node.web.on(url, [busy(300 - 10 * number), ScriptedAnswer::html("<title>x</title>")]);
        }
        node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
        sleep(Duration::from_secs(400)).await;
        for number in 0..12 {
            let host = format!("s{number}.test");
            let log: Vec<_> = node.web.log().into_iter().filter(|request| request.url.host() == host).collect();
            let [_, first, second, ..] = &log[..] else { panic!("{log:?}") };
            let late = second.started_at.since(ended_at(first).plus(Duration::from_secs(300 - 10 * number)));
            assert!(late < Duration::from_secs(1), "{host} came {late:?} late");
        }
        node.stop().await;
    });
}

#[test]
fn a_wait_longer_than_max_wait_is_idle_and_a_shorter_one_is_not() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [busy(600), ScriptedAnswer::html("<title>x</title>")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 1);
        node.when_idle(Duration::from_secs(601)).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 2);
        node.stop().await;
    });
}

#[test]
fn node_without_sites_is_idle_at_once() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.when_idle(Duration::from_secs(u64::MAX / 4)).await;
        assert!(node.clock.now().since(FIRST_START) < MINUTE);
        node.stop().await;
    });
}

#[test]
fn retry_after_holds_over_an_orderly_end_and_a_start() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.on("http://a.test/", [busy(3000)]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let asked = node.web.log().pop().unwrap();
        let (clock, until) = (node.clock.clone(), ended_at(&asked).plus(Duration::from_secs(3000)));
        node.stop().await;

        let node = TestNode::start(&disk, starting_at(clock.now())).await;
        node.web.site("a.test", 2);
        node.seed(&["http://a.test/page-1"]).await;
        sleep(Duration::from_secs(4000)).await;
        let log = node.web.log();
        assert_eq!(node.web.pages_asked("a.test").len(), 2);
        assert!(log[0].started_at >= until, "{log:?}");
        node.stop().await;
    });
}

#[test]
fn short_wait_in_progress_holds_over_an_orderly_end_and_a_start() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 30);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(22)).await;
        let clock = node.clock.clone();
        let mut log = node.web.log();
        node.stop().await;
        let node = TestNode::start(&disk, starting_at(clock.now())).await;
        node.web.site("a.test", 30);
        node.when_idle(MINUTE).await;
        log.extend(node.web.log());
        assert_polite(&log, DELAY);
        assert_eq!(num_page_requests(&log, &site("a.test")), 20, "one budget for both");
        node.stop().await;
    });
}

#[test]
fn kill_with_an_open_request_forgets_neither_budget_nor_delay() {
    let disk = TestDisk::new();
    let (first, killed_at) = run_paused(async {
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 30);
        node.web.on("http://a.test/page-2", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        (node.web.log(), node.clock.now())
    });
    assert_eq!(first.last().unwrap().end, LoggedEnd::Open);
    disk.crash();
    run_paused(async {
        let node = TestNode::start(&disk, starting_at(killed_at)).await;
        node.web.site("a.test", 30);
        node.when_idle(MINUTE).await;
        let mut log = cut_off(first, killed_at);
        let first_after = log.len();
        log.extend(node.web.log());
        assert_polite(&log, DELAY);
        assert!(log[first_after].started_at.since(killed_at) >= DELAY, "the delay runs from the restart");
        assert_eq!(num_page_requests(&log, &site("a.test")), 20, "one budget for both");
        node.stop().await;
    });
}

/// A new segment used to take numbers for the lines of its snapshot, and the next entry was refused.
#[test]
fn a_new_ledger_segment_every_day_loses_nothing() {
    run_paused(async {
        let disk = TestDisk::new();
        let mut settings = TestSettings::default();
        settings.rules.recrawl_interval = Duration::from_secs(86_400);
        let mut node = TestNode::start(&disk, settings.clone()).await;
        node.web.site("a.test", 2);
        node.web.site("b.test", 2);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(Duration::from_secs(5 * 86_400 + 3600)).await;
        assert!(node.fatal.try_recv().is_err(), "no failure");
        assert_eq!(node.web.pages_asked("a.test").len(), 12);
        assert_polite(&node.web.log(), DELAY);
        let (account, clock) = (node.row("a.test").await.unwrap().account, node.clock.clone());
        assert_eq!(account.cycle, 6);
        node.stop().await;
        assert_eq!(disk.ledger.book().accounts[&site("a.test")], account);
        let row = disk.look(|store| store.site(&site("a.test"))).unwrap().unwrap();
        assert_eq!(row.account, account);
        settings.starts_at = clock.now();
        let node = TestNode::start(&disk, settings).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.log().len(), 0, "the cycle's interval is not over");
        node.stop().await;
    });
}
