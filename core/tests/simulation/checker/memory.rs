//! What the watcher holds the crawler to over time, and what a crash takes from that.
//!
//! Every hold is carried by ledger events. The carrier tells how many events each step wrote; a hold whose events a crash took is gone.

use std::collections::VecDeque;
use std::time::Duration;

use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::time::Timestamp;

/// The rung where the ladder ends: 60 s doubled eleven times is past a day.
const LADDER_TOP: u32 = 12;

/// What outlived a crash.
#[derive(Clone, Debug, Default)]
pub struct Survivors {
    /// Ledger events that did, counted over the whole run.
    pub num_events: u64,
    /// The newest cycle that the ledger knows of.
    pub cycle: u32,
    /// Nothing of the account had to be kept any longer, and nothing was.
    pub account_expired: bool,
    /// A ticket was found open.
    pub open: bool,
    /// Copies of robots.txt: whose, when read, since when unreadable.
    pub robots: Vec<(Origin, Option<Timestamp>, Option<Timestamp>)>,
    /// Origins that are a guess (again).
    pub guesses: Vec<Origin>,
}

/// The first and the last event that carry something; none while they are being written.
type Events = Option<(u64, u64)>;

#[derive(Clone, Debug)]
struct Hold {
    until: Timestamp,
    why: &'static str,
    events: Events,
}

#[derive(Clone, Debug)]
struct RungStep {
    before: u32,
    after: u32,
    events: Events,
}

/// Waits, rungs and barriers.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    holds: Vec<Hold>,
    /// At most the rung where the crawler stands.
    rung: u32,
    rung_steps: VecDeque<RungStep>,
    /// The site's own delay after its last requests.
    file_delays: VecDeque<(Duration, Events)>,
    durable_file_delay: Duration,
    num_barriers: u32,
    num_events: u64,
}

impl Memory {
    /// Why and by how much a request at `at` is too early.
    pub fn held_at(&mut self, at: Timestamp) -> Option<(&'static str, Duration)> {
        self.holds.retain(|hold| hold.until > at);
        self.holds.iter().max_by_key(|hold| hold.until).map(|hold| (hold.why, hold.until.since(at)))
    }

    pub fn hold(&mut self, until: Timestamp, why: &'static str) {
        self.holds.push(Hold { until, why, events: None });
    }

    /// P2: the gap after a request, or a restart, at `at`.
    pub fn hold_gap(&mut self, at: Timestamp, usual: Duration, file_delay: Duration) {
        let gap = usual.max(file_delay);
        let gap = if self.rung > 0 { gap * 2 } else { gap };
        self.hold(at.plus(gap), "P2 delay");
        self.file_delays.push_back((file_delay, None));
    }

    /// P4: one rung up.
    pub fn climb(&mut self, at: Timestamp) {
        self.step_to((self.rung + 1).min(LADDER_TOP));
        let span = Duration::from_secs(60 << (self.rung - 1)).min(Duration::from_secs(86_400));
        self.hold(at.plus(span), "P4 backoff");
    }

    /// One rung down.
    pub fn descend(&mut self) {
        self.step_to(self.rung.saturating_sub(1));
    }

    fn step_to(&mut self, rung: u32) {
        self.rung_steps.push_back(RungStep { before: self.rung, after: rung, events: None });
        self.rung = rung;
    }

    /// Counts a barrier, and gives how many stand in a row.
    pub fn count_barrier(&mut self) -> u32 {
        self.num_barriers += 1;
        self.num_barriers
    }

    pub fn forget_barriers(&mut self) {
        self.num_barriers = 0;
    }

    /// `num` events were written since the last call; they carry what was noted since.
    pub fn wrote(&mut self, num: u64) {
        let written = (self.num_events + num.min(1), self.num_events + num);
        self.num_events += num;
        let holds = self.holds.iter_mut().map(|hold| &mut hold.events);
        let steps = self.rung_steps.iter_mut().map(|step| &mut step.events);
        let delays = self.file_delays.iter_mut().map(|(_, events)| events);
        for events in holds.chain(steps).chain(delays) {
            events.get_or_insert(written);
        }
    }

    /// The first `num` events are on the disk for good.
    pub fn durable(&mut self, num: u64) {
        let is_durable = |events: Events| events.is_some_and(|(_, last)| last <= num);
        while self.rung_steps.front().is_some_and(|step| is_durable(step.events)) {
            self.rung_steps.pop_front();
        }
        while let Some((delay, _)) = self.file_delays.front().filter(|(_, events)| is_durable(*events)) {
            self.durable_file_delay = *delay;
            self.file_delays.pop_front();
        }
    }

    /// A crash: all but the first `num` events are gone. Gives the delay that the crawler must still know of.
    pub fn crash(&mut self, num: u64, account_expired: bool) -> Duration {
        self.durable(num);
        if account_expired {
            self.durable_file_delay = Duration::ZERO;
        }
        self.holds.retain(|hold| hold.events.is_some_and(|(_, last)| last <= num));
        while let Some(step) = self.rung_steps.pop_back() {
            let half_written = step.events.is_some_and(|(first, _)| first <= num);
            self.rung = if half_written { step.before.min(step.after) } else { step.before };
        }
        for (delay, events) in self.file_delays.drain(..) {
            // Half written: the crawler may know of the newer delay alone, or of the older one.
            if events.is_some_and(|(first, _)| first <= num) {
                self.durable_file_delay = self.durable_file_delay.min(delay);
            }
        }
        self.num_barriers = 0;
        self.num_events = num;
        self.durable_file_delay
    }
}
