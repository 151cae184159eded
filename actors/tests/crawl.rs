//! A whole crawl in memory: what the other side sees of it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use lohisoftbot_actors::frontier::Discovery;
use lohisoftbot_actors::host::SiteIdentity;
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerRead};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, most_at_once, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::{LoggedEnd, ScriptedAnswer};
use lohisoftbot_core::budget::Budget;
use lohisoftbot_core::ledger::{LedgerEvent, SiteEvent};

const MINUTE: Duration = Duration::from_secs(60);

async fn start_with(change: impl FnOnce(&mut TestSettings)) -> TestNode {
    let mut settings = TestSettings::default();
    change(&mut settings);
    TestNode::start(&TestDisk::new(), settings).await
}

#[test]
fn seeds_are_crawled_to_the_budget_and_politely() {
    run_paused(async {
        let node = TestNode::start_new().await;
        for host in ["a.test", "b.test", "c.test"] {
            node.web.site(host, 30);
        }
        let counts = node.seed(&["http://a.test/", "http://b.test/", "http://c.test/page-3"]).await;
        assert_eq!((counts.num_new_sites, counts.num_known_sites), (3, 0));
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        assert_polite(&log, DELAY);
        assert!(log.iter().all(|request| request.user_agent == "LohiSoftBot/1.0 (test)"));
        for host in ["a.test", "b.test", "c.test"] {
            assert_eq!(num_page_requests(&log, &site(host)), 20, "{host}");
            assert_eq!(node.stored_pages(host).await.len(), 20, "{host}");
        }
        node.stop().await;
    });
}

#[test]
fn slow_answers_make_the_delay_longer() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["/b"]).after(Duration::from_secs(8))]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        // robots.txt, the page, the one that it links to, the guess at a sitemap.
        assert_eq!(log.len(), 4);
        assert_polite(&log, DELAY);
        let LoggedEnd::Ended(ended_at) = log[1].end else { panic!("still open") };
        assert!(log[2].started_at.since(ended_at) >= Duration::from_secs(40));
        node.stop().await;
    });
}

#[test]
fn what_robots_txt_forbids_is_never_asked() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 6);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text("User-agent: *\nDisallow: /page-2\n")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let asked = node.web.pages_asked("a.test");
        assert_eq!(asked.len(), 5, "{asked:?}");
        assert!(!asked.contains(&"/page-2".to_owned()));
        node.stop().await;
    });
}

#[test]
fn no_request_leaves_before_its_ticket_is_on_the_disk() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 5);
        let ledger = disk.ledger.clone();
        node.web.watch(move |order| {
            let tickets = EntryFilter { kinds: vec![EntryKind::Ticket], newest: Some(1), ..EntryFilter::default() };
            let newest = ledger.entries(&tickets).unwrap().pop().expect("a ticket is durable");
            let LedgerEvent::Site { event: SiteEvent::Ticket { url, .. }, .. } = newest.event else {
                panic!("no ticket: {newest:?}");
            };
            assert_eq!(url, order.url);
        });
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.log().len(), 7, "robots.txt, five pages, a sitemap");
        node.stop().await;
    });
}

#[test]
fn links_to_other_sites_are_left_alone_when_only_seeds_are_crawled() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["http://b.test/", "/x"])]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/x"]);
        assert_eq!(node.web.pages_asked("b.test"), [""; 0]);
        node.stop().await;
    });
}

#[test]
fn links_between_live_sites_are_followed_whatever_is_discovered() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["http://b.test/from-a"])]);
        node.web.site("b.test", 3);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        assert!(node.web.pages_asked("b.test").contains(&"/from-a".to_owned()));
        node.stop().await;
    });
}

#[test]
fn sites_found_by_links_are_taken_up_to_the_cap() {
    run_paused(async {
        let node = start_with(|settings| settings.discovery = Discovery::Links { max_sites: 4 }).await;
        // Many links to one site are one site, and all pages share the cap.
        let many: Vec<String> = (0..40).map(|number| format!("http://c.test/{number}")).collect();
        let mut of_a: Vec<&str> = many.iter().map(String::as_str).collect();
        of_a.push("http://d.test/");
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&of_a)]);
        let of_b = ScriptedAnswer::page_with_links(&["http://e.test/", "http://f.test/"]);
        node.web.on("http://b.test/", [of_b.after(Duration::from_millis(150))]);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        let num_sites = node.read(|store| Ok(store.stats().num_sites)).await;
        assert_eq!(num_sites, 4);
        assert_eq!(node.web.pages_asked("c.test"), ["/"], "a new site starts from its home page");
        let asked = ["c.test", "d.test", "e.test", "f.test"].map(|host| node.web.pages_asked(host).len());
        assert_eq!(asked, [1, 1, 0, 0]);
        node.stop().await;
    });
}

