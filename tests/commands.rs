//! `extract`, `robots` and `check`: what they say of small files, and their exit codes.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Ran, node_binary, run_binary};

/// A file in a folder of its own.
struct SmallFile {
    _dir: TempDir,
    path: PathBuf,
}

impl SmallFile {
    fn new(text: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, text).unwrap();
        Self { _dir: dir, path }
    }

    /// Runs `lohisoftbot COMMAND FILE ARGS`.
    fn run(&self, command: &str, args: &[&str]) -> Ran {
        let words = [command, self.path.to_str().unwrap()];
        run_binary(node_binary(), words.iter().chain(args))
    }
}

const PAGE: &str = "<!DOCTYPE html><html lang=ro><title> Știri\n de azi </title>\
    <meta name=description content='Ce e nou'><h1>Azi</h1><p>Cuvinte de pe pagina <a href=/x>mai mult</a> \
    <a rel=nofollow href='http://b.test/'>altul</a><h2>Ieri</h2>";

#[test]
fn extract_shows_what_would_be_kept_and_no_text_of_the_page() {
    let ran = SmallFile::new(PAGE).run("extract", &["--url", "http://a.test/dir/page"]).expect_code(0);
    let shown = ran.json();
    assert_eq!(shown["kept"], true);
    let record = &shown["record"];
    assert_eq!(record["title"], "Știri de azi");
    assert_eq!(record["description"], "Ce e nou");
    assert_eq!(record["lang"], "ro");
    let headings: Vec<&str> =
        record["headings"].as_array().unwrap().iter().map(|h| h["text"].as_str().unwrap()).collect();
    assert_eq!(headings, ["Azi", "Ieri"]);
    let links = shown["links"].as_array().unwrap();
    let pairs: Vec<_> =
        links.iter().map(|l| (l["target"].as_str().unwrap(), l["nofollow"].as_bool().unwrap())).collect();
    assert_eq!(pairs, [("http://a.test/x", false), ("http://b.test/", true)]);
    assert!(!ran.stdout.contains("Cuvinte"), "{}", ran.stdout);
}

#[test]
fn extract_keeps_nothing_of_a_page_whose_header_forbids_it_in_any_form() {
    #[track_caller]
    fn check(headers: &[&str], kept: bool) {
        let options: Vec<&str> = headers.iter().flat_map(|header| ["--header", header]).collect();
        let ran =
            SmallFile::new(PAGE).run("extract", &[&["--url", "http://a.test/"][..], &options].concat()).expect_code(0);
        let shown = ran.json();
        assert_eq!((&shown["kept"], shown["record"].is_null()), (&kept.into(), !kept), "{headers:?}");
        assert_eq!(shown["why_not"].is_null(), kept, "{headers:?}");
    }
    check(&["X-Robots-Tag: noindex"], false);
    check(&["x-robots-tag: LOHISOFTBOT: NONE"], false);
    check(&["X-Robots-Tag: otherbot: nofollow", "X-Robots-Tag: noindex"], false);
    check(&["X-Robots-Tag: unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow"], false);
    check(&["Robots-Tag: *;noindex, otherbot;"], false);
    check(&["Robots-Tag: lohisoftbot=(noindex)"], false);
    check(&["Content-Usage: train-ai=y, search=n"], false);
    check(&["X-Robots-Tag: otherbot: noindex"], true);
    check(&["Robots-Tag: otherbot;noindex"], true);
    check(&["Content-Usage: train-ai=n"], true);
    check(&["X-Robots-Tag: unavailable_after: 25 Jun 2199 15:00:00 GMT"], true);
}

#[test]
fn extract_keeps_no_description_where_a_snippet_is_forbidden() {
    for header in [
        "X-Robots-Tag: nosnippet",
        "X-Robots-Tag: max-snippet:0",
        "Robots-Tag: *;nosnippet",
        "Robots-Tag: *;max-snippet=0",
    ] {
        let ran = SmallFile::new(PAGE).run("extract", &["--url", "http://a.test/", "--header", header]).expect_code(0);
        assert_eq!(ran.json()["record"]["description"], Value::Null, "{header}");
        assert!(!ran.stdout.contains("Ce e nou"), "{header}: {}", ran.stdout);
    }
}

#[test]
fn extract_names_the_barrier_it_saw() {
    let form = "<title>Members</title><form><input name=user><input type=password name=pass></form>";
    for (html, header, barrier) in [
        (form, "X-Test: 1", "PasswordForm"),
        (PAGE, "CF-Mitigated: challenge", "Challenge"),
        ("<div id=anubis_challenge></div>", "X-Test: 1", "Challenge"),
    ] {
        let ran = SmallFile::new(html).run("extract", &["--url", "http://a.test/x", "--header", header]).expect_code(0);
        let said = ran.json();
        assert_eq!((said["barrier"].as_str(), said["kept"].as_bool()), (Some(barrier), Some(false)), "{html}");
        assert!(said["record"].is_null() && said["links"].as_array().is_some_and(Vec::is_empty), "{}", ran.stdout);
    }
    let ran = SmallFile::new(PAGE).run("extract", &["--url", "http://a.test/x"]).expect_code(0);
    let said = ran.json();
    assert!(said["barrier"].is_null() && said["kept"] == true, "{}", ran.stdout);
}

