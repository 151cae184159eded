//! Searching what a crawl has stored, through the running programs: words of practice pages find their page, over a kill -9 too, and an excluded
//! site is found no more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lohisoftbot::practice_web::faults::Faults;
use lohisoftbot::practice_web::plan::PracticePlan;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

fn rig(number: u8, num_sites: usize) -> Rig {
    let base_address = [127, 90, number, 0].into();
    let plan =
        PracticePlan { base_address, faults: Faults::none(), ..PracticePlan::small(u64::from(number), num_sites) };
    Rig::start(plan, |config| config.search.commit_interval = Duration::from_millis(100))
}

/// Waits until the index has all that is stored.
fn wait_until_indexed(rig: &Rig, node: &mut RunningNode) {
    node.wait_until("the index has caught up", || {
        let status = rig.ask(&["status"]);
        let search = &status["search"];
        search["state"] == "serving"
            && search["num_sites_to_index"] == 0
            && search["num_pages"] == status["stored"]["num_pages"]
    });
}

/// The addresses of the results, and how many there are in all.
fn found(rig: &Rig, query: &str) -> (Vec<String>, u64) {
    let answer = rig.ask(&["search", query, "--limit", "20"]);
    let urls = answer["results"].as_array().unwrap().iter().map(|result| result["url"].as_str().unwrap().to_owned());
    (urls.collect(), answer["num_results"].as_u64().unwrap())
}

/// Every page of every site that the index gives out, asked for site by site.
fn indexed(rig: &Rig, sites: &BTreeSet<String>) -> BTreeSet<String> {
    sites.iter().flat_map(|site| found(rig, &format!("site:{site}")).0).collect()
}

/// Title and address of every stored page.
fn stored(rig: &Rig) -> BTreeMap<String, String> {
    let lines = rig.ctl(&["export"]).expect_code(0).stdout;
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let page = |record: Value| {
        Some((record["url"].as_str()?.to_owned(), record["title"].as_str().unwrap_or_default().to_owned()))
    };
    records.filter_map(page).collect()
}

fn sites(rig: &Rig) -> BTreeSet<String> {
    rig.web().sites().sites().iter().map(|site| site.name.clone()).collect()
}

#[test]
fn what_a_crawl_stored_is_found_until_its_site_is_excluded() {
    let rig = rig(1, 5);
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    wait_until_indexed(&rig, &mut node);
    let pages = stored(&rig);
    assert!(pages.len() >= 20, "{}", pages.len());
    assert_eq!(indexed(&rig, &sites(&rig)), pages.keys().cloned().collect());
    for (url, title) in pages.iter().filter(|(_, title)| !title.is_empty()).take(20) {
        let (urls, _) = found(&rig, &format!("\"{title}\" site:{}", rig_host(url)));
        assert!(urls.contains(url), "{title:?} at {url}: {urls:?}");
    }
    let ran = rig.ctl(&["search", "-"]).expect_code(0);
    assert!(ran.stdout.contains("There is no word to look for"), "{ran:?}");

    let name = sites(&rig).into_iter().next().unwrap();
    assert!(!found(&rig, &format!("site:{name}")).0.is_empty());
    rig.ask(&["exclude", &name]);
    assert_eq!(found(&rig, &format!("site:{name}")), (Vec::new(), 0), "at once, when the answer has come");
    let left: BTreeSet<String> = stored(&rig).into_keys().collect();
    assert_eq!(rig.ask(&["reindex"])["num_pages"], left.len());
    assert_eq!(indexed(&rig, &sites(&rig)), left);
    rig.ctl(&["shutdown"]).expect_code(0);
    node.expect_end(0);
}

#[test]
fn a_node_killed_between_store_and_index_finds_exactly_what_is_stored() {
    let rig = rig(2, 8);
    let mut num_seen = 0;
    for round in 0..4 {
        let mut node = if round == 0 { rig.node_with_seeds(&[]) } else { rig.node(&[]) };
        rig.wait_for_start(&mut node);
        let target = num_seen + 12;
        node.wait_until("more is stored", || {
            let stored = rig.ask(&["status"])["stored"]["num_pages"].as_u64().unwrap();
            num_seen = stored;
            stored >= target || round == 3
        });
        node.kill();
    }
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    rig.ask(&["pause"]);
    wait_until_indexed(&rig, &mut node);
    // Requests that were under way when it was paused may still come in.
    node.wait_until("index and store agree", || indexed(&rig, &sites(&rig)) == stored(&rig).into_keys().collect());
    let said = node.said();
    assert_eq!(said.matches("built anew").count(), 1, "once, at the first start:\n{said}");
    rig.ctl(&["shutdown"]).expect_code(0);
    node.expect_end(0);
}

fn rig_host(url: &str) -> String {
    lohisoftbot_core::url::PageUrl::parse(url, None).unwrap().host().to_owned()
}
