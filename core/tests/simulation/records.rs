//! The records of one site as the store would keep them, pages that change over time, and the 304s in between.
//!
//! Whether a page changed is the fake site's own truth: a version that moves on with the clock. What must become of a record is judged here by
//! the answer alone.

use std::collections::HashMap;
use std::time::Duration;

use lohisoftbot_core::politeness::{PageRenewal, Ticket};
use lohisoftbot_core::record::{Condition, ContentMark, StoredCopy};
use lohisoftbot_core::recrawl::order::{RecrawlRefusal, order};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::carrier::Carrier;
use crate::checker::Watched;
use crate::replies::{PageReply, PageSaid};
use crate::trace;

/// Records that are kept.
pub const MOST_RECORDS: usize = 20;
const HOUR: Duration = Duration::from_secs(3600);

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    version: u64,
    cycle: u32,
    at: Timestamp,
}

/// What the store has of the site.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    records: HashMap<PageUrl, Kept>,
    /// What was there when the open ticket was given.
    open: Option<StoredCopy>,
    pub num_renewed: u64,
    pub num_changed: u64,
}

/// The version of a page at a moment: some never change, some do every few hours.
fn version_of(url: &PageUrl, at: Timestamp) -> u64 {
    let every = match url.fingerprint() % 5 {
        0 | 1 => return 0,
        2 => 24 * 60 * HOUR,
        3 => 24 * 9 * HOUR,
        _ => 5 * HOUR,
    };
    at.as_millis() / every.as_millis() as u64
}

impl Shelf {
    pub fn holds(&self, url: &PageUrl) -> bool {
        self.records.contains_key(url)
    }

    /// All records, with the cycle in which each was last found right.
    pub fn all(&self) -> impl Iterator<Item = (&PageUrl, u32)> {
        self.records.iter().map(|(url, kept)| (url, kept.cycle))
    }

    pub fn remove(&mut self, url: &PageUrl) {
        self.records.remove(url);
    }

    /// Of excluded hosts nothing is kept, and of a lost store nothing at all.
    pub fn retain(&mut self, keep: impl Fn(&PageUrl) -> bool) {
        self.records.retain(|url, _| keep(url));
    }

    fn store(&mut self, url: &PageUrl, kept: Kept) {
        if !self.holds(url) && self.records.len() >= MOST_RECORDS {
            let going = self.records.iter().min_by_key(|(url, kept)| (kept.cycle, kept.at, url.fingerprint()));
            if let Some(going) = going.map(|(url, _)| url.clone()) {
                self.records.remove(&going);
            }
        }
        self.records.insert(url.clone(), kept);
    }
}

impl Carrier {
    /// A ticket was given: what the store holds of the page is looked up. Every third page has no validator.
    pub fn look_up_copy(&mut self, ticket: &Ticket) {
        let url = &ticket.intent.url;
        self.shelf.open = None;
        if !self.state.may_have_copy(&ticket.intent) {
            return;
        }
        let copy = self.shelf.records.get(url).map(|kept| StoredCopy {
            condition: (!url.fingerprint().is_multiple_of(3))
                .then(|| Condition::NoneMatch(format!("\"{}\"", kept.version))),
            mark: ContentMark(kept.version),
            cycle: kept.cycle,
        });
        self.shelf.open.clone_from(&copy);
        self.state.on_stored_copy(ticket.number, copy);
    }

    /// A page that came well is a 304 instead, where its condition says so; now and then the server sends it all the same.
    pub fn perhaps_not_modified(&mut self, url: &PageUrl, reply: &mut PageReply) {
        let mark = ContentMark(version_of(url, self.now));
        let is_same = self.shelf.open.as_ref().is_some_and(|copy| copy.condition.is_some() && copy.mark == mark);
        if reply.said == PageSaid::Good && is_same && !self.rng.once_in(6) {
            let head = ResponseHead::new(304);
            let head = if self.rng.once_in(12) { head.with("x-robots-tag", "noindex") } else { head };
            *reply = PageReply { answer: Ok(head), said: PageSaid::Other, links: Vec::new(), wait_until: None };
        }
    }

    /// What a page says now.
    pub fn mark_of(&self, url: &PageUrl) -> ContentMark {
        ContentMark(version_of(url, self.now))
    }

