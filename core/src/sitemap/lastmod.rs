//! Times as sitemaps and feeds write them: W3C datetime, and RFC 822 with its heirs.
//!
//! Of W3C datetime (a profile of ISO 8601) all six forms are read, and near misses that leave the moment clear: a space for the `T`, an
//! offset without its colon, none at all (UTC). Of RFC 822 a date is read only with its time and zone. Times before 1970 are none: no web
//! page is that old, so they are a field that nobody filled in.

use crate::http_date::days_from_civil;
use crate::time::Timestamp;

/// Longest text that is looked at, in bytes.
const MAX_DATE_BYTES: usize = 64;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Zones by name (RFC 822 §5.1), in hours ahead of UTC.
const ZONES: [(&str, i64); 12] = [
    ("z", 0),
    ("ut", 0),
    ("gmt", 0),
    ("utc", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// A date and a time of day in UTC, or ahead of it.
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    millis_of_day: i64,
    offset_minutes: i64,
}

/// The moment that `text` names; none where it names none, or one before 1970.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() > MAX_DATE_BYTES || !text.is_ascii() {
        return None;
    }
    let is_w3c = text.len() >= 4 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let moment = if is_w3c { w3c(text) } else { rfc822(text) }?;
    let is_leap = moment.year % 4 == 0 && (moment.year % 100 != 0 || moment.year % 400 == 0);
    let days_in_month = match moment.month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => 31,
    };
    if !(1..=12).contains(&moment.month) || !(1..=days_in_month).contains(&moment.day) {
        return None;
    }
    let days = days_from_civil(moment.year, moment.month, moment.day);
    let millis = days * 86_400_000 + moment.millis_of_day - moment.offset_minutes * 60_000;
    u64::try_from(millis).ok().map(Timestamp::from_millis)
}

/// `2014`, `2014-06`, `2014-06-03`, `2014-06-03T10:30Z`, `2014-06-03T10:30:45+01:00`, `2014-06-03T10:30:45.82+01:00`. What is left out is
/// the start of it.
fn w3c(text: &str) -> Option<Moment> {
    let date_end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len()).min(10);
    let (date, rest) = text.split_at(date_end);
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |month| number(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| number(day, 2))?;
    let midnight = Moment { year, month, day, millis_of_day: 0, offset_minutes: 0 };
    if rest.is_empty() {
        return Some(midnight);
    }
    if date.len() != 10 {
        return None;
    }
    let Some(time_and_zone) = rest.strip_prefix(['T', 't', ' ']) else {
        // A date of XML Schema may have a zone: `2014-06-03+02:00`.
        let is_whole = rest.eq_ignore_ascii_case("z") || rest.contains(':');
        return is_whole.then(|| zone(rest)).flatten().map(|offset_minutes| Moment { offset_minutes, ..midnight });
    };
    let time_and_zone = time_and_zone.trim_start();
    let time_end = time_and_zone.find(|c: char| !matches!(c, '0'..='9' | ':' | '.')).unwrap_or(time_and_zone.len());
    let (time, zone_text) = time_and_zone.split_at(time_end);
    let zone_text = zone_text.trim_start();
    let offset_minutes = if zone_text.is_empty() { 0 } else { zone(zone_text)? };
    Some(Moment { millis_of_day: time_of_day(time)?, offset_minutes, ..midnight })
}

/// `Thu, 05 Jan 2017 13:34:51 +0100`, the weekday left out or not, the year in two digits, or all of the date with hyphens.
fn rfc822(text: &str) -> Option<Moment> {
    let text = match text.split_once(',') {
        Some((weekday, rest)) if weekday.bytes().all(|byte| byte.is_ascii_alphabetic()) => rest,
        Some(_) => return None,
        None => text,
    };
    let mut words = text.split_ascii_whitespace().flat_map(|word| {
        // An offset begins with its hyphen; a date has two of them inside.
        let is_date = word.bytes().filter(|byte| *byte == b'-').count() == 2;
        word.splitn(if is_date { 3 } else { 1 }, '-')
    });
    let mut next = || words.next();
    let first = next()?;
    let day = if first.bytes().all(|byte| byte.is_ascii_alphabetic()) { next()? } else { first };
    let (month, year, time, zone_text) = (next()?, next()?, next()?, next()?);
    if next().is_some() {
        return None;
    }
    Some(Moment {
        year: rfc2822_year(year)?,
        month: month_of(month)?,
        day: number(day, 1).or_else(|| number(day, 2))?,
        millis_of_day: time_of_day(time)?,
        offset_minutes: zone(zone_text)?,
    })
}

/// Years in two digits as RFC 2822 §4.3 reads them.
fn rfc2822_year(text: &str) -> Option<i64> {
    match number(text, 2) {
        Some(year @ 0..=49) => Some(2000 + year),
        Some(year) => Some(1900 + year),
        None => number(text, 4),
    }
}

/// The English name or its first three letters.
fn month_of(word: &str) -> Option<i64> {
    let short = word.get(..3).filter(|_| word.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(short))?;
    i64::try_from(at + 1).ok()
}

