//! Small values for storage tests.

use lohisoftbot_core::exclusion::Exclusion;
use lohisoftbot_core::extract::Heading;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, RequestKind, RobotsGround, SiteEvent};
use lohisoftbot_core::page_choice::FrontierEntry;
use lohisoftbot_core::politeness::{PageRenewal, Seed, SeedScheme};
use lohisoftbot_core::record::{PageRecord, Renewal, StoredLink};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{RobotsCopy, SiteFrontier, SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::storage::StoreChange;

/// A page URL; panics on a text that is none.
pub fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, None).expect("the test writes a crawlable URL")
}

/// A seed with its scheme written.
pub fn seed(text: &str) -> Seed {
    Seed { url: url(text), scheme: SeedScheme::Written }
}

/// The site of a host.
pub fn site(host: &str) -> Site {
    Site::of_host(host)
}

/// A record of a page fetched in `cycle`, at that many seconds.
pub fn page(address: &str, cycle: u32) -> PageRecord {
    PageRecord {
        url: url(address),
        title: Some(format!("Title of {address}, ștănțat")),
        description: None,
        headings: vec![Heading { level: 1, text: "A heading".to_owned() }],
        lang: Some("ro".to_owned()),
        canonical: None,
        fetched_at: Timestamp::from_secs(u64::from(cycle)),
        status: 200,
        etag: Some("\"v1\"".to_owned()),
        last_modified: None,
        cycle,
        cut: false,
        nosnippet: false,
        unavailable_after: None,
        target_sites: Vec::new(),
    }
}

/// That a page was found unchanged, at that many seconds in `cycle`, by a 304 with these fields.
pub fn renewal(address: &str, secs: u64, cycle: u32, fields: &[(&str, &str)]) -> StoreChange {
    let head = fields.iter().fold(ResponseHead::new(304), |head, (name, value)| head.with(name, value));
    let renewal = Renewal::of_head(&head, "lohisoftbot");
    StoreChange::RenewPage(PageRenewal { url: url(address), at: Timestamp::from_secs(secs), cycle, renewal })
}

/// A link with a text.
pub fn stored_link(target: &str, text: &str) -> StoredLink {
    StoredLink { target: url(target), text: text.to_owned(), nofollow: false }
}

/// A site row with a standing and a due time in seconds.
pub fn row(host: &str, standing: SiteStanding, due_secs: u64) -> SiteRow {
    let mut row = SiteRow::new(site(host), vec![seed(&format!("http://{host}/"))], Timestamp::from_secs(1));
    row.standing = standing;
    row.due_at = Timestamp::from_secs(due_secs);
    row
}

/// A queue of URLs, all waiting.
pub fn frontier(addresses: &[&str]) -> SiteFrontier {
    let entry = |address: &&str| FrontierEntry { num_inlinks: 2, ..FrontierEntry::new(url(address), 1) };
    SiteFrontier { entries: addresses.iter().map(entry).collect() }
}

/// A copy of robots.txt of that many bytes.
pub fn robots_copy(address: &str, len: usize) -> RobotsCopy {
    RobotsCopy { origin: url(address).origin(), bytes: (0..len).map(|i| (i % 251) as u8).collect() }
}

/// An exclusion with a reason.
pub fn exclusion(reason: &str) -> Exclusion {
    Exclusion { at: Timestamp::from_secs(5), reason: reason.to_owned() }
}

/// The event of a ticket for a page.
pub fn ticket_event(address: &str, ticket: u32) -> LedgerEvent {
    let (kind, ground) = (RequestKind::Page, RobotsGround::NoRule);
    let event = SiteEvent::Ticket { ticket, kind, url: url(address), ground, from: None };
    LedgerEvent::Site { site: url(address).site(), event }
}

/// A ledger entry, at as many seconds as its number.
pub fn entry(seq: u64, event: LedgerEvent) -> LedgerEntry {
    LedgerEntry { seq, at: Timestamp::from_secs(seq), event }
}
