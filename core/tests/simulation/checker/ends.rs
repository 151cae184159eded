//! How requests end, what is left out, and what a crash takes: each lays something on what may be asked next.

use std::time::Duration;

use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::outcome::ResolveFailure;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::{Checker, DAY, HOUR, LentFile, OpenRequest, Reading, Rules, Survivors, Watched, Way};
use crate::replies::{PageReply, PageSaid, RobotsReply, RobotsSaid};

/// After a request, five times as long as it took, up to a minute.
const ADAPTIVE: (u32, Duration) = (5, Duration::from_secs(60));
/// Redirects that a robots.txt may take.
const MAX_HOPS: usize = 5;

impl Checker {
    /// The open robots request was answered, or not.
    pub fn robots_ended(&mut self, reply: &RobotsReply, at: Timestamp, took: Duration) {
        let Some(OpenRequest { way, .. }) = self.open.take() else { return };
        // Without a way its origin was excluded meanwhile: the answer says nothing, but the request was one.
        if let Some(mut way) = way {
            match &reply.said {
                RobotsSaid::Rules(file) => self.read(&way, Rules::File(file.clone()), reply.ttl, at),
                RobotsSaid::NoRules => self.read(&way, Rules::Open, reply.ttl, at),
                RobotsSaid::Closed => self.read(&way, Rules::Closed, reply.ttl, at),
                RobotsSaid::Moved(target) if self.may_go_on(&way, target) => {
                    way.asked.push(target.clone());
                    self.told_way = Some(way);
                    self.hold_gap(at, took);
                }
                RobotsSaid::Elsewhere(target) if way.asked.len() <= MAX_HOPS => {
                    way.asked.push(target.clone());
                    self.told_way = Some(way);
                    self.hold_gap(at, took);
                }
                RobotsSaid::NothingThere if way.asked.len() == 1 && self.drop_guess(&way.origin) => {
                    self.hold_gap(at, took)
                }
                RobotsSaid::Moved(_) | RobotsSaid::Elsewhere(_) | RobotsSaid::Unreadable | RobotsSaid::NothingThere => {
                    self.hold_gap(at, took);
                    self.unreadable(&way.origin, at);
                }
            }
            if matches!(reply.said, RobotsSaid::Rules(_) | RobotsSaid::NoRules | RobotsSaid::Closed) {
                self.hold_gap(at, took);
                self.memory.descend();
            }
        } else {
            self.hold_gap(at, took);
        }
        self.hold_told(reply.wait_until);
    }

    /// Another site told what its robots.txt came to, to which this one's redirects.
    pub fn borrowed(&mut self, lent: Option<&LentFile>, at: Timestamp) {
        let Some(way) = self.told_way.take() else { return };
        match lent {
            Some(lent) if way.asked.len() - 1 + lent.num_hops <= MAX_HOPS => {
                let (file, ttl) = (Rules::File(lent.file.clone()), lent.ttl);
                self.keep(&way, Reading { at: lent.read_at, kept_at: at, ttl, rules: file });
                let file_delay = self.file_delay();
                if let Some(ended_at) = self.last_ended_at {
                    self.memory.hold_gap(ended_at, Duration::ZERO, file_delay);
                    self.last_gap = self.last_gap.max(file_delay);
                }
            }
            Some(_) | None => self.unreadable(&way.origin, at),
        }
    }

    /// The other way round: what this site told another of `origin`'s file, read at `read_at`, must be what it knows.
    pub fn lent(&self, origin: &Origin, read_at: Option<Timestamp>, at: Timestamp) -> Watched {
        let current = self.robots.get(origin).and_then(|known| known.current.as_ref());
        match (read_at, current) {
            (None, _) => Ok(()),
            (Some(read_at), Some(reading)) if reading.at == read_at && at < read_at.plus(reading.ttl) => Ok(()),
            (Some(read_at), _) => Err(format!("P3: {origin}'s file as of {read_at} was lent, known is {current:?}")),
        }
    }

    /// The open page request was answered, or not.
    pub fn page_ended(&mut self, reply: &PageReply, at: Timestamp, took: Duration) {
        let Some(OpenRequest { url, .. }) = self.open.take() else { return };
        self.hold_gap(at, took);
        self.hold_told(reply.wait_until);
        match reply.said {
            PageSaid::Good => self.memory.descend(),
            PageSaid::Busy | PageSaid::Silent | PageSaid::BusyBarrier => self.memory.climb(at),
            PageSaid::Barrier | PageSaid::Other => {}
        }
        match reply.said {
            PageSaid::Barrier | PageSaid::BusyBarrier => {
                if self.memory.count_barrier() >= 3 || url.is_home() {
                    self.memory.hold(at.plus(7 * DAY), "P5 barrier");
                }
            }
            PageSaid::Good | PageSaid::Busy | PageSaid::Silent | PageSaid::Other => self.memory.forget_barriers(),
        }
    }

    /// The request of the open ticket was broken off, or never left.
    pub fn aborted(&mut self, at: Timestamp) {
        self.open = None;
        self.hold_gap(at, Duration::ZERO);
    }

