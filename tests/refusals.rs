//! What `run` cannot begin: one clear line, exit code 2, and nothing touched.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use lohisoftbot::io::ledger_files::LedgerFiles;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::Config;
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent};
use lohisoftbot_core::time::Timestamp;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{Ran, Rig, node_binary, quick_config, run_binary, write_config};

/// A folder with a configuration in it, for a node that must not start.
struct Folder {
    dir: TempDir,
}

impl Folder {
    fn new(config: &Config) -> Self {
        let dir = TempDir::new().unwrap();
        write_config(&dir.path().join("config.toml"), config);
        Self { dir }
    }

    fn with_text(config: &str) -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        Self { dir }
    }

    /// Runs `lohisoftbot run` in the folder, where relative paths of the configuration begin.
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = node_binary();
        command.current_dir(self.dir.path());
        run_binary(command, ["run"].iter().chain(args))
    }

    /// Wants one clear line with these words, and the folder as it was.
    #[track_caller]
    fn expect_refusal(&self, args: &[&str], words: &[&str]) {
        let before = files_in(self.dir.path());
        self.run(args).expect_one_clear_line(words);
        assert_eq!(names(&files_in(self.dir.path())), names(&before));
        assert!(files_in(self.dir.path()) == before, "a file was changed");
    }
}

/// Every file below a folder with its bytes; sockets and folders with none.
fn files_in(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            if kind.is_dir() {
                folders.push(path.clone());
            }
            let bytes = if kind.is_dir() || kind.is_socket() { Vec::new() } else { std::fs::read(&path).unwrap() };
            found.insert(path, bytes);
        }
    }
    found
}

