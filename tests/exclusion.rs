//! `lohisoftbot-ctl exclude` in mid-crawl (P8): no request after the answer, nothing left but the exclusion and the ledger's facts, and
//! none of it comes back by itself.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lohisoftbot::control::Command;
use lohisoftbot::practice_web::faults::{Faults, PageFault};
use lohisoftbot::practice_web::log::{EndedBy, LogEntry};
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::site_plan::{PageHost, site_name_of_host};
use lohisoftbot_core::exclusion::Domain;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

/// How much later than it was sent the web may see a request on a busy machine, in milliseconds.
const SEEN_LATE_MS: u64 = 100;
/// What the ledger says of a request that an exclusion broke off, or kept from leaving.
const BROKEN_OFF: &str = "broken off: the domain was excluded, or the node was stopped";

#[test]
fn excluded_domains_are_out_when_the_answer_comes_and_stay_out() {
    let plan = PracticePlan {
        pages_per_site: (25, 50),
        base_address: [127, 74, 0, 0].into(),
        faults: Faults::none().with_page(PageFault::Stall),
        ..PracticePlan::small(74, 7)
    };
    // Only breaking it off can end a request that the web never answers.
    let patient = Duration::from_secs(3000);
    let rig = Rig::start(plan, |config| {
        config.network.first_byte_timeout = patient;
        config.network.total_timeout = patient;
    });
    let mut node = rig.node_with_seeds(&[]);

    let silent = OutDomain::exclude_with_open_request(&rig);
    let docs = OutDomain::exclude_below_a_site(&rig);
    stop(&mut node);
    silent.expect_out(&rig);
    docs.expect_out(&rig);
    let main_host = docs.name.strip_prefix("docs.").unwrap();
    assert!(rig.rows(&["pages", "--site", main_host]).len() > 1, "the rest of the site is left alone");

    // Neither the seeds nor the links that lead there bring anything back.
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);
    silent.expect_out(&rig);
    docs.expect_out(&rig);
    let excluded: Vec<_> = rig.rows(&["exclusions"]).iter().map(|row| row["domain"].clone()).collect();
    assert_eq!(excluded.len(), 2, "{excluded:?}");

    let mut node = rig.node(&[]);
    take_back_in(&rig, &mut node, &silent);
    stop(&mut node);
    docs.expect_out(&rig);
    rig.expect_no_violation();
}

#[test]
fn domain_that_covers_many_sites_takes_them_all_out() {
    let plan = PracticePlan { base_address: [127, 75, 0, 0].into(), ..PracticePlan::small(75, 6) };
    let rig = Rig::start(plan, |_| {});
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_log("a crawl in full swing", |entries| entries.len() >= 40);
    // All practice sites lie below it.
    let all = OutDomain::exclude(&rig, "test");
    assert_eq!(all.answer["removed"]["num_sites"], 6, "{}", all.answer);
    assert_eq!(rig.ask(&["sites"])["sites"], Value::Array(Vec::new()));
    stop(&mut node);
    all.expect_out(&rig);
    let num_requests = rig.web().log().num_requests();
    rig.node_with_seeds(&["--until-idle"]).expect_end(0);
    assert_eq!(rig.web().log().num_requests(), num_requests, "an excluded seed was asked");
    assert!(
        rig.rows(&["trees"]).iter().all(|row| row["rows"] == 0 || row["tree"] == "meta" || row["tree"] == "exclusions")
    );
    assert!(!rig.rows(&["ledger", "--kind", "ticket"]).is_empty(), "the ledger keeps what was asked");
}

