//! Which links are taken into the queue, in which order they are asked, and that those left out are counted.

use super::*;
use crate::discovery::{LinkDrop, LinkDropCounts, MAX_CALENDAR_PAGES, TrapKind};
use crate::page_choice::{LinkedPage, PageLinks};

impl Play {
    /// The home page comes, with these links on it.
    #[track_caller]
    fn store_page_with(&mut self, links: &[&str]) {
        let ticket = self.ask();
        let found = links.iter().map(|link| PageUrl::parse(link, Some(&ticket.intent.url)).unwrap());
        let links = found.map(|url| LinkedPage { url, above: None }).collect();
        self.state.on_page_links(ticket.number, PageLinks { links, ..PageLinks::default() }, self.now);
        let arrival = self.arrival();
        self.state.on_outcome(
            ticket.number,
            PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) },
            arrival,
        );
    }

    #[track_caller]
    fn check_dropped(&self, wanted: &[(LinkDrop, u32)]) {
        assert_eq!(self.state.dropped_links().iter().collect::<Vec<_>>(), wanted);
    }

    fn is_queued(&self, path: &str) -> bool {
        self.state.queue().get(&url(&format!("https://a.test{path}"))).is_some()
    }
}

#[test]
fn seed_that_looks_like_a_trap_is_asked_and_what_it_leads_to_is_judged() {
    const TRAP: &str = "https://a.test/x1/x1/x1/";
    let mut play = Play::with_seed(TRAP, SeedScheme::Written);
    play.allow_all();
    play.store_page_with(&["x1/", "/page", TRAP]);
    play.check_dropped(&[(LinkDrop::Trap(TrapKind::RepeatedSegment), 1)]);
    assert!(play.is_queued("/page") && !play.is_queued("/x1/x1/x1/x1/"));
    assert_eq!(play.store_page().intent.url.path_and_query(), "/page");
}

#[test]
fn target_of_a_redirect_that_is_a_trap_is_dropped_and_counted() {
    let mut play = Play::new();
    play.allow_all();
    let target = url("https://a.test/x?a=1&a=1&a=1");
    let answer =
        Answer::Redirect { target: RedirectTarget::To(target), permanence: Permanence::Temporary, retry_after: None };
    play.answer(PageEnd::Answered { status: 302, answer });
    play.check_dropped(&[(LinkDrop::Trap(TrapKind::RepeatedParameter), 1)]);
    assert_eq!(play.state.queue().num_queued(), 0);
}

#[test]
fn url_that_may_be_a_trap_waits_until_nothing_else_does() {
    let mut play = Play::new();
    play.allow_all();
    let links = ["/2019/05/", "/2019/05/", "/x?a=1&b=2&c=3&d=4&e=5&f=6", "/far/away/from/every/thing?id=7", "/near"];
    play.store_page_with(&links);
    let asked: Vec<String> = (0..4).map(|_| play.store_page().intent.url.path_and_query().to_owned()).collect();
    assert_eq!(asked, ["/near", links[3], links[0], links[2]]);
    play.check_dropped(&[]);
}

#[test]
fn calendar_takes_no_more_than_its_share_whatever_page_links_to_it() {
    let mut play = Play::new();
    play.allow_all();
    // 2027-01-15 is when the clock starts.
    play.store_page_with(&["/calendar/2027/1/", "/about"]);
    play.store_page();
    for month in 2..12 {
        play.store_page_with(&[&format!("/calendar/2027/{month}/"), "/about"]);
        if month > 4 {
            break;
        }
    }
    let calendar = play.state.queue().entries().iter().filter(|entry| entry.url.as_str().contains("calendar"));
    assert_eq!(calendar.count(), MAX_CALENDAR_PAGES);
    play.check_dropped(&[(LinkDrop::Trap(TrapKind::EndlessCalendar), 1)]);
}

#[test]
fn full_queue_robots_and_exclusions_are_counted() {
    let mut play = Play::new();
    let mut rules = (*rules()).clone();
    rules.max_queued_urls = 5;
    play.state.rules = Arc::new(rules);
    play.answer_robots(&ResponseHead::new(200), "User-agent: *\nDisallow: /no\n");
    let mut exclusions = Exclusions::default();
    let exclusion = crate::exclusion::Exclusion { at: START, reason: String::new() };
    exclusions.insert(crate::exclusion::Domain::parse("out.a.test").unwrap(), exclusion);
    play.state.on_exclusions(exclusions);
    play.store_page_with(&["https://out.a.test/", "https://b.test/", "/no/1", "/no/2", "/3", "/4", "/5", "/6", "/4"]);
    play.check_dropped(&[(LinkDrop::QueueFull, 2), (LinkDrop::Excluded, 1)]);
    play.store_page();
    play.store_page();
    assert_eq!(
        play.state.next_action(play.now.plus(Duration::from_secs(5))),
        HostAction::Finish(FinishReason::QueueEmpty)
    );
    play.check_dropped(&[(LinkDrop::QueueFull, 2), (LinkDrop::Robots, 2), (LinkDrop::Excluded, 1)]);
}

