//! Random changes, checkpoints and restarts, against the twin of plain maps.

use lohisoftbot_actors::storage::{RecordStore, StoreChange};
use lohisoftbot_actors::testkit::memory_storage::MemoryStore;
use lohisoftbot_actors::testkit::storage_contract::{
    check_same_as_twin, exclusion, frontier, page, renewal, robots_copy, row, site, stored_link, url,
};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{FinishReason, WaitReason};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{check_verifies, open};

const HOSTS: [&str; 7] =
    ["a.example", "www.a.example", "blog.a.example", "b.example", "alice.github.io", "bob.github.io", "192.0.2.7"];

const DOMAINS: [&str; 6] = ["a.example", "blog.a.example", "github.io", "bob.github.io", "b.example", "192.0.2.7"];

#[derive(Clone, Debug)]
enum Step {
    Apply(StoreChange),
    Checkpoint(u64),
    Reopen,
}

fn address() -> impl Strategy<Value = String> {
    (0..HOSTS.len(), 0..5_usize).prop_map(|(host, page)| format!("http://{}/{page}", HOSTS[host]))
}

fn standing() -> impl Strategy<Value = SiteStanding> {
    prop_oneof![
        Just(SiteStanding::Due),
        Just(SiteStanding::Live),
        Just(SiteStanding::Parked { reason: WaitReason::Backoff }),
        Just(SiteStanding::Finished { reason: FinishReason::QueueEmpty }),
        Just(SiteStanding::Paused),
    ]
}

fn change() -> impl Strategy<Value = StoreChange> {
    let domain = || (0..DOMAINS.len()).prop_map(|index| Domain::parse(DOMAINS[index]).unwrap());
    let save_page =
        (address(), 1..4_u32, prop::collection::vec((address(), "[a-z]{1,3}"), 0..6), any::<bool>(), 0..30_u64);
    let save_site = (0..HOSTS.len(), standing(), 0..20_u64, prop::collection::vec(address(), 0..6), 0..4_u8);
    prop_oneof![
        8 => save_page.prop_map(|(address, cycle, links, has_canonical, expires)| {
            let mut record = page(&address, cycle);
            record.canonical = has_canonical.then(|| url("http://blog.a.example/0"));
            record.unavailable_after = (expires < 20).then(|| Timestamp::from_secs(expires));
            let links = links.iter().map(|(target, text)| stored_link(target, text)).collect();
            StoreChange::SavePage { record: Box::new(record), links }
        }),
        2 => (address(), 1..4_u32, 0..30_u64).prop_map(|(address, cycle, expires)| {
            let end = format!("unavailable_after: Thu, 01 Jan 1970 00:00:{expires:02} GMT");
            let fields = [("etag", "\"2\""), ("x-robots-tag", end.as_str())];
            renewal(&address, cycle.into(), cycle, &fields[..1 + usize::from(expires < 10)])
        }),
        2 => address().prop_map(|address| StoreChange::RemovePage { url: url(&address) }),
        6 => save_site.prop_map(|(host, standing, due, queue, parts)| {
            let mut row = row(HOSTS[host], standing, due);
            row.site = url(&format!("http://{}/", HOSTS[host])).site();
            let own = queue.iter().map(String::as_str).filter(|address| url(address).site() == row.site);
            let frontier = (parts & 1 == 1).then(|| frontier(&own.collect::<Vec<_>>()));
            let copies = || HOSTS.iter().filter(|host| url(&format!("http://{host}/")).site() == row.site);
            let robots = (parts & 2 == 2)
                .then(|| copies().map(|host| robots_copy(&format!("http://{host}/"), 5000 * host.len())).collect());
            StoreChange::SaveSite { row: Box::new(row), frontier, robots }
        }),
        1 => (0..HOSTS.len()).prop_map(|host| StoreChange::FinishCycle { site: site(HOSTS[host]) }),
        1 => domain().prop_map(|domain| StoreChange::Exclude { domain, exclusion: exclusion("asked") }),
        2 => domain().prop_map(|domain| StoreChange::Include { domain }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => change().prop_map(Step::Apply),
        2 => (0..100_u64).prop_map(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn store_and_plain_maps_never_differ(steps in prop::collection::vec(step(), 1..60)) {
        let dir = TempDir::new().unwrap();
        let (mut store, _) = open(dir.path());
        let mut twin = MemoryStore::new();
        for step in steps {
            match step {
                Step::Apply(change) => {
                    let applied = store.apply(change.clone()).unwrap();
                    prop_assert_eq!(applied, twin.apply(change).unwrap());
                }
                Step::Checkpoint(seq) => {
                    store.checkpoint(seq).unwrap();
                    twin.checkpoint(seq).unwrap();
                }
                Step::Reopen => {
                    drop(store);
                    store = open(dir.path()).0;
                }
            }
        }
        check_same_as_twin(&store, &twin, &HOSTS.map(site));
        check_verifies(&store);
        drop(store);
        check_same_as_twin(&open(dir.path()).0, &twin, &HOSTS.map(site));
    }
}
