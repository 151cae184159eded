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
    let EntryStanding::Dropped(reason) = &entry.standing else { panic!("{end:?}: {:?}", entry.standing) };
    assert!(reason.describe().contains(describes), "{end:?}: {}", reason.describe());
    let stored = codec::encode(&play.state.queue().to_stored()).unwrap();
    assert_eq!(codec::decode::<SiteFrontier>(&stored).as_ref(), Ok(&play.state.queue().to_stored()), "{end:?}");
}

fn redirect(status: u16, permanence: Permanence) -> PageEnd {
    let target = RedirectTarget::To(url("https://a.test/new"));
    PageEnd::Answered { status, answer: Answer::Redirect { target, permanence, retry_after: None } }
}

#[test]
fn page_that_became_another_format_or_moved_for_good_has_no_record_any_more() {
    check(PageEnd::Page { status: 200, stored: StoredAs::NotHtml }, false, "whatever its type says");
    check(redirect(301, Permanence::Permanent), false, "moved to https://a.test/new for good");
    check(redirect(302, Permanence::Temporary), true, "redirects to https://a.test/new");
    check(PageEnd::Page { status: 200, stored: StoredAs::Noindex }, false, "noindex");
    check(PageEnd::Page { status: 200, stored: StoredAs::ExtractionFailed }, true, "reading it failed");
    check(PageEnd::Answered { status: 200, answer: Answer::OtherContent }, true, "no HTML page");
}
