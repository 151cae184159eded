//! What an operator does to a running node: seeds, pauses, ends.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_actors::frontier::{AddSeeds, FrontierActor, PauseSite, ResumeSite};
use lohisoftbot_actors::ports::GateState;
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerRead, RecordStore};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::{seed, site};
use lohisoftbot_actors::testkit::web::{LoggedEnd, ScriptedAnswer};
use lohisoftbot_core::ledger::{EndKind, FinishReason, LedgerEvent, SiteEvent};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site_row::SiteStanding;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

async fn pause(node: &TestNode, host: &str) -> bool {
    node.frontier.send(PauseSite(site(host))).await.unwrap()
}

async fn resume(node: &TestNode, host: &str) -> bool {
    node.frontier.send(ResumeSite(site(host))).await.unwrap()
}

async fn standing(node: &TestNode, host: &str) -> SiteStanding {
    node.row(host).await.expect("it is known").standing
}

#[test]
fn shut_gate_holds_all_requests_back_until_it_opens() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 10);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(20)).await;
        node.gate.set(GateState::Shut);
        let num_before = node.web.log().len();
        sleep(HOUR).await;
        assert_eq!(node.web.log().len(), num_before);
        node.gate.set(GateState::Open);
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 10);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

/// A node whose gate was shut used to wait for ever for its sites.
#[test]
fn node_can_end_while_its_gate_is_shut() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.gate.set(GateState::Shut);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        assert_eq!(node.stats.num_sites_live.get(), 1);
        node.stop().await;
    });
}

#[test]
fn paused_site_rests_over_a_restart_until_it_is_resumed() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.site("a.test", 30);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(30)).await;
        assert!(pause(&node, "a.test").await);
        node.when_idle(HOUR).await;
        let mut log = node.web.log();
        sleep(HOUR).await;
        assert_eq!(node.web.log().len(), log.len());
        assert_eq!(standing(&node, "a.test").await, SiteStanding::Paused);
        let clock = node.clock.clone();
        node.stop().await;

        let node = TestNode::start(&disk, TestSettings { starts_at: clock.now(), ..TestSettings::default() }).await;
        node.web.site("a.test", 30);
        sleep(HOUR).await;
        assert_eq!(node.web.log().len(), 0);
        assert!(resume(&node, "a.test").await);
        assert!(!resume(&node, "b.test").await, "not known");
        node.when_idle(MINUTE).await;
        log.extend(node.web.log());
        assert_eq!(num_page_requests(&log, &site("a.test")), 20);
        assert_polite(&log, DELAY);
        node.stop().await;
    });
}

#[test]
fn pause_breaks_the_open_request_off() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        assert!(pause(&node, "a.test").await);
        node.when_idle(HOUR).await;
        assert!(matches!(node.web.log().last().unwrap().end, LoggedEnd::Dropped(_)));
        assert_eq!(standing(&node, "a.test").await, SiteStanding::Paused);
        node.stop().await;
    });
}

/// The end of the node used to make a site due again that was being paused.
#[test]
fn pause_outlasts_the_end_of_the_node() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        node.web.on("http://a.test/", [ScriptedAnswer::never()]);
        node.seed(&["http://a.test/"]).await;
        sleep(MINUTE).await;
        let paused = node.frontier.send(PauseSite(site("a.test")));
        node.stop().await;
        assert!(paused.await.unwrap());
        let row = disk.look(|store| store.site(&site("a.test"))).unwrap().unwrap();
        assert_eq!(row.standing, SiteStanding::Paused);
    });
}

/// A site resumed while its actor was still stopping used to stay paused.
#[test]
fn site_resumed_right_after_its_pause_goes_on() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 10);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(30)).await;
        assert!(pause(&node, "a.test").await);
        assert!(resume(&node, "a.test").await);
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 10);
        assert_polite(&node.web.log(), DELAY);
        node.stop().await;
    });
}

