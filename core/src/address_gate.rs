//! Manners at one IP address, over all the sites that share it: so many requests at once, so far apart.
//!
//! A request is a visit. It waits for its turn, is admitted (from then on it counts as one of those at the address), and asks to depart
//! once its connection is up; it has departed when its first bytes are on their way, and is over when its answer is. Admission spreads
//! connections; departure spreads what the server sees as the start of a request. Both are needed: what lies between them (permit,
//! ticket, handshake) takes longer for one visit than for the next, so starts could come closer together than admissions were.
//!
//! It looks at no name, no port and no answer, opens nothing and knows no clock: values in, decisions out, and
//! [`AddressGate::next_wakeup`] says when to call [`AddressGate::on_wake`].
//!
//! Invariants: no address has more than [`AddressRules::max_at_once`] visits admitted; a departure is decided no sooner than the delay
//! after the server has surely seen the last one there, or [`ARRIVAL_MARGIN`] later than that if nobody can tell; turns are taken in the
//! order of arrival; an address is forgotten once nobody is there and its delay is over, so memory is bounded by the visits.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::time::Timestamp;

/// How long a request may be on its way to a server, which notes its start when it reads it. An answer tells that it has arrived; until
/// then so much is added to the delay, lest a request that was held up on the way and the next one arrive closer together than they left.
pub const ARRIVAL_MARGIN: Duration = Duration::from_millis(50);

/// A [`Timestamp`] cuts off what is less than this.
const TICK: Duration = Duration::from_millis(1);

/// What one address may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRules {
    /// Most requests at once; at least one.
    max_at_once: usize,
    /// Least time between the starts of two requests.
    delay: Duration,
}

impl AddressRules {
    /// At most `max_at_once` requests at once (none counts as one), and `delay` between their starts.
    pub fn new(max_at_once: usize, delay: Duration) -> Self {
        Self { max_at_once: max_at_once.max(1), delay }
    }

    /// Most requests at once.
    pub fn max_at_once(self) -> usize {
        self.max_at_once
    }

    /// Least time between the starts of two requests.
    pub fn delay(self) -> Duration {
        self.delay
    }

    /// When the next one may start, after one that was certainly there by `seen_at`.
    fn after_seen(self, seen_at: Timestamp) -> Timestamp {
        if self.delay.is_zero() { seen_at } else { seen_at.plus(self.delay.saturating_add(TICK)) }
    }

    /// When the next one may start, after one that left at `left_at`.
    fn after_left(self, left_at: Timestamp) -> Timestamp {
        if self.delay.is_zero() { left_at } else { self.after_seen(left_at).plus(ARRIVAL_MARGIN) }
    }
}

/// Names a visit. Whoever calls sees to it that no two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitId(pub u64);

/// What a visit may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateDecision {
    /// It has a place at its address.
    Admit(VisitId),
    /// Its request may leave. Nobody else departs there until this one says that it has, or is over.
    Depart(VisitId),
}

/// How many visits there are, for people and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCounts {
    /// Addresses of which anything is remembered.
    pub num_addresses: usize,
    /// Visits that wait for a place.
    pub num_waiting: usize,
    /// Visits that have one.
    pub num_admitted: usize,
}

/// Every address that is being asked, or was a moment ago.
#[derive(Clone, Debug)]
pub struct AddressGate {
    rules: AddressRules,
    opened_at: Timestamp,
    num_turns: u64,
    visits: HashMap<VisitId, Visit>,
    addresses: HashMap<Ipv4Addr, Address>,
    /// The wake-up of each address that has one, in order.
    wakeups: BTreeSet<(Timestamp, Ipv4Addr)>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    address: Ipv4Addr,
    turn: u64,
}

#[derive(Clone, Debug)]
struct Address {
    waiting: BTreeMap<u64, VisitId>,
    inside: HashMap<VisitId, Stage>,
    /// Visits inside that have asked to depart, in that order.
    at_door: VecDeque<VisitId>,
    last_departed: Option<VisitId>,
    next_admission_at: Timestamp,
    next_departure_at: Timestamp,
    wakeup: Option<Timestamp>,
}

/// How far a visit inside has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has not departed yet, and may be at the door.
    Admitted,
    /// It was told to go.
    Departing,
    /// It is on its way, or further.
    Departed,
}

impl AddressGate {
    /// Opens at `now`. Nobody knows what a former life of the node asked last, so every address counts as asked just now.
    pub fn new(rules: AddressRules, now: Timestamp) -> Self {
        Self {
            rules,
            opened_at: now,
            num_turns: 0,
            visits: HashMap::new(),
            addresses: HashMap::new(),
            wakeups: BTreeSet::new(),
        }
    }

    /// A visit comes and waits for its turn. One that is known already stays where it is.
    pub fn on_arrival(&mut self, id: VisitId, address: Ipv4Addr, now: Timestamp) -> Vec<GateDecision> {
        if self.visits.contains_key(&id) {
            return Vec::new();
        }
        let turn = self.num_turns;
        self.num_turns += 1;
        self.visits.insert(id, Visit { address, turn });
        let first_at = self.rules.after_left(self.opened_at);
        let state = self.addresses.entry(address).or_insert_with(|| Address::untouched_until(first_at));
        state.waiting.insert(turn, id);
        self.settle(address, now)
    }

    /// An admitted visit has its connection and asks to depart.
    pub fn on_ready(&mut self, id: VisitId, now: Timestamp) -> Vec<GateDecision> {
        let Some((address, state)) = self.state_of(id) else { return Vec::new() };
        if state.inside.get(&id) == Some(&Stage::Admitted) && !state.at_door.contains(&id) {
            state.at_door.push_back(id);
        }
        self.settle(address, now)
    }

