//! What a watcher is told, and when: of the store and the ledger nothing before it is on the disk.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use futures_util::FutureExt;
use lohisoftbot_actors::events::{FoundBy, NodeEvent, Removal, Watch, Watched};
use lohisoftbot_actors::index::ApplyChange;
use lohisoftbot_actors::storage::{Applied, StoreChange};
use lohisoftbot_actors::testkit::node::{TestNode, run_paused};
use lohisoftbot_actors::testkit::storage_contract::{page, site, url};
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::ledger::{LedgerEvent, SiteEvent, WaitReason};
use lohisoftbot_core::response::ResponseHead;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

/// The next event, if there is one already.
fn told(watch: &Watch) -> Option<NodeEvent> {
    match watch.next().now_or_never()? {
        Watched::Event(event) => Some(event),
        Watched::Missed(num_missed) => panic!("{num_missed} events were missed"),
    }
}

fn all_told(watch: &Watch) -> Vec<NodeEvent> {
    std::iter::from_fn(|| told(watch)).collect()
}

#[test]
fn record_is_told_of_when_the_store_has_acknowledged_it_and_not_before() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let watch = node.events.watch(None);
        let home = url("http://a.test/");
        let store = |change: StoreChange| node.index.send(ApplyChange(change));
        for (change, is_removal) in [
            (StoreChange::SavePage { record: Box::new(page("http://a.test/", 1)), links: Vec::new() }, false),
            (StoreChange::RemovePage { url: home.clone() }, true),
        ] {
            let mut acknowledged = Box::pin(store(change));
            // Applied, but not yet flushed with others.
            assert!((&mut acknowledged).now_or_never().is_none());
            sleep(Duration::from_millis(100)).await;
            assert_eq!(told(&watch), None);
            assert!(acknowledged.await.unwrap().is_ok());
            match told(&watch) {
                Some(NodeEvent::PageStored { url, .. }) => assert!(url == home && !is_removal),
                Some(NodeEvent::PageRemoved { url, why, .. }) => {
                    assert!(url == home && is_removal && why == Removal::Withdrawn);
                }
                other => panic!("{other:?}"),
            }
        }
        // What was not there is not gone.
        assert_eq!(store(StoreChange::RemovePage { url: home }).await.unwrap().unwrap(), Applied::Absent);
        assert_eq!(told(&watch), None);
        drop(watch);
        node.stop().await;
    });
}

#[test]
fn watcher_of_a_site_hears_its_life_in_order() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let (watch, other) = (node.events.watch(Some(site("a.test"))), node.events.watch(Some(site("b.test"))));
        let busy = ResponseHead::new(503).with("retry-after", "7200");
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["http://a.test/busy"])]);
        node.web.on("http://a.test/busy", [ScriptedAnswer::answer(busy, "")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        sleep(MINUTE).await;
        let events = all_told(&watch);
        let word = |event: &NodeEvent| match event {
            NodeEvent::SiteFound { by: FoundBy::Seed, .. } => "found",
            NodeEvent::SiteFound { by: FoundBy::Link, .. } => "found by a link",
            NodeEvent::PageStored { .. } => "stored",
            NodeEvent::PageRemoved { .. } => "removed",
            NodeEvent::SiteParked { reason: WaitReason::RetryAfter, .. } => "parked",
            NodeEvent::SiteParked { .. } => "parked for another reason",
            NodeEvent::Recorded(entry) => match &entry.event {
                LedgerEvent::Site { event: SiteEvent::CycleOpened { .. }, .. } => "cycle",
                LedgerEvent::Site { event: SiteEvent::NextCyclePutOff { .. }, .. } => "put off",
                LedgerEvent::Site { event: SiteEvent::Ticket { .. }, .. } => "ticket",
                LedgerEvent::Site { event: SiteEvent::Outcome { .. }, .. } => "answer",
                LedgerEvent::Site { event: SiteEvent::Wait { .. }, .. } => "wait",
                LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => "other",
            },
        };
        let life: Vec<_> = events.iter().map(word).collect();
        // The bounds of the test's intervals leave none shorter than the first, so each of the two pages puts the next cycle off.
        let begins = ["found", "cycle", "ticket", "answer"];
        let home = ["put off", "ticket", "stored", "answer"];
        let busy = ["put off", "ticket", "answer", "wait", "parked"];
        let wanted = [&begins[..], &home, &busy].concat();
        // The record and the outcome of the home page are flushed by two actors, side by side.
        let sorted = |words: &[&'static str]| {
            let mut words = words.to_vec();
            words.sort_unstable();
            words
        };
        assert_eq!(sorted(&life), sorted(&wanted), "{life:?}");
        assert_eq!((life.first(), life.last()), (Some(&"found"), Some(&"parked")), "{life:?}");
        assert_eq!(all_told(&other), []);
        drop((watch, other));
        node.stop().await;
    });
}
