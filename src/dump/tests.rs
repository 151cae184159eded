use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lohisoftbot_actors::storage::{LedgerStore, RecordStore, StoreChange};
use lohisoftbot_actors::testkit::storage_contract::{
    entry, exclusion, frontier, page, robots_copy, row, stored_link, ticket_event,
};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::io::durable;
use crate::io::ledger_files::LedgerFiles;
use crate::io::sled_store::{SledStore, StoreOptions};

/// The data directory of a stopped node: two sites, three pages, one exclusion, three ledger entries.
fn stopped_node() -> TempDir {
    let dir = TempDir::new().unwrap();
    let data = DataDir::new(dir.path());
    let (mut store, _) = SledStore::open(&data, StoreOptions::default()).unwrap();
    let mut changes = vec![StoreChange::Exclude {
        domain: Domain::parse("out.example").unwrap(),
        exclusion: exclusion("asked, by \"mail\""),
    }];
    for (host, title) in [("a.example", "Știri, \"azi\""), ("b.example", "中文")] {
        let address = format!("http://{host}/");
        changes.push(StoreChange::SaveSite {
            row: Box::new(row(host, SiteStanding::Due, 60)),
            frontier: Some(frontier(&[&address])),
            robots: Some(vec![robots_copy(&address, 10)]),
        });
        let mut record = page(&address, 1);
        record.title = Some(title.to_owned());
        let links = vec![stored_link("http://a.example/", "to a"), stored_link("http://b.example/", "to b")];
        changes.push(StoreChange::SavePage { record: Box::new(record), links });
    }
    changes.push(StoreChange::SavePage { record: Box::new(page("http://a.example/2", 1)), links: Vec::new() });
    for change in changes {
        store.apply(change).unwrap();
    }
    let (mut ledger, ..) = LedgerFiles::open(&data.ledger(), Timestamp::EPOCH).unwrap();
    let addresses = ["http://a.example/", "http://b.example/", "http://a.example/2"];
    let entries: Vec<_> = addresses.iter().zip(1..).map(|(a, seq)| entry(seq, ticket_event(a, seq as u32))).collect();
    ledger.append(&entries).unwrap();
    ledger.sync().unwrap();
    store.checkpoint(3).unwrap();
    drop((store, ledger));
    wait_until_stopped(&data);
    dir
}

/// Whoever had it open has closed it; this waits until its locks are free, too.
fn wait_until_stopped(data: &DataDir) {
    durable::wait_until_free(&data.records().join("db"));
    durable::wait_until_free(&data.ledger().join(crate::io::ledger_files::LOCK_FILE));
}

fn dump(dir: &Path, words: &[&str]) -> Result<String, DumpError> {
    let store = dir.to_str().unwrap();
    let args = DumpArgs::try_parse_from(["lohisoftbot-dump", "--store", store].iter().chain(words)).unwrap();
    let mut output = Vec::new();
    let result = run(&args, &mut output);
    let text = String::from_utf8(output).unwrap();
    result.map(|()| text)
}

