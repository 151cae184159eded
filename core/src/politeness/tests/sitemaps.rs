//! Sitemaps of a site: which are asked for, when, how many, and what their lists come to.

use super::*;
use crate::exclusion::{Domain, Exclusion};
use crate::page_choice::EntryRole;
use crate::robots::status::BodyEnd;
use crate::site_row::SiteRow;

const TWO_NAMED: &str = "Sitemap: https://a.test/1.xml\nSitemap: /2.xml\nUser-agent: *\nAllow: /\n";

impl Play {
    #[track_caller]
    fn with_robots(robots: &str) -> Self {
        let mut play = Self::new();
        play.answer_robots(&ResponseHead::new(200), robots);
        play
    }

    /// The next request is for a sitemap, which comes to `end`; its path.
    #[track_caller]
    fn read_sitemap(&mut self, end: SitemapEnd) -> String {
        let ticket = self.ask();
        assert_eq!(ticket.intent.kind, RequestKind::Sitemap, "{}", ticket.intent.url);
        let arrival = self.arrival();
        self.state.on_sitemap(ticket.number, 200, end, arrival);
        ticket.intent.url.path_and_query().to_owned()
    }

    #[track_caller]
    fn end_sitemap(&mut self, end: PageEnd) -> String {
        let ticket = self.ask();
        assert_eq!(ticket.intent.kind, RequestKind::Sitemap, "{}", ticket.intent.url);
        let arrival = self.arrival();
        self.state.on_outcome(ticket.number, end, arrival);
        ticket.intent.url.path_and_query().to_owned()
    }

    fn standing(&self, raw: &str) -> Option<EntryStanding> {
        self.state.queue().get(&url(raw)).map(|entry| entry.standing.clone())
    }

    /// The next requests, pages stored and sitemaps empty, until the cycle ends; their paths.
    fn harvest(&mut self) -> Vec<String> {
        let mut paths = Vec::new();
        loop {
            match self.state.next_action(self.now) {
                HostAction::FetchRobots(_) => self.allow_all(),
                HostAction::Fetch(intent) if intent.kind == RequestKind::Sitemap => {
                    paths.push(self.read_sitemap(listing(&[], &[])));
                }
                HostAction::Fetch(_) => paths.push(self.store_page().intent.url.path_and_query().to_owned()),
                HostAction::WaitUntil(until) | HostAction::Park { until, .. } => self.now = until,
                HostAction::Finish(_) => return paths,
                HostAction::BorrowRobots(_) | HostAction::AwaitOutcome => panic!("nothing was asked"),
            }
        }
    }
}

fn listing(pages: &[&str], sitemaps: &[&str]) -> SitemapEnd {
    let urls = |raw: &[&str]| raw.iter().map(|raw| url(raw)).collect();
    SitemapEnd::Read { pages: urls(pages), sitemaps: urls(sitemaps) }
}

#[test]
fn named_sitemaps_come_right_after_the_home_page_and_their_pages_after_linked_ones() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.link("https://a.test/linked");
    assert_eq!(play.store_page().intent.url, url("https://a.test/"));
    assert_eq!(play.read_sitemap(listing(&["https://a.test/new", "https://a.test/old"], &[])), "/1.xml");
    assert_eq!(play.standing("https://a.test/1.xml"), Some(EntryStanding::SitemapRead { num_urls: 2 }));
    assert_eq!(play.harvest(), ["/2.xml", "/linked", "/new", "/old"]);
}

#[test]
fn two_are_asked_a_cycle_and_each_is_one_of_its_page_requests() {
    let mut play = Play::with_robots("Sitemap: /1\nSitemap: /2\nSitemap: /3\n");
    for page in 0..40 {
        play.link(&format!("https://a.test/{page}x"));
    }
    let asked = play.harvest();
    assert_eq!((asked.len(), &asked[..3]), (20, &["/".to_owned(), "/1".to_owned(), "/2".to_owned()][..]));
    assert_eq!(play.standing("https://a.test/3"), Some(EntryStanding::Dropped(DropReason::SitemapsSpent)));
    let account = play.state.account();
    assert_eq!((account.num_page_requests, account.num_sitemap_requests), (20, 2));
}

