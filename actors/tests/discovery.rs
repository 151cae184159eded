//! Sites and URLs that links lead to: how many are taken up, and that those which are not are counted by their reason.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::frontier::{Discovery, SiteView, ViewSite};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::discovery::{LinkDrop, TrapKind};

const MINUTE: Duration = Duration::from_secs(60);

async fn start_with(change: impl FnOnce(&mut TestSettings)) -> TestNode {
    let mut settings = TestSettings::default();
    change(&mut settings);
    TestNode::start(&TestDisk::new(), settings).await
}

async fn view(node: &TestNode, host: &str) -> Box<SiteView> {
    node.frontier.send(ViewSite(site(host))).await.unwrap().unwrap()
}

fn page_with(targets: impl IntoIterator<Item = String>) -> ScriptedAnswer {
    let targets: Vec<String> = targets.into_iter().collect();
    ScriptedAnswer::page_with_links(&targets.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn queue_holds_no_more_than_its_cap_under_pages_with_ten_thousand_links() {
    run_paused(async {
        let node = start_with(|_| {}).await;
        for page in 0..4 {
            let links = (0..10_000).map(|number| format!("/of-{page}/{number}"));
            let next = [format!("/page-{}", page + 1)];
            let path = if page == 0 { String::new() } else { format!("page-{page}") };
            node.web.on(&format!("http://a.test/{path}"), [page_with(next.into_iter().chain(links))]);
        }
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let view = view(&node, "a.test").await;
        // How much of such a page is read in time is the machine's business; what `core` does with all of it, its own tests say.
        let num_urls = view.queue.entries().len();
        assert!((100..=1000).contains(&num_urls), "{num_urls}");
        assert_eq!(num_page_requests(&node.web.log(), &site("a.test")), 20);
        node.stop().await;
    });
}

#[test]
fn sites_found_by_links_are_crawled_to_the_cap_and_the_others_counted() {
    const MAX_SITES: u64 = 12;
    run_paused(async {
        let discovery = Discovery::Links { max_sites: MAX_SITES };
        let node = start_with(|settings| {
            settings.discovery = discovery;
            settings.max_live_sites = 3;
        })
        .await;
        // Every site leads to ten more, each of them new.
        for number in 0..200 {
            let links = (1..=10).map(|more| format!("http://s{}.test/x", number * 10 + more));
            node.web.on(&format!("http://s{number}.test/"), [page_with(links)]);
        }
        let stats = node.stats.clone();
        node.web.watch(move |_| assert!(stats.num_sites_live.get() <= 3));
        node.seed(&["http://s0.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.read(|store| Ok(store.stats().num_sites)).await, MAX_SITES);
        let log = node.web.log();
        assert_polite(&log, DELAY);
        let asked: std::collections::BTreeSet<String> =
            log.iter().map(|request| request.url.host().to_owned()).collect();
        assert_eq!(asked.len() as u64, MAX_SITES, "{asked:?}");
        // Twelve pages with ten links each; eleven links led to a site that was taken up.
        let counted: u64 =
            [LinkDrop::TooManySites, LinkDrop::RestingSite].map(|drop| node.stats.dropped_links.get(drop)).iter().sum();
        assert_eq!(counted, 12 * 10 - 11);
        node.stop().await;
    });
}

#[test]
fn links_to_other_sites_are_counted_where_only_seeds_are_crawled() {
    run_paused(async {
        let node = start_with(|_| {}).await;
        let links = ["http://b.test/1", "http://b.test/2", "http://c.test/", "/own"];
        node.web.on("http://a.test/", [page_with(links.map(str::to_owned))]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stats.dropped_links.snapshot(), [(LinkDrop::OtherSite, 2)], "once a page and site");
        node.stop().await;
    });
}

#[test]
fn every_reason_is_counted_for_the_node_and_for_the_live_site() {
    run_paused(async {
        let node = start_with(|_| {}).await;
        let long = format!("/{}", "x".repeat(3000));
        let home = format!(
            "<a href='/a1/a1/a1'>t</a> <a href='{long}'>l</a> <a href='mailto:x@a.test'>m</a> <a href='javascript:f()'>j</a> \
             <a href='http://u:p@a.test/'>c</a> <a rel=nofollow href=/n>n</a> <a href='http://a.test:25/'>p</a> <a href=/no/x>r</a> \
             <a href=/last>b</a>"
        );
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::text("User-agent: *\nDisallow: /no/\n")]);
        node.web.on("http://a.test/", [ScriptedAnswer::html(&home)]);
        node.web.on("http://a.test/last", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        let wanted = [
            (LinkDrop::Trap(TrapKind::RepeatedSegment), 1),
            (LinkDrop::TooLong, 1),
            (LinkDrop::NotHttp, 2),
            (LinkDrop::Unusable, 1),
            (LinkDrop::Nofollow, 1),
        ];
        let of_site: Vec<_> = view(&node, "a.test").await.dropped_links.unwrap().iter().collect();
        assert_eq!(of_site, wanted);
        let of_node: Vec<_> = node.stats.dropped_links.snapshot();
        assert_eq!(of_node, wanted.map(|(drop, num)| (drop, u64::from(num))));
        node.stop().await;
    });
}
