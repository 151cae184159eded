//! A whole crawl in memory: what the other side sees of it.

use std::time::Duration;

use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;

const MINUTE: Duration = Duration::from_secs(60);

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
        for host in ["a.test", "b.test", "c.test"] {
            assert_eq!(num_page_requests(&log, &site(host)), 20, "{host}");
            assert_eq!(node.stored_pages(host).await.len(), 20, "{host}");
        }
        node.stop().await;
    });
}
