use std::cell::RefCell;

use lohisoftbot_actors::storage::{BACKUP_ADVICE, EntryFilter, LedgerRead};
use lohisoftbot_actors::testkit::storage_contract::{check_ledger, entry, ticket_event};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn open(dir: &Path) -> (LedgerFiles, LedgerBook, OpenReport) {
    try_open(dir).unwrap()
}

/// Opens a ledger that nobody has open any more.
fn try_open(dir: &Path) -> Result<(LedgerFiles, LedgerBook, OpenReport), LedgerError> {
    durable::wait_until_free(&dir.join(LOCK_FILE));
    LedgerFiles::open(dir, Timestamp::EPOCH)
}

/// Writes three groups (one frame each) of sizes 1, 2 and 3; returns the segment's path.
fn three_groups(dir: &Path) -> PathBuf {
    let (mut ledger, ..) = open(dir);
    let mut seq = 0;
    for size in 1..=3 {
        for _ in 0..size {
            seq += 1;
            ledger.append(&[entry(seq, ticket_event("http://example.com/page", seq as u32))]).unwrap();
        }
        ledger.sync().unwrap();
    }
    ledger.path.clone()
}

fn num_entries(dir: &Path) -> usize {
    LedgerReader::new(dir).entries(&EntryFilter::default()).unwrap().len()
}

#[test]
fn ledger_files_keep_the_contract() {
    let dirs = RefCell::new(Vec::new());
    check_ledger(|| {
        let dir = TempDir::new().unwrap();
        let ledger = open(dir.path()).0;
        let reader = LedgerReader::new(dir.path());
        dirs.borrow_mut().push(dir);
        (ledger, reader)
    });
}

#[test]
fn reopened_ledger_knows_its_book_and_goes_on() {
    let dir = TempDir::new().unwrap();
    three_groups(dir.path());
    let (mut ledger, book, report) = open(dir.path());
    assert_eq!((book.last_seq, report.num_lines, &report.torn_tail), (6, 6, &None));
    let account = book.accounts.values().next().unwrap();
    assert_eq!((account.num_page_requests, account.last_ticket), (6, 6));

    let at = Timestamp::from_secs(86_400);
    ledger.rotate(at, &mut book.snapshot(at)).unwrap();
    ledger.append(&[entry(7, ticket_event("http://example.com/", 7))]).unwrap();
    ledger.sync().unwrap();
    drop(ledger);
    let (_, again, report) = open(dir.path());
    assert_eq!(
        (again.last_seq, report.num_segments, report.num_lines),
        (7, 2, 2),
        "the snapshot stands for the first six"
    );
    assert_eq!(again.accounts.values().next().unwrap().num_page_requests, 7);
}

#[test]
fn second_process_is_kept_out_and_readers_are_not() {
    let dir = TempDir::new().unwrap();
    three_groups(dir.path());
    let _held = open(dir.path());
    let refusal = LedgerFiles::open(dir.path(), Timestamp::EPOCH).unwrap_err();
    assert!(refusal.to_string().contains("held by another process"), "{refusal}");
    assert_eq!(num_entries(dir.path()), 6);
}

#[test]
fn half_begun_segment_is_removed_and_the_one_before_goes_on() {
    let dir = TempDir::new().unwrap();
    three_groups(dir.path());
    let unfinished = dir.path().join("ledger-1970-01-02-0001.log.new");
    fs::write(&unfinished, b"LSBLEDGR half a head").unwrap();
    let of_indexes = ["ledger-1970-01-01-0001.idx.new", "ledger-1969-12-31-0001.idx"].map(|name| dir.path().join(name));
    of_indexes.iter().for_each(|path| fs::write(path, b"LSBLEDIX half a block").unwrap());
    let kept = dir.path().join("ledger-1970-01-01-0001.idx");
    fs::write(&kept, b"the index of a segment that there is").unwrap();
    let (_, book, report) = open(dir.path());
    assert_eq!((book.last_seq, report.num_unfinished), (6, 1));
    assert!(!unfinished.exists());
    assert!(of_indexes.iter().all(|path| !path.exists()) && kept.exists());
}

