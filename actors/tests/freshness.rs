//! Second cycles: validators, 304s, removals, intervals that follow changes, and what `recrawl` may have.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::frontier::{ExcludeDomain, PauseSite, RecrawlSite};
use lohisoftbot_actors::index::ApplyChange;
use lohisoftbot_actors::storage::StoreChange;
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::{site, url};
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::record::Condition;
use lohisoftbot_core::recrawl::order::{RecrawlRefusal, Reopened};
use lohisoftbot_core::response::ResponseHead;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
const PAST: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn settings() -> TestSettings {
    let mut settings = TestSettings::default();
    settings.rules.recrawl_interval = 8 * DAY;
    (settings.rules.min_recrawl_interval, settings.rules.max_recrawl_interval) = (7 * DAY, 90 * DAY);
    settings
}

/// A page with a title, links and fields.
fn page(title: &str, links: &[&str], fields: &[(&str, &str)]) -> ScriptedAnswer {
    let head = ResponseHead::new(200).with("content-type", "text/html");
    let head = fields.iter().fold(head, |head, (name, value)| head.with(name, value));
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a>")).collect();
    ScriptedAnswer::answer(head, &format!("<!doctype html><title>{title}</title>{links}"))
}

fn not_modified(fields: &[(&str, &str)]) -> ScriptedAnswer {
    ScriptedAnswer::answer(fields.iter().fold(ResponseHead::new(304), |head, (name, value)| head.with(name, value)), "")
}

/// The conditions under which a path was asked, in turn.
fn conditions(node: &TestNode, path: &str) -> Vec<Option<Condition>> {
    let log = node.web.log().into_iter();
    log.filter(|request| request.url.path_and_query() == path).map(|request| request.condition).collect()
}

fn by_etag(etag: &str) -> Option<Condition> {
    Some(Condition::NoneMatch(etag.to_owned()))
}

async fn recrawl(node: &TestNode, host: &str) -> Result<Reopened, RecrawlRefusal> {
    node.frontier.send(RecrawlSite(site(host))).await.unwrap().expect("the node runs")
}

