//! Which sitemaps of a site are asked for, and what follows from one that was read.
//!
//! A sitemap stands in the page queue like any URL and goes the same way: exclusion, robots.txt, delay, waits, tries and redirects hold for
//! it without a rule of their own. Here is only what is its own: where it comes from, and that few are asked.
//!
//! Invariants: at most [`MAX_SITEMAP_REQUESTS`] a cycle, counted in the account, so that no crash and no parking brings more; each of them
//! is a page request of the cycle (P1); nothing of another site is taken from a sitemap.

use super::{Arrival, HostState, OriginRobots};
use crate::ledger::{EndKind, RequestKind, TicketNumber};
use crate::origin::Origin;
use crate::page_choice::{Added, DropReason, EntryRole, EntryStanding, FrontierEntry};
use crate::robots::RobotsPolicy;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Sitemaps that are asked for in a cycle, redirects of theirs included.
pub const MAX_SITEMAP_REQUESTS: u8 = 2;

/// Page requests that must be left: one for the sitemap, and one for a page that it lists.
const LEAST_REQUESTS_LEFT: u16 = 2;

/// Where a sitemap lies that nobody names, if there is one.
const USUAL_PATH: &str = "/sitemap.xml";

/// What the reading of a sitemap came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SitemapEnd {
    /// It is one.
    Read {
        /// Pages that it lists, the best first.
        pages: Vec<PageUrl>,
        /// Further sitemaps that it lists, in its order.
        sitemaps: Vec<PageUrl>,
    },
    /// It is none.
    NoSitemap,
    /// Reading it failed.
    Failed,
}

impl HostState {
    /// The request for the sitemap of `ticket` was answered with 200, and the answer was read. An end of a ticket that is not the open one
    /// changes nothing.
    pub fn on_sitemap(&mut self, ticket: TicketNumber, status: u16, end: SitemapEnd, arrival: Arrival) {
        let is_open = |kind, number| kind == RequestKind::Sitemap && number == ticket;
        let Some(open) = self.account.open.as_ref().filter(|open| is_open(open.kind, open.ticket)) else { return };
        let url = open.url.clone();
        self.queue.count_try(&url);
        self.record_outcome(ticket, EndKind::Answered(status), arrival);
        self.forget_robots_failures_of(&url.origin());
        self.end_barrier_streak(arrival.at);
        self.forgive(arrival.at);
        let standing = match end {
            SitemapEnd::Read { pages, sitemaps } => {
                let (pages, sitemaps) = (self.listed_to_take_up(pages, arrival.at), self.usable(sitemaps));
                let num_urls = u32::try_from(pages.len()).unwrap_or(u32::MAX);
                self.queue.add_children(&url, sitemaps, self.rules.max_queued_urls);
                self.queue.add_listed(pages.iter().cloned(), self.rules.max_queued_urls);
                self.count_without_place(&pages);
                EntryStanding::SitemapRead { num_urls }
            }
            SitemapEnd::NoSitemap => EntryStanding::Dropped(DropReason::NoSitemap),
            SitemapEnd::Failed => EntryStanding::Dropped(DropReason::ExtractionFailed),
        };
        self.queue.settle(&url, standing);
    }

    /// Those URLs that are this site's own and not excluded.
    fn usable(&self, urls: Vec<PageUrl>) -> Vec<PageUrl> {
        urls.into_iter().filter(|url| self.is_usable(url)).collect()
    }

    fn is_usable(&self, url: &PageUrl) -> bool {
        self.is_own_host(url.host())
    }

    /// What the robots.txt of an origin names, as far as it is this site's own.
    fn named_by(&self, origin: &Origin, policy: &RobotsPolicy) -> Vec<PageUrl> {
        let named = policy.sitemap_urls(origin.robots_url().as_url());
        named.into_iter().filter_map(|url| PageUrl::from_url(url).ok()).filter(|url| self.is_usable(url)).collect()
    }

    /// The sitemaps that the robots.txt of `origin` names, just read, join the queue.
    pub(super) fn queue_named_sitemaps(&mut self, origin: &Origin) {
        let copy = self.robots_of(origin).and_then(|robots| robots.copy.as_ref());
        let Some(named) = copy.map(|copy| self.named_by(origin, &copy.policy)) else { return };
        self.queue.add_named_sitemaps(named, self.rules.max_queued_urls);
    }

    /// The same for all copies that need not be read again now; the others name theirs when they are.
    pub(super) fn queue_known_sitemaps(&mut self, now: Timestamp) {
        let is_fresh = |robots: &&OriginRobots| robots.copy.as_ref().is_some_and(|copy| now < copy.expires_at);
        let origins: Vec<Origin> = self.robots.iter().filter(is_fresh).map(|robots| robots.origin.clone()).collect();
        for origin in origins {
            self.queue_named_sitemaps(&origin);
        }
    }

    /// Whether the cycle has a request left for a sitemap, and one for what it may list.
    pub(super) fn may_ask_sitemap(&self) -> bool {
        let left = self.rules.budget.page_requests().saturating_sub(self.account.num_page_requests);
        self.account.num_sitemap_requests < MAX_SITEMAP_REQUESTS && left >= LEAST_REQUESTS_LEFT
    }

    /// What `url` is asked for.
    pub(super) fn role_of(&self, url: &PageUrl) -> EntryRole {
        self.queue.get(url).map_or(EntryRole::Page, |entry| entry.role)
    }

    /// A sitemap that may exist though no robots.txt of the site names one, put into the queue.
    ///
    /// The caller has nothing else left to ask: a site that gives enough by its links is not asked for what it may not have. It is asked
    /// where the site gave its first page, once a cycle, and not while a backoff is unforgiven.
    pub(super) fn guess_sitemap(&mut self, now: Timestamp) -> Option<PageUrl> {
        if !self.may_ask_sitemap() || self.account.num_sitemap_requests > 0 || self.account.rung > 0 {
            return None;
        }
        let was_refused =
            |entry: &FrontierEntry| matches!(entry.standing, EntryStanding::Dropped(DropReason::AddressRefused { .. }));
        let gave_page = |entry: &&FrontierEntry| {
            matches!(entry.standing, EntryStanding::Stored | EntryStanding::Dropped(DropReason::Noindex))
        };
        let nearest = self.queue.entries().iter().filter(gave_page).min_by_key(|entry| entry.depth)?;
        let origin = nearest.url.origin();
        self.robots_of(&origin)?.rules_in_force(now)?;
        // Nothing more is guessed at where an address was refused, though its name may have another one by now.
        if self.queue.entries().iter().any(|entry| was_refused(entry) && entry.url.origin() == origin) {
            return None;
        }
        let names_any = |robots: &OriginRobots| {
            robots.copy.as_ref().is_some_and(|copy| !self.named_by(&robots.origin, &copy.policy).is_empty())
        };
        if self.robots.iter().any(names_any) {
            return None;
        }
        let url = PageUrl::parse(USUAL_PATH, Some(&origin.home())).ok()?;
        match self.queue.add_sitemap(url.clone(), EntryRole::GuessedSitemap, 0, self.rules.max_queued_urls) {
            Added::New => Some(url),
            Added::Known | Added::NoRoom => None,
        }
    }

    /// Queues the target of a sitemap's redirect: the same role, one hop further.
    pub(super) fn follow_to_sitemap(&mut self, target: &PageUrl, role: EntryRole, num_hops: u8) {
        if self.is_usable(target) {
            self.queue.add_sitemap(target.clone(), role, num_hops, self.rules.max_queued_urls);
        }
    }
}
