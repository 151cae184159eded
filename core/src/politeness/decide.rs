//! What to do now: the next request, a wait, or the end of the cycle.

use super::robots_cache::Standing;
use super::{HostAction, HostState, RequestIntent, Ticket};
use crate::discovery::LinkDrop;
use crate::ledger::{FinishReason, RequestKind, RobotsGround, SiteEvent, TicketNumber, WaitReason};
use crate::page_choice::{DropReason, EntryStanding, FrontierEntry};
use crate::time::Timestamp;
use crate::url::PageUrl;

impl HostState {
    /// What to do at `now`.
    ///
    /// A request is proposed only when it may start at once; the carrier prepares it (address, permit) and then calls
    /// [`Self::open_ticket`], which looks again.
    pub fn next_action(&mut self, now: Timestamp) -> HostAction {
        let action = self.decide(now);
        if let HostAction::Finish(_) = action {
            // The site is about to be given up: whoever waits for it waits in vain.
            self.lend_nothing_of(|_| true);
        }
        action
    }

    fn decide(&mut self, now: Timestamp) -> HostAction {
        if self.account.open.is_some() {
            return HostAction::AwaitOutcome;
        }
        if self.whole_site_excluded() {
            return self.finish(FinishReason::Excluded, now);
        }
        if let Some(reason) = self.open_cycle_if_due(now) {
            return HostAction::Finish(reason);
        }
        if let Some(origin) = self.borrows_from() {
            return HostAction::BorrowRobots(origin);
        }
        let not_before = self.account.not_before();
        if not_before.since(now) > self.rules.park_after {
            // No site is kept live for another's sake.
            self.lend_nothing_of(|_| true);
        }
        let proposal = match self.choose(now) {
            Ok(intent) => intent,
            Err(reason) => return self.finish(reason, now),
        };
        if now < not_before {
            return self.wait(not_before, now);
        }
        match proposal.kind {
            RequestKind::Robots => HostAction::FetchRobots(proposal),
            RequestKind::Page | RequestKind::Sitemap => HostAction::Fetch(proposal),
        }
    }

