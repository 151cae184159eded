//! `lohisoftbot-ctl` against a running node, and how a node ends: answers, exit codes, and what the web sees of `pause`.

use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::{Config, LogLevel};
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

/// Words of a start that had something to mend.
const WORDS_OF_MENDING: [&str; 3] = ["cut off", "caught up", "untidy"];

fn rig(number: u8, num_sites: usize, adjust: impl FnOnce(&mut Config)) -> Rig {
    let base_address = [127, 77, number, 0].into();
    Rig::start(PracticePlan { base_address, ..PracticePlan::small(77 + u64::from(number), num_sites) }, adjust)
}

#[test]
fn every_question_is_answered_for_people_and_for_machines() {
    let rig = rig(1, 4, |_| {});
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_log("a crawl in full swing", |entries| entries.len() >= 30);
    let status = rig.ask(&["status"]);
    assert_eq!(status["state"], "running");
    assert!(status["since_start"]["num_page_requests"].as_u64().unwrap() > 0, "{status}");
    assert_eq!(rig.ask(&["sites"])["sites"].as_array().unwrap().len(), 4);
    let home = rig.web().seeds().remove(0);
    let name = rig.web().sites().sites()[0].name.clone();
    node.wait_until("the first site is finished", || {
        rig.ask(&["site", &name])["standing"].as_str().unwrap().starts_with("finished")
    });
    let site = rig.ask(&["site", &home]);
    assert_eq!(site["site"], name.as_str(), "a URL names its site");
    assert!(site["robots"].as_array().unwrap().len() == 1 && !site["pages"].as_array().unwrap().is_empty(), "{site}");

    // One that the crawl has taken, one that its robots.txt forbids, one that nothing leads to.
    let explained = rig.ask(&["explain", &home]);
    assert_eq!((&explained["reason"], &explained["stored"]), (&"stored".into(), &true.into()));
    assert_eq!(explained["requests"].as_array().unwrap().len(), 1, "{explained}");
    let explained = rig.ask(&["explain", &format!("{home}private/ledger")]);
    assert_eq!(explained["reason"], "robots_line");
    assert!(explained["summary"].as_str().unwrap().contains("Disallow: /private"), "{explained}");
    assert!(explained["robots"].as_str().unwrap().contains("Disallow: /private"), "{explained}");
    assert_eq!(explained["requests"], Value::Array(Vec::new()));
    let explained = rig.ask(&["explain", &format!("{home}never/linked")]);
    assert_eq!(explained["reason"], "not_linked");
    assert!(explained["summary"].as_str().unwrap().contains("no link that may be followed"), "{explained}");

    // For people the same stands in lines, without JSON.
    for words in [&["status"][..], &["sites"], &["site", &name], &["explain", &home], &["exclusions"]] {
        let ran = rig.ctl(words).expect_code(0);
        assert!(!ran.stdout.starts_with('{') && ran.stderr.is_empty(), "{words:?}: {ran:#?}");
    }
    assert!(rig.ctl(&["sites"]).stdout.contains(&name));
    assert_eq!(rig.ask(&["shutdown"])["stopping"], true);
    node.expect_end(0);
}

#[test]
fn exit_code_says_whether_the_node_said_no_or_could_not_be_asked() {
    let rig = rig(2, 1, |_| {});
    let ran = rig.ctl(&["status"]).expect_code(2);
    assert!(ran.stderr.contains("no node is running") && ran.stderr.contains("--socket"), "{ran:#?}");

    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    rig.ctl(&["status"]).expect_code(0);
    // The node says no: in words, and as JSON where that is asked for.
    let ran = rig.ctl(&["site", "unknown.test"]).expect_code(1);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("unknown.test is not known"), "{ran:#?}");
    let ran = rig.ctl(&["--json", "site", "unknown.test"]).expect_code(1);
    assert_eq!(ran.json()["error"]["code"], "not_found");
    // What was typed is wrong, so the node is not asked.
    rig.ctl(&["exclude", "http://a.test/"]).expect_one_clear_line(&["not a domain name"]);
    rig.ctl(&["seed", "ftp://a.test/"]).expect_one_clear_line(&["neither http nor https"]);
    rig.ctl(&["stats"]).expect_code(2);
    node.signal(Signal::INT);
    node.expect_end(0);
}

