//! `discovery.mode = "links"` on the practice web: sites that links lead to are crawled up to the cap, never more, and never more at once
//! than may be live. Asked of the web's log.

use std::collections::BTreeMap;

use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::DiscoveryMode;

use crate::harness::Rig;

const NUM_SITES: usize = 14;
const MAX_SITES: usize = 6;
const MAX_LIVE: usize = 2;

#[test]
fn sites_found_by_links_are_crawled_to_the_cap_and_few_at_once() {
    let plan = PracticePlan {
        base_address: [127, 93, 0, 0].into(),
        pages_per_site: (4, 8),
        ..PracticePlan::small(93, NUM_SITES)
    };
    let rig = Rig::start(plan, |config| {
        config.discovery.mode = DiscoveryMode::Links;
        config.discovery.max_sites = MAX_SITES as u32;
        config.discovery.max_live_sites = MAX_LIVE as u32;
    });
    let seed = rig.web().seeds().remove(0);
    std::fs::write(rig.path("seeds.txt"), &seed).unwrap();
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    node.wait_until("as many sites as may be known are finished", || {
        let sites = rig.ask(&["sites"]);
        let sites = sites["sites"].as_array().unwrap();
        sites.len() == MAX_SITES && sites.iter().all(|site| site["standing"] == "finished")
    });
    let status = rig.ask(&["status"]);
    assert!(status["dropped_links_by_reason"]["too_many_sites"].as_u64().unwrap() > 0, "{status}");
    assert_eq!(status["stored"]["num_sites"], MAX_SITES);
    rig.ask(&["shutdown"]);
    node.expect_end(0);

    // Each site's life, from its first request to the end of its last.
    let mut lives: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for entry in rig.web().log().entries() {
        let site = rig.web().sites().site_of_host(&entry.host).expect("hosts of the web alone are asked");
        let (start, end) = (entry.start_us, entry.end.map_or(entry.start_us, |end| end.end_us));
        let life = lives.entry(site.name.clone()).or_insert((start, end));
        life.1 = life.1.max(end);
    }
    assert_eq!(lives.len(), MAX_SITES, "{lives:?}");
    let at_once = |at: u64| lives.values().filter(|(first, last)| (*first..=*last).contains(&at)).count();
    let most = lives.values().map(|(first, _)| at_once(*first)).max();
    assert_eq!(most, Some(MAX_LIVE), "{lives:?}");
    rig.expect_no_violation();
}
