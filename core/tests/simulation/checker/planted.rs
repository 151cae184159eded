//! The watcher sees what it is there to see: each kind of broken promise, planted by hand, and none in a run that keeps them.

use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_core::ledger::RequestKind::{self, Page, Robots, Sitemap};
use lohisoftbot_core::outcome::{FetchFailure, ResolveFailure};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::{Checker, Promises, Survivors, Watched};
use crate::replies::{PageReply, PageSaid, RobotsReply, RobotsSaid};
use crate::robots_file::RobotsFile;

const ROBOTS: &str = "https://a.test/robots.txt";
const HOME: &str = "https://a.test/";
const DAY_SECS: u64 = 86_400;

/// A watcher and a clock in seconds. Each step writes one event, durable at once.
struct Plant {
    checker: Checker,
    now: Timestamp,
    num_events: u64,
}

impl Plant {
    fn new() -> Self {
        let mut checker = Checker::new(Promises {
            site: Site::of_host("a.test"),
            min_delay: Duration::from_secs(5),
            budget: 20,
            shortest_interval: Duration::from_secs(7 * DAY_SECS),
            longest_interval: Duration::from_secs(90 * DAY_SECS),
        });
        let now = Timestamp::from_secs(1_800_000_000);
        checker.cycle_begins(1, now, now.plus(Duration::from_secs(30 * DAY_SECS))).unwrap();
        Self { checker, now, num_events: 0 }
    }

    /// With `file` read for the main origin, and the delay over.
    fn after_robots(file: RobotsFile) -> Self {
        let mut plant = Self::new();
        plant.robots(RobotsSaid::Rules(Rc::new(file)));
        plant.pass(5);
        plant
    }

    fn pass(&mut self, secs: u64) {
        self.now = self.now.plus(Duration::from_secs(secs));
    }

    fn ask(&mut self, kind: RequestKind, url: &str) -> Watched {
        self.checker.request(kind, &url_of(url), self.now, self.now)
    }

    fn wrote(&mut self) {
        self.num_events += 1;
        self.checker.wrote(1);
        self.checker.durable(self.num_events);
    }

    #[track_caller]
    fn robots(&mut self, said: RobotsSaid) {
        self.ask(Robots, ROBOTS).unwrap();
        self.robots_end(said);
    }

    fn robots_end(&mut self, said: RobotsSaid) {
        let ttl = Duration::from_secs(DAY_SECS);
        let reply = RobotsReply { answer: Err(FetchFailure::Reset), said, wait_until: None, ttl };
        self.checker.robots_ended(&reply, self.now, Duration::ZERO);
        self.wrote();
    }

    #[track_caller]
    fn page(&mut self, url: &str, said: PageSaid) {
        self.page_told(url, said, None);
    }

    #[track_caller]
    fn page_told(&mut self, url: &str, said: PageSaid, wait_secs: Option<u64>) {
        self.ask(Page, url).unwrap();
        let wait_until = wait_secs.map(|secs| self.now.plus(Duration::from_secs(secs)));
        let reply = PageReply { answer: Err(FetchFailure::Reset), said, links: Vec::new(), wait_until };
        self.checker.page_ended(&reply, self.now, Duration::ZERO);
        self.wrote();
    }

    /// The request is refused for a reason that begins like this.
    #[track_caller]
    fn caught(&mut self, kind: RequestKind, url: &str, why: &str) {
        let watched = self.ask(kind, url);
        assert!(watched.as_ref().is_err_and(|wrong| wrong.starts_with(why)), "{why} wanted, {watched:?} seen");
    }
}

fn url_of(raw: &str) -> PageUrl {
    PageUrl::parse(raw, None).unwrap()
}

fn open_file() -> RobotsFile {
    RobotsFile::default()
}

#[test]
fn a_run_that_keeps_all_promises_passes() {
    let mut plant = Plant::after_robots(open_file());
    for page in 0..20 {
        plant.page(&format!("https://a.test/{page}"), PageSaid::Good);
        plant.pass(5);
    }
}

#[test]
fn p1_a_request_over_the_budget_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    for page in 0..20 {
        plant.page(&format!("https://a.test/{page}"), PageSaid::Good);
        plant.pass(5);
    }
    plant.caught(Page, HOME, "P1");
}

