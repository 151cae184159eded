//! Barriers that the body of a page shows.

use super::*;
use crate::page_choice::FrontierEntry;

#[test]
fn barrier_in_the_body_counts_as_one_in_the_head() {
    let page = |kind| PageEnd::Page { status: 200, stored: StoredAs::Barrier(kind) };
    let mut play = Play::new();
    play.allow_all();
    play.link("https://a.test/b");
    play.answer(page(BarrierKind::Challenge));
    assert_eq!(play.pause(), BARRIER_PARK, "on the home page");

    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    for page in 0..9 {
        play.link(&format!("https://a.test/{page}"));
    }
    play.answer(page(BarrierKind::PasswordForm));
    play.answer(page(BarrierKind::PaywalledContent));
    assert!(play.pause() <= Duration::from_secs(10));
    let answer = Answer::Barrier { kind: BarrierKind::Forbidden, status: 403, retry_after: None };
    play.answer(PageEnd::Answered { status: 403, answer });
    assert_eq!(play.pause(), BARRIER_PARK, "three in a row");
    let is_dropped = |entry: &FrontierEntry| {
        entry.standing == EntryStanding::Dropped(DropReason::Barrier(BarrierKind::PasswordForm))
    };
    assert_eq!(play.state.queue().entries().iter().filter(|entry| is_dropped(entry)).count(), 1);
}

#[test]
fn login_form_at_its_own_address_neither_adds_to_barriers_in_a_row_nor_ends_them() {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    let form = || PageEnd::Page { status: 200, stored: StoredAs::Barrier(BarrierKind::PasswordForm) };
    for page in 1..6 {
        play.link(&format!("https://a.test/login?next=/{page}"));
    }
    for _ in 0..4 {
        play.answer(form());
        assert!(play.pause() <= Duration::from_secs(10));
    }
    assert_eq!(play.state.account().barrier_streak, 0);
}

#[test]
fn end_of_a_request_tells_of_the_barrier_wherever_it_stood() {
    let in_head = Answer::Barrier { kind: BarrierKind::Forbidden, status: 403, retry_after: None };
    let of = |end: PageEnd| end.barrier();
    assert_eq!(of(PageEnd::Answered { status: 403, answer: in_head }), Some(BarrierKind::Forbidden));
    let in_body = StoredAs::Barrier(BarrierKind::PasswordForm);
    assert_eq!(of(PageEnd::Page { status: 200, stored: in_body }), Some(BarrierKind::PasswordForm));
    assert_eq!(of(PageEnd::Page { status: 200, stored: StoredAs::Noindex }), None);
    assert_eq!(of(PageEnd::Failed(FetchFailure::Reset)), None);
}
