//! The node's own choice: its state machine, fed as a host actor feeds it, on a clock that jumps.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use lohisoftbot_core::backoff::BackoffPolicy;
use lohisoftbot_core::budget::Budget;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{self, Answer, FetchFailure};
use lohisoftbot_core::politeness::{
    Arrival, HostAction, HostState, LentRobots, PageEnd, RobotsEnd, SiteRules, SitemapEnd, StoredAs, Ticket,
};
use lohisoftbot_core::robots::PRODUCT_TOKEN;
use lohisoftbot_core::robots::status::BodyEnd;
use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::sitemap::{self, SitemapFile, SitemapKind, SitemapLimits};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::crawlers::NUM_REQUESTS;
use crate::graph::NOW;
use crate::reading::read_page;
use crate::served::Served;

/// The settings' defaults: delay, and URLs kept in a queue.
const DELAY: Duration = Duration::from_secs(5);
const MAX_QUEUED_URLS: usize = 1_000;
/// How long each answer takes.
const TOOK: Duration = Duration::from_millis(100);
/// Steps of the state machine; a cycle takes some hundred.
const MAX_STEPS: usize = 10_000;

/// The page requests of one cycle, in order, sitemaps included.
///
/// # Errors
/// The cycle does not come to its end.
pub fn requests(served: &dyn Served) -> anyhow::Result<Vec<PageUrl>> {
    let seed = Seed::parse(served.seed()?.as_str())?;
    let mut crawl = Crawl {
        served,
        state: HostState::new(seed.url.site(), Arc::new(rules()?), Exclusions::default()),
        now: NOW,
        num_asked: HashMap::new(),
        requests: Vec::new(),
    };
    crawl.state.add_seed(seed);
    for _ in 0..MAX_STEPS {
        match crawl.state.next_action(crawl.now) {
            HostAction::FetchRobots(intent) | HostAction::Fetch(intent) => {
                let ticket = crawl.state.open_ticket(intent, crawl.now).context("what was proposed may be asked")?;
                crawl.ask(&ticket);
            }
            HostAction::BorrowRobots(origin) => {
                let arrival = crawl.arrival();
                crawl.state.on_borrowed(&origin, LentRobots::Unreachable, arrival);
            }
            HostAction::WaitUntil(until) | HostAction::Park { until, .. } => crawl.now = crawl.now.max(until),
            HostAction::Finish(_) => return Ok(crawl.requests),
            HostAction::AwaitOutcome => bail!("a request was not told its end"),
        }
        crawl.state.take_events();
    }
    bail!("the cycle has no end");
}

fn rules() -> anyhow::Result<SiteRules> {
    Ok(SiteRules {
        min_delay: DELAY,
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
        max_crawl_delay: Duration::from_secs(86_400),
        park_after: Duration::from_secs(60),
        backoff: BackoffPolicy::default(),
        budget: Budget::new(u16::try_from(NUM_REQUESTS)?, 20)?,
        max_queued_urls: MAX_QUEUED_URLS,
        recrawl_interval: Duration::from_secs(30 * 86_400),
        min_recrawl_interval: Duration::from_secs(7 * 86_400),
        max_recrawl_interval: Duration::from_secs(90 * 86_400),
        product_token: PRODUCT_TOKEN.to_owned(),
    })
}

struct Crawl<'a> {
    served: &'a dyn Served,
    state: HostState,
    now: Timestamp,
    num_asked: HashMap<PageUrl, usize>,
    requests: Vec<PageUrl>,
}

impl Crawl<'_> {
    fn arrival(&self) -> Arrival {
        Arrival { at: self.now, took: TOOK, wire_bytes: 0, chance: 0.0 }
    }

    fn ask(&mut self, ticket: &Ticket) {
        let (url, kind) = (&ticket.intent.url, ticket.intent.kind);
        let num_before = self.num_asked.entry(url.clone()).or_default();
        let answer = self.served.answer(url, *num_before);
        *num_before += 1;
        self.now = self.now.plus(TOOK);
        let arrival = self.arrival();
        if kind == RequestKind::Robots {
            let end = match &answer {
                Some((head, body)) => RobotsEnd::Answered { head, body, body_end: BodyEnd::Whole },
                None => RobotsEnd::Failed(FetchFailure::Reset),
            };
            return self.state.on_robots(ticket.number, end, arrival);
        }
        self.requests.push(url.clone());
        let Some((head, body)) = answer else {
            return self.state.on_outcome(ticket.number, PageEnd::Failed(FetchFailure::Reset), arrival);
        };
        let status = head.status;
        match outcome::classify(kind, &head, url, self.now) {
            Answer::Html => {
                let page = read_page(url, &head, &body, self.now);
                let stored = page.as_ref().map_or(StoredAs::NotHtml, |page| page.stored);
                self.state.on_page_links(ticket.number, page.map(|page| page.around).unwrap_or_default(), self.now);
                self.state.on_outcome(ticket.number, PageEnd::Page { status, stored }, arrival);
            }
            Answer::Sitemap => {
                let content_type = head.first("content-type");
                let file =
                    SitemapFile { at: url.as_url(), content_type: content_type.as_deref(), bytes: &body, cut: false };
                let end = read_sitemap(file, self.now);
                self.state.on_sitemap(ticket.number, status, end, arrival);
            }
            answer => self.state.on_outcome(ticket.number, PageEnd::Answered { status, answer }, arrival),
        }
    }
}

fn read_sitemap(file: SitemapFile<'_>, now: Timestamp) -> SitemapEnd {
    let reading = sitemap::read(file, &SitemapLimits::default(), &mut || true);
    let Ok(site) = PageUrl::from_url(file.at.clone()).map(|url| url.site()) else { return SitemapEnd::NoSitemap };
    if let SitemapKind::Nothing(_) = reading.kind {
        return SitemapEnd::NoSitemap;
    }
    let chosen = sitemap::choose(&reading.urls, &site, now, MAX_QUEUED_URLS, &mut || true);
    SitemapEnd::Read {
        pages: chosen.into_iter().map(|(url, _)| url).collect(),
        sitemaps: reading.sitemaps.into_iter().filter_map(|url| PageUrl::from_url(url).ok()).collect(),
    }
}
