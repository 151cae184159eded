//! Symptoms that users of other crawlers reported in public, shown not to be those of a whole node: by what the other side saw, and by
//! what is stored. Rows that need no node stand in the tests of the rules, under the same name.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use lohisoftbot_actors::testkit::disk::TestDisk;
use lohisoftbot_actors::testkit::manners::assert_polite;
use lohisoftbot_actors::testkit::node::{DELAY, FIRST_START, TestNode, TestSettings, run_paused};
use lohisoftbot_actors::testkit::web::{LoggedEnd, LoggedRequest, ScriptedAnswer};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

async fn start_with_recrawl() -> TestNode {
    let mut settings = TestSettings::default();
    settings.rules.recrawl_interval = DAY;
    TestNode::start(&TestDisk::new(), settings).await
}

fn page(title: &str) -> ScriptedAnswer {
    ScriptedAnswer::html(&format!("<!doctype html><title>{title}</title>"))
}

fn rules(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::text(text)
}

fn redirect(status: u16, to: &str) -> ScriptedAnswer {
    ScriptedAnswer::answer(ResponseHead::new(status).with("location", to), "")
}

fn limited(fields: &[(&str, &str)]) -> ScriptedAnswer {
    let head = fields.iter().fold(ResponseHead::new(429), |head, (name, value)| head.with(name, value));
    ScriptedAnswer::answer(head, "")
}

fn ended_at(request: &LoggedRequest) -> Timestamp {
    match request.end {
        LoggedEnd::Ended(at) | LoggedEnd::Dropped(at) => at,
        LoggedEnd::Open => panic!("still open: {request:?}"),
    }
}

/// The gaps between the end of each request to a host and the start of the next.
fn gaps(node: &TestNode, host: &str) -> Vec<Duration> {
    let log: Vec<_> = node.web.log().into_iter().filter(|request| request.url.host() == host).collect();
    log.windows(2).map(|pair| pair[1].started_at.since(ended_at(&pair[0]))).collect()
}

/// What was asked of a host in order, robots.txt included.
fn asked(node: &TestNode, host: &str) -> Vec<String> {
    let log = node.web.log();
    log.iter()
        .filter(|request| request.url.host() == host)
        .map(|request| request.url.path_and_query().to_owned())
        .collect()
}

/// mwmbl/mwmbl#333
#[test]
fn site_that_forbids_everything_gets_one_request_and_that_is_robots_txt() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 5);
        node.web.on("http://a.test/robots.txt", [rules("User-agent: *\nDisallow: /")]);
        node.seed(&["http://a.test/", "http://a.test/page-2"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(asked(&node, "a.test"), ["/robots.txt"]);
        node.stop().await;
    });
}

/// xorbitsai/xagent#2043
#[test]
fn site_without_robots_txt_is_crawled_whole() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 4);
        node.web.on("http://a.test/robots.txt", [ScriptedAnswer::status(404)]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await.len(), 4);
        node.stop().await;
    });
}

/// Yoko-Co/yoko-crawler#97
#[test]
fn site_whose_robots_txt_and_home_page_are_forbidden_is_asked_once_and_parked() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 5);
        let forbidden = ScriptedAnswer::answer(ResponseHead::new(403), "User-agent: *\nDisallow: /");
        node.web.on("http://a.test/robots.txt", [forbidden]);
        node.web.on("http://a.test/", [ScriptedAnswer::status(403)]);
        node.seed(&["http://a.test/", "http://a.test/page-2", "http://a.test/page-3"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(asked(&node, "a.test"), ["/robots.txt", "/"]);
        let row = node.row("a.test").await.unwrap();
        assert!(matches!(row.standing, SiteStanding::Parked { .. }), "{row:?}");
        node.stop().await;
    });
}

/// kreuzberg-dev/kreuzcrawl#46
#[test]
fn robots_txt_is_asked_on_the_port_of_the_seed_before_its_first_page_and_each_page_once() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web
            .on("http://127.0.0.1:8123/", [ScriptedAnswer::page_with_links(&["/", "/x", "http://127.0.0.1:8123/x"])]);
        node.web.on("http://127.0.0.1:8123/x", [page("x")]);
        node.seed(&["http://127.0.0.1:8123/", "http://127.0.0.1:8123"]).await;
        node.when_idle(MINUTE).await;
        let log = node.web.log();
        let urls: Vec<&str> = log.iter().map(|request| request.url.as_str()).collect();
        // The last one is the guess at a sitemap.
        let paths = ["robots.txt", "", "x", "sitemap.xml"];
        assert_eq!(urls, paths.map(|path| format!("http://127.0.0.1:8123/{path}")));
        node.stop().await;
    });
}

