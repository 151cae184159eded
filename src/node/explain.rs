//! Why a URL was fetched, or not, in plain words: what a site owner who asks is told.

use std::collections::BTreeSet;

use lohisoftbot_actors::frontier::SiteView;
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerError, LedgerRead};
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::{EndKind, LedgerEntry, LedgerEvent, RobotsGround, SiteEvent, TicketNumber};
use lohisoftbot_core::page_choice::{DropReason, EntryRole, EntryStanding, FrontierEntry};
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::robots::{RobotsBasis, RobotsRefusal, RobotsVerdict};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::{Value, json};

/// What is said of a page that was fetched to be stored and has no record now.
const RECORD_GONE: &str = "fetched; no record of it is stored: its unavailable_after has passed, it made room for \
                           another page, or it is only being written";

/// One request that was sent for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    at: Timestamp,
    ticket: TicketNumber,
    ground: RobotsGround,
    end: Option<EndKind>,
}

/// The requests sent for `url`, as the ledger has them, oldest first.
pub fn requests_for(ledger: &dyn LedgerRead, url: &PageUrl) -> Result<Vec<SentRequest>, LedgerError> {
    let kinds = vec![EntryKind::Ticket, EntryKind::Outcome];
    let entries = ledger.entries(&EntryFilter { site: Some(url.site()), kinds, ..EntryFilter::default() })?;
    let mut requests: Vec<SentRequest> = Vec::new();
    for LedgerEntry { at, event, .. } in entries {
        let LedgerEvent::Site { event, .. } = event else { continue };
        match event {
            SiteEvent::Ticket { ticket, url: asked, ground, kind: _, from: _ } if asked == *url => {
                requests.push(SentRequest { at, ticket, ground, end: None });
            }
            SiteEvent::Outcome { ticket, end, .. } => {
                if let Some(request) = requests.iter_mut().find(|request| request.ticket == ticket) {
                    request.end = Some(end);
                }
            }
            SiteEvent::Ticket { .. }
            | SiteEvent::CycleOpened { .. }
            | SiteEvent::CycleClosed { .. }
            | SiteEvent::CycleResumed
            | SiteEvent::Wait { .. }
            | SiteEvent::BarrierStreak(_)
            | SiteEvent::Forgiven { .. }
            | SiteEvent::Delay(_)
            | SiteEvent::RobotsBorrowed { .. }
            | SiteEvent::Snapshot(_) => {}
        }
    }
    Ok(requests)
}

