//! Stored types as older versions of this program wrote them, and the way from each to its present form.
//!
//! Nothing but [`Stored::from_older`] uses them. A type here never changes again: the bytes that it reads are on disks. Version 1 knew no
//! sitemap requests, so an account of it has none, and every URL in a queue of it is a page. Version 2 of a queue remembered no links:
//! they are learnt again with the next pages. Rows up to version 2 knew nothing of how often a site changes, so what they hold is a site
//! of which nothing is learnt yet. Ledger entries of version 2 did not say which address a request left from.

use std::time::Duration;

use serde::Deserialize;

use crate::codec::{self, CodecError, Stored};
use crate::exclusion::{Domain, Exclusion};
use crate::ledger::{
    EndKind, FinishReason, LedgerEntry, LedgerEvent, OpenTicket, RequestKind, RobotsGround, SiteAccount, SiteEvent,
    TicketNumber, Wait, WaitReason,
};
use crate::page_choice::{EntryRole, EntryStanding, FrontierEntry};
use crate::politeness::Seed;
use crate::recrawl::interval::ChangeRate;
use crate::site::Site;
use crate::site_row::{SiteFrontier, SiteRow, SiteStanding};
use crate::time::Timestamp;
use crate::url::PageUrl;

#[cfg(test)]
mod tests;

/// A ledger entry of version 1, 2 or 3. Version 3 could not put a cycle off; all that it could say is said in the same bytes.
pub fn ledger_entry(version: u8, body: &[u8]) -> Result<LedgerEntry, CodecError> {
    match version {
        3 => codec::decode_body(body),
        2 => codec::decode_body::<OlderEntry<SiteEventV2>>(body).map(LedgerEntry::from),
        _ => read::<OlderEntry<SiteEventV1>, _>(version, body, LedgerEntry::from),
    }
}

/// A site's row of version 1 or 2.
pub fn site_row(version: u8, body: &[u8]) -> Result<SiteRow, CodecError> {
    match version {
        2 => codec::decode_body::<SiteRowV2<SiteAccount>>(body).map(SiteRow::from),
        _ => read::<SiteRowV2<SiteAccountV1>, _>(version, body, SiteRow::from),
    }
}

impl<Account: Into<SiteAccount>> From<SiteRowV2<Account>> for SiteRow {
    fn from(row: SiteRowV2<Account>) -> Self {
        Self {
            site: row.site,
            standing: row.standing,
            due_at: row.due_at,
            first_seen_at: row.first_seen_at,
            seeds: row.seeds,
            account: row.account.into(),
            account_seq: row.account_seq,
            num_pages: row.num_pages,
            last_cycle_finished_at: row.last_cycle_finished_at,
            change_rate: ChangeRate::default(),
        }
    }
}

/// A site's queue of version 1 or 2.
pub fn site_frontier(version: u8, body: &[u8]) -> Result<SiteFrontier, CodecError> {
    match version {
        2 => codec::decode_body(body).map(|SiteFrontierV2 { entries }| SiteFrontier {
            entries: entries.into_iter().map(FrontierEntry::from).collect(),
        }),
        _ => read::<SiteFrontierV1, _>(version, body, |frontier| SiteFrontier {
            entries: frontier.entries.into_iter().map(FrontierEntry::from).collect(),
        }),
    }
}

/// Reads the body of version 1, the only older one there is of these types.
fn read<Old: serde::de::DeserializeOwned, New: Stored>(
    version: u8,
    body: &[u8],
    to_present: impl FnOnce(Old) -> New,
) -> Result<New, CodecError> {
    match version {
        1 => codec::decode_body(body).map(to_present),
        found => Err(CodecError::UnknownVersion { found, known: New::VERSION }),
    }
}

#[derive(Deserialize)]
struct SiteAccountV1 {
    cycle: u32,
    cycle_closed: Option<FinishReason>,
    next_cycle_at: Timestamp,
    num_page_requests: u16,
    robots_origins: Vec<u64>,
    last_ticket: TicketNumber,
    open: Option<OpenTicket>,
    last_ended_at: Option<Timestamp>,
    delay: Duration,
    wait: Option<Wait>,
    rung: u8,
    num_name_failures: u8,
    barrier_streak: u8,
}

impl From<SiteAccountV1> for SiteAccount {
    fn from(old: SiteAccountV1) -> Self {
        Self {
            cycle: old.cycle,
            cycle_closed: old.cycle_closed,
            next_cycle_at: old.next_cycle_at,
            num_page_requests: old.num_page_requests,
            num_sitemap_requests: 0,
            robots_origins: old.robots_origins,
            last_ticket: old.last_ticket,
            open: old.open,
            last_ended_at: old.last_ended_at,
            delay: old.delay,
            wait: old.wait,
            rung: old.rung,
            num_name_failures: old.num_name_failures,
            barrier_streak: old.barrier_streak,
        }
    }
}

