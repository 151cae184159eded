//! `recrawl SITE`: an operator wants a site crawled before its interval is over.
//!
//! There is no second budget before that (P1), so all that can be had is what the running cycle's budget still holds: the finished cycle
//! is opened again for its remaining page requests, and as many pages, those with the oldest records, are queued again; they go in the usual
//! order. No wait is cut short (P4), and a pause and an exclusion stand. What it deliberately does not do: write anything. The reopened queue and the new due time are one change of
//! the store; the cycle itself goes on by the state machine, which resumes a closed cycle whose queue has URLs while budget is left.
//!
//! Invariant: nothing of the account changes, so whatever is ordered, and however often, the budget and the interval are as they were.

use crate::budget::Budget;
use crate::ledger::{FinishReason, WaitReason};
use crate::page_choice::PageQueue;
use crate::site_row::{SiteRow, SiteStanding};
use crate::time::Timestamp;
use crate::url::PageUrl;

/// A finished cycle goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reopened {
    /// Page requests that the cycle's budget still holds.
    pub num_requests_left: u16,
    /// URLs that are queued again, at most as many.
    pub num_urls: u16,
    /// The first of them no sooner than this.
    pub not_before: Timestamp,
    /// The next cycle, with a budget of its own, begins no sooner than this.
    pub next_cycle_at: Timestamp,
}

/// Why a site is not crawled sooner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecrawlRefusal {
    /// Nothing is known of it.
    Unknown,
    /// Its domain is excluded.
    Excluded,
    /// The operator paused it.
    Paused,
    /// It waits, and a wait is never cut short.
    Parked {
        /// Why.
        reason: WaitReason,
        /// Until then.
        until: Timestamp,
    },
    /// A cycle is under way, or about to begin.
    Underway {
        /// Page requests that its budget still holds.
        num_requests_left: u16,
    },
    /// The cycle's page requests are spent.
    BudgetSpent {
        /// The next cycle begins no sooner than this.
        next_cycle_at: Timestamp,
    },
    /// The cycle ended for a reason that more requests do not mend.
    Ended {
        /// Which.
        reason: FinishReason,
        /// The next cycle begins no sooner than this.
        next_cycle_at: Timestamp,
    },
    /// No URL of it is known that could be asked.
    NothingToAsk {
        /// The next cycle begins no sooner than this.
        next_cycle_at: Timestamp,
    },
}

/// What `recrawl` does to a site with this row: opens its queue again, or says why not. `asked_at` gives when the record of a page was
/// last found right.
pub fn order(
    row: &SiteRow,
    queue: &mut PageQueue,
    asked_at: impl Fn(&PageUrl) -> Option<Timestamp>,
    budget: Budget,
    now: Timestamp,
) -> Result<Reopened, RecrawlRefusal> {
    let account = &row.account;
    let num_requests_left = budget.page_requests().saturating_sub(account.num_page_requests);
    let next_cycle_at = account.next_cycle_at;
    let reason = match row.standing {
        SiteStanding::Paused => return Err(RecrawlRefusal::Paused),
        SiteStanding::Parked { reason } => return Err(RecrawlRefusal::Parked { reason, until: row.due_at }),
        SiteStanding::Live | SiteStanding::Due => return Err(RecrawlRefusal::Underway { num_requests_left }),
        SiteStanding::Finished { .. } if now >= next_cycle_at => {
            return Err(RecrawlRefusal::Underway { num_requests_left: budget.page_requests() });
        }
        SiteStanding::Finished { reason } => reason,
    };
    match reason {
        FinishReason::Excluded => return Err(RecrawlRefusal::Excluded),
        FinishReason::NoSuchName => return Err(RecrawlRefusal::Ended { reason, next_cycle_at }),
        FinishReason::QueueEmpty | FinishReason::BudgetSpent | FinishReason::AddressRefused => {}
    }
    if num_requests_left == 0 {
        return Err(RecrawlRefusal::BudgetSpent { next_cycle_at });
    }
    match queue.reopen_oldest(num_requests_left, asked_at) {
        0 => Err(RecrawlRefusal::NothingToAsk { next_cycle_at }),
        num_urls => {
            Ok(Reopened { num_requests_left, num_urls, not_before: account.not_before().max(now), next_cycle_at })
        }
    }
}

impl Reopened {
    /// A few plain words for people.
    pub fn describe(&self) -> String {
        let Self { num_requests_left, num_urls, not_before, next_cycle_at } = self;
        format!(
            "the running interval still holds {num_requests_left} page requests: the {num_urls} URLs with the oldest records are queued \
             and may be asked again, in the usual order, from {not_before} on; the next cycle, with a budget of its own, begins no sooner than {next_cycle_at}"
        )
    }
}

impl RecrawlRefusal {
    /// A few plain words for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Unknown => "nothing is known of this site; give it as a seed first".to_owned(),
            Self::Excluded => "its domain is excluded; take it back in first".to_owned(),
            Self::Paused => "it is paused; resume it first".to_owned(),
            Self::Parked { reason, until } => {
                format!("it waits until {until}: {}; a wait is never cut short", reason.describe())
            }
            Self::Underway { num_requests_left } => {
                format!("a cycle is under way or due now, with {num_requests_left} page requests left")
            }
            Self::BudgetSpent { next_cycle_at } => format!(
                "the page requests of the running interval are spent, and there is no second budget before it is over: the next cycle \
                 begins at {next_cycle_at}"
            ),
            Self::Ended { reason, next_cycle_at } => {
                format!("its cycle ended because {}; the next one begins at {next_cycle_at}", reason.describe())
            }
            Self::NothingToAsk { next_cycle_at } => {
                format!("no URL of it is known that could be asked; the next cycle begins at {next_cycle_at}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_choice::{DropReason, EntryStanding};
    use crate::site::Site;

    const NOW: Timestamp = Timestamp::from_secs(1_000);
    const NEXT: Timestamp = Timestamp::from_secs(9_000);

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("https://a.test{path}"), None).unwrap()
    }

