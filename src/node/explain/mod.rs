//! Why a URL was fetched, or not, in plain words: what a site owner who asks is told.
//!
//! One reason decides (`judge`), and has its words (`reason`); what the ledger says of the URL is `history`'s. The answer says it in
//! sentences that stand for themselves, and once more in fields for machines.

mod history;
mod judge;
mod reason;

use std::collections::BTreeSet;

use lohisoftbot_actors::frontier::SiteView;
use lohisoftbot_actors::index::ReadStore;
use lohisoftbot_actors::ledger::ExclusionsInForce;
use lohisoftbot_actors::ports::GateState;
use lohisoftbot_core::ledger::RobotsGround;
use lohisoftbot_core::page_choice::{DropReason, EntryRole, EntryStanding, FrontierEntry};
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::record::InlinkRow;
use lohisoftbot_core::robots::{RobotsBasis, RobotsRefusal, RobotsVerdict};
use lohisoftbot_core::seed::{Seed, SeedScheme};
use lohisoftbot_core::site_row::SiteStanding;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::{Value, json};

use self::history::UrlHistory;
use self::judge::{Facts, NodePace};
use self::reason::Reason;
use super::NodeApi;
use super::control_api::{Answer, gone};
use crate::control::AskedUrl;

/// Pages with a link to the URL that are named.
const MAX_NAMED_SOURCES: usize = 5;

impl NodeApi {
    pub(super) async fn explain(&self, asked: AskedUrl) -> Answer {
        let seed = match asked {
            AskedUrl::Page(seed) => seed,
            AskedUrl::Never { text, refusal } => {
                let reason = Reason::Never(refusal);
                let summary = reason.sentence();
                return Ok(json!({"url": text, "reason": reason.code(), "summary": summary, "account": summary}));
            }
        };
        let view = self.view(&seed.url.site()).await.ok();
        let (url, note) = the_scheme_that_is_known(seed, view.as_deref());
        let exclusions = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
        let excluded = exclusions.covering(url.host()).map(|(domain, exclusion)| (domain.clone(), exclusion.clone()));
        let target = url.clone();
        let read = ReadStore::as_applied(move |store| Ok((store.inlinks_of(&target)?, store.stats().num_sites)));
        let (inlinks, num_sites) = self.index.send(read).await.map_err(|_| gone())?.map_err(|_| gone())?;
        let (reader, target) = (self.ledger_reader.clone(), url.clone());
        let history = self.in_background(move || UrlHistory::read(&target, reader.of_site(&target.site())?)).await?;
        let facts = Facts {
            url: &url,
            view: view.as_deref(),
            excluded,
            history: &history,
            inlinks: &inlinks,
            discovery: &self.discovery,
            num_sites,
            pace: match self.gate.state() {
                GateState::Open => NodePace::Running,
                GateState::Shut => NodePace::Paused,
            },
            page_budget: self.page_budget,
            now: self.clock.now(),
        };
        Ok(answer(&facts, note, self.identity.user_agent_for(&url.site())))
    }
}

/// A host without a scheme is taken as https, unless the node knows it under http alone; then that is said, too.
fn the_scheme_that_is_known(seed: Seed, view: Option<&SiteView>) -> (PageUrl, Option<String>) {
    let fallback = match seed.scheme {
        SeedScheme::Guessed => seed.http_fallback(),
        SeedScheme::Written => None,
    };
    let (Some(http), Some(view)) = (fallback, view) else { return (seed.url, None) };
    let knows = |origin: &lohisoftbot_core::origin::Origin| {
        view.queue.entries().iter().any(|entry| entry.url.origin() == *origin)
            || view.row.seeds.iter().any(|seed| seed.url.origin() == *origin)
            || view.pages.iter().any(|page| page.url.origin() == *origin)
            || view.robots.iter().any(|robots| robots.origin == *origin)
    };
    if knows(&http.origin()) && !knows(&seed.url.origin()) {
        let note = format!("{} is known to this node under http alone, so that is what is explained.", http.host());
        return (http, Some(note));
    }
    (seed.url, None)
}