/// Versions 1 and 2 differ in the account that they hold.
#[derive(Deserialize)]
struct SiteRowV2<Account> {
    site: Site,
    standing: SiteStanding,
    due_at: Timestamp,
    first_seen_at: Timestamp,
    seeds: Vec<Seed>,
    account: Account,
    account_seq: u64,
    num_pages: u16,
    last_cycle_finished_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct SiteFrontierV1 {
    entries: Vec<FrontierEntryV1>,
}

#[derive(Deserialize)]
struct FrontierEntryV1 {
    url: PageUrl,
    depth: u16,
    num_inlinks: u32,
    num_tries: u8,
    num_hops: u8,
    has_record: bool,
    standing: EntryStanding,
}

impl From<FrontierEntryV1> for FrontierEntry {
    fn from(old: FrontierEntryV1) -> Self {
        Self {
            num_inlinks: old.num_inlinks,
            num_tries: old.num_tries,
            num_hops: old.num_hops,
            has_record: old.has_record,
            standing: old.standing,
            ..Self::new(old.url, old.depth)
        }
    }
}

#[derive(Deserialize)]
struct SiteFrontierV2 {
    entries: Vec<FrontierEntryV2>,
}

#[derive(Deserialize)]
struct FrontierEntryV2 {
    entry: FrontierEntryV1,
    role: EntryRole,
}

impl From<FrontierEntryV2> for FrontierEntry {
    fn from(FrontierEntryV2 { entry, role }: FrontierEntryV2) -> Self {
        Self { role, ..Self::from(entry) }
    }
}

/// What stands around the event of a site never changed.
#[derive(Deserialize)]
struct OlderEntry<E> {
    seq: u64,
    at: Timestamp,
    event: OlderEvent<E>,
}

#[derive(Deserialize)]
enum OlderEvent<E> {
    Site { site: Site, event: E },
    Excluded { domain: Domain, exclusion: Exclusion },
    Included { domain: Domain },
}

impl<E: Into<SiteEvent>> From<OlderEntry<E>> for LedgerEntry {
    fn from(OlderEntry { seq, at, event }: OlderEntry<E>) -> Self {
        let event = match event {
            OlderEvent::Site { site, event } => LedgerEvent::Site { site, event: event.into() },
            OlderEvent::Excluded { domain, exclusion } => LedgerEvent::Excluded { domain, exclusion },
            OlderEvent::Included { domain } => LedgerEvent::Included { domain },
        };
        Self { seq, at, event }
    }
}

#[derive(Deserialize)]
enum SiteEventV1 {
    CycleOpened { cycle: u32, next_cycle_at: Timestamp },
    Ticket { ticket: TicketNumber, kind: RequestKind, url: PageUrl, ground: RobotsGround },
    Outcome { ticket: TicketNumber, end: EndKind, wire_bytes: u64, took: Duration, delay: Duration },
    Wait { until: Timestamp, reason: WaitReason, rung: u8 },
    BarrierStreak(u8),
    Forgiven { rung: u8 },
    CycleClosed { reason: FinishReason },
    CycleResumed,
    Snapshot(Box<SiteAccountV1>),
}

impl From<SiteEventV1> for SiteEvent {
    fn from(old: SiteEventV1) -> Self {
        match old {
            SiteEventV1::CycleOpened { cycle, next_cycle_at } => Self::CycleOpened { cycle, next_cycle_at },
            SiteEventV1::Ticket { ticket, kind, url, ground } => Self::Ticket { ticket, kind, url, ground, from: None },
            SiteEventV1::Outcome { ticket, end, wire_bytes, took, delay } => {
                Self::Outcome { ticket, end, wire_bytes, took, delay }
            }
            SiteEventV1::Wait { until, reason, rung } => Self::Wait { until, reason, rung },
            SiteEventV1::BarrierStreak(streak) => Self::BarrierStreak(streak),
            SiteEventV1::Forgiven { rung } => Self::Forgiven { rung },
            SiteEventV1::CycleClosed { reason } => Self::CycleClosed { reason },
            SiteEventV1::CycleResumed => Self::CycleResumed,
            SiteEventV1::Snapshot(account) => Self::Snapshot(Box::new((*account).into())),
        }
    }
}

#[derive(Deserialize)]
enum SiteEventV2 {
    CycleOpened { cycle: u32, next_cycle_at: Timestamp },
    Ticket { ticket: TicketNumber, kind: RequestKind, url: PageUrl, ground: RobotsGround },
    Outcome { ticket: TicketNumber, end: EndKind, wire_bytes: u64, took: Duration, delay: Duration },
    Wait { until: Timestamp, reason: WaitReason, rung: u8 },
    BarrierStreak(u8),
    Forgiven { rung: u8 },
    CycleClosed { reason: FinishReason },
    CycleResumed,
    Snapshot(Box<SiteAccount>),
    Delay(Duration),
}

impl From<SiteEventV2> for SiteEvent {
    fn from(old: SiteEventV2) -> Self {
        match old {
            SiteEventV2::CycleOpened { cycle, next_cycle_at } => Self::CycleOpened { cycle, next_cycle_at },
            SiteEventV2::Ticket { ticket, kind, url, ground } => Self::Ticket { ticket, kind, url, ground, from: None },
            SiteEventV2::Outcome { ticket, end, wire_bytes, took, delay } => {
                Self::Outcome { ticket, end, wire_bytes, took, delay }
            }
            SiteEventV2::Wait { until, reason, rung } => Self::Wait { until, reason, rung },
            SiteEventV2::BarrierStreak(streak) => Self::BarrierStreak(streak),
            SiteEventV2::Forgiven { rung } => Self::Forgiven { rung },
            SiteEventV2::CycleClosed { reason } => Self::CycleClosed { reason },
            SiteEventV2::CycleResumed => Self::CycleResumed,
            SiteEventV2::Snapshot(account) => Self::Snapshot(account),
            SiteEventV2::Delay(delay) => Self::Delay(delay),
        }
    }
}