#[test]
fn stored_pages_are_asked_with_their_validators_and_a_304_renews() {
    run_paused(async {
        let node = TestNode::start(&TestDisk::new(), settings()).await;
        let paths = ["/dated", "/plain", "/weak", "/gone", "/hidden"];
        let home = page("Home", &paths, &[("etag", "\"h1\""), ("last-modified", PAST)]);
        node.web.on("http://a.test/", [home, not_modified(&[("etag", "\"h1\"")])]);
        node.web.on("http://a.test/dated", [page("D", &[], &[("last-modified", PAST)]), not_modified(&[])]);
        node.web.on("http://a.test/plain", [page("P", &[], &[]), page("P2", &[], &[])]);
        node.web.on("http://a.test/weak", [page("W", &[], &[("etag", "W/\"w\"")]), page("W2", &[], &[])]);
        node.web.on("http://a.test/gone", [page("G", &[], &[("etag", "\"g\"")]), ScriptedAnswer::status(410)]);
        let hidden = not_modified(&[("x-robots-tag", "noindex")]);
        node.web.on("http://a.test/hidden", [page("N", &[], &[("etag", "\"n\"")]), hidden]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await.len(), 6);
        sleep(8 * DAY).await;
        node.when_idle(MINUTE).await;
        assert_eq!(conditions(&node, "/"), [None, by_etag("\"h1\"")], "one condition, the stronger");
        assert_eq!(conditions(&node, "/dated"), [None, Some(Condition::ModifiedSince(PAST.to_owned()))]);
        assert_eq!(conditions(&node, "/plain"), [None, None]);
        assert_eq!(conditions(&node, "/weak"), [None, by_etag("W/\"w\"")]);
        let mut stored = node.stored_pages("a.test").await;
        stored.sort();
        assert_eq!(stored, ["/", "/dated", "/plain", "/weak"].map(|path| format!("http://a.test{path}")));
        let rate = node.row("a.test").await.unwrap().change_rate;
        assert_eq!((rate.cycle, rate.num_reasked, rate.num_changed), (2, 6, 4));
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

#[test]
fn page_whose_record_was_lost_is_asked_plainly_and_an_odd_304_makes_no_loop() {
    run_paused(async {
        let node = TestNode::start(&TestDisk::new(), settings()).await;
        node.web.on("http://a.test/", [page("Home", &["/x"], &[("etag", "\"h\"")]), not_modified(&[])]);
        node.web.on("http://a.test/x", [page("X", &[], &[("etag", "\"x\"")]), not_modified(&[])]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let lost = StoreChange::RemovePage { url: url("http://a.test/x") };
        node.index.send(ApplyChange(lost)).await.unwrap().unwrap();
        sleep(8 * DAY).await;
        node.when_idle(MINUTE).await;
        assert_eq!(conditions(&node, "/x"), [None, None]);
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
        node.stop().await;
    });
}

/// The days between the starts of the cycles of a site whose page always, or never, changes.
async fn days_between_cycles(second_answers: Vec<ScriptedAnswer>, num_days: u32) -> Vec<u64> {
    let node = TestNode::start(&TestDisk::new(), settings()).await;
    node.web.on("http://a.test/", second_answers);
    node.seed(&["http://a.test/"]).await;
    sleep(num_days * DAY).await;
    let starts: Vec<_> = node.web.log().iter().filter(|r| r.url.is_home()).map(|r| r.started_at).collect();
    node.stop().await;
    starts.windows(2).map(|pair| (pair[1].since(pair[0]).as_secs() + 43_200) / 86_400).collect()
}

#[test]
fn interval_of_a_site_follows_how_much_of_it_changes() {
    run_paused(async {
        let still = vec![page("Still", &[], &[("etag", "\"s\"")]), not_modified(&[])];
        assert_eq!(days_between_cycles(still, 130).await, [8, 8, 16, 32, 64], "up to 90 days");
        let restless = (0..9).map(|number| page(&format!("News {number}"), &[], &[])).collect();
        assert_eq!(days_between_cycles(restless, 38).await, [8, 8, 7, 7, 7], "down to 7 days");
    });
}

#[test]
fn better_page_takes_the_place_of_one_that_was_not_found_right_for_longest() {
    run_paused(async {
        let node = TestNode::start(&TestDisk::new(), settings()).await;
        node.web.site("a.test", 30);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let first = node.stored_pages("a.test").await;
        assert_eq!(first.len(), 20);
        let last_asked = node.web.pages_asked("a.test").pop().unwrap();
        // From now on every page links to a new one as well.
        let pages = (1..30).map(|number| format!("/page-{number}")).chain(["/new".to_owned()]).collect::<Vec<_>>();
        let links: Vec<_> = pages.iter().map(String::as_str).collect();
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&links)]);
        for path in &pages {
            node.web.on(&format!("http://a.test{path}"), [ScriptedAnswer::page_with_links(&["/", "/new"])]);
        }
        sleep(8 * DAY).await;
        node.when_idle(MINUTE).await;
        let second = node.stored_pages("a.test").await;
        assert_eq!(second.len(), 20);
        assert!(second.contains(&"http://a.test/new".to_owned()), "{second:?}");
        let gone: Vec<_> = first.iter().filter(|page| !second.contains(page)).collect();
        assert_eq!(gone, [&format!("http://a.test{last_asked}")], "the one that was asked last, and least of all");
        assert_eq!(num_page_requests(&node.web.log(), &site("a.test")), 40);
        node.stop().await;
    });
}

#[test]
fn recrawl_spends_the_rest_of_the_budget_over_a_crash_and_is_refused_then() {
    let disk = TestDisk::new();
    let (mut log, next_cycle_at, killed_at) = run_paused(async {
        let node = TestNode::start(&disk, settings()).await;
        node.web.site("a.test", 12);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let num_first = num_page_requests(&node.web.log(), &site("a.test"));
        let next_cycle_at = node.row("a.test").await.unwrap().account.next_cycle_at;
        sleep(DAY).await;
        let reopened = recrawl(&node, "a.test").await.unwrap();
        let num_left = 20 - u16::try_from(num_first).unwrap();
        assert_eq!((reopened.num_requests_left, reopened.num_urls), (num_left, num_left));
        assert_eq!(reopened.next_cycle_at, next_cycle_at);
        (node.web.log(), next_cycle_at, node.clock.now())
    });
    disk.crash();
    run_paused(async {
        let node = TestNode::start(&disk, TestSettings { starts_at: killed_at, ..settings() }).await;
        node.web.site("a.test", 12);
        node.when_idle(MINUTE).await;
        assert!(!node.web.log().is_empty(), "what the operator was told is not forgotten");
        log.extend(node.web.log());
        assert_eq!(num_page_requests(&log, &site("a.test")), 20);
        let account = node.row("a.test").await.unwrap().account;
        assert_eq!(account.cycle, 1);
        assert!(
            account.next_cycle_at >= next_cycle_at,
            "late requests put the next cycle off, and nothing brings it near"
        );
        let refusal = RecrawlRefusal::BudgetSpent { next_cycle_at: account.next_cycle_at };
        assert_eq!(recrawl(&node, "a.test").await, Err(refusal));
        assert_polite(&log, DELAY);
        node.stop().await;
    });
}

#[test]
fn recrawl_says_why_not() {
    run_paused(async {
        let node = TestNode::start(&TestDisk::new(), settings()).await;
        assert_eq!(recrawl(&node, "unknown.test").await, Err(RecrawlRefusal::Unknown));
        node.web.site("a.test", 12);
        node.web
            .on("http://b.test/", [ScriptedAnswer::answer(ResponseHead::new(503).with("retry-after", "86400"), "")]);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(Duration::from_secs(12)).await;
        let underway = recrawl(&node, "a.test").await;
        assert!(matches!(underway, Err(RecrawlRefusal::Underway { num_requests_left: 17..=19 })), "{underway:?}");
        let parked = recrawl(&node, "b.test").await;
        assert!(matches!(parked, Err(RecrawlRefusal::Parked { .. })), "{parked:?}");
        let num_before = num_page_requests(&node.web.log(), &site("b.test"));
        sleep(DAY - MINUTE).await;
        assert_eq!(num_page_requests(&node.web.log(), &site("b.test")), num_before, "no wait is cut short");
        assert!(node.frontier.send(PauseSite(site("a.test"))).await.unwrap());
        node.when_idle(MINUTE).await;
        assert_eq!(recrawl(&node, "a.test").await, Err(RecrawlRefusal::Paused));
        let out = ExcludeDomain { domain: Domain::parse("a.test").unwrap(), reason: String::new() };
        node.frontier.send(out).await.unwrap().unwrap();
        assert_eq!(recrawl(&node, "a.test").await, Err(RecrawlRefusal::Excluded));
        node.stop().await;
    });
}