/// A site that was retiring when it was paused used to come back when due.
#[test]
fn site_paused_while_it_retires_or_rests_stays_paused() {
    run_paused(async {
        let busy = || ScriptedAnswer::answer(ResponseHead::new(503).with("retry-after", "600"), "");
        for millis_before_retiring in (0..300).step_by(10) {
            let node = TestNode::start_new().await;
            node.web.on("http://a.test/", [busy()]);
            node.seed(&["http://a.test/"]).await;
            // The answer comes at about 5.2 s; then ledger and store take their time.
            sleep(Duration::from_millis(5_150 + millis_before_retiring)).await;
            assert!(pause(&node, "a.test").await);
            sleep(HOUR).await;
            assert_eq!(standing(&node, "a.test").await, SiteStanding::Paused, "after {millis_before_retiring} ms");
            assert!(node.web.log().len() <= 2);
            node.stop().await;
        }
    });
}

async fn send_to<M>(frontier: Addr<FrontierActor>, order: M) -> M::Result
where
    M: Message<Result: Send> + Send + 'static,
    FrontierActor: Handler<M>,
{
    frontier.send(order).await.expect("the frontier runs")
}

/// Runs `order` so many turns of the arbiter after `first` has ended: no time passes between turns, but messages do. It runs beside the
/// actors, since the test itself has its turn only when they have nothing left to do.
async fn turns_after(first: impl Future + 'static, num_turns: u32, order: impl Future<Output = ()> + 'static) {
    let turned = actix_rt::spawn(async move {
        first.await;
        for _ in 0..num_turns {
            tokio::task::yield_now().await;
        }
        order.await;
    });
    turned.await.expect("no order panics");
}

#[test]
fn site_paused_while_it_is_being_loaded_does_not_start() {
    run_paused(async {
        for num_turns in 0..60 {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 3);
            let seeded = send_to(node.frontier.clone(), AddSeeds(vec![seed("http://a.test/")]));
            let frontier = node.frontier.clone();
            turns_after(seeded, num_turns, async move { assert!(send_to(frontier, PauseSite(site("a.test"))).await) })
                .await;
            sleep(HOUR).await;
            assert!(node.web.log().len() <= 1, "after {num_turns} turns: {:?}", node.web.log());
            assert_eq!(standing(&node, "a.test").await, SiteStanding::Paused, "after {num_turns} turns");
            assert_eq!(node.stats.num_sites_live.get(), 0);
            node.stop().await;
        }
    });
}

#[test]
fn no_seed_is_lost_that_comes_while_its_site_is_being_loaded() {
    run_paused(async {
        for num_turns in 0..60 {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 1);
            let seeded = send_to(node.frontier.clone(), AddSeeds(vec![seed("http://a.test/")]));
            let more = send_to(node.frontier.clone(), AddSeeds(vec![seed("http://a.test/more")]));
            turns_after(seeded, num_turns, async move { assert_eq!(more.await.num_known_sites, 1) }).await;
            node.when_idle(MINUTE).await;
            let mut asked = node.web.pages_asked("a.test");
            asked.sort();
            assert_eq!(asked, ["/", "/more"], "after {num_turns} turns");
            node.stop().await;
        }
    });
}

#[test]
fn site_paused_while_its_gate_opens_retires() {
    run_paused(async {
        for num_turns in 0..20 {
            let node = TestNode::start_new().await;
            node.gate.set(GateState::Shut);
            node.seed(&["http://a.test/"]).await;
            sleep(MINUTE).await;
            let (frontier, gate) = (node.frontier.clone(), node.gate.clone());
            let pause = async move { frontier.do_send(PauseSite(site("a.test"))) };
            turns_after(pause, num_turns, async move { gate.set(GateState::Open) }).await;
            node.when_idle(HOUR).await;
            assert_eq!(standing(&node, "a.test").await, SiteStanding::Paused, "after {num_turns} turns");
            node.stop().await;
        }
    });
}

