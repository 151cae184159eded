//! kill -9 in mid-crawl, again and again: the crawl goes on, no budget and no wait is forgotten, and no acknowledged record is lost.
//!
//! The practice web outlives the nodes, so its log covers them all.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lohisoftbot::control::Command;
use lohisoftbot::practice_web::auditor::{AuditLabels, audit};
use lohisoftbot::practice_web::faults::{Faults, PageFault, RobotsKind};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::script::Backoff;
use lohisoftbot::practice_web::site_plan::site_name_of_host;
use lohisoftbot_core::site::Site;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

/// What the ledger says of a ticket whose node ended before the answer.
const LOST: &str = "the node ended before the answer; counted as sent";

/// When a node is killed.
enum Moment {
    /// So many requests after the last kill.
    AfterRequests(usize),
    /// A site was just told to wait, and the node says that it knows.
    InsideWait,
    /// A request is open and will stay so.
    InsideRequest,
}

/// Nodes that were killed over one data directory, and what they had acknowledged.
struct Killings {
    rig: Rig,
    /// When, in milliseconds since 1970.
    killed_at: Vec<u64>,
    acknowledged: BTreeSet<String>,
}

#[test]
fn killed_node_goes_on_and_forgets_no_budget_no_wait_and_no_record() {
    let mut rng = fastrand::Rng::with_seed(73);
    let mut some = |around: usize| Moment::AfterRequests(rng.usize(around / 2..around * 3 / 2));
    let moments = [Moment::InsideWait, some(8), Moment::InsideRequest, some(20), some(3), some(30), some(10)];
    let robots = [RobotsKind::LimitedThenFine, RobotsKind::UnavailableThenFine, RobotsKind::FiveHops];
    let pages = [
        PageFault::LimitedSeconds,
        PageFault::LimitedDate,
        PageFault::LimitedPlain,
        PageFault::ContentTooLarge,
        PageFault::UnavailableOnce,
        PageFault::ServerError,
        PageFault::Stall,
        PageFault::Drip,
    ];
    let mut killings =
        Killings { rig: practice_rig(24, &robots, &pages), killed_at: Vec::new(), acknowledged: BTreeSet::new() };
    for (number, moment) in moments.iter().enumerate() {
        // Only the first node is given the seeds: the others must know by themselves.
        let node = if number == 0 { killings.rig.node_with_seeds(&[]) } else { killings.rig.node(&[]) };
        killings.kill_at(node, moment);
    }
    let Killings { rig, killed_at, acknowledged } = killings;
    let num_before = rig.web().log().num_requests();
    rig.node(&["--until-idle", "--max-wait", "5s"]).expect_end(0);
    assert!(rig.web().log().num_requests() > num_before + 20, "nothing was left to do after the last kill");

    rig.dump(&["verify"]).expect_code(0);
    let stored: BTreeSet<String> =
        rig.rows(&["pages"]).iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(acknowledged.len() > 50 && lost.is_empty(), "of {} records lost: {lost:?}", acknowledged.len());

    let entries = as_the_nodes_could_know(&rig, &killed_at);
    let report = audit(&entries, &AuditLabels::of_sites(rig.web().sites()), &rig.audit_rules());
    assert!(report.is_clean(), "{report}\nkilled at {killed_at:?}");
    assert!(report.num_waits_honoured >= 5, "{report}");
    // Each kill may have cost a site a ticket that was recorded and not sent.
    let least = 20 - killed_at.len();
    let num_spent = report.sites.values().filter(|site| site.num_page_requests >= least).count();
    assert!(num_spent >= 20, "{num_spent} sites only have spent their budget: {report}");
}

#[test]
fn retry_after_of_a_page_outlives_the_node_that_was_told() {
    let rig = practice_rig(3, &[], &[PageFault::LimitedDate]);
    let mut killings = Killings { rig, killed_at: Vec::new(), acknowledged: BTreeSet::new() };
    let node = killings.rig.node_with_seeds(&[]);
    killings.kill_at(node, &Moment::InsideWait);
    let rig = killings.rig;
    rig.node(&["--until-idle", "--max-wait", "5s"]).expect_end(0);

    let entries = rig.web().log().entries();
    let told = entries.iter().find(|entry| tells_wait(entry)).unwrap();
    let until_us = told.end.and_then(|end| end.wait_until_us).unwrap();
    let others = |entry: &&LogEntry| entry.host != told.host && entry.start_unix_ms > killings.killed_at[0];
    assert!(entries.iter().filter(others).any(|entry| entry.start_us < until_us), "the second node came too late");
    let report = rig.expect_no_violation();
    assert_eq!((report.num_waits, report.num_waits_honoured), (1, 1), "{report}");
}

