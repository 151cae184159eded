//! Why a URL was fetched, or not, in plain words: what a site owner who asks is told.

use lohisoftbot_actors::frontier::SiteView;
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerError, LedgerRead};
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::{EndKind, FinishReason, LedgerEntry, LedgerEvent, RobotsGround, SiteEvent, TicketNumber};
use lohisoftbot_core::page_choice::{DropReason, EntryStanding};
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::robots::{RobotsBasis, RobotsRefusal, RobotsVerdict};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::{Value, json};

use super::wait_words;

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
            SiteEvent::Ticket { ticket, url: asked, ground, kind: _ } if asked == *url => {
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
    let summary = match (&excluded, view, entry) {
        (Some((domain, exclusion)), _, _) => {
            format!("not fetched: {domain} is excluded since {}: {:?}", exclusion.at, exclusion.reason)
        }
        (None, None, _) => format!("not fetched: the site {} is not known to this node", url.site()),
        (None, Some(_), None) => "not fetched: no page that was read links to it, and it is no seed".to_owned(),
        (None, Some(view), Some(entry)) => match (&entry.standing, &view.row.account.cycle_closed) {
            (EntryStanding::Queued, Some(reason)) => {
                format!("not fetched in this cycle: {}", finish_words(*reason))
            }
            (standing, _) => standing_words(standing),
        },
    };
    let sent: Vec<Value> = requests.iter().map(describe_request).collect();
    let account = view.map(|view| &view.row.account);
    let is_stored = view.is_some_and(|view| view.pages.iter().any(|page| page.url == *url));
    json!({
        "url": url,
        "summary": summary,
        "stored": is_stored,
        "robots": robots.map(|robots| robots_verdict_words(robots, url, now)),
        "robots_fetched_at": robots.and_then(|robots| robots.copy.as_ref()).map(|copy| copy.fetched_at.to_string()),
        "budget": account.map(|account| format!("{} of {page_budget} page requests of cycle {} used", account.num_page_requests, account.cycle)),
        "site": view.map(|view| site_words(view, now)),
        "tries_in_this_cycle": entry.map(|entry| entry.num_tries),
        "requests": sent,
    })
}

fn describe_request(request: &SentRequest) -> Value {
    let ground = match &request.ground {
        RobotsGround::RobotsFile => "robots.txt itself needs no leave".to_owned(),
        RobotsGround::NoRule => "no line of robots.txt matches".to_owned(),
        RobotsGround::Line { number, text } => format!("line {number} of robots.txt: {text}"),
    };
    let end = match request.end {
        None => "under way".to_owned(),
        Some(EndKind::Answered(status)) => format!("answered {status}"),
        Some(EndKind::Failed(failure)) => failure.describe().to_owned(),
        Some(EndKind::Lost) => "the node stopped before the answer; counted as sent".to_owned(),
        Some(EndKind::Abandoned) => "broken off: the domain was excluded, or the node was stopped".to_owned(),
    };
    json!({"at": request.at.to_string(), "ticket": request.ticket, "end": end, "ground": ground})
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
        SiteStanding::Parked { reason } => format!("{standing} until {}: {}", view.row.due_at, wait_words(reason)),
        SiteStanding::Finished { reason } => {
            format!("{standing}: {}; the next cycle begins no sooner than {}", finish_words(reason), account.next_cycle_at)
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused if account.not_before() > now => {
            format!("{standing}; the next request no sooner than {}", account.not_before())
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused => standing.to_owned(),
    }
}

/// Why a cycle ended, in plain words.
pub fn finish_words(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::QueueEmpty => "every URL that may be asked was asked",
        FinishReason::BudgetSpent => "the page requests of this cycle are spent",
        FinishReason::NoSuchName => "its name does not exist",
        FinishReason::AddressRefused => "its address is one that is never dialled",
        FinishReason::Excluded => "it is excluded",
    }
}

/// How a URL stands in its site's queue, in plain words.
pub fn standing_words(standing: &EntryStanding) -> String {
    let dropped = |why: String| format!("not stored: {why}");
    match standing {
        EntryStanding::Queued => "not fetched yet: it waits for its turn".to_owned(),
        EntryStanding::Stored => "fetched and stored".to_owned(),
        EntryStanding::Dropped(reason) => dropped(match reason {
            DropReason::Robots { line: 0, text } => text.clone(),
            DropReason::Robots { line, text } => format!("line {line} of robots.txt forbids it: {text}"),
            DropReason::Excluded => "its domain is excluded".to_owned(),
            DropReason::TooManyOrigins => "its site has more origins than a cycle takes up".to_owned(),
            DropReason::NotHtml => "it is no HTML page".to_owned(),
            DropReason::Gone => "it does not exist (404, 410, or a redirect to nowhere)".to_owned(),
            DropReason::Barrier(kind) => format!("{}; barriers are never passed", kind.describe()),
            DropReason::Noindex => "it asks not to be indexed (noindex)".to_owned(),
            DropReason::Redirect { target: Some(target) } => format!("it redirects to {target}"),
            DropReason::Redirect { target: None } => "it redirects to nothing that could be asked".to_owned(),
            DropReason::Status(status) => format!("it answered {status}"),
            DropReason::TooManyTries => "it failed as often as it may be asked".to_owned(),
            DropReason::RobotsUnreachable => "the robots.txt of its origin cannot be read".to_owned(),
            DropReason::ExtractionFailed => "reading it failed".to_owned(),
            DropReason::AddressRefused => "its address is one that is never dialled".to_owned(),
            DropReason::StoreFull => "the site's pages are all taken".to_owned(),
        }),
    }
}
