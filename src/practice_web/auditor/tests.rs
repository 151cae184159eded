//! Each kind of violation, planted in a log made by hand, and a clean log beside it.

mod addresses;

use std::net::{Ipv4Addr, SocketAddr};

use super::*;
use crate::practice_web::{log::RequestEnd, site_plan::Scheme};

const AGENT: &str = "LohiSoftBot/1.0 (+message@lohisoft.com)";
const OTHER_AGENT: &str = "LohiSoftBot/1.0 (+https://lohisoft.com/bot)";

/// A log of one site, built request by request, every one of them a second after the last.
struct Log {
    entries: Vec<LogEntry>,
    now_us: u64,
}

impl Log {
    /// A log that begins with an answered robots.txt.
    fn with_robots() -> Self {
        let mut log = Self { entries: Vec::new(), now_us: 0 };
        log.robots("quiet-mill.test", RobotsRole::Settles);
        log
    }

    fn robots(&mut self, host: &str, role: RobotsRole) -> &mut LogEntry {
        let entry = self.ask("/robots.txt");
        entry.host = host.to_owned();
        entry.robots_role = role;
        entry
    }

    /// A request that starts a second after the last end and lasts 100 ms.
    fn ask(&mut self, path: &str) -> &mut LogEntry {
        self.ask_after(Duration::from_secs(1), path)
    }

    fn ask_after(&mut self, gap: Duration, path: &str) -> &mut LogEntry {
        let start_us = self.now_us + micros(gap);
        self.now_us = start_us + 100_000;
        self.entries.push(LogEntry {
            seq: self.entries.len() as u64,
            start_us,
            start_unix_ms: 0,
            late_us: 0,
            address: Ipv4Addr::LOCALHOST,
            peer: SocketAddr::from(([127, 0, 0, 1], 40_000)),
            scheme: Scheme::Http,
            host: "quiet-mill.test".to_owned(),
            method: "GET".to_owned(),
            path: path.to_owned(),
            fields: vec![("user-agent".to_owned(), AGENT.to_owned())],
            status: Some(200),
            label: "page".to_owned(),
            backoff: Backoff::None,
            robots_role: RobotsRole::NotRobots,
            end: Some(RequestEnd { end_us: self.now_us, ended_by: EndedBy::Server, wait_until_us: None }),
        });
        self.entries.last_mut().expect("an entry was pushed just now")
    }
}

fn rules() -> AuditRules {
    let agents = vec![AGENT.to_owned(), OTHER_AGENT.to_owned()];
    // Of addresses there is more in `addresses`; here every site is at the same one.
    AuditRules::new(Duration::from_millis(500), Duration::from_secs(5), agents).with_addresses(99, Duration::ZERO)
}

fn labels() -> AuditLabels {
    let forbidden = BTreeSet::from(["/private".to_owned()]);
    let known = (0..100).map(|number| format!("/{number}")).chain(["/".to_owned()]).collect();
    let labels = SiteLabels {
        crawl_delay: None,
        access: SiteAccess::Open { forbidden, known },
        robots_paths: BTreeSet::from(["/robots.txt".to_owned(), "/hop-1/robots.txt".to_owned()]),
        rules_of: None,
        sitemap_paths: BTreeSet::from(["/90".to_owned(), "/91".to_owned()]),
    };
    AuditLabels { sites: BTreeMap::from([("quiet-mill.test".to_owned(), labels)]) }
}

/// Audits a log and wants exactly these violations: kind and number of the request.
#[track_caller]
fn check_with(log: &Log, labels: &AuditLabels, wanted: &[(ViolationKind, u64)]) -> AuditReport {
    let report = audit(&log.entries, labels, &rules());
    let found: Vec<(ViolationKind, u64)> =
        report.violations.iter().map(|violation| (violation.kind, violation.entry.seq)).collect();
    assert_eq!(found, wanted, "{report}");
    report
}

#[track_caller]
fn check(log: &Log, wanted: &[(ViolationKind, u64)]) -> AuditReport {
    check_with(log, &labels(), wanted)
}

#[test]
fn clean_log_has_no_violation() {
    let mut log = Log::with_robots();
    for number in 0..20 {
        log.ask(&format!("/{number}"));
    }
    let report = check(&log, &[]);
    assert!(report.is_clean());
    assert_eq!(report.max_at_once(), 1);
    assert_eq!(report.min_gap_us(), Some(1_000_000));
    assert_eq!(report.to_string().lines().last(), Some("0 violations on 1 site, 21 requests"));
}

#[test]
fn request_while_another_is_open_is_counted() {
    let mut log = Log::with_robots();
    log.ask("/1");
    let last_end = log.now_us;
    log.ask("/2").start_us = last_end - 50_000;
    let report = check(&log, &[(ViolationKind::AtOnce, 2)]);
    assert_eq!(report.max_at_once(), 2);
}

