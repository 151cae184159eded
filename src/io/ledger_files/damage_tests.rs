//! Damage in closed segments, and segments that are missing: whoever opens the ledger refuses, whoever judges it reads what is left.

use std::collections::BTreeMap;
use std::time::Duration;

use lohisoftbot_actors::storage::EntryFilter;
use lohisoftbot_actors::testkit::storage_contract::{entry, ticket_event};
use tempfile::TempDir;

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

fn at(day: u64) -> Timestamp {
    Timestamp::from_secs(day * DAY.as_secs())
}

/// Four segments of two entries each, one frame an entry, and a fifth that has none; their paths.
fn five_segments(dir: &Path) -> Vec<PathBuf> {
    let (mut ledger, mut book, _) = LedgerFiles::open(dir, at(0)).unwrap();
    for seq in 1..=8_u64 {
        let entry = entry(seq, ticket_event("http://example.com/", seq as u32));
        ledger.append(std::slice::from_ref(&entry)).unwrap();
        ledger.sync().unwrap();
        book.apply(&entry);
        if seq % 2 == 0 {
            ledger.rotate(at(seq), &mut book.snapshot(at(seq))).unwrap();
        }
    }
    drop(ledger);
    durable::wait_until_free(&dir.join(LOCK_FILE));
    segment::list(dir).unwrap().into_iter().map(|(_, path)| path).collect()
}

fn files_in(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Every way to open the ledger says the same, and nothing of it changes, be its lock there or not.
#[track_caller]
fn check_refused(dir: &Path, words: &[&str]) {
    for has_lock in [true, false] {
        if !has_lock {
            fs::remove_file(dir.join(LOCK_FILE)).unwrap();
        }
        let before = files_in(dir);
        durable::wait_until_free(&dir.join(LOCK_FILE));
        let error = LedgerFiles::open(dir, at(9)).map(|_| ()).expect_err("it is refused").to_string();
        assert_eq!(error, LedgerReader::new(dir).verify().unwrap_err().to_string(), "as `verify` says");
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in {error}");
        }
        assert!(!error.contains('\n'), "{error}");
        assert!(files_in(dir) == before, "files were changed; the lock was there: {has_lock}");
    }
    fs::write(dir.join(LOCK_FILE), b"").unwrap();
}

#[test]
fn damage_in_the_middle_of_a_closed_segment_is_refused_by_who_opens_it_for_writing() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    // What a crash in the middle of a rotation left stays, too, where the ledger is refused.
    fs::write(dir.path().join("ledger-1970-01-09-0007.log.new"), b"LSBLEDGR half a head").unwrap();
    for path in &segments[..4] {
        let sound = fs::read(path).unwrap();
        for offset in [segment::HEADER_BYTES - 1, segment::HEADER_BYTES + 4, sound.len() / 2, sound.len() - 1] {
            let mut bytes = sound.clone();
            bytes[offset] ^= 0x10;
            fs::write(path, &bytes).unwrap();
            check_refused(dir.path(), &[&path.display().to_string(), "is damaged at byte", "stop the node"]);
        }
        // Cut, it is no torn tail: a newer segment stands behind it.
        fs::write(path, &sound[..sound.len() - 5]).unwrap();
        check_refused(dir.path(), &[&path.display().to_string(), "cut short"]);
        fs::write(path, &sound).unwrap();
    }
    LedgerFiles::open(dir.path(), at(9)).unwrap();
}

#[test]
fn closed_segment_that_lost_a_whole_frame_or_itself_is_refused() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    let sound = fs::read(&segments[1]).unwrap();
    let mut reader = SegmentReader::open(&segments[1], Tail::MustBeWhole).unwrap();
    let mut last_frame = 0;
    while let Piece::Lines(..) = reader.next_piece().unwrap() {
        last_frame = reader.piece_at() as usize;
    }
    fs::write(&segments[1], &sound[..last_frame]).unwrap();
    check_refused(dir.path(), &["begins with entry 5 where entry 4 belongs", "a segment is missing"]);
    fs::remove_file(&segments[1]).unwrap();
    check_refused(dir.path(), &["begins with entry 5 where entry 3 belongs", "a segment is missing"]);
}

