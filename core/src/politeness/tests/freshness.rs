//! Stored pages that are asked again: what a 304 does, when the next cycle comes, and what an operator's `recrawl` may have.

use super::*;
use crate::recrawl::order::{RecrawlRefusal, order};
use crate::site_row::{SiteRow, SiteStanding};

const HOME: &str = "https://a.test/";
const DAY: Duration = Duration::from_secs(86_400);

fn copy(condition: Option<Condition>, cycle: u32) -> StoredCopy {
    StoredCopy { condition, mark: ContentMark(1), cycle }
}

fn by_etag(cycle: u32) -> Option<StoredCopy> {
    Some(copy(Some(Condition::NoneMatch("\"1\"".into())), cycle))
}

fn page(mark: u64) -> PageEnd {
    PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(mark)) }
}

fn not_modified(fields: &[(&str, &str)]) -> PageEnd {
    let head = fields.iter().fold(ResponseHead::new(304), |head, (name, value)| head.with(name, value));
    PageEnd::NotModified(Renewal::of_head(&head, "LohiSoftBot"))
}

impl Play {
    /// A site with its home page stored, at the start of its second cycle.
    fn in_second_cycle() -> Self {
        let mut play = Self::new();
        play.allow_all();
        play.store_page();
        play.finish_after_guess();
        play.now = play.state.account().next_cycle_at;
        play.allow_all();
        play
    }

    /// Asks the next page, of which the store holds this.
    #[track_caller]
    fn answer_with(&mut self, stored: Option<StoredCopy>, end: PageEnd) -> Ticket {
        let ticket = self.ask();
        self.state.on_stored_copy(ticket.number, stored);
        let arrival = self.arrival();
        self.state.on_outcome(ticket.number, end, arrival);
        ticket
    }

    fn standing_of(&self, raw: &str) -> EntryStanding {
        self.state.queue().get(&url(raw)).unwrap().standing.clone()
    }
}

#[test]
fn a_304_to_a_request_with_a_condition_renews_the_record() {
    let mut play = Play::in_second_cycle();
    play.answer_with(by_etag(1), not_modified(&[("etag", "\"1\"")]));
    assert_eq!(play.standing_of(HOME), EntryStanding::Stored);
    let [renewed] = &play.state.take_renewals()[..] else { panic!("one page is renewed") };
    assert_eq!((renewed.url.as_str(), renewed.at, renewed.cycle), (HOME, play.now, 2));
    assert_eq!((play.state.take_removals(), play.state.take_renewals()), (vec![], vec![]));
    assert_eq!((play.state.change_rate().num_reasked, play.state.change_rate().num_changed), (1, 0));
}

#[test]
fn a_304_that_nobody_asked_for_is_an_odd_answer_and_leads_to_no_second_request() {
    for stored in [None, Some(copy(None, 1))] {
        let mut play = Play::in_second_cycle();
        play.answer_with(stored.clone(), not_modified(&[]));
        assert_eq!(play.standing_of(HOME), EntryStanding::Dropped(DropReason::Status(304)), "{stored:?}");
        assert_eq!((play.state.take_removals(), play.state.take_renewals()), (vec![], vec![]), "{stored:?}");
        assert_eq!(play.state.queue().get(&url(HOME)).unwrap().has_record, stored.is_some());
        assert_eq!(play.state.change_rate().num_reasked, 0);
        assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::QueueEmpty));
    }
}

#[test]
fn a_304_with_noindex_on_its_head_removes_the_record() {
    for fields in [("x-robots-tag", "noindex"), ("x-robots-tag", "lohisoftbot: none"), ("content-usage", "search=n")] {
        let mut play = Play::in_second_cycle();
        play.answer_with(by_etag(1), not_modified(&[fields]));
        assert_eq!(play.standing_of(HOME), EntryStanding::Dropped(DropReason::Noindex), "{fields:?}");
        assert_eq!(play.state.take_removals(), [url(HOME)], "{fields:?}");
        assert_eq!(play.state.take_renewals(), [], "{fields:?}");
        assert_eq!(play.state.change_rate().num_changed, 1, "{fields:?}");
    }
}

#[test]
fn what_a_stored_copy_is_told_for_another_ticket_changes_nothing() {
    let mut play = Play::in_second_cycle();
    let ticket = play.ask();
    play.state.on_stored_copy(ticket.number + 1, by_etag(1));
    let arrival = play.arrival();
    play.state.on_outcome(ticket.number, not_modified(&[]), arrival);
    assert_eq!(play.standing_of(HOME), EntryStanding::Dropped(DropReason::Status(304)));
}

