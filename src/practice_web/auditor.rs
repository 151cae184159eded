//! The auditor: reads a request log and the generator's labels, and counts where politeness was broken.
//!
//! It takes nothing from the node: neither its ledger nor its robots code nor its own idea of time. It does not judge what was stored.
//! Whatever the log leaves open is read in favour of whoever asked, so every violation it names is one, as long as the web gets its turn.
//!
//! For a request that its asker gave up, the log knows only when the web noticed. The asker's close is at its socket at once (for the node
//! `io::fetch::closing` shows it), but it is noted when the web's one thread runs next; and a request that was given up before that thread
//! had read it stands in the log as one that started when it was over already. [`AuditRules::abort_slack`] makes up for a quarter of a
//! second of that and no more: a longer slack would hide an asker that really has two requests open. So on a machine that keeps the web
//! waiting for longer than an asker's time-outs, a polite asker looks as if it had two requests at once ("2 requests at once", once or
//! more for each request given up). Such a log says nothing about politeness; the run is to be repeated with longer time-outs or on a
//! quieter machine.

mod addresses;
mod report;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};

pub use report::{AddressFigures, AuditReport, SiteFigures, Violation, ViolationKind};

use super::{
    labels::{AnswerKind, Permission, RequestKind},
    log::{EndedBy, LogEntry, micros},
    robots_files,
    script::{Backoff, RobotsRole},
    site_plan::{PagePlan, PracticeSites, site_name_of_host},
    sitemaps,
};

/// What politeness means for one crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRules {
    /// Least time between the end of a request and the start of the next one to the same site.
    pub min_delay: Duration,
    /// Least wait after an answer that makes the site wait, whatever its Retry-After.
    pub min_backoff: Duration,
    /// Most page requests a site.
    pub budget: usize,
    /// Most of them for sitemaps.
    pub max_sitemaps: usize,
    /// The forms of the User-Agent that may be used, one of them for a site.
    pub user_agents: Vec<String>,
    /// How much later than it was the end of a request may be seen where the asker left first.
    pub abort_slack: Duration,
    /// Most requests at once to one address, over all sites there.
    pub max_at_address: usize,
    /// Least time between the starts of two requests to one address, over all sites there.
    pub address_delay: Duration,
    /// How much later than it came the start of a request may be noted, beyond what the log itself knows of its lateness
    /// ([`LogEntry::late_us`]). It is what makes two starts seem closer than they were; the gap after an end has none of it, since whoever
    /// asks has seen that end.
    pub start_slack: Duration,
}

impl AuditRules {
    /// Rules with the promised budget of 20, two of them for sitemaps, a quarter of a second of slack for aborted requests, and at each
    /// address four requests at once that start 200 ms apart, with 30 ms of slack.
    pub fn new(min_delay: Duration, min_backoff: Duration, user_agents: Vec<String>) -> Self {
        Self {
            min_delay,
            min_backoff,
            budget: 20,
            max_sitemaps: 2,
            user_agents,
            abort_slack: Duration::from_millis(250),
            max_at_address: 4,
            address_delay: Duration::from_millis(200),
            start_slack: Duration::from_millis(30),
        }
    }

    /// With these manners at each address.
    #[must_use]
    pub fn with_addresses(self, max_at_address: usize, address_delay: Duration) -> Self {
        Self { max_at_address, address_delay, ..self }
    }
}

/// What the auditor knows of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteLabels {
    /// Its Crawl-delay, owed once its robots.txt has been answered.
    pub crawl_delay: Option<Duration>,
    /// Whether it may be crawled at all, and how each planned path may be asked.
    pub access: SiteAccess,
    /// The paths that count as robots.txt, so not as pages.
    pub robots_paths: BTreeSet<String>,
    /// The site whose robots.txt holds for this one too, since this one's redirects there.
    pub rules_of: Option<String>,
    /// The paths that sitemaps lie at, or are guessed to lie at.
    #[serde(default)]
    pub sitemap_paths: BTreeSet<String>,
}

