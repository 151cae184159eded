//! A clean ledger has no finding; each way to break a promise, planted into it, is found and named.

mod settings;
mod story;

use std::time::Duration;

use self::story::Story;
use super::*;
use crate::exclusion::{Domain, Exclusion};
use crate::ledger::{
    EndKind, FinishReason, RequestKind, RobotsGround, SiteAccount, SiteEvent, TicketNumber, WaitReason,
};
use crate::origin::Origin;
use crate::url::PageUrl;

const START: Timestamp = Timestamp::from_secs(1_800_000_000);
const DAY: Duration = Duration::from_secs(86_400);
const DELAY: Duration = Duration::from_secs(5);

fn limits() -> Limits {
    Limits {
        page_requests: 3,
        origins: 2,
        shortest_interval: 30 * DAY,
        min_delay: DELAY,
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
    }
}

/// Small numbers, as if they were the promise.
fn rules() -> AuditRules {
    AuditRules { promise: limits(), settings: limits() }
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, None).unwrap()
}

fn site() -> Site {
    Site::of_host("a.test")
}

/// The codes of what is found, in order.
fn codes(report: &AuditReport) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.breach.code()).collect()
}

#[track_caller]
fn check(story: &Story, wanted: &[&str]) {
    let report = story.report(History::Whole);
    let told: Vec<String> = report.findings.iter().map(Finding::describe).collect();
    assert_eq!(codes(&report), wanted, "{told:#?}");
    assert_eq!(report.num_violations, wanted.len() as u64);
}

/// What `plant` adds to a site that was well begun is found, and nothing else is.
#[track_caller]
fn check_planted(plant: impl FnOnce(&mut Story), wanted: &[&str]) {
    let mut story = Story::begun();
    check(&story, &[]);
    plant(&mut story);
    check(&story, wanted);
}

#[test]
fn cycle_with_waits_sitemap_and_the_next_one_after_the_interval_is_clean() {
    check_planted(
        |story| {
            story.page("https://a.test/").page_answered("https://a.test/busy", 503);
            story.wait(Duration::from_secs(60), WaitReason::RetryAfter).pass(Duration::from_secs(60));
            story.request(
                RequestKind::Sitemap,
                "https://a.test/sitemap.xml",
                RobotsGround::NoRule,
                EndKind::Answered(200),
            );
            story.event(SiteEvent::CycleClosed { reason: FinishReason::BudgetSpent });
            story.pass(30 * DAY).cycle(2).robots("https://a.test/robots.txt", 404).page("https://a.test/");
        },
        &[],
    );
}

#[test]
fn page_request_beyond_the_budget_is_found() {
    let pages = |story: &mut Story| {
        for page in 0..4 {
            story.page(&format!("https://a.test/{page}"));
        }
    };
    check_planted(pages, &["over_budget"]);
    // Whatever it is called, all but robots.txt counts; and a cycle that is resumed has no new budget.
    check_planted(
        |story| {
            story.page("https://a.test/1").page("https://a.test/2").page_answered("https://a.test/3", 301);
            story.event(SiteEvent::CycleClosed { reason: FinishReason::QueueEmpty }).event(SiteEvent::CycleResumed);
            story.request(RequestKind::Sitemap, "https://a.test/s.xml", RobotsGround::NoRule, EndKind::Answered(200));
        },
        &["over_budget"],
    );
}

#[test]
fn second_cycle_before_the_interval_is_over_is_found() {
    let closed = SiteEvent::CycleClosed { reason: FinishReason::QueueEmpty };
    check_planted(
        |story| {
            story.event(closed.clone()).pass(29 * DAY).cycle(2);
        },
        &["cycle_too_soon"],
    );
    check_planted(
        |story| {
            let next_cycle_at = story.pass(30 * DAY).at().plus(DAY);
            story.event(SiteEvent::CycleOpened { cycle: 2, next_cycle_at });
        },
        &["interval_too_short"],
    );
}