#[test]
fn extract_of_what_cannot_be_read_is_one_clear_line() {
    let args = ["extract", "/nonexistent/page.html", "--url", "http://a.test/"];
    run_binary(node_binary(), args).expect_one_clear_line(&["/nonexistent/page.html"]);
    let ran = SmallFile::new(PAGE).run("extract", &["--url", "ftp://a.test/"]).expect_code(2);
    assert!(ran.stderr.contains("neither http nor https"), "{}", ran.stderr);
}

/// Every way in which a robots.txt can decide.
const EVERY_VERDICT: &str = "# rules\nUser-agent: *\nDisallow: /\n\nUser-agent: LohiSoftBot\nDisallow: /private/\n\
    Allow: /private/open\nContent-Usage: /quiet/ search=n\n\nUser-agent: EmptyBot\nDisallow:\n";

#[test]
fn robots_names_the_line_that_decides_in_every_case() {
    #[track_caller]
    fn check(file: &str, path: &str, agent: &str, verdict: &str, wanted: &[&str]) {
        let url = format!("http://a.test{path}");
        let ran = SmallFile::new(file).run("robots", &["--url", &url, "--agent", agent]).expect_code(0);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(lines[0], format!("{verdict}: {url}"), "{}", ran.stdout);
        assert_eq!(lines.len(), wanted.len() + 1, "{}", ran.stdout);
        for (line, wanted) in lines[1..].iter().zip(wanted) {
            assert!(line.contains(wanted), "{wanted:?} in {}", ran.stdout);
        }
    }
    let ours = "group: LohiSoftBot, from line 5 on";
    check(
        EVERY_VERDICT,
        "/private/x",
        "LohiSoftBot",
        "forbidden",
        &["line 6: Disallow: /private/", "most specific", ours],
    );
    check(
        EVERY_VERDICT,
        "/private/open/x",
        "lohisoftbot",
        "allowed",
        &["line 7: Allow: /private/open", "most specific", ours],
    );
    check(
        EVERY_VERDICT,
        "/quiet/x",
        "LohiSoftBot",
        "forbidden",
        &["line 8: Content-Usage: /quiet/ search=n", "search may not", ours],
    );
    check(EVERY_VERDICT, "/x", "LohiSoftBot", "allowed", &["no line of the group matches", ours]);
    check(EVERY_VERDICT, "/robots.txt", "LohiSoftBot", "allowed", &["robots.txt itself", ours]);
    check(
        EVERY_VERDICT,
        "/x",
        "OtherBot",
        "forbidden",
        &["line 3: Disallow: /", "most specific", "group: *, from line 2 on"],
    );
    check(
        EVERY_VERDICT,
        "/x",
        "EmptyBot",
        "allowed",
        &["line 11: Disallow:", "without a value", "group: EmptyBot, from line 10 on"],
    );
    check(
        "User-agent: x\nDisallow: /\n",
        "/x",
        "LohiSoftBot",
        "allowed",
        &["no group of the file", "group: none binds LohiSoftBot"],
    );
    check("", "/x", "LohiSoftBot", "allowed", &["no group of the file", "group: none binds LohiSoftBot"]);
}

#[test]
fn robots_answers_machines_with_one_line() {
    #[track_caller]
    fn check(path: &str, wanted: Value) {
        let url = format!("http://a.test{path}");
        let ran = SmallFile::new(EVERY_VERDICT).run("robots", &["--url", &url, "--json"]).expect_code(0);
        assert_eq!(ran.stdout.lines().count(), 1);
        assert_eq!(ran.json(), wanted, "{path}");
    }
    let of = |allowed: bool, line: Option<u32>, text: Option<&str>, decided_by: &str| json!({"allowed": allowed, "line": line, "text": text, "group": "LohiSoftBot", "group_line": 5, "decided_by": decided_by});
    check("/private/x", of(false, Some(6), Some("Disallow: /private/"), "disallow_line"));
    check("/private/open", of(true, Some(7), Some("Allow: /private/open"), "allow_line"));
    check("/quiet/x", of(false, Some(8), Some("Content-Usage: /quiet/ search=n"), "content_usage_line"));
    check("/x", of(true, None, None, "no_match"));
    check("/robots.txt", of(true, None, None, "robots_file"));
    let args = ["robots", "/nonexistent/robots.txt", "--url", "http://a.test/"];
    run_binary(node_binary(), args).expect_one_clear_line(&["/nonexistent/robots.txt"]);
}

#[test]
fn check_names_every_key_that_was_set_and_what_to_do() {
    let config = SmallFile::new("[politeness]\nmin_delay = \"10s\"\n");
    let ran = run_binary(node_binary(), ["check", "--config", config.path.to_str().unwrap()]);
    assert!(ran.stdout.contains("min_delay") && ran.stdout.contains("10s"), "{ran:#?}");
    assert!(ran.stdout.contains("identity"), "{ran:#?}");
    // A machine that holds the published address has nothing to complain of.
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:#?}");
    let bad = SmallFile::new("[politeness]\nmin_dealy = \"10s\"\n");
    let ran = run_binary(node_binary(), ["check", "--config", bad.path.to_str().unwrap()]);
    ran.expect_one_clear_line(&["min_dealy", "min_delay"]);
}