/// apache/stormcrawler#573 and #713, in both orders
#[test]
fn rules_behind_a_redirect_count_for_the_origin_that_was_asked_and_for_no_other() {
    for seeds in [["http://a.test/page-1", "http://b.a.test/"], ["http://b.a.test/", "http://a.test/page-1"]] {
        run_paused(async {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 3);
            node.web.site("b.a.test", 3);
            node.web.on("http://a.test/robots.txt", [redirect(301, "http://b.a.test/x/robots.txt")]);
            node.web.on("http://b.a.test/x/robots.txt", [rules("User-agent: *\nAllow: /")]);
            node.web.on("http://b.a.test/robots.txt", [rules("User-agent: *\nDisallow: /")]);
            node.seed(&seeds).await;
            node.when_idle(HOUR).await;
            assert_eq!(node.web.pages_asked("a.test").len(), 3, "{seeds:?}");
            assert_eq!(node.web.pages_asked("b.a.test"), [""; 0], "{seeds:?}");
            node.stop().await;
        });
    }
}

/// dcramer/peated#1193
#[test]
fn redirect_into_a_forbidden_path_is_not_followed() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/robots.txt", [rules("User-agent: *\nDisallow: /private/")]);
        node.web.on("http://a.test/go", [redirect(302, "/private/x")]);
        node.web.on("http://a.test/private/x", [page("secret")]);
        node.seed(&["http://a.test/go"]).await;
        node.when_idle(MINUTE).await;
        assert!(!asked(&node, "a.test").contains(&"/private/x".to_owned()), "{:?}", asked(&node, "a.test"));
        assert_eq!(node.stored_pages("a.test").await, [""; 0]);
        node.stop().await;
    });
}

/// spider-rs/spider#319
#[test]
fn page_that_links_to_itself_in_many_spellings_is_asked_once_under_each_address_and_within_the_budget() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let spellings: Vec<String> = (0..50)
            .map(|number| ["#", "?a=", "?b=", "/../p?utm_id=", "?#"][number % 5].to_owned() + &number.to_string())
            .collect();
        let links: Vec<String> =
            spellings.iter().map(|tail| format!("/p{tail}")).chain(["/slow/x".to_owned()]).collect();
        let answer = ScriptedAnswer::page_with_links(&links.iter().map(String::as_str).collect::<Vec<_>>());
        for link in links.iter().map(String::as_str).chain(["/p"]) {
            node.web.on(&format!("http://a.test{link}"), [answer.clone()]);
        }
        node.web.on("http://a.test/robots.txt", [rules("User-agent: *\nDisallow: /slow")]);
        node.seed(&["http://a.test/p"]).await;
        node.when_idle(MINUTE).await;
        let mut pages = node.web.pages_asked("a.test");
        assert_eq!(pages.len(), 20, "{pages:?}");
        pages.sort();
        pages.dedup();
        assert_eq!(pages.len(), 20, "an address was asked twice");
        assert!(!pages.iter().any(|path| path.starts_with("/slow")), "{pages:?}");
        node.stop().await;
    });
}

/// LAW-Unimi/BUbiNG#30, nodejs/undici#4588, Yoko-Co/yoko-crawler#57
#[test]
fn crawl_delay_of_the_site_is_kept_where_it_is_longer_than_ours() {
    for (crawl_delay, wanted) in [("10", 10), ("4", 5), ("7.5", 7)] {
        run_paused(async {
            let node = TestNode::start_new().await;
            node.web.site("a.test", 8);
            node.web.on("http://a.test/robots.txt", [rules(&format!("User-agent: *\nCrawl-delay: {crawl_delay}"))]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MINUTE).await;
            assert_eq!(node.web.pages_asked("a.test").len(), 8);
            assert_polite(&node.web.log(), Duration::from_secs(wanted));
            node.stop().await;
        });
    }
}