/// The counts after the home page, stored in cycle `cycle`, came to this end in the second cycle.
#[track_caller]
fn check_count(cycle: u32, end: PageEnd, wanted: (u16, u16)) {
    let mut play = Play::in_second_cycle();
    play.answer_with(by_etag(cycle), end.clone());
    let rate = play.state.change_rate();
    assert_eq!((rate.num_reasked, rate.num_changed), wanted, "{end:?}");
}

#[test]
fn pages_that_changed_or_went_are_counted_and_what_tells_nothing_is_not() {
    check_count(1, page(1), (1, 0));
    check_count(1, page(2), (1, 1));
    check_count(1, PageEnd::Answered { status: 404, answer: Answer::Gone }, (1, 1));
    check_count(1, PageEnd::Answered { status: 200, answer: Answer::OtherType }, (1, 1));
    check_count(1, PageEnd::Page { status: 200, stored: StoredAs::Noindex }, (1, 1));
    check_count(1, busy(503, None), (0, 0));
    check_count(1, PageEnd::Failed(FetchFailure::Reset), (0, 0));
    check_count(1, PageEnd::Page { status: 200, stored: StoredAs::ExtractionFailed }, (0, 0));
    // Found right in this very cycle.
    check_count(2, page(1), (0, 0));
    check_count(2, not_modified(&[]), (0, 0));
}

/// Ends the second cycle with that end of its one page, and gives the interval that the third one promises.
#[track_caller]
fn third_interval(end: PageEnd) -> Duration {
    let mut play = Play::in_second_cycle();
    assert_eq!(play.state.change_rate().cycle, 2);
    let asked_at = play.state.account().not_before();
    play.answer_with(by_etag(1), end);
    let second_at = play.state.account().next_cycle_at;
    assert_eq!(second_at, asked_at.plus(30 * DAY), "what the cycle saw moves nothing that was promised");
    // A cycle that stored no page makes no guess at a sitemap.
    if play.state.next_action(play.now) != HostAction::Finish(FinishReason::QueueEmpty) {
        play.finish_after_guess();
    }
    assert_eq!(play.state.next_wakeup(), Some(second_at));
    play.now = second_at;
    play.allow_all();
    assert_eq!(play.state.account().cycle, 3);
    // As it opened: no page has been asked for yet.
    play.state.account().next_cycle_at.since(second_at)
}

#[test]
fn interval_counts_from_the_first_page_request_however_long_robots_txt_kept_it_back() {
    let mut play = Play::new();
    assert!(matches!(play.state.next_action(play.now), HostAction::FetchRobots(_)));
    let promised = play.state.account().next_cycle_at;
    play.now = play.now.plus(29 * DAY);
    play.allow_all();
    assert_eq!(play.state.account().next_cycle_at, promised, "robots.txt costs nothing and moves nothing");
    let first_page_at = play.state.account().not_before();
    play.store_page();
    assert_eq!(play.state.account().next_cycle_at, first_page_at.plus(30 * DAY));
    // The pages after it follow closely and move nothing more.
    play.link("https://a.test/1");
    play.store_page();
    assert_eq!(play.state.account().next_cycle_at, first_page_at.plus(30 * DAY));
}

#[test]
fn shortest_interval_passes_after_a_late_page_request() {
    let mut play = Play::new();
    play.allow_all();
    let first_page_at = play.state.account().not_before();
    play.store_page();
    let usual = first_page_at.plus(30 * DAY);
    for (day, moves) in [(22, false), (24, true), (26, true)] {
        play.link(&format!("https://a.test/{day}"));
        play.now = first_page_at.plus(day * DAY);
        play.allow_all();
        let asked_at = play.state.account().not_before();
        play.store_page();
        let wanted = if moves { asked_at.plus(7 * DAY) } else { usual };
        assert_eq!(play.state.account().next_cycle_at, wanted, "a page request on day {day}");
    }
}

#[test]
fn page_request_that_puts_nothing_off_says_nothing() {
    let mut play = Play::new();
    play.allow_all();
    let first_page_at = play.state.account().not_before();
    play.store_page();
    play.link("https://a.test/late");
    // To the moment: the shortest interval after it ends when the next cycle was due anyway.
    let late_at = first_page_at.plus(23 * DAY);
    play.now = first_page_at.plus(23 * DAY - DAY / 24);
    play.allow_all();
    play.now = late_at;
    play.state.take_events();
    play.store_page();
    let events = play.state.take_events();
    let puts_off = |(_, event): &(Timestamp, SiteEvent)| matches!(event, SiteEvent::NextCyclePutOff { .. });
    assert!(!events.iter().any(puts_off), "{events:?}");
}