/// The whole explanation: a sentence first, then what it rests on.
pub fn explain(
    url: &PageUrl,
    view: Option<&SiteView>,
    excluded: Option<(Domain, Exclusion)>,
    requests: &[SentRequest],
    page_budget: u16,
    now: Timestamp,
) -> Value {
    let robots = view.and_then(|view| view.robots.iter().find(|robots| robots.origin == url.origin()));
    let entry = view.and_then(|view| view.queue.get(url));
    let was_asked = !requests.is_empty();
    let is_stored = view.is_some_and(|view| view.pages.iter().any(|page| page.url == *url));
    let summary = match (&excluded, view, entry) {
        (Some((domain, exclusion)), _, _) => {
            let before = if was_asked { "not fetched any more" } else { "not fetched" };
            format!("{before}: {domain} is excluded since {}: {:?}", exclusion.at, exclusion.reason)
        }
        (None, _, _) if url.path_and_query() == "/robots.txt" => {
            "robots.txt is asked before anything else of its origin, and again when its copy has expired".to_owned()
        }
        (None, None, _) => format!("not fetched: the site {} is not known to this node", url.site()),
        (None, Some(_), None) if was_asked => "fetched earlier; it is not in the queue any more".to_owned(),
        (None, Some(_), None) => {
            "not fetched: it is no seed, and no link that may be followed led to it while the queue had room".to_owned()
        }
        (None, Some(view), Some(entry)) => match (&entry.standing, &view.row.account.cycle_closed) {
            (EntryStanding::Queued, Some(reason)) => {
                format!("not fetched in this cycle: {}", reason.describe())
            }
            (EntryStanding::Queued, None) => queued_words(robots, url, requests, now),
            (EntryStanding::Stored, _) if is_stored => "fetched and stored".to_owned(),
            (EntryStanding::Stored, _) => RECORD_GONE.to_owned(),
            (EntryStanding::SitemapRead { num_urls }, _) => {
                format!("fetched as a sitemap and read for the URLs of its site that it lists: {num_urls} were of use")
            }
            (EntryStanding::Dropped(reason), _) => format!("not stored: {}", reason.describe()),
        },
    };
    let sent: Vec<Value> = requests.iter().map(describe_request).collect();
    let account = view.map(|view| &view.row.account);
    json!({
        "url": url,
        "summary": summary,
        "stored": is_stored,
        "robots": robots.map(|robots| robots_verdict_words(robots, url, now)),
        "robots_fetched_at": robots.and_then(|robots| robots.copy.as_ref()).map(|copy| copy.fetched_at.to_string()),
        "budget": account.map(|account| format!("{} of {page_budget} page requests of cycle {} used, {} of them for sitemaps", account.num_page_requests, account.cycle, account.num_sitemap_requests)),
        "site": view.map(|view| site_words(view, now)),
        "known_from": entry.map(|entry| known_from(url, view, entry)),
        "tries_in_this_cycle": entry.map(|entry| entry.num_tries),
        "requests": sent,
    })
}

fn describe_request(request: &SentRequest) -> Value {
    let ground = request.ground.describe();
    json!({"at": request.at.to_string(), "ticket": request.ticket, "end": end_words(request), "ground": ground})
}

/// The origins of a site that are never dialled, each with the reason, once.
pub fn refusals(view: &SiteView) -> Vec<String> {
    let refused = view.queue.entries().iter().filter_map(|entry| match &entry.standing {
        EntryStanding::Dropped(DropReason::AddressRefused { why }) => Some(format!("{}: {why}", entry.url.origin())),
        EntryStanding::Dropped(_)
        | EntryStanding::Queued
        | EntryStanding::Stored
        | EntryStanding::SitemapRead { .. } => None,
    });
    refused.collect::<BTreeSet<_>>().into_iter().collect()
}

/// How the node came to know of a URL in its queue.
fn known_from(url: &PageUrl, view: Option<&SiteView>, entry: &FrontierEntry) -> String {
    let is_seed = view.is_some_and(|view| view.row.seeds.iter().any(|seed| seed.url == *url));
    if is_seed {
        "it is where the crawl of its site starts: given as a seed, or led to by a link of another site".to_owned()
    } else {
        match (entry.role, entry.num_inlinks) {
            (EntryRole::Sitemap { depth: 0 }, _) => {
                "robots.txt names it as a sitemap, or what robots.txt names redirects to it".to_owned()
            }
            (EntryRole::Sitemap { .. }, _) => "an index of sitemaps lists it".to_owned(),
            (EntryRole::GuessedSitemap, _) => {
                "nothing: robots.txt names no sitemap, nothing else was left to ask, and many sites have theirs there"
                    .to_owned()
            }
            (EntryRole::Page, 0) => "a sitemap of its site lists it".to_owned(),
            (EntryRole::Page, num_inlinks) => format!("links or redirects to it, seen {num_inlinks} times"),
        }
    }
}

fn end_words(request: &SentRequest) -> String {
    request.end.map_or_else(|| "under way".to_owned(), EndKind::describe)
}

