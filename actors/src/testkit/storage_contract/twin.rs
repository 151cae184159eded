//! Comparison of a store with the twin.

use std::collections::BTreeSet;
use std::fmt::Debug;

use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use crate::storage::{RecordStore, StoreStats};

/// Panics unless both stores answer everything alike about all sites they know and those in `sites`.
#[track_caller]
pub fn check_same_as_twin(store: &dyn RecordStore, twin: &dyn RecordStore, sites: &[Site]) {
    let stats = |store: &dyn RecordStore| StoreStats { change_seq: 0, ..store.stats() };
    same("stats", stats(store), stats(twin));
    same("ledger number", store.ledger_seq(), twin.ledger_seq());
    same("exclusions", store.exclusions(), twin.exclusions());
    same("rows", store.sites_after(None, usize::MAX), twin.sites_after(None, usize::MAX));
    same("live sites", store.live_sites(), twin.live_sites());
    same("first due", store.first_due(), twin.first_due());
    same("first expiry", store.first_expiry(), twin.first_expiry());
    for secs in [0, 10, u64::MAX] {
        let now = Timestamp::from_secs(secs);
        same("expired pages", store.expired_until(now, usize::MAX), twin.expired_until(now, usize::MAX));
        same("due sites", store.due_until(now, usize::MAX), twin.due_until(now, usize::MAX));
    }
    let mut all: BTreeSet<Site> = sites.iter().cloned().collect();
    all.extend(twin.sites_after(None, usize::MAX).expect("the twin reads").into_iter().map(|row| row.site));
    for site in &all {
        same("row", store.site(site), twin.site(site));
        same("pages", store.pages_of(site), twin.pages_of(site));
        same("inlinks", store.inlinks_of_site(site), twin.inlinks_of_site(site));
        same("frontier", store.frontier(site), twin.frontier(site));
        same("robots", store.robots(site), twin.robots(site));
        for page in twin.pages_of(site).expect("the twin reads") {
            same("page", store.page(&page.url), twin.page(&page.url));
            same("inlinks of a page", store.inlinks_of(&page.url), twin.inlinks_of(&page.url));
        }
    }
}

#[track_caller]
fn same<T: Debug>(what: &str, store: T, twin: T) {
    assert_eq!(format!("{store:#?}"), format!("{twin:#?}"), "{what}: store and twin differ");
}
