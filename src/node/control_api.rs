//! What the node does with each control command. Fields stand in reading order; times are text.

use std::rc::Rc;
use std::sync::Arc;

use actix::Addr;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_actors::events::EventHub;
use lohisoftbot_actors::frontier::{
    AddSeeds, ExcludeDomain, FrontierActor, IncludeDomain, RecrawlSite, SiteView, ViewSite,
};
use lohisoftbot_actors::index::{IndexActor, ReadStore};
use lohisoftbot_actors::ledger::{ExclusionsInForce, LedgerActor};
use lohisoftbot_actors::ports::{Clock, GateState, LocalGate};
use lohisoftbot_actors::search::{CommitNow, SearchActor};
use lohisoftbot_actors::stats::NodeStats;
use lohisoftbot_core::audit::AuditRules;
use lohisoftbot_core::config::{Config, DiscoverySettings};
use lohisoftbot_core::discovery::LinkDropCounts;
use lohisoftbot_core::exclusion::{Domain, Exclusions};
use lohisoftbot_core::identity::Identity;
use lohisoftbot_core::recrawl::order::RecrawlRefusal;
use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use super::{Node, assemble, explain};
use crate::control::{Command, ControlError, ErrorCode, LineSink, NodeControl, SiteFilter};
use crate::io::ledger_files::LedgerReader;

/// Rows read from the store at once while a filter is applied.
const ROWS_AT_ONCE: usize = 1000;

/// Answers control commands.
#[derive(Clone)]
pub struct NodeApi {
    pub(super) frontier: Addr<FrontierActor>,
    pub(super) index: Addr<IndexActor>,
    pub(super) search: Option<Addr<SearchActor>>,
    pub(super) ledger: Addr<LedgerActor>,
    pub(super) ledger_reader: Arc<LedgerReader>,
    pub(super) gate: Arc<LocalGate>,
    stats: Arc<NodeStats>,
    pub(super) clock: Arc<dyn Clock>,
    started_at: Timestamp,
    pub(super) page_budget: u16,
    data_dir: String,
    pub(super) identity: Identity,
    pub(super) discovery: DiscoverySettings,
    pub(super) audit_rules: AuditRules,
    pub(super) events: EventHub,
    /// Grows before an exclusion is answered: what a stream has read before is looked at again then.
    pub(super) excluded: Rc<watch::Sender<Exclusions>>,
    pub(super) teller: Rc<watch::Sender<bool>>,
    /// One audit at a time.
    pub(super) auditing: Rc<Semaphore>,
}

pub(super) type Answer = Result<Value, ControlError>;

impl NodeApi {
    /// For a running node; `teller` ends it.
    pub fn new(node: &Node, config: &Config, teller: Rc<watch::Sender<bool>>) -> Self {
        Self {
            frontier: node.frontier.clone(),
            index: node.index.clone(),
            search: node.search.clone(),
            ledger: node.ledger.clone(),
            ledger_reader: node.ledger_reader.clone(),
            gate: node.gate.clone(),
            stats: node.stats.clone(),
            clock: node.clock.clone(),
            started_at: node.clock.now(),
            page_budget: config.budget.page_requests,
            data_dir: config.store.data_dir.display().to_string(),
            identity: Identity::new(&config.identity),
            discovery: config.discovery.clone(),
            audit_rules: assemble::audit_rules(config),
            events: node.events.clone(),
            excluded: Rc::new(watch::Sender::new(Exclusions::default())),
            teller,
            auditing: Rc::new(Semaphore::new(1)),
        }
    }

    async fn status(&self) -> Answer {
        let stats = self.index.send(ReadStore::as_applied(|store| Ok((store.stats(), store.num_unindexed())))).await;
        let (stored, num_unindexed) = stats.map_err(|_| gone())?.map_err(|_| gone())?;
        let state = match (*self.teller.borrow(), self.gate.state()) {
            (true, _) => "stopping",
            (false, GateState::Shut) => "paused",
            (false, GateState::Open) => "running",
        };
        let counters: serde_json::Map<String, Value> =
            self.stats.snapshot().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let dropped_links = self.stats.dropped_links.snapshot();
        let dropped_links: serde_json::Map<String, Value> =
            dropped_links.into_iter().map(|(drop, num)| (drop.word().to_owned(), num.into())).collect();
        Ok(json!({
            "state": state,
            "started_at": self.started_at.to_string(),
            "up_seconds": self.clock.now().since(self.started_at).as_secs(),
            "data_dir": self.data_dir,
            "stored": stored,
            "search": self.search_status(num_unindexed).await?,
            "since_start": counters,
            "dropped_links_by_reason": dropped_links,
        }))
    }

