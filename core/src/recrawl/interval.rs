//! How long a site's interval is: from how many of its stored pages turned out changed when they were asked again.
//!
//! Changes of a page are taken for a Poisson process, as Cho and Garcia-Molina found them ("The Evolution of the Web and Implications
//! for an Incremental Crawler", VLDB 2000). A visit sees only *whether* a page changed, so the plain share of changed pages says too
//! little about one that changes often; their estimator with the bias taken out, -ln((n - X + 0.5) / (n + 0.5)) changes an interval for X of n
//! pages changed, does better ("Estimating Frequency of Change", ACM TOIT 3(3), 2003). The interval is set so that some quarter of
//! the pages is expected to change in it: rarer visits keep stale records, more frequent ones ask for what is known. They show as well
//! that what changes faster than it can be followed is not worth following ("Effective Page Refresh Policies for Web Crawlers", ACM TODS 28(4),
//! 2003): hence the lower bound, which is a promise to the site's owner before it is anything else.
//!
//! Invariants: an interval changes by no more than [`MAX_FACTOR`] from one cycle to the next; a learnt interval stays within the bounds;
//! what a cycle saw sets the distance that the *next* one promises when it opens, so no promise is ever taken back.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The share of stored pages that may change in an interval.
pub const TARGET_SHARE: f64 = 0.25;
/// An interval grows and shrinks by no more than this in one cycle: a handful of pages is thin evidence.
pub const MAX_FACTOR: f64 = 2.0;

/// What the configuration says of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalBounds {
    /// Of a site of which nothing is known yet.
    pub first: Duration,
    /// Shortest that is learnt.
    pub shortest: Duration,
    /// Longest that is learnt.
    pub longest: Duration,
}

/// What a stored page was when it was asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasked {
    /// 304, or a page that makes the record that is stored already.
    Unchanged,
    /// A page that makes another record, or none any more: it is gone, moved, or may not be kept.
    Changed,
}

/// What is known of how often a site changes. Convenient to remember, and no promise: it is stored with the site's row, and what a crash
/// takes of it is counted less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRate {
    /// The interval as learnt so far; none before the first cycle that asked for stored pages.
    pub interval: Option<Duration>,
    /// The cycle that the counts are of.
    pub cycle: u32,
    /// Stored pages that were asked again in it, with an answer that tells whether they changed.
    pub num_reasked: u16,
    /// Those of them that changed.
    pub num_changed: u16,
}

impl ChangeRate {
    /// Counts a page.
    pub fn note(&mut self, page: Reasked) {
        self.num_reasked = self.num_reasked.saturating_add(1);
        match page {
            Reasked::Unchanged => {}
            Reasked::Changed => self.num_changed = self.num_changed.saturating_add(1),
        }
    }

    /// The interval of the newest cycle.
    pub fn current(&self, bounds: &IntervalBounds) -> Duration {
        self.interval.map_or(bounds.first, |learnt| within(learnt, bounds))
    }

    /// The cycle of that number opens: what the one before saw is learnt, and counting begins anew. Gives the interval to promise.
    pub fn begin_cycle(&mut self, cycle: u32, bounds: &IntervalBounds) -> Duration {
        let current = self.current(bounds);
        let interval = match self.num_reasked {
            0 => current,
            num_reasked => next_interval(current, num_reasked, self.num_changed, bounds),
        };
        let is_learnt = self.interval.is_some() || self.num_reasked > 0;
        *self = Self { interval: is_learnt.then_some(interval), cycle, num_reasked: 0, num_changed: 0 };
        interval
    }
}

/// The interval after one in which `num_changed` of `num_reasked` stored pages changed; whole seconds where it is that long.
pub fn next_interval(current: Duration, num_reasked: u16, num_changed: u16, bounds: &IntervalBounds) -> Duration {
    let (asked, changed) = (f64::from(num_reasked), f64::from(num_changed.min(num_reasked)));
    let changes = ((asked + 0.5) / (asked - changed + 0.5)).ln();
    let wanted = -(1.0 - TARGET_SHARE).ln();
    // No change at all makes this infinite, which the bound then cuts.
    let factor = (wanted / changes).clamp(1.0 / MAX_FACTOR, MAX_FACTOR);
    let next = current.as_secs_f64() * factor;
    let next = if next >= 60.0 { next.round() } else { next };
    within(Duration::try_from_secs_f64(next).unwrap_or(bounds.longest), bounds)
}