#[track_caller]
fn lines(dir: &Path, words: &[&str]) -> Vec<Value> {
    let text = dump(dir, &[words, &["--format", "jsonl"]].concat()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Name and content of every file below a directory.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

#[track_caller]
fn check_column(dir: &Path, words: &[&str], column: &str, wanted: &[&str]) {
    let found: Vec<String> = lines(dir, words).iter().map(|row| row[column].as_str().unwrap().to_owned()).collect();
    assert_eq!(found, wanted, "{column} of {words:?}");
}

#[test]
fn rows_are_filtered_by_site_prefix_and_limit() {
    let dir = stopped_node();
    let dir = dir.path();
    assert_eq!(lines(dir, &["pages"]).len(), 3);
    check_column(dir, &["pages", "--site", "b.example"], "title", &["中文"]);
    check_column(
        dir,
        &["pages", "--site", "http://www.a.example/x"],
        "url",
        &["http://a.example/", "http://a.example/2"],
    );
    check_column(dir, &["pages", "--prefix", "http://a.example/2"], "url", &["http://a.example/2"]);
    check_column(dir, &["--site", "a.example", "--limit", "1", "pages"], "title", &["Știri, \"azi\""]);
    check_column(dir, &["inlinks", "--site", "a.example"], "text", &["to a", "to a"]);
    check_column(dir, &["inlinks", "--prefix", "http://b"], "source", &["http://a.example/", "http://b.example/"]);
    check_column(dir, &["sites", "--prefix", "b."], "standing", &["due"]);
    check_column(dir, &["frontier", "--site", "a.example"], "url", &["http://a.example/"]);
    check_column(dir, &["exclusions"], "domain", &["out.example"]);
    check_column(dir, &["exclusions", "--site", "a.example"], "domain", &[]);
    check_column(dir, &["ledger", "--site", "a.example"], "url", &["http://a.example/", "http://a.example/2"]);
    check_column(dir, &["ledger", "--limit", "2"], "name", &["b.example", "a.example"]);
    check_column(dir, &["ledger", "--prefix", "http://b"], "kind", &["ticket"]);
    check_column(dir, &["ledger", "--kind", "outcome,wait"], "kind", &[]);
}

#[test]
fn trees_and_stats_count_what_is_there() {
    let dir = stopped_node();
    let count = |rows: &[Value], key: &str, name: &str, column: &str| {
        rows.iter().find(|row| row[key] == name).unwrap()[column].as_u64().unwrap()
    };
    let trees = lines(dir.path(), &["trees"]);
    for (tree, wanted) in [("pages", 3), ("inlinks", 4), ("sites", 2), ("due", 2), ("frontier", 2), ("exclusions", 1)] {
        assert_eq!(count(&trees, "tree", tree, "rows"), wanted, "{tree}");
    }
    let stats = lines(dir.path(), &["stats"]);
    for (what, wanted) in [("pages", 3), ("links", 4), ("sites due", 2), ("ledger entries seen", 3)] {
        assert_eq!(count(&stats, "what", what, "count"), wanted, "{what}");
    }
}

#[test]
fn get_shows_a_page_or_a_site_and_says_when_there_is_none() {
    let dir = stopped_node();
    let page = dump(dir.path(), &["get", "http://b.example/", "--format", "csv"]).unwrap();
    assert!(page.contains("title,中文\r\n") && page.contains("anchors,"), "{page}");
    let site = dump(dir.path(), &["get", "a.example"]).unwrap();
    assert!(site.contains("page_requests") && site.contains("due"), "{site}");
    for absent in ["http://b.example/none", "none.example", "not a name"] {
        let error = dump(dir.path(), &["get", absent]).unwrap_err();
        assert_eq!((error.exit_code(), error.to_string()), (1, format!("{absent} is not in the store")));
    }
}

#[test]
fn each_format_has_its_form() {
    let dir = stopped_node();
    let csv = dump(dir.path(), &["pages", "--format", "csv"]).unwrap();
    assert!(csv.starts_with("url,status,title,"), "{csv}");
    assert!(csv.contains("\"Știri, \"\"azi\"\"\""), "{csv}");
    let table = dump(dir.path(), &["exclusions"]).unwrap();
    assert!(table.contains("┌") && table.contains("asked, by \"mail\""), "{table}");
    let json = &lines(dir.path(), &["pages", "--site", "b.example"])[0];
    assert_eq!(json["target_sites"], serde_json::json!(["a.example", "b.example"]));
    assert_eq!(json["headings"][0]["level"], 1);
}

#[test]
fn no_command_changes_the_store() {
    let dir = stopped_node();
    let before = contents(dir.path());
    let commands =
        ["trees", "stats", "pages", "inlinks", "sites", "frontier", "exclusions", "ledger", "verify"].map(|c| vec![c]);
    for words in commands.into_iter().chain([vec!["get", "a.example"]]) {
        dump(dir.path(), &words).unwrap();
    }
    assert!(contents(dir.path()) == before, "files were changed");
}

#[test]
fn running_node_is_named_and_so_is_the_command_for_it() {
    let dir = stopped_node();
    let data = DataDir::new(dir.path());
    let check = |what: &str| {
        let error = dump(dir.path(), &["pages"]).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{what}");
        let text = error.to_string();
        assert!(text.contains("running node") && text.contains("`lohisoftbot-ctl shutdown`"), "{what}: {text}");
    };
    let store = SledStore::open(&data, StoreOptions::default()).unwrap();
    check("records held");
    drop(store);
    wait_until_stopped(&data);
    let ledger = LedgerFiles::open(&data.ledger(), Timestamp::EPOCH).unwrap();
    check("ledger held");
    drop(ledger);
    wait_until_stopped(&data);
    dump(dir.path(), &["pages"]).unwrap();
}

#[test]
fn what_is_no_store_is_said_in_one_line() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("none");
    for (path, wanted) in [(missing.as_path(), "does not exist"), (dir.path(), "is not the data directory of a node")] {
        let error = dump(path, &["pages"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(wanted) && !error.to_string().contains('\n'), "{error}");
    }
    fs::create_dir(dir.path().join("ledger")).unwrap();
    let error = dump(dir.path(), &["pages"]).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("holds no records"), "{error}");
}

#[test]
fn verify_gives_a_verdict_on_sound_and_on_damaged_stores() {
    let dir = stopped_node();
    check_column(dir.path(), &["verify"], "verdict", &["sound"; 5]);

    let segment = dir.path().join("ledger/ledger-1970-01-01-0001.log");
    let sound = fs::read(&segment).unwrap();
    let mut bytes = sound.clone();
    bytes[20] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    let error = dump(dir.path(), &["verify"]).unwrap_err();
    assert_eq!((error.exit_code(), error.to_string()), (1, "the store is not sound; problems found: 1".to_owned()));
    fs::write(&segment, &sound[..sound.len() - 1]).unwrap();
    assert_eq!(dump(dir.path(), &["verify"]).unwrap_err().exit_code(), 1, "the store has seen what the ledger lost");
    fs::write(&segment, &sound).unwrap();

    let sentinel = dir.path().join("records.sentinel");
    let text = fs::read_to_string(&sentinel).unwrap();
    fs::remove_file(&sentinel).unwrap();
    for words in [&["verify"][..], &["pages"]] {
        assert_eq!(dump(dir.path(), words).unwrap_err().exit_code(), 1);
    }
    let error = dump(dir.path(), &["pages"]).unwrap_err().to_string();
    assert!(error.contains(&sentinel.display().to_string()), "the store is named, not its copy: {error}");
    fs::write(&sentinel, text).unwrap();
    fs::write(dir.path().join("records/db"), b"").unwrap();
    assert_eq!(dump(dir.path(), &["pages"]).unwrap_err().exit_code(), 1);
}
