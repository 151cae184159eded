//! What is to come of one site, by its seeds and by what a stopped node knew of it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::ledger::FinishReason;
use crate::origin::Origin;
use crate::page_choice::{DropReason, EntryStanding, FrontierEntry, PageQueue};
use crate::politeness::{MAX_SITEMAP_REQUESTS, OriginRobots, Seed, SiteRules};
use crate::robots::{MAX_ROBOTS_BYTES, RobotsPolicy};
use crate::site::Site;
use crate::site_row::{SiteRow, SiteStanding};
use crate::sitemap::MAX_SITEMAP_BYTES;
use crate::time::Timestamp;

/// Why a site is not asked in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The operator paused it.
    Paused,
    /// Its cycle is over, and the next one begins no sooner than it is due.
    UntilNextCycle(FinishReason),
}

/// What is to come of one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteOutlook {
    /// Which.
    pub site: Site,
    /// Whether a stopped node knew it.
    pub is_known: bool,
    /// Its seeds, old and new.
    pub num_seeds: usize,
    /// When the frontier takes it up, if there is a place.
    pub due_at: Timestamp,
    /// No request before this: its delay, its backoff, its Retry-After.
    pub not_before: Timestamp,
    /// Why it is not asked at all, if it is not.
    pub rest: Option<Rest>,
    /// Most page requests: what is left of the budget.
    pub max_page_requests: u16,
    /// Those that are likely: as many as are left, but no more than there are URLs where its queue is known from an earlier cycle.
    pub likely_page_requests: u16,
    /// Origins that are known and whose robots.txt has to be read first.
    pub robots_requests: usize,
    /// Least time from the end of a request to the start of the next.
    pub delay: Duration,
    /// Most bytes of bodies, sitemaps included.
    pub max_body_bytes: u64,
    /// Its address, where it is written and need not be looked up.
    pub address: Option<Ipv4Addr>,
}

impl SiteOutlook {
    /// A site that nobody knew before, with these seeds.
    pub fn of_new(site: Site, seeds: &[Seed], rules: &SiteRules, max_body_bytes: u64, now: Timestamp) -> Self {
        let row = SiteRow::new(site, Vec::new(), now);
        Self { is_known: false, ..Self::of_known(&row, &PageQueue::default(), &[], seeds, rules, max_body_bytes, now) }
    }

    /// A site of the store, to which these seeds are added. `max_body_bytes` is the cap on one page.
    pub fn of_known(
        row: &SiteRow,
        queue: &PageQueue,
        robots: &[OriginRobots],
        seeds: &[Seed],
        rules: &SiteRules,
        max_body_bytes: u64,
        now: Timestamp,
    ) -> Self {
        let account = &row.account;
        let new_seeds: Vec<&Seed> = seeds.iter().filter(|seed| !row.seeds.contains(seed)).collect();
        let num_unseen = row.seeds.iter().chain(new_seeds.iter().copied());
        let num_unseen = num_unseen.filter(|seed| queue.get(&seed.url).is_none()).count();
        let cycle = if account.may_resume(rules.budget.page_requests(), queue.num_queued() + num_unseen) {
            CycleToCome::of_resumable(row, &new_seeds, now)
        } else {
            CycleToCome::of(row, now)
        };
        let spent = if cycle == CycleToCome::GoesOn { account.num_page_requests } else { 0 };
        let max_page_requests = match cycle {
            CycleToCome::GoesOn | CycleToCome::Begins => rules.budget.page_requests().saturating_sub(spent),
            CycleToCome::Rests(_) => 0,
        };
        let num_urls = num_unseen + queue.entries().iter().filter(|entry| cycle.asks(entry)).count();
        let num_urls = u16::try_from(num_urls).unwrap_or(u16::MAX);
        let was_crawled = account.cycle > 0 && !queue.entries().is_empty();
        let likely_page_requests = if was_crawled { max_page_requests.min(num_urls) } else { max_page_requests };
        let (rest, due_at) = match (row.standing, cycle) {
            (SiteStanding::Paused, _) => (Some(Rest::Paused), row.due_at),
            (_, CycleToCome::Rests(reason)) => {
                (Some(Rest::UntilNextCycle(reason)), row.due_at.max(account.next_cycle_at))
            }
            // A site whose cycle is over is taken up at once for new seeds; one that a crash cut off too.
            (SiteStanding::Finished { .. }, _) if !new_seeds.is_empty() => (None, now),
            (SiteStanding::Live, _) => (None, account.not_before()),
            (SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. }, _) => (None, row.due_at),
        };
        let max_sitemaps = match cycle {
            CycleToCome::GoesOn => MAX_SITEMAP_REQUESTS.saturating_sub(account.num_sitemap_requests),
            CycleToCome::Begins | CycleToCome::Rests(_) => MAX_SITEMAP_REQUESTS,
        };
        let num_sitemaps = u64::from(max_sitemaps).min(u64::from(max_page_requests));
        let robots_requests = if rest.is_some() { 0 } else { origins_to_ask(row, queue, robots, seeds, cycle, now) };
        let robots_requests = robots_requests.min(usize::from(rules.budget.origins()));
        let bytes = (u64::from(max_page_requests) - num_sitemaps) * max_body_bytes
            + num_sitemaps * MAX_SITEMAP_BYTES as u64
            + robots_requests as u64 * MAX_ROBOTS_BYTES as u64;
        Self {
            site: row.site.clone(),
            is_known: true,
            num_seeds: row.seeds.len() + new_seeds.len(),
            due_at,
            not_before: account.not_before(),
            rest,
            max_page_requests,
            likely_page_requests,
            robots_requests,
            delay: delay(row, robots, rules),
            max_body_bytes: bytes,
            address: None,
        }
    }

    /// The least time from the first of so many requests to the last.
    pub fn least_span(&self, num_requests: u64) -> Duration {
        self.delay.saturating_mul(u32::try_from(num_requests.saturating_sub(1)).unwrap_or(u32::MAX))
    }
}

