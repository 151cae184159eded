//! The robots cache of a site: which rules are in force for an origin, when its file must be asked for, and what an answer to that means.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Arrival, HostState, LentRobots, MAX_SIDE_ORIGIN_ROBOTS_TRIES, Seed, SeedScheme};
use crate::codec::{self, CodecError, Stored};
use crate::ledger::{EndKind, RobotsGround, TicketNumber, WaitReason};
use crate::origin::{Origin, Scheme};
use crate::outcome::FetchFailure;
use crate::page_choice::{DropReason, EntryStanding, FrontierEntry};
use crate::response::ResponseHead;
use crate::retry_after;
use crate::robots::status::{
    self, BodyEnd, InForce, RobotsAnswer, RobotsHops, RobotsReading, UnreachableReason, Validators,
};
use crate::robots::{RobotsBasis, RobotsPolicy, RobotsRefusal, RobotsVerdict};
use crate::site_row::RobotsCopy;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// A copy that no request followed yet counts for the first one though its time ran out, if the delay alone made it run out: until so
/// long after the delay, and for no more than a day and so long.
///
/// A Crawl-delay may be longer than the time that the file may be kept, and as long as a day. Without this such a site would be asked
/// for nothing but its robots.txt, again and again.
const FIRST_USE_GRACE: Duration = Duration::from_secs(10 * 60);

/// While an old copy rules because the file cannot be read, it is asked for again no sooner than this after the wait.
const RETRY_BEHIND_A_COPY: Duration = Duration::from_secs(3600);

/// A copy of an origin's rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyCopy {
    /// The rules, or what stands for them where there is no file.
    pub policy: RobotsPolicy,
    /// When they were read.
    pub fetched_at: Timestamp,
    /// When they must be read again: 24 h at most (RFC 9309 §2.4), but for their first use after a long delay.
    pub expires_at: Timestamp,
    /// Redirects that led to them.
    pub num_hops: u8,
    /// When this site got them: as they were read, or later, where another site lent them.
    pub kept_at: Timestamp,
}

/// What is known of one origin's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginRobots {
    /// The origin.
    pub origin: Origin,
    /// The newest copy.
    pub copy: Option<PolicyCopy>,
    /// Since when it could not be read, in a row.
    pub unreachable_since: Option<Timestamp>,
    /// It is not asked for again before this.
    pub retry_at: Timestamp,
    /// Failed tries in a row.
    pub num_failures: u8,
}

/// The way of a robots.txt that redirects; its rules are those of the origin where it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RobotsWay {
    pub(super) origin: Origin,
    pub(super) hops: RobotsHops,
}

/// How a request for robots.txt ended.
#[derive(Clone, Copy, Debug)]
pub enum RobotsEnd<'a> {
    /// An answer came.
    Answered {
        /// Its head.
        head: &'a ResponseHead,
        /// Its body, at most [`MAX_ROBOTS_BYTES`](crate::robots::MAX_ROBOTS_BYTES).
        body: &'a [u8],
        /// Whether the body came to its end.
        body_end: BodyEnd,
    },
    /// None came.
    Failed(FetchFailure),
}

impl RobotsEnd<'_> {
    /// The same in a word.
    fn kind(&self) -> EndKind {
        match self {
            Self::Answered { head, .. } => EndKind::Answered(head.status),
            Self::Failed(failure) => EndKind::Failed(*failure),
        }
    }
}

/// Whether a URL that waits may be asked for, by robots.txt and by what is left of the cycle.
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
    pub fn rules_in_force(&self, now: Timestamp) -> Option<&RobotsPolicy> {
        let copy = self.copy.as_ref().map(|copy| (&copy.policy, copy.fetched_at));
        match status::rules_in_force(copy, self.unreachable_since, now) {
            InForce::Copy(policy) => Some(policy),
            InForce::AskFirst | InForce::DisallowAll => None,
        }
    }

    /// The form in which it is stored; none where it is too large, then it is asked for again.
    pub fn to_stored(&self) -> Option<RobotsCopy> {
        Some(RobotsCopy { origin: self.origin.clone(), bytes: codec::encode(self).ok()? })
    }

    /// Back from that form; none where it does not read, then it is asked for again.
    pub fn from_stored(copy: &RobotsCopy) -> Option<Self> {
        codec::decode(&copy.bytes).ok()
    }
}

