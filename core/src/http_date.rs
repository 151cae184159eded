//! Points in time as HTTP writes them (RFC 9110 §5.6.7), and the near misses that servers send.
//!
//! Read are the three forms of the standard, and what differs from them without making the moment unclear: any case, a day of the
//! month in one digit, `UTC` or a numeric offset for `GMT`, a weekday that is missing or does not fit the date, hyphens with a year in
//! four digits; and RFC 3339. What leaves the moment open is not read: no zone, a zone by an abbreviation other than GMT and UTC.

use crate::time::Timestamp;

/// Longest text that is looked at, in bytes; the longest of the standard's forms has 33.
const MAX_DATE_BYTES: usize = 64;
/// A two-digit year is never read as more than this many years ahead (RFC 9110 §5.6.7).
const MAX_YEARS_AHEAD: i64 = 50;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The moment that `text` names; none where it names none. A moment before 1970 is [`Timestamp::EPOCH`], a part of a second is rounded
/// up. `seen_at` is when the text was received: a year in two digits is read by it.
pub fn parse(text: &str, seen_at: Timestamp) -> Option<Timestamp> {
    let text = text.trim_matches([' ', '\t']);
    if text.len() > MAX_DATE_BYTES || !text.is_ascii() {
        return None;
    }
    let moment = parse_rfc3339(text).or_else(|| match text.split_once(',') {
        Some((weekday, rest)) => is_weekday(weekday.trim()).then(|| parse_after_weekday(rest, seen_at))?,
        None => parse_asctime(text).or_else(|| parse_after_weekday(text, seen_at)),
    })?;
    Some(Timestamp::from_secs(u64::try_from(moment.to_unix_secs()?).unwrap_or(0)))
}

/// A date and time of day with its distance from UTC, as written.
#[derive(Clone, Copy)]
struct Moment {
    year: i64,
    month: u32,
    day: u32,
    secs_of_day: i64,
    offset_secs: i64,
}

impl Moment {
    /// Seconds since the epoch; none for a day that the month does not have.
    fn to_unix_secs(self) -> Option<i64> {
        let days_in_month = match self.month {
            4 | 6 | 9 | 11 => 30,
            2 if self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0) => 29,
            2 => 28,
            _ => 31,
        };
        if !(1..=days_in_month).contains(&self.day) {
            return None;
        }
        let days = days_from_civil(self.year, i64::from(self.month), i64::from(self.day));
        Some(days * 86_400 + self.secs_of_day - self.offset_secs)
    }
}

/// `06 Nov 1994 08:49:37 GMT`, or with `06-Nov-94` for the date.
fn parse_after_weekday(text: &str, seen_at: Timestamp) -> Option<Moment> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (day, month, year, time, zone) = match words[..] {
        [day, month, year, time, zone] => (day, month, year, time, zone),
        [date, time, zone] => {
            let mut parts = date.split('-');
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            if parts.next().is_some() {
                return None;
            }
            (day, month, year, time, zone)
        }
        _ => return None,
    };
    let offset_secs = parse_zone(zone)?;
    let moment = |year| {
        Some(Moment {
            year,
            month: parse_month(month)?,
            day: parse_day(day)?,
            secs_of_day: parse_time(time)?,
            offset_secs,
        })
    };
    match year.len() {
        4 => moment(digits(year)?),
        2 => newest_not_far_ahead(moment(digits(year)?)?, seen_at),
        _ => None,
    }
}

/// `Sun Nov  6 08:49:37 1994`, always UTC.
fn parse_asctime(text: &str) -> Option<Moment> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [weekday, month, day, time, year] = words[..] else { return None };
    if !is_weekday(weekday) || year.len() != 4 {
        return None;
    }
    Some(Moment {
        year: digits(year)?,
        month: parse_month(month)?,
        day: parse_day(day)?,
        secs_of_day: parse_time(time)?,
        offset_secs: 0,
    })
}

