//! What a run would cost, from what is known before it: for `run --dry-run`.
//!
//! [`SiteOutlook`] says what is to come of one site, [`forecast`] puts all of them in the order in which the frontier takes them up and adds
//! the times. What it deliberately does not do: guess at servers. Answers are taken to come at once; slow ones, failures, redirects of
//! robots.txt and waits that servers ask for come on top, so that every time is the least that this many requests take. Names are not
//! looked up, so an address is known only where it is written.
//!
//! Invariants: no more page requests than the budget leaves; no site starts before it is due, before its wait is over, or while
//! `max_live_sites` others hold their places; of two sites that are due at once, the one whose key comes first.

mod outlook;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::key;
use crate::time::Timestamp;

pub use outlook::{Rest, SiteOutlook};

/// What all sites share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Most sites live at once.
    pub max_live_sites: usize,
    /// A site whose delay is longer than this gives up its place between two requests.
    pub park_after: Duration,
    /// Shortest time between the starts of two requests to one address.
    pub per_address_delay: Duration,
}

/// One site's place in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteForecast {
    /// The site.
    pub outlook: SiteOutlook,
    /// Its first request, where it comes to the likely number everywhere.
    pub starts_at: Timestamp,
    /// Its last one, where it comes to the likely number everywhere.
    pub ends_at: Timestamp,
}

/// The whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunForecast {
    /// The sites that would be asked, in the order in which they are taken up.
    pub sites: Vec<SiteForecast>,
    /// Sites that rest, in the order in which they are due.
    pub resting: Vec<SiteOutlook>,
    /// Page requests that are likely, and the most there can be.
    pub page_requests: (u64, u64),
    /// Requests for robots.txt: one for each origin that is known and whose copy is not fresh.
    pub robots_requests: u64,
    /// Most bytes of bodies.
    pub max_body_bytes: u64,
    /// When the last request is sent: by likely numbers, and where every site comes to the most.
    pub ends_at: (Timestamp, Timestamp),
    /// Addresses that are known to be shared, with their sites.
    pub num_shared_addresses: usize,
}

/// Which of two numbers of requests a time is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Likely,
    Most,
}

/// Puts sites in order and adds everything up.
pub fn forecast(outlooks: Vec<SiteOutlook>, limits: &RunLimits, now: Timestamp) -> RunForecast {
    let (mut asked, mut resting): (Vec<_>, Vec<_>) = outlooks.into_iter().partition(|outlook| outlook.rest.is_none());
    let order = |outlook: &SiteOutlook| (outlook.due_at, key::site_prefix(&outlook.site));
    asked.sort_by_cached_key(order);
    resting.sort_by_cached_key(order);
    let likely = times(&asked, Measure::Likely, limits, now);
    let most = times(&asked, Measure::Most, limits, now);
    let add = |count: fn(&SiteOutlook) -> u64| asked.iter().map(count).sum::<u64>();
    let page_requests =
        (add(|site| u64::from(site.likely_page_requests)), add(|site| u64::from(site.max_page_requests)));
    let (robots_requests, max_body_bytes) = (add(|site| site.robots_requests as u64), add(|site| site.max_body_bytes));
    let num_shared_addresses = by_address(&asked).values().filter(|sites| sites.len() > 1).count();
    let end = |times: &[(Timestamp, Timestamp)], measure| {
        let last = times.iter().map(|(_, ends_at)| *ends_at).max().unwrap_or(now);
        last.max(last_of_addresses(&asked, times, measure, limits))
    };
    let ends_at = (end(&likely, Measure::Likely), end(&most, Measure::Most));
    let sites = asked.into_iter().zip(likely);
    let sites = sites.map(|(outlook, (starts_at, ends_at))| SiteForecast { outlook, starts_at, ends_at });
    RunForecast {
        sites: sites.collect(),
        resting,
        page_requests,
        robots_requests,
        max_body_bytes,
        ends_at,
        num_shared_addresses,
    }
}

/// First and last request of each site, in the order given.
fn times(sites: &[SiteOutlook], measure: Measure, limits: &RunLimits, now: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    // When each place that is taken becomes free, the soonest first.
    let mut taken: BinaryHeap<Reverse<Timestamp>> = BinaryHeap::new();
    let place = |site: &SiteOutlook| {
        let is_full = taken.len() >= limits.max_live_sites.max(1);
        let free_at = if is_full { taken.pop().map_or(now, |Reverse(free_at)| free_at) } else { now };
        let starts_at = now.max(site.due_at).max(site.not_before).max(free_at);
        let ends_at = starts_at.plus(site.least_span(num_requests(site, measure)));
        let holds_its_place = site.delay <= limits.park_after;
        taken.push(Reverse(if holds_its_place { ends_at } else { starts_at }));
        (starts_at, ends_at)
    };
    sites.iter().map(place).collect()
}

fn num_requests(site: &SiteOutlook, measure: Measure) -> u64 {
    let pages = match measure {
        Measure::Likely => site.likely_page_requests,
        Measure::Most => site.max_page_requests,
    };
    u64::from(pages) + site.robots_requests as u64
}

/// The earliest that the requests to all sites at one address can be over.
fn last_of_addresses(
    sites: &[SiteOutlook],
    times: &[(Timestamp, Timestamp)],
    measure: Measure,
    limits: &RunLimits,
) -> Timestamp {
    let span = |at: &Vec<usize>| {
        let num: u64 = at.iter().map(|&place| num_requests(&sites[place], measure)).sum();
        let first = at.iter().map(|&place| times[place].0).min().unwrap_or(Timestamp::EPOCH);
        let gaps = u32::try_from(num.saturating_sub(1)).unwrap_or(u32::MAX);
        first.plus(limits.per_address_delay.saturating_mul(gaps))
    };
    by_address(sites).values().map(span).max().unwrap_or(Timestamp::EPOCH)
}

fn by_address(sites: &[SiteOutlook]) -> BTreeMap<Ipv4Addr, Vec<usize>> {
    let mut by_address: BTreeMap<Ipv4Addr, Vec<usize>> = BTreeMap::new();
    for (place, site) in sites.iter().enumerate() {
        if let Some(address) = site.address {
            by_address.entry(address).or_default().push(place);
        }
    }
    by_address
}
