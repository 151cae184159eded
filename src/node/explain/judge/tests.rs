//! What is said of a site whose cycle is over while something of it waits again, and of links that came too early.

use lohisoftbot_actors::testkit::storage_contract::{row, stored_link};
use lohisoftbot_core::page_choice::PageQueue;

use super::*;

const NOW: Timestamp = Timestamp::from_secs(1_000);
const NEXT: Timestamp = Timestamp::from_secs(1_800_000_000);
const PAGE: &str = "http://a.test/page";

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, None).unwrap()
}

/// A site with its first cycle over after five requests: its home page was settled, and `queued` wait.
fn view(standing: SiteStanding, due_secs: u64, reason: FinishReason, queued: &[&str]) -> SiteView {
    let mut row = row("a.test", standing, due_secs);
    row.account.cycle = 1;
    row.account.cycle_closed = Some(reason);
    row.account.num_page_requests = 5;
    row.account.next_cycle_at = NEXT;
    let mut queue = PageQueue::default();
    queue.add(url("http://a.test/"), 0, 0, 100);
    queue.settle(&url("http://a.test/"), EntryStanding::Stored);
    for text in queued {
        queue.add(url(text), 1, 0, 100);
    }
    SiteView { row, queue, robots: Vec::new(), pages: Vec::new(), dropped_links: None }
}

/// The word of the reason and what is said of what comes next.
fn told(view: &SiteView, page_budget: u16, inlinks: &[InlinkRow]) -> (&'static str, String) {
    let (url, history, discovery) = (url(PAGE), UrlHistory::default(), DiscoverySettings::default());
    let facts = Facts {
        url: &url,
        view: Some(view),
        excluded: None,
        history: &history,
        inlinks,
        discovery: &discovery,
        num_sites: 1,
        pace: NodePace::Running,
        page_budget,
        now: NOW,
    };
    (facts.reason().code(), super::super::next_sentence(&facts, view))
}

#[track_caller]
fn check(view: &SiteView, page_budget: u16, code: &str, says: &str) {
    let (found, next) = told(view, page_budget, &[]);
    assert_eq!(found, code);
    assert!(next.contains(says), "{next}");
}

#[test]
fn cycle_that_was_over_goes_on_where_its_site_is_taken_up_before_the_next() {
    let (empty, spent) = (FinishReason::QueueEmpty, FinishReason::BudgetSpent);
    let goes_on = "goes on, since pages of it wait again";
    check(&view(SiteStanding::Due, 500, empty, &[PAGE]), 20, "robots_unread", goes_on);
    check(&view(SiteStanding::Live, 500, empty, &[PAGE]), 20, "robots_unread", goes_on);
    check(&view(SiteStanding::Due, 500, spent, &[PAGE]), 20, "robots_unread", goes_on);
    check(&view(SiteStanding::Due, 500, spent, &[PAGE]), 5, "budget_spent", "before the next cycle");
    let resting = view(SiteStanding::Finished { reason: empty }, 1_800_000_000, empty, &[PAGE]);
    check(&resting, 20, "cycle_over", "before the next cycle");
    // A seed joins the queue when its site is taken up.
    let mut seeded = view(SiteStanding::Finished { reason: empty }, 500, empty, &[]);
    check(&seeded, 20, "not_linked", "before the next cycle");
    seeded.row.seeds.extend(lohisoftbot_core::seed::Seed::parse(PAGE));
    check(&seeded, 20, "robots_unread", goes_on);
}

#[test]
fn link_of_another_sites_page_found_the_site_at_rest() {
    let view = view(SiteStanding::Live, 500, FinishReason::QueueEmpty, &[]);
    let from = |source: &str, nofollow| {
        let mut link = stored_link(PAGE, "text");
        link.nofollow = nofollow;
        InlinkRow { source: url(source), fetched_at: NOW, links: vec![link] }
    };
    let code = |inlinks: &[InlinkRow]| told(&view, 20, inlinks).0;
    assert_eq!(code(&[from("http://b.test/", false)]), "resting_site");
    assert_eq!(code(&[from("http://a.test/", true), from("http://b.test/", false)]), "resting_site");
    assert_eq!(code(&[from("http://b.test/", true)]), "nofollow");
    assert_eq!(code(&[from("http://a.test/", false)]), "not_linked");
}