/// Of a URL that waits for its turn: whether that turn can come, and what happened so far.
fn queued_words(robots: Option<&OriginRobots>, url: &PageUrl, requests: &[SentRequest], now: Timestamp) -> String {
    let verdict = robots.and_then(|robots| robots.rules_in_force(now)).map(|policy| policy.verdict(url));
    match (verdict, requests.last()) {
        (Some(RobotsVerdict::Disallowed(RobotsRefusal::Line(line))), _) => {
            format!("will not be fetched: line {} of robots.txt forbids it: {}", line.number, line.text)
        }
        (Some(RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status })), _) => {
            format!("will not be fetched: robots.txt answered {status}, a login stands before the site")
        }
        (Some(RobotsVerdict::Allowed(_)) | None, Some(last)) => {
            format!("asked already ({}) and to be asked again, no sooner than the site's wait allows", end_words(last))
        }
        (Some(RobotsVerdict::Allowed(_)) | None, None) => "not fetched yet: it waits for its turn".to_owned(),
    }
}

fn robots_verdict_words(robots: &OriginRobots, url: &PageUrl, now: Timestamp) -> String {
    let Some(policy) = robots.rules_in_force(now) else { return robots_words(robots, now) };
    match policy.verdict(url) {
        RobotsVerdict::Allowed(RobotsGround::Line { number, text }) => format!("allowed by line {number}: {text}"),
        RobotsVerdict::Allowed(RobotsGround::NoRule | RobotsGround::RobotsFile) => {
            format!("allowed: {}", robots_words(robots, now))
        }
        RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) => {
            format!("forbidden by line {}: {}", line.number, line.text)
        }
        RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status }) => {
            format!("forbidden: robots.txt answered {status}, a login stands before the site")
        }
    }
}

/// What an origin's robots.txt comes to, in plain words.
pub fn robots_words(robots: &OriginRobots, now: Timestamp) -> String {
    match robots.rules_in_force(now).map(|policy| policy.basis()) {
        None if robots.unreachable_since.is_some() => {
            "robots.txt cannot be read, so everything is forbidden until it can".to_owned()
        }
        None => "robots.txt has to be read before anything is asked".to_owned(),
        Some(RobotsBasis::File) => "the file's rules are in force".to_owned(),
        Some(RobotsBasis::NoFile { status: 403 }) => {
            "robots.txt answered 403: no rules, but a barrier may stand before the site".to_owned()
        }
        Some(RobotsBasis::NoFile { status }) => format!("there is no file ({status}): nothing is forbidden"),
        Some(RobotsBasis::LoginRequired { status }) => format!("a login stands before it ({status}): all is forbidden"),
    }
}

fn site_words(view: &SiteView, now: Timestamp) -> String {
    let account = &view.row.account;
    let standing = view.row.standing.word();
    match view.row.standing {
        SiteStanding::Parked { reason } => format!("{standing} until {}: {}", view.row.due_at, reason.describe()),
        SiteStanding::Finished { reason } => {
            format!("{standing}: {}; the next cycle begins no sooner than {}", reason.describe(), account.next_cycle_at)
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused if account.not_before() > now => {
            format!("{standing}; the next request no sooner than {}", account.not_before())
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused => standing.to_owned(),
    }
}

impl super::NodeApi {
    pub(super) async fn explain(&self, asked: crate::control::AskedUrl) -> super::control_api::Answer {
        use super::control_api::gone;
        let crate::control::AskedUrl::Page(seed) = asked else { return Err(gone()) };
        let url = seed.url;
        let exclusions = self.ledger.send(lohisoftbot_actors::ledger::ExclusionsInForce).await.map_err(|_| gone())?;
        let excluded = exclusions.covering(url.host()).map(|(domain, exclusion)| (domain.clone(), exclusion.clone()));
        let view = self.view(&url.site()).await.ok();
        let reader = self.ledger_reader.clone();
        let asked = url.clone();
        let requests = self.in_background(move || requests_for(&*reader, &asked)).await?;
        Ok(explain(&url, view.as_deref(), excluded, &requests, self.page_budget, self.clock.now()))
    }
}
