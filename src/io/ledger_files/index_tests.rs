//! What is read by an index is what is read without one, whatever happened to it.

use lohisoftbot_actors::storage::{EntryFilter, LedgerRead};
use lohisoftbot_actors::testkit::storage_contract::{entry, exclusion, ticket_event};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{SiteEvent, WaitReason};
use lohisoftbot_core::site::Site;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const DAY: u64 = 86_400;

fn at(day: u64) -> Timestamp {
    Timestamp::from_secs(day * DAY)
}

/// Three closed segments and an open one; in each, some of `num_sites` sites in turn, and in the second an exclusion.
fn ledger(dir: &Path, num_entries: u64, num_sites: u64) -> LedgerFiles {
    let (mut ledger, ..) = LedgerFiles::open(dir, Timestamp::EPOCH).unwrap();
    for day in 1..=4 {
        for _ in 0..num_entries {
            let seq = ledger.last_seq() + 1;
            let address = format!("http://site-{}.example/{seq}", seq % num_sites);
            ledger.append(&[entry(seq, ticket_event(&address, seq as u32))]).unwrap();
            if seq.is_multiple_of(5) {
                ledger.sync().unwrap();
            }
        }
        if day == 2 {
            let domain = Domain::parse("www.site-1.example").unwrap();
            let event = LedgerEvent::Excluded { domain, exclusion: exclusion("asked") };
            let seq = ledger.last_seq() + 1;
            ledger.append(&[LedgerEntry { seq, at: at(day), event }]).unwrap();
        }
        if day < 4 {
            ledger.rotate(at(day), &mut std::iter::empty()).unwrap();
        }
    }
    ledger.sync().unwrap();
    ledger
}

fn indexes(dir: &Path) -> Vec<PathBuf> {
    let is_index = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "idx");
    let mut found: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(is_index).collect();
    found.sort();
    found
}

/// By the index, and by reading everything.
#[track_caller]
fn check(dir: &Path, site: &str) -> usize {
    let site = Site::of_host(site);
    let reader = LedgerReader::with_indexes(dir);
    let by_index: Vec<_> = reader.of_site(&site).unwrap().map(Result::unwrap).collect();
    let by_all = reader.entries(&EntryFilter { site: Some(site.clone()), ..EntryFilter::default() }).unwrap();
    assert_eq!(by_index, by_all, "{site}");
    by_index.len()
}

#[test]
fn reader_that_is_stopped_ends_what_it_reads_with_an_error_and_its_clones_too() {
    let dir = TempDir::new().unwrap();
    let _ledger = ledger(dir.path(), 70, 7);
    let reader = LedgerReader::with_indexes(dir.path());
    let mut entries = reader.stream(EntryFilter::default()).unwrap().entries();
    assert!(entries.next().unwrap().is_ok());
    reader.clone().stop();
    assert!(entries.any(|entry| entry.is_err()));
    assert!(entries.next().is_none());
    assert!(reader.of_site(&Site::of_host("site-1.example")).unwrap().all(|entry| entry.is_err()));
}

#[test]
fn entries_of_a_site_are_the_same_by_the_index_and_without_it() {
    let dir = TempDir::new().unwrap();
    let _ledger = ledger(dir.path(), 700, 7);
    assert_eq!(check(dir.path(), "site-1.example"), 401, "with the exclusion below it");
    assert_eq!(check(dir.path(), "site-0.example"), 400);
    assert_eq!(check(dir.path(), "nobody.example"), 0);
    assert_eq!(indexes(dir.path()).len(), 3, "the newest segment has none");
}

#[test]
fn reader_beside_the_node_writes_no_index_and_uses_what_is_there() {
    let dir = TempDir::new().unwrap();
    let _ledger = ledger(dir.path(), 30, 2);
    let read = || LedgerReader::new(dir.path()).of_site(&Site::of_host("site-0.example")).unwrap().count();
    assert_eq!(read(), 60);
    assert!(indexes(dir.path()).is_empty());
    check(dir.path(), "site-0.example");
    assert_eq!((read(), indexes(dir.path()).len()), (60, 3));
}