fn names(files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<&PathBuf> {
    files.keys().collect()
}

#[test]
fn missing_configuration_is_named() {
    let folder = Folder::with_text("");
    folder.expect_refusal(&["--config", "other.toml"], &["other.toml", "--config"]);
}

#[test]
fn missing_seeds_file_is_named_before_anything_is_made() {
    let folder = Folder::with_text("");
    folder.expect_refusal(&["--seeds", "no-seeds.txt", "--until-idle"], &["no-seeds.txt"]);
}

#[test]
fn unknown_key_is_refused_with_the_nearest_known_one() {
    let folder = Folder::with_text("[politeness]\nmin_dealy = \"5s\"\n");
    folder.expect_refusal(&["--until-idle"], &["config.toml line 2", "politeness.min_dealy", "politeness.min_delay"]);
}

#[test]
fn value_beyond_its_bounds_is_refused_with_what_to_write() {
    let folder = Folder::with_text("[budget]\npage_requests = 21\n");
    folder.expect_refusal(&["--until-idle"], &["budget.page_requests", "from 1 to 20"]);
}

#[test]
fn missing_certificate_file_is_named_before_anything_is_made() {
    let mut config = quick_config(Path::new("."));
    config.network.extra_roots = vec!["no-roots.pem".into()];
    Folder::new(&config).expect_refusal(&["--until-idle"], &["no-roots.pem"]);
}

#[test]
fn taken_socket_and_held_store_are_refused_and_left_alone() {
    let rig = Rig::start(PracticePlan { base_address: [127, 71, 0, 0].into(), ..PracticePlan::small(71, 1) }, |_| {});
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    // Nothing is due any more, so the node writes nothing that the other one could be blamed for.
    node.wait_until("its one site is finished", || {
        rig.ask(&["sites", "--state", "finished"])["sites"].as_array().unwrap().len() == 1
    });
    let before = files_in(&rig.data_dir());

    let mut config = quick_config(Path::new("."));
    config.control.socket = rig.data_dir().join("control.sock");
    Folder::new(&config).expect_refusal(&["--until-idle"], &["another node", "control.sock", "shutdown"]);

    let mut config = quick_config(Path::new("."));
    config.store.data_dir = rig.data_dir();
    config.control.socket = "other.sock".into();
    let folder = Folder::new(&config);
    folder.run(&["--until-idle"]).expect_one_clear_line(&["another process", "ledger"]);
    assert!(!folder.dir.path().join("other.sock").exists(), "the socket of a node that did not start stays");

    let after = files_in(&rig.data_dir());
    assert_eq!(names(&after), names(&before));
    assert!(after == before, "the store of the running node was changed");
    node.signal(Signal::TERM);
    node.expect_end(0);
}

/// A folder in which a node has run, with one more ledger segment behind the one of that run.
fn folder_with_two_segments() -> (Folder, PathBuf) {
    use lohisoftbot_actors::storage::LedgerStore;
    let folder = Folder::new(&quick_config(Path::new(".")));
    folder.run(&["--until-idle"]).expect_code(0);
    let dir = folder.dir.path().join("data/ledger");
    let now = Timestamp::from_secs(1_700_000_000);
    let (mut ledger, mut book, _) = LedgerFiles::open(&dir, now).unwrap();
    let domain = Domain::parse("out.test").unwrap();
    let entry = LedgerEntry { seq: book.last_seq + 1, at: now, event: LedgerEvent::Included { domain } };
    ledger.append(std::slice::from_ref(&entry)).unwrap();
    book.apply(&entry);
    ledger.rotate(now, &mut book.snapshot(now)).unwrap();
    drop(ledger);
    let mut segments: Vec<PathBuf> = files_in(&dir).into_keys().filter(|path| path.extension().is_some()).collect();
    segments.retain(|path| path.extension().unwrap() == "log");
    assert_eq!(segments.len(), 2);
    (folder, segments.remove(0))
}

#[test]
fn ledger_with_a_damaged_closed_segment_is_refused_as_by_a_dry_run() {
    let (folder, closed) = folder_with_two_segments();
    let sound = std::fs::read(&closed).unwrap();
    let mut bytes = sound.clone();
    let place = sound.len() - 5;
    bytes[place] ^= 1;
    std::fs::write(&closed, bytes).unwrap();
    let file = closed.file_name().unwrap().to_str().unwrap();
    for args in [&["--until-idle"][..], &["--dry-run"]] {
        folder.expect_refusal(args, &[file, "is damaged at byte", "stop the node and put a copy"]);
    }
    std::fs::write(&closed, sound).unwrap();
    folder.run(&["--until-idle"]).expect_code(0);
}

#[test]
fn lost_ledger_is_refused_and_nothing_is_made_in_its_place() {
    let (folder, closed) = folder_with_two_segments();
    let dir = closed.parent().unwrap().to_owned();
    folder.run(&["--until-idle"]).expect_code(0);
    let kept = folder.dir.path().join("kept");
    std::fs::rename(&dir, &kept).unwrap();
    let words = ["data/records holds records", "the ledger is lost", "Nothing was changed", "put a copy"];
    for args in [&["--until-idle"][..], &["--dry-run"]] {
        folder.expect_refusal(args, &words);
    }
    // Neither is an empty folder a ledger, nor one with a lock alone.
    std::fs::create_dir(&dir).unwrap();
    folder.expect_refusal(&["--until-idle"], &words);
    std::fs::write(dir.join("lock"), b"").unwrap();
    folder.expect_refusal(&["--until-idle"], &words);
    std::fs::remove_dir_all(&dir).unwrap();
    std::fs::rename(&kept, &dir).unwrap();
    // Its newest segment alone is lost: the sentinel knows of an entry that the others have not. Here all of them are in the first one, so
    // that is taken instead.
    let newest = files_in(&dir).into_keys().filter(|path| path.extension().is_some_and(|ending| ending == "log")).max();
    std::fs::remove_file(newest.unwrap()).unwrap();
    let whole = std::fs::read(&closed).unwrap();
    std::fs::write(&closed, &whole[..whole.len() - 3]).unwrap();
    for args in [&["--until-idle"][..], &["--dry-run"]] {
        folder.expect_refusal(args, &["the ledger ends at entry 0, but entry 1 was written", "Nothing was changed"]);
    }
    std::fs::write(&closed, whole).unwrap();
    folder.run(&["--until-idle"]).expect_code(0);
}

#[test]
fn store_that_another_tool_holds_is_refused_and_left_alone() {
    let folder = Folder::new(&quick_config(Path::new(".")));
    folder.run(&["--until-idle"]).expect_code(0);
    for held in ["data/ledger/lock", "data/records/db"] {
        let lock = File::open(folder.dir.path().join(held)).unwrap();
        lock.lock_shared().unwrap();
        folder.expect_refusal(&["--until-idle"], &["another process"]);
    }
    folder.run(&["--until-idle"]).expect_code(0);
}