/// What may be asked of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteAccess {
    /// Nothing but robots.txt.
    Closed,
    /// Everything but these paths. `known` are the other planned ones.
    Open {
        /// Paths that must not be asked.
        forbidden: BTreeSet<String>,
        /// Paths that may be asked.
        known: BTreeSet<String>,
    },
}

impl Default for SiteAccess {
    fn default() -> Self {
        Self::Open { forbidden: BTreeSet::new(), known: BTreeSet::new() }
    }
}

/// What the auditor knows of all sites, by their registrable names. It can be written to a file beside the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLabels {
    /// The sites.
    pub sites: BTreeMap<String, SiteLabels>,
}

impl AuditLabels {
    /// The labels of generated sites.
    pub fn of_sites(sites: &PracticeSites) -> Self {
        let labels = sites.sites().iter().map(|site| {
            let paths = |permitted: fn(Permission) -> bool| {
                site.pages.iter().filter(|page| permitted(page.permission)).map(|page| page.path.clone()).collect()
            };
            let is_sitemap = |page: &&PagePlan| page.answer == AnswerKind::Sitemap;
            let sitemap_paths: BTreeSet<String> = (site.pages.iter().filter(is_sitemap).map(|page| page.path.clone()))
                .chain([sitemaps::USUAL_PATH.to_owned()])
                .collect();
            let known: BTreeSet<String> = paths(|permission| permission == Permission::Allowed);
            let open = || SiteAccess::Open {
                forbidden: paths(|permission| permission != Permission::Allowed),
                known: known.union(&sitemap_paths).cloned().collect(),
            };
            let access = if site.is_open() { open() } else { SiteAccess::Closed };
            let labels = SiteLabels {
                crawl_delay: site.crawl_delay(),
                access,
                robots_paths: robots_files::robots_paths(site.robots).into_iter().collect(),
                rules_of: site.robots_elsewhere.as_ref().map(|target| sites.sites()[target.site].name.clone()),
                sitemap_paths,
            };
            (site.name.clone(), labels)
        });
        Self { sites: labels.collect() }
    }
}

/// Audits a log. Entries may come in any order; one without an end counts as open until the end of the log.
pub fn audit(entries: &[LogEntry], labels: &AuditLabels, rules: &AuditRules) -> AuditReport {
    let mut by_site: BTreeMap<&str, Vec<&LogEntry>> = BTreeMap::new();
    for entry in entries {
        by_site.entry(site_name_of_host(&entry.host)).or_default().push(entry);
    }
    let unknown = SiteLabels::default();
    let mut report = AuditReport { num_requests: entries.len(), ..AuditReport::default() };
    for entries in by_site.values_mut() {
        entries.sort_by_key(|entry| (entry.start_us, entry.seq));
    }
    for (name, entries) in &by_site {
        let labels = labels.sites.get(*name).unwrap_or(&unknown);
        let lender = labels.rules_of.as_deref().and_then(|lender| by_site.get(lender));
        let lenders_entries = lender.map_or(&[][..], Vec::as_slice);
        let mut site = SiteAudit { name, labels, rules, entries, lenders_entries, report: &mut report };
        site.run();
    }
    addresses::audit_addresses(entries, rules, &mut report);
    report
}

/// When a request ended, at the earliest: the end of an aborted one was seen somewhat late.
fn end_us(entry: &LogEntry, rules: &AuditRules) -> Option<u64> {
    let end = entry.end?;
    Some(match end.ended_by {
        EndedBy::Server => end.end_us,
        EndedBy::Client => end.end_us.saturating_sub(micros(rules.abort_slack)).max(entry.start_us),
    })
}

/// The audit of one site's requests.
struct SiteAudit<'a> {
    name: &'a str,
    labels: &'a SiteLabels,
    rules: &'a AuditRules,
    /// In the order of their starts.
    entries: &'a [&'a LogEntry],
    /// Those of the site whose robots.txt holds for this one too.
    lenders_entries: &'a [&'a LogEntry],
    report: &'a mut AuditReport,
}

