//! The wait that a server asks for: the Retry-After field (RFC 9110 §10.2.3).
//!
//! What it deliberately does not do: decide whether the wait is kept. The ladder of [`crate::backoff`] may ask for more; nothing ever
//! makes it shorter.
//!
//! Invariants: a wait is never negative, never above [`MAX_WAIT`], and a number too large to count is a long wait, never a short one.

use std::time::Duration;

use crate::http_date;
use crate::response::ResponseHead;
use crate::time::Timestamp;

/// The longest wait that is kept; a server that asks for more is asked again after this.
pub const MAX_WAIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The wait that the Retry-After values of one answer ask for; none where there is no value that can be read.
///
/// `values` are all its Retry-After fields, `date` is its own Date field: a date is measured against that, since a server counts by its
/// own clock, and against `now` where it sent none. Of several values the longest wait counts. A moment that has passed is no wait.
///
/// A fraction is rounded up, though the standard has whole seconds only: a server that sends `0.5` has asked for a wait.
pub fn wait_from(values: &[&[u8]], date: Option<&[u8]>, now: Timestamp) -> Option<Duration> {
    let reference = date.and_then(text_of).and_then(|date| http_date::parse(date, now)).unwrap_or(now);
    values.iter().filter_map(|value| longest_of_value(text_of(value)?, reference)).max().map(|wait| wait.min(MAX_WAIT))
}

/// Whether Retry-After means anything beside this status. It does for 3xx and 5xx (RFC 9110 §10.2.3), 413 (§15.5.14) and 429 (RFC 6585
/// §4), and by courtesy for every other refusal. Success needs no second try, and 404 and 410 will not get one.
pub const fn applies_to(status: u16) -> bool {
    !matches!(status, 200..=299 | 304 | 404 | 410)
}

/// The wait that an answer asks for, if it has one that applies.
pub fn wait_of(head: &ResponseHead, now: Timestamp) -> Option<Duration> {
    if !applies_to(head.status) {
        return None;
    }
    let values: Vec<&[u8]> = head.all("retry-after").collect();
    wait_from(&values, head.all("date").next(), now)
}

fn text_of(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().map(str::trim_ascii)
}

/// One field can hold several values, joined by a comma on the way (RFC 9110 §5.3); dates have a comma of their own. A field of which a
/// part cannot be read is garbage as a whole.
fn longest_of_value(value: &str, reference: Timestamp) -> Option<Duration> {
    if let Some(wait) = single(value, reference) {
        return Some(wait);
    }
    let mut longest = None;
    let mut rest = value;
    while !rest.is_empty() {
        let comma = rest.find(',').unwrap_or(rest.len());
        let second_comma =
            rest[comma..].char_indices().skip(1).find(|(_, c)| *c == ',').map_or(rest.len(), |(at, _)| comma + at);
        let (wait, end) = match single(&rest[..second_comma], reference) {
            Some(wait) => (wait, second_comma),
            None => (single(&rest[..comma], reference)?, comma),
        };
        longest = longest.max(Some(wait));
        rest = match rest[end..].strip_prefix(',') {
            // A comma at the very end promises a value that is not there.
            Some("") => return None,
            Some(more) => more,
            None => "",
        };
    }
    longest
}

fn single(text: &str, reference: Timestamp) -> Option<Duration> {
    let text = text.trim_ascii();
    seconds(text).or_else(|| http_date::parse(text, reference).map(|at| at.since(reference)))
}

