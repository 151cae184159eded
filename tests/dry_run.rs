//! `run --dry-run`: it says what would be crawled and at what cost, and neither sends nor writes anything.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::key;
use lohisoftbot_core::site::Site;
use serde_json::{Value, json};

use crate::harness::{Ran, Rig, node_binary, run_binary};

fn plan(number: u8, num_sites: usize) -> PracticePlan {
    let base_address = [127, 92, number, 0].into();
    PracticePlan { base_address, ..PracticePlan::small(92 + u64::from(number), num_sites) }
}

fn dry_run(rig: &Rig, args: &[&str]) -> Ran {
    let (config, seeds) = (rig.path("config.toml"), rig.path("seeds.txt"));
    let words = ["run", "--config", config.to_str().unwrap(), "--seeds", seeds.to_str().unwrap(), "--dry-run"];
    run_binary(node_binary(), words.iter().chain(args))
}

/// Name and content of every file below a directory.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    found
}

fn sites_of(answer: &Value) -> Vec<&str> {
    answer["sites"].as_array().unwrap().iter().map(|site| site["site"].as_str().unwrap()).collect()
}

#[test]
fn order_and_figures_of_new_sites_are_those_counted_by_hand() {
    let rig = Rig::start(plan(1, 3), |config| {
        config.politeness.min_delay = Duration::from_secs(36);
        config.politeness.max_adaptive_delay = Duration::from_secs(60);
        config.politeness.park_after = Duration::from_secs(60);
        config.budget.page_requests = 10;
        config.discovery.max_live_sites = 2;
    });
    let seeds = rig.web().seeds();
    let text =
        format!("{}\n{}\n{}x\n{}\n10.0.0.1\nftp://x.test/\n{}\n", seeds[0], seeds[1], seeds[1], seeds[2], seeds[2]);
    std::fs::write(rig.path("seeds.txt"), text).unwrap();
    let answer = dry_run(&rig, &["--json"]).expect_code(0).json();

    let mut by_key: Vec<Site> = rig.web().sites().sites().iter().map(|site| Site::of_host(&site.name)).collect();
    by_key.sort_by_key(key::site_prefix);
    assert_eq!(sites_of(&answer), by_key.iter().map(Site::as_str).collect::<Vec<_>>());
    // Each site: ten pages and one robots.txt, so ten gaps of 36 s are 0.1 h; the third waits for a place.
    let totals = json!({
        "seeds": 7,
        "seeds_refused": 2,
        "sites": 3,
        "sites_resting": 0,
        "page_requests_likely": 30,
        "page_requests_at_most": 30,
        "robots_requests": 3,
        // Eight pages of 2 MiB, two sitemaps of 10 MiB and a robots.txt of 500 KiB, three times.
        "mebibytes_at_most": 109.5,
        "hours_by_likely_requests": 0.2,
        "hours_by_most_requests": 0.2,
        "shared_addresses": 0,
    });
    assert_eq!(answer["totals"], totals, "{answer}");
    let column =
        |name: &str| answer["sites"].as_array().unwrap().iter().map(|site| site[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("starts_in_seconds"), [0, 0, 360]);
    assert_eq!(column("hours_by_likely_requests"), [0.1, 0.1, 0.1]);
    let num_seeds: u64 = column("seeds").iter().map(|num| num.as_u64().unwrap()).sum();
    assert_eq!(num_seeds, 4, "two seeds of one site are joined, and the same seed twice is one");
    let refused = answer["refused"].as_array().unwrap();
    let whys: Vec<&str> = refused.iter().map(|refused| refused["why"].as_str().unwrap()).collect();
    assert!(whys[0].contains("line 6") && whys[1].contains("10.0.0.0/8"), "{answer}");

    let ran = dry_run(&rig, &[]).expect_code(0);
    assert!(!ran.stdout.starts_with('{') && ran.stderr.is_empty(), "{ran:#?}");
    assert!(by_key.iter().all(|site| ran.stdout.contains(site.as_str())), "{ran:#?}");

    assert!(!rig.data_dir().exists(), "a dry run made the data directory");
    assert_eq!(rig.web().log().num_requests(), 0);
}

#[test]
fn what_a_stopped_node_knew_is_read_and_left_as_it_is() {
    let rig = Rig::start(plan(2, 3), |config| config.budget.page_requests = 3);
    let seeds = rig.web().seeds();
    let names: Vec<String> = rig.web().sites().sites().iter().map(|site| site.name.clone()).collect();
    std::fs::write(rig.path("seeds.txt"), seeds[..2].join("\n")).unwrap();
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    dry_run(&rig, &[]).expect_one_clear_line(&["a node is running", "`status`"]);
    node.wait_until("both sites are finished", || {
        let sites = rig.ask(&["sites"]);
        let sites = sites["sites"].as_array().unwrap();
        sites.len() == 2 && sites.iter().all(|site| site["standing"] == "finished")
    });
    rig.ask(&["exclude", "--reason", "asked", &names[1]]);
    rig.ask(&["shutdown"]);
    node.expect_end(0);

    let (before, num_requests) = (contents(&rig.data_dir()), rig.web().log().num_requests());
    std::fs::write(rig.path("seeds.txt"), seeds.join("\n")).unwrap();
    let answer = dry_run(&rig, &["--json"]).expect_code(0).json();
    assert_eq!(sites_of(&answer), [names[2].as_str()]);
    let resting = answer["resting"].as_array().unwrap();
    assert_eq!((resting.len(), &resting[0]["site"]), (1, &names[0].as_str().into()), "{answer}");
    assert!(resting[0]["why"].as_str().unwrap().contains("page requests of this cycle are spent"), "{answer}");
    let refused = answer["refused"].as_array().unwrap();
    assert!(refused.len() == 1 && refused[0]["why"].as_str().unwrap().contains("is excluded since"), "{answer}");
    assert_eq!(answer["totals"]["page_requests_at_most"], 3);
    assert_eq!(contents(&rig.data_dir()), before, "a dry run changed the data directory");
    assert_eq!(rig.web().log().num_requests(), num_requests);
}
