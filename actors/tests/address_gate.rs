//! Sites that share an address: their server is spared, no address starves another, and a place is given back however its holder went.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_actors::address_gate::{AddressGateActor, CountVisits, GateDoor};
use lohisoftbot_actors::frontier::{ExcludeDomain, PauseSite};
use lohisoftbot_actors::host::SiteIdentity;
use lohisoftbot_actors::ports::{AddressGate, Clock, GateState, VettedAddress};
use lohisoftbot_actors::supervisor::NodeSupervisor;
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, assert_polite_at_addresses, most_at_once};
use lohisoftbot_actors::testkit::node::{DELAY, FIRST_START, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::{LoggedRequest, ScriptedAnswer};
use lohisoftbot_core::address_gate::{AddressRules, GateCounts};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const MINUTE: Duration = Duration::from_secs(60);
const SPACING: Duration = Duration::from_millis(200);
const SLOW: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const ALONE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Settings with so many places at each address.
fn with_places(max_at_once: usize) -> TestSettings {
    TestSettings { address_rules: Some(AddressRules::new(max_at_once, SPACING)), ..TestSettings::default() }
}

async fn start_with_places(max_at_once: usize) -> TestNode {
    TestNode::start(&TestDisk::new(), with_places(max_at_once)).await
}

async fn counts(node: &TestNode) -> GateCounts {
    node.address_gate.as_ref().unwrap().send(CountVisits).await.unwrap()
}

/// Sites `x0.test`, `x1.test` and so on, as seeds, each with so many pages.
/// Where no sitemap is guessed at, which may hold the bodies of all other requests up.
const NO_SITEMAP: &str = "User-agent: *\nDisallow: /sitemap.xml\n";

fn sites(node: &TestNode, letter: char, num_sites: usize, num_pages: usize) -> Vec<String> {
    let hosts = (0..num_sites).map(|number| format!("{letter}{number}.test"));
    let site = |host: String| {
        node.web.site(&host, num_pages);
        node.web.on(&format!("http://{host}/robots.txt"), [ScriptedAnswer::text(NO_SITEMAP)]);
        format!("http://{host}/")
    };
    hosts.map(site).collect()
}

async fn seed_all(node: &TestNode, seeds: &[String]) {
    node.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

/// A node with one place an address, where `a0.test` holds it with a request that never ends and `num_waiting` others wait.
async fn start_with_a_hanging_site(num_waiting: usize) -> TestNode {
    let node = start_with_places(1).await;
    let seeds = sites(&node, 'a', num_waiting + 1, 2);
    node.web.on("http://a0.test/robots.txt", [ScriptedAnswer::never()]);
    node.seed(&[&seeds[0]]).await;
    sleep(Duration::from_secs(1)).await;
    for seed in &seeds[1..] {
        node.seed(&[seed]).await;
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(node.web.log().len(), 1, "one hangs and the others wait");
    assert_eq!(counts(&node).await, GateCounts { num_addresses: 1, num_waiting, num_admitted: 1 });
    node
}

/// Wants all of these to have been asked whole, and nothing to be left at the gate.
async fn expect_all_asked(node: &TestNode, hosts: &[&str]) {
    node.when_idle(MINUTE).await;
    for host in hosts {
        assert_eq!(node.web.pages_asked(host).len(), 2, "{host}");
    }
    assert_polite_at_addresses(&node.web.log(), 1, SPACING);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(counts(node).await, GateCounts::default());
}

#[test]
fn a_crowded_and_a_slow_address_are_spared_and_starve_nobody() {
    run_paused(async {
        // So few permits that four slow requests and their waiting neighbours would take them all.
        let node = TestNode::start(&TestDisk::new(), TestSettings { max_pages_in_flight: 7, ..with_places(4) }).await;
        let mut seeds = sites(&node, 's', 10, 4);
        for number in 0..10 {
            let host = format!("s{number}.test");
            node.resolver.place(&host, SLOW);
            let robots = ScriptedAnswer::text(NO_SITEMAP).after(Duration::from_secs(30));
            node.web.on(&format!("http://{host}/robots.txt"), [robots]);
            for path in ["", "page-1", "page-2", "page-3"] {
                let slow = ScriptedAnswer::page_with_links(&["/page-1", "/page-2", "/page-3"]);
                node.web.on(&format!("http://{host}/{path}"), [slow.after(Duration::from_secs(30))]);
            }
        }
        seeds.extend(sites(&node, 'c', 50, 4));
        seeds.extend(sites(&node, 'l', 1, 10));
        node.resolver.place("l0.test", ALONE);
        seed_all(&node, &seeds).await;
        node.when_idle(2 * MINUTE).await;

        let log = node.web.log();
        assert_polite(&log, DELAY);
        assert_polite_at_addresses(&log, 4, SPACING);
        let at = |address| log.iter().filter(move |request| request.address == address);
        let (crowded, slow, alone) = (at(Ipv4Addr::LOCALHOST), at(SLOW), at(ALONE));
        assert_eq!((crowded.clone().count(), slow.clone().count(), alone.clone().count()), (250, 50, 11));
        assert_eq!(most_at_once(&slow.cloned().collect::<Vec<_>>()), 4, "the slow address is used to the full");
        let last = |requests: &mut dyn Iterator<Item = &LoggedRequest>| {
            requests.map(|request| request.started_at).max().unwrap().since(FIRST_START)
        };
        // 250 requests at 220 ms each, and ten delays of five seconds.
        let (crowded, alone) = (last(&mut crowded.into_iter()), last(&mut alone.into_iter()));
        assert!(crowded < Duration::from_secs(75), "{crowded:?}");
        assert!(alone < Duration::from_secs(65), "{alone:?}");
        node.stop().await;
    });
}

#[test]
fn starts_are_spaced_however_long_the_handshakes_take() {
    run_paused(async {
        let node = start_with_places(4).await;
        let seeds = sites(&node, 'a', 12, 3);
        for number in 0..12_u64 {
            node.web.set_handshake(&format!("a{number}.test"), Duration::from_millis(number * 7919 % 900));
        }
        seed_all(&node, &seeds).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.log().len(), 12 * 4);
        assert_polite(&node.web.log(), DELAY);
        assert_polite_at_addresses(&node.web.log(), 4, SPACING);
        node.stop().await;
    });
}

#[test]
fn sites_take_turns_in_the_order_in_which_they_came() {
    run_paused(async {
        let node = start_with_a_hanging_site(5).await;
        exclude(&node, "a0.test").await;
        sleep(Duration::from_secs(3)).await;
        let hosts: Vec<String> = node.web.log().iter().map(|request| request.url.host().to_owned()).collect();
        assert_eq!(hosts[..6], ["a0.test", "a1.test", "a2.test", "a3.test", "a4.test", "a5.test"]);
        node.stop().await;
    });
}

async fn exclude(node: &TestNode, domain: &str) {
    let order = ExcludeDomain { domain: Domain::parse(domain).unwrap(), reason: "asked".to_owned() };
    node.frontier.send(order).await.unwrap().expect("it is durable");
}

#[test]
fn exclusion_frees_the_place_of_an_open_request_and_the_turn_of_a_waiting_one() {
    run_paused(async {
        let node = start_with_a_hanging_site(3).await;
        exclude(&node, "a2.test").await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(counts(&node).await.num_waiting, 2);
        exclude(&node, "a0.test").await;
        expect_all_asked(&node, &["a1.test", "a3.test"]).await;
        assert_eq!(node.web.pages_asked("a2.test").len(), 0);
        node.stop().await;
    });
}

#[test]
fn pause_frees_the_place_of_an_open_request_and_the_turn_of_a_waiting_one() {
    run_paused(async {
        let node = start_with_a_hanging_site(3).await;
        for host in ["a2.test", "a0.test"] {
            assert!(node.frontier.send(PauseSite(site(host))).await.unwrap());
        }
        expect_all_asked(&node, &["a1.test", "a3.test"]).await;
        assert_eq!(node.web.pages_asked("a2.test").len(), 0);
        node.stop().await;
    });
}

#[test]
fn shut_gate_of_the_node_outlasts_a_place_and_lets_it_go_on() {
    run_paused(async {
        let node = start_with_places(1).await;
        let seeds = sites(&node, 'a', 3, 2);
        node.gate.set(GateState::Shut);
        seed_all(&node, &seeds).await;
        sleep(10 * MINUTE).await;
        assert_eq!(node.web.log().len(), 0);
        node.gate.set(GateState::Open);
        expect_all_asked(&node, &["a0.test", "a1.test", "a2.test"]).await;
        node.stop().await;
    });
}

#[test]
fn port_that_panics_gives_the_place_back() {
    run_paused(async {
        let node = start_with_places(1).await;
        let seeds = sites(&node, 'a', 3, 2);
        node.web.on("http://a0.test/robots.txt", [ScriptedAnswer::panic(), ScriptedAnswer::status(404)]);
        seed_all(&node, &seeds).await;
        expect_all_asked(&node, &["a1.test", "a2.test"]).await;
        node.stop().await;
    });
}

#[test]
fn host_actor_that_dies_gives_the_place_back() {
    run_paused(async {
        let calls = AtomicU32::new(0);
        let identity = move |_: &_, _| {
            assert_ne!(calls.fetch_add(1, Ordering::SeqCst), 0, "the test says so");
            SiteIdentity { user_agent: "x".to_owned(), source: None }
        };
        let settings = TestSettings { identity: Arc::new(identity), ..with_places(1) };
        let node = TestNode::start(&TestDisk::new(), settings).await;
        let seeds = sites(&node, 'a', 3, 2);
        seed_all(&node, &seeds).await;
        expect_all_asked(&node, &["a0.test", "a1.test", "a2.test"]).await;
        assert_eq!(node.stats.num_actor_restarts.get(), 1);
        node.stop().await;
    });
}

#[test]
fn node_ends_while_many_wait_for_an_address() {
    run_paused(async {
        let node = start_with_a_hanging_site(60).await;
        let before = node.clock.now();
        let clock = node.clock.clone();
        node.stop().await;
        // `stop` itself waits two minutes to see that nothing is left.
        assert!(clock.now().since(before) < 2 * MINUTE + Duration::from_secs(10));
    });
}

/// Shows the time once, to let the gate open, and panics from then on.
struct BrokenClock(AtomicU32);

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "the test says so");
        FIRST_START
    }
}