/// yasserg/crawler4j#141
#[test]
fn sites_do_not_wait_for_each_other() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 10);
        node.web.site("b.test", 10);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        let took = node.clock.now().since(FIRST_START);
        // Twelve requests each, with eleven delays between them, and not twice as many.
        assert!(took < DELAY * 14, "{took:?}");
        assert_eq!(node.web.log().len(), 24);
        node.stop().await;
    });
}

/// What follows a 429 with these fields: the wait, then the pace after it.
#[track_caller]
fn check_limited(report: &str, fields: &[(&str, &str)], at_least: Duration) {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 3);
        node.web.on("http://a.test/", [limited(fields), ScriptedAnswer::page_with_links(&["/page-1", "/page-2"])]);
        node.seed(&["http://a.test/"]).await;
        sleep(HOUR).await;
        let gaps = gaps(&node, "a.test");
        assert_eq!(asked(&node, "a.test")[..3], ["/robots.txt", "/", "/"], "{report}");
        assert!(gaps[1] >= at_least, "{report}: waited {:?}", gaps[1]);
        assert!(gaps[1] < at_least * 2 + MINUTE, "{report}: waited {:?}", gaps[1]);
        assert!(gaps[2] >= DELAY * 2, "{report}: {gaps:?}");
        let agents: Vec<String> = node.web.log().into_iter().map(|request| request.user_agent).collect();
        assert!(agents.iter().all(|agent| *agent == agents[0]), "{report}: {agents:?}");
        node.stop().await;
    });
}

#[test]
fn site_that_says_too_many_requests_is_waited_for_and_then_asked_more_slowly_by_the_same_name() {
    let date = "Fri, 15 Jan 2027 08:00:00 GMT";
    let half_a_minute_later = "Fri, 15 Jan 2027 08:00:30 GMT";
    let two_hundred_later = "Fri, 15 Jan 2027 08:03:20 GMT";
    check_limited("yacy/yacy_search_server#524", &[], MINUTE);
    check_limited("apify/crawlee#3737", &[("retry-after", "1")], MINUTE);
    check_limited("apify/crawlee-python#1995", &[("retry-after", "-5")], MINUTE);
    check_limited("SamMorrowDrums/remarkable-mcp#107", &[("date", date), ("retry-after", half_a_minute_later)], MINUTE);
    let later = Duration::from_secs(200);
    check_limited("SamMorrowDrums/remarkable-mcp#107", &[("date", date), ("retry-after", two_hundred_later)], later);
}

/// webrecorder/browsertrix-crawler#392
#[test]
fn wall_of_too_many_requests_is_not_run_against() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.site("a.test", 40);
        for number in 5..40 {
            node.web.on(&format!("http://a.test/page-{number}"), [limited(&[])]);
        }
        node.seed(&["http://a.test/"]).await;
        sleep(DAY).await;
        let log = node.web.log();
        let walls = log.iter().filter(|request| !node_is_before_the_wall(request.url.path_and_query())).count();
        // Each answer waits twice as long as the last: 1 + 2 + 4 + .. minutes fill a day after eleven.
        assert!((2..=12).contains(&walls), "{walls} requests");
        let gaps = gaps(&node, "a.test");
        assert!(gaps[gaps.len() - 1] > HOUR, "{gaps:?}");
        node.stop().await;
    });
}

fn node_is_before_the_wall(path: &str) -> bool {
    matches!(path, "/robots.txt" | "/" | "/page-1" | "/page-2" | "/page-3" | "/page-4")
}

/// linkwarden/linkwarden#961
#[test]
fn bot_protection_is_stored_under_no_title_and_the_site_left_alone() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let head = ResponseHead::new(403).with("content-type", "text/html").with("cf-mitigated", "challenge");
        node.web.on("http://a.test/", [ScriptedAnswer::answer(head, "<title>Attention Required!</title>")]);
        node.seed(&["http://a.test/", "http://a.test/x"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await, [""; 0]);
        assert_eq!(asked(&node, "a.test"), ["/robots.txt", "/"]);
        sleep(DAY * 6).await;
        assert_eq!(asked(&node, "a.test").len(), 2, "left alone for a week");
        node.stop().await;
    });
}

/// searchmysite/searchmysite.net#9
#[test]
fn login_page_of_another_site_is_not_indexed() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/login", [redirect(302, "http://accounts.test/signin?next=a")]);
        node.web.on("http://accounts.test/signin?next=a", [page("Sign in")]);
        node.seed(&["http://a.test/login"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(asked(&node, "accounts.test"), [""; 0]);
        assert_eq!(node.stored_pages("accounts.test").await, [""; 0]);
        assert_eq!(node.stored_pages("a.test").await, [""; 0]);
        node.stop().await;
    });
}