#[test]
fn no_crash_brings_a_third_request() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.store_page();
    let (queue, robots) = (play.state.queue().clone(), play.state.robots().to_vec());
    let restart = |play: &mut Play| {
        let mut row = SiteRow::new(play.state.site().clone(), play.state.seeds().to_vec(), START);
        row.account = play.state.account().clone();
        let parts = (queue.clone(), robots.clone());
        play.state = HostState::restore(row, parts.0, parts.1, rules(), Exclusions::default(), play.now);
    };
    for _ in 0..2 {
        assert_eq!(play.ask().intent.kind, RequestKind::Sitemap);
        restart(&mut play);
    }
    assert_eq!(play.harvest(), Vec::<String>::new());
    assert_eq!(play.state.account().num_sitemap_requests, 2);
}

#[test]
fn what_an_index_lists_goes_before_the_other_named_ones() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.store_page();
    play.read_sitemap(listing(&[], &["https://a.test/child-a.xml", "https://a.test/child-b.xml"]));
    assert_eq!(play.read_sitemap(listing(&["https://a.test/found"], &[])), "/child-a.xml");
    assert_eq!(play.harvest(), ["/found"]);
}

#[test]
fn a_guess_is_made_only_where_nothing_is_named_and_nothing_else_is_left() {
    let mut play = Play::with_robots("User-agent: *\nAllow: /\n");
    play.store_page();
    play.link("https://a.test/linked");
    assert_eq!(play.store_page().intent.url, url("https://a.test/linked"));
    assert_eq!(play.read_sitemap(listing(&["https://a.test/hidden"], &[])), "/sitemap.xml");
    assert_eq!(play.harvest(), ["/hidden"]);

    let mut named = Play::with_robots(TWO_NAMED);
    assert_eq!(named.harvest(), ["/", "/1.xml", "/2.xml"]);
    let mut named_elsewhere = Play::with_robots("Sitemap: https://cdn.example/s.xml\n");
    assert_eq!(named_elsewhere.harvest(), ["/", "/sitemap.xml"]);
}

#[test]
fn no_guess_is_made_in_a_cycle_that_asked_for_a_sitemap_though_none_is_named_any_more() {
    let mut play = Play::with_robots("Sitemap: /named.xml\n");
    play.store_page();
    assert_eq!(play.read_sitemap(listing(&[], &[])), "/named.xml");
    // A day later the file is read anew, and names none.
    play.now = play.now.plus(Duration::from_secs(2 * 86_400));
    play.link("https://a.test/late");
    assert_eq!(play.harvest(), ["/late"]);
}

#[test]
fn no_guess_is_made_for_a_site_that_fills_the_budget_or_gave_no_page_or_is_not_well() {
    let mut full = Play::with_robots("");
    for page in 0..19 {
        full.link(&format!("https://a.test/{page}"));
    }
    assert!(!full.harvest().contains(&"/sitemap.xml".to_owned()));

    // One request is left: nothing that the sitemap lists could be asked.
    let mut nearly_full = Play::with_robots("");
    for page in 0..18 {
        nearly_full.link(&format!("https://a.test/{page}"));
    }
    assert_eq!(nearly_full.harvest().len(), 19);

    let mut no_page = Play::with_robots("");
    no_page.answer(PageEnd::Answered { status: 404, answer: Answer::Gone });
    assert_eq!(no_page.harvest(), Vec::<String>::new());

    let mut unwell = Play::with_robots("");
    unwell.store_page();
    unwell.link("https://a.test/b");
    for _ in 0..3 {
        unwell.answer(busy(503, None));
    }
    assert_eq!(unwell.harvest(), Vec::<String>::new());
}

#[test]
fn a_guess_goes_where_the_seed_led_to() {
    let mut play = Play::with_robots("");
    let target = RedirectTarget::To(url("https://www.a.test/"));
    let answer = Answer::Redirect { target, permanence: Permanence::Permanent, retry_after: None };
    play.answer(PageEnd::Answered { status: 301, answer });
    play.allow_all();
    play.store_page();
    assert_eq!(play.ask().intent.url, url("https://www.a.test/sitemap.xml"));
}

#[test]
fn a_guess_is_made_in_each_cycle_anew() {
    let mut play = Play::with_robots("");
    assert_eq!(play.harvest(), ["/", "/sitemap.xml"]);
    play.now = play.state.account().next_cycle_at;
    assert_eq!(play.harvest(), ["/", "/sitemap.xml"]);
}

