//! Whom a node may crawl: public addresses only with an identity of its own, others only where the configuration opens them.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use lohisoftbot::check::holds_address;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::Config;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Rig, RunningNode, node_binary, run_binary};

/// Belongs to somebody on the public Internet; no test may reach it.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);

#[test]
fn shipped_configuration_refuses_to_crawl_for_another_identity_and_says_what_to_set() {
    let published = *Config::default().identity.addresses.first_key_value().unwrap().0;
    if holds_address(published) {
        // The operator's own machine: there, this configuration is no stranger's.
        return;
    }
    let dir = TempDir::new().unwrap();
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("config.toml"), dir.path().join("config.toml")).unwrap();
    std::fs::write(dir.path().join("seeds.txt"), format!("http://{PUBLIC}/\n")).unwrap();
    let mut command = node_binary();
    command.current_dir(dir.path());
    let ran = run_binary(command, ["run", "--seeds", "seeds.txt", "--until-idle"]);
    let published = published.to_string();
    ran.expect_one_clear_line(&[&published, "[identity]", "contact", "addresses", "enforce = false"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "something was made");

    let mut command = node_binary();
    command.current_dir(dir.path());
    let ran = run_binary(command, ["check"]).expect_code(1);
    assert!(ran.stdout.contains("problem") && ran.stdout.contains(&published), "{ran:#?}");
}

#[test]
fn address_that_is_not_open_is_never_dialled_and_its_site_says_so() {
    // On the loopback, but outside the range that is opened: here the other side can be watched.
    let watched = TcpListener::bind((Ipv4Addr::new(127, 79, 0, 1), 0)).unwrap();
    watched.set_nonblocking(true).unwrap();
    let port = watched.local_addr().unwrap().port();
    let plan = PracticePlan { base_address: [127, 78, 0, 0].into(), ..PracticePlan::small(78, 1) };
    let closed = [
        ("public.test", PUBLIC),
        ("private.test", Ipv4Addr::new(10, 0, 0, 1)),
        ("metadata.test", Ipv4Addr::new(169, 254, 169, 254)),
        ("watched.test", Ipv4Addr::new(127, 79, 0, 1)),
    ];
    let rig = Rig::start(plan, |config| {
        config.network.allow_ranges = vec!["127.78.0.0/16".parse().unwrap()];
        for (name, address) in closed {
            config.network.resolve.insert(name.parse().unwrap(), address);
        }
    });
    let mut seeds = rig.web().seeds();
    seeds.extend(closed.map(|(name, _)| format!("http://{name}:{port}/")));
    seeds.extend([format!("http://{PUBLIC}/"), format!("http://127.79.0.1:{port}/"), "http://2130706433/".to_owned()]);
    std::fs::write(rig.path("seeds.txt"), seeds.join("\n")).unwrap();
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);

    assert_eq!(watched.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a closed address was dialled");
    let (sites, own) = (rig.rows(&["sites"]), rig.web().sites().sites()[0].name.clone());
    assert_eq!(sites.len(), seeds.len());
    for site in sites.iter().filter(|site| site["site"] != own.as_str()) {
        let name = site["site"].as_str().unwrap();
        assert_eq!((&site["standing"], &site["reason"]), (&"finished".into(), &"AddressRefused".into()), "{site:?}");
        assert_eq!(rig.rows(&["ledger", "--kind", "ticket", "--site", name]).len(), 0, "{name} got a ticket");
        let why = rig.rows(&["frontier", "--site", name]).remove(0)["reason"].clone();
        assert!(why.as_str().unwrap().contains("never dialled"), "{name}: {why}");
    }
    let crawled = sites.iter().find(|site| site["site"] == own.as_str()).unwrap();
    assert_eq!(crawled["page_requests"], Value::from(20));
    rig.expect_no_violation();
}

#[test]
fn demo_crawls_sixty_sites_and_ends_with_the_verdict() {
    let dir = TempDir::new().unwrap();
    let args = ["demo", "--until-idle", "--sites", "60"];
    let mut demo = RunningNode::start(args, &dir.path().join("said.txt"), dir.path());
    demo.expect_end(0);
    let shown = demo.shown();
    let last = shown.trim_end().lines().next_back().unwrap();
    assert!(last.starts_with("0 violations on ") && last.ends_with(" requests"), "{shown}");
    let figure = |name: &str| {
        let line = shown.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(figure("sites"), 60, "{shown}");
    assert!(figure("pages kept") >= 600 && figure("waits honoured") > 0, "{shown}");
    assert_eq!(shown.matches("    headings     h1 ").count(), 3, "three records are shown: {shown}");
    // The node has ended: what can be looked at is its store.
    assert!(shown.contains("lohisoftbot-dump -- --store") && !shown.contains("lohisoftbot-ctl"), "{shown}");
}