fn within(interval: Duration, bounds: &IntervalBounds) -> Duration {
    interval.min(bounds.longest).max(bounds.shortest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);
    const BOUNDS: IntervalBounds = IntervalBounds {
        first: Duration::from_secs(30 * 86_400),
        shortest: Duration::from_secs(7 * 86_400),
        longest: Duration::from_secs(90 * 86_400),
    };

    /// In tenths of a day.
    #[track_caller]
    fn check(days: u32, num_reasked: u16, num_changed: u16, wanted_tenths: u64) {
        let next = next_interval(days * DAY, num_reasked, num_changed, &BOUNDS);
        let tenths = (next.as_secs_f64() / 8_640.0).round() as u64;
        assert_eq!(tenths, wanted_tenths, "{num_changed} of {num_reasked} pages changed in {days} days: {next:?}");
    }

    #[test]
    fn interval_follows_the_share_of_pages_that_changed() {
        // Nothing changed: twice as long, up to the bound.
        check(30, 20, 0, 600);
        check(60, 20, 0, 900);
        check(90, 20, 0, 900);
        check(30, 1, 0, 600);
        // Few.
        check(30, 20, 1, 600);
        check(30, 20, 3, 545);
        check(30, 20, 4, 398);
        // A quarter: as it was, or nearly, since the estimate leans to fewer changes.
        check(30, 20, 5, 309);
        check(30, 8, 2, 322);
        // More.
        check(30, 20, 6, 249);
        check(30, 20, 7, 207);
        check(30, 20, 8, 174);
        // Half of them and beyond: half as long, down to the bound.
        check(30, 20, 10, 150);
        check(30, 20, 20, 150);
        check(30, 1, 1, 150);
        check(10, 20, 20, 70);
        check(7, 20, 20, 70);
        // A count that cannot be does no harm.
        check(30, 3, 9, 150);
    }

    #[test]
    fn first_cycles_keep_the_configured_interval_until_a_stored_page_was_asked_again() {
        let mut rate = ChangeRate::default();
        assert_eq!(rate.begin_cycle(1, &BOUNDS), 30 * DAY);
        assert_eq!(rate.begin_cycle(2, &BOUNDS), 30 * DAY);
        assert_eq!(rate.interval, None, "a changed configuration still counts");
        (0..20).for_each(|_| rate.note(Reasked::Unchanged));
        assert_eq!(rate.begin_cycle(3, &BOUNDS), 60 * DAY);
        assert_eq!(rate.begin_cycle(4, &BOUNDS), 60 * DAY, "a cycle without answers teaches nothing");
        (0..20).for_each(|_| rate.note(Reasked::Changed));
        assert_eq!((rate.num_reasked, rate.num_changed), (20, 20));
        assert_eq!(rate.begin_cycle(5, &BOUNDS), 30 * DAY);
        assert_eq!(rate, ChangeRate { interval: Some(30 * DAY), cycle: 5, num_reasked: 0, num_changed: 0 });
    }

    #[test]
    fn bounds_that_were_narrowed_hold_for_what_was_learnt_before() {
        let mut rate = ChangeRate { interval: Some(90 * DAY), ..ChangeRate::default() };
        let narrow = IntervalBounds { longest: 40 * DAY, ..BOUNDS };
        assert_eq!(rate.begin_cycle(2, &narrow), 40 * DAY);
    }

    #[test]
    fn intervals_of_test_hosts_may_be_seconds() {
        let second = Duration::from_secs(1);
        let bounds = IntervalBounds { first: 3 * second, shortest: second, longest: 10 * second };
        assert_eq!(next_interval(3 * second, 10, 10, &bounds), Duration::from_millis(1500));
        assert_eq!(next_interval(3 * second, 10, 0, &bounds), 6 * second);
    }

    proptest! {
        #[test]
        fn interval_stays_within_bounds_moves_by_a_bounded_factor_and_never_grows_with_changes(
            secs in 604_800_u64..=7_776_000, num_reasked in 1_u16..=20, num_changed in 0_u16..=20,
        ) {
            let current = Duration::from_secs(secs);
            let next = next_interval(current, num_reasked, num_changed, &BOUNDS);
            prop_assert!(next >= BOUNDS.shortest && next <= BOUNDS.longest);
            prop_assert!(next.as_secs_f64() <= current.as_secs_f64() * MAX_FACTOR + 1.0);
            prop_assert!(next.as_secs_f64() >= current.as_secs_f64() / MAX_FACTOR - 1.0);
            prop_assert!(next_interval(current, num_reasked, num_changed + 1, &BOUNDS) <= next);
        }
    }
}