    async fn seed(&self, seeds: Vec<Seed>) -> Answer {
        let counts = self.frontier.send(AddSeeds(seeds)).await.map_err(|_| gone())?;
        Ok(json!(counts))
    }

    pub(super) async fn view(&self, site: &Site) -> Result<Box<SiteView>, ControlError> {
        let view = self.frontier.send(ViewSite(site.clone())).await.map_err(|_| gone())?;
        view.ok_or_else(|| unknown(site))
    }

    async fn site(&self, site: Site) -> Answer {
        let view = self.view(&site).await?;
        let now = self.clock.now();
        let account = &view.row.account;
        let robots: Vec<Value> = view.robots.iter().map(|robots| describe_robots(robots, now)).collect();
        let pages: Vec<Value> = view
            .pages
            .iter()
            .map(|page| json!({"url": page.url, "title": page.title, "fetched_at": page.fetched_at.to_string()}))
            .collect();
        let num_queued = view.queue.num_queued();
        Ok(json!({
            "site": site,
            "standing": standing_words(&view.row),
            "next_request_not_before": if account.not_before() > now { Value::String(account.not_before().to_string()) } else { Value::Null },
            "due_at": view.row.due_at.to_string(),
            "cycle": account.cycle,
            "page_requests": format!("{} of {}", account.num_page_requests, self.page_budget),
            "next_cycle_not_before": account.next_cycle_at.to_string(),
            "delay_seconds": account.delay.as_secs_f64(),
            "backoff_rung": account.rung,
            "user_agent": self.identity.user_agent_for(&site),
            "first_seen_at": view.row.first_seen_at.to_string(),
            "seeds": view.row.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>(),
            "num_urls": view.queue.entries().len(),
            "num_queued": num_queued,
            "num_pages": view.pages.len(),
            "refused": explain::refusals(&view),
            "dropped_links_by_reason": view.dropped_links.as_ref().map(dropped_links),
            "robots": robots,
            "pages": pages,
        }))
    }

    async fn sites(&self, filter: SiteFilter, after: Option<Site>, limit: u32) -> Answer {
        let limit = limit as usize;
        let read = ReadStore::flushed(move |store| {
            let (mut rows, mut after) = (Vec::new(), after);
            while rows.len() < limit {
                let more = store.sites_after(after.as_ref(), ROWS_AT_ONCE)?;
                let Some(last) = more.last() else { break };
                after = Some(last.site.clone());
                rows.extend(more.into_iter().filter(|row| filter_takes(filter, row.standing)));
            }
            rows.truncate(limit);
            Ok(rows)
        });
        let rows = self.index.send(read).await.map_err(|_| gone())?.map_err(|_| gone())?;
        let line = |row: &SiteRow| {
            json!({
                "site": row.site,
                "standing": row.standing.word(),
                "due_at": row.due_at.to_string(),
                "pages": row.num_pages,
                "page_requests": row.account.num_page_requests,
                "why": why_words(row.standing),
            })
        };
        Ok(json!({ "sites": rows.iter().map(line).collect::<Vec<_>>() }))
    }

