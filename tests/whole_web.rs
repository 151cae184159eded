//! One crawl of a practice web with every fault there is, and what all must hold after it: the auditor finds nothing, what was stored is
//! what the pages say, and of their text nothing is left anywhere.

mod crawl;
mod explained;

use std::collections::{BTreeMap, BTreeSet};

use lohisoftbot::practice_web::auditor::ViolationKind;
use lohisoftbot::practice_web::faults::{FaultWeight, LOOK_ALIKES, PageFault, RobotsKind, SitemapKind};
use lohisoftbot::practice_web::labels::{AnswerKind, ForbiddenBy, Permission, Storage, UrlLabel};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::sitemaps::LISTED_PREFIX;
use serde_json::Value;

use crawl::{CANARIES, crawl};

/// The most page requests that a site may get.
const BUDGET: usize = 20;

#[test]
fn auditor_finds_no_violation_in_the_whole_log() {
    let report = &crawl().report;
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.max_at_once(), 1, "{report}");
    assert!(report.sites.values().all(|site| site.num_page_requests <= BUDGET), "{report}");
    assert_eq!(report.of_kind(ViolationKind::InsideWait).count(), 0);
    // A web on which nothing happened would be clean too.
    assert!(report.num_sites() >= crawl::NUM_SITES - 1, "{report}");
    assert!(report.num_waits_honoured >= 10, "{report}");
    assert_eq!(report.num_unlabelled, 0, "{report}");
    assert_eq!(report.num_shared_addresses(), 1, "{report}");
}

#[test]
fn audit_of_the_ledger_finds_nothing_either_in_the_running_node_or_in_its_files() {
    let crawl = crawl();
    assert_eq!(crawl.ledger_audit["num_violations"], 0, "{:#}", crawl.ledger_audit);
    let num_requests = crawl.ledger_audit["num_requests"].as_u64().unwrap();
    // The log begins behind the handshake and has no request that broke off before.
    assert!(num_requests >= crawl.num_logged as u64, "{num_requests} of {}", crawl.num_logged);
    assert!(crawl.ledger_audit["num_sites"].as_u64().unwrap() >= 200);
}

#[test]
fn web_of_two_hundred_sites_has_every_kind_of_robots_and_everything_that_makes_a_site_wait() {
    let crawl = crawl();
    let robots: BTreeSet<RobotsKind> = crawl.plans.iter().map(|plan| plan.robots).collect();
    assert_eq!(robots.len(), RobotsKind::ALL.len());
    for fault in PageFault::ALL.iter().filter(|fault| fault.weight() == FaultWeight::Heavy) {
        assert!(crawl.labels.iter().any(|label| label.answer == AnswerKind::Fault(*fault)), "{fault:?}");
    }
    assert!(crawl.report.num_sites() >= 200, "{} sites in the log", crawl.report.num_sites());
}

#[test]
fn every_kind_of_fault_was_met() {
    let crawl = crawl();
    let asked: BTreeSet<String> = crawl.entries.iter().map(url_of).collect();
    let mut is_met: BTreeMap<String, bool> = BTreeMap::new();
    for label in &crawl.labels {
        let is_fault = matches!(label.answer, AnswerKind::Robots(_) | AnswerKind::Fault(_) | AnswerKind::PanicPage);
        if is_fault && label.permission == Permission::Allowed && !is_never_heard(label) {
            *is_met.entry(format!("{:?}", label.answer)).or_default() |= asked.contains(&label.url);
        }
    }
    assert!(is_met.len() > 80, "{} kinds", is_met.len());
    let not_met: Vec<_> = is_met.iter().filter(|(_, met)| !**met).collect();
    assert!(not_met.is_empty(), "never asked: {not_met:?}");
}

/// The log begins behind the handshake, so a request that fails in it is not there.
fn is_never_heard(label: &UrlLabel) -> bool {
    label.answer == AnswerKind::Robots(RobotsKind::WrongCertificate)
}

