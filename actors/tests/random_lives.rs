//! A node that lives several lives on one disk, each with random orders and faults and a random end: the promises hold throughout.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lohisoftbot_actors::extractor::DieNow;
use lohisoftbot_actors::frontier::{Discovery, ExcludeDomain, IncludeDomain, PauseSite, RecrawlSite, ResumeSite};
use lohisoftbot_actors::host::SiteIdentity;
use lohisoftbot_actors::ports::GateState;
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerRead};
use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::{assert_polite, cut_off, num_page_requests};
use lohisoftbot_actors::testkit::node::{DELAY, FIRST_START, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::storage_contract::site;
use lohisoftbot_actors::testkit::web::{LoggedEnd, LoggedRequest, ScriptedAnswer};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::outcome::FetchFailure;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use tokio::time::sleep;

const NUM_HOSTS: u32 = 6;
const NUM_LIVES: u32 = 4;
const NUM_ORDERS: u32 = 12;
const RETRY_AFTER_SECS: u64 = 200;

struct World {
    rng: fastrand::Rng,
    log: Vec<LoggedRequest>,
    now: Timestamp,
    excluded: BTreeSet<String>,
}

fn host(number: u32) -> String {
    format!("h{number}.test")
}

impl World {
    fn any_host(&mut self) -> String {
        host(self.rng.u32(0..NUM_HOSTS))
    }

    /// Answers for every URL that any page links to; the same for one `seed`, whatever happened.
    fn script(node: &TestNode, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        for number in 0..NUM_HOSTS {
            for path in 0..30 {
                let own: Vec<String> = (0..6).map(|_| format!("/{}", rng.u32(1..30))).collect();
                let other = format!("http://{}/{}", host(rng.u32(0..NUM_HOSTS)), rng.u32(0..30));
                let busy = format!("/busy-{}", rng.u32(0..3));
                let mut links: Vec<&str> = own.iter().map(String::as_str).collect();
                links.push(&other);
                if rng.u32(0..8) == 0 {
                    links.push(&busy);
                }
                let page = || ScriptedAnswer::page_with_links(&links);
                let answers = match rng.u32(0..20) {
                    0 => vec![ScriptedAnswer::failure(FetchFailure::Reset), page()],
                    1 => vec![ScriptedAnswer::panic(), page()],
                    2 => vec![ScriptedAnswer::html("<p data-fail-point=\"panic\">")],
                    3 => vec![ScriptedAnswer::failure(FetchFailure::TotalTimeout).after(Duration::from_secs(60))],
                    4 => vec![page().after(Duration::from_millis(rng.u64(0..20_000)))],
                    _ => vec![page()],
                };
                let path = if path == 0 { String::new() } else { path.to_string() };
                node.web.on(&format!("http://{}/{path}", host(number)), answers);
            }
            for busy in 0..3 {
                let head = ResponseHead::new(503).with("retry-after", RETRY_AFTER_SECS.to_string());
                node.web.on(&format!("http://{}/busy-{busy}", host(number)), [ScriptedAnswer::answer(head, "")]);
            }
        }
    }

    fn settings(&mut self) -> TestSettings {
        let (calls, panic_at) = (AtomicU64::new(0), self.rng.u64(1..60));
        let identity = move |_: &Site, _| {
            assert_ne!(calls.fetch_add(1, Ordering::SeqCst), panic_at, "the test says so");
            SiteIdentity { user_agent: "x".to_owned(), source: None }
        };
        TestSettings {
            identity: Arc::new(identity),
            discovery: if self.rng.bool() { Discovery::Seeds } else { Discovery::Links { max_sites: 5 } },
            max_live_sites: self.rng.usize(1..8),
            max_pages_in_flight: self.rng.usize(1..5),
            num_extractors: self.rng.usize(1..3),
            starts_at: self.now,
            ..TestSettings::default()
        }
    }

    async fn order(&mut self, node: &TestNode) {
        let host = self.any_host();
        let domain = Domain::parse(&host).unwrap();
        match self.rng.u32(0..18) {
            0..5 => drop(node.seed(&[&format!("http://{host}/{}", self.rng.u32(1..30))]).await),
            5 => drop(node.frontier.send(PauseSite(site(&host))).await.unwrap()),
            6 | 7 => drop(node.frontier.send(ResumeSite(site(&host))).await.unwrap()),
            8 => {
                let order = ExcludeDomain { domain, reason: "asked".to_owned() };
                node.frontier.send(order).await.unwrap().expect("it is durable");
                self.excluded.insert(host);
            }
            9 | 10 => {
                node.frontier.send(IncludeDomain(domain)).await.unwrap().expect("it is durable");
                self.excluded.remove(&host);
            }
            11 => node.gate.set(GateState::Shut),
            12 | 13 => node.gate.set(GateState::Open),
            14 => {
                if let Some(extractor) = node.extractors.for_site(&site(&host)) {
                    extractor.do_send(DieNow);
                }
            }
            15 | 16 => drop(node.frontier.send(RecrawlSite(site(&host))).await.unwrap().expect("it is durable")),
            _ => node.when_idle_or_later(Duration::from_secs(300)).await,
        }
    }

    async fn live(&mut self, disk: &TestDisk, seed: u64) {
        let mut node = TestNode::start(disk, self.settings()).await;
        Self::script(&node, seed);
        for _ in 0..NUM_ORDERS {
            self.order(&node).await;
            let before: BTreeMap<String, usize> = self.asked_of_excluded(&node);
            let span = if self.rng.bool() { self.rng.u64(0..1_000) } else { self.rng.u64(0..400_000) };
            sleep(Duration::from_millis(span)).await;
            assert_eq!(self.asked_of_excluded(&node), before, "an excluded site is left alone");
            for host in self.excluded.clone() {
                assert_eq!(node.stored_pages(&host).await, [""; 0], "{host} is excluded");
            }
        }
        assert!(node.fatal.try_recv().is_err(), "no failure");
        self.now = node.clock.now();
        if self.rng.bool() {
            let (web, clock) = (node.web.clone(), node.clock.clone());
            node.stop().await;
            self.now = clock.now();
            self.log.extend(web.log());
        } else {
            self.log.extend(cut_off(node.web.log(), self.now));
        }
    }

    fn asked_of_excluded(&self, node: &TestNode) -> BTreeMap<String, usize> {
        self.excluded.iter().map(|host| (host.clone(), node.web.pages_asked(host).len())).collect()
    }

    #[track_caller]
    fn check(&self, disk: &TestDisk) {
        assert_polite(&self.log, DELAY);
        for number in 0..NUM_HOSTS {
            let site = site(&host(number));
            assert!(num_page_requests(&self.log, &site) <= 20, "{site}");
            let of_site: Vec<&LoggedRequest> = self.log.iter().filter(|request| request.url.site() == site).collect();
            for pair in of_site.windows(2) {
                if let (true, LoggedEnd::Ended(at)) = (pair[0].url.path_and_query().starts_with("/busy"), pair[0].end) {
                    let wait = pair[1].started_at.since(at);
                    // An answer that came in the moment of a kill or an abort was not read.
                    let was_read = self.was_answered(disk, pair[0]);
                    assert!(!was_read || wait >= Duration::from_secs(RETRY_AFTER_SECS), "{wait:?} between {pair:?}");
                }
            }
        }
        let tickets = EntryFilter { kinds: vec![EntryKind::Ticket], ..EntryFilter::default() };
        let num_tickets = disk.ledger.entries(&tickets).unwrap().len();
        assert!(num_tickets >= self.log.len(), "{num_tickets} tickets for {} requests", self.log.len());
    }

    fn was_answered(&self, disk: &TestDisk, request: &LoggedRequest) -> bool {
        let LoggedEnd::Ended(ended_at) = request.end else { return false };
        let waits =
            EntryFilter { site: Some(request.url.site()), kinds: vec![EntryKind::Wait], ..EntryFilter::default() };
        disk.ledger.entries(&waits).unwrap().iter().any(|wait| wait.at >= ended_at && wait.at.since(ended_at).is_zero())
    }
}

trait WhenIdleOrLater {
    async fn when_idle_or_later(&self, longest: Duration);
}

impl WhenIdleOrLater for TestNode {
    async fn when_idle_or_later(&self, longest: Duration) {
        // A shut gate keeps a node from ever being idle.
        let _ = tokio::time::timeout(longest, self.when_idle(Duration::from_secs(10))).await;
    }
}

#[test]
fn promises_hold_over_random_orders_faults_and_kills() {
    let mut num_requests = 0;
    for seed in 0..24 {
        let disk = TestDisk::new();
        let rng = fastrand::Rng::with_seed(seed);
        let mut world = World { rng, log: Vec::new(), now: FIRST_START, excluded: BTreeSet::new() };
        for life in 0..NUM_LIVES {
            eprintln!("seed {seed}, life {life}");
            run_paused(world.live(&disk, seed));
            disk.crash();
        }
        world.check(&disk);
        num_requests += world.log.len();
    }
    assert!(num_requests > 2000, "the lives are lived: {num_requests} requests");
}
