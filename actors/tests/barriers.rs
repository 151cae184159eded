//! Barriers in the body of a page, met by a whole node: seen in its store, and in the requests that the other side got.

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

const CHALLENGE: &str = "<script id=anubis_challenge type=application/json>{}</script><a href=/behind>x</a>";
const FORM: &str = "<form><input name=user><input type=password name=pass></form><a href=/behind>x</a>";
const PAYWALL: &str = "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"isAccessibleForFree\":false}</script>\
                       <a href=/behind>x</a>";
const BARRIERS: [&str; 3] = [CHALLENGE, FORM, PAYWALL];

async fn start() -> TestNode {
    let mut settings = TestSettings::default();
    settings.rules.recrawl_interval = DAY;
    TestNode::start(&TestDisk::new(), settings).await
}

fn page(html: &str) -> ScriptedAnswer {
    let head = ResponseHead::new(200).with("content-type", "text/html");
    ScriptedAnswer::answer(head, &format!("<!doctype html><title>A page</title>{html}<p>text"))
}

#[test]
fn barrier_is_not_stored_and_its_links_are_not_followed() {
    for barrier in BARRIERS {
        run_paused(async {
            let node = start().await;
            node.web.on("http://a.test/", [page("<a href=/members>x</a><a href=/open>x</a>")]);
            node.web.on("http://a.test/members", [page(barrier)]);
            node.web.on("http://a.test/open", [page("")]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MINUTE).await;
            let mut asked = node.web.pages_asked("a.test");
            asked.sort();
            assert_eq!(asked, ["/", "/members", "/open"], "{barrier}");
            assert_eq!(node.stored_pages("a.test").await, ["http://a.test/", "http://a.test/open"], "{barrier}");
            node.stop().await;
        });
    }
}

#[test]
fn barrier_on_the_home_page_is_the_last_that_the_site_hears_for_seven_days() {
    for barrier in BARRIERS {
        run_paused(async {
            let node = start().await;
            node.web.on("http://a.test/", [page(barrier)]);
            node.web.on("http://a.test/other", [page("")]);
            node.seed(&["http://a.test/", "http://a.test/other"]).await;
            tokio::time::sleep(6 * DAY).await;
            assert_eq!(node.web.pages_asked("a.test"), ["/"], "{barrier}");
            tokio::time::sleep(2 * DAY).await;
            assert!(node.web.pages_asked("a.test").len() > 1, "{barrier}");
            node.stop().await;
        });
    }
}

/// A page that is stored in one cycle and answers so in the next.
#[track_caller]
fn check_turned(later: ScriptedAnswer, is_kept: bool, what: &str) {
    run_paused(async {
        let node = start().await;
        node.web.on("http://a.test/", [page("")]);
        node.web.on("http://a.test/members", [page(""), later]);
        node.seed(&["http://a.test/", "http://a.test/members"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await.len(), 2, "before: {what}");
        tokio::time::sleep(NEXT_CYCLE).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 4, "{what}");
        assert_eq!(node.stored_pages("a.test").await.len() == 2, is_kept, "{what}");
        node.stop().await;
    });
}

#[test]
fn record_goes_when_the_page_is_no_longer_public_and_stays_when_the_visitor_is_not_wanted() {
    let status = |status| ScriptedAnswer::answer(ResponseHead::new(status).with("content-type", "text/html"), "");
    let redirect = ResponseHead::new(302).with("location", "/login?next=/members");
    check_turned(page(FORM), false, "password form");
    check_turned(page(PAYWALL), false, "paywall");
    check_turned(page(CHALLENGE), true, "challenge");
    check_turned(status(401), false, "401");
    check_turned(status(402), false, "402");
    check_turned(status(451), false, "451");
    check_turned(status(403), true, "403");
    check_turned(ScriptedAnswer::answer(redirect, ""), false, "redirect to a login");
}
