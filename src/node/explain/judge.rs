//! From what is known to the one reason that decides.

use lohisoftbot_actors::frontier::SiteView;
use lohisoftbot_core::address;
use lohisoftbot_core::config::{DiscoveryMode, DiscoverySettings};
use lohisoftbot_core::discovery::{self, Judgement, QueueShape, TrapKind};
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::{FinishReason, WaitReason};
use lohisoftbot_core::page_choice::{EntryStanding, MAX_QUEUE_URL_BYTES};
use lohisoftbot_core::politeness::{HostState, OriginRobots};
use lohisoftbot_core::record::InlinkRow;
use lohisoftbot_core::robots::{RobotsRefusal, RobotsVerdict};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::history::UrlHistory;
use super::reason::{Part, Reason, RobotsFirst};

/// Whether requests leave at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePace {
    /// They do.
    Running,
    /// The operator paused them.
    Paused,
}

/// All that is known.
pub struct Facts<'a> {
    pub url: &'a PageUrl,
    pub view: Option<&'a SiteView>,
    pub excluded: Option<(Domain, Exclusion)>,
    pub history: &'a UrlHistory,
    /// Links to the URL, as far as they are stored.
    pub inlinks: &'a [InlinkRow],
    pub discovery: &'a DiscoverySettings,
    pub num_sites: u64,
    pub pace: NodePace,
    pub page_budget: u16,
    pub now: Timestamp,
}