#[test]
fn end_of_the_node_breaks_requests_off_and_leaves_sites_due() {
    run_paused(async {
        let disk = TestDisk::new();
        let node = TestNode::start(&disk, TestSettings::default()).await;
        let web = node.web.clone();
        node.web.on("http://a.test/", [ScriptedAnswer::never()]);
        node.web.site("b.test", 10);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        sleep(Duration::from_secs(30)).await;
        node.stop().await;
        assert!(web.log().iter().all(|request| request.end != LoggedEnd::Open));
        for host in ["a.test", "b.test"] {
            let row = disk.look(|store| store.site(&site(host))).unwrap().unwrap();
            assert_eq!(row.standing, SiteStanding::Due, "{host}");
            assert_eq!(row.account, disk.ledger.book().accounts[&site(host)], "{host}");
        }
        let outcomes =
            EntryFilter { site: Some(site("a.test")), kinds: vec![EntryKind::Outcome], ..Default::default() };
        let last = disk.ledger.entries(&outcomes).unwrap().pop().unwrap();
        let LedgerEvent::Site { event: SiteEvent::Outcome { end, .. }, .. } = last.event else { panic!("{last:?}") };
        assert_eq!(end, EndKind::Abandoned);
    });
}

#[test]
fn seeds_of_a_live_site_join_its_queue() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        node.seed(&["http://a.test/"]).await;
        sleep(Duration::from_secs(12)).await;
        let counts = node.seed(&["http://a.test/more", "http://a.test/"]).await;
        assert_eq!((counts.num_new_sites, counts.num_known_sites), (0, 1));
        node.when_idle(MINUTE).await;
        assert!(node.web.pages_asked("a.test").contains(&"/more".to_owned()));
        assert_eq!(node.web.pages_asked("a.test").len(), 5);
        node.stop().await;
    });
}

#[test]
fn seeds_of_a_parked_site_wait_with_it() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let busy = ScriptedAnswer::answer(ResponseHead::new(429).with("retry-after", "600"), "");
        node.web.on("http://a.test/", [busy, ScriptedAnswer::html("<title>x</title>")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        node.seed(&["http://a.test/more"]).await;
        sleep(Duration::from_secs(500)).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/"]);
        sleep(Duration::from_secs(200)).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/more", "/"]);
        node.stop().await;
    });
}

#[test]
fn seeds_of_a_finished_site_get_what_is_left_of_its_budget() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 18);
        node.web.site("b.test", 30);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(standing(&node, "a.test").await, SiteStanding::Finished { reason: FinishReason::QueueEmpty });
        assert_eq!(standing(&node, "b.test").await, SiteStanding::Finished { reason: FinishReason::BudgetSpent });
        let more: Vec<String> =
            (0..5).flat_map(|n| [format!("http://a.test/m{n}"), format!("http://b.test/m{n}")]).collect();
        node.seed(&more.iter().map(String::as_str).collect::<Vec<_>>()).await;
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        assert_eq!(num_page_requests(&log, &site("a.test")), 20);
        assert_eq!(num_page_requests(&log, &site("b.test")), 20);
        assert_polite(&log, DELAY);
        node.stop().await;
    });
}

/// Seeds that came while their site was being loaded or retiring used to be overwritten.
#[test]
fn no_seed_is_lost_whenever_it_comes() {
    run_paused(async {
        for millis in (0..20_000).step_by(130) {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 1);
            let first = node.seed(&["http://a.test/"]);
            let second = async {
                sleep(Duration::from_millis(millis)).await;
                node.seed(&["http://a.test/more"]).await
            };
            futures_util::future::join(first, second).await;
            node.when_idle(MINUTE).await;
            let mut asked = node.web.pages_asked("a.test");
            asked.sort();
            assert_eq!(asked, ["/", "/more"], "seed after {millis} ms");
            node.stop().await;
        }
    });
}
