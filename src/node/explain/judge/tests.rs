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

/// What `ask` says of the page.
fn of_page<T>(
    view: &SiteView,
    page_budget: u16,
    inlinks: &[InlinkRow],
    pace: NodePace,
    ask: impl FnOnce(&Facts<'_>) -> T,
) -> T {
    let (url, history, discovery) = (url(PAGE), UrlHistory::default(), DiscoverySettings::default());
    ask(&Facts {
        url: &url,
        view: Some(view),
        excluded: None,
        history: &history,
        inlinks,
        discovery: &discovery,
        num_sites: 1,
        pace,
        page_budget,
        now: NOW,
    })
}

/// The word of the reason and what is said of what comes next.
fn told(view: &SiteView, page_budget: u16, inlinks: &[InlinkRow]) -> (&'static str, String) {
    of_page(view, page_budget, inlinks, NodePace::Running, |facts| {
        (facts.reason().code(), super::super::next_sentence(facts, view))
    })
}

/// The sentence of the reason.
fn told_in_full(view: &SiteView, page_budget: u16, pace: NodePace) -> String {
    of_page(view, page_budget, &[], pace, |facts| facts.reason().sentence())
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
fn closed_site_past_the_start_of_its_next_cycle_is_told_as_due_with_what_comes_first() {
    for reason in [FinishReason::QueueEmpty, FinishReason::BudgetSpent, FinishReason::AddressRefused] {
        let mut view = view(SiteStanding::Finished { reason }, 900, reason, &[PAGE]);
        view.row.account.next_cycle_at = Timestamp::from_secs(900);
        check(&view, 20, "next_cycle_due", "is due now, since 1970-01-01T00:15:00");
        check(&view, 5, "next_cycle_due", "of its pages http://a.test/ comes first");
        // The home page, stored in the last cycle, stands before it in the next.
        let sentence = told_in_full(&view, 20, NodePace::Running);
        for part in ["due now", "First the robots.txt", "1 other pages of its site stand before it"] {
            assert!(sentence.contains(part), "{part:?} is missing in {sentence}");
        }
        assert!(!sentence.contains("no sooner than"), "{sentence}");
        assert!(told_in_full(&view, 20, NodePace::Paused).contains("paused all requests"));
        view.row.standing = SiteStanding::Paused;
        check(&view, 20, "site_paused", "no pause holds it up");
        // A millisecond before, it is not due.
        view.row.standing = SiteStanding::Finished { reason };
        view.row.account.next_cycle_at = NOW.plus(std::time::Duration::from_millis(1));
        view.row.due_at = view.row.account.next_cycle_at;
        assert_ne!(told(&view, 5, &[]).0, "next_cycle_due");
    }
}

#[test]
fn wait_in_force_comes_before_a_cycle_that_is_due() {
    let mut view =
        view(SiteStanding::Parked { reason: WaitReason::RetryAfter }, 2_000, FinishReason::QueueEmpty, &[PAGE]);
    view.row.account.next_cycle_at = Timestamp::from_secs(900);
    check(&view, 20, "retry_after", "is due now");
}

#[test]
fn link_to_a_site_of_which_nothing_was_asked_yet_is_told_apart_from_one_to_a_site_at_rest() {
    let mut view = view(SiteStanding::Due, 500, FinishReason::QueueEmpty, &[]);
    view.row.account = lohisoftbot_core::ledger::SiteAccount::default();
    let link = InlinkRow { source: url("http://b.test/"), fetched_at: NOW, links: vec![stored_link(PAGE, "text")] };
    assert_eq!(told(&view, 20, std::slice::from_ref(&link)).0, "site_not_begun");
    view.row.account.cycle = 1;
    assert_eq!(told(&view, 20, &[link]).0, "resting_site");
}

#[test]
fn page_that_found_the_store_full_is_told_so() {
    let mut view = view(SiteStanding::Live, 500, FinishReason::QueueEmpty, &[PAGE]);
    view.queue.settle(&url(PAGE), EntryStanding::Dropped(lohisoftbot_core::page_choice::DropReason::StoreFull));
    assert_eq!(told(&view, 20, &[]).0, "store_full");
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
