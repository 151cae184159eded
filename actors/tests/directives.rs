//! What a page asks of robots, obeyed by a whole node: seen in its store, and in the requests that the other side got.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::node::{TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::web::ScriptedAnswer;
use lohisoftbot_core::response::ResponseHead;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
/// When the site is due again and has been crawled.
const NEXT_CYCLE: Duration = Duration::from_secs(86_400 + 600);

async fn start() -> TestNode {
    let mut settings = TestSettings::default();
    settings.rules.recrawl_interval = DAY;
    TestNode::start(&TestDisk::new(), settings).await
}

/// A page with these header fields, and this in its head element.
fn page(fields: &[(&str, &str)], in_head: &str) -> ScriptedAnswer {
    let head = ResponseHead::new(200).with("content-type", "text/html");
    let head = fields.iter().fold(head, |head, (name, value)| head.with(name, value));
    ScriptedAnswer::answer(head, &format!("<!doctype html><title>A page</title>{in_head}<p>text"))
}

/// A page that is stored in one cycle and says this in the next.
#[track_caller]
fn check_turned(fields: &[(&str, &str)], in_head: &str, wanted: Wanted) {
    let caller = format!("{fields:?} {in_head:?}");
    run_paused(async {
        let node = start().await;
        node.web.on("http://a.test/", [page(&[], ""), page(fields, in_head)]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"], "before: {caller}");
        tokio::time::sleep(NEXT_CYCLE).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/"], "{caller}");
        let stored = node.stored_pages("a.test").await;
        assert_eq!(stored.is_empty(), wanted == Wanted::Gone, "{caller}: {stored:?}");
        node.stop().await;
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Gone,
    Kept,
}

#[test]
fn a_stored_page_that_turns_noindex_by_meta_gives_its_record_up() {
    for in_head in [
        "<meta name=robots content=noindex>",
        "<META NAME=ROBOTS CONTENT='NOINDEX,FOLLOW'>",
        "<meta name=robots content=index><meta name=robots content=none>",
        "<meta name=LohiSoftBot content=noindex>",
        "<meta name=robots content='unavailable_after: 25-Jun-2010 15:00:00 EST'>",
    ] {
        check_turned(&[], in_head, Wanted::Gone);
    }
}

#[test]
fn a_stored_page_that_turns_noindex_by_header_gives_its_record_up() {
    for fields in [
        &[("X-Robots-Tag", "noindex")][..],
        &[("X-Robots-Tag", "otherbot: nofollow"), ("X-Robots-Tag", "lohisoftbot: none")],
        &[("X-Robots-Tag", "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT")],
        &[("Robots-Tag", "*;noindex")],
        &[("Robots-Tag", "otherbot;, lohisoftbot;noindex")],
        &[("Content-Usage", "search=n")],
        &[("Content-Usage", "train-ai=y"), ("Content-Usage", "search=n")],
    ] {
        check_turned(fields, "", Wanted::Gone);
    }
}

#[test]
fn a_stored_page_that_forbids_other_robots_or_other_uses_stays() {
    for fields in [
        &[("X-Robots-Tag", "otherbot: noindex")][..],
        &[("Robots-Tag", "otherbot;noindex")],
        &[("Content-Usage", "train-ai=n, search=y")],
        &[("X-Robots-Tag", "unavailable_after: 25 Jun 2199 15:00:00 GMT")],
    ] {
        check_turned(fields, "<meta name=otherbot content=noindex>", Wanted::Kept);
    }
}

#[test]
fn links_of_a_page_that_says_nofollow_in_any_form_are_not_asked() {
    for (fields, in_head) in [
        (&[][..], "<meta name=robots content=nofollow>"),
        (&[("X-Robots-Tag", "LOHISOFTBOT: nofollow")], ""),
        (&[("Robots-Tag", "*;nofollow")], ""),
    ] {
        run_paused(async {
            let node = start().await;
            node.web.on("http://a.test/", [page(fields, &format!("{in_head}<a href=/x>x</a>"))]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MINUTE).await;
            assert_eq!(node.web.pages_asked("a.test"), ["/"], "{fields:?} {in_head:?}");
            assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
            node.stop().await;
        });
    }
}

#[test]
fn links_marked_as_not_to_be_followed_are_not_asked() {
    run_paused(async {
        let node = start().await;
        let rels = ["nofollow", "NOFOLLOW", "ugc", "Sponsored", "noopener nofollow", "external,UGC", "me\tsponsored"];
        let mut links: String =
            rels.iter().enumerate().map(|(number, rel)| format!("<a rel='{rel}' href=/not/{number}>x</a>")).collect();
        links += "<a rel='noopener noreferrer' href=/yes>x</a><a rel=nofollows href=/yes-too>x</a>";
        node.web.on("http://a.test/", [page(&[], &links)]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        let mut asked = node.web.pages_asked("a.test");
        asked.sort();
        assert_eq!(asked, ["/", "/yes", "/yes-too"]);
        node.stop().await;
    });
}
