//! Thousands of sites, years of faults, in a minute: drives [`lohisoftbot_core::politeness::HostState`] against fake sites with a truth
//! of their own, and watches P1 to P4 on the wire after every step.
//!
//! A run depends on its seed alone. When the watcher sees a promise broken, the run is repeated and its last steps are shown, with the
//! seed: `SIM_SEED=17 cargo test -p lohisoftbot-core --test simulation` plays that site again.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod carrier;
mod checker;
mod crash;
mod harvest;
mod lending;
mod properties;
mod replies;
mod retry_after;
mod rng;
mod robots_file;
mod rules;
mod server;
mod trace;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use carrier::Carrier;

/// Sites that are played.
const NUM_SITES: u64 = 2_000;
/// Events of each.
const EVENTS_PER_SITE: u64 = 10_000;

/// What runs came to.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    requests: u64,
    pages: u64,
    sitemaps: u64,
    cycles: u64,
    crashes: u64,
}

/// Plays one site; the error says what went wrong.
fn play(seed: u64, num_events: u64) -> Result<Totals, String> {
    let mut carrier = Carrier::new(seed, seed);
    for event in 0..num_events {
        carrier.step().map_err(|wrong| format!("event {event}: {wrong}"))?;
    }
    let Carrier { checker, num_cycles, num_crashes, .. } = carrier;
    Ok(Totals {
        requests: checker.num_requests,
        pages: checker.num_pages,
        sitemaps: checker.num_sitemaps,
        cycles: num_cycles,
        crashes: num_crashes,
    })
}

/// Plays one site; if a promise is broken, or the state machine panics, plays it again and shows the last steps.
#[track_caller]
fn play_or_show(seed: u64, num_events: u64) -> Totals {
    let caught = || std::panic::catch_unwind(|| play(seed, num_events)).unwrap_or_else(|_| Err("a panic".to_owned()));
    caught().unwrap_or_else(|wrong| {
        trace::start();
        let _same_again = caught();
        panic!("SIM_SEED={seed}: {wrong}\nthe last steps:\n{}\n{wrong}", trace::end())
    })
}

#[test]
fn promises_hold_on_thousands_of_sites_through_years_of_faults() {
    if let Some(seed) = std::env::var("SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        println!("{:?}", play_or_show(seed, EVENTS_PER_SITE));
        return;
    }
    let next_seed = AtomicU64::new(0);
    let num_threads = thread::available_parallelism().map_or(2, usize::from);
    let work = || {
        let mut sum = Totals::default();
        loop {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            if seed >= NUM_SITES {
                return sum;
            }
            let Totals { requests, pages, sitemaps, cycles, crashes } = play_or_show(seed, EVENTS_PER_SITE);
            sum.requests += requests;
            sum.pages += pages;
            sum.sitemaps += sitemaps;
            sum.cycles += cycles;
            sum.crashes += crashes;
        }
    };
    let sums: Vec<Totals> = thread::scope(|scope| {
        let threads: Vec<_> = (0..num_threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|wrong| std::panic::resume_unwind(wrong)))
            .collect()
    });
    println!("{sums:?}");
    // A run that asks hardly anything would prove nothing.
    let total = |of: fn(&Totals) -> u64| sums.iter().map(of).sum::<u64>();
    assert!(total(|sum| sum.requests) > NUM_SITES * EVENTS_PER_SITE / 20, "{sums:?}");
    assert!(total(|sum| sum.pages) > NUM_SITES * 20, "{sums:?}");
    assert!(total(|sum| sum.sitemaps) > NUM_SITES * 5, "{sums:?}");
    assert!(total(|sum| sum.cycles) > NUM_SITES * 2, "{sums:?}");
    assert!(total(|sum| sum.crashes) > NUM_SITES, "{sums:?}");
}