#[test]
fn robots_rules_hold_for_sitemaps_and_for_what_they_list() {
    let mut play = Play::with_robots("Sitemap: /no/1.xml\nSitemap: /2.xml\nUser-agent: *\nDisallow: /no/\n");
    play.store_page();
    let list = listing(&["https://a.test/no/page", "https://a.test/page"], &["https://a.test/no/3.xml"]);
    assert_eq!(play.read_sitemap(list), "/2.xml");
    assert_eq!(play.harvest(), ["/page"]);
    for forbidden in ["https://a.test/no/1.xml", "https://a.test/no/3.xml", "https://a.test/no/page"] {
        let standing = play.standing(forbidden);
        let by_line = matches!(standing, Some(EntryStanding::Dropped(DropReason::Robots { line: 4, .. })));
        assert!(by_line, "{forbidden}: {standing:?}");
    }
}

#[test]
fn nothing_of_another_site_or_an_excluded_host_is_taken() {
    let mut play = Play::with_robots("Sitemap: https://b.test/s.xml\nSitemap: /s.xml\n");
    let mut exclusions = Exclusions::default();
    let exclusion = Exclusion { at: START, reason: String::new() };
    exclusions.insert(Domain::parse("out.a.test").unwrap(), exclusion);
    play.state.on_exclusions(exclusions);
    play.store_page();
    let pages = ["https://b.test/x", "https://out.a.test/x", "https://a.test/x"];
    assert_eq!(play.read_sitemap(listing(&pages, &["https://b.test/c.xml", "https://out.a.test/c.xml"])), "/s.xml");
    assert_eq!(play.harvest(), ["/x"]);
}

#[test]
fn answers_to_a_sitemap_make_the_site_wait_like_those_to_a_page() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.store_page();
    play.end_sitemap(busy(503, Some(Duration::from_secs(5000))));
    assert_eq!(play.pause(), Duration::from_secs(5000));
    play.end_sitemap(PageEnd::Failed(FetchFailure::Reset));
    assert!(play.state.account().not_before().since(play.now) >= Duration::from_secs(60));
    assert_eq!(play.harvest(), Vec::<String>::new());

    let mut play = Play::with_robots(TWO_NAMED);
    play.store_page();
    let challenge = || Answer::Barrier { kind: BarrierKind::Challenge, status: 403, retry_after: None };
    play.end_sitemap(PageEnd::Answered { status: 403, answer: challenge() });
    play.end_sitemap(PageEnd::Answered { status: 403, answer: challenge() });
    assert_eq!(play.state.account().barrier_streak, 2);
    assert_eq!(
        play.standing("https://a.test/1.xml"),
        Some(EntryStanding::Dropped(DropReason::Barrier(BarrierKind::Challenge)))
    );
}

#[test]
fn a_redirect_of_a_sitemap_is_a_sitemap_and_counts_as_another_request() {
    let redirect = |to: &str| {
        let target = RedirectTarget::To(url(to));
        let answer = Answer::Redirect { target, permanence: Permanence::Temporary, retry_after: None };
        PageEnd::Answered { status: 302, answer }
    };
    let mut play = Play::with_robots("Sitemap: /s.xml\n");
    play.store_page();
    play.end_sitemap(redirect("https://a.test/there.xml"));
    assert_eq!(play.read_sitemap(listing(&["https://a.test/x"], &[])), "/there.xml");
    assert_eq!(play.harvest(), ["/x"]);
    assert_eq!(play.state.account().num_sitemap_requests, 2);

    let mut play = Play::with_robots("Sitemap: /s.xml\n");
    play.store_page();
    play.end_sitemap(redirect("https://b.test/there.xml"));
    assert_eq!(play.harvest(), Vec::<String>::new());
}

#[test]
fn what_is_no_sitemap_or_cannot_be_read_is_dropped_with_its_reason() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.store_page();
    play.read_sitemap(SitemapEnd::NoSitemap);
    play.read_sitemap(SitemapEnd::Failed);
    assert_eq!(play.standing("https://a.test/1.xml"), Some(EntryStanding::Dropped(DropReason::NoSitemap)));
    assert_eq!(play.standing("https://a.test/2.xml"), Some(EntryStanding::Dropped(DropReason::ExtractionFailed)));
    assert_eq!(play.harvest(), Vec::<String>::new());
}

