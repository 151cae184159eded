//! What follows for the site from a request for a page or a sitemap that ended, and from a name that could not be resolved.

use std::time::Duration;

use super::{Arrival, BARRIER_PARK, FoundUrl, HostState, LentRobots, MAX_BARRIER_STREAK, OriginRobots};
use crate::backoff;
use crate::barrier::{self, BarrierKind};
use crate::discovery::LinkDrop;
use crate::ledger::{EndKind, FinishReason, SiteEvent, TicketNumber, Wait, WaitReason};
use crate::outcome::{
    self, Answer, BarrierWait, FetchFailure, PageFate, Permanence, RedirectTarget, ResolveFailure, SiteEffect,
};
use crate::page_choice::{DropReason, EntryRole, EntryStanding, FrontierEntry, MAX_REDIRECT_HOPS};
use crate::record::{ContentMark, Renewal, StoredCopy};
use crate::recrawl::interval::Reasked;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// What became of an HTML page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAs {
    /// Its record, which says this, went to the store.
    Record(ContentMark),
    /// It asked not to be indexed.
    Noindex,
    /// Its bytes are those of another format, whatever its type said.
    NotHtml,
    /// Reading it failed; nothing of it is kept.
    ExtractionFailed,
    /// The store has no room for another page of this site.
    Full,
    /// It shows a barrier instead of what it should hold; nothing of it is kept.
    Barrier(BarrierKind),
}

/// How a page request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEnd {
    /// An answer came that is no page to store.
    Answered {
        /// Its status.
        status: u16,
        /// What it is.
        answer: Answer,
    },
    /// An HTML page came.
    Page {
        /// Its status.
        status: u16,
        /// What became of it.
        stored: StoredAs,
    },
    /// 304, with what its head tells: the stored record is right still, if the request named one.
    NotModified(Renewal),
    /// No answer came.
    Failed(FetchFailure),
}

impl PageEnd {
    /// The barrier that was met, if one was.
    pub const fn barrier(&self) -> Option<BarrierKind> {
        match self {
            Self::Answered { answer: Answer::Barrier { kind, .. }, .. }
            | Self::Page { stored: StoredAs::Barrier(kind), .. } => Some(*kind),
            Self::Answered { .. } | Self::Page { .. } | Self::NotModified(_) | Self::Failed(_) => None,
        }
    }
}

/// A stored page was found unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRenewal {
    /// Which.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
    /// In which cycle.
    pub cycle: u32,
    /// What the answer's head tells.
    pub renewal: Renewal,
}

impl HostState {
    /// The page request of `ticket` ended. An answer to a ticket that is not the open one changes nothing.
    pub fn on_outcome(&mut self, ticket: TicketNumber, end: PageEnd, arrival: Arrival) {
        let Some(open) = self.account.open.as_ref().filter(|open| open.ticket == ticket) else { return };
        let url = open.url.clone();
        let num_tries = self.queue.count_try(&url);
        let copy = self.copy.take().filter(|(asked_by, _)| *asked_by == ticket).map(|(_, copy)| copy);
        let end = if_asked(end, copy.as_ref());
        let num_removals = self.removals.len();
        let mark = match &end {
            PageEnd::Page { stored: StoredAs::Record(mark), .. } => Some(*mark),
            PageEnd::NotModified(_) => copy.as_ref().map(|copy| copy.mark),
            PageEnd::Page { .. } | PageEnd::Answered { .. } | PageEnd::Failed(_) => None,
        };
        match end {
            PageEnd::Page { status, stored } => {
                self.record_outcome(ticket, EndKind::Answered(status), arrival);
                self.forget_robots_failures_of(&url.origin());
                self.settle(&url, stored.standing());
                match stored {
                    // The form at a login page's own address says nothing about the pages around it.
                    StoredAs::Barrier(kind) if barrier::stands_before_nothing(kind, &url) => {}
                    StoredAs::Barrier(kind) => {
                        let effect = SiteEffect::Barrier { kind, wait: BarrierWait::UsualDelay };
                        self.apply_effect(&url, effect, WaitReason::Backoff, arrival);
                    }
                    StoredAs::Record(_)
                    | StoredAs::Noindex
                    | StoredAs::NotHtml
                    | StoredAs::ExtractionFailed
                    | StoredAs::Full => {
                        self.end_barrier_streak(arrival.at);
                        self.forgive(arrival.at);
                    }
                }
            }
            PageEnd::Answered { status, answer } => {
                self.record_outcome(ticket, EndKind::Answered(status), arrival);
                self.forget_robots_failures_of(&url.origin());
                let (fate, effect) = outcome::consequence(&answer);
                self.apply_fate(&url, fate, drop_reason(&answer, status), num_tries, arrival.at);
                self.apply_effect(&url, effect, WaitReason::Backoff, arrival);
            }
            PageEnd::NotModified(renewal) => {
                self.record_outcome(ticket, EndKind::Answered(304), arrival);
                self.forget_robots_failures_of(&url.origin());
                let (fate, effect) = outcome::consequence(&Answer::NotModified);
                if renewal.allows_storing(arrival.at) {
                    let renewed = PageRenewal { url: url.clone(), at: arrival.at, cycle: self.account.cycle, renewal };
                    self.renewals.push(renewed);
                    self.apply_fate(&url, fate, DropReason::Status(304), num_tries, arrival.at);
                } else {
                    self.drop_url(&url, DropReason::Noindex);
                }
                self.apply_effect(&url, effect, WaitReason::Backoff, arrival);
            }
            PageEnd::Failed(failure) => {
                self.record_outcome(ticket, EndKind::Failed(failure), arrival);
                let (fate, effect) = outcome::consequence_of_failure(failure);
                self.apply_fate(&url, fate, DropReason::TooManyTries, num_tries, arrival.at);
                self.apply_effect(&url, effect, WaitReason::Unreachable, arrival);
            }
        }
        let was_removed = self.removals.len() > num_removals;
        // A record of this very cycle is too young to tell how often its page changes.
        if let Some(copy) = copy.filter(|copy| copy.cycle < self.account.cycle) {
            match mark {
                _ if was_removed => self.change_rate.note(Reasked::Changed),
                Some(mark) if mark == copy.mark => self.change_rate.note(Reasked::Unchanged),
                Some(_) => self.change_rate.note(Reasked::Changed),
                None => {}
            }
        }
    }

