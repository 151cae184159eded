//! What the auditor found, and how it is shown.

use std::{collections::BTreeMap, fmt, net::Ipv4Addr};

use serde::Serialize;

use crate::practice_web::log::LogEntry;

/// A way to break a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum ViolationKind {
    /// A request while another one to the site was open (P2).
    AtOnce,
    /// A request too soon after the last one ended (P2).
    TooSoon,
    /// A URL that must not be asked (P3, P7).
    Forbidden,
    /// A page request beyond the budget (P1).
    OverBudget,
    /// A request inside a wait that the site asked for or is owed (P4).
    InsideWait,
    /// A request without an allowed User-Agent (P9).
    UserAgent,
    /// A request with another allowed User-Agent than the site saw before (P9).
    UserAgentChanged,
    /// A page request before the origin's robots.txt was answered (P3).
    BeforeRobots,
    /// A request with a cookie, a credential or a Referer (P5).
    Credentials,
    /// A request for a sitemap beyond the two of a cycle.
    TooManySitemaps,
    /// A request to an address that had as many open as it may, over all sites there.
    TooManyAtAddress,
    /// A request too soon after another one to the address started, over all sites there.
    AddressTooSoon,
}

impl ViolationKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::AtOnce,
        Self::TooSoon,
        Self::Forbidden,
        Self::OverBudget,
        Self::InsideWait,
        Self::UserAgent,
        Self::UserAgentChanged,
        Self::BeforeRobots,
        Self::Credentials,
        Self::TooManySitemaps,
        Self::TooManyAtAddress,
        Self::AddressTooSoon,
    ];

    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::AtOnce => "requests while another was open",
            Self::TooSoon => "requests too soon after the last one",
            Self::Forbidden => "requests for forbidden URLs",
            Self::OverBudget => "page requests over the budget",
            Self::InsideWait => "requests inside a wait",
            Self::UserAgent => "requests without the User-Agent",
            Self::UserAgentChanged => "requests with another User-Agent than before",
            Self::BeforeRobots => "page requests before robots.txt",
            Self::Credentials => "requests with cookies, credentials or Referer",
            Self::TooManySitemaps => "requests for more sitemaps than two",
            Self::TooManyAtAddress => "requests while too many were open at the address",
            Self::AddressTooSoon => "requests too soon after another to the address",
        }
    }
}

/// One violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Of which promise.
    pub kind: ViolationKind,
    /// At which site.
    pub site: String,
    /// How far off it was.
    pub detail: String,
    /// The request.
    pub entry: LogEntry,
}

/// Figures of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SiteFigures {
    /// All requests.
    pub num_requests: usize,
    /// Those for anything but robots.txt.
    pub num_page_requests: usize,
    /// Most requests open at once.
    pub max_at_once: usize,
    /// Smallest time from the last end to a start, in microseconds; `None` where there was one request only.
    pub min_gap_us: Option<u64>,
}

/// Figures of one IP address, over all sites there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressFigures {
    /// How many sites were asked there.
    pub num_sites: usize,
    /// All requests.
    pub num_requests: usize,
    /// Most requests open at once.
    pub max_at_once: usize,
    /// Smallest time between two starts, in microseconds; `None` where there was one request only.
    pub min_gap_us: Option<u64>,
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// Every violation, by site and in the order of the requests.
    pub violations: Vec<Violation>,
    /// Figures by site.
    pub sites: BTreeMap<String, SiteFigures>,
    /// Figures by address.
    pub addresses: BTreeMap<Ipv4Addr, AddressFigures>,
    /// All requests.
    pub num_requests: usize,
    /// Answers that made their site wait.
    pub num_waits: usize,
    /// Those of them after which the site was asked again, and not before the wait was over.
    pub num_waits_honoured: usize,
    /// Page requests for paths that were never planned, on sites that may be crawled: no violation, but odd.
    pub num_unlabelled: usize,
}

impl AuditReport {
    /// How many sites were asked anything.
    pub fn num_sites(&self) -> usize {
        self.sites.len()
    }

    /// The violations of one kind.
    pub fn of_kind(&self, kind: ViolationKind) -> impl Iterator<Item = &Violation> {
        self.violations.iter().filter(move |violation| violation.kind == kind)
    }

    /// How many violations there are of each kind.
    pub fn counts(&self) -> BTreeMap<ViolationKind, usize> {
        ViolationKind::ALL.into_iter().map(|kind| (kind, self.of_kind(kind).count())).collect()
    }

    /// Whether there is none.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// The most requests that were open at once at any site.
    pub fn max_at_once(&self) -> usize {
        self.sites.values().map(|site| site.max_at_once).max().unwrap_or(0)
    }

    /// The smallest gap at any site, in microseconds.
    pub fn min_gap_us(&self) -> Option<u64> {
        self.sites.values().filter_map(|site| site.min_gap_us).min()
    }

    /// The addresses that more than one site was asked at.
    fn shared_addresses(&self) -> impl Iterator<Item = &AddressFigures> {
        self.addresses.values().filter(|address| address.num_sites > 1)
    }

    /// How many addresses more than one site was asked at.
    pub fn num_shared_addresses(&self) -> usize {
        self.shared_addresses().count()
    }

    /// The most requests that were open at once at any address.
    pub fn max_at_address(&self) -> usize {
        self.addresses.values().map(|address| address.max_at_once).max().unwrap_or(0)
    }

    /// The smallest gap between two starts at an address that sites share, in microseconds.
    pub fn min_address_gap_us(&self) -> Option<u64> {
        self.shared_addresses().filter_map(|address| address.min_gap_us).min()
    }
}

/// How many violations of each kind are shown one by one.
const NUM_SHOWN: usize = 5;

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "most requests at once at a site: {}", self.max_at_once())?;
        match self.min_gap_us() {
            Some(gap_us) => writeln!(f, "smallest gap after an end: {} ms", gap_us / 1_000)?,
            None => writeln!(f, "smallest gap after an end: none, no site was asked twice")?,
        }
        writeln!(f, "addresses that sites share: {}", self.num_shared_addresses())?;
        writeln!(f, "most requests at once at an address: {}", self.max_at_address())?;
        if let Some(gap_us) = self.min_address_gap_us() {
            writeln!(f, "smallest gap between starts at a shared address: {} ms", gap_us / 1_000)?;
        }
        let max_pages = self.sites.values().map(|site| site.num_page_requests).max().unwrap_or(0);
        writeln!(f, "most page requests of a site: {max_pages}")?;
        writeln!(f, "waits told: {}, over before the next request: {}", self.num_waits, self.num_waits_honoured)?;
        for (kind, num) in self.counts() {
            writeln!(f, "{}: {}", kind.describe(), grouped(num))?;
            for violation in self.of_kind(kind).take(NUM_SHOWN) {
                let Violation { entry, detail, .. } = violation;
                writeln!(f, "  #{} {}{} at {} ms: {detail}", entry.seq, entry.host, entry.path, entry.start_ms())?;
            }
        }
        let plural = |num: usize, one: &'static str, many: &'static str| if num == 1 { one } else { many };
        let (violations, sites) = (self.violations.len(), self.num_sites());
        write!(
            f,
            "{} {} on {} {}, {} {}",
            grouped(violations),
            plural(violations, "violation", "violations"),
            grouped(sites),
            plural(sites, "site", "sites"),
            grouped(self.num_requests),
            plural(self.num_requests, "request", "requests"),
        )
    }
}

/// A number with commas between its thousands.
fn grouped(num: usize) -> String {
    let digits = num.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