impl<'a> Facts<'a> {
    /// What is known of the robots.txt of the URL's origin.
    pub fn robots(&self) -> Option<&'a OriginRobots> {
        self.view?.robots.iter().find(|robots| robots.origin == self.url.origin())
    }

    /// The one reason that decides.
    pub fn reason(&self) -> Reason {
        let port = self.url.origin().port();
        if address::port_is_blocked(port) {
            return Reason::PortRefused(port);
        }
        if let Some((domain, exclusion)) = &self.excluded {
            return Reason::Excluded(domain.clone(), exclusion.clone());
        }
        if self.url.path_and_query() == "/robots.txt" {
            return Reason::RobotsFile;
        }
        let Some(view) = self.view else { return self.unknown_site() };
        let Some(entry) = view.queue.get(self.url) else {
            return self.stored(view).unwrap_or_else(|| self.unqueued(view));
        };
        match &entry.standing {
            EntryStanding::Queued => self.queued(view),
            EntryStanding::Stored => self.stored(view).unwrap_or(Reason::RecordGone),
            EntryStanding::SitemapRead { num_urls } => Reason::SitemapRead { num_urls: *num_urls },
            EntryStanding::Dropped(reason) => Reason::Dropped(reason.clone()),
        }
    }

    fn unknown_site(&self) -> Reason {
        match self.discovery.mode {
            DiscoveryMode::Links if self.num_sites >= u64::from(self.discovery.max_sites) => {
                Reason::TooManySites { max_sites: self.discovery.max_sites }
            }
            mode @ (DiscoveryMode::Links | DiscoveryMode::Seeds) => Reason::SiteUnknown(mode),
        }
    }

    fn stored(&self, view: &SiteView) -> Option<Reason> {
        let record = view.pages.iter().find(|page| page.url == *self.url)?;
        let canonical = record.canonical.clone().filter(|canonical| canonical != self.url);
        let part = if record.cut { Part::Cut } else { Part::Whole };
        Some(Reason::Stored { fetched_at: record.fetched_at, canonical, part })
    }

    /// Of a URL that the queue does not hold.
    fn unqueued(&self, view: &SiteView) -> Reason {
        let entries = view.queue.entries();
        let num_url_bytes: usize = entries.iter().map(|entry| entry.url.as_str().len()).sum();
        let max_urls = self.discovery.max_queued_urls;
        let is_full =
            entries.len() >= max_urls as usize || num_url_bytes + self.url.as_str().len() > MAX_QUEUE_URL_BYTES;
        let mut links = self.inlinks.iter().flat_map(|row| row.links.iter().map(move |link| (row, link)));
        let has_link = links.clone().any(|(_, link)| !link.nofollow);
        match links.next() {
            _ if !self.history.requests.is_empty() => Reason::EarlierCycle,
            // It joins the queue when its site is taken up.
            _ if !is_full && view.row.seeds.iter().any(|seed| seed.url == *self.url) => self.queued(view),
            Some((row, _)) if !has_link => Reason::Nofollow { source: row.source.clone() },
            _ if is_full => Reason::QueueFull { max_urls },
            Some(_) | None => match (self.trap(view), self.followed_from_elsewhere()) {
                (Some(kind), _) => Reason::Trap(kind),
                (None, Some(source)) if view.row.account.cycle == 0 => Reason::SiteNotBegun { source },
                (None, Some(source)) => {
                    Reason::RestingSite { source, next_cycle_at: view.row.account.next_cycle_at.max(self.now) }
                }
                (None, None) => Reason::NotLinked,
            },
        }
    }

    /// A page of another site with a link to it that may be followed. Such links reach the queue of a site that is live alone, while
    /// their rows are stored in any case.
    fn followed_from_elsewhere(&self) -> Option<PageUrl> {
        let elsewhere = self.inlinks.iter().filter(|row| row.source.site() != self.url.site());
        let mut followed = elsewhere.filter(|row| row.links.iter().any(|link| !link.nofollow));
        followed.next().map(|row| row.source.clone())
    }

    /// What keeps it out of the queue as part of a trap, by itself or beside what is known.
    fn trap(&self, view: &SiteView) -> Option<TrapKind> {
        match discovery::judge(self.url, self.now) {
            Judgement::Trap(kind) => Some(kind),
            Judgement::Suspect(_) | Judgement::Clear => {
                let known = view.queue.entries().iter().map(|entry| &entry.url);
                QueueShape::of(known, self.now).admit(self.url, None).err()
            }
        }
    }

    /// Of a URL that waits for its turn: whether that can come.
    fn queued(&self, view: &SiteView) -> Reason {
        let account = &view.row.account;
        if account.open.as_ref().is_some_and(|open| open.url == *self.url) {
            return Reason::UnderWay;
        }
        let robots = self.robots();
        match robots.and_then(|robots| robots.rules_in_force(self.now)).map(|policy| policy.verdict(self.url)) {
            Some(RobotsVerdict::Disallowed(RobotsRefusal::Line(line))) => {
                return Reason::RobotsForbids { line: line.number, text: line.text };
            }
            Some(RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status })) => {
                return Reason::RobotsLogin { status };
            }
            Some(RobotsVerdict::Allowed(_)) | None => {}
        }
        if view.row.standing == SiteStanding::Paused {
            return Reason::SitePaused;
        }
        let next_cycle_at = account.next_cycle_at.max(self.now);
        match account.cycle_closed {
            // It stays closed until the site is taken up.
            Some(_) if self.resumes_cycle(view) => {}
            // Why the last one ended is of no account any more.
            Some(_) if self.next_cycle_is_due(view) => return self.in_next_cycle(view),
            Some(FinishReason::BudgetSpent) => {
                return Reason::BudgetSpent { budget: self.page_budget, next_cycle_at };
            }
            Some(reason) => return Reason::CycleOver { reason, next_cycle_at },
            None if account.cycle > 0 && account.num_page_requests >= self.page_budget => {
                return Reason::BudgetSpent { budget: self.page_budget, next_cycle_at };
            }
            None => {}
        }
        if self.pace == NodePace::Paused {
            return Reason::NodePaused;
        }
        if let Some(wait) = self.wait_of(view) {
            return wait;
        }
        match robots {
            Some(robots) if robots.rules_in_force(self.now).is_none() && robots.unreachable_since.is_some() => {
                let (since, retry_at) = (robots.unreachable_since, robots.retry_at.max(account.not_before()));
                return Reason::RobotsUnreachable { since, retry_at };
            }
            Some(robots) if robots.copy.is_some() => {}
            Some(_) | None => return Reason::RobotsUnread,
        }
        self.in_line(view)
    }

    /// Whether the cycle of its site is over and yet goes on: URLs were queued since, and there are requests for them.
    pub fn resumes_cycle(&self, view: &SiteView) -> bool {
        let unseen_seeds = view.row.seeds.iter().filter(|seed| view.queue.get(&seed.url).is_none());
        view.row.account.may_resume(self.page_budget, view.queue.num_queued() + unseen_seeds.count())
            && view.row.comes_before_next_cycle(self.now)
    }

    /// Whether the cycle of its site is over and the next may begin.
    pub fn next_cycle_is_due(&self, view: &SiteView) -> bool {
        view.row.account.cycle_closed.is_some() && self.now >= view.row.account.next_cycle_at
    }

    /// The URLs of its site in the order in which the next cycle asks for them, as far as can be told before it begins.
    pub fn order_of_next_cycle(&self, view: &SiteView) -> Vec<PageUrl> {
        let mut queue = view.queue.clone();
        queue.reopen();
        queue.by_choice(|entry| HostState::looks_like_a_trap(entry, self.now))
    }

    /// Of a URL that waits for a cycle that is due: what holds that up, else what comes first in it.
    fn in_next_cycle(&self, view: &SiteView) -> Reason {
        if self.pace == NodePace::Paused {
            return Reason::NodePaused;
        }
        if let Some(wait) = self.wait_of(view) {
            return wait;
        }
        let robots = match self.robots().and_then(|robots| robots.rules_in_force(self.now)) {
            Some(_) => RobotsFirst::InForce,
            None => RobotsFirst::Read,
        };
        let order = self.order_of_next_cycle(view);
        let num_before = order.iter().position(|url| url == self.url).unwrap_or(order.len());
        Reason::CycleDue { since: view.row.account.next_cycle_at, robots, num_before, budget: self.page_budget }
    }

    /// The wait that the site is in, longer than its usual delay.
    fn wait_of(&self, view: &SiteView) -> Option<Reason> {
        let account = &view.row.account;
        let in_force = account.wait.filter(|wait| wait.until > self.now);
        let parked = match view.row.standing {
            SiteStanding::Parked { reason } if view.row.due_at > self.now => Some((reason, view.row.due_at)),
            SiteStanding::Parked { .. }
            | SiteStanding::Due
            | SiteStanding::Live
            | SiteStanding::Finished { .. }
            | SiteStanding::Paused => None,
        };
        let (reason, until) = in_force.map(|wait| (wait.reason, wait.until)).or(parked)?;
        if reason == WaitReason::RobotsUnreachable {
            let since = self.robots().and_then(|robots| robots.unreachable_since);
            return Some(Reason::RobotsUnreachable { since, retry_at: until });
        }
        let cause = self.history.cause.clone().filter(|_| in_force.is_some());
        Some(Reason::SiteWaits { reason, until, cause })
    }

    /// Its place among the URLs that wait, and about when its turn comes.
    fn in_line(&self, view: &SiteView) -> Reason {
        let account = &view.row.account;
        let in_order = view.queue.by_choice(|entry| HostState::looks_like_a_trap(entry, self.now));
        let num_before = in_order.iter().position(|url| url == self.url).unwrap_or(in_order.len());
        let num_left = self.page_budget.saturating_sub(account.num_page_requests);
        if num_before >= usize::from(num_left) {
            // This one may have gone on for longer than its interval.
            let next_cycle_at = account.next_cycle_at.max(self.now);
            return Reason::BehindBudget { num_before, num_left, next_cycle_at };
        }
        let delay = account.delay.saturating_mul(u32::try_from(num_before).unwrap_or(u32::MAX));
        Reason::Queued { num_before, about_at: account.not_before().max(self.now).plus(delay) }
    }
}

#[cfg(test)]
mod node_tests;
#[cfg(test)]
mod tests;