#[test]
fn half_begun_segment_is_removed_only_once_the_ledger_is_found_sound() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    let unfinished = dir.path().join("ledger-1970-01-09-0007.log.new");
    fs::write(&unfinished, b"LSBLEDGR half a head").unwrap();
    let newest = segments.last().unwrap();
    let sound = fs::read(newest).unwrap();
    fs::write(newest, &sound[..20]).unwrap();
    check_refused(dir.path(), &["header is cut short"]);
    assert!(unfinished.exists());
    fs::write(newest, &sound).unwrap();
    LedgerFiles::open(dir.path(), at(9)).unwrap();
    assert!(!unfinished.exists());
}

/// The numbers of the entries that are left, and what is said in between.
fn what_is_left(dir: &Path) -> (Vec<u64>, Vec<String>) {
    let (mut left, mut faults) = (Vec::new(), Vec::new());
    for line in LedgerReader::new(dir).stream_what_is_left(EntryFilter::default()).unwrap() {
        match line {
            Ok(line) => left.push(line.entry.seq),
            Err(error) => faults.push(error.to_string()),
        }
    }
    (left, faults)
}

#[test]
fn who_judges_reads_on_behind_each_damage_and_each_gap_once() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    assert_eq!(what_is_left(dir.path()), ((1..=8).collect(), Vec::new()));
    let mut bytes = fs::read(&segments[1]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&segments[1], &bytes).unwrap();
    let (left, faults) = what_is_left(dir.path());
    assert_eq!(left, [1, 2, 3, 5, 6, 7, 8]);
    assert!(faults.len() == 1 && faults[0].contains("a checksum does not match"), "{faults:?}");
    fs::remove_file(&segments[2]).unwrap();
    let (left, faults) = what_is_left(dir.path());
    assert_eq!(left, [1, 2, 3, 7, 8]);
    assert_eq!(faults.len(), 1, "behind the damage nobody knows which number belongs: {faults:?}");
    fs::remove_file(&segments[1]).unwrap();
    let (left, faults) = what_is_left(dir.path());
    assert_eq!(left, [1, 2, 7, 8]);
    assert!(faults.len() == 1 && faults[0].contains("entry 7 where entry 3 belongs"), "{faults:?}");
    fs::write(&segments[0], b"nothing").unwrap();
    let (left, faults) = what_is_left(dir.path());
    assert_eq!((left, faults.len()), (vec![7, 8], 1));
}

#[test]
fn end_at_a_fault_is_the_same_for_every_way_to_read() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    fs::write(&segments[2], b"nothing").unwrap();
    let reader = LedgerReader::new(dir.path());
    let site = lohisoftbot_core::site::Site::of_host("example.com");
    let mut lines = reader.stream(EntryFilter::default()).unwrap().entries();
    let mut of_site = reader.of_site(&site).unwrap();
    for seq in 1..=4 {
        assert_eq!(lines.next().unwrap().unwrap().seq, seq);
        assert_eq!(of_site.next().unwrap().unwrap().seq, seq);
    }
    assert!(lines.next().unwrap().is_err() && of_site.next().unwrap().is_err());
    assert!(lines.next().is_none() && of_site.next().is_none());
}

#[test]
fn beginning_that_is_too_young_to_have_expired_is_lost() {
    let dir = TempDir::new().unwrap();
    let segments = five_segments(dir.path());
    let reader = LedgerReader::new(dir.path());
    assert_eq!(reader.lost_beginning(5 * DAY).unwrap(), None, "it begins with its first entry");
    fs::remove_file(&segments[0]).unwrap();
    // The oldest begins on day 2 now, the newest on day 8: within six days it may have expired.
    assert_eq!(reader.lost_beginning(6 * DAY).unwrap(), None);
    let lost = reader.lost_beginning(7 * DAY).unwrap().expect("it is lost");
    assert!(lost.contains("begins with entry 3") && lost.contains("not old enough to expire"), "{lost}");
    assert_eq!(reader.last_seq().unwrap(), Some(8));
    assert_eq!(LedgerReader::new(&dir.path().join("none")).last_seq().unwrap(), None);
}
