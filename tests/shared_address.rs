//! Fifty sites on one server, asked by a running node: the server is spared, and nobody goes short.

use std::collections::BTreeSet;

use lohisoftbot::practice_web::auditor::{AddressFigures, AuditReport};
use lohisoftbot::practice_web::faults::Faults;
use lohisoftbot::practice_web::plan::PracticePlan;

use crate::harness::Rig;

/// Sites at the one address.
const NUM_SHARED: usize = 50;

/// A web whose last fifty sites share an address, and others that have one each.
fn plan(seed: u64, num_alone: usize) -> PracticePlan {
    PracticePlan {
        num_sites: NUM_SHARED + num_alone,
        num_shared_address_sites: NUM_SHARED,
        pages_per_site: (3, 5),
        base_address: [127, u8::try_from(seed).unwrap(), 0, 0].into(),
        ..PracticePlan::small(seed, 0)
    }
}

/// Crawls it all; wants no violation.
#[track_caller]
fn crawl(plan: PracticePlan) -> (Rig, AuditReport) {
    let rig = Rig::start(plan, |_| {});
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);
    let report = rig.expect_no_violation();
    (rig, report)
}

fn shared(report: &AuditReport) -> &AddressFigures {
    assert_eq!(report.num_shared_addresses(), 1, "{report}");
    report.addresses.values().find(|address| address.num_sites > 1).unwrap()
}

#[test]
fn fifty_sites_at_one_address_are_crawled_and_hold_nobody_else_up() {
    const NUM_ALONE: usize = 6;
    let (rig, report) = crawl(plan(75, NUM_ALONE));
    assert_eq!(shared(&report).num_sites, NUM_SHARED, "{report}");
    assert!(shared(&report).num_requests > 4 * NUM_SHARED, "{report}");
    let stored: BTreeSet<String> =
        rig.rows(&["pages"]).iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
    for site in rig.web().sites().sites() {
        assert!(stored.iter().any(|url| url.contains(&site.name)), "{} went short: {report}", site.name);
    }
    let (alone, crowd) = rig.web().sites().sites().split_at(NUM_ALONE);
    let entries = rig.web().log().entries();
    let last_start = |addresses: &[lohisoftbot::practice_web::site_plan::SitePlan]| {
        let is_there = |address| addresses.iter().any(|site| site.address == address);
        entries.iter().filter(|entry| is_there(entry.address)).map(|entry| entry.start_us).max().unwrap()
    };
    assert!(last_start(alone) * 2 < last_start(crowd), "{report}");
}

#[test]
fn shared_server_that_shows_every_fault_is_spared() {
    let (_, report) = crawl(PracticePlan { faults: Faults::all(), ..plan(76, 20) });
    assert!(shared(&report).num_sites > NUM_SHARED - 5, "{report}");
    assert!(shared(&report).max_at_once > 1, "answers that take long never met: {report}");
}
