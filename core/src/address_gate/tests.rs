//! One address by hand, then many by chance, with a watcher that keeps its own books.

use proptest::prelude::*;

use super::GateDecision::{Admit, Depart};
use super::*;

const A: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const B: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const DELAY: Duration = Duration::from_millis(200);
/// Between two admissions, and from an answer to the next departure.
const STEP: u64 = 201;
/// From a departure to the next, while no answer has come.
const SPACING_MS: u64 = 251;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn id(number: u64) -> VisitId {
    VisitId(number)
}

/// A gate that has been open for a while.
fn gate(max_at_once: usize) -> AddressGate {
    AddressGate::new(AddressRules::new(max_at_once, DELAY), at(0))
}

#[test]
fn lone_visit_goes_through_at_once() {
    let mut gate = gate(4);
    assert_eq!(gate.on_arrival(id(1), A, at(1000)), [Admit(id(1))]);
    assert_eq!(gate.on_ready(id(1), at(1030)), [Depart(id(1))]);
    assert_eq!(gate.on_departed(id(1), at(1031)), []);
    assert_eq!(gate.next_wakeup(), None, "nothing changes until it is over");
    assert_eq!(gate.on_end(id(1), at(1100)), []);
    assert_eq!(gate.next_wakeup(), Some(at(1031 + SPACING_MS)));
    assert_eq!(gate.on_wake(at(1031 + SPACING_MS)), []);
    assert_eq!((gate.next_wakeup(), gate.counts()), (None, GateCounts::default()));
}

#[test]
fn departure_is_spaced_from_when_the_last_one_really_left() {
    let mut gate = gate(4);
    gate.on_arrival(id(1), A, at(1000));
    assert_eq!(gate.on_arrival(id(2), A, at(1000)), []);
    assert_eq!(gate.on_wake(at(1000 + STEP)), [Admit(id(2))]);
    // The first one was held up by its permit and comes to the door together with the second.
    assert_eq!(gate.on_ready(id(1), at(1230)), [Depart(id(1))]);
    assert_eq!(gate.on_ready(id(2), at(1231)), []);
    assert_eq!(gate.next_wakeup(), None, "nobody knows when the first one leaves");
    assert_eq!(gate.on_departed(id(1), at(1240)), []);
    assert_eq!(gate.next_wakeup(), Some(at(1240 + SPACING_MS)));
    assert_eq!(gate.on_wake(at(1239 + SPACING_MS)), []);
    assert_eq!(gate.on_wake(at(1240 + SPACING_MS)), [Depart(id(2))]);
}

#[test]
fn answer_shows_that_a_request_has_arrived_and_the_next_one_need_not_wait_longer() {
    for (answered_at, next_at) in [(1040, 1040 + STEP), (1089, 1030 + SPACING_MS)] {
        let mut gate = gate(4);
        gate.on_arrival(id(1), A, at(1000));
        gate.on_arrival(id(2), A, at(1000));
        assert_eq!(gate.on_answered(id(1), at(1001)), [], "nothing was asked yet");
        gate.on_ready(id(1), at(1030));
        gate.on_departed(id(1), at(1030));
        gate.on_answered(id(1), at(answered_at));
        gate.on_end(id(1), at(answered_at));
        gate.on_wake(at(1000 + STEP));
        gate.on_ready(id(2), at(1000 + STEP));
        assert_eq!(gate.next_wakeup(), Some(at(next_at)));
        assert_eq!(gate.on_wake(at(next_at)), [Depart(id(2))]);
        assert_eq!(gate.on_answered(id(1), at(next_at)), [], "it is long over");
    }
}

#[test]
fn visit_that_is_held_up_before_the_door_keeps_nobody_from_departing() {
    let mut gate = gate(4);
    gate.on_arrival(id(1), A, at(1000));
    gate.on_arrival(id(2), A, at(1000));
    gate.on_wake(at(1000 + STEP));
    assert_eq!(gate.on_ready(id(2), at(1230)), [Depart(id(2))]);
}

#[test]
fn fifth_visit_waits_for_a_place_and_other_addresses_do_not() {
    let mut gate = gate(4);
    for number in 1..=5 {
        gate.on_arrival(id(number), A, at(1000));
    }
    for number in 1..=3 {
        assert_eq!(gate.on_wake(at(1000 + number * STEP)), [Admit(id(number + 1))]);
    }
    assert_eq!(gate.next_wakeup(), None);
    assert_eq!(gate.on_wake(at(60_000)), []);
    assert_eq!(gate.on_arrival(id(6), B, at(60_000)), [Admit(id(6))]);
    assert_eq!(gate.on_end(id(3), at(60_001)), [Admit(id(5))]);
}

