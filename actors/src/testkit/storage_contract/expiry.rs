//! The contract of the record store on pages that expire.

use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::site_row::MAX_PAGES_PER_SITE;
use lohisoftbot_core::time::Timestamp;

use super::records::{anchors, apply, exclude, save};
use super::samples::{page, renewal, stored_link, url};
use crate::storage::{Applied, RecordStore, StoreChange};

/// Checks a store; `empty` makes an empty one.
pub(super) fn check_expiry<S: RecordStore>(empty: impl Fn() -> S) {
    orders_pages_by_the_time_they_expire(&mut empty());
    a_removed_page_expires_no_more(&mut empty());
    a_page_fetched_anew_expires_when_it_says_now(&mut empty());
    an_evicted_page_expires_no_more(&mut empty());
    an_excluded_page_expires_no_more(&mut empty());
    an_expired_page_is_as_any_other_until_it_is_removed(&mut empty());
}

fn expiring(address: &str, cycle: u32, secs: u64) -> PageRecord {
    PageRecord { unavailable_after: Some(Timestamp::from_secs(secs)), ..page(address, cycle) }
}

fn expired(store: &impl RecordStore, secs: u64, limit: usize) -> Vec<String> {
    let found = store.expired_until(Timestamp::from_secs(secs), limit).expect("reads");
    found.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check_first(store: &impl RecordStore, secs: Option<u64>) {
    assert_eq!(store.first_expiry().expect("reads"), secs.map(Timestamp::from_secs));
}

#[track_caller]
fn check_none(store: &impl RecordStore) {
    check_first(store, None);
    assert_eq!(expired(store, u64::MAX, 9), [] as [&str; 0]);
}

fn orders_pages_by_the_time_they_expire(store: &mut impl RecordStore) {
    check_none(store);
    save(store, page("http://never.example/", 1), Vec::new());
    check_none(store);
    save(store, expiring("http://late.example/", 1, 300), Vec::new());
    save(store, expiring("http://a.example/?q=1", 1, 20), Vec::new());
    save(store, expiring("http://early.example/", 1, 10), Vec::new());
    check_first(store, Some(10));
    assert_eq!(expired(store, 9, 9), [] as [&str; 0]);
    assert_eq!(expired(store, 10, 9), ["http://early.example/"], "at the moment itself");
    assert_eq!(expired(store, 299, 9), ["http://early.example/", "http://a.example/?q=1"]);
    assert_eq!(expired(store, u64::MAX, 1), ["http://early.example/"]);
    assert_eq!(expired(store, u64::MAX, 9).len(), 3);
}

fn a_removed_page_expires_no_more(store: &mut impl RecordStore) {
    save(store, expiring("http://a.example/", 1, 10), Vec::new());
    save(store, expiring("http://a.example/2", 1, 20), Vec::new());
    let remove = |address| StoreChange::RemovePage { url: url(address) };
    assert_eq!(apply(store, remove("http://a.example/")), Applied::Done);
    check_first(store, Some(20));
    assert_eq!(expired(store, 20, 9), ["http://a.example/2"]);
    assert_eq!(apply(store, remove("http://a.example/2")), Applied::Done);
    check_none(store);
}

fn a_page_fetched_anew_expires_when_it_says_now(store: &mut impl RecordStore) {
    save(store, expiring("http://a.example/", 1, 10), Vec::new());
    assert_eq!(apply(store, renewal("http://a.example/", 5, 2, &[])), Applied::Done);
    check_first(store, Some(10));
    let earlier = [("x-robots-tag", "unavailable_after: Thu, 01 Jan 1970 00:00:08 GMT")];
    assert_eq!(apply(store, renewal("http://a.example/", 5, 2, &earlier)), Applied::Done);
    check_first(store, Some(8));
    assert_eq!(expired(store, 8, 9), ["http://a.example/"], "it stands among those that expire once");
    save(store, expiring("http://a.example/", 2, 30), Vec::new());
    check_first(store, Some(30));
    assert_eq!(expired(store, 29, 9), [] as [&str; 0]);
    save(store, page("http://a.example/", 3), Vec::new());
    check_none(store);
}

fn an_evicted_page_expires_no_more(store: &mut impl RecordStore) {
    save(store, expiring("http://a.example/old", 1, 10), Vec::new());
    for number in 0..MAX_PAGES_PER_SITE {
        save(store, page(&format!("http://a.example/{number}"), 2), Vec::new());
    }
    assert_eq!(store.page(&url("http://a.example/old")).expect("reads"), None);
    check_none(store);
    assert_eq!(save(store, expiring("http://a.example/late", 2, 10), Vec::new()), Applied::RefusedFull);
    check_none(store);
}

fn an_excluded_page_expires_no_more(store: &mut impl RecordStore) {
    save(store, expiring("http://blog.a.example/", 1, 10), Vec::new());
    save(store, expiring("http://a.example/", 1, 20), Vec::new());
    exclude(store, "blog.a.example");
    assert_eq!(expired(store, u64::MAX, 9), ["http://a.example/"]);
    assert!(matches!(
        save(store, expiring("http://blog.a.example/", 1, 10), Vec::new()),
        Applied::RefusedExcluded { .. }
    ));
    check_first(store, Some(20));
    exclude(store, "a.example");
    check_none(store);
}

fn an_expired_page_is_as_any_other_until_it_is_removed(store: &mut impl RecordStore) {
    save(store, expiring("http://a.example/", 1, 10), vec![stored_link("http://b.example/", "b")]);
    let gone = expired(store, 10, 9).remove(0);
    assert_eq!(anchors(store, "http://b.example/"), ["b"]);
    apply(store, StoreChange::RemovePage { url: url(&gone) });
    assert_eq!(anchors(store, "http://b.example/"), [] as [&str; 0]);
    let stats = store.stats();
    assert_eq!((stats.num_pages, stats.num_links, stats.num_inlink_rows), (0, 0, 0));
    check_none(store);
}