/// `10:30`, `10:30:45` or `10:30:45.82`, in milliseconds; the second may be a leap second.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let (second, fraction) = match parts.next() {
        None => ("00", ""),
        Some(second) => second.split_once('.').unwrap_or((second, "")),
    };
    let second = number(second, 2)?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut millis = 0;
    for place in 0..3 {
        let digit = fraction.as_bytes().get(place).map_or(Some(0), |byte| char::from(*byte).to_digit(10))?;
        millis = millis * 10 + i64::from(digit);
    }
    Some((hour * 3600 + minute * 60 + second) * 1000 + millis)
}

/// `Z`, `GMT`, `EST`, `+01:00`, `+0100` or `+01`, in minutes ahead of UTC.
fn zone(text: &str) -> Option<i64> {
    if let Some((_, hours)) = ZONES.into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name)) {
        return Some(hours * 60);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &text[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 2 => (digits, "00"),
        None => digits.split_at_checked(2)?,
    };
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Exactly so many digits.
fn number(text: &str, num_digits: usize) -> Option<i64> {
    (text.len() == num_digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Option<&str>) {
        let got = parse(text).map(|at| at.to_string());
        assert_eq!(got.as_deref(), wanted, "{text:?}");
    }

    #[test]
    fn all_forms_of_w3c_datetime_are_read() {
        check("2014", Some("2014-01-01T00:00:00.000Z"));
        check("2014-06", Some("2014-06-01T00:00:00.000Z"));
        check("2014-06-03", Some("2014-06-03T00:00:00.000Z"));
        check("2014-06-03T10:30+00:00", Some("2014-06-03T10:30:00.000Z"));
        check("2014-06-03T10:30:45-05:00", Some("2014-06-03T15:30:45.000Z"));
        check("1997-07-16T19:20:30.45+01:00", Some("1997-07-16T18:20:30.450Z"));
        check("2014-06-03T10:30:45.8299999999Z", Some("2014-06-03T10:30:45.829Z"));
        check("2016-12-31T23:59:60Z", Some("2017-01-01T00:00:00.000Z"));
        check("2024-02-29", Some("2024-02-29T00:00:00.000Z"));
        check(" 2099-01-01\n", Some("2099-01-01T00:00:00.000Z"));
    }

    #[test]
    fn near_misses_of_w3c_datetime_are_read_where_the_moment_is_clear() {
        check("2014-06-03 10:30:45", Some("2014-06-03T10:30:45.000Z"));
        check("2014-06-03T10:30:45", Some("2014-06-03T10:30:45.000Z"));
        check("2014-06-03t10:30:45 +0000", Some("2014-06-03T10:30:45.000Z"));
        check("2014-06-03T10:30:45+02", Some("2014-06-03T08:30:45.000Z"));
        check("2014-06-03 10:30:45 UTC", Some("2014-06-03T10:30:45.000Z"));
        check("2014-06-03+02:00", Some("2014-06-02T22:00:00.000Z"));
        check("2014-06-03Z", Some("2014-06-03T00:00:00.000Z"));
    }

    #[test]
    fn dates_of_mail_are_read_with_time_and_zone_alone() {
        check("Thu, 05 Jan 2017 13:34:51 +0100", Some("2017-01-05T12:34:51.000Z"));
        check("05 Jan 17 12:34:53 GMT", Some("2017-01-05T12:34:53.000Z"));
        check("Thu, 5 Jan 2017 12:34 EST", Some("2017-01-05T17:34:00.000Z"));
        check("Thursday, 05-January-2017 12:34:50 UT", Some("2017-01-05T12:34:50.000Z"));
        check("Thu 05 Jan 2017 12:34:50 Z", Some("2017-01-05T12:34:50.000Z"));
        check("Thu, 05 Jan 2017 12:34:50", None);
        check("Thu, 05 Jan 2017", None);
        check("Thu, 05 Foo 2017 12:34:50 GMT", None);
        check("Thu, 05 Jan 2017 12:34:50 GMT GMT", None);
    }

    #[test]
    fn what_names_no_moment_is_none() {
        for text in [
            "",
            "blah",
            "0000-00-00T00:00:00+00:00",
            "-0001-11-30T00:00:00+00:00",
            "0001-01-01T00:00:00Z",
            "1969-12-31",
            "2014-13-45",
            "2014-02-29",
            "2014-00-10",
            "2014-6-3",
            "20140603",
            "1401791445",
            "2014-06-03T24:00:00Z",
            "2014-06-03T10",
            "2014-06-03T",
            "2014-06T10:30Z",
            "2014-06-03T10:30:45+1:00",
            "2014-06-03T10:30:45 XYZ",
            "2014-06-03-04",
            "2014-",
            "\u{661}\u{662}\u{663}\u{664}",
        ] {
            check(text, None);
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[0-9a-zA-Z:+/, .-]{0,40}") {
            parse(&text);
        }
    }
}
