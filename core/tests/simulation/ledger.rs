//! The ledger of the played site, under audit: what is durable of it must never show a promise broken.
//!
//! A crash begins a new ledger with a snapshot, as if all segments before had expired: what the state machine knew of robots.txt files
//! may be older then than what the ledger says, which no node that writes both in order has to fear for longer than a batch of writes.

use lohisoftbot_core::audit::{AuditRules, Auditor, History, Limits};
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteAccount, SiteEvent};
use lohisoftbot_core::politeness::SiteRules;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;

use crate::checker::Watched;

/// The site's ledger, read by an auditor as it is written.
pub struct AuditedLedger {
    site: Site,
    rules: AuditRules,
    auditor: Auditor,
    seq: u64,
    excluded: Vec<Domain>,
}

impl AuditedLedger {
    pub fn new(site: Site, rules: &SiteRules) -> Self {
        let limits = Limits {
            page_requests: rules.budget.page_requests(),
            origins: rules.budget.origins(),
            shortest_interval: rules.min_recrawl_interval.min(rules.recrawl_interval),
            min_delay: rules.min_delay,
            response_time_factor: rules.response_time_factor,
            max_adaptive_delay: rules.max_adaptive_delay,
        };
        // The settings of a played site never change, so here they are the promise.
        let rules = AuditRules { promise: limits.clone(), settings: limits };
        let auditor = Auditor::new(rules.clone(), History::Whole);
        Self { site, rules, auditor, seq: 0, excluded: Vec::new() }
    }

    /// An entry that is on the disk.
    pub fn read(&mut self, at: Timestamp, event: SiteEvent) {
        let site = self.site.clone();
        self.push(at, LedgerEvent::Site { site, event });
    }

    /// These domains are out now, and no others.
    pub fn exclude(&mut self, at: Timestamp, domains: Vec<Domain>) {
        for domain in self.excluded.clone() {
            if !domains.contains(&domain) {
                self.push(at, LedgerEvent::Included { domain });
            }
        }
        for domain in domains.clone() {
            let exclusion = Exclusion { at, reason: String::new() };
            self.push(at, LedgerEvent::Excluded { domain, exclusion });
        }
        self.excluded = domains;
    }

    /// All but this account is forgotten.
    pub fn begin_anew(&mut self, at: Timestamp, account: &SiteAccount) {
        self.auditor = Auditor::new(self.rules.clone(), History::Partial);
        let excluded = std::mem::take(&mut self.excluded);
        self.exclude(at, excluded);
        if *account != SiteAccount::default() {
            self.read(at, SiteEvent::Snapshot(Box::new(account.clone())));
        }
    }

    /// Nothing was found so far.
    pub fn check(&self) -> Watched {
        match self.auditor.report().findings.first() {
            None => Ok(()),
            Some(finding) => Err(format!("the audit finds: {}", finding.describe())),
        }
    }

    fn push(&mut self, at: Timestamp, event: LedgerEvent) {
        self.seq += 1;
        self.auditor.read(&LedgerEntry { seq: self.seq, at, event });
    }
}