#[test]
fn interval_of_the_next_cycle_follows_what_this_one_saw() {
    assert_eq!(third_interval(page(1)), 60 * DAY);
    assert_eq!(third_interval(page(2)), 15 * DAY);
    let refused = PageEnd::Answered { status: 400, answer: Answer::Refused { status: 400, retry_after: None } };
    assert_eq!(third_interval(refused), 30 * DAY);
}

#[test]
fn a_row_from_before_the_newest_cycle_learns_what_was_learnt_when_it_opened() {
    let mut play = Play::in_second_cycle();
    play.answer_with(by_etag(1), page(1));
    let mut row = SiteRow::new(Site::of_host("a.test"), Vec::new(), START);
    row.change_rate = play.state.change_rate();
    play.finish_after_guess();
    play.now = play.state.account().next_cycle_at;
    play.allow_all();
    row.account = play.state.account().clone();
    let queue = play.state.queue().clone();
    let restored = HostState::restore(row, queue, Vec::new(), rules(), Exclusions::default(), play.now);
    assert_eq!(restored.change_rate(), play.state.change_rate());
    assert_eq!(restored.change_rate().interval, Some(60 * DAY));
}

#[test]
fn what_the_running_cycle_saw_outlives_a_restart() {
    let mut play = Play::in_second_cycle();
    play.answer_with(by_etag(1), page(1));
    let mut row = SiteRow::new(Site::of_host("a.test"), Vec::new(), START);
    (row.change_rate, row.account) = (play.state.change_rate(), play.state.account().clone());
    let queue = play.state.queue().clone();
    let restored = HostState::restore(row, queue, Vec::new(), rules(), Exclusions::default(), play.now);
    assert_eq!((restored.change_rate().cycle, restored.change_rate().num_reasked), (2, 1));
}

/// The row and queue of a site at rest.
fn at_rest(play: &Play) -> (SiteRow, PageQueue) {
    let mut row = SiteRow::new(Site::of_host("a.test"), Vec::new(), START);
    row.standing = SiteStanding::Finished { reason: play.state.account().cycle_closed.unwrap() };
    row.account = play.state.account().clone();
    (row, play.state.queue().clone())
}

#[test]
fn recrawl_spends_what_is_left_of_the_budget_and_not_one_request_more() {
    let mut play = Play::new();
    (0..12).for_each(|page| play.link(&format!("https://a.test/{page}")));
    play.allow_all();
    (0..13).for_each(|_| drop(play.store_page()));
    play.finish_after_guess();
    let next_cycle_at = play.state.account().next_cycle_at;
    for wanted in [Some(6), None] {
        let (row, mut queue) = at_rest(&play);
        let ordered = order(&row, &mut queue, |_| Some(START), Budget::default(), play.now);
        let Some(num_left) = wanted else {
            assert_eq!(ordered, Err(RecrawlRefusal::BudgetSpent { next_cycle_at }));
            return;
        };
        assert_eq!(ordered.unwrap().num_urls, num_left);
        play.state = HostState::restore(row, queue, Vec::new(), rules(), Exclusions::default(), play.now);
        play.allow_all();
        (0..num_left).for_each(|_| drop(play.store_page()));
        assert_eq!(play.state.next_action(play.now), HostAction::Finish(FinishReason::BudgetSpent));
        assert_eq!(play.state.account().num_page_requests, 20);
        assert_eq!(play.state.account().next_cycle_at, next_cycle_at);
    }
}

#[test]
fn only_a_page_that_has_a_record_is_looked_up_and_only_for_the_ticket_that_is_open() {
    let mut play = Play::in_second_cycle();
    play.link("https://a.test/new");
    let intent = |kind, raw: &str| RequestIntent { kind, url: url(raw), ground: RobotsGround::NoRule };
    assert!(play.state.may_have_copy(&intent(RequestKind::Page, HOME)));
    assert!(!play.state.may_have_copy(&intent(RequestKind::Robots, HOME)));
    assert!(!play.state.may_have_copy(&intent(RequestKind::Page, "https://a.test/new")));
    assert!(!play.state.may_have_copy(&intent(RequestKind::Page, "https://a.test/unknown")));

    let ticket = play.ask();
    play.state.on_stored_copy(ticket.number + 1, None);
    assert!(play.state.may_have_copy(&ticket.intent), "what is said of another ticket counts for nothing");
    play.state.on_stored_copy(ticket.number, None);
    assert!(!play.state.may_have_copy(&ticket.intent));
    assert_eq!(play.state.product_token(), "LohiSoftBot");
}
