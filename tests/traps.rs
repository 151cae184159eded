//! Sites with a trap: a crawl finds their real pages, and a bounded few of its requests go into the trap. Asked of the practice web's log.

use std::collections::BTreeSet;

use lohisoftbot::practice_web::faults::{Faults, TrapKind};
use lohisoftbot::practice_web::labels::{AnswerKind, Permission, Storage};
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::traps::NUM_ITEMS;

use crate::harness::Rig;

/// So many sites that each trap has one.
const NUM_SITES: usize = 20;

/// The most requests that a crawl of twenty may spend on each trap.
const fn most_requests(kind: TrapKind) -> usize {
    match kind {
        TrapKind::Calendar | TrapKind::Filters => 4,
        TrapKind::GrowingPath => 2,
        // Each item once, and no item lost.
        TrapKind::Sessions => NUM_ITEMS,
    }
}

#[test]
fn real_pages_of_a_site_with_a_trap_are_found_and_few_requests_go_into_the_trap() {
    let plan = PracticePlan {
        base_address: [127, 91, 0, 0].into(),
        faults: TrapKind::ALL.iter().fold(Faults::none(), |faults, kind| faults.with_trap(*kind)),
        ..PracticePlan::small(91, NUM_SITES)
    };
    let rig = Rig::start(plan, |_| {});
    let sites = rig.web().sites().sites();
    let seeds = rig.web().seeds();
    let trapped: Vec<_> = sites.iter().filter(|site| site.trap.is_some()).collect();
    assert_eq!(trapped.len(), TrapKind::ALL.len());
    let of_trapped: Vec<&str> = trapped.iter().map(|site| seeds[site.index].as_str()).collect();
    std::fs::write(rig.path("seeds.txt"), of_trapped.join("\n")).unwrap();
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    node.wait_until("all four sites are finished", || {
        let sites = rig.ask(&["sites"]);
        let sites = sites["sites"].as_array().unwrap();
        sites.len() == trapped.len() && sites.iter().all(|site| site["standing"] == "finished")
    });

    let (entries, labels) = (rig.web().log().entries(), rig.web().labels());
    for site in &trapped {
        let kind = site.trap.unwrap();
        let of_site: Vec<_> = entries.iter().filter(|entry| entry.host.ends_with(&site.name)).collect();
        let asked: BTreeSet<&str> = of_site.iter().map(|entry| entry.path.as_str()).collect();
        let real = labels.iter().filter(|label| {
            label.site == site.name
                && label.storage == Storage::Stored
                && label.permission == Permission::Allowed
                && label.answer == AnswerKind::Page
        });
        let missing: Vec<&str> = real.map(|label| label.path.as_str()).filter(|path| !asked.contains(path)).collect();
        assert!(missing.is_empty(), "{kind:?}: {missing:?}, asked were {asked:?}");
        let in_trap: Vec<&str> = (of_site.iter().filter(|entry| entry.label == format!("trap {kind:?}")))
            .map(|entry| entry.path.as_str())
            .collect();
        assert!((1..=most_requests(kind)).contains(&in_trap.len()), "{kind:?}: {in_trap:?}");
        if kind == TrapKind::Sessions {
            let items: BTreeSet<&str> = in_trap.iter().filter_map(|path| path.split('?').next()).collect();
            assert_eq!((items.len(), in_trap.len()), (NUM_ITEMS, NUM_ITEMS), "each item once: {in_trap:?}");
        }
    }

    let status = rig.ask(&["status"]);
    let dropped = &status["dropped_links_by_reason"];
    for word in ["trap_endless_calendar", "trap_session_id", "trap_repeated_segment", "trap_growing_query", "nofollow"]
    {
        assert!(dropped[word].as_u64().unwrap_or_default() > 0, "{word}: {status}");
    }
    // A trap is named, by the URL alone or beside what is known.
    for (kind, path, words) in [
        (TrapKind::GrowingPath, "/wiki/wiki/wiki/wiki/", "stands there again and again"),
        (TrapKind::Calendar, "/calendar/2045/3/", "calendar that has no end"),
        (TrapKind::Calendar, "/calendar/2017/3/", "calendar that has no end"),
        (TrapKind::Filters, "/shop?color=blue&size=m&brand=elm&stock=soon", "combines filters"),
    ] {
        let home = seeds[trapped.iter().find(|site| site.trap == Some(kind)).unwrap().index].trim_end_matches('/');
        let explained = rig.ask(&["explain", &format!("{home}{path}")]);
        let summary = explained["summary"].as_str().unwrap();
        assert!(
            summary.contains("looks like part of a site that has no end") && summary.contains(words),
            "{explained}"
        );
    }
    rig.ask(&["shutdown"]);
    node.expect_end(0);
    rig.expect_no_violation();
}