/// dachcom-digital/pimcore-lucene-search#64
#[test]
fn page_behind_a_redirect_is_indexed_once_under_its_own_address() {
    run_paused(async {
        let node = TestNode::start_new().await;
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["/a", "/b"])]);
        node.web.on("http://a.test/a", [redirect(301, "/b")]);
        node.web.on("http://a.test/b", [page("b")]);
        node.seed(&["http://a.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.stored_pages("a.test").await, ["http://a.test/", "http://a.test/b"]);
        assert_eq!(node.web.pages_asked("a.test").iter().filter(|path| *path == "/b").count(), 1);
        node.stop().await;
    });
}

/// Arachni/arachni#171 and yasserg/crawler4j#31
#[test]
fn endless_calendars_and_session_ids_end_with_the_budget() {
    run_paused(async {
        let node = TestNode::start_new().await;
        for year in 0..40 {
            let next = format!("/calendar?year={}", year + 1);
            let session = format!("/;jsessionid={year}A");
            node.web.on(
                &format!("http://a.test/calendar?year={year}"),
                [ScriptedAnswer::page_with_links(&[&next, &session])],
            );
        }
        node.web.on("http://a.test/", [page("home")]);
        node.seed(&["http://a.test/calendar?year=0"]).await;
        node.when_idle(MINUTE).await;
        let pages = node.web.pages_asked("a.test");
        assert_eq!(pages.len(), 20);
        assert_eq!(pages.iter().filter(|path| *path == "/").count(), 1, "{pages:?}");
        sleep(DAY).await;
        assert_eq!(node.web.pages_asked("a.test").len(), 20);
        node.stop().await;
    });
}

/// apache/stormcrawler#253
#[test]
fn page_that_is_gone_leaves_the_index_with_the_next_crawl() {
    for status in [404, 410] {
        run_paused(async {
            let node = start_with_recrawl().await;
            node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&["/x"])]);
            node.web.on("http://a.test/x", [page("x"), ScriptedAnswer::status(status)]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MINUTE).await;
            assert_eq!(node.stored_pages("a.test").await.len(), 2);
            sleep(DAY + HOUR).await;
            assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"], "{status}");
            node.stop().await;
        });
    }
}

/// us/crw#485
#[test]
fn archive_that_is_served_as_a_page_is_not_indexed() {
    for body in ["PK\u{3}\u{4}\u{14}<title>zip</title>", "%PDF-1.7\n<title>pdf</title><a href=/x>x</a>"] {
        run_paused(async {
            let node = start_with_recrawl().await;
            node.web.on("http://a.test/", [page("a page first"), ScriptedAnswer::html(body)]);
            node.seed(&["http://a.test/"]).await;
            node.when_idle(MINUTE).await;
            assert_eq!(node.stored_pages("a.test").await, ["http://a.test/"]);
            sleep(DAY + HOUR).await;
            assert_eq!(asked(&node, "a.test").iter().filter(|path| *path == "/").count(), 2);
            assert_eq!(node.stored_pages("a.test").await, [""; 0], "{body:?}");
            node.stop().await;
        });
    }
}

/// Arachni/arachni#730, marty1885/tlgs#3, firecrawl/firecrawl#2591
#[test]
fn links_to_mail_scripts_and_personal_addresses_are_never_asked() {
    run_paused(async {
        let node = TestNode::start_new().await;
        let links =
            ["mailto:x@a.test", "javascript:f()", "news:x.test", "http://a:b@a.test/in", "http://u@b.test/", "/ok"];
        node.web.on("http://a.test/", [ScriptedAnswer::page_with_links(&links)]);
        node.web.site("b.test", 1);
        node.seed(&["http://a.test/", "http://b.test/"]).await;
        node.when_idle(MINUTE).await;
        assert_eq!(node.web.pages_asked("a.test"), ["/", "/ok"]);
        assert_eq!(node.web.pages_asked("b.test"), ["/"]);
        assert!(
            node.web
                .log()
                .iter()
                .all(|request| request.kind == RequestKind::Robots || request.url.as_url().username().is_empty())
        );
        node.stop().await;
    });
}