    /// A site that finished after so many page requests, with a queue of six URLs: four stored, one gone, one refused.
    fn finished(num_page_requests: u16) -> (SiteRow, PageQueue) {
        let mut row = SiteRow::new(Site::of_host("a.test"), Vec::new(), Timestamp::EPOCH);
        row.standing = SiteStanding::Finished { reason: FinishReason::QueueEmpty };
        row.due_at = NEXT;
        row.account.cycle = 1;
        row.account.cycle_closed = Some(FinishReason::QueueEmpty);
        row.account.next_cycle_at = NEXT;
        row.account.num_page_requests = num_page_requests;
        let mut queue = PageQueue::default();
        for path in ["/gone", "/1", "/2", "/3", "/4", "/failed"] {
            queue.add(url(path), 1, 0, 100);
            queue.count_try(&url(path));
            let standing = match path {
                "/gone" => EntryStanding::Dropped(DropReason::Gone),
                "/failed" => EntryStanding::Dropped(DropReason::TooManyTries),
                _ => EntryStanding::Stored,
            };
            queue.settle(&url(path), standing);
        }
        (row, queue)
    }

    /// `/3` is the oldest record, then `/1`, `/4`, `/2`.
    fn asked_at(page: &PageUrl) -> Option<Timestamp> {
        let age = ["/3", "/1", "/4", "/2"].iter().position(|path| page.path_and_query() == *path)?;
        Some(Timestamp::from_secs(100 + age as u64))
    }

    #[track_caller]
    fn check(num_page_requests: u16, wanted: &[&str]) {
        let (row, mut queue) = finished(num_page_requests);
        let reopened = order(&row, &mut queue, asked_at, Budget::default(), NOW).unwrap();
        assert_eq!(reopened.num_requests_left, 20 - num_page_requests);
        let queued: Vec<_> = queue.queued().map(|entry| entry.url.path_and_query().to_owned()).collect();
        assert_eq!(queued, wanted, "after {num_page_requests} page requests");
        assert_eq!(usize::from(reopened.num_urls), wanted.len());
        assert!(queue.queued().all(|entry| entry.num_tries == 0));
        assert_eq!((reopened.not_before, reopened.next_cycle_at), (NOW, NEXT));
    }

    #[test]
    fn oldest_records_are_queued_again_and_no_more_than_the_budget_holds() {
        check(19, &["/3"]);
        check(18, &["/1", "/3"]);
        check(16, &["/1", "/2", "/3", "/4"]);
        // What has no record comes behind all that have one.
        check(15, &["/gone", "/1", "/2", "/3", "/4"]);
        check(1, &["/gone", "/1", "/2", "/3", "/4", "/failed"]);
    }

    #[test]
    fn a_wait_in_force_is_said_and_kept() {
        let (mut row, mut queue) = finished(3);
        row.account.wait = Some(crate::ledger::Wait { until: NEXT, reason: WaitReason::Backoff });
        assert_eq!(order(&row, &mut queue, asked_at, Budget::default(), NOW).unwrap().not_before, NEXT);
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut SiteRow), wanted: RecrawlRefusal, says: &str) {
        let (mut row, mut queue) = finished(3);
        change(&mut row);
        let before = queue.clone();
        let refusal = order(&row, &mut queue, asked_at, Budget::default(), NOW).unwrap_err();
        assert_eq!((&refusal, &queue), (&wanted, &before));
        assert!(refusal.describe().contains(says), "{}", refusal.describe());
    }

    #[test]
    fn refusals_say_why_and_change_nothing() {
        let until = Timestamp::from_secs(7_000);
        check_refused(|row| row.standing = SiteStanding::Paused, RecrawlRefusal::Paused, "resume");
        check_refused(
            |row| {
                row.standing = SiteStanding::Parked { reason: WaitReason::RetryAfter };
                row.due_at = until;
            },
            RecrawlRefusal::Parked { reason: WaitReason::RetryAfter, until },
            "never cut short",
        );
        for standing in [SiteStanding::Live, SiteStanding::Due] {
            let left = RecrawlRefusal::Underway { num_requests_left: 17 };
            check_refused(|row| row.standing = standing, left, "17 page requests left");
        }
        check_refused(
            |row| row.account.num_page_requests = 20,
            RecrawlRefusal::BudgetSpent { next_cycle_at: NEXT },
            "no second budget",
        );
        check_refused(
            |row| row.account.next_cycle_at = NOW,
            RecrawlRefusal::Underway { num_requests_left: 20 },
            "20 page requests",
        );
        let reason = FinishReason::NoSuchName;
        check_refused(
            |row| row.standing = SiteStanding::Finished { reason },
            RecrawlRefusal::Ended { reason, next_cycle_at: NEXT },
            "name does not exist",
        );
        let reason = FinishReason::Excluded;
        check_refused(|row| row.standing = SiteStanding::Finished { reason }, RecrawlRefusal::Excluded, "excluded");
    }

    #[test]
    fn a_site_without_urls_has_nothing_to_ask() {
        let (row, _) = finished(3);
        let refused = order(&row, &mut PageQueue::default(), asked_at, Budget::default(), NOW);
        assert_eq!(refused, Err(RecrawlRefusal::NothingToAsk { next_cycle_at: NEXT }));
    }
}
