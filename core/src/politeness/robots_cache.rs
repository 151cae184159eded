//! The robots cache of a site: which rules are in force for an origin, when its file must be asked for, and what an answer to that means.

use serde::{Deserialize, Serialize};

use super::{Arrival, HostState, MAX_SIDE_ORIGIN_ROBOTS_TRIES, SeedScheme};
use crate::ledger::{EndKind, RobotsGround, SiteEvent, TicketNumber, WaitReason};
use crate::origin::{Origin, Scheme};
use crate::outcome::{self, Answer, FetchFailure};
use crate::page_choice::DropReason;
use crate::response::ResponseHead;
use crate::robots::{self, InForce, RobotsPolicy, RobotsReading, RobotsVerdict};
use crate::time::Timestamp;
use crate::url::PageUrl;

/// While an old copy rules because the file cannot be read, it is asked for again no sooner than this after the wait.
const RETRY_BEHIND_A_COPY: std::time::Duration = std::time::Duration::from_secs(3600);

/// What an origin's robots.txt said when it last could be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsRules {
    /// A file.
    File(RobotsPolicy),
    /// No file: everything is allowed (RFC 9309 §2.3.1.3).
    NoFile {
        /// The status that said so.
        status: u16,
    },
    /// A login stands before it: nothing is allowed.
    Login {
        /// The status that said so.
        status: u16,
    },
}

/// A copy of the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsCopy {
    /// The rules.
    pub rules: RobotsRules,
    /// When they were read.
    pub fetched_at: Timestamp,
    /// When they must be read again: 24 h at most (RFC 9309 §2.4).
    pub expires_at: Timestamp,
}

/// What is known of one origin's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginRobots {
    /// The origin.
    pub origin: Origin,
    /// The newest copy.
    pub copy: Option<RobotsCopy>,
    /// Since when it could not be read, in a row.
    pub unreachable_since: Option<Timestamp>,
    /// It is not asked for again before this.
    pub retry_at: Timestamp,
    /// Failed tries in a row.
    pub num_failures: u8,
}

/// A robots.txt that redirects: the next hop to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RobotsHop {
    pub(super) origin: Origin,
    pub(super) next: PageUrl,
    pub(super) visited: Vec<PageUrl>,
}

/// How a request for robots.txt ended.
#[derive(Clone, Copy, Debug)]
pub enum RobotsEnd<'a> {
    /// An answer came.
    Answered {
        /// Its head.
        head: &'a ResponseHead,
        /// Its body, at most [`robots::MAX_ROBOTS_BYTES`].
        body: &'a [u8],
        /// The body is incomplete.
        cut: bool,
    },
    /// None came.
    Failed(FetchFailure),
}

/// Where a URL stands with robots.txt.
pub(super) enum Standing {
    /// The rules must be asked for first, there.
    Ask(PageUrl),
    Allowed(RobotsGround),
    Drop(DropReason),
}

impl OriginRobots {
    fn new(origin: Origin) -> Self {
        Self { origin, copy: None, unreachable_since: None, retry_at: Timestamp::EPOCH, num_failures: 0 }
    }

    /// The rules in force at `now`, if any are.
    pub fn rules_in_force(&self, now: Timestamp) -> Option<&RobotsRules> {
        let copy = self.copy.as_ref()?;
        match robots::rules_in_force(copy.fetched_at, self.unreachable_since, now) {
            InForce::Copy => Some(&copy.rules),
            InForce::DisallowAll => None,
        }
    }
}

impl HostState {
    pub(super) fn robots_of(&self, origin: &Origin) -> Option<&OriginRobots> {
        self.robots.iter().find(|robots| robots.origin == *origin)
    }

    fn robots_of_mut(&mut self, origin: &Origin) -> &mut OriginRobots {
        let place = self.robots.iter().position(|robots| robots.origin == *origin).unwrap_or_else(|| {
            self.robots.push(OriginRobots::new(origin.clone()));
            self.robots.len() - 1
        });
        &mut self.robots[place]
    }

    pub(super) fn robots_failed(&self, url: &PageUrl) -> bool {
        self.robots_of(&url.origin()).is_some_and(|robots| robots.num_failures > 0)
    }

    pub(super) fn robots_standing(&self, url: &PageUrl, now: Timestamp) -> Standing {
        let origin = url.origin();
        let Some(robots) = self.robots_of(&origin) else {
            return self.ask_robots(&origin);
        };
        let is_fresh = robots.copy.as_ref().is_some_and(|copy| now < copy.expires_at);
        if !is_fresh && now >= robots.retry_at {
            let given_up = robots.num_failures >= MAX_SIDE_ORIGIN_ROBOTS_TRIES && self.account.num_page_requests > 0;
            return if given_up { Standing::Drop(DropReason::RobotsUnreachable) } else { self.ask_robots(&origin) };
        }
        match robots.rules_in_force(now) {
            Some(rules) => rules.standing(url),
            None => self.ask_robots(&origin),
        }
    }

    fn ask_robots(&self, origin: &Origin) -> Standing {
        let fingerprint = origin.home().fingerprint();
        let asked = &self.account.robots_origins;
        if asked.len() >= self.rules.max_origins && !asked.contains(&fingerprint) {
            return Standing::Drop(DropReason::TooManyOrigins);
        }
        Standing::Ask(origin.robots_url())
    }