#[test]
fn budgets_that_stand_back_to_back_are_found() {
    let closed = SiteEvent::CycleClosed { reason: FinishReason::QueueEmpty };
    let late_page = |story: &mut Story| {
        story.pass(29 * DAY).robots("https://a.test/robots.txt", 200).page("https://a.test/");
        story.event(closed.clone()).pass(2 * DAY).cycle(2);
    };
    check_planted(late_page, &["budgets_too_close"]);
    check_planted(
        |story| {
            let put_off = SiteEvent::NextCyclePutOff { next_cycle_at: story.at().plus(60 * DAY) };
            story.event(put_off).event(closed.clone()).pass(31 * DAY).cycle(2);
        },
        &["cycle_too_soon"],
    );
}

#[test]
fn request_outside_a_cycle_is_found() {
    check_planted(
        |story| {
            story.event(SiteEvent::CycleClosed { reason: FinishReason::QueueEmpty }).page("https://a.test/");
        },
        &["outside_cycle"],
    );
    let mut story = Story::default();
    check(story.robots("https://a.test/robots.txt", 200), &["outside_cycle"]);
}

#[test]
fn two_requests_at_once_are_found() {
    check_planted(
        |story| {
            story.ticket(RequestKind::Page, "https://a.test/1", RobotsGround::NoRule).pass(DELAY);
            story.page("https://a.test/2");
        },
        &["two_at_once"],
    );
}

#[test]
fn request_sooner_than_the_delay_after_the_end_of_the_last_is_found() {
    check_planted(
        |story| {
            story.now -= 1;
            story.page("https://a.test/");
        },
        &["too_soon"],
    );
    // A delay that the ledger itself holds too short, for the settings and for how long the answer took.
    for (took, delay, rest, wanted) in [
        (100, 1, 4_999, &["too_soon"][..]),
        (100, 1, 5_000, &[]),
        (4_000, 5, 19_999, &["too_soon"]),
        (4_000, 5, 20_000, &[]),
        (40_000, 60, 60_000, &[]),
    ] {
        check_planted(
            |story| {
                story.ticket(RequestKind::Page, "https://a.test/1", RobotsGround::NoRule);
                let (took, delay) = (Duration::from_millis(took), Duration::from_secs(delay));
                let (ticket, end) = (story.ticket, EndKind::Answered(200));
                story.event(SiteEvent::Outcome { ticket, end, wire_bytes: 1, took, delay });
                story.pass(Duration::from_millis(rest)).page("https://a.test/2");
            },
            wanted,
        );
    }
    // A Crawl-delay that was learnt of later.
    check_planted(
        |story| {
            story.event(SiteEvent::Delay(Duration::from_secs(30))).page("https://a.test/");
        },
        &["too_soon"],
    );
}

#[test]
fn page_before_the_robots_file_of_its_origin_is_found() {
    check_planted(
        |story| {
            story.page("https://www.a.test/");
        },
        &["robots_unread"],
    );
    check_planted(
        |story| {
            story.page("http://a.test/");
        },
        &["robots_unread"],
    );
    check_planted(
        |story| {
            story.page("https://a.test:8443/");
        },
        &["robots_unread"],
    );
    check_planted(
        |story| {
            story.robots("https://www.a.test/robots.txt", 301).page("https://www.a.test/");
        },
        &["robots_unread"],
    );
}

#[test]
fn redirected_and_borrowed_robots_files_count_for_where_the_way_began() {
    check_planted(
        |story| {
            story.robots("https://www.a.test/robots.txt", 301).robots("https://a.test/moved.txt", 200);
            story.page("https://www.a.test/");
        },
        &[],
    );
    check_planted(
        |story| {
            story.robots("https://www.a.test/robots.txt", 302);
            let origin = |text: &str| Origin::of(&url(text));
            let (origin, lender) = (origin("https://www.a.test/"), origin("https://b.test/"));
            let read_at = story.at();
            story.event(SiteEvent::RobotsBorrowed { origin, lender, read_at }).page("https://www.a.test/");
        },
        &[],
    );
}

#[test]
fn page_under_a_robots_file_that_is_too_old_is_found() {
    check_planted(
        |story| {
            story.pass(DAY).page("https://a.test/");
        },
        &[],
    );
    check_planted(
        |story| {
            story.pass(DAY + Duration::from_secs(700)).page("https://a.test/");
        },
        &["robots_old"],
    );
}