#[test]
fn page_that_is_being_read_when_its_domain_goes_out_leaves_nothing() {
    const NUM_SITES: usize = 18;
    const NUM_EXCLUDED: usize = 14;
    let plan = PracticePlan { base_address: [127, 76, 0, 0].into(), ..PracticePlan::small(76, NUM_SITES) };
    // The answer would wait for a commit of the search index, and the crawl of so few sites would be over before so many exclusions.
    let rig = Rig::start(plan, |config| config.search.enabled = false);
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    let mut out: Vec<OutDomain> = Vec::new();
    while out.len() < NUM_EXCLUDED {
        let num_before = rig.web().log().num_requests();
        let mut site = String::new();
        rig.wait_for_log("the end of a large page", |entries| {
            // Entries that were there before may end now, so all but the old ones are looked at.
            let recent = &entries[num_before.saturating_sub(12)..];
            let ended = recent.iter().rev().find(|entry| {
                let name = site_name_of_host(&entry.host);
                is_large_page(&rig, entry) && entry.end.is_some() && out.iter().all(|domain| domain.name != name)
            });
            ended.inspect(|entry| site = site_name_of_host(&entry.host).to_owned()).is_some()
        });
        out.push(OutDomain::exclude_at_once(&rig, &site));
    }
    // The crawl of the others goes on to its end, so whatever was late had all the time to arrive.
    node.wait_until("the other sites are finished", || {
        rig.ask(&["sites", "--state", "finished"])["sites"].as_array().unwrap().len() == NUM_SITES - NUM_EXCLUDED
    });
    stop(&mut node);
    for domain in &out {
        domain.expect_out(&rig);
    }
    assert_eq!(rig.rows(&["sites"]).len(), NUM_SITES - NUM_EXCLUDED);
    rig.expect_no_violation();
    let num_late: usize = out.iter().map(|domain| domain.num_pages_read_since(&rig)).sum();
    assert!(num_late > 0, "no page was being read when its domain went out");
}

/// A domain that was excluded.
struct OutDomain {
    name: String,
    answer: Value,
    /// When the answer was there, in milliseconds since 1970.
    answered_at: u64,
}

impl OutDomain {
    fn exclude(rig: &Rig, name: &str) -> Self {
        let answer = rig.ask(&["exclude", name, "--reason", "asked by mail"]);
        Self { name: name.to_owned(), answer, answered_at: unix_ms() }
    }

    /// Without the time that a process takes to start.
    fn exclude_at_once(rig: &Rig, name: &str) -> Self {
        let command = Command::Exclude { domain: Domain::parse(name).unwrap(), reason: "at once".to_owned() };
        let answer = rig.ask_at_once(&command);
        Self { name: name.to_owned(), answer, answered_at: unix_ms() }
    }

    /// Excludes a site while a request to it is open that the web never answers, and wants the connection closed.
    fn exclude_with_open_request(rig: &Rig) -> Self {
        let is_silent = |entry: &LogEntry| entry.label == "Stall";
        let mut host = String::new();
        rig.wait_for_log("a request that is not answered", |entries| {
            entries.iter().find(|entry| is_silent(entry)).inspect(|entry| host.clone_from(&entry.host)).is_some()
        });
        let out = Self::exclude(rig, site_name_of_host(&host));
        rig.wait_for_log("the end of that request", |entries| {
            entries.iter().filter(|entry| is_silent(entry)).all(|entry| entry.end.is_some())
        });
        let entries = rig.web().log().entries();
        let ends: Vec<_> = entries.iter().filter(|entry| is_silent(entry)).filter_map(|entry| entry.end).collect();
        assert!(ends.len() == 1 && ends[0].ended_by == EndedBy::Client, "{ends:?}");
        assert_eq!((&out.answer["excluded"], &out.answer["live_sites_told"]), (&true.into(), &1.into()));
        // The queue of a live site is its actor's, and is counted there.
        assert!(out.answer["urls_taken_out_of_live_queues"].as_u64().unwrap() > 0, "{}", out.answer);
        for what in ["num_pages", "num_anchors_from", "num_anchors_to"] {
            assert!(out.answer["removed"][what].as_u64().unwrap() > 0, "{what}: {}", out.answer);
        }
        assert_eq!(out.answer["removed"]["num_sites"], 1);
        out
    }

    /// Excludes a host of a site when its robots.txt was asked, and sees the rest of the site go on.
    fn exclude_below_a_site(rig: &Rig) -> Self {
        let site = rig.web().sites().sites().iter().find(|site| site.pages.iter().any(|p| p.host == PageHost::Docs));
        let site = site.unwrap();
        let (main, docs) = (site.host(PageHost::Main), site.host(PageHost::Docs));
        rig.wait_for_log("its robots.txt", |entries| entries.iter().any(|entry| entry.host == docs));
        let out = Self::exclude(rig, &docs);
        assert_eq!(out.answer["removed"]["num_sites"], 0);
        let num_before = rig.web().log().num_requests();
        rig.wait_for_log("the rest of the site", |entries| {
            entries[num_before..].iter().any(|entry| entry.host == main)
        });
        out
    }

