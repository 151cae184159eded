//! Points in time as the rules see them: milliseconds since the Unix epoch, handed in by the caller.
//!
//! A node anchors its wall clock once, at start, and counts on with the monotonic clock; so within one run a [`Timestamp`]
//! never jumps and never runs back, whatever happens to the wall clock. What is stored (waits, due times) is in the same unit.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The epoch itself; earlier than anything a node meets.
    pub const EPOCH: Self = Self(0);

    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// From whole seconds since the epoch.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// This point moved on by `span`; stays at the last representable point instead of overflowing.
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(span)))
    }

    /// The span from `earlier` to this point; zero if `earlier` is the later one.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A span in whole milliseconds, rounded down.
pub fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Timestamp {
    /// `2026-11-30T17:05:09.123Z` (RFC 3339, UTC).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0 / 86_400_000;
        let of_day = self.0 % 86_400_000;
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second, milli) =
            (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

/// Proleptic Gregorian date of a day count since 1970-01-01 (days of a 400-year era, March first).
pub(crate) fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_rfc3339_in_utc() {
        for (millis, wanted) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_796_058_309_123, "2026-11-30T17:05:09.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), wanted);
        }
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let last = Timestamp::from_millis(u64::MAX);
        assert_eq!(last.plus(Duration::MAX), last);
        assert_eq!(Timestamp::EPOCH.since(last), Duration::ZERO);
    }
}