#[test]
fn gate_that_dies_lets_nobody_leave_and_ends_the_node() {
    run_paused(async {
        let (fatal_sender, mut fatal) = oneshot::channel();
        let supervisor = NodeSupervisor::new(Arc::default(), fatal_sender).start();
        let rules = AddressRules::new(4, SPACING);
        let clock = Arc::new(BrokenClock(AtomicU32::new(0)));
        let door = GateDoor::new(AddressGateActor::new(rules, clock, supervisor.clone()).start());
        let address = VettedAddress::new_vetted("127.0.0.1:80".parse().unwrap());
        for _ in 0..2 {
            assert!(timeout(MINUTE, door.slot(address)).await.is_err(), "nobody gets a place");
        }
        assert!(fatal.try_recv().unwrap().contains("gate"));
    });
}

#[test]
fn gate_that_is_let_go_of_ends_without_a_word() {
    run_paused(async {
        let (fatal_sender, mut fatal) = oneshot::channel();
        let supervisor = NodeSupervisor::new(Arc::default(), fatal_sender).start();
        let clock = Arc::new(lohisoftbot_actors::clock::AnchoredClock::anchored_at(FIRST_START));
        let gate = AddressGateActor::new(AddressRules::new(4, SPACING), clock, supervisor.clone()).start();
        let door = GateDoor::new(gate.clone());
        let slot = door.slot(VettedAddress::new_vetted("127.0.0.1:80".parse().unwrap())).await;
        slot.leave().await;
        let left = gate.downgrade();
        drop((gate, door, slot));
        sleep(MINUTE).await;
        assert!(left.upgrade().is_none());
        assert!(fatal.try_recv().is_err(), "nothing was fatal");
    });
}

