//! The site's state machine: what may be asked of a site now, and what follows from each answer (P1 to P4).
//!
//! [`HostState`] is everything one site's host queue owns: the robots cache, the delay, the backoff, the budget, the page queue. It is
//! told what happened and says what to do; it never asks the clock and never does anything itself. What must survive a crash goes into
//! its [`SiteAccount`] as events, which the carrier writes to the ledger ([`HostState::take_events`]).
//!
//! Invariants, held after every call:
//! - at most one request is open (`account.open`);
//! - no ticket is given before `account.not_before()`, nor when the budget is spent;
//! - the account changes by its events alone, so replaying the ledger gives the same account.

mod decide;
mod discover;
mod lending;
mod outcomes;
mod robots_cache;
mod row;
mod sitemaps;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use crate::backoff::BackoffPolicy;
use crate::budget::Budget;
use crate::discovery::LinkDropCounts;
use crate::exclusion::Exclusions;
use crate::ledger::{FinishReason, RequestKind, RobotsGround, SiteAccount, SiteEvent, TicketNumber, WaitReason};
use crate::origin::Origin;
use crate::page_choice::PageQueue;
use crate::record::StoredCopy;
use crate::recrawl::interval::{ChangeRate, IntervalBounds};
use crate::site::Site;
use crate::site_row::{self, SeedTaken};
use crate::time::Timestamp;
use crate::url::PageUrl;

pub use crate::seed::{Seed, SeedScheme};
pub use lending::LentRobots;
pub use outcomes::{PageEnd, PageRenewal, StoredAs};
pub use robots_cache::{OriginRobots, PolicyCopy, RobotsEnd};
pub use sitemaps::{MAX_SITEMAP_REQUESTS, SitemapEnd};

/// How long a site is left alone after barriers.
pub const BARRIER_PARK: Duration = Duration::from_secs(7 * 24 * 3600);
/// Barrier answers in a row that park a site.
pub const MAX_BARRIER_STREAK: u8 = 3;
/// Tries at the robots.txt of an origin that was never read, beside others of the site, before its URLs are dropped for this cycle.
pub const MAX_SIDE_ORIGIN_ROBOTS_TRIES: u8 = 3;

/// The settings the state machine works by; the same for every site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRules {
    /// Shortest delay between the end of a request and the start of the next.
    pub min_delay: Duration,
    /// The delay is at least this many times the last response time.
    pub response_time_factor: u32,
    /// Cap of the delay that follows from the response time.
    pub max_adaptive_delay: Duration,
    /// Longest Crawl-delay that is honoured in full.
    pub max_crawl_delay: Duration,
    /// A site that waits longer than this is parked.
    pub park_after: Duration,
    /// The ladder of waits.
    pub backoff: BackoffPolicy,
    /// Requests, pages and origins a cycle.
    pub budget: Budget,
    /// URLs kept in a site's queue.
    pub max_queued_urls: usize,
    /// From the start of a cycle to the start of the next, of a site of which nothing is learnt yet.
    pub recrawl_interval: Duration,
    /// Shortest such interval that is learnt.
    pub min_recrawl_interval: Duration,
    /// Longest such interval that is learnt.
    pub max_recrawl_interval: Duration,
    /// The product token that robots.txt groups are chosen by.
    pub product_token: String,
}

impl SiteRules {
    /// Within what a site's interval is learnt. An interval that is configured outside of the bounds moves them.
    pub fn interval_bounds(&self) -> IntervalBounds {
        let first = self.recrawl_interval;
        let (shortest, longest) = (self.min_recrawl_interval.min(first), self.max_recrawl_interval.max(first));
        IntervalBounds { first, shortest, longest }
    }
}

/// A request that may be sent once its ticket is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestIntent {
    /// What it is for.
    pub kind: RequestKind,
    /// What is asked.
    pub url: PageUrl,
    /// Under which rule.
    pub ground: RobotsGround,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// Ask for an origin's robots.txt, or for a redirect hop of it.
    FetchRobots(RequestIntent),
    /// Ask for a page or a sitemap.
    Fetch(RequestIntent),
    /// The robots.txt lies at this origin of another site, whose own it is to ask for; its end comes by `on_borrowed`.
    BorrowRobots(Origin),
    /// Nothing before this moment; stay live.
    WaitUntil(Timestamp),
    /// Nothing for so long that the site gives up its actor.
    Park {
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: WaitReason,
    },
    /// The cycle is over.
    Finish(FinishReason),
    /// A request is open; its end comes by `on_robots` or `on_outcome`.
    AwaitOutcome,
}

