//! The contract of the ledger ports.

use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{LedgerBook, LedgerEntry, LedgerEvent, SiteEvent};
use lohisoftbot_core::time::Timestamp;

use super::samples::{entry, exclusion, site, ticket_event};
use crate::storage::{EntryFilter, EntryKind, LedgerError, LedgerRead, LedgerStore};

const DAY_SECS: u64 = 86_400;

/// Checks a ledger; `empty` makes an empty one with a reader of it.
pub fn check_ledger<L: LedgerStore, R: LedgerRead>(empty: impl Fn() -> (L, R)) {
    reads_back_what_was_synced_and_nothing_else(empty());
    refuses_a_gap_and_a_repetition(empty());
    filters_by_site_kind_number_and_count(empty());
    begins_a_segment_with_a_snapshot(empty());
    expires_old_segments_but_never_the_newest(empty());
}

fn some_entries() -> Vec<LedgerEntry> {
    let domain = Domain::parse("example.net").expect("a name");
    let streak = LedgerEvent::Site { site: site("example.com"), event: SiteEvent::BarrierStreak(1) };
    [
        ticket_event("http://example.com/", 1),
        ticket_event("http://example.org/", 1),
        streak,
        LedgerEvent::Excluded { domain: domain.clone(), exclusion: exclusion("asked") },
        LedgerEvent::Included { domain },
        ticket_event("http://example.com/b", 2),
    ]
    .into_iter()
    .zip(1..)
    .map(|(event, seq)| entry(seq, event))
    .collect()
}

fn read(reader: &impl LedgerRead, filter: EntryFilter) -> Vec<LedgerEntry> {
    reader.entries(&filter).expect("the ledger reads")
}

fn numbers(reader: &impl LedgerRead, filter: EntryFilter) -> Vec<u64> {
    read(reader, filter).iter().map(|entry| entry.seq).collect()
}

fn reads_back_what_was_synced_and_nothing_else((mut ledger, reader): (impl LedgerStore, impl LedgerRead)) {
    let entries = some_entries();
    assert_eq!(read(&reader, EntryFilter::default()), []);
    ledger.append(&entries[..2]).expect("appends");
    ledger.append(&entries[2..3]).expect("appends");
    assert_eq!(read(&reader, EntryFilter::default()), [], "not synced yet");
    ledger.sync().expect("syncs");
    ledger.sync().expect("syncs nothing");
    assert_eq!(read(&reader, EntryFilter::default()), entries[..3]);
}

fn refuses_a_gap_and_a_repetition((mut ledger, _): (impl LedgerStore, impl LedgerRead)) {
    let entries = some_entries();
    ledger.append(&entries[..1]).expect("appends");
    for wrong in [&entries[0..1], &entries[2..3]] {
        let refusal = ledger.append(wrong).expect_err("out of order");
        assert!(matches!(refusal, LedgerError::OutOfOrder { last: 1, .. }), "{refusal}");
    }
    ledger.append(&entries[1..2]).expect("the next one");
}

fn filters_by_site_kind_number_and_count((mut ledger, reader): (impl LedgerStore, impl LedgerRead)) {
    ledger.append(&some_entries()).expect("appends");
    ledger.sync().expect("syncs");
    let of = |host| EntryFilter { site: Some(site(host)), ..EntryFilter::default() };
    assert_eq!(numbers(&reader, of("example.com")), [1, 3, 6]);
    assert_eq!(numbers(&reader, of("example.net")), [4, 5], "rules that touch the site");
    let tickets = EntryFilter { kinds: vec![EntryKind::Ticket], ..EntryFilter::default() };
    assert_eq!(numbers(&reader, tickets.clone()), [1, 2, 6]);
    assert_eq!(numbers(&reader, EntryFilter { newest: Some(2), ..tickets }), [2, 6]);
    assert_eq!(numbers(&reader, EntryFilter { after_seq: 4, ..EntryFilter::default() }), [5, 6]);
}

fn begins_a_segment_with_a_snapshot((mut ledger, reader): (impl LedgerStore, impl LedgerRead)) {
    let entries = some_entries();
    let mut book = LedgerBook::default();
    entries[..4].iter().for_each(|entry| book.apply(entry));
    ledger.append(&entries[..4]).expect("appends");
    let at = Timestamp::from_secs(DAY_SECS * 3);
    assert!(!ledger.wants_rotation(Timestamp::from_secs(4)));
    ledger.rotate(at, &mut book.snapshot(at)).expect("rotates");
    assert!(!ledger.wants_rotation(at));
    assert!(ledger.wants_rotation(Timestamp::from_secs(DAY_SECS * 4)));
    ledger.append(&entries[4..]).expect("appends");
    ledger.sync().expect("syncs");

    assert_eq!(numbers(&reader, EntryFilter::default()), [1, 2, 3, 4, 5, 6], "a snapshot is nothing that happened");
    let mut rebuilt = LedgerBook::default();
    read(&reader, EntryFilter::since_checkpoint(0)).iter().for_each(|entry| rebuilt.apply(entry));
    entries[4..].iter().for_each(|entry| book.apply(entry));
    assert_eq!(rebuilt, book, "folding a snapshot over what it repeats changes nothing");
}

fn expires_old_segments_but_never_the_newest((mut ledger, reader): (impl LedgerStore, impl LedgerRead)) {
    let entries = some_entries();
    let day = |number: u64| Timestamp::from_secs(DAY_SECS * number);
    let mut book = LedgerBook::default();
    for (entry, number) in entries[..3].iter().zip(1..) {
        ledger.rotate(day(number), &mut book.snapshot(day(number))).expect("rotates");
        ledger.append(std::slice::from_ref(entry)).expect("appends");
        ledger.sync().expect("syncs");
        book.apply(entry);
    }
    ledger.expire(day(1)).expect("expires");
    assert_eq!(numbers(&reader, EntryFilter::default()), [1, 2, 3]);
    ledger.expire(day(2)).expect("expires");
    assert_eq!(numbers(&reader, EntryFilter::default()), [2, 3]);
    ledger.expire(day(99)).expect("expires");
    assert_eq!(numbers(&reader, EntryFilter::default()), [3], "the newest stays");
    ledger.append(&entries[3..4]).expect("goes on");
    ledger.sync().expect("syncs");
    assert_eq!(numbers(&reader, EntryFilter::default()), [3, 4]);
}
