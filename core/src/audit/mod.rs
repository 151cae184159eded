//! The ledger, held against the promises: was every request of it one that might be sent?
//!
//! An [`Auditor`] reads a ledger from its oldest entry to its newest and judges by the entries alone. It shares no rule with the site's
//! state machine, so it can contradict it: what a wait is, how old a robots.txt may be and what a budget counts stand here a second time,
//! in the words of the promises. What it deliberately does not do: ask the store, the clock or the web. So what no entry says it cannot
//! see: which line of robots.txt forbids a URL is known to the line that a ticket names, and no further.
//!
//! Invariants: a ledger that the state machine wrote has no finding; in doubt, as where the entries that would tell have expired, there is
//! none either; settings that were tightened since make no finding of what was allowed then (it is counted as a [`Doubt`]); memory is about half a kilobyte for each site that the ledger names, and a hundred bytes more for each further origin of it.

mod breach;
mod doubt;
mod robots;
mod site;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use crate::budget::{MAX_ORIGINS_PER_CYCLE, MAX_PAGE_REQUESTS_PER_CYCLE};
use crate::config::{LEAST_MIN_DELAY, LEAST_RECRAWL_INTERVAL};
use crate::exclusion::Exclusions;
use crate::ledger::{LedgerEntry, LedgerEvent};
use crate::site::Site;
use crate::time::Timestamp;

use self::site::SiteAudit;

pub use self::breach::{Breach, Promise};
pub use self::doubt::{Doubt, DoubtCount, Doubts, Gap};

/// Findings that are kept; beyond them they are only counted.
pub const MAX_FINDINGS: usize = 1000;

/// What a ledger is held against. The ledger does not say which settings were in force when a request was sent, so a request that
/// keeps the promise and not the settings of today is no breach: it is counted as a [`Doubt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRules {
    /// What no setting may undo: to break it is a breach.
    pub promise: Limits,
    /// The settings now in force.
    pub settings: Limits,
}

/// How much, how often and how soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most page requests of a site and cycle (P1).
    pub page_requests: u16,
    /// Most origins of a site and cycle (P3).
    pub origins: u16,
    /// From the start of a cycle to the start of the next, at least (P1).
    pub shortest_interval: Duration,
    /// Shortest delay after the end of a request (P2).
    pub min_delay: Duration,
    /// The delay is at least this many times what the last request took.
    pub response_time_factor: u32,
    /// Longest delay that follows from what a request took.
    pub max_adaptive_delay: Duration,
}

impl Limits {
    /// What holds under any configuration: the numbers that are promised in public, and the bounds that a setting has.
    pub const PROMISE: Self = Self {
        page_requests: MAX_PAGE_REQUESTS_PER_CYCLE,
        origins: MAX_ORIGINS_PER_CYCLE,
        shortest_interval: LEAST_RECRAWL_INTERVAL,
        min_delay: LEAST_MIN_DELAY,
        // Either may be set to nothing.
        response_time_factor: 0,
        max_adaptive_delay: Duration::ZERO,
    };

    /// The delay after a request that took so long.
    fn delay_after(&self, took: Duration) -> Duration {
        took.saturating_mul(self.response_time_factor).min(self.max_adaptive_delay).max(self.min_delay)
    }
}

/// How far back a ledger goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// To its first entry ever.
    Whole,
    /// Older segments have expired. What they said of robots.txt files is not known.
    Partial,
}

/// One request, or one entry, that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the entry that shows it.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// At which site.
    pub site: Site,
    /// The URL, if it is about a request.
    pub url: Option<String>,
    /// What.
    pub breach: Breach,
}

impl Finding {
    /// One sentence for people.
    pub fn describe(&self) -> String {
        let url = self.url.as_deref().unwrap_or_default();
        let gap = if url.is_empty() { "" } else { " " };
        let Self { at, site, breach, .. } = self;
        format!("{at} {site}{gap}{url}: {} ({})", breach.describe(), breach.promise().describe())
    }
}