/// The whole explanation: sentences first, then what they rest on.
fn answer(facts: &Facts<'_>, note: Option<String>, user_agent: &str) -> Value {
    let Facts { url, view, history, now, page_budget, .. } = facts;
    let reason = facts.reason();
    let robots = facts.robots();
    let entry = view.and_then(|view| view.queue.get(url));
    let is_stored = view.is_some_and(|view| view.pages.iter().any(|page| page.url == **url));
    let known_from = entry.map(|entry| known_from(facts, entry));
    let robots_told = robots.map(|robots| robots_sentence(robots, url, *now));
    let budget = view.map(|view| {
        let account = &view.row.account;
        format!(
            "{} of {page_budget} page requests of cycle {} used, {} of them for sitemaps",
            account.num_page_requests, account.cycle, account.num_sitemap_requests
        )
    });
    let site = view.map(|view| site_words(view, *now));
    let summary = reason.sentence();
    let stored_all_the_same = (is_stored && !matches!(reason, Reason::Stored { .. }))
        .then(|| "A record of it from before is still stored.".to_owned());
    let next = view.map(|view| next_sentence(facts, view));
    let account: Vec<String> = [
        note,
        Some(summary.clone()),
        stored_all_the_same,
        known_from.clone(),
        history.last_outcome(),
        robots_told.clone(),
        budget.as_ref().map(|budget| format!("Its site: {budget}.")),
        next,
        Some(format!("The crawler shows itself to its site as {user_agent}.")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let copy = robots.and_then(|robots| robots.copy.as_ref());
    json!({
        "url": url,
        "reason": reason.code(),
        "summary": summary,
        "account": account.join(" "),
        "stored": is_stored,
        "robots": robots.map(|robots| robots_verdict_words(robots, url, *now)),
        "robots_line": robots.and_then(|robots| robots_line(robots, url, *now)),
        "robots_fetched_at": copy.map(|copy| copy.fetched_at.to_string()),
        "robots_age_seconds": copy.map(|copy| now.since(copy.fetched_at).as_secs()),
        "robots_asked_again_after": copy.map(|copy| copy.expires_at.to_string()),
        "robots_unreachable_since": robots.and_then(|robots| robots.unreachable_since).map(|since| since.to_string()),
        "budget": budget,
        "site": site,
        "known_from": known_from,
        "linked_from": sources(facts.inlinks),
        "tries_in_this_cycle": entry.map(|entry| entry.num_tries),
        "next_cycle_not_before": view.map(|view| view.row.account.next_cycle_at.to_string()),
        "user_agent": user_agent,
        "requests": history.requests.iter().map(|request| request.to_json()).collect::<Vec<_>>(),
    })
}

/// When anything of the site is asked for next.
fn next_sentence(facts: &Facts<'_>, view: &SiteView) -> String {
    let account = &view.row.account;
    let next_cycle_at = account.next_cycle_at;
    let not_before = account.not_before().max(facts.now);
    match account.cycle_closed {
        Some(_) if facts.resumes_cycle(view) => format!(
            "The cycle of its site was over and goes on, since pages of it wait again: the next request to it leaves no sooner than \
             {not_before}; the next cycle begins no sooner than {next_cycle_at}."
        ),
        Some(_) if facts.next_cycle_is_due(view) => {
            let first = facts.order_of_next_cycle(view).into_iter().next();
            let first = first.map_or_else(String::new, |first| format!(", and of its pages {first} comes first"));
            format!(
                "The next cycle of its site is due now, since {next_cycle_at}: it begins as soon as this node has a place for the site and \
                 no pause holds it up{first}. The next request to its site leaves no sooner than {not_before}."
            )
        }
        Some(_) => {
            format!("Nothing more of its site is asked for before the next cycle, no sooner than {next_cycle_at}.")
        }
        None if account.cycle == 0 => "Nothing of its site was asked for yet.".to_owned(),
        None => format!(
            "The next request to its site leaves no sooner than {not_before}; the next cycle begins no sooner than {next_cycle_at}."
        ),
    }
}

fn sources(inlinks: &[InlinkRow]) -> Vec<String> {
    inlinks.iter().take(MAX_NAMED_SOURCES).map(|row| row.source.to_string()).collect()
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
fn known_from(facts: &Facts<'_>, entry: &FrontierEntry) -> String {
    let url = facts.url;
    if facts.view.is_some_and(|view| view.row.seeds.iter().any(|seed| seed.url == *url)) {
        return "It is where the crawl of its site starts: given as a seed, or led to by a link of another site."
            .to_owned();
    }
    let redirects_here = |other: &&FrontierEntry| match &other.standing {
        EntryStanding::Dropped(DropReason::Redirect { target: Some(target) } | DropReason::MovedForGood { target }) => {
            target == url
        }
        EntryStanding::Dropped(_)
        | EntryStanding::Queued
        | EntryStanding::Stored
        | EntryStanding::SitemapRead { .. } => false,
    };
    let redirect = facts.view.and_then(|view| view.queue.entries().iter().find(redirects_here));
    if let Some(redirect) = redirect {
        return format!("It became known by the redirect of {}.", redirect.url);
    }
    let named = sources(facts.inlinks);
    match (entry.role, entry.num_inlinks) {
        (EntryRole::Sitemap { depth: 0 }, _) => {
            "It became known as a sitemap: robots.txt names it, or what robots.txt names redirects to it.".to_owned()
        }
        (EntryRole::Sitemap { .. }, _) => "It became known as a sitemap: an index of sitemaps lists it.".to_owned(),
        (EntryRole::GuessedSitemap, _) => {
            "Nothing leads to it: robots.txt names no sitemap, nothing else was left to ask, and many sites have theirs there."
                .to_owned()
        }
        (EntryRole::Page, 0) => "It became known by a sitemap of its site.".to_owned(),
        (EntryRole::Page, num_inlinks) if named.is_empty() => {
            format!("It became known by links or redirects to it, seen {num_inlinks} times.")
        }
        (EntryRole::Page, num_inlinks) => {
            format!("It became known by links to it, seen {num_inlinks} times; they stand on {}.", named.join(", "))
        }
    }
}

/// What robots.txt says of the URL, how old the copy is and when it is asked for again.
fn robots_sentence(robots: &OriginRobots, url: &PageUrl, now: Timestamp) -> String {
    let said = robots_verdict_words(robots, url, now);
    let since = robots.unreachable_since.map_or_else(String::new, |since| {
        format!(" It could not be read since {since}, and is asked for again no sooner than {}.", robots.retry_at)
    });
    match &robots.copy {
        None => format!("robots.txt of {}: {said}.{since}", robots.origin),
        Some(copy) => format!(
            "robots.txt of {}: {said}. The copy was read at {} and is asked for again after {}.{since}",
            robots.origin, copy.fetched_at, copy.expires_at
        ),
    }
}

/// The number of the line that decides.
fn robots_line(robots: &OriginRobots, url: &PageUrl, now: Timestamp) -> Option<u32> {
    match robots.rules_in_force(now)?.verdict(url) {
        RobotsVerdict::Allowed(RobotsGround::Line { number, .. }) => Some(number),
        RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) => Some(line.number),
        RobotsVerdict::Allowed(RobotsGround::NoRule | RobotsGround::RobotsFile)
        | RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { .. }) => None,
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
        SiteStanding::Finished { reason } if account.next_cycle_at <= now => {
            format!("{standing}: {}; the next cycle is due since {}", reason.describe(), account.next_cycle_at)
        }
        SiteStanding::Finished { reason } => {
            format!("{standing}: {}; the next cycle begins no sooner than {}", reason.describe(), account.next_cycle_at)
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused if account.not_before() > now => {
            format!("{standing}; the next request no sooner than {}", account.not_before())
        }
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused => standing.to_owned(),
    }
}