#[test]
fn traps_that_a_sitemap_lists_are_left_out() {
    let mut play = Play::new();
    play.answer_robots(&ResponseHead::new(200), "Sitemap: https://a.test/map.xml\n");
    play.store_page();
    let ticket = play.ask();
    assert_eq!(ticket.intent.kind, RequestKind::Sitemap);
    let pages = vec![url("https://a.test/x1/x1/x1"), url("https://a.test/listed"), url("https://b.test/")];
    let arrival = play.arrival();
    play.state.on_sitemap(ticket.number, 200, SitemapEnd::Read { pages, sitemaps: Vec::new() }, arrival);
    play.check_dropped(&[(LinkDrop::Trap(TrapKind::RepeatedSegment), 1)]);
    assert_eq!(play.store_page().intent.url.path_and_query(), "/listed");
}

#[test]
fn queue_holds_a_thousand_urls_under_a_page_with_ten_thousand_links() {
    let mut play = Play::new();
    play.allow_all();
    let links: Vec<String> = (0..10_000).map(|number| format!("/page/{number}")).collect();
    play.store_page_with(&links.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(play.state.queue().entries().len(), 1000);
    play.check_dropped(&[(LinkDrop::QueueFull, 9001)]);
}

#[test]
fn what_finds_no_place_is_counted_wherever_it_comes_from_and_what_finds_one_is_not() {
    let home = url("https://a.test/");
    let rules = SiteRules { max_queued_urls: 3, ..(*rules()).clone() };
    let mut state = HostState::new(home.site(), Arc::new(rules), Exclusions::default());
    state.add_seed(Seed { url: home, scheme: SeedScheme::Written });
    let mut play = Play { state, now: START };
    play.link("https://a.test/1");
    play.link("https://a.test/1");
    play.link("https://a.test/2");
    play.check_dropped(&[]);
    play.link("https://a.test/3");
    play.check_dropped(&[(LinkDrop::QueueFull, 1)]);
    play.allow_all();
    play.store_page_with(&["/1", "/4", "/5"]);
    play.check_dropped(&[(LinkDrop::QueueFull, 3)]);

    let mut before_the_queue = LinkDropCounts::default();
    before_the_queue.add(LinkDrop::Nofollow, 2);
    play.state.note_dropped_links(&before_the_queue);
    play.check_dropped(&[(LinkDrop::QueueFull, 3), (LinkDrop::Nofollow, 2)]);
}

#[test]
fn pages_of_a_sitemap_that_find_no_place_are_counted() {
    let home = url("https://a.test/");
    let rules = SiteRules { max_queued_urls: 6, ..(*rules()).clone() };
    let mut state = HostState::new(home.site(), Arc::new(rules), Exclusions::default());
    state.add_seed(Seed { url: home, scheme: SeedScheme::Written });
    let mut play = Play { state, now: START };
    play.answer_robots(&ResponseHead::new(200), "Sitemap: /map.xml\n");
    play.store_page();
    let ticket = play.ask();
    let pages: Vec<PageUrl> = (0..9).map(|page| url(&format!("https://a.test/{page}"))).collect();
    let arrival = play.arrival();
    play.state.on_sitemap(ticket.number, 200, SitemapEnd::Read { pages: pages.clone(), sitemaps: vec![] }, arrival);
    let num_queued = pages.iter().filter(|page| play.state.queue().get(page).is_some()).count();
    assert!((1..9).contains(&num_queued), "{num_queued}");
    play.check_dropped(&[(LinkDrop::QueueFull, u32::try_from(9 - num_queued).unwrap())]);
}

#[test]
fn seed_that_may_be_a_trap_stands_back_behind_nothing() {
    let suspect = crate::page_choice::FrontierEntry::new(url("https://a.test/2019/05/"), 0);
    assert!(!HostState::looks_like_a_trap(&suspect, START));
    let linked = crate::page_choice::FrontierEntry { depth: 1, ..suspect };
    assert!(HostState::looks_like_a_trap(&linked, START));
}

#[test]
fn what_may_be_a_trap_goes_before_an_origin_whose_robots_file_failed() {
    let mut play = Play::new();
    play.state.add_seed(Seed { url: url("https://www.a.test/"), scheme: SeedScheme::Written });
    play.allow_all();
    play.store_page();
    play.answer_robots(&ResponseHead::new(503), "");
    play.link("https://a.test/2019/05/");
    assert_eq!(play.store_page().intent.url, url("https://a.test/2019/05/"));
    assert_eq!(play.ask().intent.url, url("https://www.a.test/robots.txt"));
}