#[test]
fn old_robots_file_counts_again_while_the_new_one_is_unreachable_for_12_hours_to_30_days() {
    for (unreachable_for, wanted) in [
        (Duration::from_secs(11 * 3600), &["robots_old"][..]),
        (Duration::from_secs(12 * 3600), &[]),
        (30 * DAY, &[]),
        (31 * DAY, &["robots_old"]),
    ] {
        check_planted(
            |story| {
                story.pass(2 * DAY).ticket(RequestKind::Robots, "https://a.test/robots.txt", RobotsGround::RobotsFile);
                story.end(EndKind::Answered(500)).wait(Duration::from_secs(60), WaitReason::RobotsUnreachable);
                story.pass(unreachable_for).page("https://a.test/");
            },
            wanted,
        );
    }
}

#[test]
fn failure_after_a_redirect_that_led_nowhere_may_be_that_of_any_file() {
    check_planted(
        |story| {
            story.pass(2 * DAY).ticket(RequestKind::Robots, "https://www.a.test/robots.txt", RobotsGround::RobotsFile);
            story.end(EndKind::Answered(301));
            let until = story.at().plus(DELAY);
            story.event(SiteEvent::Wait { until, reason: WaitReason::RetryAfter, rung: 1 }).pass(DAY);
            story.wait(DELAY, WaitReason::NameServers).pass(DAY).page("https://a.test/");
        },
        &[],
    );
}

#[test]
fn page_behind_a_robots_file_with_a_login_is_found() {
    check_planted(
        |story| {
            story.robots("https://a.test/robots.txt", 401).page("https://a.test/");
        },
        &["robots_login"],
    );
}

#[test]
fn page_on_a_ground_that_forbids_it_is_found() {
    let line = |text: &str| RobotsGround::Line { number: 7, text: text.to_owned() };
    for (text, wanted) in [
        ("Allow: /p", &[][..]),
        ("Disallow: /p", &["disallowed"]),
        (" disalow: /p", &["disallowed"]),
        ("Diasllow: /p", &["disallowed"]),
    ] {
        check_planted(
            |story| {
                story.request(RequestKind::Page, "https://a.test/p", line(text), EndKind::Answered(200));
            },
            wanted,
        );
    }
    check_planted(
        |story| {
            let page = "https://a.test/p";
            story.request(RequestKind::Page, page, RobotsGround::RobotsFile, EndKind::Answered(200));
        },
        &["wrong_ground"],
    );
}

#[test]
fn origin_beyond_the_cap_is_found() {
    check_planted(
        |story| {
            story.robots("http://a.test/robots.txt", 404).robots("https://www.a.test/robots.txt", 404);
        },
        &["too_many_origins"],
    );
}

#[test]
fn request_during_a_wait_is_found_and_a_later_shorter_wait_does_not_shorten_it() {
    let hour = Duration::from_secs(3600);
    for reason in [WaitReason::RetryAfter, WaitReason::Backoff, WaitReason::RobotsUnreachable, WaitReason::NoSuchName] {
        check_planted(
            |story| {
                story.wait(hour, reason).pass(hour - Duration::from_millis(1)).page("https://a.test/");
            },
            &["during_wait"],
        );
    }
    check_planted(
        |story| {
            story.wait(hour, WaitReason::RetryAfter).wait(DELAY, WaitReason::Backoff).pass(DELAY);
            story.robots("https://a.test/robots.txt", 200);
        },
        &["during_wait"],
    );
}

#[test]
fn busy_answer_without_a_wait_is_found() {
    for status in [429, 500, 503, 599] {
        check_planted(
            |story| {
                story.page_answered("https://a.test/1", status).page("https://a.test/2");
            },
            &["busy_without_wait"],
        );
    }
}

#[test]
fn request_behind_a_barrier_is_found() {
    // Three in a row, or the home page.
    for (page, streak) in [("https://a.test/p", 3), ("https://a.test/", 1)] {
        check_planted(
            |story| {
                story.page_answered(page, 403).event(SiteEvent::BarrierStreak(streak)).page("https://a.test/2");
            },
            &["behind_barrier"],
        );
    }
    check_planted(
        |story| {
            story.page_answered("https://a.test/p", 403).event(SiteEvent::BarrierStreak(2)).page("https://a.test/2");
        },
        &[],
    );
}