impl Stored for OriginRobots {
    const VERSION: u8 = 2;

    fn from_older(version: u8, body: &[u8]) -> Result<Self, CodecError> {
        match version {
            1 => codec::decode_body::<OriginRobotsV1>(body).map(Self::from),
            found => Err(CodecError::UnknownVersion { found, known: Self::VERSION }),
        }
    }
}

/// The form of version 1, which did not count redirects.
#[derive(Serialize, Deserialize)]
struct OriginRobotsV1 {
    origin: Origin,
    copy: Option<(RobotsPolicy, Timestamp, Timestamp)>,
    unreachable_since: Option<Timestamp>,
    retry_at: Timestamp,
    num_failures: u8,
}

impl From<OriginRobotsV1> for OriginRobots {
    fn from(old: OriginRobotsV1) -> Self {
        let OriginRobotsV1 { origin, copy, unreachable_since, retry_at, num_failures } = old;
        let copy = copy.map(|(policy, fetched_at, expires_at)| {
            let (num_hops, kept_at) = (0, fetched_at);
            PolicyCopy { policy, fetched_at, expires_at, num_hops, kept_at }
        });
        Self { origin, copy, unreachable_since, retry_at, num_failures }
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

    pub(super) fn any_robots_failed(&self) -> bool {
        self.robots.iter().any(|robots| robots.num_failures > 0)
    }

    /// A new cycle gives every origin its tries again.
    pub(super) fn forget_robots_failures(&mut self) {
        for robots in &mut self.robots {
            robots.num_failures = 0;
        }
    }

    /// The origin answers.
    pub(super) fn forget_robots_failures_of(&mut self, origin: &Origin) {
        if let Some(robots) = self.robots.iter_mut().find(|robots| robots.origin == *origin) {
            robots.num_failures = 0;
        }
    }

    pub(super) fn robots_standing(&self, url: &PageUrl, now: Timestamp) -> Standing {
        let origin = url.origin();
        if !self.may_ask_origin(&origin) {
            return Standing::Drop(DropReason::TooManyOrigins);
        }
        let ask = Standing::Ask(origin.robots_url());
        let Some(robots) = self.robots_of(&origin) else { return ask };
        if let Some(copy) = robots.copy.as_ref().filter(|copy| self.is_unused(copy, now)) {
            return standing_of(&copy.policy, url);
        }
        let is_fresh = robots.copy.as_ref().is_some_and(|copy| now < copy.expires_at);
        let has_failed_often = robots.num_failures >= MAX_SIDE_ORIGIN_ROBOTS_TRIES;
        // Of an origin that has a copy, that copy may come to rule again (RFC 9309 §2.4).
        let given_up = has_failed_often && robots.copy.is_none() && self.account.num_page_requests > 0;
        match robots.rules_in_force(now) {
            Some(_) if !is_fresh && now >= robots.retry_at => ask,
            Some(policy) => standing_of(policy, url),
            None if given_up => Standing::Drop(DropReason::RobotsUnreachable),
            None => ask,
        }
    }

    /// Whether no request followed this copy yet, and it is not too old for its first use (see [`FIRST_USE_GRACE`]).
    fn is_unused(&self, copy: &PolicyCopy, now: Timestamp) -> bool {
        let is_first = self.account.last_ended_at.is_none_or(|ended_at| ended_at <= copy.kept_at);
        let is_held_up = now <= copy.kept_at.plus(self.account.delay).plus(FIRST_USE_GRACE);
        is_first && is_held_up && now.since(copy.fetched_at) <= status::MAX_COPY_TTL + FIRST_USE_GRACE
    }

    /// Whether the cycle has room for requests to this origin, robots.txt included (P3).
    pub(super) fn may_ask_origin(&self, origin: &Origin) -> bool {
        let asked = &self.account.robots_origins;
        asked.len() < usize::from(self.rules.budget.origins()) || asked.contains(&origin.home().fingerprint())
    }

    /// A robots.txt answered with 403 may announce a barrier: then the home page of its origin goes before `url`.
    pub(super) fn home_before(&mut self, url: &PageUrl) -> Option<PageUrl> {
        let copy = self.robots_of(&url.origin())?.copy.as_ref()?;
        if copy.policy.basis() != (RobotsBasis::NoFile { status: 403 }) {
            return None;
        }
        let home = url.origin().home();
        self.queue.add(home.clone(), 0, 0, self.rules.max_queued_urls);
        let entry = self.queue.get(&home)?;
        (entry.standing == EntryStanding::Queued && entry.num_tries == 0).then_some(home)
    }

    /// The request for a robots.txt ended.
    pub fn on_robots(&mut self, ticket: TicketNumber, end: RobotsEnd<'_>, arrival: Arrival) {
        let Some(open) = self.account.open.as_ref().filter(|open| open.ticket == ticket) else { return };
        let asked = open.url.clone();
        let own_way = || {
            let origin = asked.origin();
            let way = RobotsWay { hops: RobotsHops::from_origin(&origin), origin };
            (*way.hops.current() == asked).then_some(way)
        };
        let Some(mut way) = self.robots_way.take().or_else(own_way) else {
            // The origin where the way began was excluded meanwhile: the answer says nothing about any other.
            self.record_outcome(ticket, end.kind(), arrival);
            return self.wait_if_asked(end, arrival);
        };
        let end_kind = end.kind();
        let reading = match end {
            RobotsEnd::Answered { head, body, body_end } => {
                let answer = RobotsAnswer { head, body, body_end, validators: Validators::NotSent };
                status::read_answer(&way.hops, &answer, &self.rules.product_token)
            }
            RobotsEnd::Failed(failure) => {
                if failure.nothing_answered() && way.hops.num_hops() == 0 && self.drop_guessed_scheme(&way.origin) {
                    self.lend(&way.origin, LentRobots::Unreachable);
                    self.record_outcome(ticket, end_kind, arrival);
                    return;
                }
                RobotsReading::Unreachable(UnreachableReason::Failed(failure))
            }
        };
        match reading {
            RobotsReading::Hop(next) | RobotsReading::OtherSite(next) if self.may_go_on_to(&next) => {
                way.hops.follow(next);
                self.robots_way = Some(way);
                self.record_outcome(ticket, end_kind, arrival);
                self.wait_if_asked(end, arrival);
            }
            RobotsReading::Hop(_)
            | RobotsReading::OtherSite(_)
            | RobotsReading::Unchanged
            | RobotsReading::Unreachable(_) => self.on_robots_unreachable(ticket, &way.origin, end, end_kind, arrival),
            RobotsReading::Rules(_) | RobotsReading::NoRules(_) | RobotsReading::DisallowAll(_) => {
                if let (Some(policy), RobotsEnd::Answered { head, .. }) = (reading.into_policy(), end) {
                    let expires_at = arrival.at.plus(status::copy_ttl(head));
                    let (fetched_at, kept_at, num_hops) = (arrival.at, arrival.at, way.hops.num_hops() as u8);
                    self.keep_copy(&way.origin, PolicyCopy { policy, fetched_at, expires_at, num_hops, kept_at });
                }
                // The outcome comes after the new rules: its delay knows their Crawl-delay.
                self.record_outcome(ticket, end_kind, arrival);
                self.forgive(arrival.at);
                self.wait_if_asked(end, arrival);
            }
        }
    }

    /// Whether a redirect of a robots.txt is followed. What lies on another site is that site's own to ask for, if it may be asked.
    fn may_go_on_to(&self, next: &PageUrl) -> bool {
        let is_own = self.site.contains_host(next.host());
        !is_own || (!self.exclusions.covers_host(next.host()) && self.may_ask_origin(&next.origin()))
    }

    /// Retry-After is obeyed whatever else the answer says (P4).
    fn wait_if_asked(&mut self, end: RobotsEnd<'_>, arrival: Arrival) {
        if let Some(span) = retry_after_of(end, arrival) {
            self.wait_for(span, WaitReason::RetryAfter, arrival.at);
        }
    }

    pub(super) fn keep_copy(&mut self, origin: &Origin, copy: PolicyCopy) {
        self.lend(origin, LentRobots::Read(Box::new(copy.clone())));
        let robots = self.robots_of_mut(origin);
        robots.copy = Some(copy);
        robots.unreachable_since = None;
        robots.num_failures = 0;
        robots.retry_at = Timestamp::EPOCH;
        self.judge_again(origin);
        self.queue_named_sitemaps(origin);
    }

    /// A tightened file holds for what is stored and queued already: pages that it forbids now give their records up, and leave the
    /// queue, at once.
    fn judge_again(&mut self, origin: &Origin) {
        let Some(copy) = self.robots_of(origin).and_then(|robots| robots.copy.as_ref()) else { return };
        let is_open = |entry: &&FrontierEntry| entry.has_record || entry.standing == EntryStanding::Queued;
        let of_origin = self.queue.entries().iter().filter(is_open).filter(|entry| entry.url.origin() == *origin);
        let judged = of_origin.map(|entry| (entry.url.clone(), standing_of(&copy.policy, &entry.url)));
        let forbidden = judged.filter_map(|(url, standing)| match standing {
            Standing::Drop(reason) => Some((url, reason)),
            Standing::Allowed(_) | Standing::Ask(_) => None,
        });
        for (url, reason) in forbidden.collect::<Vec<_>>() {
            self.drop_url(&url, reason);
        }
    }

    fn on_robots_unreachable(
        &mut self,
        ticket: TicketNumber,
        origin: &Origin,
        end: RobotsEnd<'_>,
        end_kind: EndKind,
        arrival: Arrival,
    ) {
        self.record_outcome(ticket, end_kind, arrival);
        self.note_robots_unreachable(origin, retry_after_of(end, arrival), WaitReason::RobotsUnreachable, arrival);
    }

    /// The robots.txt of `origin` cannot be read: the site waits.
    pub(super) fn note_robots_unreachable(
        &mut self,
        origin: &Origin,
        retry_after: Option<Duration>,
        reason: WaitReason,
        arrival: Arrival,
    ) {
        self.lend(origin, LentRobots::Unreachable);
        let until = self.back_off(retry_after, reason, arrival);
        let robots = self.robots_of_mut(origin);
        robots.unreachable_since.get_or_insert(arrival.at);
        robots.num_failures = robots.num_failures.saturating_add(1);
        let had_run_out = robots.copy.as_ref().is_none_or(|copy| arrival.at >= copy.expires_at);
        robots.retry_at = match robots.rules_in_force(until) {
            Some(_) if had_run_out => until.plus(RETRY_BEHIND_A_COPY),
            Some(_) | None => until,
        };
    }

    /// Where `origin` came from a seed whose https was a guess: all its URLs change to http. False if it was no guess, or one that
    /// turned out right before.
    fn drop_guessed_scheme(&mut self, origin: &Origin) -> bool {
        let guessed = |seed: &Seed| seed.scheme == SeedScheme::Guessed && seed.url.origin() == *origin;
        let was_read = self.robots_of(origin).is_some_and(|robots| robots.copy.is_some());
        if origin.scheme() != Scheme::Https || was_read || !self.seeds.iter().any(guessed) {
            return false;
        }
        let to_http = |url: &PageUrl| if url.origin() == *origin { with_scheme(url, Scheme::Http) } else { None };
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
    pub(super) fn crawl_delay(&self) -> Option<Duration> {
        let policies = self.robots.iter().filter_map(|robots| robots.copy.as_ref()).map(|copy| &copy.policy);
        policies.filter_map(RobotsPolicy::crawl_delay).max().map(|delay| delay.min(self.rules.max_crawl_delay))
    }
}

/// The wait that the answer asks for, if one came.
fn retry_after_of(end: RobotsEnd<'_>, arrival: Arrival) -> Option<Duration> {
    match end {
        RobotsEnd::Answered { head, .. } => retry_after::wait_of(head, arrival.at),
        RobotsEnd::Failed(_) => None,
    }
}

/// A page that search may not use (`Content-Usage` with `search=n`) counts as noindex, so it is not even asked for.
fn standing_of(policy: &RobotsPolicy, url: &PageUrl) -> Standing {
    match policy.verdict(url) {
        RobotsVerdict::Allowed(ground) => match policy.search_usage_forbidden(url.path_and_query()) {
            Some(line) => Standing::Drop(DropReason::Robots { line: line.number, text: line.text }),
            None => Standing::Allowed(ground),
        },
        RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) => {
            Standing::Drop(DropReason::Robots { line: line.number, text: line.text })
        }
        RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status }) => {
            Standing::Drop(DropReason::RobotsLogin { status })
        }
    }
}

/// The same URL with another scheme, its port kept where one is written.
fn with_scheme(url: &PageUrl, scheme: Scheme) -> Option<PageUrl> {
    let mut changed = url.as_url().clone();
    changed.set_scheme(scheme.as_str()).ok()?;
    PageUrl::from_url(changed).ok()
}