    /// No address could be had to ask `url`; `is_sole_host` if the site has no other.
    pub fn unresolved(&mut self, url: &PageUrl, failure: &ResolveFailure, at: Timestamp, is_sole_host: bool) {
        if let Some(way) = self.told_way.take().filter(|way| way.asked.last() == Some(url)) {
            return self.unreadable(&way.origin, at);
        }
        match failure {
            ResolveFailure::NameServers => self.unreadable(&url.origin(), at),
            ResolveFailure::NoSuchName if is_sole_host => self.memory.hold(at.plus(HOUR), "no such name"),
            ResolveFailure::NoSuchName | ResolveFailure::AddressRefused(_) => {}
        }
    }

    /// These domains are out now, and no others.
    pub fn exclude(&mut self, domains: Vec<String>) {
        self.excluded = domains;
        let covered: Vec<Origin> = self.robots.keys().filter(|origin| self.covers(origin.host())).cloned().collect();
        for origin in covered {
            let known = self.robots.entry(origin).or_default();
            (known.current, known.failing_since, known.last_failed_at) = (None, None, None);
        }
        if self.told_way.as_ref().is_some_and(|way| self.touches(way)) {
            self.told_way = None;
        }
        if let Some(mut open) = self.open.take() {
            if open.way.as_ref().is_some_and(|way| self.covers(way.origin.host())) {
                let own = open.url.origin();
                let is_own = open.url == own.robots_url();
                open.way = is_own.then(|| Way { origin: own, asked: vec![open.url.clone()] });
            }
            self.open = Some(open);
        }
    }

    /// This many events were written since the last call.
    pub fn wrote(&mut self, num: u64) {
        self.memory.wrote(num);
    }

    /// The first `num` events are on the disk.
    pub fn durable(&mut self, num: u64) {
        self.memory.durable(num);
    }

    /// The crawler crashed; it starts again at `at` with what is left.
    pub fn restarted(&mut self, survivors: &Survivors, at: Timestamp) {
        self.open = None;
        self.told_way = None;
        let known_delay = self.memory.crash(survivors.num_events, survivors.account_expired);
        let survived = |origin: &Origin| survivors.robots.iter().find(|(of, ..)| of == origin);
        for (origin, known) in &mut self.robots {
            let (read_at, failing_since) =
                survived(origin).map_or((None, None), |(_, read, failing)| (*read, *failing));
            known.current = known.past.iter().rev().find(|reading| Some(reading.at) == read_at).cloned();
            known.failing_since = failing_since;
            known.last_failed_at = known.newest_failure_at.filter(|_| failing_since.is_some());
        }
        self.cycles_said.retain(|said| said.number <= survivors.cycle);
        self.guesses = survivors.guesses.iter().cloned().collect();
        if survivors.open {
            self.memory.hold_gap(at, self.promises.min_delay, self.file_delay());
            self.memory.hold(at.plus(known_delay), "P2 delay");
            // The crawler keeps the delay that it knew of, and that may be one of before.
            self.last_gap = self.longest_gap;
        }
    }

    fn read(&mut self, way: &Way, rules: Rules, ttl: Duration, at: Timestamp) {
        self.keep(way, Reading { at, kept_at: at, ttl, rules });
    }

    fn keep(&mut self, way: &Way, reading: Reading) {
        let known = self.robots.entry(way.origin.clone()).or_default();
        known.past.push(reading.clone());
        if known.past.len() > 200 {
            known.past.drain(..100);
        }
        known.current = Some(reading);
        known.failing_since = None;
    }

    fn unreadable(&mut self, origin: &Origin, at: Timestamp) {
        let known = self.robots.entry(origin.clone()).or_default();
        known.failing_since.get_or_insert(at);
        (known.last_failed_at, known.newest_failure_at) = (Some(at), Some(at));
        self.memory.climb(at);
    }

    fn may_go_on(&self, way: &Way, target: &PageUrl) -> bool {
        let has_room = self.cycle_origins.len() < 20 || self.cycle_origins.contains(&target.origin());
        way.asked.len() <= MAX_HOPS && !way.asked.contains(target) && !self.covers(target.host()) && has_room
    }

    fn drop_guess(&mut self, origin: &Origin) -> bool {
        let was_read = self.robots.get(origin).is_some_and(|known| known.current.is_some());
        !was_read && self.guesses.remove(origin)
    }

    fn touches(&self, way: &Way) -> bool {
        self.covers(way.origin.host()) || way.asked.last().is_some_and(|next| self.covers(next.host()))
    }

    fn hold_gap(&mut self, at: Timestamp, took: Duration) {
        let (times, most) = ADAPTIVE;
        let usual = self.promises.min_delay.max((took * times).min(most));
        let file_delay = self.file_delay();
        self.last_ended_at = Some(at);
        self.last_gap = usual.max(file_delay);
        self.longest_gap = self.longest_gap.max(self.last_gap);
        self.memory.hold_gap(at, usual, file_delay);
    }

    fn hold_told(&mut self, until: Option<Timestamp>) {
        if let Some(until) = until {
            self.memory.hold(until, "P4 Retry-After");
        }
    }
}