#[test]
fn request_without_an_end_is_open_for_good() {
    let mut log = Log::with_robots();
    log.ask("/1").end = None;
    log.ask("/2");
    check(&log, &[(ViolationKind::AtOnce, 2)]);
}

#[test]
fn requests_to_two_sites_at_once_are_no_violation() {
    let mut log = Log::with_robots();
    log.ask("/1");
    let start_us = log.entries[1].start_us;
    let entry = log.ask("/robots.txt");
    (entry.host, entry.start_us) = ("amber-loom.test".to_owned(), start_us);
    check(&log, &[]);
}

#[test]
fn request_too_soon_after_the_last_end_is_counted() {
    let mut log = Log::with_robots();
    log.ask("/1");
    log.ask_after(Duration::from_millis(499), "/2");
    log.ask_after(Duration::from_millis(500), "/3");
    let report = check(&log, &[(ViolationKind::TooSoon, 2)]);
    assert_eq!(report.min_gap_us(), Some(499_000));
}

#[test]
fn requests_to_two_hosts_of_a_site_keep_the_delay_between_them() {
    let mut log = Log::with_robots();
    log.ask("/1");
    log.ask_after(Duration::from_millis(10), "/robots.txt").host = "www.quiet-mill.test".to_owned();
    check(&log, &[(ViolationKind::TooSoon, 2)]);
}

#[test]
fn crawl_delay_is_owed_once_the_rules_have_come() {
    let mut labels = labels();
    labels.sites.get_mut("quiet-mill.test").expect("it was put in").crawl_delay = Some(Duration::from_secs(2));
    let mut log = Log { entries: Vec::new(), now_us: 0 };
    log.robots("www.quiet-mill.test", RobotsRole::Unreachable);
    log.robots("quiet-mill.test", RobotsRole::Settles);
    log.ask_after(Duration::from_millis(1_999), "/1");
    log.ask_after(Duration::from_millis(2_000), "/2");
    check_with(&log, &labels, &[(ViolationKind::TooSoon, 2)]);
}

#[test]
fn aborted_request_ends_earlier_than_it_was_seen_to() {
    let mut log = Log::with_robots();
    let end = log.ask("/1").end.as_mut().expect("it was given");
    (end.ended_by, end.end_us) = (EndedBy::Client, end.end_us + 200_000);
    log.ask_after(Duration::from_millis(550), "/2");
    check(&log, &[]);
}

#[test]
fn forbidden_path_is_counted() {
    let mut log = Log::with_robots();
    log.ask("/private");
    check(&log, &[(ViolationKind::Forbidden, 1)]);
}

#[test]
fn any_page_of_a_closed_site_is_forbidden() {
    let mut labels = labels();
    labels.sites.get_mut("quiet-mill.test").expect("it was put in").access = SiteAccess::Closed;
    let mut log = Log::with_robots();
    log.ask("/never-planned");
    check_with(&log, &labels, &[(ViolationKind::Forbidden, 1)]);
}

#[test]
fn unplanned_path_of_an_open_site_is_reported_but_no_violation() {
    let mut log = Log::with_robots();
    log.ask("/never-planned");
    assert_eq!(check(&log, &[]).num_unlabelled, 1);
}

#[test]
fn page_requests_over_the_budget_are_counted_and_robots_is_not() {
    let mut log = Log::with_robots();
    for number in 0..22 {
        log.ask(&format!("/{number}"));
        log.ask("/hop-1/robots.txt").robots_role = RobotsRole::Hop;
    }
    let report = check(&log, &[(ViolationKind::OverBudget, 41), (ViolationKind::OverBudget, 43)]);
    assert_eq!(report.sites["quiet-mill.test"].num_page_requests, 22);
}

#[test]
fn third_request_for_a_sitemap_is_counted_and_one_for_a_page_after_two_is_not() {
    let mut log = Log::with_robots();
    for path in ["/90", "/1", "/90", "/2", "/91"] {
        log.ask(path);
    }
    check(&log, &[(ViolationKind::TooManySitemaps, 5)]);
}

#[test]
fn request_inside_a_told_wait_is_counted() {
    let mut log = Log::with_robots();
    let end = log.ask("/1").end.as_mut().expect("it was given");
    end.wait_until_us = Some(end.end_us + 3_000_000);
    log.ask_after(Duration::from_millis(2_999), "/2");
    log.ask("/3");
    let report = check(&log, &[(ViolationKind::InsideWait, 2)]);
    assert_eq!((report.num_waits, report.num_waits_honoured), (1, 0));
}

#[test]
fn wait_that_was_over_is_counted_as_honoured() {
    let mut log = Log::with_robots();
    let end = log.ask("/1").end.as_mut().expect("it was given");
    end.wait_until_us = Some(end.end_us + 1_000_000);
    log.ask("/2");
    let report = check(&log, &[]);
    assert_eq!((report.num_waits, report.num_waits_honoured), (1, 1));
}

