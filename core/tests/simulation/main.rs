//! A virtual year and more of each of two thousand sites, with faults and restarts, in a minute: drives
//! [`lohisoftbot_core::politeness::HostState`] against fake sites with a truth of their own, and watches P1 to P4 on the wire after every
//! step.
//!
//! A run depends on its seed alone. When the watcher sees a promise broken, the run is repeated and its last steps are shown, with the
//! seed: `SIM_SEED=17 cargo test -p lohisoftbot-core --test simulation` plays that site again. `SIM_SITES` and `SIM_EVENTS` cut the run to
//! that many sites and events of each; mutation testing does so, and a cut run promises no year.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod carrier;
mod checker;
mod crash;
mod harvest;
mod ledger;
mod lending;
mod properties;
mod records;
mod replies;
mod retry_after;
mod rng;
mod robots_file;
mod rules;
mod server;
mod trace;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use carrier::Carrier;

/// Sites that are played.
const NUM_SITES: u64 = 2_000;
/// The virtual time that each is played at least.
const SHORTEST_PLAY: Duration = Duration::from_secs(365 * 86_400);
/// Events of each at least: most sites see their year in some 1,500, and the rest of these are years more.
const FEWEST_EVENTS: u64 = 10_000;
/// No site takes this many to see its year; one that does stands still.
const MOST_EVENTS: u64 = 100_000;

/// How long a site is played.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// Through a virtual year at least.
    Year,
    /// This many events, whatever the time.
    Events(u64),
}

/// What runs came to.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    sites: u64,
    events: u64,
    requests: u64,
    pages: u64,
    sitemaps: u64,
    cycles: u64,
    crashes: u64,
    recrawls: u64,
    renewed: u64,
    changed: u64,
    virtual_time: Duration,
}

impl Totals {
    fn plus(self, other: Self) -> Self {
        Self {
            sites: self.sites + other.sites,
            events: self.events + other.events,
            requests: self.requests + other.requests,
            pages: self.pages + other.pages,
            sitemaps: self.sitemaps + other.sitemaps,
            cycles: self.cycles + other.cycles,
            crashes: self.crashes + other.crashes,
            recrawls: self.recrawls + other.recrawls,
            renewed: self.renewed + other.renewed,
            changed: self.changed + other.changed,
            virtual_time: self.virtual_time + other.virtual_time,
        }
    }

    fn years(&self) -> f64 {
        self.virtual_time.as_secs_f64() / SHORTEST_PLAY.as_secs_f64()
    }
}

/// Plays one site; the error says what went wrong.
fn play(seed: u64, length: Length) -> Result<Totals, String> {
    let mut carrier = Carrier::new(seed, seed);
    let start = carrier.now;
    let mut events = 0;
    let is_over = |carrier: &Carrier, events| match length {
        Length::Year => events >= FEWEST_EVENTS && carrier.now.since(start) >= SHORTEST_PLAY,
        Length::Events(wanted) => events >= wanted,
    };
    while !is_over(&carrier, events) {
        carrier.step().map_err(|wrong| format!("event {events}: {wrong}"))?;
        events += 1;
        if matches!(length, Length::Year) && events == MOST_EVENTS {
            return Err(format!("{events} events in less than a year"));
        }
    }
    let virtual_time = carrier.now.since(start);
    let Carrier { checker, shelf, num_cycles: cycles, num_crashes: crashes, num_recrawls: recrawls, .. } = carrier;
    let (requests, pages, sitemaps) = (checker.num_requests, checker.num_pages, checker.num_sitemaps);
    let (renewed, changed) = (shelf.num_renewed, shelf.num_changed);
    Ok(Totals {
        sites: 1,
        events,
        requests,
        pages,
        sitemaps,
        cycles,
        crashes,
        recrawls,
        renewed,
        changed,
        virtual_time,
    })
}

/// Plays one site; if a promise is broken, or the state machine panics, plays it again and shows the last steps.
#[track_caller]
fn play_or_show(seed: u64, length: Length) -> Totals {
    let caught = || std::panic::catch_unwind(|| play(seed, length)).unwrap_or_else(|_| Err("a panic".to_owned()));
    caught().unwrap_or_else(|wrong| {
        trace::start();
        let _same_again = caught();
        panic!("SIM_SEED={seed}: {wrong}\nthe last steps:\n{}\n{wrong}", trace::end())
    })
}

/// A number of the environment.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

#[test]
fn promises_hold_through_a_year_and_more_of_thousands_of_sites_with_faults_and_restarts() {
    let length = number("SIM_EVENTS").map_or(Length::Year, Length::Events);
    if let Some(seed) = number("SIM_SEED") {
        println!("{:?}", play_or_show(seed, length));
        return;
    }
    let num_sites = number("SIM_SITES").unwrap_or(NUM_SITES);
    let next_seed = AtomicU64::new(0);
    let num_threads = thread::available_parallelism().map_or(2, usize::from);
    let work = || {
        let mut sum = Totals::default();
        loop {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            if seed >= num_sites {
                return sum;
            }
            sum = sum.plus(play_or_show(seed, length));
        }
    };
    let sum = thread::scope(|scope| {
        let threads: Vec<_> = (0..num_threads).map(|_| scope.spawn(work)).collect();
        let sums =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|wrong| std::panic::resume_unwind(wrong)));
        sums.fold(Totals::default(), Totals::plus)
    });
    println!("{sum:?}, {:.0} virtual years", sum.years());
    // A run that asks hardly anything would prove nothing.
    assert_eq!(sum.sites, num_sites);
    assert!(sum.requests > sum.events / 20, "{sum:?}");
    assert!(sum.pages > sum.sites * 20, "{sum:?}");
    assert!(sum.sitemaps > sum.events / 2_000, "{sum:?}");
    assert!(sum.cycles > sum.sites * 2, "{sum:?}");
    assert!(sum.crashes > sum.sites, "{sum:?}");
    assert!(sum.recrawls > sum.sites && sum.renewed > sum.sites && sum.changed > sum.sites, "{sum:?}");
}
