//! Fifty sites on one server, asked by a running node: the server is spared, and nobody goes short.

use std::collections::BTreeSet;

use lohisoftbot::practice_web::plan::PracticePlan;

use crate::harness::Rig;

/// Sites at the one address.
const NUM_SHARED: usize = 50;
/// Sites at addresses of their own.
const NUM_ALONE: usize = 6;

#[test]
fn fifty_sites_at_one_address_are_crawled_and_their_server_is_spared() {
    let plan = PracticePlan {
        num_sites: NUM_SHARED + NUM_ALONE,
        num_shared_address_sites: NUM_SHARED,
        pages_per_site: (3, 5),
        base_address: [127, 75, 0, 0].into(),
        ..PracticePlan::small(75, 0)
    };
    let rig = Rig::start(plan, |_| {});
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);

    let report = rig.expect_no_violation();
    assert_eq!(report.num_shared_addresses(), 1, "{report}");
    let shared = report.addresses.values().max_by_key(|address| address.num_sites).unwrap();
    assert_eq!(shared.num_sites, NUM_SHARED, "{report}");
    assert!(shared.num_requests > 4 * NUM_SHARED, "{report}");
    assert!(shared.max_at_once <= 4, "{report}");

    let stored: BTreeSet<String> =
        rig.rows(&["pages"]).iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
    for site in rig.web().sites().sites() {
        assert!(stored.iter().any(|url| url.contains(&site.name)), "{} went short", site.name);
    }
    // The sites that have a server of their own did not wait for the fifty.
    let entries = rig.web().log().entries();
    let last_start = |is_shared: bool| {
        let sites = rig.web().sites().sites();
        let is_of = |host: &str| {
            let place = sites.iter().position(|site| host.ends_with(&site.name));
            place.is_some_and(|place| (place >= NUM_ALONE) == is_shared)
        };
        entries.iter().filter(|entry| is_of(&entry.host)).map(|entry| entry.start_us).max().unwrap()
    };
    assert!(last_start(false) * 2 < last_start(true), "{report}");
}