    /// The request for a robots.txt ended.
    pub fn on_robots(&mut self, ticket: TicketNumber, end: RobotsEnd<'_>, arrival: Arrival) {
        let Some(open) = self.account.open.as_ref().filter(|open| open.ticket == ticket) else { return };
        let asked = open.url.clone();
        let hop = self.robots_hop.take();
        let origin = hop.as_ref().map_or_else(|| asked.origin(), |hop| hop.origin.clone());
        let mut visited = hop.map(|hop| hop.visited).unwrap_or_default();
        visited.push(asked.clone());
        let (kind, reading, retry_after) = match end {
            RobotsEnd::Answered { head, body, cut } => {
                let retry_after = match outcome::classify(head, &asked, arrival.at) {
                    Answer::Busy { retry_after, .. } => retry_after,
                    _ => None,
                };
                let reading = robots::read_answer(head, body, cut, &visited, &self.rules.product_token);
                (EndKind::Answered(head.status), reading, retry_after)
            }
            RobotsEnd::Failed(failure) => {
                if failure.nothing_answered() && self.drop_guessed_scheme(&origin) {
                    self.record_outcome(ticket, EndKind::Failed(failure), arrival);
                    return;
                }
                (EndKind::Failed(failure), RobotsReading::Unreachable, None)
            }
        };
        let rules = match reading {
            RobotsReading::Rules(policy) => Ok(RobotsRules::File(policy)),
            RobotsReading::NoRules { status } => Ok(RobotsRules::NoFile { status }),
            RobotsReading::DisallowAll { status } => Ok(RobotsRules::Login { status }),
            RobotsReading::Hop(next) if self.exclusions.covers_host(next.host()) => Err(()),
            RobotsReading::Hop(next) => {
                self.robots_hop = Some(RobotsHop { origin, next, visited });
                self.record_outcome(ticket, kind, arrival);
                return;
            }
            RobotsReading::Unreachable => Err(()),
        };
        match rules {
            Ok(rules) => {
                let ttl = match end {
                    RobotsEnd::Answered { head, .. } => robots::time_to_live(head),
                    RobotsEnd::Failed(_) => robots::MAX_TTL,
                };
                let (fetched_at, expires_at) = (arrival.at, arrival.at.plus(ttl));
                let robots = self.robots_of_mut(&origin);
                robots.copy = Some(RobotsCopy { rules, fetched_at, expires_at });
                robots.unreachable_since = None;
                robots.num_failures = 0;
                robots.retry_at = Timestamp::EPOCH;
                // The outcome comes after the new rules: its delay knows their Crawl-delay.
                self.record_outcome(ticket, kind, arrival);
                self.forgive(arrival.at);
            }
            Err(()) => {
                self.record_outcome(ticket, kind, arrival);
                let until = self.back_off(retry_after, WaitReason::RobotsUnreachable, arrival);
                let robots = self.robots_of_mut(&origin);
                robots.unreachable_since.get_or_insert(arrival.at);
                robots.num_failures = robots.num_failures.saturating_add(1);
                robots.retry_at = match robots.rules_in_force(until) {
                    Some(_) => until.plus(RETRY_BEHIND_A_COPY),
                    None => until,
                };
            }
        }
    }

    /// Where `origin` came from a seed whose https was a guess: all its URLs change to http. False if it was no guess.
    fn drop_guessed_scheme(&mut self, origin: &Origin) -> bool {
        let guessed =
            |seed: &super::Seed| seed.scheme == SeedScheme::Guessed && seed.url.origin() == *origin;
        if origin.scheme() != Scheme::Https || !self.seeds.iter().any(guessed) {
            return false;
        }
        let to_http = |url: &PageUrl| if url.origin() == *origin { url.with_scheme(Scheme::Http) } else { None };
        for seed in &mut self.seeds {
            if let Some(url) = to_http(&seed.url) {
                seed.url = url;
                seed.scheme = SeedScheme::Written;
            }
        }
        self.queue.rewrite(to_http);
        true
    }

    /// The longest Crawl-delay among the site's files, capped.
    pub(super) fn crawl_delay(&self) -> Option<std::time::Duration> {
        let of_copy = |copy: &RobotsCopy| match &copy.rules {
            RobotsRules::File(policy) => policy.crawl_delay(),
            RobotsRules::NoFile { .. } | RobotsRules::Login { .. } => None,
        };
        let longest = self.robots.iter().filter_map(|robots| robots.copy.as_ref()).filter_map(of_copy).max();
        longest.map(|delay| delay.min(self.rules.max_crawl_delay))
    }
}

impl RobotsRules {
    fn standing(&self, url: &PageUrl) -> Standing {
        match self {
            Self::NoFile { .. } => Standing::Allowed(RobotsGround::NoRule),
            Self::Login { status } => {
                Standing::Drop(DropReason::Robots { line: 0, text: format!("robots.txt answered {status}: a login") })
            }
            Self::File(policy) => match policy.verdict(url.path_and_query()) {
                RobotsVerdict::Allowed(ground) => Standing::Allowed(ground),
                RobotsVerdict::Disallowed { number, text } => Standing::Drop(DropReason::Robots { line: number, text }),
            },
        }
    }
}
