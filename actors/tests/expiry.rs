//! Pages whose `unavailable_after` passes while nobody asks for them again: their records go at that moment.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::storage::{RecordStore, StoreError};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::node::{FIRST_START, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::{site, url};
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

fn starting_at(starts_at: Timestamp) -> TestSettings {
    TestSettings { starts_at, ..TestSettings::default() }
}

/// A page with a link to another site, which must not be kept from `end` on.
fn page_until(end: Timestamp) -> ScriptedAnswer {
    let head = ResponseHead::new(200).with("content-type", "text/html");
    let head = head.with("x-robots-tag", format!("unavailable_after: {end}"));
    ScriptedAnswer::answer(head, "<!doctype html><title>For now</title><a href=http://b.test/>b</a><a href=/kept>x</a>")
}

/// A site whose home page expires at `end` and whose other page does not.
async fn crawl(node: &TestNode, end: Timestamp) {
    node.web.on("http://a.test/", [page_until(end)]);
    node.web.on("http://a.test/kept", [ScriptedAnswer::page_with_links(&["http://b.test/"])]);
    node.seed(&["http://a.test/"]).await;
    node.when_idle(MINUTE).await;
}

type Stored = (Vec<String>, Vec<String>);

/// The stored pages of the site, and those that are known to link to the other one.
fn stored(store: &dyn RecordStore) -> Result<Stored, StoreError> {
    let pages = store.pages_of(&site("a.test"))?.iter().map(|page| page.url.to_string()).collect();
    let sources = store.inlinks_of(&url("http://b.test/"))?.iter().map(|row| row.source.to_string()).collect();
    Ok((pages, sources))
}

fn urls(urls: &[&str]) -> Vec<String> {
    urls.iter().map(|url| (*url).to_owned()).collect()
}

#[track_caller]
fn check_both(stored: Stored) {
    let both = urls(&["http://a.test/", "http://a.test/kept"]);
    assert_eq!(stored, (both.clone(), both));
}

#[track_caller]
fn check_given_up(stored: Stored) {
    let kept = urls(&["http://a.test/kept"]);
    assert_eq!(stored, (kept.clone(), kept));
}

#[test]
fn a_page_gives_its_record_up_when_its_time_passes_though_nobody_asks_for_it() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        let end = FIRST_START.plus(2 * DAY);
        crawl(&node, end).await;
        check_both(node.read(stored).await);
        sleep(end.since(node.clock.now()) - Duration::from_secs(1)).await;
        check_both(node.read(stored).await);
        sleep(Duration::from_millis(1100)).await;
        check_given_up(node.read(stored).await);
        assert_eq!(node.row("a.test").await.unwrap().num_pages, 1);
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/kept"], "nothing was asked for it");
        node.stop().await;
        check_given_up(disk.look(|store| stored(store)).unwrap());
    });
}

#[test]
fn a_page_whose_time_passed_while_the_node_was_down_goes_at_the_start() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        crawl(&node, FIRST_START.plus(2 * DAY)).await;
        node.stop().await;
        check_both(disk.look(|store| stored(store)).unwrap());
        let node = TestNode::start(&disk, starting_at(FIRST_START.plus(3 * DAY))).await;
        check_given_up(node.read(stored).await);
        assert_eq!(node.web.log().len(), 0);
        node.stop().await;
    });
}

#[test]
fn a_kill_forgets_neither_the_time_nor_the_removal() {
    let disk = TestDisk::new();
    let end = FIRST_START.plus(2 * DAY);
    let killed_at = run_paused(async {
        let node = TestNode::start(&disk, TestSettings::default()).await;
        crawl(&node, end).await;
        node.clock.now()
    });
    disk.crash();
    run_paused(async {
        let node = TestNode::start(&disk, starting_at(killed_at)).await;
        check_both(node.read(stored).await);
        // It is removed, and the node dies before that is durable.
        sleep(end.since(node.clock.now()) + Duration::from_millis(10)).await;
        check_given_up(node.read(stored).await);
    });
    disk.crash();
    check_both(disk.look(|store| stored(store)).unwrap());
    run_paused(async {
        let node = TestNode::start(&disk, starting_at(end.plus(HOUR))).await;
        check_given_up(node.read(stored).await);
        sleep(Duration::from_secs(1)).await;
    });
    disk.crash();
    check_given_up(disk.look(|store| stored(store)).unwrap());
}