#[test]
fn request_inside_a_backoff_is_counted_for_robots_too() {
    let mut log = Log::with_robots();
    log.ask("/1").backoff = Backoff::Site;
    log.ask_after(Duration::from_millis(4_800), "/robots.txt");
    log.ask("/2");
    check(&log, &[(ViolationKind::InsideWait, 2)]);
}

#[test]
fn longer_one_of_wait_and_backoff_is_owed() {
    let mut log = Log::with_robots();
    let entry = log.ask("/1");
    entry.backoff = Backoff::Site;
    let end = entry.end.as_mut().expect("it was given");
    end.wait_until_us = Some(end.end_us + 1_000_000);
    log.ask_after(Duration::from_secs(2), "/2");
    check(&log, &[(ViolationKind::InsideWait, 2)]);
}

#[test]
fn request_without_the_user_agent_is_counted() {
    let mut log = Log::with_robots();
    log.ask("/1").fields.clear();
    log.ask("/2").fields[0].1 = "Mozilla/5.0".to_owned();
    log.ask("/3");
    check(&log, &[(ViolationKind::UserAgent, 1), (ViolationKind::UserAgent, 2)]);
}

#[test]
fn second_form_of_the_user_agent_at_one_site_is_counted() {
    let mut log = Log::with_robots();
    log.ask("/1").fields[0].1 = OTHER_AGENT.to_owned();
    check(&log, &[(ViolationKind::UserAgentChanged, 1)]);
}

#[test]
fn page_before_robots_is_counted() {
    let mut log = Log { entries: Vec::new(), now_us: 0 };
    log.ask("/1");
    log.robots("quiet-mill.test", RobotsRole::Settles);
    log.ask("/2");
    check(&log, &[(ViolationKind::BeforeRobots, 0)]);
}

#[test]
fn robots_of_one_origin_does_not_count_for_another() {
    let mut log = Log::with_robots();
    log.ask("/1").scheme = Scheme::Https;
    log.ask("/2").host = "www.quiet-mill.test".to_owned();
    check(&log, &[(ViolationKind::BeforeRobots, 1), (ViolationKind::BeforeRobots, 2)]);
}

#[test]
fn robots_that_failed_does_not_count() {
    let mut log = Log { entries: Vec::new(), now_us: 0 };
    log.robots("quiet-mill.test", RobotsRole::Unreachable);
    log.ask("/1");
    check(&log, &[(ViolationKind::BeforeRobots, 1)]);
}

#[test]
fn redirected_robots_counts_once_its_target_has_answered() {
    let mut log = Log { entries: Vec::new(), now_us: 0 };
    log.robots("quiet-mill.test", RobotsRole::Hop);
    log.ask("/1");
    log.robots("www.quiet-mill.test", RobotsRole::Settles);
    log.ask("/2");
    check(&log, &[(ViolationKind::BeforeRobots, 1)]);
}

#[test]
fn redirect_to_rules_that_are_known_already_counts() {
    let mut log = Log::with_robots();
    log.robots("www.quiet-mill.test", RobotsRole::Hop);
    log.ask("/1").host = "www.quiet-mill.test".to_owned();
    check(&log, &[]);
}

#[test]
fn cookies_and_credentials_are_counted() {
    let mut log = Log::with_robots();
    log.ask("/1").fields.push(("cookie".to_owned(), "visit=1".to_owned()));
    log.ask("/2").fields.push(("referer".to_owned(), "http://quiet-mill.test/1".to_owned()));
    check(&log, &[(ViolationKind::Credentials, 1), (ViolationKind::Credentials, 2)]);
}

#[test]
fn report_ends_with_the_verdict() {
    let mut log = Log::with_robots();
    for number in 0..1_240 {
        log.ask(if number == 7 { "/private" } else { "/1" });
    }
    let mut rules = rules();
    rules.budget = 5_000;
    let report = audit(&log.entries, &labels(), &rules);
    let text = report.to_string();
    assert_eq!(text.lines().last(), Some("1 violation on 1 site, 1,241 requests"));
    assert!(text.contains("requests for forbidden URLs: 1\n  #8 quiet-mill.test/private at "), "{text}");
}

#[test]
fn rules_of_another_site_count_once_that_site_has_told_them() {
    for lender_came_first in [true, false] {
        let mut log = Log { entries: Vec::new(), now_us: 0 };
        if lender_came_first {
            log.robots("far-hill.test", RobotsRole::Settles);
        }
        log.robots("quiet-mill.test", RobotsRole::Hop);
        log.ask("/a");
        let mut labels = AuditLabels::default();
        let rules_of = Some("far-hill.test".to_owned());
        labels.sites.insert("quiet-mill.test".to_owned(), SiteLabels { rules_of, ..SiteLabels::default() });
        let wanted: &[_] = if lender_came_first { &[] } else { &[(ViolationKind::BeforeRobots, 1)] };
        check_with(&log, &labels, wanted);
    }
}