    async fn exclude(&self, domain: Domain, reason: String) -> Answer {
        let in_force = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
        let before = in_force.covering(domain.as_str()).map(|(outer, exclusion)| (outer.clone(), exclusion.at));
        let answer = self.frontier.send(ExcludeDomain { domain: domain.clone(), reason }).await.map_err(|_| gone())?;
        let answer = answer.ok_or_else(gone)?;
        // Before the answer, so that no stream sends anything of it afterwards.
        let in_force = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
        self.excluded.send_replace(in_force);
        if let Some(search) = &self.search
            && !matches!(search.send(CommitNow).await, Ok(Ok(())))
        {
            // Then nothing is found at all, the excluded least of all; the next start catches up before it answers.
            tracing::warn!(%domain, "the search index is out of order, so nothing is searched until the next start");
        }
        tracing::info!(%domain, num_pages = answer.stored.num_pages, "excluded by the operator");
        let touched = answer.num_live_sites + answer.stored.num_sites + answer.stored.num_pages;
        let note = match (before, touched) {
            (Some((outer, since)), _) => Some(format!("{outer} was excluded already, since {since}; its reason stays")),
            (None, 0) => {
                Some("nothing of it was known; should the name be misspelt, take it back with include".to_owned())
            }
            (None, _) => None,
        };
        Ok(json!({
            "domain": domain,
            "excluded": true,
            "note": note,
            "live_sites_told": answer.num_live_sites,
            "urls_taken_out_of_live_queues": answer.num_live_urls,
            "removed": answer.stored,
        }))
    }

    async fn include(&self, domain: Domain) -> Answer {
        let was_out = self.frontier.send(IncludeDomain(domain.clone())).await.map_err(|_| gone())?;
        let in_force = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
        self.excluded.send_replace(in_force);
        match was_out {
            Some(true) => {
                tracing::info!(%domain, "taken back in by the operator");
                let note = "nothing comes back by itself: give its sites as seeds to crawl them again";
                Ok(json!({"domain": domain, "included": true, "note": note}))
            }
            Some(false) => {
                let in_force = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
                let message = match in_force.covering(domain.as_str()) {
                    Some((outer, _)) => format!("{domain} is excluded by {outer}: include that"),
                    None => format!("{domain} is not excluded; `lohisoftbot-ctl exclusions` lists what is"),
                };
                Err(ControlError::new(ErrorCode::NotFound, message))
            }
            None => Err(gone()),
        }
    }

    async fn exclusions(&self) -> Answer {
        let exclusions = self.ledger.send(ExclusionsInForce).await.map_err(|_| gone())?;
        let line = |(domain, exclusion): (&Domain, &lohisoftbot_core::exclusion::Exclusion)| json!({"domain": domain, "since": exclusion.at.to_string(), "reason": exclusion.reason});
        Ok(json!({ "exclusions": exclusions.iter().map(line).collect::<Vec<_>>() }))
    }

    fn set_gate(&self, state: GateState) -> Answer {
        self.gate.set(state);
        match state {
            GateState::Shut => tracing::info!("paused by the operator, until resume or the next start"),
            GateState::Open => tracing::info!("resumed by the operator"),
        }
        Ok(match state {
            GateState::Shut => {
                json!({"paused": true, "note": "requests under way end; no further one starts until resume or the next start of the node"})
            }
            GateState::Open => json!({"paused": false}),
        })
    }

    async fn recrawl(&self, site: Site) -> Answer {
        if self.gate.state() == GateState::Shut {
            return Err(ControlError::new(ErrorCode::Refused, "the node is paused; resume it first"));
        }
        let answer = self.frontier.send(RecrawlSite(site.clone())).await.map_err(|_| gone())?.ok_or_else(gone)?;
        match answer {
            Ok(reopened) => {
                tracing::info!(%site, num_urls = reopened.num_urls, "recrawl ordered on the control socket");
                Ok(json!({
                    "site": site.as_str(),
                    "requests_left": reopened.num_requests_left,
                    "urls_asked_again": reopened.num_urls,
                    "not_before": reopened.not_before.to_string(),
                    "next_cycle_at": reopened.next_cycle_at.to_string(),
                    "note": reopened.describe(),
                }))
            }
            Err(RecrawlRefusal::Unknown) => Err(unknown(&site)),
            Err(refusal) => {
                Err(ControlError::new(ErrorCode::Refused, format!("{site} is not crawled now: {}", refusal.describe())))
            }
        }
    }

    fn shutdown(&self) -> Answer {
        tracing::info!("shutdown asked for on the control socket: ending in order");
        self.teller.send_replace(true);
        Ok(json!({"stopping": true}))
    }
}