#[test]
fn clock_set_back_never_makes_a_segment_order_before_an_older_one() {
    let at = |secs| Timestamp::from_secs(secs);
    let first = SegmentName::following(None, at(10 * 86_400));
    assert_eq!(first.file_name(), "ledger-1970-01-11-0001.log");
    let second = SegmentName::following(Some(&first), at(86_400));
    assert_eq!(second.file_name(), "ledger-1970-01-11-0002.log");
    assert!(second > first);
    let many = SegmentName { number: 9_999, ..second };
    let next = SegmentName::following(Some(&many), at(0));
    assert!(next > many && SegmentName::parse(&next.file_name()) == Some(next.clone()), "five digits order by value");
}

#[track_caller]
fn check_refused(dir: &Path, wanted: &str) {
    let before: Vec<_> = segment::list(dir).unwrap().iter().map(|(_, path)| fs::read(path).unwrap()).collect();
    let error = try_open(dir).map(|_| ()).expect_err("damage is refused").to_string();
    assert!(error.contains(wanted), "{error:?} lacks {wanted:?}");
    assert!(error.contains("ledger-1970-01-01-0001.log") && error.contains(BACKUP_ADVICE), "{error}");
    assert!(!error.contains('\n'), "{error}");
    let after: Vec<_> = segment::list(dir).unwrap().iter().map(|(_, path)| fs::read(path).unwrap()).collect();
    assert_eq!(before, after, "nothing was changed");
}

#[test]
fn damage_before_a_sound_frame_is_refused_with_file_and_offset() {
    let dir = TempDir::new().unwrap();
    let path = three_groups(dir.path());
    let sound = fs::read(&path).unwrap();
    let first_frame = segment::HEADER_BYTES + frame::PREFIX_BYTES + 9;
    let first_len = u32::from_le_bytes(sound[first_frame..first_frame + 4].try_into().unwrap()) as usize;
    // Length, checksum, payload of the first frame with entries; then a zeroed block over it.
    for offset in [first_frame, first_frame + 3, first_frame + 5, first_frame + 20] {
        let mut bytes = sound.clone();
        bytes[offset] ^= 0x40;
        fs::write(&path, &bytes).unwrap();
        check_refused(dir.path(), &format!("damaged at byte {first_frame}"));
    }
    let mut bytes = sound.clone();
    bytes[first_frame..first_frame + first_len].fill(0);
    fs::write(&path, &bytes).unwrap();
    check_refused(dir.path(), &format!("damaged at byte {first_frame}"));
}

#[test]
fn damaged_or_cut_head_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = three_groups(dir.path());
    let sound = fs::read(&path).unwrap();
    for (offset, wanted) in [(0, "does not begin as"), (13, "checksum of its header"), (30, "checksum of its header")] {
        let mut bytes = sound.clone();
        bytes[offset] ^= 1;
        fs::write(&path, &bytes).unwrap();
        check_refused(dir.path(), wanted);
    }
    for (len, wanted) in [(0, "header is cut short"), (31, "header is cut short"), (32, "snapshot has no end")] {
        fs::write(&path, &sound[..len]).unwrap();
        check_refused(dir.path(), wanted);
    }
}

#[test]
fn missing_segment_is_named_when_all_is_read() {
    let dir = TempDir::new().unwrap();
    let (mut ledger, ..) = open(dir.path());
    for day in 1..=3_u64 {
        ledger.append(&[entry(day, ticket_event("http://example.com/", day as u32))]).unwrap();
        ledger.rotate(Timestamp::from_secs(day * 86_400), &mut std::iter::empty()).unwrap();
    }
    let reader = LedgerReader::new(dir.path());
    let summary = reader.verify().unwrap();
    assert_eq!((summary.num_segments, summary.num_entries, summary.last_seq), (4, 3, 3));
    fs::remove_file(dir.path().join("ledger-1970-01-02-0001.log")).unwrap();
    let error = reader.verify().unwrap_err().to_string();
    assert!(error.contains("begins with entry 3 where entry 2 belongs"), "{error}");
    let late = reader.entries(&EntryFilter { after_seq: 2, ..EntryFilter::default() }).unwrap();
    assert_eq!(late.len(), 1, "who asks for the end alone reads the end alone");
}