    /// The page's record went to the store.
    pub fn keep_record(&mut self, url: &PageUrl, mark: ContentMark) {
        let changed = self.shelf.open.as_ref().is_some_and(|copy| copy.mark != mark);
        self.shelf.num_changed += u64::from(changed);
        self.shelf.store(url, Kept { version: mark.0, cycle: self.state.account().cycle, at: self.now });
    }

    /// What the state machine wants done to records after the answer to `url`, compared with what the answer says.
    pub fn judge_records(&mut self, url: &PageUrl, head: Option<&ResponseHead>) -> Watched {
        let (removals, renewals) = (self.state.take_removals(), self.state.take_renewals());
        let was_conditional = self.shelf.open.take().is_some_and(|copy| copy.condition.is_some());
        let (status, forbids) = head.map_or((0, false), |head| (head.status, head.first("x-robots-tag").is_some()));
        let may_be_renewed = status == 304 && was_conditional && !forbids;
        if let Some(PageRenewal { url: renewed, .. }) = renewals.iter().find(|r| !may_be_renewed || r.url != *url) {
            return Err(format!("{renewed} is renewed after {status} to {url}, condition: {was_conditional}"));
        }
        if may_be_renewed && renewals.is_empty() && self.state.queue().get(url).is_some() {
            return Err(format!("{url} answered 304 to a condition and is not renewed"));
        }
        let is_gone = matches!(status, 404 | 410) || (status == 304 && was_conditional && forbids);
        if is_gone && self.shelf.holds(url) && self.state.queue().get(url).is_some() && !removals.contains(url) {
            return Err(format!("{url} is gone ({status}) and keeps its record"));
        }
        if status == 304 && !was_conditional && removals.contains(url) {
            return Err(format!("an odd 304 removes the record of {url}"));
        }
        for removed in &removals {
            self.shelf.remove(removed);
        }
        for renewed in renewals {
            self.shelf.num_renewed += 1;
            if let Some(kept) = self.shelf.records.get_mut(&renewed.url) {
                (kept.cycle, kept.at) = (renewed.cycle, renewed.at);
            }
        }
        Ok(())
    }

    /// The operator wants a site that is at rest crawled sooner. True if its cycle goes on.
    pub fn recrawl(&mut self) -> Result<bool, String> {
        self.take_events()?;
        self.make_durable(self.pending.len());
        let account = self.account.clone();
        let Some(reason) = account.cycle_closed else { return Ok(false) };
        let rest = account.next_cycle_at.since(self.now).as_millis() as u64;
        let at = self.now.plus(Duration::from_millis(self.rng.below(rest.max(1) * 2)));
        let mut row = SiteRow::new(self.server.site.clone(), Vec::new(), at);
        row.standing = SiteStanding::Finished { reason };
        row.account = account.clone();
        let mut queue = self.state.queue().clone();
        let budget = self.rules.budget;
        let asked_at = |url: &PageUrl| self.shelf.records.get(url).map(|kept| kept.at);
        let ordered = order(&row, &mut queue, asked_at, budget, at);
        trace::note(|| format!("{at} recrawl: {ordered:?}"));
        let num_asked = self.checker.num_cycle_requests();
        let num_left = usize::from(budget.page_requests()).saturating_sub(num_asked);
        match ordered {
            Ok(_) if at >= account.next_cycle_at => Err("a cycle goes on though the next one is due".to_owned()),
            // What was asked under tickets that a crash took counts on both sides, or the crawler counts more.
            Ok(reopened) if usize::from(reopened.num_requests_left) > num_left && account.cycle > 0 => {
                Err(format!("P1: {} requests are left after {num_asked}", reopened.num_requests_left))
            }
            Ok(reopened) if reopened.next_cycle_at != account.next_cycle_at => {
                Err("P1: a recrawl moves the next cycle".to_owned())
            }
            Ok(_) => {
                self.num_recrawls += 1;
                self.now = at;
                self.start_over_with(queue);
                Ok(true)
            }
            Err(RecrawlRefusal::BudgetSpent { .. }) if num_left > 0 && !self.has_crashed() => {
                Err(format!("recrawl says that the budget is spent, after {num_asked} requests"))
            }
            Err(_) => Ok(false),
        }
    }
}