#[test]
fn p1_a_third_sitemap_is_seen_and_each_counts_in_the_budget() {
    let mut plant = Plant::after_robots(open_file());
    let ask = |plant: &mut Plant, kind, page: usize| {
        plant.ask(kind, &format!("https://a.test/{page}")).unwrap();
        let reply =
            PageReply { answer: Err(FetchFailure::Reset), said: PageSaid::Good, links: Vec::new(), wait_until: None };
        plant.checker.page_ended(&reply, plant.now, Duration::ZERO);
        plant.wrote();
        plant.pass(5);
    };
    for sitemap in 0..2 {
        ask(&mut plant, Sitemap, sitemap);
    }
    let mut one_more = Plant::after_robots(open_file());
    for sitemap in 0..2 {
        ask(&mut one_more, Sitemap, sitemap);
    }
    one_more.caught(Sitemap, "https://a.test/3.xml", "P1");
    for page in 0..18 {
        ask(&mut plant, Page, page);
    }
    plant.caught(Page, HOME, "P1");
}

#[test]
fn p3_a_sitemap_that_is_forbidden_is_seen() {
    let closed = RobotsFile { disallow: vec!["/c"], ..open_file() };
    Plant::after_robots(closed).caught(Sitemap, "https://a.test/c.xml", "P3");
    Plant::new().caught(Sitemap, "https://a.test/s.xml", "P3");
}

#[test]
fn p1_a_cycle_that_begins_early_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    plant.pass(29 * DAY_SECS);
    let next_at = plant.now.plus(Duration::from_secs(30 * DAY_SECS));
    plant.checker.cycle_begins(2, plant.now, next_at).unwrap();
    plant.caught(Robots, ROBOTS, "P1");
}

#[test]
fn p1_two_budgets_back_to_back_are_seen() {
    for (rest_days, is_fine) in [(2, false), (8, true)] {
        let mut plant = Plant::new();
        plant.pass(29 * DAY_SECS);
        plant.robots(RobotsSaid::Rules(Rc::new(open_file())));
        plant.pass(5);
        plant.page(HOME, PageSaid::Good);
        plant.pass(rest_days * DAY_SECS);
        let next_at = plant.now.plus(Duration::from_secs(30 * DAY_SECS));
        plant.checker.cycle_begins(2, plant.now, next_at).unwrap();
        plant.robots(RobotsSaid::Rules(Rc::new(open_file())));
        plant.pass(5);
        match is_fine {
            true => plant.page(HOME, PageSaid::Good),
            false => plant.caught(Page, HOME, "P1"),
        }
    }
}

#[test]
fn p1_an_interval_out_of_its_bounds_is_seen() {
    let mut plant = Plant::new();
    for days in [6, 91] {
        let next_at = plant.now.plus(Duration::from_secs(days * DAY_SECS));
        let watched = plant.checker.cycle_begins(2, plant.now, next_at);
        assert!(watched.as_ref().is_err_and(|wrong| wrong.starts_with("P1")), "{days} days: {watched:?}");
    }
}

#[test]
fn p1_a_request_on_another_sites_account_is_seen() {
    Plant::new().caught(Robots, "https://b.test/robots.txt", "P1");
}

#[test]
fn p2_two_requests_at_once_are_seen() {
    let mut plant = Plant::new();
    plant.ask(Robots, ROBOTS).unwrap();
    plant.caught(Robots, "https://www.a.test/robots.txt", "P2");
}

#[test]
fn p2_a_gap_below_the_delay_the_crawl_delay_or_the_double_after_a_backoff_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    plant.page(HOME, PageSaid::Other);
    plant.pass(4);
    plant.caught(Page, HOME, "P2");

    let slow = RobotsFile { crawl_delay: Some(300), ..open_file() };
    Plant::after_robots(slow).caught(Page, HOME, "P2");

    let mut plant = Plant::after_robots(open_file());
    plant.page(HOME, PageSaid::Busy);
    plant.pass(60);
    plant.page(HOME, PageSaid::Good);
    plant.pass(9);
    plant.caught(Page, HOME, "P2");
}

#[test]
fn p2_a_gap_that_does_not_run_from_the_restart_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    plant.ask(Page, HOME).unwrap();
    plant.pass(100);
    let survivors = Survivors { num_events: plant.num_events, cycle: 1, open: true, ..Survivors::default() };
    plant.checker.restarted(&survivors, plant.now);
    plant.pass(4);
    plant.caught(Robots, ROBOTS, "P2");
}

