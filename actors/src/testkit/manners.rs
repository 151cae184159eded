//! Whether a log of requests shows good manners: what the other side must never see.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use super::web::{LoggedEnd, LoggedRequest};

/// Panics unless each site got one request at a time, none sooner than `delay` after the end of the last one, and no page request before
/// the robots.txt of its origin.
#[track_caller]
pub fn assert_polite(log: &[LoggedRequest], delay: Duration) {
    let mut by_site: BTreeMap<Site, Vec<&LoggedRequest>> = BTreeMap::new();
    for request in log {
        by_site.entry(request.url.site()).or_default().push(request);
    }
    for (site, requests) in by_site {
        for pair in requests.windows(2) {
            let ended_at = match pair[0].end {
                LoggedEnd::Ended(at) | LoggedEnd::Dropped(at) => at,
                LoggedEnd::Open => panic!("{site}: two requests are open: {pair:?}"),
            };
            let gap = pair[1].started_at.since(ended_at);
            assert!(pair[1].started_at >= ended_at && gap >= delay, "{site}: a gap of {gap:?} between {pair:?}");
        }
        let mut origins = BTreeSet::new();
        for request in requests {
            let origin = request.url.origin().to_string();
            match request.kind {
                RequestKind::Robots => drop(origins.insert(origin)),
                RequestKind::Page | RequestKind::Sitemap => {
                    assert!(origins.contains(&origin), "robots.txt comes before {request:?}")
                }
            }
        }
    }
}

/// Panics unless each address got at most `max_at_once` requests at once, and their starts were at least `delay` apart.
#[track_caller]
pub fn assert_polite_at_addresses(log: &[LoggedRequest], max_at_once: usize, delay: Duration) {
    let mut by_address: BTreeMap<Ipv4Addr, Vec<LoggedRequest>> = BTreeMap::new();
    for request in log {
        by_address.entry(request.address).or_default().push(request.clone());
    }
    for (address, requests) in by_address {
        let num = most_at_once(&requests);
        assert!(num <= max_at_once, "{address}: {num} requests at once");
        for pair in requests.windows(2) {
            let gap = pair[1].started_at.since(pair[0].started_at);
            assert!(gap >= delay, "{address}: {gap:?} between the starts of {pair:?}");
        }
    }
}

/// The log of a node that was killed at `at`: what was open then ended then.
pub fn cut_off(mut log: Vec<LoggedRequest>, at: Timestamp) -> Vec<LoggedRequest> {
    log.iter_mut().filter(|request| request.end == LoggedEnd::Open).for_each(|open| open.end = LoggedEnd::Dropped(at));
    log
}

/// Page requests to a site in a log, those for sitemaps included.
pub fn num_page_requests(log: &[LoggedRequest], site: &Site) -> usize {
    log.iter().filter(|request| request.kind.costs_budget() && request.url.site() == *site).count()
}

/// Most requests that were open at once.
pub fn most_at_once(log: &[LoggedRequest]) -> usize {
    let is_open_at = |request: &LoggedRequest, at| match request.end {
        LoggedEnd::Open => request.started_at <= at,
        LoggedEnd::Ended(end) | LoggedEnd::Dropped(end) => request.started_at <= at && at < end,
    };
    log.iter().map(|one| log.iter().filter(|other| is_open_at(other, one.started_at)).count()).max().unwrap_or(0)
}
