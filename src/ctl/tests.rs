//! The program as a shell sees it: exit codes, and what is on which stream.

use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixListener;

use clap::CommandFactory;
use serde_json::json;

use super::*;

struct Seen {
    code: u8,
    out: String,
    err: String,
}

fn shell(typed: &[&str]) -> Seen {
    let args = Args::try_parse_from(std::iter::once("lohisoftbot-ctl").chain(typed.iter().copied())).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&args, Surface::Plain, &mut out, &mut err);
    Seen { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

/// A node that gives one fixed answer; returns what was seen and the request that it got.
fn with_node(answer: Value, typed: &[&str]) -> (Seen, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let node = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        writeln!(&stream, "{answer}").unwrap();
        serde_json::from_str(&line).unwrap()
    });
    let socket = path.to_str().unwrap();
    let seen = shell(&[&["--socket", socket], typed].concat());
    (seen, node.join().unwrap())
}

#[test]
fn command_line_is_well_formed() {
    Args::command().debug_assert();
}

#[test]
fn answer_is_shown_and_ends_with_0() {
    let answer = json!({"v": 1, "id": 1, "ok": true, "result": {"records_removed": 3}});
    let (seen, request) = with_node(answer.clone(), &["exclude", "Example.com", "--reason", "by mail"]);
    assert_eq!((seen.code, seen.out.trim_end(), seen.err.as_str()), (0, "records removed  3", ""));
    assert_eq!(request, json!({"v": 1, "id": 1, "command": "exclude", "domain": "example.com", "reason": "by mail"}));
    let (seen, _) = with_node(answer, &["exclude", "example.com", "--json"]);
    assert_eq!((seen.code, seen.out.as_str()), (0, "{\"records_removed\":3}\n"));
}

#[test]
fn node_that_says_no_ends_with_1() {
    let answer =
        json!({"v": 1, "id": 1, "ok": false, "error": {"code": "not_found", "message": "no such \u{1b} site"}});
    let (seen, _) = with_node(answer.clone(), &["site", "a.test"]);
    assert_eq!((seen.code, seen.out.as_str()), (1, ""));
    assert_eq!(seen.err, "lohisoftbot-ctl: no such \\u{1b} site\n");
    let (seen, _) = with_node(answer, &["site", "a.test", "--json"]);
    assert_eq!(seen.code, 1);
    assert!(seen.out.starts_with("{\"error\":{\"code\":\"not_found\""), "{}", seen.out);
}

#[test]
fn audit_that_finds_anything_ends_with_1() {
    for (num_violations, num_gaps, code) in [(0, 0, 0), (1, 0, 1), (0, 1, 1)] {
        let result = json!({"num_violations": num_violations, "num_gaps": num_gaps});
        let answer = json!({"v": 1, "id": 1, "ok": true, "result": result});
        let (seen, _) = with_node(answer, &["audit"]);
        assert_eq!((seen.code, seen.err.as_str()), (code, ""));
    }
}

#[test]
fn stream_is_written_line_by_line_with_the_last_word_at_its_end() {
    let end = json!({"v": 1, "id": 1, "ok": true, "result": {"num_records": 0}});
    let (seen, request) = with_node(end, &["export"]);
    assert_eq!((seen.code, seen.out.as_str(), seen.err.as_str()), (0, "{\"num_records\":0}\n", ""));
    assert_eq!(request, json!({"v": 1, "id": 1, "command": "export", "site": null}));
}

#[test]
fn stream_that_is_cut_ends_with_2_and_says_so() {
    let event = json!({"v": 1, "id": 1, "event": {"url": "https://a.test/"}});
    let (seen, _) = with_node(event, &["export"]);
    assert_eq!((seen.code, seen.out.as_str()), (2, "{\"url\":\"https://a.test/\"}\n"));
    assert!(seen.err.contains("the stream was cut"), "{}", seen.err);
}

#[test]
fn node_that_is_not_there_ends_with_2() {
    let seen = shell(&["--socket", "/nonexistent/control.sock", "status"]);
    assert_eq!((seen.code, seen.out.as_str()), (2, ""));
    assert!(seen.err.contains("no node is running") && seen.err.lines().count() == 1, "{}", seen.err);
    let (seen, _) = with_node(json!("not the protocol"), &["status"]);
    assert_eq!(seen.code, 2);
}

#[test]
fn argument_that_cannot_be_asked_ends_with_2_before_any_node_is_asked() {
    for typed in [&["exclude", "https://a.test/"][..], &["seed", "ftp://a.test/"], &["explain", "a b"], &["site", "::"]]
    {
        let seen = shell(&[&["--socket", "/nonexistent/control.sock"], typed].concat());
        assert_eq!(seen.code, 2);
        assert!(!seen.err.contains("no node"), "{}", seen.err);
    }
}

#[test]
fn socket_comes_from_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[control]\nsocket = \"/nonexistent/of-config.sock\"\n").unwrap();
    let seen = shell(&["--config", config.to_str().unwrap(), "status"]);
    assert!(seen.code == 2 && seen.err.contains("/nonexistent/of-config.sock"), "{}", seen.err);
    let seen = shell(&["--config", "/nonexistent/config.toml", "status"]);
    assert!(seen.code == 2 && seen.err.contains("/nonexistent/config.toml"), "{}", seen.err);
}

#[test]
fn every_subcommand_asks_the_command_of_its_name() {
    for (typed, extra) in [
        ("status", &[][..]),
        ("seed", &["a.test", "http://b.test/"]),
        ("site", &["www.a.test"]),
        ("sites", &["--state", "parked", "--after", "a.test", "--limit", "5"]),
        ("explain", &["a.test/x"]),
        ("ledger", &["a.test", "--limit", "5", "--since", "7d", "--before", "9"]),
        ("audit", &["--site", "a.test"]),
        ("watch", &[]),
        ("export", &["--site", "a.test"]),
        ("exclude", &["a.test"]),
        ("include", &["a.test"]),
        ("exclusions", &[]),
        ("recrawl", &["www.a.test"]),
        ("pause", &[]),
        ("resume", &[]),
        ("shutdown", &[]),
    ] {
        let args = Args::try_parse_from([&["lohisoftbot-ctl", typed], extra].concat()).unwrap();
        assert_eq!(args.question.to_command().unwrap().name(), typed);
    }
}
