//! The queue knows of a record exactly as long as the carrier keeps it.

use super::*;
use crate::codec;
use crate::page_choice::FrontierEntry;
use crate::site_row::SiteFrontier;

const HOME: &str = "https://a.test/";

impl Play {
    fn entry(&self, raw: &str) -> Option<&FrontierEntry> {
        self.state.queue().get(&url(raw))
    }
}

/// A page with a record comes to this end in the next cycle.
#[track_caller]
fn check(end: PageEnd, keeps_record: bool, describes: &str) {
    let mut play = Play::new();
    play.allow_all();
    play.store_page();
    assert!(play.entry(HOME).unwrap().has_record);
    play.finish_after_guess();
    play.now = play.state.account().next_cycle_at;
    play.allow_all();
    play.answer(end.clone());
    let entry = play.entry(HOME).unwrap();
    assert_eq!(entry.has_record, keeps_record, "{end:?}");
    let entry = entry.clone();
    let removals = play.state.take_removals();
    assert_eq!(
        removals.is_empty(),
        keeps_record,
        "{end:?}: what the queue says is what the carrier is told: {removals:?}"
    );
    let EntryStanding::Dropped(reason) = &entry.standing else { panic!("{end:?}: {:?}", entry.standing) };
    assert!(reason.describe().contains(describes), "{end:?}: {}", reason.describe());
    let stored = codec::encode(&play.state.queue().to_stored()).unwrap();
    assert_eq!(codec::decode::<SiteFrontier>(&stored).as_ref(), Ok(&play.state.queue().to_stored()), "{end:?}");
}

fn redirect(status: u16, permanence: Permanence) -> PageEnd {
    let target = RedirectTarget::To(url("https://a.test/new"));
    PageEnd::Answered { status, answer: Answer::Redirect { target, permanence, retry_after: None } }
}

fn barrier(kind: BarrierKind) -> PageEnd {
    PageEnd::Page { status: 200, stored: StoredAs::Barrier(kind) }
}

#[test]
fn record_goes_where_no_page_is_left_that_may_be_kept_and_stays_else() {
    check(PageEnd::Page { status: 200, stored: StoredAs::NotHtml }, false, "whatever its type says");
    check(redirect(301, Permanence::Permanent), false, "moved to https://a.test/new for good");
    check(redirect(302, Permanence::Temporary), true, "redirects to https://a.test/new");
    check(PageEnd::Page { status: 200, stored: StoredAs::Noindex }, false, "noindex");
    check(PageEnd::Page { status: 200, stored: StoredAs::ExtractionFailed }, true, "reading it failed");
    check(PageEnd::Answered { status: 200, answer: Answer::OtherType }, false, "no HTML page");
    check(PageEnd::Answered { status: 206, answer: Answer::OtherContent }, true, "answered 206");
    check(PageEnd::Answered { status: 404, answer: Answer::Gone }, false, "does not exist");
    check(barrier(BarrierKind::PaywalledContent), false, "barriers are never passed");
    check(barrier(BarrierKind::Challenge), true, "barriers are never passed");
    check(PageEnd::NotModified(Renewal::default()), true, "answered 304");
}
