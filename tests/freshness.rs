//! A second cycle on a web in which a third of the pages changed and a tenth vanished: what is asked, under which condition, and what is
//! stored afterwards, page by page as the generator's labels say. And `recrawl` through the running programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lohisoftbot::practice_web::auditor::AuditRules;
use lohisoftbot::practice_web::freshness::{Epochs, FreshnessLabel, RecordAfter, Turn, WantedCondition};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::Config;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::Rig;

const NUM_SITES: usize = 12;
/// A first cycle takes some three seconds, or longer on a busy machine; then the second one follows at once.
const INTERVAL: Duration = Duration::from_secs(6);

fn rig(number: u8, num_sites: usize, adjust: impl FnOnce(&mut Config)) -> Rig {
    let plan = PracticePlan {
        epochs: Epochs::Two,
        pages_per_site: (9, 12),
        base_address: [127, 95, number, 0].into(),
        ..PracticePlan::small(95, num_sites)
    };
    Rig::start(plan, adjust)
}

/// The URL of a request, as a label has it.
fn url_of(entry: &LogEntry) -> String {
    let authority = entry.fields.iter().find(|(name, _)| name == "host").map_or("", |(_, value)| value.as_str());
    format!("{}://{authority}{}", entry.scheme.as_str(), entry.path)
}

fn condition_of(entry: &LogEntry) -> WantedCondition {
    let field = |wanted: &str| entry.fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    match (field("if-none-match"), field("if-modified-since")) {
        (None, None) => WantedCondition::Plain,
        (Some(etag), None) => WantedCondition::IfNoneMatch(etag),
        (None, Some(date)) => WantedCondition::IfModifiedSince(date),
        (Some(_), Some(_)) => panic!("two conditions: {entry:?}"),
    }
}

fn is_home(entry: &LogEntry) -> bool {
    entry.path == "/" && ["living page", "not modified"].contains(&entry.label.as_str())
}

/// The requests of each site's first and second cycle; later ones are left out. A cycle begins with its home page, or with the robots.txt
/// and the redirect before it, which belong to no page of a label.
fn by_cycle(entries: &[LogEntry]) -> BTreeMap<(String, usize), Vec<&LogEntry>> {
    let mut cycles: BTreeMap<(String, usize), Vec<&LogEntry>> = BTreeMap::new();
    let mut num_homes: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        let site: Vec<&str> = entry.host.rsplitn(3, '.').take(2).collect();
        let site = format!("{}.{}", site[1], site[0]);
        let homes = num_homes.entry(site.clone()).or_default();
        *homes += usize::from(is_home(entry));
        if (1..=2).contains(homes) {
            cycles.entry((site, *homes)).or_default().push(entry);
        }
    }
    cycles
}

#[test]
fn second_cycle_asks_and_stores_exactly_what_the_labels_say() {
    let rig = rig(1, NUM_SITES, |config| {
        config.recrawl.interval = INTERVAL;
        config.recrawl.min_interval = INTERVAL;
        config.recrawl.max_interval = Duration::from_secs(3600);
    });
    let mut node = rig.node_with_seeds(&[]);
    node.wait_until("every site has ended its second cycle", || {
        // The log first: a site that is at rest after its second home page was asked for has ended that cycle.
        let entries = rig.web().log().entries();
        let homes = by_cycle(&entries).keys().filter(|(_, cycle)| *cycle == 2).count();
        homes == NUM_SITES && {
            let sites = rig.ask(&["sites", "--state", "finished"]);
            sites["sites"].as_array().is_some_and(|sites| sites.len() == NUM_SITES)
        }
    });
    node.signal(Signal::TERM);
    node.expect_end(0);

    let labels = rig.web().sites().freshness_labels(rig.web().ports());
    let entries = rig.web().log().entries();
    check_requests(&labels, &entries);
    check_records(&labels, &rig.rows(&["pages"]));
    rig.dump(&["verify"]).expect_code(0);
    // As many budgets as there were cycles; each cycle by itself was counted above.
    let cycles = entries.iter().filter(|entry| is_home(entry)).count() / NUM_SITES + 1;
    let rules = rig.audit_rules();
    let rules = AuditRules { budget: 20 * cycles, max_sitemaps: 2 * cycles, ..rules };
    let report = rig.web().audit(&rules);
    assert!(report.is_clean(), "{report}");
}