/// How a request arrived at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it ended.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Bytes received.
    pub wire_bytes: u64,
    /// A random number in [0, 1), for jitter.
    pub chance: f64,
}

/// Leave to send one request, in effect once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its number.
    pub number: TicketNumber,
    /// The request.
    pub intent: RequestIntent,
}

/// A link inside a site, or a redirect target, that the queue may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundUrl {
    /// Where it leads.
    pub url: PageUrl,
    /// Links away from the nearest seed.
    pub depth: u16,
    /// Redirects in a row that led here.
    pub num_hops: u8,
}

/// Everything that one site's host queue owns.
#[derive(Clone, Debug)]
pub struct HostState {
    site: Site,
    rules: Arc<SiteRules>,
    account: SiteAccount,
    robots: Vec<OriginRobots>,
    robots_way: Option<robots_cache::RobotsWay>,
    wanted: Vec<Origin>,
    lent: Vec<(Origin, LentRobots)>,
    queue: PageQueue,
    seeds: Vec<Seed>,
    exclusions: Exclusions,
    revoked: Option<TicketNumber>,
    removals: Vec<PageUrl>,
    dropped_links: LinkDropCounts,
    renewals: Vec<PageRenewal>,
    copy: Option<(TicketNumber, StoredCopy)>,
    change_rate: ChangeRate,
    events: Vec<(Timestamp, SiteEvent)>,
}

impl HostState {
    /// The state of a site that was never asked anything.
    pub fn new(site: Site, rules: Arc<SiteRules>, exclusions: Exclusions) -> Self {
        Self {
            site,
            rules,
            account: SiteAccount::default(),
            robots: Vec::new(),
            robots_way: None,
            wanted: Vec::new(),
            lent: Vec::new(),
            queue: PageQueue::default(),
            seeds: Vec::new(),
            exclusions,
            revoked: None,
            removals: Vec::new(),
            dropped_links: LinkDropCounts::default(),
            renewals: Vec::new(),
            copy: None,
            change_rate: ChangeRate::default(),
            events: Vec::new(),
        }
    }

    /// The site.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The account, events not yet taken included.
    pub fn account(&self) -> &SiteAccount {
        &self.account
    }

    /// The page queue.
    pub fn queue(&self) -> &PageQueue {
        &self.queue
    }

    /// The robots cache.
    pub fn robots(&self) -> &[OriginRobots] {
        &self.robots
    }

    /// Adds a seed; its URL joins the queue. A seed of another site, or on an excluded host, or one too many, is not taken.
    pub fn add_seed(&mut self, seed: Seed) {
        if !self.is_own_host(seed.url.host()) {
            return;
        }
        let url = seed.url.clone();
        match site_row::take_seed(&mut self.seeds, seed) {
            SeedTaken::New => drop(self.queue.add(url, 0, 0, self.rules.max_queued_urls)),
            SeedTaken::Known | SeedTaken::NoRoom => {}
        }
    }

    /// Puts seeds into the queue that are not in it; one that is, is not counted as linked once more.
    fn queue_seeds(&mut self) {
        for seed in &self.seeds {
            if self.queue.get(&seed.url).is_none() {
                self.queue.add(seed.url.clone(), 0, 0, self.rules.max_queued_urls);
            }
        }
    }

    /// Whether a host is this site's and not excluded.
    fn is_own_host(&self, host: &str) -> bool {
        self.site.contains_host(host) && !self.exclusions.covers_host(host)
    }

    /// Links away from the nearest seed, of the URL whose request is open.
    pub fn open_depth(&self) -> u16 {
        let open = self.account.open.as_ref().and_then(|open| self.queue.get(&open.url));
        open.map_or(0, |entry| entry.depth)
    }