    /// When the carrier should call [`Self::next_action`] again on its own account; not at all while a request is open, while another
    /// site is waited for, or while the whole site is excluded.
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        if self.account.open.is_some() || self.whole_site_excluded() || self.borrows_from().is_some() {
            return None;
        }
        let not_before = self.account.not_before();
        match self.account.cycle_closed {
            Some(_) if !self.may_resume() => Some(not_before.max(self.account.next_cycle_at)),
            Some(_) | None => Some(not_before),
        }
    }

    /// Gives the ticket for a request proposed before, if it still may be sent at `now`; else `None`, and the carrier asks anew.
    ///
    /// The ticket's event is the last of [`Self::take_events`]; the request may leave once that is durable.
    pub fn open_ticket(&mut self, intent: RequestIntent, now: Timestamp) -> Option<Ticket> {
        let current = match self.next_action(now) {
            HostAction::FetchRobots(current) | HostAction::Fetch(current) => current,
            HostAction::BorrowRobots(_)
            | HostAction::WaitUntil(_)
            | HostAction::Park { .. }
            | HostAction::Finish(_)
            | HostAction::AwaitOutcome => return None,
        };
        if current != intent {
            return None;
        }
        if intent.kind.costs_budget() {
            self.put_next_cycle_off(now);
        }
        let number = self.account.last_ticket + 1;
        let event = SiteEvent::Ticket {
            ticket: number,
            kind: intent.kind,
            url: intent.url.clone(),
            ground: intent.ground.clone(),
            from: None,
        };
        self.record(now, event);
        Some(Ticket { number, intent })
    }

    /// Whether the request of `ticket`, now durable, may leave: it is the open one, and no exclusion came meanwhile.
    pub fn on_ticket_durable(&self, ticket: TicketNumber) -> bool {
        self.account.open.as_ref().is_some_and(|open| open.ticket == ticket && self.revoked != Some(ticket))
    }

    /// Opens the next cycle when it is due, or goes on with one that ended early when new URLs came. While the newest one is
    /// closed and neither holds: why it closed.
    fn open_cycle_if_due(&mut self, now: Timestamp) -> Option<FinishReason> {
        match self.account.cycle_closed {
            None if self.account.cycle > 0 => return None,
            Some(reason) if now < self.account.next_cycle_at => {
                if !self.may_resume() {
                    return Some(reason);
                }
                self.record(now, SiteEvent::CycleResumed);
                return None;
            }
            None | Some(_) => {}
        }
        self.queue.reopen();
        self.queue_seeds();
        self.queue_known_sitemaps(now);
        self.forget_robots_failures();
        let cycle = self.account.cycle + 1;
        let interval = self.change_rate.begin_cycle(cycle, &self.rules.interval_bounds());
        self.record(now, SiteEvent::CycleOpened { cycle, next_cycle_at: now.plus(interval) });
        None
    }

    /// No two budgets back to back (P1): the interval counts from the cycle's first page request, which an unreadable robots.txt or a wait
    /// can keep back for long, and after the last one the shortest interval passes at least.
    fn put_next_cycle_off(&mut self, now: Timestamp) {
        let bounds = self.rules.interval_bounds();
        let is_first = self.account.num_page_requests == 0;
        let rest = if is_first { self.change_rate.current(&bounds) } else { bounds.shortest };
        let next_cycle_at = now.plus(rest);
        if next_cycle_at > self.account.next_cycle_at {
            self.record(now, SiteEvent::NextCyclePutOff { next_cycle_at });
        }
    }

    fn may_resume(&self) -> bool {
        self.account.may_resume(self.rules.budget.page_requests(), self.queue.num_queued())
    }

    /// Chooses the next request; URLs that robots.txt forbids leave the queue on the way.
    fn choose(&mut self, now: Timestamp) -> Result<RequestIntent, FinishReason> {
        if self.account.num_page_requests >= self.rules.budget.page_requests() {
            return Err(FinishReason::BudgetSpent);
        }
        if let Some(way) = &self.robots_way {
            return Ok(robots_intent(way.hops.current().clone()));
        }
        if let Some(robots_url) = self.wanted_robots_url() {
            return Ok(robots_intent(robots_url));
        }
        if let Some(intent) = self.best(now).and_then(|url| self.propose(url, now)) {
            return Ok(intent);
        }
        // The best one may not be asked, and with it many others: they all leave at once, and what is left is weighed once more.
        let waiting: Vec<PageUrl> = self.queue.queued().map(|entry| entry.url.clone()).collect();
        for url in &waiting {
            if let Standing::Drop(reason) = self.standing(url, now) {
                self.drop_url(url, reason);
            }
        }
        let proposed = self.best(now).and_then(|url| self.propose(url, now));
        let proposed = proposed.or_else(|| self.guess_sitemap(now).and_then(|guess| self.propose(guess, now)));
        proposed.ok_or_else(|| self.why_nothing_is_left())
    }

    /// The best of what waits. URLs of an origin whose robots.txt failed stand back while others can be asked; so does what looks like part
    /// of a trap.
    fn best(&mut self, now: Timestamp) -> Option<PageUrl> {
        self.queue.weigh();
        let any_failed = self.any_robots_failed();
        let has_failed = |entry: &FrontierEntry| any_failed && self.robots_failed(&entry.url);
        let stands_back = |entry: &FrontierEntry| has_failed(entry) || Self::looks_like_a_trap(entry, now);
        // Most queues begin with what looks like no trap, and then the others need not be looked at.
        let first = self.queue.best(has_failed);
        let is_clear = first.is_some_and(|first| !Self::looks_like_a_trap(first, now));
        // What may be a trap goes before an origin that failed: it can be asked.
        let instead = || self.queue.best(stands_back).filter(|other| !stands_back(other));
        let best = if is_clear { first } else { instead().or(first) };
        best.map(|entry| entry.url.clone())
    }

    /// The request that brings `url` nearer; none where it may not be asked, and then it leaves the queue.
    fn propose(&mut self, url: PageUrl, now: Timestamp) -> Option<RequestIntent> {
        match self.standing(&url, now) {
            Standing::Ask(robots_url) => Some(robots_intent(robots_url)),
            Standing::Allowed(ground) => {
                let url = self.home_before(&url).unwrap_or(url);
                Some(RequestIntent { kind: self.role_of(&url).request_kind(), url, ground })
            }
            Standing::Drop(reason) => {
                self.drop_url(&url, reason);
                None
            }
        }
    }

    /// What may be done for a URL that waits.
    fn standing(&self, url: &PageUrl, now: Timestamp) -> Standing {
        if self.role_of(url).is_sitemap() && !self.may_ask_sitemap() {
            return Standing::Drop(DropReason::SitemapsSpent);
        }
        self.robots_standing(url, now)
    }

    fn why_nothing_is_left(&self) -> FinishReason {
        let entries = self.queue.entries();
        let is_refused = |entry: &FrontierEntry| {
            matches!(&entry.standing, EntryStanding::Dropped(DropReason::AddressRefused { .. }))
        };
        let all_refused = !entries.is_empty() && entries.iter().all(is_refused);
        if all_refused { FinishReason::AddressRefused } else { FinishReason::QueueEmpty }
    }

    /// The one place where a URL is given up, and with it its record where the reason asks for that.
    pub(super) fn drop_url(&mut self, url: &PageUrl, reason: DropReason) {
        match reason {
            DropReason::Robots { .. } => self.count_dropped_link(LinkDrop::Robots),
            DropReason::AddressRefused { .. } => self.count_dropped_link(LinkDrop::ForbiddenAddress),
            DropReason::Excluded
            | DropReason::TooManyOrigins
            | DropReason::NotHtml
            | DropReason::Gone
            | DropReason::Barrier(_)
            | DropReason::Noindex
            | DropReason::Redirect { .. }
            | DropReason::Status(_)
            | DropReason::TooManyTries
            | DropReason::RobotsUnreachable
            | DropReason::ExtractionFailed
            | DropReason::NoSuchName
            | DropReason::RobotsLogin { .. }
            | DropReason::StoreFull
            | DropReason::NoSitemap
            | DropReason::SitemapsSpent
            | DropReason::OtherFormat
            | DropReason::MovedForGood { .. } => {}
        }
        if reason.removes_record() && self.queue.get(url).is_some_and(|entry| entry.has_record) {
            self.removals.push(url.clone());
        }
        self.queue.settle(url, EntryStanding::Dropped(reason));
    }

    fn finish(&mut self, reason: FinishReason, now: Timestamp) -> HostAction {
        if self.account.cycle > 0 && self.account.cycle_closed.is_none() {
            self.record(now, SiteEvent::CycleClosed { reason });
        }
        HostAction::Finish(reason)
    }

    fn wait(&self, until: Timestamp, now: Timestamp) -> HostAction {
        if until.since(now) <= self.rules.park_after {
            return HostAction::WaitUntil(until);
        }
        let reason = match self.account.wait.filter(|wait| wait.until == until) {
            Some(wait) => wait.reason,
            None if self.crawl_delay().is_some_and(|delay| delay >= self.rules.park_after) => WaitReason::CrawlDelay,
            None => WaitReason::SlowAnswers,
        };
        HostAction::Park { until, reason }
    }
}

fn robots_intent(url: PageUrl) -> RequestIntent {
    RequestIntent { kind: RequestKind::Robots, url, ground: RobotsGround::RobotsFile }
}