    /// The operator took the host out while its request was open, and the carrier aborted it. A ticket that is not the open one changes
    /// nothing.
    pub fn on_abandoned(&mut self, ticket: TicketNumber, arrival: Arrival) {
        if self.account.open.as_ref().is_none_or(|open| open.ticket != ticket) {
            return;
        }
        self.robots_way = None;
        self.record_outcome(ticket, EndKind::Abandoned, arrival);
    }

    /// No address could be had for the host of `url`; nothing was sent.
    pub fn on_unresolved(&mut self, url: &PageUrl, failure: &ResolveFailure, arrival: Arrival) {
        // A redirect to where nothing can be asked makes the file unreachable, whatever is wrong with that host.
        if let Some(way) = self.robots_way.take() {
            return self.note_robots_unreachable(&way.origin, None, WaitReason::RobotsUnreachable, arrival);
        }
        self.lend(&url.origin(), LentRobots::Unreachable);
        match failure {
            // One dead name beside others says nothing about the site.
            ResolveFailure::NoSuchName if self.has_other_host(url.host()) => {
                self.drop_queued(|entry| entry.url.host() == url.host(), &DropReason::NoSuchName);
            }
            ResolveFailure::NoSuchName => {
                match backoff::name_failure_wait(self.account.num_name_failures.saturating_add(1)) {
                    Some(park) => {
                        let until = arrival.at.plus(park);
                        let rung = self.account.rung;
                        self.record(arrival.at, SiteEvent::Wait { until, reason: WaitReason::NoSuchName, rung });
                    }
                    None => self.record(arrival.at, SiteEvent::CycleClosed { reason: FinishReason::NoSuchName }),
                }
            }
            ResolveFailure::NameServers => {
                self.note_robots_unreachable(&url.origin(), None, WaitReason::NameServers, arrival);
            }
            ResolveFailure::AddressRefused(why) => {
                // Of this origin alone: it may be its port that is refused.
                let (origin, reason) = (url.origin(), DropReason::AddressRefused { why: why.clone() });
                self.drop_queued(|entry| entry.url.origin() == origin, &reason);
            }
        }
    }

    /// Whether the site has a host beside this one that can be asked, as far as is known.
    fn has_other_host(&self, host: &str) -> bool {
        let was_read = |robots: &OriginRobots| robots.copy.is_some() && robots.origin.host() != host;
        self.robots.iter().any(was_read) || self.queue.queued().any(|queued| queued.url.host() != host)
    }

    fn drop_queued(&mut self, which: impl Fn(&FrontierEntry) -> bool, reason: &DropReason) {
        let dropped = self.queue.queued().filter(|entry| which(entry));
        for url in dropped.map(|entry| entry.url.clone()).collect::<Vec<_>>() {
            self.drop_url(&url, reason.clone());
        }
    }

