//! `extract`, `robots` and `check`: what they say of small files, and their exit codes.

use std::path::PathBuf;

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

const ROBOTS: &str =
    "# rules\nUser-agent: *\nDisallow: /\n\nUser-agent: LohiSoftBot\nDisallow: /private/\nAllow: /private/open\n";

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
fn extract_says_that_a_noindex_page_is_not_kept() {
    let page = SmallFile::new(PAGE);
    let ran = page.run("extract", &["--url", "http://a.test/", "--header", "X-Robots-Tag: noindex"]).expect_code(0);
    assert_eq!((&ran.json()["kept"], &ran.json()["record"]), (&false.into(), &serde_json::Value::Null));
    let ran = page.run("extract", &["--url", "http://a.test/", "--header", "X-Robots-Tag: otherbot: noindex"]);
    assert_eq!(ran.expect_code(0).json()["kept"], true);
}

#[test]
fn extract_of_what_cannot_be_read_is_one_clear_line() {
    let args = ["extract", "/nonexistent/page.html", "--url", "http://a.test/"];
    run_binary(node_binary(), args).expect_one_clear_line(&["/nonexistent/page.html"]);
    let ran = SmallFile::new(PAGE).run("extract", &["--url", "ftp://a.test/"]).expect_code(2);
    assert!(ran.stderr.contains("neither http nor https"), "{}", ran.stderr);
}

#[test]
fn robots_names_the_line_that_decides() {
    #[track_caller]
    fn check(url: &str, more: &[&str], verdict: &str, line: &str) {
        let ran = SmallFile::new(ROBOTS).run("robots", &[&["--url", url], more].concat()).expect_code(0);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(lines[..2], [&format!("{verdict}: {url}"), line], "{}", ran.stdout);
    }
    check("http://a.test/private/x", &[], "forbidden", "line 6: Disallow: /private/");
    check("http://a.test/private/open/x", &[], "allowed", "line 7: Allow: /private/open");
    check("http://a.test/x", &[], "allowed", "no line of the file matches this URL");
    check("http://a.test/x", &["--agent", "OtherBot"], "forbidden", "line 3: Disallow: /");
}

#[test]
fn robots_answers_machines_with_one_line() {
    let ran = SmallFile::new(ROBOTS).run("robots", &["--url", "http://a.test/private/x", "--json"]).expect_code(0);
    assert_eq!(ran.stdout.lines().count(), 1);
    assert_eq!((&ran.json()["allowed"], &ran.json()["line"]), (&false.into(), &6.into()));
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