/// `2019-06-03T11:30:00Z`; the zone is required.
fn parse_rfc3339(text: &str) -> Option<Moment> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, tail) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let [year, month, day] = fields(date, '-')?;
    if [year.len(), month.len(), day.len()] != [4, 2, 2] {
        return None;
    }
    let (fraction, zone) = match tail.strip_prefix('.') {
        Some(tail) => tail.split_at(tail.find(|c: char| !c.is_ascii_digit())?),
        None => ("0", tail),
    };
    if fraction.is_empty() || zone.starts_with(' ') {
        return None;
    }
    let rounded_up = i64::from(fraction.bytes().any(|b| b != b'0'));
    let month = u32::try_from(digits(month)?).ok().filter(|month| (1..=12).contains(month))?;
    Some(Moment {
        year: digits(year)?,
        month,
        day: parse_day(day)?,
        secs_of_day: parse_time(time)? + rounded_up,
        offset_secs: parse_zone(zone)?,
    })
}

/// A year in two digits is the latest one that ends so and does not put the moment more than 50 years ahead (RFC 9110 §5.6.7).
fn newest_not_far_ahead(moment: Moment, seen_at: Timestamp) -> Option<Moment> {
    let seen_days = i64::try_from(seen_at.as_secs() / 86_400).ok()?;
    let seen_year = year_from_days(seen_days);
    let latest = seen_year + MAX_YEARS_AHEAD;
    let mut year = latest - (latest - moment.year).rem_euclid(100);
    if year == latest {
        // The very last year counts only up to the day and time of year at which the text was seen.
        let into_year =
            (seen_days - days_from_civil(seen_year, 1, 1)) * 86_400 + i64::try_from(seen_at.as_secs() % 86_400).ok()?;
        let limit = days_from_civil(latest, 1, 1) * 86_400 + into_year;
        let candidate = Moment { year, ..moment }.to_unix_secs();
        if candidate.is_none_or(|at| at > limit) {
            year -= 100;
        }
    }
    Some(Moment { year, ..moment })
}

fn is_weekday(word: &str) -> bool {
    WEEKDAYS.iter().any(|day| word.eq_ignore_ascii_case(day) || word.eq_ignore_ascii_case(&day[..3]))
}

fn parse_month(word: &str) -> Option<u32> {
    let index = MONTHS.iter().position(|month| word.eq_ignore_ascii_case(month))?;
    u32::try_from(index + 1).ok()
}

fn parse_day(word: &str) -> Option<u32> {
    (word.len() <= 2).then(|| digits(word)).flatten().and_then(|day| u32::try_from(day).ok())
}

/// `08:49:37`; the second may be a leap second (RFC 9110 §5.6.7).
fn parse_time(word: &str) -> Option<i64> {
    let parts = fields(word, ':')?;
    if parts.iter().any(|part| part.len() != 2) {
        return None;
    }
    let [hour, minute, second] = [digits(parts[0])?, digits(parts[1])?, digits(parts[2])?];
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Seconds ahead of UTC.
fn parse_zone(word: &str) -> Option<i64> {
    if ["GMT", "UTC", "UT", "Z"].iter().any(|name| word.eq_ignore_ascii_case(name)) {
        return Some(0);
    }
    let sign = match word.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = match word[1..].split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => word[1..].split_at_checked(2)?,
    };
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Exactly three parts.
fn fields(text: &str, separator: char) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

fn digits(word: &str) -> Option<i64> {
    (!word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())).then(|| word.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year in which a day since 1970-01-01 lies.
fn year_from_days(days: i64) -> i64 {
    // The mean length of a Gregorian year puts the guess at most one off.
    let guess = 1970 + (days * 400).div_euclid(146_097);
    (guess - 1..=guess + 1).rev().find(|year| days_from_civil(*year, 1, 1) <= days).unwrap_or(guess)
}

#[cfg(test)]
mod tests;