impl SiteAudit<'_> {
    fn run(&mut self) {
        let mut figures = SiteFigures::default();
        let (mut page_requests, mut num_sitemaps) = (0, 0);
        let mut form: Option<&str> = None;
        for (place, &entry) in self.entries.iter().enumerate() {
            let earlier = &self.entries[..place];
            figures.num_requests += 1;
            figures.max_at_once = figures.max_at_once.max(self.check_open(entry, earlier));
            if let Some(gap_us) = self.check_gap(entry, earlier) {
                figures.min_gap_us = Some(figures.min_gap_us.map_or(gap_us, |least| least.min(gap_us)));
            }
            self.check_waits(entry, earlier);
            self.check_fields(entry, &mut form);
            if self.kind(entry) == RequestKind::Page {
                page_requests += 1;
                num_sitemaps += usize::from(self.labels.sitemap_paths.contains(&entry.path));
                if num_sitemaps > self.rules.max_sitemaps && self.labels.sitemap_paths.contains(&entry.path) {
                    self.violation(ViolationKind::TooManySitemaps, entry, format!("sitemap request {num_sitemaps}"));
                }
                self.check_page(entry, earlier, page_requests);
            }
        }
        self.count_waits();
        figures.num_page_requests = page_requests;
        self.report.sites.insert(self.name.to_owned(), figures);
    }

    fn kind(&self, entry: &LogEntry) -> RequestKind {
        let is_robots = entry.path == "/robots.txt" || self.labels.robots_paths.contains(&entry.path);
        if is_robots { RequestKind::Robots } else { RequestKind::Page }
    }

    /// How many requests of the site are open at this one's start, itself included.
    fn check_open(&mut self, entry: &LogEntry, earlier: &[&LogEntry]) -> usize {
        let num_open =
            1 + earlier.iter().filter(|other| self.end_us(other).is_none_or(|end| end > entry.start_us)).count();
        if num_open > 1 {
            self.violation(ViolationKind::AtOnce, entry, format!("{num_open} requests at once"));
        }
        num_open
    }

    /// The time since the last end, unless another request is still open.
    fn check_gap(&mut self, entry: &LogEntry, earlier: &[&LogEntry]) -> Option<u64> {
        let ends: Option<Vec<u64>> = earlier.iter().map(|other| self.end_us(other)).collect();
        let last_end = ends?.into_iter().max()?;
        let gap_us = entry.start_us.checked_sub(last_end)?;
        let owed_us = micros(self.owed_delay(entry, earlier));
        if gap_us < owed_us {
            let (gap_ms, owed_ms) = (gap_us / 1_000, owed_us / 1_000);
            self.violation(ViolationKind::TooSoon, entry, format!("{gap_ms} ms after the last end, {owed_ms} ms owed"));
        }
        Some(gap_us)
    }

    /// A Crawl-delay is owed once the rules that ask for it have come.
    fn owed_delay(&self, entry: &LogEntry, earlier: &[&LogEntry]) -> Duration {
        let rules_came = || {
            earlier.iter().any(|other| {
                other.robots_role == RobotsRole::Settles && self.end_us(other).is_some_and(|end| end <= entry.start_us)
            })
        };
        match self.labels.crawl_delay {
            Some(crawl_delay) if rules_came() => self.rules.min_delay.max(crawl_delay),
            Some(_) | None => self.rules.min_delay,
        }
    }

    fn check_waits(&mut self, entry: &LogEntry, earlier: &[&LogEntry]) {
        // A request that was open when the wait was told is counted as one too many at once, not as one inside the wait.
        let told_before = |other: &&&LogEntry| self.end_us(other).is_some_and(|end| end <= entry.start_us);
        let latest = earlier.iter().filter(told_before).filter_map(|other| self.wait_until_us(other)).max();
        if let Some(until_us) = latest.filter(|&until_us| entry.start_us < until_us) {
            let left_ms = (until_us - entry.start_us) / 1_000;
            self.violation(ViolationKind::InsideWait, entry, format!("{left_ms} ms before the wait was over"));
        }
    }

    /// Until when an answer makes the site wait: as it says, and no shorter than the backoff where one is owed.
    fn wait_until_us(&self, entry: &LogEntry) -> Option<u64> {
        let end = entry.end?;
        let backoff_us = match entry.backoff {
            Backoff::Site => self.end_us(entry).map(|end_us| end_us + micros(self.rules.min_backoff)),
            Backoff::None => None,
        };
        backoff_us.max(end.wait_until_us)
    }

    /// Counts the waits of the site, and those after which it was asked again in due time.
    fn count_waits(&mut self) {
        for (place, entry) in self.entries.iter().enumerate() {
            let Some(until_us) = self.wait_until_us(entry) else { continue };
            self.report.num_waits += 1;
            let next = self.entries.get(place + 1);
            self.report.num_waits_honoured += usize::from(next.is_some_and(|next| next.start_us >= until_us));
        }
    }

    fn check_fields<'e>(&mut self, entry: &'e LogEntry, form: &mut Option<&'e str>) {
        match entry.field("user-agent").filter(|agent| self.rules.user_agents.iter().any(|allowed| allowed == agent)) {
            None => {
                let found = entry.field("user-agent").unwrap_or("none").to_owned();
                self.violation(ViolationKind::UserAgent, entry, found);
            }
            Some(agent) if form.is_some_and(|form| form != agent) => {
                self.violation(ViolationKind::UserAgentChanged, entry, agent.to_owned());
            }
            Some(agent) => *form = Some(agent),
        }
        for name in ["cookie", "authorization", "proxy-authorization", "referer"] {
            if entry.field(name).is_some() {
                self.violation(ViolationKind::Credentials, entry, name.to_owned());
            }
        }
    }

    fn check_page(&mut self, entry: &LogEntry, earlier: &[&LogEntry], num_so_far: usize) {
        if num_so_far > self.rules.budget {
            self.violation(ViolationKind::OverBudget, entry, format!("page request {num_so_far}"));
        }
        if !self.rules_were_known(entry, earlier) {
            self.violation(ViolationKind::BeforeRobots, entry, "robots.txt was not answered yet".to_owned());
        }
        match &self.labels.access {
            SiteAccess::Closed => self.violation(ViolationKind::Forbidden, entry, "closed site".to_owned()),
            SiteAccess::Open { forbidden, .. } if forbidden.contains(&entry.path) => {
                self.violation(ViolationKind::Forbidden, entry, "forbidden path".to_owned());
            }
            SiteAccess::Open { known, .. } if !known.contains(&entry.path) => self.report.num_unlabelled += 1,
            SiteAccess::Open { .. } => {}
        }
    }

    /// Whether the origin's robots.txt had been answered: with rules, or with a redirect while the rules of another origin of the site,
    /// or of the site that it redirects to, were known. Those may have come before the redirect did, since a robot may keep them.
    fn rules_were_known(&self, entry: &LogEntry, earlier: &[&LogEntry]) -> bool {
        let answered = |role: RobotsRole| {
            let all = earlier.iter().chain(self.lenders_entries);
            all.filter(move |other| {
                other.robots_role == role && self.end_us(other).is_some_and(|end| end <= entry.start_us)
            })
        };
        let is_own = |other: &&&LogEntry| other.scheme == entry.scheme && other.host == entry.host;
        let hopped =
            || answered(RobotsRole::Hop).any(|other| is_own(&other)) && answered(RobotsRole::Settles).next().is_some();
        answered(RobotsRole::Settles).any(|other| is_own(&other)) || hopped()
    }

    fn end_us(&self, entry: &LogEntry) -> Option<u64> {
        end_us(entry, self.rules)
    }

    fn violation(&mut self, kind: ViolationKind, entry: &LogEntry, detail: String) {
        let site = self.name.to_owned();
        self.report.violations.push(Violation { kind, site, detail, entry: entry.clone() });
    }
}
