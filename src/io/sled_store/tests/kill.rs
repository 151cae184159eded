//! kill -9 in mid-write: this test starts its own binary again as the writer and kills it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use lohisoftbot_actors::storage::{RecordStore, StoreChange};
use lohisoftbot_actors::testkit::storage_contract::{frontier, page, row, stored_link};
use lohisoftbot_core::site_row::SiteStanding;
use tempfile::TempDir;

use super::{check_verifies, open};

const DIR_VARIABLE: &str = "LOHISOFTBOT_TEST_KILL_DIR";
const ROUNDS: u64 = 5;
const CHECKPOINTS_A_ROUND: usize = 6;

/// The writer: writes for ever, and prints each number that a checkpoint has made durable.
fn write_for_ever(dir: &Path) -> ! {
    let (mut store, _) = open(dir);
    let mut number = store.ledger_seq();
    loop {
        for _ in 0..20 {
            number += 1;
            let host = format!("s{}.example", number % 50);
            let address = format!("http://{host}/{}", number % 7);
            let links = (0..5).map(|link| stored_link(&format!("http://s{}.example/", link * 7), "a")).collect();
            let record = Box::new(page(&address, u32::try_from(number).unwrap()));
            store.apply(StoreChange::SavePage { record, links }).unwrap();
            let row = Box::new(row(&host, SiteStanding::Live, number));
            store.apply(StoreChange::SaveSite { row, frontier: Some(frontier(&[&address])), robots: None }).unwrap();
        }
        store.checkpoint(number).unwrap();
        println!("\ndurable {number}");
    }
}

#[test]
fn killed_writer_loses_nothing_that_was_acknowledged() {
    if let Some(dir) = std::env::var_os(DIR_VARIABLE) {
        write_for_ever(Path::new(&dir));
    }
    let dir = TempDir::new().unwrap();
    for round in 1..=ROUNDS {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "io::sled_store::tests::kill::killed_writer_loses_nothing_that_was_acknowledged"])
            .args(["--nocapture", "--test-threads=1"])
            .env(DIR_VARIABLE, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let durable = lines.filter_map(|line| line.strip_prefix("durable ")?.parse::<u64>().ok());
        let last = durable.take(CHECKPOINTS_A_ROUND).last().unwrap();
        writer.kill().unwrap();
        writer.wait().unwrap();
        let (store, _) = open(dir.path());
        assert!(store.ledger_seq() >= last, "round {round}: {} is behind {last}", store.ledger_seq());
        check_verifies(&store);
    }
}