#[test]
fn delay_follows_the_response_time_up_to_a_minute() {
    run_paused(async {
        let node = start_with_places(4).await;
        node.web.site("a.test", 3);
        for (path, took) in [("", 8), ("page-1", 20)] {
            let links = ScriptedAnswer::page_with_links(&["/page-1", "/page-2"]);
            node.web.on(&format!("http://a.test/{path}"), [links.after(Duration::from_secs(took))]);
        }
        node.seed(&["http://a.test/"]).await;
        node.when_idle(2 * MINUTE).await;
        let log = node.web.log();
        let gap = |number: usize, took| log[number].started_at.since(log[number - 1].started_at.plus(took));
        for (number, took, wanted) in [(2, 8, 40), (3, 20, 60)] {
            let gap = gap(number, Duration::from_secs(took));
            let wanted = Duration::from_secs(wanted);
            assert!(gap >= wanted && gap < wanted + Duration::from_secs(1), "{gap:?} after {took} s");
        }
        node.stop().await;
    });
}

#[test]
fn site_that_recovers_is_asked_once_and_then_at_twice_the_delay() {
    run_paused(async {
        let node = start_with_places(4).await;
        node.web.site("a.test", 6);
        let page = ScriptedAnswer::page_with_links(&["/"]);
        node.web.on("http://a.test/page-1", [ScriptedAnswer::status(503), page]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(5 * MINUTE).await;
        let log = node.web.log();
        assert_eq!(log.len(), 1 + 6 + 1 + 1);
        let gaps: Vec<Duration> = log
            .windows(2)
            .map(|pair| pair[1].started_at.since(pair[0].started_at.plus(Duration::from_millis(100))))
            .collect();
        // robots.txt, /, /page-1 (503), a minute, one request, twice the delay, and on as before; a guess at a sitemap at the end.
        let wanted: [u64; 8] = [5, 5, 60, 10, 5, 5, 5, 5];
        for (gap, wanted) in gaps.iter().zip(wanted) {
            let wanted = Duration::from_secs(wanted);
            let latest = wanted + wanted / 10 + Duration::from_secs(1);
            assert!((wanted..latest).contains(gap), "{gaps:?}");
        }
        node.stop().await;
    });
}