impl NodeControl for NodeApi {
    fn call(&self, command: Command) -> LocalBoxFuture<'static, Answer> {
        let api = self.clone();
        async move {
            match command {
                Command::Status => api.status().await,
                Command::Seed { seeds } => api.seed(seeds).await,
                Command::Site { site } => api.site(site).await,
                Command::Sites { filter, after, limit } => api.sites(filter, after, limit).await,
                Command::Explain { asked } => api.explain(asked).await,
                Command::Ledger { site, limit, since, before } => api.ledger(site, limit, since, before).await,
                Command::Audit { site } => api.audit(site).await,
                Command::Watch { .. } | Command::Export { .. } => Err(no_stream()),
                Command::Exclude { domain, reason } => api.exclude(domain, reason).await,
                Command::Include { domain } => api.include(domain).await,
                Command::Exclusions => api.exclusions().await,
                Command::Recrawl { site } => api.recrawl(site).await,
                Command::Search(request) => api.search(request).await,
                Command::Reindex => api.reindex().await,
                Command::Pause => api.set_gate(GateState::Shut),
                Command::Resume => api.set_gate(GateState::Open),
                Command::Shutdown => api.shutdown(),
            }
        }
        .boxed_local()
    }

    fn stream<'a>(&'a self, command: Command, lines: &'a mut LineSink) -> LocalBoxFuture<'a, Answer> {
        async move {
            match command {
                Command::Watch { site } => self.watch(site, lines).await,
                Command::Export { site } => self.export(site, lines).await,
                Command::Status
                | Command::Seed { .. }
                | Command::Site { .. }
                | Command::Sites { .. }
                | Command::Explain { .. }
                | Command::Ledger { .. }
                | Command::Audit { .. }
                | Command::Exclude { .. }
                | Command::Include { .. }
                | Command::Exclusions
                | Command::Recrawl { .. }
                | Command::Search(_)
                | Command::Reindex
                | Command::Pause
                | Command::Resume
                | Command::Shutdown => self.call(command).await,
            }
        }
        .boxed_local()
    }
}

/// The server asks for streams by another way; whoever asks by this one is told.
fn no_stream() -> ControlError {
    ControlError::new(ErrorCode::Refused, "it is answered by a stream, not by one answer")
}

/// What was left out, by reason.
fn dropped_links(counts: &LinkDropCounts) -> serde_json::Map<String, Value> {
    counts.iter().map(|(drop, num)| (drop.word().to_owned(), num.into())).collect()
}

fn unknown(site: &Site) -> ControlError {
    let message = format!("{site} is not known to this node; give it as a seed: lohisoftbot-ctl seed {site}");
    ControlError::new(ErrorCode::NotFound, message)
}

/// A part of the node is gone; its own failure is in the log.
pub(super) fn gone() -> ControlError {
    ControlError::new(ErrorCode::Internal, "a part of the node is gone; its log says why. Start the node again")
}

fn filter_takes(filter: SiteFilter, standing: SiteStanding) -> bool {
    match filter {
        SiteFilter::All => true,
        SiteFilter::Live => matches!(standing, SiteStanding::Live),
        SiteFilter::Parked => matches!(standing, SiteStanding::Parked { .. }),
        SiteFilter::Finished => matches!(standing, SiteStanding::Finished { .. }),
    }
}

fn why_words(standing: SiteStanding) -> Option<&'static str> {
    match standing {
        SiteStanding::Parked { reason } => Some(reason.describe()),
        SiteStanding::Finished { reason } => Some(reason.describe()),
        SiteStanding::Due | SiteStanding::Live | SiteStanding::Paused => None,
    }
}

fn standing_words(row: &SiteRow) -> String {
    match why_words(row.standing) {
        Some(why) => format!("{}: {why}", row.standing.word()),
        None => row.standing.word().to_owned(),
    }
}

fn describe_robots(robots: &lohisoftbot_core::politeness::OriginRobots, now: Timestamp) -> Value {
    let copy = robots.copy.as_ref();
    json!({
        "origin": robots.origin.to_string(),
        "rules": explain::robots_words(robots, now),
        "group": copy.and_then(|copy| copy.policy.group().name()),
        "crawl_delay_seconds": copy.and_then(|copy| copy.policy.crawl_delay()).map(|delay| delay.as_secs_f64()),
        "fetched_at": copy.map(|copy| copy.fetched_at.to_string()),
        "asked_again_after": copy.map(|copy| copy.expires_at.to_string()),
        "unreachable_since": robots.unreachable_since.map(|since| since.to_string()),
    })
}
