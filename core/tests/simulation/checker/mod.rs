//! The watcher on the wire: it sees what is asked and what is answered, and judges P1 to P4 by bookkeeping of its own.
//!
//! It never asks the code under test what is allowed. Of that code it takes three things only: when a cycle is said to begin (and checks
//! that none begins early), how many ledger events were written (so that a crash takes from the watcher, too, what it takes from the
//! ledger), and which copies of robots.txt outlived a crash.
//!
//! A promise that a crash swallowed before its event was durable is forgiven, and nothing else is.

mod ends;
mod memory;
#[cfg(test)]
mod planted;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::robots_file::RobotsFile;
use memory::Memory;
pub use memory::Survivors;

/// Well, or what went wrong, for people.
pub type Watched = Result<(), String>;

/// Sitemaps that are asked for in a cycle.
const MOST_SITEMAPS: usize = 2;
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// What the site was promised, of the configuration.
#[derive(Clone, Debug)]
pub struct Promises {
    pub site: Site,
    pub min_delay: Duration,
    pub budget: usize,
    /// No interval is promised shorter than this.
    pub shortest_interval: Duration,
    /// Nor longer.
    pub longest_interval: Duration,
}

/// One successful reading of an origin's robots.txt.
#[derive(Clone, Debug)]
struct Reading {
    at: Timestamp,
    /// When this site got it, from another where it lies there.
    kept_at: Timestamp,
    ttl: Duration,
    rules: Rules,
}

#[derive(Clone, Debug)]
enum Rules {
    File(Rc<RobotsFile>),
    Open,
    Closed,
}

/// What is known of one origin's robots.txt.
#[derive(Clone, Debug, Default)]
struct RobotsKnown {
    current: Option<Reading>,
    failing_since: Option<Timestamp>,
    last_failed_at: Option<Timestamp>,
    newest_failure_at: Option<Timestamp>,
    /// Every reading, so that one which a crash brings back is known again.
    past: Vec<Reading>,
}

/// A way of redirects from an origin's robots.txt.
#[derive(Clone, Debug)]
struct Way {
    origin: Origin,
    /// The last one is open, or to be asked next.
    asked: Vec<PageUrl>,
}

/// Another site's file, as that site tells of it.
#[derive(Clone, Debug)]
pub struct LentFile {
    pub file: Rc<RobotsFile>,
    pub read_at: Timestamp,
    pub ttl: Duration,
    /// Redirects on that site.
    pub num_hops: usize,
}

#[derive(Clone, Debug)]
struct OpenRequest {
    url: PageUrl,
    way: Option<Way>,
}

/// A cycle as it was said to begin.
#[derive(Clone, Copy, Debug)]
struct SaidCycle {
    number: u32,
    at: Timestamp,
    /// The next one begins no sooner.
    next_at: Timestamp,
}

/// The watcher of one site.
pub struct Checker {
    promises: Promises,
    open: Option<OpenRequest>,
    memory: Memory,
    robots: HashMap<Origin, RobotsKnown>,
    told_way: Option<Way>,
    last_ended_at: Option<Timestamp>,
    last_gap: Duration,
    /// The longest of all so far.
    longest_gap: Duration,
    guesses: HashSet<Origin>,
    excluded: Vec<String>,
    /// Cycles, oldest first; the last one counts from its first request on.
    cycles_said: Vec<SaidCycle>,
    cycle: Option<SaidCycle>,
    cycle_origins: HashSet<Origin>,
    cycle_pages: Vec<PageUrl>,
    num_cycle_sitemaps: usize,
    /// When the first and the last page request had their tickets, in the newest cycle that had any.
    cycle_span: Option<(Timestamp, Timestamp)>,
    /// Requests of all kinds over the whole run.
    pub num_requests: u64,
    /// Page requests over the whole run, those for sitemaps included.
    pub num_pages: u64,
    /// Those for sitemaps.
    pub num_sitemaps: u64,
}

impl Checker {
    pub fn new(promises: Promises) -> Self {
        Self {
            promises,
            open: None,
            memory: Memory::default(),
            robots: HashMap::new(),
            told_way: None,
            last_ended_at: None,
            last_gap: Duration::ZERO,
            longest_gap: Duration::ZERO,
            guesses: HashSet::new(),
            excluded: Vec::new(),
            cycles_said: Vec::new(),
            cycle: None,
            cycle_origins: HashSet::new(),
            cycle_pages: Vec::new(),
            num_cycle_sitemaps: 0,
            cycle_span: None,
            num_requests: 0,
            num_pages: 0,
            num_sitemaps: 0,
        }
    }