#[test]
fn request_to_an_excluded_domain_is_found_unless_its_ticket_was_revoked() {
    check_planted(
        |story| {
            story.exclude("a.test").page("https://a.test/");
        },
        &["excluded"],
    );
    check_planted(
        |story| {
            story.exclude("www.a.test").page("https://a.test/");
        },
        &[],
    );
    check_planted(
        |story| {
            let page = "https://a.test/";
            story.exclude("a.test").request(RequestKind::Page, page, RobotsGround::NoRule, EndKind::Abandoned);
        },
        &[],
    );
    check_planted(
        |story| {
            let domain = Domain::parse("a.test").unwrap();
            story.exclude("a.test").any(LedgerEvent::Included { domain }).page("https://a.test/");
        },
        &[],
    );
}

#[test]
fn outcome_without_ticket_and_missing_ticket_are_found() {
    check_planted(
        |story| {
            story.end(EndKind::Answered(200));
        },
        &["outcome_without_ticket"],
    );
    check_planted(
        |story| {
            story.ticket += 1;
            story.page("https://a.test/");
        },
        &["ticket_out_of_order"],
    );
}

#[test]
fn ledger_whose_beginning_has_expired_is_judged_by_what_its_snapshot_says() {
    let account = SiteAccount {
        cycle: 4,
        next_cycle_at: START.plus(20 * DAY),
        num_page_requests: 2,
        last_ticket: 9,
        last_ended_at: Some(START),
        delay: DELAY,
        ..SiteAccount::default()
    };
    let snapshot = SiteEvent::Snapshot(Box::new(account));
    let mut story = Story { ticket: 9, ..Story::default() };
    story.event(snapshot).pass(DELAY).page("https://a.test/1");
    assert_eq!(codes(&story.report(History::Partial)), [""; 0], "its robots.txt may have been read before");
    story.page("https://a.test/2");
    assert_eq!(codes(&story.report(History::Partial)), ["over_budget"]);
    story.pass(2 * DAY).cycle(5);
    assert_eq!(codes(&story.report(History::Partial)), ["over_budget", "cycle_too_soon", "budgets_too_close"]);
    story.page("https://a.test/3");
    let wanted = ["over_budget", "cycle_too_soon", "budgets_too_close", "robots_unread"];
    assert_eq!(codes(&story.report(History::Partial)), wanted, "no copy is that old");
}

#[test]
fn old_copy_may_rule_on_where_the_entries_begin_with_the_site_on_the_ladder() {
    for (rung, days, wanted) in [(0, 2, &["robots_unread"][..]), (1, 2, &[]), (1, 31, &["robots_unread"])] {
        let account = SiteAccount { cycle: 4, last_ticket: 9, rung, ..SiteAccount::default() };
        let mut story = Story { ticket: 9, ..Story::default() };
        story.event(SiteEvent::Snapshot(Box::new(account))).pass(days * DAY).page("https://a.test/1");
        assert_eq!(codes(&story.report(History::Partial)), wanted, "rung {rung}, {days} days");
    }
}

#[test]
fn report_counts_all_and_keeps_the_first_thousand() {
    let mut story = Story::begun();
    for _ in 0..MAX_FINDINGS + 5 {
        story.end(EndKind::Answered(200));
    }
    let report = story.report(History::Whole);
    assert_eq!((report.findings.len(), report.num_violations), (MAX_FINDINGS, MAX_FINDINGS as u64 + 5));
    assert_eq!(report.summary(), "1 requests of 1 sites checked, 1005 violations");
}

#[test]
fn finding_says_when_where_what_and_which_promise() {
    let mut story = Story::begun();
    story.exclude("a.test").page("https://a.test/p");
    let report = story.report(History::Whole);
    let words = report.findings[0].describe();
    for part in ["2027-01-15T08:00:0", "a.test https://a.test/p: ", "a.test is excluded since", "(P8: "] {
        assert!(words.contains(part), "{part:?} is missing in {words}");
    }
}