/// `delay-seconds = 1*DIGIT`, and a fraction after it.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    // Digits alone fail to parse only when they are too many.
    let secs: u64 = whole.parse().unwrap_or(u64::MAX);
    let started = u64::from(fraction.bytes().any(|b| b != b'0'));
    Some(Duration::from_secs(secs.saturating_add(started)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2019-06-03T11:00:00Z.
    const NOW: Timestamp = Timestamp::from_secs(1_559_559_600);

    #[track_caller]
    fn check(values: &[&str], wanted_secs: Option<u64>) {
        check_with_date(values, None, wanted_secs);
    }

    #[track_caller]
    fn check_with_date(values: &[&str], date: Option<&str>, wanted_secs: Option<u64>) {
        let bytes: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
        let got = wait_from(&bytes, date.map(str::as_bytes), NOW);
        assert_eq!(got, wanted_secs.map(Duration::from_secs), "{values:?} with Date {date:?}");
    }

    #[test]
    fn delta_seconds_are_read() {
        check(&["0"], Some(0));
        check(&["120"], Some(120));
        check(&[" 00120\t"], Some(120));
        check(&["0.5"], Some(1));
        check(&["1.0"], Some(1));
        check(&["5."], Some(5));
    }

    #[test]
    fn garbage_is_ignored() {
        for value in [
            "",
            "-5",
            "-0",
            "+5",
            ".5",
            "1e3",
            "0x10",
            "2 minutes",
            "120s",
            "NaN",
            "²",
            "１２０",
            "\"120\"",
            "1.2.3",
            ",",
            "5,",
            "5,x",
        ] {
            check(&[value], None);
        }
        assert_eq!(wait_from(&[b"\xff120"], None, NOW), None);
        check(&[], None);
    }

    #[test]
    fn a_number_too_large_is_the_longest_wait() {
        for value in [
            "2592001",
            "4294967295",
            "18446744073709551616",
            "99999999999999999999999999",
            "99999999999999999999999999.9",
        ] {
            check(&[value], Some(MAX_WAIT.as_secs()));
        }
        check(&["Mon, 03 Jun 9999 11:00:00 GMT"], Some(MAX_WAIT.as_secs()));
    }

    #[test]
    fn a_date_is_measured_against_the_answers_own_clock() {
        let until = "Mon, 03 Jun 2019 11:30:12 GMT";
        check(&[until], Some(1812));
        check_with_date(&[until], Some("Mon, 03 Jun 2019 11:30:00 GMT"), Some(12));
        check_with_date(&[until], Some("Mon, 03 Jun 2019 09:30:12 GMT"), Some(7200));
        check_with_date(&[until], Some("yesterday"), Some(1812));
        check_with_date(&["120"], Some("Mon, 03 Jun 2019 09:30:12 GMT"), Some(120));
        check(&["Mon, 03 Jun 2019 10:59:50 GMT"], Some(0));
    }

    #[test]
    fn of_several_values_the_longest_counts() {
        check(&["30", "120"], Some(120));
        check(&["120", "30"], Some(120));
        check(&["garbage", "120", "-1"], Some(120));
        check(&["30, 120"], Some(120));
        check(&["30,Mon, 03 Jun 2019 11:30:12 GMT, 60"], Some(1812));
        check(&["Mon, 03 Jun 2019 11:00:10 GMT, Monday, 03-Jun-19 11:00:20 GMT,5"], Some(20));
    }

    #[test]
    fn it_applies_to_refusals_and_redirects_only() {
        for status in [0, 101, 301, 302, 308, 400, 403, 413, 429, 500, 503, 599, 999] {
            assert!(applies_to(status), "{status}");
        }
        for status in [200, 201, 206, 304, 404, 410] {
            assert!(!applies_to(status), "{status}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_no_wait_is_above_the_cap(values in proptest::collection::vec(".{0,80}|[0-9, .]{0,30}", 0..4), date in ".{0,40}") {
            let bytes: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
            if let Some(wait) = wait_from(&bytes, Some(date.as_bytes()), NOW) {
                prop_assert!(wait <= MAX_WAIT);
            }
        }

        #[test]
        fn whole_seconds_are_never_shortened(secs in 0u64..=30 * 24 * 60 * 60, other in 0u64..100) {
            let (first, second) = (secs.to_string(), other.to_string());
            let wait = wait_from(&[first.as_bytes(), second.as_bytes()], None, NOW).unwrap();
            prop_assert_eq!(wait, Duration::from_secs(secs.max(other)));
        }
    }
}
