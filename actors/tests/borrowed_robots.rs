//! robots.txt that redirects to another site's: that site asks for it, nobody waits in a circle, and in doubt nothing is fetched.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::frontier::{ExcludeDomain, PauseSite};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::assert_polite;
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{RequestKind, WaitReason};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site_row::SiteStanding;
use tokio::time::sleep;

/// Shorter than the first wait of the ladder: a site whose robots.txt is unreachable counts as idle.
const MAX_WAIT: Duration = Duration::from_secs(30);

fn to(target: &str) -> ScriptedAnswer {
    ScriptedAnswer::answer(ResponseHead::new(301).with("location", target), "")
}

fn robots_of(host: &str) -> String {
    format!("http://{host}/robots.txt")
}

/// A site of three pages whose robots.txt lies at another one.
fn site_that_borrows(node: &TestNode, host: &str, from: &str) {
    node.web.site(host, 3);
    node.web.on(&robots_of(host), [to(&robots_of(from))]);
}

fn num_robots_asked(node: &TestNode, host: &str) -> usize {
    let log = node.web.log();
    log.iter().filter(|request| request.kind == RequestKind::Robots && request.url.host() == host).count()
}

async fn seed_all(node: &TestNode, hosts: &[&str]) {
    let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}/")).collect();
    node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

#[track_caller]
fn assert_unreachable(standing: SiteStanding) {
    assert_eq!(standing, SiteStanding::Parked { reason: WaitReason::RobotsUnreachable });
}

async fn standing(node: &TestNode, host: &str) -> SiteStanding {
    node.row(host).await.unwrap().standing
}

#[test]
fn rules_are_asked_for_once_by_the_site_they_lie_at_and_hold_for_all_that_redirect_there() {
    run_paused(async {
        let node = TestNode::start_new().await;
        for host in ["a.test", "b.test"] {
            site_that_borrows(&node, host, "lender.test");
        }
        node.web.site("lender.test", 3);
        node.web.on(&robots_of("lender.test"), [ScriptedAnswer::text("User-agent: *\nDisallow: /page-2\n")]);
        node.seed(&["http://a.test/", "http://b.test/", "http://lender.test/"]).await;
        node.when_idle(MAX_WAIT).await;
        for host in ["a.test", "b.test", "lender.test"] {
            assert_eq!(node.web.pages_asked(host), ["/", "/page-1"], "{host}");
            assert_eq!(num_robots_asked(&node, host), 1, "{host}");
        }
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

#[test]
fn a_site_that_waits_for_another_holds_no_permit() {
    run_paused(async {
        let settings = TestSettings { max_pages_in_flight: 1, ..TestSettings::default() };
        let node = TestNode::start(&TestDisk::new(), settings).await;
        site_that_borrows(&node, "a.test", "lender.test");
        node.web.site("lender.test", 2);
        node.web.on(&robots_of("lender.test"), [ScriptedAnswer::status(404).after(Duration::from_secs(20))]);
        node.seed(&["http://a.test/", "http://lender.test/"]).await;
        node.when_idle(MAX_WAIT).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 3);
        assert_eq!(node.web.pages_asked("lender.test").len(), 2);
        node.stop().await;
    });
}

#[test]
fn sites_that_redirect_to_each_other_in_a_circle_are_left_alone() {
    for ring in [&["a.test", "b.test"][..], &["a.test", "b.test", "c.test"], &["a.test", "b.test", "c.test", "d.test"]]
    {
        run_paused(async {
            let node = TestNode::start_new().await;
            for (place, host) in ring.iter().enumerate() {
                site_that_borrows(&node, host, ring[(place + 1) % ring.len()]);
            }
            seed_all(&node, ring).await;
            node.when_idle(MAX_WAIT).await;
            for host in ring {
                assert_unreachable(standing(&node, host).await);
                assert_eq!(num_robots_asked(&node, host), 1, "{host} of {ring:?}");
                assert!(node.web.pages_asked(host).is_empty(), "{host} of {ring:?}");
            }
            node.stop().await;
        });
    }
}

#[test]
fn a_chain_of_sites_counts_as_redirects_one_after_the_other() {
    run_paused(async {
        let node = TestNode::start_new().await;
        // Six redirects lie between the first site and the last one's file, five between the second and it.
        let hosts = ["s0.test", "s1.test", "s2.test", "s3.test", "s4.test", "s5.test", "s6.test"];
        for pair in hosts.windows(2) {
            site_that_borrows(&node, pair[0], pair[1]);
        }
        node.web.site("s6.test", 3);
        seed_all(&node, &hosts).await;
        node.when_idle(MAX_WAIT).await;
        assert_unreachable(standing(&node, "s0.test").await);
        for host in &hosts[1..] {
            assert_eq!(node.web.pages_asked(host).len(), 3, "{host}");
        }
        node.stop().await;
    });
}

#[test]
fn a_site_that_is_unknown_finished_paused_or_parked_lends_nothing() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let busy = ResponseHead::new(503).with("retry-after", "7200");
        node.web.on(&robots_of("parked.test"), [ScriptedAnswer::answer(busy, "")]);
        node.web.site("finished.test", 1);
        node.web.site("paused.test", 3);
        node.seed(&["http://parked.test/", "http://finished.test/", "http://paused.test/"]).await;
        node.frontier.send(PauseSite(site("paused.test"))).await.unwrap();
        node.when_idle(MAX_WAIT).await;
        let num_before = node.web.log().len();
        for lender in ["unknown.test", "parked.test", "finished.test", "paused.test"] {
            let host = format!("of-{lender}");
            site_that_borrows(&node, &host, lender);
            node.seed(&[&format!("http://{host}/")]).await;
            node.when_idle(MAX_WAIT).await;
            assert_unreachable(standing(&node, &host).await);
            assert!(node.web.pages_asked(&host).is_empty(), "{host}");
        }
        // The four borrowers' own robots.txt, and nothing else.
        assert_eq!(node.web.log().len(), num_before + 4);
        node.stop().await;
    });
}

