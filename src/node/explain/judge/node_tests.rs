//! A whole node in memory, brought into states that last for a moment or need an operator, and what is then said of a URL.

use std::collections::BTreeMap;
use std::time::Duration;

use lohisoftbot_actors::frontier::{PauseSite, ViewSite};
use lohisoftbot_actors::testkit::node::{TestNode, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use tokio::time::sleep;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

/// The word of the reason that holds for a URL in a running node.
async fn reason(node: &TestNode, text: &str, discovery: &DiscoverySettings) -> &'static str {
    let url = PageUrl::parse(text, None).unwrap();
    let view = node.frontier.send(ViewSite(url.site())).await.unwrap();
    let target = url.clone();
    let (inlinks, num_sites) = node.read(move |store| Ok((store.inlinks_of(&target)?, store.stats().num_sites))).await;
    let facts = Facts {
        url: &url,
        view: view.as_deref(),
        excluded: None,
        history: &UrlHistory::default(),
        inlinks: &inlinks,
        discovery,
        num_sites,
        pace: NodePace::Running,
        page_budget: 20,
        now: node.clock.now(),
    };
    facts.reason().code()
}

#[test]
fn page_is_under_way_while_its_answer_is_awaited() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let slow = ScriptedAnswer::page_with_links(&["/next"]).after(Duration::from_secs(15));
        node.web.on("http://a.test/", [slow]);
        node.seed(&["http://a.test/"]).await;
        // robots.txt at once, the page five seconds later.
        sleep(Duration::from_secs(10)).await;
        let discovery = DiscoverySettings::default();
        assert_eq!(reason(&node, "http://a.test/", &discovery).await, "under_way");
        sleep(HOUR).await;
        assert_eq!(reason(&node, "http://a.test/", &discovery).await, "stored");
        node.stop().await;
    });
}

#[test]
fn page_of_a_site_that_the_operator_paused_is_told_so() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        node.seed(&["http://a.test/"]).await;
        // The home page was read, and the others wait.
        sleep(Duration::from_secs(8)).await;
        assert!(node.frontier.send(PauseSite(site("a.test"))).await.unwrap());
        sleep(HOUR).await;
        let discovery = DiscoverySettings::default();
        assert_eq!(reason(&node, "http://a.test/page-3", &discovery).await, "site_paused");
        assert_eq!(reason(&node, "http://a.test/", &discovery).await, "stored");
        node.stop().await;
    });
}

#[test]
fn origin_beyond_the_twentieth_of_a_cycle_is_told_so() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let homes: Vec<String> = (0..25).map(|number| format!("http://h{number}.a.test/")).collect();
        for home in &homes {
            node.web.on(&format!("{home}robots.txt"), [ScriptedAnswer::text("User-agent: *\nDisallow: /")]);
        }
        node.seed(&homes.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(HOUR).await;
        let mut counts = BTreeMap::new();
        for home in &homes {
            *counts.entry(reason(&node, home, &DiscoverySettings::default()).await).or_insert(0) += 1;
        }
        assert_eq!(counts, BTreeMap::from([("robots_line", 20), ("too_many_origins", 5)]));
        node.stop().await;
    });
}

#[test]
fn site_beyond_as_many_as_are_taken_up_is_told_so() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 2);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(HOUR).await;
        for (max_sites, wanted) in [(1, "too_many_sites"), (2, "site_unknown")] {
            let discovery = DiscoverySettings { mode: DiscoveryMode::Links, max_sites, ..DiscoverySettings::default() };
            assert_eq!(reason(&node, "http://b.test/", &discovery).await, wanted);
        }
        node.stop().await;
    });
}