    /// Pages asked for in the cycle that is under way.
    pub fn cycle_pages(&self) -> &[PageUrl] {
        &self.cycle_pages
    }

    /// Sitemaps asked for in the cycle that is under way.
    pub fn num_cycle_sitemaps(&self) -> usize {
        self.num_cycle_sitemaps
    }

    /// Origins asked for anything in the cycle that is under way.
    pub fn cycle_origins(&self) -> &HashSet<Origin> {
        &self.cycle_origins
    }

    /// Whether the origin's robots.txt was ever read.
    pub fn was_read(&self, origin: &Origin) -> bool {
        self.robots.get(origin).is_some_and(|known| known.current.is_some())
    }

    /// The file last read of an origin, if there was one.
    pub fn file_of(&self, origin: &Origin) -> Option<&RobotsFile> {
        match &self.robots.get(origin)?.current.as_ref()?.rules {
            Rules::File(file) => Some(file),
            Rules::Open | Rules::Closed => None,
        }
    }

    /// A seed without a scheme was given; its https origin is a guess.
    pub fn guess(&mut self, origin: Origin) {
        self.guesses.insert(origin);
    }

    /// Page requests and those for sitemaps in the newest cycle; none where it has not asked for anything yet.
    pub fn num_cycle_requests(&self) -> usize {
        if self.cycles_said.is_empty() { self.cycle_pages.len() + self.num_cycle_sitemaps } else { 0 }
    }

    /// The state machine says that a cycle begins, and promises that no other one does before `next_at`.
    pub fn cycle_begins(&mut self, number: u32, at: Timestamp, next_at: Timestamp) -> Watched {
        let promised = next_at.since(at);
        if promised < self.promises.shortest_interval || promised > self.promises.longest_interval {
            return Err(format!("P1: cycle {number} promises an interval of {promised:?}"));
        }
        self.cycles_said.push(SaidCycle { number, at, next_at });
        Ok(())
    }

    /// A request leaves, by a ticket given a moment before; copies of robots.txt are judged as of then.
    pub fn request(&mut self, kind: RequestKind, url: &PageUrl, ticket_at: Timestamp, at: Timestamp) -> Watched {
        if let Some(open) = &self.open {
            return Err(format!("P2: {url} asked while {} is open", open.url));
        }
        if url.site() != self.promises.site {
            return Err(format!("P1: {url} asked on the account of {}", self.promises.site));
        }
        if self.covers(url.host()) {
            return Err(format!("P8: {url} asked though its host is excluded"));
        }
        if let Some((why, early)) = self.memory.held_at(at) {
            return Err(format!("{why}: {url} asked {} ms too soon", early.as_millis()));
        }
        self.count(kind, url, ticket_at)?;
        let told_way = self.told_way.take().filter(|way| way.asked.last() == Some(url));
        let way = match kind {
            RequestKind::Robots => Some(match told_way {
                Some(way) => way,
                None if *url == url.origin().robots_url() => Way { origin: url.origin(), asked: vec![url.clone()] },
                None => return Err(format!("P3: {url} asked as robots.txt, but no answer led there")),
            }),
            RequestKind::Page | RequestKind::Sitemap => {
                self.judge_page(url, ticket_at)?;
                None
            }
        };
        self.num_requests += 1;
        self.open = Some(OpenRequest { url: url.clone(), way });
        Ok(())
    }

