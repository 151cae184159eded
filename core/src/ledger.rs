//! What the ledger says of each request ever sent to a site, and the account that follows from it.
//!
//! [`SiteAccount`] is what must survive any crash: the open cycle with its budget, the waits, the open ticket. It changes by
//! [`SiteAccount::apply`] alone, a pure fold that the owner, the replay at start and the snapshot of a new segment share; so what
//! is remembered after a crash is what was promised before it, by construction (P14).

mod words;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codec::{CodecError, Stored};
use crate::exclusion::{Domain, Exclusion, Exclusions};
use crate::older;
use crate::origin::Origin;
use crate::outcome::FetchFailure;
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Number of a ticket, counted per site from 1; never used twice.
pub type TicketNumber = u32;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestKind {
    /// robots.txt of an origin, a redirect hop of it included.
    Robots,
    /// Anything else.
    Page,
    /// A sitemap; it counts among the page requests of its cycle (P1).
    Sitemap,
}

impl RequestKind {
    /// Whether it counts among the page requests of the cycle: all but robots.txt do (P1).
    pub const fn costs_budget(self) -> bool {
        match self {
            Self::Robots => false,
            Self::Page | Self::Sitemap => true,
        }
    }
}

/// Under which rule a request was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsGround {
    /// robots.txt itself needs no leave (RFC 9309 §2.2.2).
    RobotsFile,
    /// The origin has no rules (RFC 9309 §2.3.1.3), or none that matches.
    NoRule,
    /// A line of the file allowed it: its number from 1, and its text.
    Line {
        /// Line number, from 1.
        number: u32,
        /// The line as it stood, capped.
        text: String,
    },
}

/// In a word, how a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EndKind {
    /// A status came.
    Answered(u16),
    /// None came.
    Failed(FetchFailure),
    /// The process ended before the answer; the ticket counts as spent.
    Lost,
    /// The operator took the domain out while the request was open.
    Abandoned,
}

/// Why a site waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WaitReason {
    /// 429 or 5xx, on the node's own ladder.
    Backoff,
    /// The server named the wait.
    RetryAfter,
    /// No usable answer came.
    Unreachable,
    /// robots.txt could not be read, so nothing may be asked.
    RobotsUnreachable,
    /// The name does not exist.
    NoSuchName,
    /// The name servers fail.
    NameServers,
    /// A Crawl-delay of more than a minute.
    CrawlDelay,
    /// A login, paywall or bot protection.
    Barrier,
    /// Its answers were so slow that the delay after them is long.
    SlowAnswers,
}

/// Why a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FinishReason {
    /// Nothing is left to ask.
    QueueEmpty,
    /// The page requests of the cycle are spent.
    BudgetSpent,
    /// The name does not exist, asked again and again.
    NoSuchName,
    /// Every address of the site is one that is never dialled.
    AddressRefused,
    /// The whole site is excluded.
    Excluded,
}

impl RobotsGround {
    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Self::RobotsFile => "robots.txt itself needs no leave".to_owned(),
            Self::NoRule => "no line of robots.txt matches".to_owned(),
            Self::Line { number, text } => format!("line {number} of robots.txt: {text}"),
        }
    }
}

impl EndKind {
    /// In words.
    pub fn describe(self) -> String {
        match self {
            Self::Answered(status) => format!("answered {status}"),
            Self::Failed(failure) => failure.describe().to_owned(),
            Self::Lost => "the node ended before the answer; counted as sent".to_owned(),
            Self::Abandoned => "broken off: the domain was excluded, or the node was stopped".to_owned(),
        }
    }
}

impl WaitReason {
    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Backoff => "it answered that it is busy or broken, and is left alone for a while",
            Self::RetryAfter => "it asked to be left alone until then (Retry-After)",
            Self::Unreachable => "it did not answer",
            Self::RobotsUnreachable => "its robots.txt cannot be read, so nothing may be asked",
            Self::NoSuchName => "its name does not exist",
            Self::NameServers => "its name servers do not answer",
            Self::CrawlDelay => "its robots.txt asks for a long delay between requests (Crawl-delay)",
            Self::Barrier => "a login, paywall or bot protection stands before it",
            Self::SlowAnswers => "its answers were slow, so the next request comes later",
        }
    }
}

impl FinishReason {
    /// Whether a cycle that ended for this goes on when URLs wait again before the next one is due.
    const fn may_be_resumed(self) -> bool {
        match self {
            Self::QueueEmpty | Self::Excluded | Self::AddressRefused => true,
            Self::BudgetSpent | Self::NoSuchName => false,
        }
    }

    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::QueueEmpty => "every URL that may be asked was asked",
            Self::BudgetSpent => "the page requests of this cycle are spent",
            Self::NoSuchName => "its name does not exist",
            Self::AddressRefused => "its address is one that is never dialled",
            Self::Excluded => "it is excluded",
        }
    }
}

