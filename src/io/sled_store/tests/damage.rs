//! Damage to the store's files: refused with a message that says what to do, or repaired without loss; never a panic, never a store
//! that opens "fine" with fewer records.

use std::fs;
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{BACKUP_ADVICE, RecordStore, StoreChange};
use lohisoftbot_actors::testkit::storage_contract::{page, stored_link};
use tempfile::TempDir;

use super::{SledStore, StoreOpenError, fill, open};

/// A closed store of some megabytes.
fn stored(num_pages: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    fill(&mut store);
    for number in 0..num_pages {
        let mut record = page(&format!("http://s{number}.example/"), 1);
        record.description = Some("d".repeat(1000));
        let links = vec![stored_link("http://a.example/", "a")];
        store.apply(StoreChange::SavePage { record: Box::new(record), links }).unwrap();
    }
    store.checkpoint(8).unwrap();
    dir
}

fn log(dir: &Path) -> PathBuf {
    dir.join("records/db")
}

fn snapshots(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("records")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("snap.")).collect()
}

fn try_open(dir: &Path) -> Result<SledStore, StoreOpenError> {
    super::try_open(dir).map(|(store, _)| store)
}

#[track_caller]
fn check_refused(dir: &Path) -> String {
    let error = try_open(dir).map(|store| store.stats()).expect_err("damage is refused");
    let text = error.to_string();
    assert!(text.contains(BACKUP_ADVICE), "{text}");
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn log_cut_and_snapshot_gone_is_refused_though_sled_opens_it() {
    let dir = stored(3000);
    for snapshot in snapshots(dir.path()) {
        fs::remove_file(snapshot).unwrap();
    }
    let file = fs::OpenOptions::new().write(true).open(log(dir.path())).unwrap();
    let len = file.metadata().unwrap().len();
    for cut in [len / 2, 600 << 10, 0] {
        file.set_len(cut).unwrap();
        let text = check_refused(dir.path());
        assert!(text.contains("records are missing") || text.contains("is damaged"), "cut at {cut}: {text}");
    }
    check_refused(dir.path());
}

#[test]
fn all_files_gone_is_refused() {
    let dir = stored(1);
    fs::remove_dir_all(dir.path().join("records")).unwrap();
    let text = check_refused(dir.path());
    assert!(text.contains("is empty"), "{text}");
    assert!(!dir.path().join("records").exists(), "nothing is made in its place");
}

#[test]
fn emptied_store_behind_a_sound_sentinel_is_refused() {
    let dir = stored(1);
    let other = TempDir::new().unwrap();
    drop(open(other.path()));
    fs::remove_dir_all(dir.path().join("records")).unwrap();
    fs::rename(other.path().join("records"), dir.path().join("records")).unwrap();
    let text = check_refused(dir.path());
    assert!(text.contains("another store"), "{text}");
}

#[test]
fn store_rolled_back_behind_its_sentinel_is_refused() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    fill(&mut store);
    drop(store);
    let old = fs::read(log(dir.path())).unwrap();
    let (mut store, _) = open(dir.path());
    store.apply(StoreChange::SavePage { record: Box::new(page("http://z.example/", 1)), links: Vec::new() }).unwrap();
    store.checkpoint(9).unwrap();
    drop(store);
    fs::write(log(dir.path()), old).unwrap();
    for snapshot in snapshots(dir.path()) {
        fs::remove_file(snapshot).unwrap();
    }
    let text = check_refused(dir.path());
    assert!(text.contains("was made durable"), "{text}");
}

#[test]
fn missing_or_damaged_sentinel_is_refused() {
    let dir = stored(1);
    let path = dir.path().join("records.sentinel");
    let sound = fs::read_to_string(&path).unwrap();
    for text in [&sound.replacen('1', "2", 1), "", "{}\ncrc32 00000000\n", &sound[..sound.len() - 4]] {
        fs::write(&path, text).unwrap();
        assert!(check_refused(dir.path()).contains("records.sentinel"), "{text:?}");
    }
    fs::write(&path, [0xff, 0xfe]).unwrap();
    check_refused(dir.path());
    fs::remove_file(&path).unwrap();
    assert!(check_refused(dir.path()).contains("it is missing"));
    fs::write(&path, sound).unwrap();
    try_open(dir.path()).unwrap();
}

#[test]
fn half_written_and_damaged_snapshots_are_no_obstacle() {
    let dir = stored(50);
    fs::write(dir.path().join("records/snap.0000000000000BAD.generating"), b"half").unwrap();
    let (store, report) = open(dir.path());
    assert_eq!((report.num_unfinished_snapshots, store.stats().num_pages), (1, 53));
    drop(store);
    for (content, name) in [(&b""[..], "empty"), (&[7; 300][..], "garbage")] {
        let snapshot = snapshots(dir.path()).pop().unwrap();
        fs::write(&snapshot, content).unwrap();
        let (store, report) = open(dir.path());
        assert_eq!((report.moved_snapshots.len(), store.stats().num_pages), (1, 53), "{name}");
        assert!(report.moved_snapshots[0].exists(), "moved aside, not deleted");
    }
}

#[test]
fn flipped_bytes_and_zeroed_blocks_are_refused_or_harmless() {
    let dir = stored(1500);
    let sound = fs::read(log(dir.path())).unwrap();
    let files: Vec<(PathBuf, Vec<u8>)> =
        snapshots(dir.path()).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let mut num_refused = 0;
    for place in 1..12_usize {
        let offset = sound.len() * place / 12;
        for len in [1, 4096] {
            let mut bytes = sound.clone();
            let end = (offset + len).min(bytes.len());
            bytes[offset..end].iter_mut().for_each(|byte| *byte = if len == 1 { *byte ^ 0x10 } else { 0 });
            fs::write(log(dir.path()), &bytes).unwrap();
            snapshots(dir.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
            files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
            match try_open(dir.path()) {
                // The byte was in no living row: then nothing may be missing.
                Ok(store) => {
                    assert_eq!(store.stats().num_pages, 1503, "{len} bytes at {offset}");
                    super::check_verifies(&store);
                }
                Err(error) => {
                    num_refused += 1;
                    assert!(error.to_string().contains(BACKUP_ADVICE), "{error}");
                }
            }
        }
    }
    assert!(num_refused > 0, "some of these bytes matter");
}