#[test]
fn visit_that_gives_up_frees_its_turn_its_place_and_the_door() {
    let mut gate = gate(1);
    gate.on_arrival(id(1), A, at(1000));
    gate.on_arrival(id(2), A, at(1000));
    gate.on_arrival(id(3), A, at(1000));
    assert_eq!(gate.on_end(id(2), at(1001)), []);
    assert_eq!(gate.on_end(id(1), at(2000)), [Admit(id(3))]);
    assert_eq!(gate.on_ready(id(3), at(2001)), [Depart(id(3))]);
    gate.on_arrival(id(4), A, at(2002));
    // It may have left before it broke off.
    assert_eq!(gate.on_end(id(3), at(2300)), [Admit(id(4))]);
    assert_eq!(gate.on_ready(id(4), at(2301)), []);
    assert_eq!(gate.on_wake(at(2300 + SPACING_MS)), [Depart(id(4))]);
}

#[test]
fn gate_that_has_just_opened_takes_every_address_as_just_asked() {
    let mut gate = AddressGate::new(AddressRules::new(4, DELAY), at(5000));
    assert_eq!(gate.on_arrival(id(1), A, at(5000)), []);
    assert_eq!(gate.next_wakeup(), Some(at(5000 + SPACING_MS)));
    assert_eq!(gate.on_wake(at(5000 + SPACING_MS)), [Admit(id(1))]);
}

#[test]
fn without_a_delay_only_the_places_count() {
    let mut gate = AddressGate::new(AddressRules::new(2, Duration::ZERO), at(0));
    assert_eq!(gate.on_arrival(id(1), A, at(0)), [Admit(id(1))]);
    assert_eq!(gate.on_arrival(id(2), A, at(0)), [Admit(id(2))]);
    assert_eq!(gate.on_arrival(id(3), A, at(0)), []);
    assert_eq!(gate.on_ready(id(1), at(0)), [Depart(id(1))]);
    assert_eq!(gate.on_departed(id(1), at(0)), []);
    assert_eq!(gate.on_ready(id(2), at(0)), [Depart(id(2))]);
}

#[test]
fn what_is_told_out_of_turn_changes_nothing() {
    let mut gate = gate(4);
    gate.on_arrival(id(1), A, at(1000));
    assert_eq!(gate.on_arrival(id(1), B, at(1000)), []);
    assert_eq!(gate.on_departed(id(1), at(1001)), []);
    assert_eq!(gate.on_ready(id(1), at(1002)), [Depart(id(1))]);
    assert_eq!(gate.on_ready(id(1), at(1003)), []);
    for unknown in [id(7), id(8)] {
        assert_eq!(gate.on_ready(unknown, at(1004)), []);
        assert_eq!(gate.on_departed(unknown, at(1004)), []);
        assert_eq!(gate.on_end(unknown, at(1004)), []);
    }
    assert_eq!(gate.counts(), GateCounts { num_addresses: 1, num_waiting: 0, num_admitted: 1 });
}

const MARGIN_MS: u64 = ARRIVAL_MARGIN.as_millis() as u64;

/// One visit as chance has it: when it comes, where, how long each of its steps takes, and whether it gives up before one.
#[derive(Clone, Debug)]
struct Life {
    comes_at: u64,
    address: u8,
    to_door: u64,
    to_departure: u64,
    to_answer: u64,
    to_end: u64,
    gives_up_after: Option<u64>,
}

fn lives() -> impl Strategy<Value = Vec<Life>> {
    let steps = (0..900_u64, 0..40_u64, 0..200_u64, 0..3000_u64);
    let life = (0..4000_u64, 0..3_u8, steps, proptest::option::weighted(0.2, 0..4000_u64)).prop_map(
        |(comes_at, address, (to_door, to_departure, to_answer, to_end), gives_up_after)| Life {
            comes_at,
            address,
            to_door,
            to_departure,
            to_answer,
            to_end,
            gives_up_after,
        },
    );
    proptest::collection::vec(life, 1..60)
}

/// What happens to a visit from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Comes,
    ComesToDoor,
    HasDeparted,
    IsAnswered,
    Ends,
}

/// Plays lives out against a gate, and keeps books of its own.
struct Play<'a> {
    lives: &'a [Life],
    gate: AddressGate,
    rules: AddressRules,
    agenda: BTreeSet<(u64, u64, Step)>,
    now: u64,
    inside: HashMap<u8, BTreeSet<u64>>,
    /// Of each address, the last visit told to depart, and when the server can have seen its request at the latest; none while that visit
    /// is still departing.
    last_seen: HashMap<u8, (u64, Option<u64>)>,
    arrived: HashMap<u8, VecDeque<u64>>,
    departed: BTreeSet<u64>,
    ended: BTreeSet<u64>,
}

impl<'a> Play<'a> {
    fn new(lives: &'a [Life], rules: AddressRules) -> Self {
        let agenda = lives.iter().zip(0..).map(|(life, number)| (life.comes_at, number, Step::Comes)).collect();
        Self {
            lives,
            gate: AddressGate::new(rules, at(0)),
            rules,
            agenda,
            now: 0,
            inside: HashMap::new(),
            last_seen: HashMap::new(),
            arrived: HashMap::new(),
            departed: BTreeSet::new(),
            ended: BTreeSet::new(),
        }
    }