fn practice_rig(num_sites: usize, robots: &[RobotsKind], pages: &[PageFault]) -> Rig {
    let faults = pages.iter().copied().fold(Faults::none(), Faults::with_page);
    let plan = PracticePlan {
        pages_per_site: (20, 40),
        base_address: [127, 73, u8::try_from(num_sites).unwrap(), 0].into(),
        faults: robots.iter().copied().fold(faults, Faults::with_robots),
        ..PracticePlan::small(73, num_sites)
    };
    Rig::start(plan, |config| {
        // Longer than a node lives here: a request that the web never answers stays open.
        config.network.first_byte_timeout = Duration::from_secs(4);
        config.backoff.first = Duration::from_secs(1);
    })
}

impl Killings {
    fn kill_at(&mut self, mut node: RunningNode, moment: &Moment) {
        let rig = &self.rig;
        rig.wait_for_start(&mut node);
        let num_before = rig.web().log().num_requests();
        match moment {
            Moment::AfterRequests(num) => {
                rig.wait_for_log("enough requests", |entries| entries.len() >= num_before + num);
            }
            Moment::InsideWait => {
                let mut told = None;
                rig.wait_for_log("a wait that is told", |entries| {
                    told = entries[num_before..].iter().find(|entry| tells_wait(entry)).cloned();
                    told.is_some()
                });
                let site = Site::of_host(site_name_of_host(&told.unwrap().host));
                node.wait_until("the node knows of the wait", || {
                    !rig.ask_at_once(&Command::Site { site: site.clone() })["next_request_not_before"].is_null()
                });
            }
            Moment::InsideRequest => {
                rig.wait_for_log("a request that is not answered", |entries| {
                    let is_silent = |entry: &LogEntry| ["Stall", "Drip"].contains(&entry.label.as_str());
                    entries[num_before..].iter().any(|entry| is_silent(entry) && entry.end.is_none())
                });
            }
        }
        for site in rig.web().sites().sites() {
            let told = rig.ask_at_once(&Command::Site { site: Site::of_host(&site.name) });
            let pages = told["pages"].as_array().unwrap().iter();
            self.acknowledged.extend(pages.map(|page| page["url"].as_str().unwrap().to_owned()));
        }
        node.kill();
        self.killed_at.push(unix_ms());
    }
}

fn tells_wait(entry: &LogEntry) -> bool {
    entry.end.is_some_and(|end| end.wait_until_us.is_some() || entry.backoff == Backoff::Site)
}

/// The log without the waits that were told to a node which was dead before it could write them down: the last answer to a site before
/// a kill, where the ledger's next node found the ticket open. Such a request counts as sent, and more nobody can know.
fn as_the_nodes_could_know(rig: &Rig, killed_at: &[u64]) -> Vec<LogEntry> {
    let lost = lost_urls(rig);
    assert!(!lost.is_empty(), "a request was open when its node was killed");
    let mut entries = rig.web().log().entries();
    for &killed_at in killed_at {
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.start_unix_ms <= killed_at) {
            last.insert(site_name_of_host(&entry.host).to_owned(), number);
        }
        for number in last.into_values() {
            let entry = &mut entries[number];
            let url = entry.url().unwrap();
            if lost.contains(&url) {
                entry.backoff = Backoff::None;
                entry.end =
                    entry.end.map(|end| lohisoftbot::practice_web::log::RequestEnd { wait_until_us: None, ..end });
            }
        }
    }
    entries
}

/// The URLs of the tickets that were found open at a start.
fn lost_urls(rig: &Rig) -> BTreeSet<String> {
    let mut urls = BTreeMap::new();
    let mut lost = BTreeSet::new();
    for row in rig.rows(&["ledger", "--kind", "ticket,outcome"]) {
        let ticket = (row["name"].to_string(), row["ticket"].to_string());
        match &row["url"] {
            Value::String(url) => drop(urls.insert(ticket, url.clone())),
            _ if row["what"] == LOST => drop(urls.remove(&ticket).map(|url| lost.insert(url))),
            _ => {}
        }
    }
    lost
}

fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