#[test]
fn a_time_that_comes_sooner_than_the_one_waited_for_is_kept_too() {
    run_paused(async {
        let node = TestNode::start_new().await;
        for (host, hours) in [("a.test", 48), ("c.test", 1), ("d.test", 24)] {
            let home = format!("http://{host}/");
            node.web.on(&home, [page_until(FIRST_START.plus(hours * HOUR))]);
            node.seed(&[&home]).await;
            node.when_idle(MINUTE).await;
        }
        let left = async || {
            let stored = [node.stored_pages("a.test"), node.stored_pages("c.test"), node.stored_pages("d.test")];
            futures_util::future::join_all(stored).await.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(left().await, [1, 1, 1]);
        for wanted in [[1, 0, 1], [1, 0, 0]] {
            sleep(if wanted == [1, 0, 1] { HOUR } else { 23 * HOUR }).await;
            assert_eq!(left().await, wanted);
        }
        sleep(24 * HOUR).await;
        assert_eq!(left().await, [0, 0, 0]);
        node.stop().await;
    });
}

#[test]
fn more_pages_than_a_batch_expire_together() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let end = FIRST_START.plus(2 * DAY);
        let homes: Vec<String> = (0..70).map(|number| format!("http://s{number}.test/")).collect();
        for home in &homes {
            node.web.on(home, [page_until(end)]);
        }
        node.seed(&homes.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MINUTE).await;
        let num_pages = async || node.read(|store| Ok(store.stats().num_pages)).await;
        assert_eq!(num_pages().await, 70);
        sleep(end.since(node.clock.now()) + Duration::from_secs(1)).await;
        assert_eq!(num_pages().await, 0);
        assert_eq!(node.read(|store| store.first_expiry()).await, None);
        node.stop().await;
    });
}

#[test]
fn an_expired_page_is_asked_for_again_in_the_next_cycle() {
    run_paused(async {
        let mut settings = TestSettings::default();
        settings.rules.recrawl_interval = 3 * DAY;
        let node = TestNode::start(&TestDisk::new(), settings).await;
        let (first, second) = (FIRST_START.plus(2 * DAY), FIRST_START.plus(30 * DAY));
        node.web.on("http://a.test/", [page_until(first), page_until(second)]);
        node.seed(&["http://a.test/"]).await;
        sleep(2 * DAY + HOUR).await;
        assert_eq!(node.stored_pages("a.test").await, [] as [&str; 0]);
        sleep(DAY).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
        node.stop().await;
    });
}

/// A live site's queue still says that the page has a record when its robots.txt comes to forbid it.
#[test]
fn a_page_that_expired_and_is_forbidden_later_is_harmless() {
    run_paused(async {
        let mut settings = TestSettings::default();
        settings.rules.recrawl_interval = 3 * DAY;
        let node = TestNode::start(&TestDisk::new(), settings).await;
        node.web.on("http://a.test/", [page_until(FIRST_START.plus(2 * DAY))]);
        node.web.on(
            "http://a.test/robots.txt",
            [ScriptedAnswer::text(""), ScriptedAnswer::text("User-agent: *\nDisallow: /")],
        );
        node.seed(&["http://a.test/"]).await;
        sleep(4 * DAY).await;
        assert_eq!(node.stored_pages("a.test").await, [] as [&str; 0]);
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/kept"], "in the first cycle alone");
        node.stop().await;
    });
}