    fn apply_fate(&mut self, url: &PageUrl, fate: PageFate, why_dropped: DropReason, num_tries: u8, at: Timestamp) {
        let standing = match fate {
            PageFate::Store | PageFate::KeepRenewed => EntryStanding::Stored,
            // What was read of it comes by `on_sitemap`.
            PageFate::ReadSitemap => EntryStanding::SitemapRead { num_urls: 0 },
            PageFate::AskAgain { tries } if num_tries < tries => EntryStanding::Queued,
            PageFate::AskAgain { .. } => EntryStanding::Dropped(DropReason::TooManyTries),
            PageFate::Remove | PageFate::Drop => EntryStanding::Dropped(why_dropped),
            PageFate::FollowRedirect { target, permanence } => {
                self.follow(url, &target, at);
                EntryStanding::Dropped(match permanence {
                    Permanence::Permanent => DropReason::MovedForGood { target },
                    Permanence::Temporary => DropReason::Redirect { target: Some(target) },
                })
            }
        };
        self.settle(url, standing);
    }

    /// Says what became of a URL; its record goes where the reason for which it is dropped asks for that.
    fn settle(&mut self, url: &PageUrl, standing: EntryStanding) {
        match standing {
            EntryStanding::Dropped(reason) => self.drop_url(url, reason),
            EntryStanding::Queued | EntryStanding::Stored | EntryStanding::SitemapRead { .. } => {
                self.queue.settle(url, standing);
            }
        }
    }

    /// Queues the target of a redirect, under all the checks that any URL passes.
    fn follow(&mut self, url: &PageUrl, target: &PageUrl, at: Timestamp) {
        let (depth, num_hops) = self.queue.get(url).map_or((0, 0), |entry| (entry.depth, entry.num_hops));
        if num_hops >= MAX_REDIRECT_HOPS {
            self.count_dropped_link(LinkDrop::TooManyRedirects);
            return;
        }
        match self.role_of(url) {
            EntryRole::Page => {
                self.on_links([FoundUrl { url: target.clone(), depth, num_hops: num_hops + 1 }], at);
                self.queue.pass_links_on(url, target);
            }
            role @ (EntryRole::Sitemap { .. } | EntryRole::GuessedSitemap) => {
                self.follow_to_sitemap(target, role, num_hops + 1);
            }
        }
    }

    /// `busy` is the reason of a wait on the ladder.
    fn apply_effect(&mut self, url: &PageUrl, effect: SiteEffect, busy: WaitReason, arrival: Arrival) {
        if !matches!(effect, SiteEffect::Barrier { .. }) {
            self.end_barrier_streak(arrival.at);
        }
        match effect {
            SiteEffect::Nothing => {}
            SiteEffect::ForgiveOneRung => self.forgive(arrival.at),
            SiteEffect::Backoff { retry_after } => {
                self.back_off(retry_after, busy, arrival);
            }
            SiteEffect::WaitFor(span) => self.wait_for(span, WaitReason::RetryAfter, arrival.at),
            SiteEffect::Barrier { kind: _, wait } => {
                self.on_barrier(url, arrival.at);
                match wait {
                    BarrierWait::UsualDelay => {}
                    BarrierWait::AsAsked(span) => self.wait_for(span, WaitReason::RetryAfter, arrival.at),
                    BarrierWait::Backoff { retry_after } => {
                        self.back_off(retry_after, busy, arrival);
                    }
                }
            }
        }
    }

    fn on_barrier(&mut self, url: &PageUrl, at: Timestamp) {
        let streak = self.account.barrier_streak.saturating_add(1);
        self.record(at, SiteEvent::BarrierStreak(streak));
        if streak >= MAX_BARRIER_STREAK || url.is_home() {
            self.wait_for(BARRIER_PARK, WaitReason::Barrier, at);
        }
    }

    /// The site waits for `span`, on the rung where it stands.
    pub(super) fn wait_for(&mut self, span: Duration, reason: WaitReason, at: Timestamp) {
        self.extend_wait(Wait { until: at.plus(span), reason }, self.account.rung, at);
    }

    pub(super) fn end_barrier_streak(&mut self, at: Timestamp) {
        if self.account.barrier_streak > 0 {
            self.record(at, SiteEvent::BarrierStreak(0));
        }
    }

    pub(super) fn forgive(&mut self, at: Timestamp) {
        if self.account.rung > 0 {
            let rung = backoff::forgive(self.account.rung);
            self.record(at, SiteEvent::Forgiven { rung });
        }
    }