    /// P1, and the origins of P3.
    fn count(&mut self, kind: RequestKind, url: &PageUrl, ticket_at: Timestamp) -> Watched {
        if let Some(said) = self.cycles_said.drain(..).next_back() {
            if let Some(last) = self.cycle.filter(|last| said.at < last.next_at) {
                return Err(format!("P1: {said:?} begins before the interval of {last:?} is over"));
            }
            self.cycle = Some(said);
            self.cycle_origins.clear();
            self.cycle_pages.clear();
            self.num_cycle_sitemaps = 0;
            self.memory.forget_barriers();
        }
        if self.cycle.is_none() {
            return Err(format!("P1: {url} asked outside any cycle"));
        }
        if !self.cycle_origins.contains(&url.origin()) {
            self.cycle_origins.insert(url.origin());
        }
        if self.cycle_origins.len() > 20 {
            return Err(format!("P3: {url} is of the 21st origin of the cycle"));
        }
        if kind.costs_budget() {
            self.span(url, ticket_at)?;
        }
        match kind {
            RequestKind::Robots => return Ok(()),
            RequestKind::Page => self.cycle_pages.push(url.clone()),
            RequestKind::Sitemap => {
                self.num_sitemaps += 1;
                self.num_cycle_sitemaps += 1;
            }
        }
        self.num_pages += 1;
        let num_so_far = self.cycle_pages.len() + self.num_cycle_sitemaps;
        if num_so_far > self.promises.budget {
            return Err(format!("P1: {url} is page request {num_so_far} of the cycle"));
        }
        if self.num_cycle_sitemaps > MOST_SITEMAPS {
            return Err(format!("P1: {url} is sitemap request {} of the cycle", self.num_cycle_sitemaps));
        }
        Ok(())
    }

    /// P1: no budget stands close behind another, however late the one before was spent.
    fn span(&mut self, url: &PageUrl, at: Timestamp) -> Watched {
        let is_first = self.cycle_pages.is_empty() && self.num_cycle_sitemaps == 0;
        let shortest = self.promises.shortest_interval;
        match self.cycle_span {
            Some((first, last)) if is_first && at < last.plus(shortest) => {
                return Err(format!("P1: {url} begins a budget, and the last one was spent from {first} to {last}"));
            }
            Some((first, _)) if !is_first => self.cycle_span = Some((first, at)),
            Some(_) | None => self.cycle_span = Some((at, at)),
        }
        Ok(())
    }

    fn judge_page(&self, url: &PageUrl, at: Timestamp) -> Watched {
        let known = self.robots.get(&url.origin());
        let Some((known, reading)) = known.and_then(|known| Some((known, known.current.as_ref()?))) else {
            return Err(format!("P3: {url} asked, but its origin's robots.txt was never read"));
        };
        let failing_for = known.failing_since.map(|since| at.since(since));
        let age = at.since(reading.at);
        // The first request after the file may come by it, however long the Crawl-delay before it.
        let is_first = self.last_ended_at.is_none_or(|ended_at| ended_at <= reading.kept_at);
        // Twice, since the crawler may stand on a rung of the ladder that the watcher does not hold it to.
        let is_held_up = at <= reading.kept_at.plus(2 * self.last_gap + HOUR / 6);
        let is_first_use = is_first && is_held_up && age <= DAY + HOUR / 6;
        if is_first_use {
            return judge_by(&reading.rules, url);
        }
        if age >= DAY && !failing_for.is_some_and(|span| span >= 12 * HOUR && span <= 30 * DAY) {
            return Err(format!("P3: {url} asked by a copy {} s old, unreadable for {failing_for:?}", age.as_secs()));
        }
        if age >= reading.ttl && known.last_failed_at.is_none_or(|failed| failed < reading.at.plus(reading.ttl)) {
            return Err(format!("P3: {url} asked by a copy that ran out, without a try at a new one"));
        }
        judge_by(&reading.rules, url)
    }

    fn covers(&self, host: &str) -> bool {
        self.excluded
            .iter()
            .any(|domain| host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    }

    /// The longest delay that the site's files ask for, as far as they were read.
    fn file_delay(&self) -> Duration {
        let readings = self.robots.values().filter_map(|known| known.current.as_ref());
        readings.map(|reading| reading.delay()).max().unwrap_or_default()
    }
}

fn judge_by(rules: &Rules, url: &PageUrl) -> Watched {
    match rules {
        Rules::Open => Ok(()),
        Rules::Closed => Err(format!("P3: {url} asked though its robots.txt is behind a login")),
        Rules::File(file) if file.permits(url.path_and_query()) => Ok(()),
        Rules::File(file) => Err(format!("P3: {url} asked against {file:?}")),
    }
}

impl Reading {
    fn delay(&self) -> Duration {
        match &self.rules {
            Rules::File(file) => file.delay(),
            Rules::Open | Rules::Closed => Duration::ZERO,
        }
    }
}
