//! How long a site is left alone after it said "too much" or did not answer.
//!
//! A ladder: each answer of that kind takes the site one rung up and doubles the wait, each good answer takes it one rung down. A wait
//! that the server names itself wins where it is the longer one.
//!
//! Invariants: a wait is never shorter than the server asked (P4), never shorter on a higher rung, and jitter only ever lengthens it.

use std::time::Duration;

/// Waits after a look-up that found no such name: the first, the second, the third; after that the site is dropped.
const NAME_FAILURE_WAITS: [Duration; 3] =
    [Duration::from_secs(60 * 60), Duration::from_secs(24 * 60 * 60), Duration::from_secs(7 * 24 * 60 * 60)];

/// The shape of the ladder. Rung 0 is a site in good standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffPolicy {
    /// The wait on rung 1.
    pub first: Duration,
    /// The longest wait of the ladder's own, jitter included.
    pub max: Duration,
    /// How much longer than its rung a wait can be, in percent of it.
    pub jitter_percent: u8,
}

impl Default for BackoffPolicy {
    fn default() -> Self {
        Self { first: Duration::from_secs(60), max: Duration::from_secs(24 * 60 * 60), jitter_percent: 10 }
    }
}

impl BackoffPolicy {
    /// The wait on `rung` (1 for the first failure), at least what the server asked for. `jitter` is a random number from 0 to 1.
    pub fn wait(&self, rung: u8, retry_after: Option<Duration>, jitter: f64) -> Duration {
        let bare = self.bare_wait(rung);
        let share = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
        let most = bare.saturating_mul(u32::from(self.jitter_percent)) / 100;
        let jittered = bare.saturating_add(most.mul_f64(share)).min(self.max);
        jittered.max(retry_after.unwrap_or(Duration::ZERO))
    }

    /// The rung after one more failure. It ends where the wait no longer grows: so a site that was down for weeks is back in good
    /// standing after a dozen good answers, not after hundreds.
    pub fn next_rung(&self, rung: u8) -> u8 {
        if rung == 0 || self.bare_wait(rung) < self.max { rung.saturating_add(1) } else { rung }
    }

    /// What the rung alone asks for.
    fn bare_wait(&self, rung: u8) -> Duration {
        match rung.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => {
                let factor = 1u32.checked_shl(u32::from(doublings)).unwrap_or(u32::MAX);
                self.first.saturating_mul(factor).min(self.max)
            }
        }
    }
}

/// The rung after a good answer: one is forgiven.
pub const fn forgive(rung: u8) -> u8 {
    rung.saturating_sub(1)
}

/// How long a site waits after its `num_failures`th look-up in a row (from 1) that found no such name; none when it is to be dropped.
pub fn name_failure_wait(num_failures: u8) -> Option<Duration> {
    NAME_FAILURE_WAITS.get(usize::from(num_failures.saturating_sub(1))).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(rung: u8, retry_after_secs: Option<u64>, jitter: f64, wanted_secs: u64) {
        let got = BackoffPolicy::default().wait(rung, retry_after_secs.map(Duration::from_secs), jitter);
        assert_eq!(
            got,
            Duration::from_secs(wanted_secs),
            "rung {rung}, Retry-After {retry_after_secs:?}, jitter {jitter}"
        );
    }

    #[test]
    fn the_ladder_doubles_up_to_a_day() {
        for (rung, wanted) in
            [(0, 0), (1, 60), (2, 120), (3, 240), (11, 61_440), (12, 86_400), (13, 86_400), (34, 86_400), (255, 86_400)]
        {
            check(rung, None, 0.0, wanted);
        }
    }

    #[test]
    fn retry_after_wins_when_it_is_longer() {
        check(1, Some(3600), 0.0, 3600);
        check(1, Some(3600), 1.0, 3600);
        check(1, Some(5), 0.0, 60);
        check(0, Some(5), 0.0, 5);
        check(12, Some(30 * 86_400), 1.0, 30 * 86_400);
    }

    #[test]
    fn jitter_lengthens_by_a_tenth_at_most_and_not_past_a_day() {
        check(1, None, 1.0, 66);
        check(1, None, 0.5, 63);
        check(1, None, 7.0, 66);
        check(1, None, -1.0, 60);
        check(1, None, f64::NAN, 60);
        check(12, None, 1.0, 86_400);
    }

    #[test]
    fn rungs_stop_where_the_wait_no_longer_grows() {
        let policy = BackoffPolicy::default();
        let mut rung = 0;
        for _ in 0..1000 {
            rung = policy.next_rung(rung);
        }
        assert_eq!(rung, 12);
        for _ in 0..12 {
            rung = forgive(rung);
        }
        assert_eq!((rung, forgive(0)), (0, 0));
    }

    #[test]
    fn a_ladder_that_starts_above_its_end_has_one_rung() {
        let policy = BackoffPolicy { first: Duration::from_secs(90), max: Duration::from_secs(60), jitter_percent: 10 };
        assert_eq!(policy.wait(1, None, 1.0), Duration::from_secs(60));
        assert_eq!(policy.next_rung(policy.next_rung(0)), 1);
    }

    #[test]
    fn a_missing_name_is_looked_up_after_an_hour_a_day_a_week_and_then_no_more() {
        for (num_failures, wanted) in [(1, Some(3600)), (2, Some(86_400)), (3, Some(604_800)), (4, None), (255, None)] {
            assert_eq!(name_failure_wait(num_failures), wanted.map(Duration::from_secs), "{num_failures}");
        }
    }

    fn policies() -> impl Strategy<Value = BackoffPolicy> {
        (0u64..=u64::MAX / 2_000, 0u64..=u64::MAX / 2_000, any::<u8>()).prop_map(|(first, max, jitter_percent)| {
            BackoffPolicy { first: Duration::from_millis(first), max: Duration::from_millis(max), jitter_percent }
        })
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_retry_after(policy in policies(), rung: u8, asked_secs: u64, jitter: f64) {
            let asked = Duration::from_secs(asked_secs);
            prop_assert!(policy.wait(rung, Some(asked), jitter) >= asked);
            prop_assert!(policy.wait(rung, Some(asked), jitter) >= policy.wait(rung, None, jitter));
        }

        #[test]
        fn a_higher_rung_never_waits_less(policy in policies(), rung in 0u8..255, jitter in 0.0f64..=1.0) {
            prop_assert!(policy.wait(rung + 1, None, jitter) >= policy.wait(rung, None, jitter));
        }

        #[test]
        fn jitter_never_shortens_and_never_passes_the_end(policy in policies(), rung: u8, jitter: f64) {
            let (bare, jittered) = (policy.wait(rung, None, 0.0), policy.wait(rung, None, jitter));
            prop_assert!((bare..=policy.max).contains(&jittered));
        }

        #[test]
        fn next_rung_goes_one_up_or_stays(policy in policies(), rung: u8) {
            let next = policy.next_rung(rung);
            prop_assert!(next == rung || (next == rung + 1 && policy.wait(next, None, 0.0) >= policy.wait(rung, None, 0.0)));
        }
    }
}