#[test]
fn permits_bound_the_requests_in_flight() {
    run_paused(async {
        let node = start_with(|settings| settings.max_pages_in_flight = 2).await;
        let hosts: Vec<String> = (0..10).map(|number| format!("http://s{number}.test/")).collect();
        for host in &hosts {
            node.web.on(host, [ScriptedAnswer::html("<title>x</title>").after(Duration::from_secs(10))]);
        }
        node.seed(&hosts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        assert_eq!(log.len(), 30);
        assert_eq!(most_at_once(&log), 2);
        node.stop().await;
    });
}

#[test]
fn no_more_sites_are_live_than_allowed_and_others_start_when_places_free_up() {
    run_paused(async {
        let node = start_with(|settings| settings.max_live_sites = 2).await;
        let hosts: Vec<String> = (0..7).map(|number| format!("s{number}.test")).collect();
        let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}/")).collect();
        hosts.iter().for_each(|host| node.web.site(host, 3));
        let stats = node.stats.clone();
        node.web.watch(move |_| assert!(stats.num_sites_live.get() <= 2));
        node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MINUTE).await;
        for host in &hosts {
            assert_eq!(node.web.pages_asked(host).len(), 3, "{host}");
        }
        assert_eq!(node.stats.num_failures.get(), 0);
        node.stop().await;
    });
}

/// Rows of sites that had just gone live used to stand among the due ones, and looking for more went round in circles.
#[test]
fn more_due_sites_than_are_loaded_at_once_all_start() {
    run_paused(async {
        let node = start_with(|settings| settings.max_live_sites = 250).await;
        let seeds: Vec<String> = (0..300).map(|number| format!("http://s{number}.test/")).collect();
        node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.log().len(), 600);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

/// The identity used to be that of the cycle before, until the site was parked once.
#[test]
fn a_site_sees_one_identity_throughout_a_cycle() {
    run_paused(async {
        let node = start_with(|settings| {
            settings.identity =
                Arc::new(|_, cycle| SiteIdentity { user_agent: format!("cycle {cycle}"), source: None });
            settings.rules.recrawl_interval = Duration::from_secs(90_000);
            settings.rules.budget = Budget::new(2, 2).unwrap();
        })
        .await;
        node.web.on("http://a.test/", [ScriptedAnswer::status(503), ScriptedAnswer::html("<title>x</title>")]);
        node.seed(&["http://a.test/"]).await;
        tokio::time::sleep(Duration::from_secs(90_000 + 600)).await;
        let agents: Vec<String> = node.web.log().into_iter().map(|request| request.user_agent).collect();
        assert_eq!(agents, ["cycle 1", "cycle 1", "cycle 1", "cycle 2", "cycle 2"]);
        node.stop().await;
    });
}

/// A page that moved for good used to keep its record.
#[test]
fn a_stored_page_that_redirects_for_good_gives_its_record_up() {
    run_paused(async {
        let node = start_with(|settings| settings.rules.recrawl_interval = Duration::from_secs(86_400)).await;
        let moved = lohisoftbot_core::response::ResponseHead::new(301).with("location", "/new");
        node.web.on("http://a.test/", [ScriptedAnswer::html("<title>old</title>"), ScriptedAnswer::answer(moved, "")]);
        node.web.on("http://a.test/new", [ScriptedAnswer::html("<title>new</title>")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
        tokio::time::sleep(Duration::from_secs(86_400 + 600)).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/new"]);
        node.stop().await;
    });
}

#[test]
fn a_tightened_robots_txt_gives_up_what_is_stored_and_never_asked_again() {
    run_paused(async {
        let node = start_with(|settings| settings.rules.recrawl_interval = Duration::from_secs(86_400)).await;
        let tightened = ScriptedAnswer::text("User-agent: *\nDisallow: /page-2\n");
        node.web.site("a.test", 3);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::status(404), tightened]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert!(node.stored_pages("a.test").await.contains(&"http://a.test/page-2".to_owned()));
        tokio::time::sleep(Duration::from_secs(86_400 + 600)).await;
        let stored = node.stored_pages("a.test").await;
        assert!(stored.len() >= 2 && !stored.contains(&"http://a.test/page-2".to_owned()), "{stored:?}");
        assert_eq!(node.web.pages_asked("a.test").iter().filter(|path| *path == "/page-2").count(), 1);
        node.stop().await;
    });
}
