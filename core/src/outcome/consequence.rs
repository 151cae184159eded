//! From what came back to what follows for the page and for the site: one table, every row closed.

use std::time::Duration;

use super::FetchFailure;
use super::answer::{Answer, Permanence, RedirectTarget, is_busy};
use crate::barrier::BarrierKind;
use crate::url::PageUrl;

/// Tries in all at a page that was answered 429 or 5xx.
pub const TRIES_AFTER_BUSY: u8 = 3;
/// Tries in all at a page whose request brought no answer.
pub const TRIES_AFTER_FAILURE: u8 = 2;
/// Tries in all at a page that was answered 408, 421 or 425.
pub const TRIES_AFTER_ASK_ONCE_MORE: u8 = 2;

/// What becomes of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageFate {
    /// Extracted and stored.
    Store,
    /// Read for the URLs that it lists; nothing of it is stored.
    ReadSitemap,
    /// The stored record stays; it is as fresh as a new one.
    KeepRenewed,
    /// Nothing is taken from the answer; what is stored of the page stays as it is.
    Drop,
    /// Record and search entry go.
    Remove,
    /// Asked again later, until there were this many tries in all; then dropped.
    AskAgain {
        /// Tries in all, the first one included.
        tries: u8,
    },
    /// The target is queued as a new page under all the same checks. After a permanent redirect the page's own record goes.
    FollowRedirect {
        /// Where to.
        target: PageUrl,
        /// For how long.
        permanence: Permanence,
    },
}

/// What the answer does to the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteEffect {
    /// One rung of the backoff ladder is forgiven.
    ForgiveOneRung,
    /// Nothing beyond the usual delay.
    Nothing,
    /// The site waits as long as it asked, without a rung.
    WaitFor(Duration),
    /// One rung up the ladder, and at least as long as the site asked.
    Backoff {
        /// What it asked.
        retry_after: Option<Duration>,
    },
    /// One more barrier in a row.
    Barrier {
        /// Which.
        kind: BarrierKind,
        /// And until the next request.
        wait: BarrierWait,
    },
}

/// How long a site is left alone after a single barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierWait {
    /// The usual delay.
    UsualDelay,
    /// As long as the site asked.
    AsAsked(Duration),
    /// The challenge came with a 429 or 5xx: the ladder too.
    Backoff {
        /// What the site asked.
        retry_after: Option<Duration>,
    },
}

/// What follows from an answer.
pub fn consequence(answer: &Answer) -> (PageFate, SiteEffect) {
    match answer {
        Answer::Html => (PageFate::Store, SiteEffect::ForgiveOneRung),
        Answer::Sitemap => (PageFate::ReadSitemap, SiteEffect::ForgiveOneRung),
        // No HTML page is there any more, and whether its type or its bytes say so is all the same.
        Answer::OtherType => (PageFate::Remove, SiteEffect::Nothing),
        Answer::OtherContent => (PageFate::Drop, SiteEffect::Nothing),
        Answer::NotModified => (PageFate::KeepRenewed, SiteEffect::Nothing),
        Answer::Redirect { target, permanence, retry_after } => {
            (redirected(target, *permanence), wait_if_asked(*retry_after))
        }
        Answer::Gone => (PageFate::Remove, SiteEffect::Nothing),
        Answer::Barrier { kind, status, retry_after } => {
            let wait = match retry_after {
                _ if is_busy(*status) => BarrierWait::Backoff { retry_after: *retry_after },
                Some(asked) => BarrierWait::AsAsked(*asked),
                None => BarrierWait::UsualDelay,
            };
            (PageFate::Drop, SiteEffect::Barrier { kind: *kind, wait })
        }
        Answer::AskOnceMore { retry_after } => {
            (PageFate::AskAgain { tries: TRIES_AFTER_ASK_ONCE_MORE }, wait_if_asked(*retry_after))
        }
        Answer::Busy { status: _, retry_after } => {
            (PageFate::AskAgain { tries: TRIES_AFTER_BUSY }, SiteEffect::Backoff { retry_after: *retry_after })
        }
        Answer::Refused { status: _, retry_after } => (PageFate::Drop, wait_if_asked(*retry_after)),
    }
}

/// What follows when no answer came. Whether a guessed scheme makes it no outcome at all ([`FetchFailure::nothing_answered`]) is for the
/// caller to see first: only the caller knows that the scheme was a guess.
pub fn consequence_of_failure(failure: FetchFailure) -> (PageFate, SiteEffect) {
    match failure {
        FetchFailure::ConnectRefused
        | FetchFailure::ConnectTimeout
        | FetchFailure::Unreachable
        | FetchFailure::TlsFailed
        | FetchFailure::TlsTimeout
        | FetchFailure::FirstByteTimeout
        | FetchFailure::IdleTimeout
        | FetchFailure::TotalTimeout
        | FetchFailure::Reset
        | FetchFailure::Malformed
        | FetchFailure::HeadTooLarge => {
            (PageFate::AskAgain { tries: TRIES_AFTER_FAILURE }, SiteEffect::Backoff { retry_after: None })
        }
    }
}

fn redirected(target: &RedirectTarget, permanence: Permanence) -> PageFate {
    match (target, permanence) {
        (RedirectTarget::To(target), _) => PageFate::FollowRedirect { target: target.clone(), permanence },
        (RedirectTarget::Unusable, Permanence::Permanent) => PageFate::Remove,
        (RedirectTarget::Unusable, Permanence::Temporary) | (RedirectTarget::ToItself, _) => PageFate::Drop,
    }
}

fn wait_if_asked(retry_after: Option<Duration>) -> SiteEffect {
    match retry_after {
        Some(asked) => SiteEffect::WaitFor(asked),
        None => SiteEffect::Nothing,
    }
}
