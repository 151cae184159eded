//! The account of what was asked, by the control socket: `ledger`, `audit`, and the streams `watch` and `export`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use lohisoftbot::control::{Command, ControlClient, StreamEnd};
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::site::Site;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

fn rig(number: u8, num_sites: usize) -> Rig {
    let base_address = [127, 78, number, 0].into();
    Rig::start(PracticePlan { base_address, ..PracticePlan::small(78 + u64::from(number), num_sites) }, |_| {})
}

fn all_finished(rig: &Rig, num_sites: usize) -> bool {
    let sites = rig.ask(&["sites", "--state", "finished"]);
    sites["sites"].as_array().unwrap().len() == num_sites
}

fn end(rig: &Rig, node: &mut RunningNode) {
    rig.ask(&["shutdown"]);
    node.expect_end(0);
}

/// The lines of an export, and its last word.
fn export(rig: &Rig, site: Option<&str>) -> (Vec<Value>, Value) {
    let client = ControlClient::connect(&rig.socket()).unwrap();
    let mut records = Vec::new();
    let end = client.stream(&Command::Export { site: site.map(Site::of_host) }, |record| {
        records.push(record);
        ControlFlow::Continue(())
    });
    match end.unwrap() {
        StreamEnd::Whole(Ok(last)) => (records, last),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ledger_has_each_request_that_the_web_saw_and_the_audit_of_it_finds_nothing() {
    let rig = rig(1, 3);
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    node.wait_until("all sites are finished", || all_finished(&rig, 3));
    let name = rig.web().sites().sites()[0].name.clone();
    let ledger = rig.ask(&["ledger", &name, "--limit", "1000"]);
    assert_eq!(ledger["older_lines_with_before"], Value::Null);
    let lines = ledger["lines"].as_array().unwrap();
    let requests: Vec<&Value> = lines.iter().filter(|line| !line["url"].is_null()).collect();
    let seen = rig.web().log().entries();
    let seen: Vec<String> =
        seen.iter().filter(|entry| entry.host.ends_with(&name)).map(|entry| entry.path.clone()).collect();
    let asked: Vec<String> = requests
        .iter()
        .map(|line| lohisoftbot_core::url::PageUrl::parse(line["url"].as_str().unwrap(), None).unwrap())
        .map(|url| url.path_and_query().to_owned())
        .collect();
    assert_eq!(asked, seen, "in the order in which they were sent");
    assert_eq!(requests[0]["what"], "robots");
    assert_eq!(requests[0]["under"], "robots.txt itself needs no leave");
    for line in &requests {
        assert!(line["outcome"].as_str().unwrap().starts_with("answered "), "{line}");
        assert!(line["bytes"].as_u64().unwrap() > 0 && line["took_ms"].is_u64(), "{line}");
    }
    let events: BTreeSet<&str> = lines.iter().map(|line| line["what"].as_str().unwrap()).collect();
    assert!(events.contains("cycle"), "{events:?}");

    // In pages, the newest last and first: together they are the whole.
    let mut pages = Vec::new();
    let mut before: Option<u64> = None;
    loop {
        let number = before.map(|seq| seq.to_string());
        let mut words = vec!["ledger", &name, "--limit", "7"];
        words.extend(number.iter().flat_map(|number| ["--before", number]));
        let page = rig.ask(&words);
        pages.splice(0..0, page["lines"].as_array().unwrap().clone());
        match page["older_lines_with_before"].as_u64() {
            Some(seq) => before = Some(seq),
            None => break,
        }
    }
    assert_eq!(&pages, lines);
    assert_eq!(rig.ask(&["ledger", &name, "--since", "0s"])["lines"], Value::Array(Vec::new()));
    assert!(rig.ctl(&["ledger", &name]).expect_code(0).stdout.contains("robots.txt itself needs no leave"));

    let audit = rig.ask(&["audit"]);
    assert_eq!((&audit["num_violations"], &audit["num_sites"]), (&0.into(), &3.into()), "{audit:#}");
    assert_eq!(audit["num_requests"].as_u64().unwrap(), rig.web().log().entries().len() as u64);
    let of_one = rig.ask(&["audit", "--site", &name]);
    assert_eq!((&of_one["num_violations"], of_one["num_requests"].as_u64().unwrap()), (&0.into(), seen.len() as u64));
    let shown = rig.ctl(&["audit"]).expect_code(0).stdout;
    assert!(shown.contains("requests of 3 sites checked, 0 violations"), "{shown}");
    end(&rig, &mut node);
    rig.dump(&["audit", "--config", rig.path("config.toml").to_str().unwrap()]).expect_code(0);
    // The delay of the public web is longer than the one that was in force; that is said, and makes no violation.
    let strict = rig.dump(&["audit"]).expect_code(0);
    assert!(!strict.stdout.contains("too_soon") && strict.stderr.contains("politeness.min_delay"), "{strict:#?}");
}

#[test]
fn settings_that_were_tightened_since_make_no_violation_and_are_named() {
    let mut rig = rig(4, 2);
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    node.wait_until("all sites are finished", || all_finished(&rig, 2));
    assert_eq!(rig.ask(&["audit"])["not_judged_by_todays_settings"], Value::Array(Vec::new()));
    end(&rig, &mut node);
    rig.change_config(|config| {
        config.politeness.min_delay *= 100;
        config.budget.page_requests = 1;
    });
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    let audit = rig.ask(&["audit"]);
    assert_eq!((&audit["num_violations"], &audit["num_gaps"]), (&0.into(), &0.into()), "{audit:#}");
    let notes = audit["not_judged_by_todays_settings"].to_string();
    assert!(notes.contains("politeness.min_delay") && notes.contains("budget.page_requests"), "{notes}");
    end(&rig, &mut node);
    let dumped = rig.dump(&["audit", "--config", rig.path("config.toml").to_str().unwrap()]).expect_code(0);
    assert!(dumped.stderr.contains("budget.page_requests"), "{dumped:#?}");
}

#[test]
fn audit_of_a_damaged_or_lost_ledger_says_that_it_is_incomplete() {
    let rig = rig(5, 1);
    let mut node = rig.node_with_seeds(&["--until-idle"]);
    node.expect_end(0);
    let folder = rig.data_dir().join("ledger");
    let segments = || {
        let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "log")).collect::<Vec<_>>()
    };
    let segment = segments().remove(0);
    rig.dump(&["audit"]).expect_code(0);
    let sound = std::fs::read(&segment).unwrap();
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    for (bytes, word) in
        [(&bytes[..], "is damaged at byte"), (&sound[..sound.len() / 2], "lost its end"), (b"", "header")]
    {
        std::fs::write(&segment, bytes).unwrap();
        let ran = rig.dump(&["--format", "jsonl", "audit"]).expect_code(1);
        assert!(ran.stdout.contains("\"ledger_incomplete\"") && ran.stdout.contains(word), "{word}: {ran:#?}");
        assert!(ran.stderr.contains("0 violations; the ledger is incomplete, at "), "{word}: {ran:#?}");
    }
    std::fs::remove_file(&segment).unwrap();
    assert!(rig.dump(&["audit"]).expect_code(1).stderr.contains("the ledger is incomplete"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(rig.dump(&["audit"]).expect_code(1).stderr.contains("the ledger is incomplete"));
}

#[test]
fn watcher_hears_of_each_request_and_each_record_and_of_what_the_operator_does() {
    let rig = rig(2, 2);
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (client, to) = (ControlClient::connect(&rig.socket()).unwrap(), heard.clone());
    let watcher = std::thread::spawn(move || {
        client.stream(&Command::Watch { site: None }, |event| {
            to.lock().unwrap().push(event);
            ControlFlow::Continue(())
        })
    });
    let out = rig.web().sites().sites()[1].name.clone();
    // Seeds come once the watcher is there: it hears of the exclusion of a name that nobody has.
    node.wait_until("the watcher is there", || {
        rig.ask(&["exclude", "nobody.example"]);
        !heard.lock().unwrap().is_empty()
    });
    let seeds = rig.web().seeds();
    rig.ask(&["seed", &seeds[0], &seeds[1]]);
    node.wait_until("all sites are finished", || all_finished(&rig, 2));
    rig.ask(&["exclude", &out]);
    let num_pages = export(&rig, None).0.len();
    end(&rig, &mut node);
    assert!(matches!(watcher.join().unwrap(), Ok(StreamEnd::Whole(Err(_)))));
    let heard = heard.lock().unwrap();
    let of = |kind: &str| heard.iter().filter(|event| event["event"] == kind).count();
    let num_requests = rig.web().log().entries().len();
    assert_eq!((of("ticket"), of("answer")), (num_requests, num_requests));
    assert_eq!((of("site_found"), of("cycle_start"), of("cycle_end")), (2, 2, 2));
    assert_eq!(of("missed"), 0);
    assert!(of("exclusion") >= 2, "{heard:#?}");
    let stored: BTreeSet<&str> =
        heard.iter().filter(|event| event["event"] == "stored").map(|event| event["url"].as_str().unwrap()).collect();
    let kept = stored.iter().filter(|url| !url.contains(&out)).count();
    assert!(
        kept == num_pages && kept > 5 && stored.len() > kept,
        "{kept} of {} stored, {num_pages} left",
        stored.len()
    );
}

#[test]
fn streams_tell_all_of_it_once_and_stop_for_an_exclusion() {
    let rig = rig(3, 24);
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_start(&mut node);
    let slow_watcher = slow_stream(&rig, "watch");
    node.wait_until("all sites are finished", || all_finished(&rig, 24));
    let (records, last) = export(&rig, None);
    let urls: BTreeSet<&str> = records.iter().map(|record| record["url"].as_str().unwrap()).collect();
    assert_eq!((urls.len(), last["num_records"].as_u64()), (records.len(), Some(records.len() as u64)));
    let num_stored = rig.ask(&["status"])["stored"]["num_pages"].as_u64().unwrap();
    assert_eq!(records.len() as u64, num_stored);
    let name = &rig.web().sites().sites()[0].name;
    let (of_site, _) = export(&rig, Some(name));
    assert!(!of_site.is_empty() && of_site.iter().all(|record| record["site"] == **name));
    let shown = rig.ctl(&["export", "--site", name]).expect_code(0).stdout;
    assert_eq!(shown.lines().count(), of_site.len() + 1);

    // A reader that takes nothing: the export stands, far from its end, when everything is excluded.
    let num_bytes: usize = records.iter().map(|record| record.to_string().len()).sum();
    assert!(num_bytes > 300 << 10, "{num_bytes} bytes would fit into the socket");
    let mut reader = slow_stream(&rig, "export");
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    rig.ask(&["exclude", "test", "--reason", "all of it"]);
    let mut num_lines = 1;
    let mut is_whole = false;
    for line in reader.lines() {
        // What was cut is no line.
        let Ok(line) = serde_json::from_str::<Value>(&line.unwrap()) else { break };
        is_whole = line["ok"] == true;
        num_lines += usize::from(!is_whole);
    }
    assert!(num_lines < records.len(), "{num_lines} of {} came, whole: {is_whole}", records.len());
    assert_eq!(export(&rig, None).0.len(), 0);

    // What the socket had taken before is all that the watcher hears of them; what waited for it in the node is not told any more.
    let mut num_told = 0;
    for line in slow_watcher.lines() {
        let Ok(line) = serde_json::from_str::<Value>(&line.unwrap()) else { break };
        if line["event"]["event"] == "exclusion" {
            break;
        }
        num_told += 1;
    }
    let num_requests = rig.web().log().entries().len();
    assert!(num_told > 0 && num_told < num_requests, "{num_told} events of {num_requests} requests");
    end(&rig, &mut node);
}

/// A stream of which nothing is read yet.
fn slow_stream(rig: &Rig, command: &str) -> BufReader<UnixStream> {
    let mut stream = UnixStream::connect(rig.socket()).unwrap();
    stream.write_all(format!("{{\"v\":1,\"id\":1,\"command\":\"{command}\"}}\n").as_bytes()).unwrap();
    BufReader::new(stream)
}