/// What an audit came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Entries read.
    pub num_entries: u64,
    /// Tickets among them.
    pub num_requests: u64,
    /// Sites that had one.
    pub num_sites: u64,
    /// Findings in all.
    pub num_violations: u64,
    /// The first [`MAX_FINDINGS`] of them, as they stand in the ledger.
    pub findings: Vec<Finding>,
    /// What the settings now in force would not have allowed, and those of then may have.
    pub doubts: Doubts,
    /// What is missing from the ledger: of what stood there nothing was judged.
    pub gaps: Vec<Gap>,
}

impl AuditReport {
    /// The counts in one line.
    pub fn summary(&self) -> String {
        let Self { num_requests, num_sites, num_violations, gaps, .. } = self;
        let incomplete = match gaps.len() {
            0 => String::new(),
            1 => "; the ledger is incomplete, at 1 place".to_owned(),
            places => format!("; the ledger is incomplete, at {places} places"),
        };
        format!("{num_requests} requests of {num_sites} sites checked, {num_violations} violations{incomplete}")
    }

    /// Whether all that was ever asked was there to be judged, and nothing of it broke a promise.
    pub fn is_clean(&self) -> bool {
        self.num_violations == 0 && self.gaps.is_empty()
    }
}

/// Reads a ledger and keeps what breaks a promise.
#[derive(Clone, Debug)]
pub struct Auditor {
    rules: AuditRules,
    history: History,
    begins_at: Option<Timestamp>,
    sites: HashMap<Site, SiteAudit>,
    exclusions: Exclusions,
    report: AuditReport,
}

impl Auditor {
    /// For a ledger that goes back so far.
    pub fn new(rules: AuditRules, history: History) -> Self {
        Self {
            rules,
            history,
            begins_at: None,
            sites: HashMap::new(),
            exclusions: Exclusions::default(),
            report: AuditReport::default(),
        }
    }

    /// The next entry. Lines of snapshots are to be given too: they stand for what expired.
    pub fn read(&mut self, entry: &LedgerEntry) {
        self.report.num_entries += 1;
        let begins_at = *self.begins_at.get_or_insert(entry.at);
        match &entry.event {
            LedgerEvent::Excluded { domain, exclusion } => self.exclusions.insert(domain.clone(), exclusion.clone()),
            LedgerEvent::Included { domain } => drop(self.exclusions.remove(domain)),
            LedgerEvent::Site { site, event } => {
                let unseen_before = match self.history {
                    History::Whole => None,
                    History::Partial => Some(begins_at),
                };
                let audit = self.sites.entry(site.clone()).or_insert_with(|| SiteAudit::new(unseen_before));
                audit.unseen_before = unseen_before;
                let before = audit.num_requests;
                let mut found = Vec::new();
                audit.read(&self.rules, &self.exclusions, entry.at, event, &mut found);
                self.report.num_requests += u64::from(audit.num_requests - before);
                self.report.num_sites += u64::from(before == 0 && audit.num_requests > 0);
                for doubt in audit.doubts.drain(..) {
                    self.report.doubts.note(doubt, entry.seq, entry.at, site);
                }
                for (url, breach) in found {
                    self.report.num_violations += 1;
                    if self.report.findings.len() < MAX_FINDINGS {
                        let site = site.clone();
                        self.report.findings.push(Finding { seq: entry.seq, at: entry.at, site, url, breach });
                    }
                }
            }
        }
    }

    /// What stood here cannot be read. What comes next is judged as if it were a ledger of its own whose beginning has expired: in doubt
    /// there is no finding.
    pub fn skip(&mut self, gap: Gap) {
        self.report.gaps.push(gap);
        self.history = History::Partial;
        self.begins_at = None;
        // The snapshot behind the gap has all that are in force.
        self.exclusions = Exclusions::default();
        self.sites.values_mut().for_each(SiteAudit::forget);
    }

    /// What it came to so far.
    pub fn report(&self) -> &AuditReport {
        &self.report
    }

    /// What it came to.
    pub fn finish(self) -> AuditReport {
        self.report
    }
}