#[test]
fn empty_snapshot_does_not_forget_the_number() {
    let dir = TempDir::new().unwrap();
    let (mut ledger, ..) = open(dir.path());
    ledger.append(&[entry(1, ticket_event("http://example.com/", 1))]).unwrap();
    ledger.rotate(Timestamp::from_secs(86_400), &mut std::iter::empty()).unwrap();
    drop(ledger);
    let (mut ledger, book, _) = open(dir.path());
    assert_eq!(book.last_seq, 1);
    ledger.append(&[entry(2, ticket_event("http://example.com/", 2))]).unwrap();
}

#[test]
fn large_group_is_split_and_read_back_whole() {
    let dir = TempDir::new().unwrap();
    let (mut ledger, ..) = open(dir.path());
    let long = format!("http://example.com/{}", "x".repeat(2000));
    let entries: Vec<_> = (1..=1000).map(|seq| entry(seq, ticket_event(&long, seq as u32))).collect();
    ledger.append(&entries).unwrap();
    ledger.sync().unwrap();
    assert!(fs::metadata(&ledger.path).unwrap().len() > 4 * frame::FULL_FRAME_BYTES as u64);
    assert_eq!(LedgerReader::new(dir.path()).entries(&EntryFilter::default()).unwrap(), entries);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Cut anywhere behind the head, the ledger opens with the groups that lie whole before the cut, and goes on.
    #[test]
    fn cut_at_any_byte_keeps_the_whole_groups_before_it(cut in 0.0..1.0_f64) {
        let dir = TempDir::new().unwrap();
        let path = three_groups(dir.path());
        let sound = fs::read(&path).unwrap();
        let head = segment::HEADER_BYTES + frame::PREFIX_BYTES + 9;
        let len = head + ((sound.len() - head) as f64 * cut) as usize;
        fs::write(&path, &sound[..len]).unwrap();
        let (mut ledger, book, report) = open(dir.path());
        prop_assert!([0, 1, 3, 6].contains(&book.last_seq));
        let kept = fs::metadata(&path).unwrap().len();
        prop_assert_eq!(report.torn_tail.map_or(0, |torn| torn.num_bytes) + kept, len as u64);
        let next = book.last_seq + 1;
        ledger.append(&[entry(next, ticket_event("http://example.com/", next as u32))]).unwrap();
        ledger.sync().unwrap();
        prop_assert_eq!(num_entries(dir.path()) as u64, next);
    }

    /// Whatever bytes stand at the end: no panic, and no sound group before them is lost.
    #[test]
    fn any_garbage_at_the_end_is_cut_off_or_refused(garbage in proptest::collection::vec(any::<u8>(), 1..400)) {
        let dir = TempDir::new().unwrap();
        let path = three_groups(dir.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(&garbage);
        fs::write(&path, &bytes).unwrap();
        let (_, book, report) = open(dir.path());
        prop_assert_eq!(book.last_seq, 6);
        prop_assert_eq!(report.torn_tail.unwrap().num_bytes, garbage.len() as u64);
    }

    /// One flipped byte anywhere is refused, or was in the last group, which then is gone as a whole; nothing in between.
    #[test]
    fn flipped_byte_is_refused_or_costs_the_last_group(place in 0.0..1.0_f64, bit in 0..8_u8) {
        let dir = TempDir::new().unwrap();
        let path = three_groups(dir.path());
        let mut bytes = fs::read(&path).unwrap();
        let offset = (bytes.len() as f64 * place) as usize;
        bytes[offset] ^= 1 << bit;
        fs::write(&path, &bytes).unwrap();
        match try_open(dir.path()) {
            Ok((_, book, _)) => prop_assert_eq!(book.last_seq, 3),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }
}