/// One thing that happened to one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteEvent {
    /// A cycle begins.
    CycleOpened {
        /// Its number, from 1.
        cycle: u32,
        /// No further cycle begins before this.
        next_cycle_at: Timestamp,
    },
    /// Leave to send one request. The request leaves only when this is on the disk.
    Ticket {
        /// Its number.
        ticket: TicketNumber,
        /// What it is for.
        kind: RequestKind,
        /// What is asked.
        url: PageUrl,
        /// Under which rule.
        ground: RobotsGround,
        /// The address that it leaves from, put in by whoever sends it; none where the system chooses (P10).
        from: Option<Ipv4Addr>,
    },
    /// How that request ended.
    Outcome {
        /// The ticket it closes.
        ticket: TicketNumber,
        /// How it ended.
        end: EndKind,
        /// Bytes that came over the wire.
        wire_bytes: u64,
        /// From the first byte sent to the last one received.
        took: Duration,
        /// The site's delay from now on; the next request no sooner than this after `at`.
        delay: Duration,
    },
    /// The whole site waits.
    Wait {
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: WaitReason,
        /// The rung of the backoff ladder from now on.
        rung: u8,
    },
    /// Barrier answers in a row, from now on.
    BarrierStreak(u8),
    /// A good answer took the site down to this rung of the ladder.
    Forgiven {
        /// The rung from now on.
        rung: u8,
    },
    /// The cycle is over.
    CycleClosed {
        /// Why.
        reason: FinishReason,
    },
    /// New URLs came while budget was left: the closed cycle goes on, with what is left of its budget.
    CycleResumed,
    /// The state so far; stands at the head of a segment.
    Snapshot(Box<SiteAccount>),
    /// The site's delay from now on, learnt of between two requests: by the Crawl-delay of a borrowed robots.txt.
    Delay(Duration),
    /// Another site's robots.txt, which this site's redirects to, was read: its rules count for this origin.
    RobotsBorrowed {
        /// For which origin of this site.
        origin: Origin,
        /// Whose file it is.
        lender: Origin,
        /// When the other site read it.
        read_at: Timestamp,
    },
    /// A page request puts the next cycle off, lest two budgets follow each other closely.
    NextCyclePutOff {
        /// No further cycle begins before this.
        next_cycle_at: Timestamp,
    },
}

/// What happened, to a site or to the list of exclusions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LedgerEvent {
    /// To one site.
    Site {
        /// Which.
        site: Site,
        /// What.
        event: SiteEvent,
    },
    /// A domain is out.
    Excluded {
        /// Which.
        domain: Domain,
        /// When and why.
        exclusion: Exclusion,
    },
    /// The operator took a domain back in.
    Included {
        /// Which.
        domain: Domain,
    },
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Its place in the whole ledger, from 1, without gaps.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: LedgerEvent,
}

impl Stored for LedgerEntry {
    const VERSION: u8 = 4;

    fn from_older(version: u8, body: &[u8]) -> Result<Self, CodecError> {
        older::ledger_entry(version, body)
    }
}

/// A request whose end is not known yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTicket {
    /// Its number.
    pub ticket: TicketNumber,
    /// What it is for.
    pub kind: RequestKind,
    /// What is asked.
    pub url: PageUrl,
}

/// A wait in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Until when.
    pub until: Timestamp,
    /// Why.
    pub reason: WaitReason,
}

/// What a site was promised and what it was asked: everything about it that no crash may forget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteAccount {
    /// Number of the newest cycle; 0 before the first.
    pub cycle: u32,
    /// It has ended.
    pub cycle_closed: Option<FinishReason>,
    /// The next one begins no sooner.
    pub next_cycle_at: Timestamp,
    /// Page requests of the newest cycle, an open ticket and those for sitemaps included.
    pub num_page_requests: u16,
    /// Those of them that were for sitemaps.
    pub num_sitemap_requests: u8,
    /// Fingerprints of the origins that were asked in the newest cycle, for robots.txt or for pages by a copy of it.
    pub robots_origins: Vec<u64>,
    /// The newest ticket's number.
    pub last_ticket: TicketNumber,
    /// A request whose end is not known.
    pub open: Option<OpenTicket>,
    /// When the last request ended.
    pub last_ended_at: Option<Timestamp>,
    /// The site's delay after it.
    pub delay: Duration,
    /// The wait in force, or the last one.
    pub wait: Option<Wait>,
    /// Rung of the backoff ladder.
    pub rung: u8,
    /// Look-ups in a row that found no such name.
    pub num_name_failures: u8,
    /// Barrier answers in a row.
    pub barrier_streak: u8,
}