    /// Takes note of the exclusions that touch this site now. Covered URLs leave the queue; gives how many.
    ///
    /// An open request to a covered host is the carrier's to abort, after which it calls [`Self::on_abandoned`].
    /// A ticket to such a host is revoked for good, whether or not its host is taken back in at once.
    pub fn on_exclusions(&mut self, exclusions: Exclusions) -> usize {
        self.exclusions = exclusions;
        if let Some(open) = self.account.open.as_ref().filter(|open| self.exclusions.covers_host(open.url.host())) {
            self.revoked = Some(open.ticket);
        }
        self.drop_excluded_way();
        let exclusions = self.exclusions.clone();
        self.lend_nothing_of(|origin| exclusions.covers_host(origin.host()));
        let Self { queue, exclusions, seeds, robots, .. } = self;
        seeds.retain(|seed| !exclusions.covers_host(seed.url.host()));
        robots.retain(|robots| !exclusions.covers_host(robots.origin.host()));
        queue.retain(|url| !exclusions.covers_host(url.host()))
    }

    /// A way of redirects that touches an excluded host ends; so does the ticket for a hop that only this way led to.
    fn drop_excluded_way(&mut self) {
        let is_out = |url: &PageUrl| self.exclusions.covers_host(url.host());
        let Some(way) = self.robots_way.take_if(|way| is_out(&way.origin.home()) || is_out(way.hops.current())) else {
            return;
        };
        let hop = way.hops.current();
        let open = self.account.open.as_ref().filter(|open| open.url == *hop && *hop != hop.origin().robots_url());
        self.revoked = open.map(|open| open.ticket).or(self.revoked);
    }

    /// The host of the open request, if one is open.
    pub fn open_host(&self) -> Option<&str> {
        self.account.open.as_ref().map(|open| open.url.host())
    }

    /// The events since the last call, oldest first: to be written to the ledger, in this order, before anything that follows.
    pub fn take_events(&mut self) -> Vec<(Timestamp, SiteEvent)> {
        std::mem::take(&mut self.events)
    }

    /// Pages whose records are to be removed, for whatever reason, since the last call. Nobody else decides that a record goes.
    pub fn take_removals(&mut self) -> Vec<PageUrl> {
        std::mem::take(&mut self.removals)
    }

    /// Pages that were found unchanged since the last call: their records are to be renewed.
    pub fn take_renewals(&mut self) -> Vec<PageRenewal> {
        std::mem::take(&mut self.renewals)
    }

    /// How often the site changes, as far as its cycles have shown.
    pub fn change_rate(&self) -> ChangeRate {
        self.change_rate
    }

    /// Whether the carrier should look up what the store holds of the page that it is about to ask.
    pub fn may_have_copy(&self, intent: &RequestIntent) -> bool {
        intent.kind == RequestKind::Page && self.queue.get(&intent.url).is_some_and(|entry| entry.has_record)
    }

    /// What the store holds of the page whose ticket is open: that decides what a 304 means, and whether the page changed. Where the record
    /// is gone meanwhile, there is none to renew, and the page is asked plainly.
    pub fn on_stored_copy(&mut self, ticket: TicketNumber, copy: Option<StoredCopy>) {
        let Some(open) =
            self.account.open.as_ref().filter(|open| open.ticket == ticket && open.kind == RequestKind::Page)
        else {
            return;
        };
        self.queue.note_copy(&open.url, copy.as_ref());
        self.copy = copy.map(|copy| (ticket, copy));
    }

    /// Whether there are events that were not taken yet.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The only way the account changes: the event is applied and kept for the ledger.
    fn record(&mut self, at: Timestamp, event: SiteEvent) {
        self.account.apply(at, &event);
        self.events.push((at, event));
    }

    /// The product token that directives are read for.
    pub fn product_token(&self) -> &str {
        &self.rules.product_token
    }

    /// Most URLs that its queue takes.
    pub fn max_queued_urls(&self) -> usize {
        self.rules.max_queued_urls
    }

    /// Where its crawl starts.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn whole_site_excluded(&self) -> bool {
        self.exclusions.covers_host(self.site.as_str())
    }
}