fn check_requests(labels: &[FreshnessLabel], entries: &[LogEntry]) {
    let cycles = by_cycle(entries);
    for ((site, cycle), entries) in &cycles {
        let pages: Vec<_> = entries.iter().filter(|entry| entry.path != "/robots.txt").collect();
        assert!(pages.len() <= 20, "{site}, cycle {cycle}: {} page requests", pages.len());
    }
    for label in labels {
        let asked = |cycle: usize| -> Vec<_> {
            let of_cycle = cycles[&(label.site.clone(), cycle)].iter().filter(|entry| url_of(entry) == label.url);
            of_cycle.map(|entry| (condition_of(entry), entry.status)).collect()
        };
        let first = if label.life.turn == Turn::New { vec![] } else { vec![(WantedCondition::Plain, Some(200))] };
        assert_eq!(asked(1), first, "first cycle: {label:?}");
        assert_eq!(asked(2), [(label.condition.clone(), Some(label.status))], "second cycle: {label:?}");
    }
}

fn check_records(labels: &[FreshnessLabel], pages: &[BTreeMap<String, Value>]) {
    let stored: BTreeMap<&str, _> = pages.iter().map(|page| (page["url"].as_str().unwrap(), page)).collect();
    let wanted: BTreeSet<&str> =
        labels.iter().filter(|label| label.record != RecordAfter::Removed).map(|label| label.url.as_str()).collect();
    assert_eq!(stored.keys().copied().collect::<BTreeSet<_>>(), wanted);
    for label in labels.iter().filter(|label| label.record != RecordAfter::Removed) {
        let page = stored[label.url.as_str()];
        let collapsed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(page["title"].as_str().map(collapsed), Some(collapsed(&label.title)), "{label:?}");
        let cycle = page["cycle"].as_u64().unwrap();
        match label.record {
            RecordAfter::Untouched => assert_eq!(cycle, 1, "{label:?}"),
            RecordAfter::Renewed | RecordAfter::MadeAgain | RecordAfter::Replaced | RecordAfter::New => {
                assert!(cycle >= 2, "{label:?}");
            }
            RecordAfter::Removed => {}
        }
    }
}

#[test]
fn recrawl_says_in_words_what_is_left_and_never_opens_a_second_budget() {
    let rig = rig(2, 1, |_| {});
    let mut node = rig.node_with_seeds(&[]);
    let name = rig.web().sites().sites()[0].name.clone();
    let is_finished = || rig.ask(&["site", &name])["standing"].as_str().unwrap().starts_with("finished");
    node.wait_until("the first cycle has ended", || rig.web().log().num_requests() > 0 && is_finished());
    let num_pages = || rig.web().log().entries().iter().filter(|entry| entry.path != "/robots.txt").count();
    let num_first = num_pages();
    let said = rig.ask(&["recrawl", &name]);
    assert_eq!(said["requests_left"], 20 - num_first, "{said}");
    assert!(said["note"].as_str().unwrap().contains("still holds") && said["next_cycle_at"].is_string(), "{said}");
    let rest = 20 - num_first;
    rig.wait_for_log("the rest of the budget", |entries| {
        let pages = entries.iter().filter(|entry| entry.path != "/robots.txt");
        pages.filter(|entry| entry.end.is_some()).count() == num_first + rest
    });
    node.wait_until("the cycle has ended again", is_finished);
    let ran = rig.ctl(&["recrawl", &name]).expect_code(1);
    assert!(ran.stderr.contains("no second budget"), "{ran:#?}");
    let ran = rig.ctl(&["recrawl", "unknown.test"]).expect_code(1);
    assert!(ran.stderr.contains("not known"), "{ran:#?}");
    rig.ask(&["exclude", &name]);
    let ran = rig.ctl(&["recrawl", &name]).expect_code(1);
    assert!(ran.stderr.contains("excluded"), "{ran:#?}");
    rig.ask(&["pause"]);
    let ran = rig.ctl(&["recrawl", &name]).expect_code(1);
    assert!(ran.stderr.contains("paused"), "{ran:#?}");
    assert_eq!(num_pages(), 20);
    node.signal(Signal::TERM);
    node.expect_end(0);
}