impl SiteAccount {
    /// The account after `event`, which happened at `at`.
    pub fn apply(&mut self, at: Timestamp, event: &SiteEvent) {
        match event {
            SiteEvent::CycleOpened { cycle, next_cycle_at } => {
                self.cycle = *cycle;
                self.cycle_closed = None;
                self.next_cycle_at = *next_cycle_at;
                self.num_page_requests = 0;
                self.num_sitemap_requests = 0;
                self.robots_origins.clear();
                self.barrier_streak = 0;
            }
            SiteEvent::Ticket { ticket, kind, url, ground: _, from: _ } => {
                self.last_ticket = *ticket;
                self.open = Some(OpenTicket { ticket: *ticket, kind: *kind, url: url.clone() });
                self.num_name_failures = 0;
                self.note_origin(url);
                self.num_page_requests += u16::from(kind.costs_budget());
                self.num_sitemap_requests =
                    self.num_sitemap_requests.saturating_add(u8::from(*kind == RequestKind::Sitemap));
            }
            SiteEvent::Outcome { ticket, delay, .. } => {
                if self.open.as_ref().is_some_and(|open| open.ticket == *ticket) {
                    self.open = None;
                }
                self.last_ended_at = Some(at);
                self.delay = *delay;
            }
            SiteEvent::Wait { until, reason, rung } => {
                self.wait = Some(Wait { until: *until, reason: *reason });
                self.rung = *rung;
                if *reason == WaitReason::NoSuchName {
                    self.num_name_failures = self.num_name_failures.saturating_add(1);
                }
            }
            SiteEvent::BarrierStreak(streak) => self.barrier_streak = *streak,
            SiteEvent::Forgiven { rung } => self.rung = *rung,
            SiteEvent::CycleClosed { reason } => self.cycle_closed = Some(*reason),
            SiteEvent::CycleResumed => self.cycle_closed = None,
            SiteEvent::Snapshot(account) => *self = (**account).clone(),
            SiteEvent::Delay(delay) => self.delay = *delay,
            // Evidence alone: the rules are the robots cache's.
            SiteEvent::RobotsBorrowed { .. } => {}
            SiteEvent::NextCyclePutOff { next_cycle_at } => {
                self.next_cycle_at = self.next_cycle_at.max(*next_cycle_at);
            }
        }
    }

    /// The earliest moment of the next request: after the delay and after any wait.
    pub fn not_before(&self) -> Timestamp {
        let after_delay = self.last_ended_at.map_or(Timestamp::EPOCH, |ended| ended.plus(self.delay));
        let after_wait = self.wait.map_or(Timestamp::EPOCH, |wait| wait.until);
        after_delay.max(after_wait)
    }

    /// Whether the newest cycle is closed and goes on before the next one is due: URLs wait, and why it ended does not stand against them.
    /// `budget` is how many page requests a cycle has by now, since a configuration may have raised it.
    pub fn may_resume(&self, budget: u16, num_queued: usize) -> bool {
        let has_more = |reason| reason == FinishReason::BudgetSpent && self.num_page_requests < budget;
        num_queued > 0 && self.cycle_closed.is_some_and(|reason| reason.may_be_resumed() || has_more(reason))
    }

    /// Whether anything in here must outlive the ledger's details: an open cycle or interval, a wait, an open ticket.
    pub fn must_be_kept(&self, now: Timestamp) -> bool {
        self.open.is_some() || self.not_before() > now || (self.cycle > 0 && self.next_cycle_at > now) || self.rung > 0
    }

    fn note_origin(&mut self, url: &PageUrl) {
        let fingerprint = url.origin().home().fingerprint();
        if !self.robots_origins.contains(&fingerprint) {
            self.robots_origins.push(fingerprint);
        }
    }
}

/// All accounts and exclusions: the ledger, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerBook {
    /// By site.
    pub accounts: BTreeMap<Site, SiteAccount>,
    /// In force.
    pub exclusions: Exclusions,
    /// Of the newest entry; 0 for an empty ledger.
    pub last_seq: u64,
}

impl LedgerBook {
    /// The book after `entry`.
    pub fn apply(&mut self, entry: &LedgerEntry) {
        self.last_seq = entry.seq;
        match &entry.event {
            LedgerEvent::Site { site, event } => match self.accounts.get_mut(site) {
                Some(account) => account.apply(entry.at, event),
                None => self.accounts.entry(site.clone()).or_default().apply(entry.at, event),
            },
            LedgerEvent::Excluded { domain, exclusion } => self.exclusions.insert(domain.clone(), exclusion.clone()),
            LedgerEvent::Included { domain } => {
                self.exclusions.remove(domain);
            }
        }
    }

    /// The events that stand at the head of a new segment: all that must not be forgotten when older segments go.
    pub fn snapshot(&self, now: Timestamp) -> impl Iterator<Item = LedgerEvent> + '_ {
        let exclusions = self
            .exclusions
            .iter()
            .map(|(domain, exclusion)| LedgerEvent::Excluded { domain: domain.clone(), exclusion: exclusion.clone() });
        let accounts =
            self.accounts.iter().filter(move |(_, account)| account.must_be_kept(now)).map(|(site, account)| {
                LedgerEvent::Site { site: site.clone(), event: SiteEvent::Snapshot(Box::new(account.clone())) }
            });
        exclusions.chain(accounts)
    }
}

#[cfg(test)]
mod tests;