#[test]
fn index_of_another_segment_or_form_is_built_anew() {
    let dir = TempDir::new().unwrap();
    let _ledger = ledger(dir.path(), 40, 3);
    check(dir.path(), "site-0.example");
    let found = indexes(dir.path());
    let sound = fs::read(&found[1]).unwrap();
    for bytes in [fs::read(&found[0]).unwrap(), Vec::new(), sound[..4096].to_vec(), [&sound[..], &sound[..1]].concat()]
    {
        fs::write(&found[1], bytes).unwrap();
        assert_eq!(check(dir.path(), "site-1.example"), 55);
        assert_eq!(fs::read(&found[1]).unwrap(), sound);
    }
}

#[test]
fn index_that_cannot_be_written_costs_nothing_but_time() {
    let dir = TempDir::new().unwrap();
    let _ledger = ledger(dir.path(), 20, 2);
    for (_, path) in segment::list(dir.path()).unwrap() {
        fs::create_dir(site_index::path_of(&path)).unwrap();
    }
    assert_eq!(check(dir.path(), "site-0.example"), 40);
}

#[test]
fn details_leave_after_their_time_with_their_index_and_the_snapshot_stands_for_them() {
    let dir = TempDir::new().unwrap();
    let mut ledger = ledger(dir.path(), 10, 2);
    check(dir.path(), "site-0.example");
    let mut book = LedgerBook::default();
    LedgerReader::new(dir.path()).stream(EntryFilter::default()).unwrap().entries().for_each(|entry| {
        book.apply(&entry.unwrap());
    });
    let event = SiteEvent::Wait { until: at(400), reason: WaitReason::RetryAfter, rung: 0 };
    let promised = LedgerEvent::Site { site: Site::of_host("site-0.example"), event };
    let last = LedgerEntry { seq: book.last_seq + 1, at: at(4), event: promised };
    ledger.append(std::slice::from_ref(&last)).unwrap();
    book.apply(&last);
    // The next segment begins 40 days later; what is older than 30 days before it goes.
    ledger.rotate(at(44), &mut book.snapshot(at(44))).unwrap();
    assert_eq!(ledger.expire(at(14)).unwrap(), 3);
    ledger.rotate(at(45), &mut book.snapshot(at(45))).unwrap();
    assert_eq!(ledger.expire(at(44)).unwrap(), 1);
    assert_eq!((segment::list(dir.path()).unwrap().len(), indexes(dir.path()).len()), (2, 0));
    assert_eq!(check(dir.path(), "site-0.example"), 0);
    drop(ledger);
    durable::wait_until_free(&dir.path().join(LOCK_FILE));
    let (_, again, _) = LedgerFiles::open(dir.path(), at(45)).unwrap();
    assert_eq!(again.last_seq, book.last_seq);
    assert_eq!(again.exclusions, book.exclusions, "an exclusion never expires");
    let site = Site::of_host("site-0.example");
    assert_eq!(again.accounts[&site], book.accounts[&site], "nor does a wait before its end");
    assert!(!LedgerReader::new(dir.path()).begins_with_first_entry().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// One flipped bit anywhere in an index: the entries are the same.
    #[test]
    fn damaged_index_is_seen_and_built_anew(place in 0.0..1.0_f64, bit in 0..8_u8) {
        let dir = TempDir::new().unwrap();
        let _ledger = ledger(dir.path(), 300, 5);
        check(dir.path(), "site-0.example");
        let path = indexes(dir.path()).remove(0);
        let mut bytes = fs::read(&path).unwrap();
        let offset = (bytes.len() as f64 * place) as usize;
        bytes[offset] ^= 1 << bit;
        fs::write(&path, &bytes).unwrap();
        for site in ["site-0.example", "site-4.example", "nobody.example"] {
            check(dir.path(), site);
        }
    }
}