    /// One rung up the ladder; gives the end of the wait.
    pub(super) fn back_off(
        &mut self,
        retry_after: Option<Duration>,
        reason: WaitReason,
        arrival: Arrival,
    ) -> Timestamp {
        let rung = self.rules.backoff.next_rung(self.account.rung);
        let span = self.rules.backoff.wait(rung, retry_after, arrival.chance);
        let named = retry_after.is_some_and(|named| named >= span);
        let reason = if named { WaitReason::RetryAfter } else { reason };
        self.extend_wait(Wait { until: arrival.at.plus(span), reason }, rung, arrival.at);
        self.account.not_before()
    }

    /// Records a wait; one in force that ends later is never shortened.
    fn extend_wait(&mut self, wait: Wait, rung: u8, at: Timestamp) {
        let Wait { until, reason } = match self.account.wait {
            Some(longer) if longer.until > wait.until => longer,
            Some(_) | None => wait,
        };
        self.record(at, SiteEvent::Wait { until, reason, rung });
    }

    pub(super) fn record_outcome(&mut self, ticket: TicketNumber, end: EndKind, arrival: Arrival) {
        self.record_outcome_with_delay(ticket, end, arrival, self.delay_after(arrival.took));
    }

    /// The request of `ticket` was sent by a process that is gone. What it knew of Crawl-delays may be gone with it, so the delay in
    /// force is never shortened.
    pub(super) fn record_lost(&mut self, ticket: TicketNumber, at: Timestamp) {
        let arrival = Arrival { at, took: Duration::ZERO, wire_bytes: 0, chance: 0.0 };
        let delay = self.delay_after(arrival.took).max(self.account.delay);
        self.record_outcome_with_delay(ticket, EndKind::Lost, arrival, delay);
    }

    fn record_outcome_with_delay(&mut self, ticket: TicketNumber, end: EndKind, arrival: Arrival, delay: Duration) {
        let Arrival { took, wire_bytes, .. } = arrival;
        self.record(arrival.at, SiteEvent::Outcome { ticket, end, wire_bytes, took, delay });
    }

    /// The largest of the configured delay, the Crawl-delay and a multiple of the response time; twice that while a backoff is not
    /// forgiven, so that a recovering site is not met with the old pace at once.
    pub(super) fn delay_after(&self, took: Duration) -> Duration {
        let adaptive = took.saturating_mul(self.rules.response_time_factor).min(self.rules.max_adaptive_delay);
        let delay = self.rules.min_delay.max(self.crawl_delay().unwrap_or_default()).max(adaptive);
        if self.account.rung > 0 { delay.saturating_mul(2) } else { delay }
    }
}

/// A 304 to a request without a condition answers nothing that was asked (RFC 9110 §15.4.5), and there may be no record that it could speak
/// of: the page is dropped like any that answers oddly.
fn if_asked(end: PageEnd, copy: Option<&StoredCopy>) -> PageEnd {
    let is_conditional = copy.is_some_and(|copy| copy.condition.is_some());
    match end {
        PageEnd::NotModified(renewal) if is_conditional => PageEnd::NotModified(renewal),
        PageEnd::NotModified(_) | PageEnd::Answered { answer: Answer::NotModified, .. } => {
            PageEnd::Answered { status: 304, answer: Answer::Refused { status: 304, retry_after: None } }
        }
        PageEnd::Page { .. } | PageEnd::Answered { .. } | PageEnd::Failed(_) => end,
    }
}

/// Why a page is dropped whose answer is nothing to store.
fn drop_reason(answer: &Answer, status: u16) -> DropReason {
    match answer {
        Answer::Barrier { kind, .. } => DropReason::Barrier(*kind),
        Answer::OtherType => DropReason::NotHtml,
        // A redirect for good to nothing that could be asked.
        Answer::Gone | Answer::Redirect { target: RedirectTarget::Unusable, permanence: Permanence::Permanent, .. } => {
            DropReason::Gone
        }
        Answer::Redirect { .. } => DropReason::Redirect { target: None },
        Answer::Html
        | Answer::Sitemap
        | Answer::OtherContent
        | Answer::NotModified
        | Answer::AskOnceMore { .. }
        | Answer::Busy { .. }
        | Answer::Refused { .. } => DropReason::Status(status),
    }
}

impl StoredAs {
    fn standing(self) -> EntryStanding {
        match self {
            Self::Record(_) => EntryStanding::Stored,
            Self::Noindex => EntryStanding::Dropped(DropReason::Noindex),
            Self::NotHtml => EntryStanding::Dropped(DropReason::OtherFormat),
            Self::ExtractionFailed => EntryStanding::Dropped(DropReason::ExtractionFailed),
            Self::Full => EntryStanding::Dropped(DropReason::StoreFull),
            Self::Barrier(kind) => EntryStanding::Dropped(DropReason::Barrier(kind)),
        }
    }
}