    /// Wants no request after the answer, and nothing in the stopped node's store.
    #[track_caller]
    fn expect_out(&self, rig: &Rig) {
        let domain = Domain::parse(&self.name).unwrap();
        for entry in rig.web().log().entries().iter().filter(|entry| domain.covers_host(&entry.host)) {
            let is_late = entry.start_unix_ms > self.answered_at + SEEN_LATE_MS;
            assert!(!is_late, "{} ms after the answer: {entry:#?}", entry.start_unix_ms - self.answered_at);
        }
        for what in ["pages", "inlinks", "frontier", "sites"] {
            for row in rig.rows(&[what]) {
                let text = format!("{row:?}");
                let is_of_it = |host: &str| domain.covers_host(host.split(':').next().unwrap());
                let hosts = text.split(['/', '"']).filter(|word| word.contains(".test"));
                assert!(!hosts.into_iter().any(is_of_it), "{what} of {}: {text}", self.name);
            }
        }
        let exclusions = rig.rows(&["exclusions"]);
        assert!(exclusions.iter().any(|row| row["domain"] == self.name), "{exclusions:?}");
        self.expect_no_ticket_since(rig);
    }

    /// By the ledger, which notes the outcome of a page when it was read: how many came before the exclusion and were read after it.
    fn num_pages_read_since(&self, rig: &Rig) -> usize {
        let entries = rig.rows(&["ledger"]);
        let since = entries.iter().skip_while(|row| row["kind"] != "exclusion" || row["name"] != self.name.as_str());
        since
            .filter(|row| row["kind"] == "outcome" && row["name"] == self.name.as_str() && row["status"] == 200)
            .count()
    }

    /// By the ledger, which has an order where the log has only times: a request that was not broken off was recorded before the
    /// exclusion.
    #[track_caller]
    fn expect_no_ticket_since(&self, rig: &Rig) {
        let domain = Domain::parse(&self.name).unwrap();
        let entries = rig.rows(&["ledger"]);
        let excluded_at = entries.iter().position(|row| row["kind"] == "exclusion" && row["name"] == self.name);
        let excluded_at = excluded_at.expect("the ledger keeps the exclusion");
        let mut num_tickets = 0;
        for (place, ticket) in entries.iter().enumerate().filter(|(_, row)| row["kind"] == "ticket") {
            let url = ticket["url"].as_str().unwrap();
            let host = url.split(['/', ':']).nth(3).unwrap();
            if !domain.covers_host(host) {
                continue;
            }
            num_tickets += 1;
            let is_its_end = |row: &&std::collections::BTreeMap<String, Value>| {
                row["kind"] == "outcome" && row["name"] == ticket["name"] && row["ticket"] == ticket["ticket"]
            };
            let end = entries.iter().find(is_its_end).map(|row| row["what"].clone());
            assert!(place < excluded_at || end == Some(BROKEN_OFF.into()), "{url} was asked afterwards: {end:?}");
        }
        assert!(num_tickets > 0, "the ledger keeps what was asked of {}", self.name);
    }
}

/// Includes the domain again and sees it crawled within what is left of its budget.
fn take_back_in(rig: &Rig, node: &mut RunningNode, out: &OutDomain) {
    rig.wait_for_start(node);
    assert_eq!(rig.ask(&["include", &out.name])["included"], true);
    let home = rig.web().seeds().into_iter().find(|seed| seed.contains(&out.name)).unwrap();
    let num_before = rig.web().log().num_requests();
    assert_eq!(rig.ask(&["seed", &home])["num_excluded"], 0);
    rig.wait_for_log("a request to what is included again", |entries| {
        entries[num_before..]
            .iter()
            .any(|entry| site_name_of_host(&entry.host) == out.name && entry.path != "/robots.txt")
    });
    let ran = rig.ctl(&["include", &out.name]).expect_code(1);
    assert!(ran.stderr.contains("is not excluded"), "{ran:?}");
}

fn is_large_page(rig: &Rig, entry: &LogEntry) -> bool {
    let page = rig.web().sites().site_of_host(&entry.host).and_then(|site| site.page(&entry.path));
    entry.status == Some(200) && page.is_some_and(|page| page.target_bytes > 80_000)
}

#[track_caller]
fn stop(node: &mut RunningNode) {
    node.signal(Signal::TERM);
    node.expect_end(0);
}

fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