    fn run(&mut self) {
        loop {
            let step = self.agenda.first().copied();
            let wakeup = self.gate.next_wakeup().map(Timestamp::as_millis);
            let decisions = match (step, wakeup) {
                (None, None) => break,
                (Some((time, ..)), Some(wakeup)) if wakeup < time => self.wake(wakeup),
                (None, Some(wakeup)) => self.wake(wakeup),
                (Some(step), _) => {
                    self.agenda.remove(&step);
                    self.take(step)
                }
            };
            for decision in decisions {
                self.carry_out(decision);
            }
        }
    }

    fn wake(&mut self, wakeup: u64) -> Vec<GateDecision> {
        assert!(wakeup >= self.now, "the gate wants to be woken in the past");
        self.now = wakeup;
        let decisions = self.gate.on_wake(at(wakeup));
        assert!(self.gate.next_wakeup().is_none_or(|next| next > at(wakeup)), "the gate would wake again and again");
        decisions
    }

    fn take(&mut self, (time, number, step): (u64, u64, Step)) -> Vec<GateDecision> {
        self.now = time;
        let (life, visit, now) = (&self.lives[number as usize], id(number), at(time));
        let place = life.address;
        if self.ended.contains(&number) {
            return Vec::new();
        }
        match step {
            Step::Comes => {
                self.arrived.entry(place).or_default().push_back(number);
                if let Some(patience) = life.gives_up_after {
                    self.agenda.insert((time + patience, number, Step::Ends));
                }
                self.gate.on_arrival(visit, Ipv4Addr::new(192, 0, 2, place), now)
            }
            Step::ComesToDoor => self.gate.on_ready(visit, now),
            Step::HasDeparted => {
                self.last_seen.insert(place, (number, Some(time + MARGIN_MS)));
                self.departed.insert(number);
                self.agenda.insert((time + life.to_answer, number, Step::IsAnswered));
                self.gate.on_departed(visit, now)
            }
            Step::IsAnswered => {
                if let Some((_, Some(seen_at))) = self.last_seen.get_mut(&place).filter(|(last, _)| *last == number) {
                    *seen_at = time.min(*seen_at);
                }
                self.agenda.insert((time + life.to_end, number, Step::Ends));
                self.gate.on_answered(visit, now)
            }
            Step::Ends => {
                self.ended.insert(number);
                self.inside.entry(place).or_default().remove(&number);
                self.arrived.entry(place).or_default().retain(|other| *other != number);
                // Whoever breaks off while departing may have left.
                if let Some((_, seen_at @ None)) = self.last_seen.get_mut(&place).filter(|(last, _)| *last == number) {
                    *seen_at = Some(time + MARGIN_MS);
                }
                self.gate.on_end(visit, now)
            }
        }
    }

    fn carry_out(&mut self, decision: GateDecision) {
        match decision {
            Admit(VisitId(number)) => {
                let life = &self.lives[number as usize];
                let first = self.arrived.get_mut(&life.address).and_then(VecDeque::pop_front);
                assert_eq!(first, Some(number), "turns are taken in the order of arrival");
                let inside = self.inside.entry(life.address).or_default();
                inside.insert(number);
                assert!(inside.len() <= self.rules.max_at_once(), "{} at once", inside.len());
                self.agenda.insert((self.now + life.to_door, number, Step::ComesToDoor));
            }
            Depart(VisitId(number)) => {
                let life = &self.lives[number as usize];
                assert!(self.inside[&life.address].contains(&number), "only who is inside departs");
                match self.last_seen.insert(life.address, (number, None)) {
                    None => {}
                    Some((_, None)) => panic!("two depart together"),
                    Some((_, Some(seen_at))) => {
                        let wanted = at(seen_at).plus(self.rules.delay());
                        assert!(self.rules.delay().is_zero() || at(self.now) > wanted, "{} is too soon", self.now);
                    }
                }
                self.agenda.insert((self.now + life.to_departure, number, Step::HasDeparted));
            }
        }
    }
}

proptest! {
    #[test]
    fn manners_hold_whatever_the_visits_do(lives in lives(), max_at_once in 1..5_usize, delay in 0..400_u64) {
        let rules = AddressRules::new(max_at_once, Duration::from_millis(delay));
        let mut play = Play::new(&lives, rules);
        play.run();
        for (life, number) in lives.iter().zip(0..) {
            prop_assert!(play.ended.contains(&number), "{number} never ended");
            prop_assert!(life.gives_up_after.is_some() || play.departed.contains(&number), "{number} was starved");
        }
        prop_assert_eq!(play.gate.counts(), GateCounts::default());
        prop_assert!(play.gate.visits.is_empty() && play.gate.wakeups.is_empty());
    }
}