#[test]
fn paused_node_sends_nothing_until_it_is_resumed() {
    let rig = rig(3, 5, |_| {});
    let all = rig.web().seeds();
    std::fs::write(rig.path("seeds.txt"), all[..4].join("\n")).unwrap();
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_log("a crawl in full swing", |entries| entries.len() >= 20);
    assert_eq!(rig.ask(&["pause"])["paused"], true);
    assert_eq!(rig.ask(&["status"])["state"], "paused");
    let at_pause = rig.web().log().num_requests();

    // A site that was never asked wants its robots.txt at once. When the node has taken it up, the others have had their time too.
    let newcomer = &rig.web().sites().sites()[4].name;
    assert_eq!(rig.ask(&["seed", &all[4]])["num_new_sites"], 1);
    node.wait_until("the new site is taken up", || rig.ask(&["site", newcomer])["standing"] == "live");
    for _ in 0..40 {
        rig.ask(&["site", newcomer]);
    }
    let entries = rig.web().log().entries();
    let since: Vec<&str> = entries[at_pause..].iter().map(|entry| entry.host.as_str()).collect();
    // Of each of the four, one request may have been under way.
    assert!(since.len() <= 4 && !since.iter().any(|host| host.ends_with(newcomer.as_str())), "{since:?}");
    assert!(entries.iter().all(|entry| entry.end.is_some()), "what was under way has ended");

    assert_eq!(rig.ask(&["resume"])["paused"], false);
    rig.wait_for_log("the new site's robots.txt", |entries| {
        entries.iter().any(|entry| entry.host.ends_with(newcomer.as_str()))
    });
    rig.wait_for_log("the others going on", |entries| entries.len() > at_pause + 20);
    rig.ask(&["shutdown"]);
    node.expect_end(0);
    rig.expect_no_violation();
}

#[test]
fn signal_ends_a_crawl_in_order_and_the_next_start_has_nothing_to_mend() {
    let rig = rig(4, 6, |_| {});
    let mut first = rig.node_with_seeds(&[]);
    rig.wait_for_log("a crawl in full swing", |entries| entries.len() >= 30);
    end_in_order(&rig, &mut first, Signal::TERM, "SIGTERM: ending in order");
    let after_first = rig.web().log().num_requests();

    let mut second = rig.node(&[]);
    rig.wait_for_log("the crawl going on", |entries| entries.len() >= after_first + 20);
    end_in_order(&rig, &mut second, Signal::INT, "SIGINT: ending in order");
    rig.node(&["--until-idle", "--max-wait", "3s"]).expect_end(0);

    let said = second.said();
    for word in WORDS_OF_MENDING {
        assert!(!said.contains(word), "{word}: {said}");
    }
    let report = rig.expect_no_violation();
    // Each end may have cost a site a ticket that was recorded and not sent.
    assert!(report.sites.values().filter(|site| site.num_page_requests >= 18).count() >= 4, "{report}");
}

#[test]
fn node_whose_log_cannot_be_written_crawls_on_and_ends_in_order() {
    let rig = rig(2, 8, |config| config.telemetry.level = LogLevel::Debug);
    std::os::unix::fs::symlink("/dev/full", rig.path("said.txt")).unwrap();
    let mut node = rig.node_with_seeds(&[]);
    rig.wait_for_log("a crawl in full swing", |entries| entries.len() >= 20);
    assert_eq!(rig.ask(&["status"])["state"], "running");
    node.signal(Signal::HUP);
    assert_eq!(node.wait().code(), Some(0));
    rig.dump(&["verify"]).expect_code(0);
}

/// Sends the signal in mid-crawl, and wants every site given up and no ticket left open.
#[track_caller]
fn end_in_order(rig: &Rig, node: &mut RunningNode, signal: Signal, word: &str) {
    node.signal(signal);
    node.expect_end(0);
    assert!(node.said().contains(word), "{}", node.said());
    assert!(!rig.data_dir().join("control.sock").exists());
    for site in rig.rows(&["sites"]) {
        assert_ne!(site["standing"], "live", "{site:?}");
        assert_eq!(site["open_ticket"], Value::Null, "{site:?}");
    }
    let stats = rig.rows(&["stats"]);
    let count = |what: &str| stats.iter().find(|row| row["what"] == what).unwrap()["count"].clone();
    let newest = rig.rows(&["ledger", "--limit", "1"]).remove(0);
    assert_eq!(count("ledger entries seen"), newest["seq"], "the store's checkpoint is the ledger's end");
    rig.dump(&["verify"]).expect_code(0);
}

#[test]
fn dump_refuses_a_running_node_and_names_what_to_do() {
    let rig = rig(5, 1, |_| {});
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    for command in ["pages", "ledger", "verify", "stats"] {
        rig.dump(&[command]).expect_one_clear_line(&["a running node holds", "`lohisoftbot-ctl shutdown`"]);
    }
    rig.ask(&["status"]);
    node.signal(Signal::TERM);
    node.expect_end(0);
    rig.dump(&["pages"]).expect_code(0);
}

#[test]
fn bad_line_of_the_seeds_is_named_by_its_number_and_the_others_are_crawled() {
    let rig = rig(6, 2, |_| {});
    let seeds = rig.web().seeds();
    let text = format!("# two sites\n{}\nftp://a.test/\n\n{} # the second\nno seed at all\n", seeds[0], seeds[1]);
    std::fs::write(rig.path("seeds.txt"), text).unwrap();
    let mut node = rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]);
    node.expect_end(0);
    let said = node.said();
    for words in ["line 3: \"ftp://a.test/\"", "line 6: \"no seed at all\""] {
        assert!(said.contains(&format!("seeds.txt: {words}")), "{said}");
    }
    assert!(!said.contains("line 2") && !said.contains("line 5"), "{said}");
    assert!(said.contains("idle: "), "{said}");
    let report = rig.expect_no_violation();
    assert_eq!(report.num_sites(), 2);
    assert!(report.sites.values().all(|site| site.num_page_requests == 20), "{report}");
}