#[test]
fn p3_a_page_before_its_origins_robots_txt_is_seen() {
    Plant::new().caught(Page, HOME, "P3");
    let mut plant = Plant::after_robots(open_file());
    plant.caught(Page, "http://a.test/", "P3");
    plant.caught(Page, "https://a.test:8443/", "P3");
}

#[test]
fn p3_a_forbidden_path_a_closed_site_and_an_old_copy_are_seen() {
    let closed = RobotsFile { disallow: vec!["/c"], ..open_file() };
    Plant::after_robots(closed).caught(Page, "https://a.test/c?id=1", "P3");

    let mut plant = Plant::new();
    plant.robots(RobotsSaid::Closed);
    plant.pass(5);
    plant.caught(Page, HOME, "P3");

    // The first page may come by a copy that is a day and a few minutes old, and by none that is older.
    let mut plant = Plant::after_robots(open_file());
    plant.pass(DAY_SECS + 601);
    plant.caught(Page, HOME, "P3");
}

#[test]
fn p3_while_unreadable_an_old_copy_counts_after_twelve_hours_up_to_thirty_days() {
    for (secs, permitted) in [(11 * 3600, false), (12 * 3600, true), (29 * DAY_SECS, true), (31 * DAY_SECS, false)] {
        let mut plant = Plant::after_robots(open_file());
        plant.pass(2 * DAY_SECS);
        plant.robots(RobotsSaid::Unreadable);
        plant.pass(secs);
        assert_eq!(plant.ask(Page, HOME).is_ok(), permitted, "after {secs} s");
    }
}

#[test]
fn p3_the_twenty_first_origin_and_a_hop_that_no_answer_named_are_seen() {
    let mut plant = Plant::new();
    for host in 0..20 {
        plant.ask(Robots, &format!("https://h{host}.a.test/robots.txt")).unwrap();
        plant.robots_end(RobotsSaid::NoRules);
        plant.pass(5);
    }
    plant.caught(Robots, "https://h20.a.test/robots.txt", "P3");
    Plant::new().caught(Robots, "https://a.test/robots2.txt", "P3");
}

#[test]
fn p4_a_request_inside_a_wait_or_below_the_ladder_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    plant.page_told(HOME, PageSaid::Other, Some(7200));
    plant.pass(7199);
    plant.caught(Page, HOME, "P4");

    let mut plant = Plant::after_robots(open_file());
    for rung in 0..3 {
        plant.page(HOME, PageSaid::Silent);
        plant.pass((60 << rung) - 1);
        plant.caught(Page, HOME, "P4");
        plant.pass(1);
    }

    let mut plant = Plant::new();
    plant.robots(RobotsSaid::Unreadable);
    plant.pass(59);
    plant.caught(Robots, ROBOTS, "P4");

    let mut plant = Plant::new();
    plant.checker.unresolved(&url_of(ROBOTS), &ResolveFailure::NameServers, plant.now, true);
    plant.caught(Robots, ROBOTS, "P4");
}

#[test]
fn p4_a_wait_is_forgiven_only_where_the_crash_came_before_its_event_was_durable() {
    for (num_lost, forgiven) in [(0, false), (1, true)] {
        let mut plant = Plant::after_robots(open_file());
        plant.page_told(HOME, PageSaid::Busy, Some(7200));
        let num_events = plant.num_events - num_lost;
        plant.checker.restarted(&Survivors { num_events, cycle: 1, ..Survivors::default() }, plant.now);
        plant.pass(100);
        assert_eq!(plant.ask(Robots, ROBOTS).is_ok(), forgiven, "{num_lost} events lost");
    }
}

#[test]
fn p5_a_request_within_seven_days_of_a_barrier_on_the_home_page_is_seen() {
    let mut plant = Plant::after_robots(open_file());
    plant.page(HOME, PageSaid::Barrier);
    plant.pass(6 * DAY_SECS);
    plant.caught(Robots, ROBOTS, "P5");
}

#[test]
fn p8_a_request_to_an_excluded_host_is_seen() {
    let mut plant = Plant::new();
    plant.checker.exclude(vec!["www.a.test".to_owned()]);
    plant.caught(Robots, "https://www.a.test/robots.txt", "P8");
    plant.caught(Robots, "https://x.www.a.test/robots.txt", "P8");
    plant.ask(Robots, ROBOTS).unwrap();
}