/// Which cycle the site's next requests belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CycleToCome {
    /// The open one, or a closed one that is resumed since URLs wait.
    GoesOn,
    /// The next one, with its whole budget.
    Begins,
    /// None before the next is due.
    Rests(FinishReason),
}

impl CycleToCome {
    fn of(row: &SiteRow, now: Timestamp) -> Self {
        let account = &row.account;
        match account.cycle_closed {
            None if account.cycle == 0 => Self::Begins,
            None => Self::GoesOn,
            Some(_) if now >= account.next_cycle_at => Self::Begins,
            Some(reason) => Self::Rests(reason),
        }
    }

    /// Of a site whose closed cycle may be resumed: that happens when the site is taken up before the next cycle is due.
    fn of_resumable(row: &SiteRow, new_seeds: &[&Seed], now: Timestamp) -> Self {
        // New seeds make a finished site due at once.
        let is_taken_up = !new_seeds.is_empty() || row.comes_before_next_cycle(now);
        match Self::of(row, now) {
            Self::Rests(_) if is_taken_up => Self::GoesOn,
            other @ (Self::Rests(_) | Self::GoesOn | Self::Begins) => other,
        }
    }

    /// Whether it asks for a URL of the queue.
    fn asks(self, entry: &FrontierEntry) -> bool {
        match self {
            Self::GoesOn => entry.standing == EntryStanding::Queued,
            Self::Begins => entry.standing != EntryStanding::Dropped(DropReason::Gone),
            Self::Rests(_) => false,
        }
    }
}

/// How many origins have to be asked for their robots.txt, as far as their URLs are known.
fn origins_to_ask(
    row: &SiteRow,
    queue: &PageQueue,
    robots: &[OriginRobots],
    seeds: &[Seed],
    cycle: CycleToCome,
    now: Timestamp,
) -> usize {
    let of_seeds = row.seeds.iter().chain(seeds).map(|seed| seed.url.origin());
    let of_queue = queue.entries().iter().filter(|entry| cycle.asks(entry)).map(|entry| entry.url.origin());
    let is_fresh = |origin: &Origin| {
        let copy = robots.iter().find(|robots| robots.origin == *origin).and_then(|robots| robots.copy.as_ref());
        copy.is_some_and(|copy| now < copy.expires_at)
    };
    let origins: BTreeSet<String> =
        of_seeds.chain(of_queue).filter(|origin| !is_fresh(origin)).map(|origin| origin.to_string()).collect();
    origins.len()
}

/// The delay by what is known: twice as long while a backoff is not forgiven.
fn delay(row: &SiteRow, robots: &[OriginRobots], rules: &SiteRules) -> Duration {
    let policies = robots.iter().filter_map(|robots| robots.copy.as_ref()).map(|copy| &copy.policy);
    let crawl_delay = policies.filter_map(RobotsPolicy::crawl_delay).max().unwrap_or_default();
    let delay = rules.min_delay.max(crawl_delay.min(rules.max_crawl_delay));
    if row.account.rung > 0 { delay.saturating_mul(2) } else { delay }
}
