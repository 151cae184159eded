//! One site under any name, seen from the other side: seeds in every spelling of a host lead to one queue and one budget.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::frontier::{AddSeeds, ExcludeDomain};
use lohisoftbot_actors::testkit::manners::{assert_polite, most_at_once, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::seed::Seed;

const MINUTE: Duration = Duration::from_secs(60);

const NAME: (&str, &str, &[&str]) = (
    "xn--bcher-kva.test",
    "http://bücher.test/",
    &[
        "http://bücher.test/",
        "http://BÜCHER.TEST:80/page-21",
        "http://xn--bcher-kva.test./page-22",
        "http://XN--BCHER-KVA.test/page-23#x",
        "http://b%C3%BCcher.test/page-24",
        "http://bücher。test/page-25",
        "http://ｂücher．ｔｅｓｔ./page-26",
        "http:\\\\bu\u{308}cher.test/./page-27",
    ],
);

const ADDRESS: (&str, &str, &[&str]) = (
    "127.0.0.9",
    "http://127.0.0.9/",
    &[
        "http://127.0.0.9/",
        "http://127.9:80/page-21",
        "http://0x7f.9/page-22",
        "http://2130706441/page-23",
        "http://017700000011/page-24",
        "http://１２７.０.０.９/page-25",
        "http://127。0。0。9/page-26",
        "http://127.0.0.9./page-27",
        "http://%31%32%37.9/page-28",
    ],
);

#[test]
fn seeds_in_every_spelling_are_one_site_with_one_robots_request_and_one_budget() {
    for (host, home, spellings) in [NAME, ADDRESS] {
        run_paused(async {
            let node = TestNode::start_new().await;
            node.web.site(host, 40);
            node.web.on(&format!("{home}robots.txt"), [ScriptedAnswer::text("User-agent: *\nDisallow: /page-3\n")]);
            let seeds = spellings.iter().map(|text| Seed::parse(text).unwrap()).collect();
            let counts = node.frontier.send(AddSeeds(seeds)).await.unwrap();
            assert_eq!((counts.num_new_sites, counts.num_known_sites), (1, 0), "{host}");
            node.when_idle(MINUTE).await;
            let log = node.web.log();
            assert!(log.iter().all(|request| request.url.host() == host), "{host}");
            assert_eq!(log.iter().filter(|request| request.kind == RequestKind::Robots).count(), 1, "{host}");
            assert_eq!(num_page_requests(&log, &site(host)), 20, "{host}");
            assert_eq!(most_at_once(&log), 1, "{host}");
            assert_polite(&log, DELAY);
            // The budget stays spent, whatever name asks for more.
            let again = spellings.iter().map(|text| Seed::parse(&text.replace("page-2", "page-1")).unwrap()).collect();
            let counts = node.frontier.send(AddSeeds(again)).await.unwrap();
            assert_eq!((counts.num_new_sites, counts.num_known_sites), (0, 1), "{host}");
            node.when_idle(MINUTE).await;
            assert_eq!(node.web.log().len(), log.len(), "{host}");
            node.stop().await;
        });
    }
}

#[test]
fn links_in_every_spelling_lead_to_one_queue() {
    run_paused(async {
        let (host, home, spellings) = NAME;
        let node = TestNode::start_new().await;
        let links: Vec<String> = spellings.iter().map(|text| text.replace("page-2", "linked-")).collect();
        node.web.on(home, [ScriptedAnswer::page_with_links(&links.iter().map(String::as_str).collect::<Vec<_>>())]);
        node.seed(&[home]).await;
        node.when_idle(MINUTE).await;
        let asked = node.web.pages_asked(host);
        assert_eq!(asked.len(), 8, "{asked:?}");
        assert_eq!(node.web.log().iter().filter(|request| request.kind == RequestKind::Robots).count(), 1);
        assert_eq!(node.read(|store| Ok(store.stats().num_sites)).await, 1);
        node.stop().await;
    });
}

#[test]
fn an_exclusion_by_any_spelling_takes_the_same_site_out() {
    for (host, home, names) in [
        (NAME.0, NAME.1, &["BÜCHER.TEST.", "xn--bcher-kva.test", "XN--BCHER-KVA.test.", "b%C3%BCcher。test"]),
        (ADDRESS.0, ADDRESS.1, &["127.0.0.9.", "0x7f.9", "2130706441", "１２７。0.0.9"]),
    ] {
        for name in names {
            run_paused(async {
                let node = TestNode::start_new().await;
                node.web.site(host, 5);
                node.seed(&[home]).await;
                node.when_idle(MINUTE).await;
                assert_eq!(node.stored_pages(host).await.len(), 5);
                let order = ExcludeDomain { domain: Domain::parse(name).unwrap(), reason: "asked".to_owned() };
                let answer = node.frontier.send(order).await.unwrap().expect("it is durable");
                assert_eq!((answer.stored.num_sites, answer.stored.num_pages), (1, 5), "{name}");
                assert_eq!(node.stored_pages(host).await, [""; 0], "{name}");
                let num_requests = node.web.log().len();
                node.seed(&[home]).await;
                node.when_idle(MINUTE).await;
                assert_eq!(node.web.log().len(), num_requests, "{name}");
                node.stop().await;
            });
        }
    }
}