    /// A visit that was told to depart has done so.
    pub fn on_departed(&mut self, id: VisitId, now: Timestamp) -> Vec<GateDecision> {
        let rules = self.rules;
        let Some((address, state)) = self.state_of(id) else { return Vec::new() };
        if let Some(stage) = state.inside.get_mut(&id).filter(|stage| **stage == Stage::Departing) {
            *stage = Stage::Departed;
            state.last_departed = Some(id);
            state.next_departure_at = rules.after_left(now);
        }
        self.settle(address, now)
    }

    /// The first of an answer came, so the request has arrived.
    pub fn on_answered(&mut self, id: VisitId, now: Timestamp) -> Vec<GateDecision> {
        let rules = self.rules;
        let Some((address, state)) = self.state_of(id) else { return Vec::new() };
        if state.last_departed == Some(id) {
            state.next_departure_at = state.next_departure_at.min(rules.after_seen(now));
        }
        self.settle(address, now)
    }

    /// A visit is over, however far it came. Whoever was told to depart may have done so, so it counts as just departed.
    pub fn on_end(&mut self, id: VisitId, now: Timestamp) -> Vec<GateDecision> {
        let rules = self.rules;
        let Some(Visit { address, turn }) = self.visits.remove(&id) else { return Vec::new() };
        if let Some(state) = self.addresses.get_mut(&address) {
            state.waiting.remove(&turn);
            state.at_door.retain(|other| *other != id);
            if state.inside.remove(&id) == Some(Stage::Departing) {
                state.last_departed = Some(id);
                state.next_departure_at = rules.after_left(now);
            }
        }
        self.settle(address, now)
    }

    /// To be called when [`AddressGate::next_wakeup`] has come; sooner or more often does no harm.
    pub fn on_wake(&mut self, now: Timestamp) -> Vec<GateDecision> {
        let mut decisions = Vec::new();
        while let Some(&(_, address)) = self.wakeups.first().filter(|(at, _)| *at <= now) {
            decisions.extend(self.settle(address, now));
        }
        decisions
    }

    /// When something will be decided, or an address forgotten, without anybody calling before.
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        self.wakeups.first().map(|(at, _)| *at)
    }

    /// How many visits there are.
    pub fn counts(&self) -> GateCounts {
        let num_admitted = self.addresses.values().map(|state| state.inside.len()).sum();
        let num_waiting = self.visits.len() - num_admitted;
        GateCounts { num_addresses: self.addresses.len(), num_waiting, num_admitted }
    }

    fn state_of(&mut self, id: VisitId) -> Option<(Ipv4Addr, &mut Address)> {
        let address = self.visits.get(&id)?.address;
        Some((address, self.addresses.get_mut(&address)?))
    }

    /// Decides all that can be decided at an address, and sets its wake-up; after that it lies in the future.
    fn settle(&mut self, address: Ipv4Addr, now: Timestamp) -> Vec<GateDecision> {
        let Some(state) = self.addresses.get_mut(&address) else { return Vec::new() };
        if let Some(at) = state.wakeup.take() {
            self.wakeups.remove(&(at, address));
        }
        let decisions = state.decide(self.rules, now);
        match state.next_wakeup(self.rules) {
            NextWakeup::At(at) => {
                state.wakeup = Some(at);
                self.wakeups.insert((at, address));
            }
            NextWakeup::WhenCalled => {}
            NextWakeup::ForgetAt(at) if at > now => {
                state.wakeup = Some(at);
                self.wakeups.insert((at, address));
            }
            NextWakeup::ForgetAt(_) => drop(self.addresses.remove(&address)),
        }
        decisions
    }
}

/// When an address has to be looked at again.
enum NextWakeup {
    At(Timestamp),
    /// Only another call changes anything.
    WhenCalled,
    /// Nobody is there.
    ForgetAt(Timestamp),
}

impl Address {
    fn untouched_until(first_at: Timestamp) -> Self {
        Self {
            waiting: BTreeMap::new(),
            inside: HashMap::new(),
            at_door: VecDeque::new(),
            last_departed: None,
            next_admission_at: first_at,
            next_departure_at: first_at,
            wakeup: None,
        }
    }

    fn decide(&mut self, rules: AddressRules, now: Timestamp) -> Vec<GateDecision> {
        let mut decisions = Vec::new();
        if let Some(id) = self.at_door.front().copied().filter(|_| self.may_depart() && self.next_departure_at <= now) {
            self.at_door.pop_front();
            self.inside.insert(id, Stage::Departing);
            decisions.push(GateDecision::Depart(id));
        }
        while self.has_room(rules) && self.next_admission_at <= now {
            let Some((_, id)) = self.waiting.pop_first() else { break };
            self.inside.insert(id, Stage::Admitted);
            self.next_admission_at = rules.after_seen(now);
            decisions.push(GateDecision::Admit(id));
        }
        decisions
    }

    fn next_wakeup(&self, rules: AddressRules) -> NextWakeup {
        if self.waiting.is_empty() && self.inside.is_empty() {
            return NextWakeup::ForgetAt(self.next_admission_at.max(self.next_departure_at));
        }
        let departure_at = (!self.at_door.is_empty() && self.may_depart()).then_some(self.next_departure_at);
        let admission_at = (!self.waiting.is_empty() && self.has_room(rules)).then_some(self.next_admission_at);
        match departure_at.into_iter().chain(admission_at).min() {
            Some(at) => NextWakeup::At(at),
            None => NextWakeup::WhenCalled,
        }
    }

    fn has_room(&self, rules: AddressRules) -> bool {
        self.inside.len() < rules.max_at_once
    }

    /// Whether nobody is just departing.
    fn may_depart(&self) -> bool {
        self.inside.values().all(|stage| *stage != Stage::Departing)
    }
}

#[cfg(test)]
mod tests;