#[test]
fn a_site_without_a_free_place_lends_nothing() {
    run_paused(async {
        let settings = TestSettings { max_live_sites: 1, ..TestSettings::default() };
        let node = TestNode::start(&TestDisk::new(), settings).await;
        site_that_borrows(&node, "a.test", "lender.test");
        node.web.site("lender.test", 2);
        node.seed(&["http://a.test/"]).await;
        node.seed(&["http://lender.test/"]).await;
        node.when_idle(MAX_WAIT).await;
        assert_unreachable(standing(&node, "a.test").await);
        assert_eq!(node.web.pages_asked("lender.test").len(), 2);
        node.stop().await;
    });
}

#[test]
fn an_excluded_site_lends_nothing_whenever_the_exclusion_comes() {
    for comes_first in [true, false] {
        run_paused(async {
            let node = TestNode::start_new().await;
            site_that_borrows(&node, "a.test", "lender.test");
            node.web.on(&robots_of("lender.test"), [ScriptedAnswer::never()]);
            let exclude = || async {
                let order = ExcludeDomain { domain: Domain::parse("lender.test").unwrap(), reason: String::new() };
                node.frontier.send(order).await.unwrap().unwrap();
            };
            node.seed(&["http://lender.test/"]).await;
            if comes_first {
                exclude().await;
            }
            node.seed(&["http://a.test/"]).await;
            sleep(Duration::from_secs(10)).await;
            if !comes_first {
                assert_eq!(standing(&node, "a.test").await, SiteStanding::Live);
                exclude().await;
            }
            node.when_idle(MAX_WAIT).await;
            assert_unreachable(standing(&node, "a.test").await);
            assert!(node.web.pages_asked("a.test").is_empty());
            node.stop().await;
        });
    }
}

#[test]
fn an_excluded_borrower_is_out_at_once_though_the_lender_never_answers() {
    run_paused(async {
        let node = TestNode::start_new().await;
        site_that_borrows(&node, "a.test", "lender.test");
        node.web.on(&robots_of("lender.test"), [ScriptedAnswer::never()]);
        node.seed(&["http://lender.test/", "http://a.test/"]).await;
        sleep(Duration::from_secs(10)).await;
        let order = ExcludeDomain { domain: Domain::parse("a.test").unwrap(), reason: String::new() };
        node.frontier.send(order).await.unwrap().unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(node.stats.num_sites_live.get(), 1);
        node.stop().await;
    });
}

#[test]
fn a_node_stops_while_sites_wait_for_each_other() {
    run_paused(async {
        let node = TestNode::start_new().await;
        for host in ["a.test", "b.test"] {
            site_that_borrows(&node, host, "lender.test");
        }
        node.web.on(&robots_of("lender.test"), [ScriptedAnswer::never()]);
        node.seed(&["http://lender.test/", "http://a.test/", "http://b.test/"]).await;
        sleep(Duration::from_secs(10)).await;
        node.stop().await;
    });
}

#[test]
fn rules_of_another_origin_of_the_lender_do_not_bind_the_lenders_own_pages() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 3);
        node.web.on(&robots_of("a.test"), [to("http://www.lender.test:8080/robots.txt")]);
        node.web.on("http://www.lender.test:8080/robots.txt", [ScriptedAnswer::text("User-agent: *\nDisallow: /\n")]);
        node.web.site("lender.test", 4);
        node.seed(&["http://a.test/", "http://lender.test/", "http://www.lender.test:8080/"]).await;
        node.when_idle(MAX_WAIT).await;
        assert!(node.web.pages_asked("a.test").is_empty());
        assert_eq!(node.web.pages_asked("lender.test").len(), 4);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

#[test]
fn strangers_cannot_send_a_site_to_origins_that_nothing_of_its_own_leads_to() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("lender.test", 4);
        let strangers: Vec<String> = (0..30).map(|number| format!("stranger{number}.test")).collect();
        for (port, host) in (8000..).zip(&strangers) {
            node.web.on(&robots_of(host), [to(&format!("http://lender.test:{port}/robots.txt"))]);
        }
        let mut hosts: Vec<&str> = strangers.iter().map(String::as_str).collect();
        hosts.push("lender.test");
        seed_all(&node, &hosts).await;
        node.when_idle(MAX_WAIT).await;
        assert_eq!(node.web.pages_asked("lender.test").len(), 4);
        assert_eq!(num_robots_asked(&node, "lender.test"), 1);
        assert_unreachable(standing(&node, "stranger0.test").await);
        node.stop().await;
    });
}