#[test]
fn stored_records_say_what_the_pages_say() {
    let crawl = crawl();
    let labels: BTreeMap<&str, &UrlLabel> = crawl.labels.iter().map(|label| (label.url.as_str(), label)).collect();
    for page in &crawl.pages {
        let url = page["url"].as_str().unwrap();
        let label = labels.get(url).unwrap_or_else(|| panic!("{url} was never planned"));
        assert_ne!(label.storage, Storage::NotStored, "{url}: {:?}", label.answer);
        // What is a guess for every reader has no label to compare with.
        let Some(title) = &label.title else { continue };
        assert_eq!(page["title"].as_str(), Some(title.as_str()), "{url}");
        assert_eq!(page["description"].as_str(), label.description.as_deref(), "{url}");
        assert_eq!(page["lang"].as_str(), label.lang.as_deref(), "{url}");
        let headings: Vec<(u8, String)> = page["headings"].as_array().unwrap().iter().map(heading).collect();
        if page["cut"] == true {
            assert!(label.headings.starts_with(&headings), "{url}: {headings:?}");
        } else {
            assert_eq!(headings, label.headings, "{url}");
        }
    }
}

#[test]
fn every_page_that_came_and_may_be_kept_is_stored() {
    let crawl = crawl();
    let stored: BTreeSet<&str> = crawl.pages.iter().map(|page| page["url"].as_str().unwrap()).collect();
    let answered: BTreeSet<String> =
        crawl.entries.iter().filter(|entry| entry.status == Some(200)).map(url_of).collect();
    let wanted = crawl.labels.iter().filter(|label| label.storage == Storage::Stored && answered.contains(&label.url));
    let missing: Vec<_> = wanted.clone().filter(|label| !stored.contains(label.url.as_str())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(wanted.count() > 500, "{} pages only", stored.len());
}

#[test]
fn no_barrier_is_stored_and_no_look_alike_is_lost() {
    let crawl = crawl();
    let stored: BTreeSet<&str> = crawl.pages.iter().map(|page| page["url"].as_str().unwrap()).collect();
    let asked: BTreeSet<String> = crawl.entries.iter().map(url_of).collect();
    let (mut num_barriers, mut num_look_alikes) = (0, 0);
    for label in &crawl.labels {
        let AnswerKind::Fault(fault) = label.answer else { continue };
        if fault.weight() == FaultWeight::Barrier {
            num_barriers += 1;
            assert!(asked.contains(&label.url) && !stored.contains(label.url.as_str()), "{fault:?}");
        } else if LOOK_ALIKES.contains(&fault) {
            num_look_alikes += 1;
            assert!(stored.contains(label.url.as_str()), "{fault:?}");
        }
    }
    let behind = crawl.labels.iter().filter(|label| label.permission == Permission::Forbidden(ForbiddenBy::Barrier));
    assert!(behind.clone().all(|label| !asked.contains(&label.url)));
    assert_eq!((num_barriers, num_look_alikes, behind.count()), (17, 15, 8));
}

#[test]
fn site_that_ended_before_its_budget_was_crawled_whole() {
    let crawl = crawl();
    let asked: BTreeSet<String> = crawl.entries.iter().map(url_of).collect();
    let mut num_whole = 0;
    for site in &crawl.sites {
        // A page that was cut for the time it took may have kept links to itself.
        let cut = crawl
            .pages
            .iter()
            .filter(|page| page["cut"] == true && page["url"].as_str().unwrap().contains(name_of(site)));
        let is_whole = site["reason"] == "QueueEmpty" && cut.count() == 0;
        if is_whole && site["page_requests"].as_u64().unwrap() < BUDGET as u64 {
            num_whole += 1;
            let left: Vec<&str> =
                storable_of(&crawl.labels, name_of(site)).filter(|url| !asked.contains(*url)).collect();
            assert!(left.is_empty(), "{}: {left:?}", name_of(site));
        }
    }
    assert!(num_whole > 5, "{num_whole} sites only");
}

#[test]
fn page_that_only_a_sitemap_lists_is_stored_whatever_the_form_of_the_list() {
    let crawl = crawl();
    let is_stored = |url: &str| crawl.pages.iter().any(|page| page["url"] == *url);
    for kind in SitemapKind::ALL.iter().filter(|kind| kind.is_readable()) {
        let site = crawl.plans.iter().find(|plan| plan.sitemap == Some(*kind)).expect("each kind has a site");
        let is_only_listed = |label: &&UrlLabel| label.site == site.name && label.path.starts_with(LISTED_PREFIX);
        let listed: Vec<&UrlLabel> = crawl.labels.iter().filter(is_only_listed).collect();
        assert_eq!(listed.len(), 2, "{kind:?}");
        for label in listed {
            assert!(is_stored(&label.url), "{kind:?}: {}", label.url);
        }
    }
}

#[test]
fn every_kind_of_sitemap_was_asked_for_and_none_where_nobody_could_gain_by_it() {
    let crawl = crawl();
    let labels: BTreeSet<&str> = crawl.entries.iter().map(|entry| entry.label.as_str()).collect();
    for kind in SitemapKind::ALL {
        assert!(labels.contains(format!("sitemap {kind:?}").as_str()), "{kind:?}: {labels:?}");
    }
    for plan in crawl.plans.iter().filter(|plan| !plan.is_open) {
        let of_site = crawl.entries.iter().filter(|entry| entry.host.ends_with(&plan.name));
        assert_eq!(of_site.filter(|entry| entry.path.contains("sitemap")).count(), 0, "{}", plan.name);
    }
    let of_bomb = |site: &&BTreeMap<String, Value>| {
        crawl.plans.iter().any(|plan| plan.name == name_of(site) && plan.sitemap == Some(SitemapKind::Bomb))
    };
    let bombed = crawl.sites.iter().find(of_bomb).expect("the site of the bomb is known");
    assert!(bombed["pages"].as_u64().unwrap() > 3, "the bomb spoils nothing: {bombed:?}");
}

#[test]
fn closed_site_has_no_record_and_open_one_has_some() {
    let crawl = crawl();
    for plan in &crawl.plans {
        let num_pages = crawl.pages.iter().filter(|page| page["url"].as_str().unwrap().contains(&plan.name)).count();
        assert_eq!(num_pages > 0, plan.is_open, "{}: {num_pages} pages, {:?}", plan.name, plan.robots);
    }
}

#[test]
fn text_of_pages_is_nowhere_and_the_title_is_in_the_store() {
    let crawl = crawl();
    let control = &crawl.traces[&CANARIES[0]];
    assert!(control.iter().any(|path| path.starts_with(crawl.records_dir.as_path())), "{control:?}");
    assert!(crawl.pages.iter().any(|page| page["title"].as_str().is_some_and(|title| title.contains(CANARIES[0]))));
    for word in &CANARIES[1..] {
        let found = &crawl.traces[word];
        assert!(found.is_empty(), "{word} stands in {found:?}");
    }
    // The page that makes its reading panic was read, and said so by its place alone.
    assert!(crawl.said.contains("panicked at"), "{}", crawl.said);
    assert!(crawl.said.contains("TRACE"), "the log is not at its most talkative level");
}

#[test]
fn node_that_ended_in_order_starts_again_without_anything_to_mend() {
    let crawl = crawl();
    for word in ["cut off", "caught up", "untidy", "ERROR"] {
        assert!(!crawl.said.contains(word), "{word} in {}", crawl.said);
    }
    assert!(crawl.answers.len() > 100_000, "{} bytes of answers only", crawl.answers.len());
}

fn url_of(entry: &LogEntry) -> String {
    entry.url().unwrap()
}

fn heading(heading: &Value) -> (u8, String) {
    (u8::try_from(heading["level"].as_u64().unwrap()).unwrap(), heading["text"].as_str().unwrap().to_owned())
}

fn name_of(site: &BTreeMap<String, Value>) -> &str {
    site["site"].as_str().unwrap()
}

fn storable_of<'a>(labels: &'a [UrlLabel], site: &'a str) -> impl Iterator<Item = &'a str> {
    let is_storable = move |label: &&UrlLabel| label.site == site && label.storage == Storage::Stored;
    labels.iter().filter(is_storable).map(|label| label.url.as_str())
}