#[test]
fn an_end_of_another_ticket_changes_nothing() {
    let mut play = Play::with_robots(TWO_NAMED);
    let home = play.ask();
    let before = play.state.account().clone();
    for number in [home.number, home.number + 1] {
        let arrival = play.arrival();
        play.state.on_sitemap(number, 200, listing(&["https://a.test/x"], &[]), arrival);
    }
    assert_eq!(*play.state.account(), before);
    assert_eq!(play.standing("https://a.test/x"), None);
}

#[test]
fn a_sitemap_of_another_origin_of_the_site_is_asked_after_that_origins_robots_txt() {
    let mut play = Play::with_robots("Sitemap: https://www.a.test/s.xml\n");
    play.store_page();
    let ticket = play.answer_robots(&ResponseHead::new(404), "");
    assert_eq!(ticket.intent.url, url("https://www.a.test/robots.txt"));
    assert_eq!(play.read_sitemap(listing(&[], &[])), "/s.xml");
}

#[test]
fn a_budget_of_two_is_not_spent_on_a_sitemap() {
    let mut lowered = (*rules()).clone();
    lowered.budget = Budget::new(2, 20).unwrap();
    let mut play = Play::new();
    play.state = HostState::new(url("https://a.test/").site(), Arc::new(lowered), Exclusions::default());
    play.state.add_seed(Seed { url: url("https://a.test/"), scheme: SeedScheme::Written });
    let ticket = play.ask();
    let head = ResponseHead::new(200);
    let end = RobotsEnd::Answered { head: &head, body: TWO_NAMED.as_bytes(), body_end: BodyEnd::Whole };
    let arrival = play.arrival();
    play.state.on_robots(ticket.number, end, arrival);
    play.link("https://a.test/linked");
    assert_eq!(play.harvest(), ["/", "/linked"]);
}

#[test]
fn the_role_is_a_sitemaps_own_and_a_page_has_none() {
    let mut play = Play::with_robots(TWO_NAMED);
    play.link("https://a.test/1.xml");
    let role = |raw: &str| play.state.queue().get(&url(raw)).unwrap().role;
    assert_eq!(role("https://a.test/1.xml"), EntryRole::Sitemap { depth: 0 });
    assert_eq!(role("https://a.test/"), EntryRole::Page);
}

#[test]
fn redirects_of_a_sitemap_are_counted_on_its_target() {
    let mut play = Play::with_robots("Sitemap: https://a.test/0.xml\n");
    play.store_page();
    let mut paths = Vec::new();
    for hop in 1..=2 {
        let target = RedirectTarget::To(url(&format!("https://a.test/{hop}.xml")));
        let answer = Answer::Redirect { target, permanence: Permanence::Temporary, retry_after: None };
        paths.push(play.end_sitemap(PageEnd::Answered { status: 302, answer }));
    }
    assert_eq!(paths, ["/0.xml", "/1.xml"]);
    let hops = |raw: &str| play.state.queue().get(&url(raw)).map(|entry| entry.num_hops);
    assert_eq!((hops("https://a.test/1.xml"), hops("https://a.test/2.xml")), (Some(1), Some(2)));
}

#[test]
fn no_sitemap_is_guessed_at_when_only_one_request_is_left() {
    let mut play = Play::new();
    play.allow_all();
    for page in 0..18 {
        play.link(&format!("https://a.test/{page}"));
    }
    for _ in 0..19 {
        play.store_page();
    }
    assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    assert_eq!(play.standing("https://a.test/sitemap.xml"), None);
}

#[test]
fn restored_site_knows_the_sitemaps_of_copies_that_have_not_run_out() {
    let play = Play::with_robots("Sitemap: /1.xml\n");
    let expires_at = play.state.robots()[0].copy.as_ref().unwrap().expires_at;
    for (before_ms, is_known) in [(1, true), (0, false)] {
        let mut row = SiteRow::new(play.state.site().clone(), play.state.seeds().to_vec(), START);
        row.account = play.state.account().clone();
        let now = Timestamp::from_millis(expires_at.as_millis() - before_ms);
        let robots = play.state.robots().to_vec();
        let restored = HostState::restore(row, PageQueue::default(), robots, rules(), Exclusions::default(), now);
        assert_eq!(restored.queue().get(&url("https://a.test/1.xml")).is_some(), is_known, "{before_ms} ms before");
    }
}
