//! Dates as they stand in `unavailable_after`: RFC 822 and its heirs, RFC 850, ISO 8601, and mixtures of them.
//!
//! Lenient about order and separators, strict about meaning: a word that is none of weekday, month, time or zone makes the whole
//! value unreadable. A value without a time means the start of that day, without a zone UTC; both are the earlier, stricter reading.

use crate::time::Timestamp;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Zone names of RFC 822 and those of Europe, with their offset from UTC in minutes.
const ZONES: [(&str, i64); 21] = [
    ("utc", 0),
    ("gmt", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("cest", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("jst", 540),
];

/// The moment that a date names; none if it cannot be read. Moments before 1970 are the epoch.
pub fn parse_date(value: &str) -> Option<Timestamp> {
    let mut date = Parts::default();
    let value = without_comments(value);
    for word in value.split(|c: char| c.is_whitespace() || matches!(c, ',' | '"' | '\'')) {
        if !word.is_empty() {
            date.take(&word.to_ascii_lowercase())?;
        }
    }
    date.moment()
}

/// Takes off what stands in brackets: a comment by RFC 822, in practice the zone's name after its offset, `-0800 (PST)`.
fn without_comments(value: &str) -> String {
    let mut depth = 0_usize;
    let kept = value.chars().filter(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    kept.collect()
}

#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    second_of_day: Option<i64>,
    offset_minutes: Option<i64>,
    is_afternoon: Option<bool>,
}

impl Parts {
    /// Files one word; none if it has no meaning or the place is taken.
    fn take(&mut self, word: &str) -> Option<()> {
        if let Some((date, time)) = word.split_once('t') {
            if is_iso_date(date) {
                self.iso_date(date)?;
                return self.time_and_zone(time);
            }
            if is_basic_iso_date(date) {
                self.basic_iso_date(date)?;
                return self.basic_time_and_zone(time);
            }
        }
        if is_basic_iso_date(word) {
            return self.basic_iso_date(word);
        }
        if is_iso_date(word) {
            return self.iso_date(word);
        }
        if let Some((_, minutes)) = ZONES.into_iter().find(|(name, _)| *name == word) {
            return put(&mut self.offset_minutes, minutes);
        }
        if word.starts_with(['+', '-']) {
            return put(&mut self.offset_minutes, offset(word)?);
        }
        // `GMT+0200`, as browsers print it.
        if let Some(of_utc) = ["gmt", "utc"].into_iter().find_map(|zone| word.strip_prefix(zone))
            && of_utc.starts_with(['+', '-'])
        {
            return put(&mut self.offset_minutes, offset(of_utc)?);
        }
        if word.contains(':') {
            return self.time_and_zone(word);
        }
        if word == "am" || word == "pm" {
            return put(&mut self.is_afternoon, word == "pm");
        }
        // `03-Jul-13`, `3/Jul/2013`, or a single word.
        word.split(['-', '/']).try_for_each(|part| self.word_or_number(part))
    }

    fn word_or_number(&mut self, word: &str) -> Option<()> {
        let word = word.strip_suffix('.').unwrap_or(word);
        if let Some(month) = month_of(word) {
            return put(&mut self.month, month);
        }
        if word.len() >= 3 && WEEKDAYS.iter().any(|name| name.starts_with(word)) {
            return Some(());
        }
        let digits = ["st", "nd", "rd", "th"].into_iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let number = number(digits)?;
        match digits.len() {
            4 => put(&mut self.year, number),
            1 | 2 if self.day.is_none() => put(&mut self.day, number),
            // RFC 850 writes years with two digits; like the HTTP-date parsers, 70 to 99 are of the last century.
            2 => put(&mut self.year, if number < 70 { 2000 + number } else { 1900 + number }),
            _ => None,
        }
    }

    fn iso_date(&mut self, date: &str) -> Option<()> {
        put(&mut self.year, number(&date[..4])?)?;
        put(&mut self.month, number(&date[5..7])?)?;
        put(&mut self.day, number(&date[8..])?)
    }

    /// `20130703`.
    fn basic_iso_date(&mut self, date: &str) -> Option<()> {
        put(&mut self.year, number(&date[..4])?)?;
        put(&mut self.month, number(&date[4..6])?)?;
        put(&mut self.day, number(&date[6..])?)
    }

    /// `153000` or `1530`, with a zone glued on or not.
    fn basic_time_and_zone(&mut self, text: &str) -> Option<()> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (time, zone) = text.split_at(end);
        let fields = match time.len() {
            4 => format!("{}:{}", &time[..2], &time[2..]),
            6 => format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]),
            _ => return None,
        };
        self.time_and_zone(&(fields + zone))
    }

    /// `15:30`, `15:30:00.5`, with `Z`, `+02:00` or a zone's name glued on, or `3:30pm`.
    fn time_and_zone(&mut self, text: &str) -> Option<()> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
        let (time, zone) = text.split_at(end);
        let mut fields = time.split(':');
        let hour = number(fields.next()?)?;
        let minute = number(fields.next().unwrap_or("0"))?;
        let second = number(fields.next().unwrap_or("0").split('.').next()?)?;
        // 24:00 ends a day and 60 is a leap second; both are written.
        if fields.next().is_some() || hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        put(&mut self.second_of_day, hour * 3600 + minute * 60 + second)?;
        if zone.is_empty() { Some(()) } else { self.take(zone) }
    }

    fn moment(self) -> Option<Timestamp> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let mut second = self.second_of_day.unwrap_or(0);
        match self.is_afternoon {
            Some(true) if second < 43_200 => second += 43_200,
            Some(false) if second >= 43_200 => second -= 43_200,
            Some(_) | None => {}
        }
        let since_epoch = days_since_epoch(year, month, day) * 86_400 + second - self.offset_minutes.unwrap_or(0) * 60;
        Some(Timestamp::from_secs(u64::try_from(since_epoch).unwrap_or(0)))
    }
}

fn put<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

fn number(digits: &str) -> Option<i64> {
    // A sign or an empty string is no number here, and nine digits cannot overflow.
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn month_of(word: &str) -> Option<i64> {
    let position = MONTHS.iter().position(|m| *m == word).or_else(|| MONTH_NAMES.iter().position(|m| *m == word));
    // The RFCs write three letters; "Sept" is common all the same.
    position.or((word == "sept").then_some(8)).and_then(|at| i64::try_from(at + 1).ok())
}

/// `2013-07-03` and `2013/07/03`.
fn is_iso_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, b)| match at {
            4 | 7 => matches!(b, b'-' | b'/'),
            _ => b.is_ascii_digit(),
        })
}

/// `20130703`: eight digits are no year, no day and no time.
fn is_basic_iso_date(word: &str) -> bool {
    word.len() == 8 && word.bytes().all(|b| b.is_ascii_digit())
}

/// `+0200`, `-05:00`, `+02`, `+2`, in minutes.
fn offset(word: &str) -> Option<i64> {
    let sign = if word.starts_with('-') { -1 } else { 1 };
    let digits = word[1..].replace(':', "");
    let value = number(&digits)?;
    let (hours, minutes) = match digits.len() {
        1 | 2 => (value, 0),
        4 => (value / 100, value % 100),
        _ => return None,
    };
    (hours <= 15 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a Gregorian date, counted by leap years before it.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let past = year - 1;
    let leap_days = past / 4 - past / 100 + past / 400;
    let of_months: i64 = (1..month).map(|m| days_in(year, m)).sum();
    // 719,162 days lie between 0001-01-01 and 1970-01-01.
    past * 365 + leap_days + of_months + day - 1 - 719_162
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, wanted: &str) {
        let shown = parse_date(value).map(|moment| moment.to_string());
        assert_eq!(shown.as_deref(), Some(wanted), "value {value:?}");
    }

    #[test]
    fn reads_every_form_in_use() {
        check("25 Jun 2010 15:00:00 PST", "2010-06-25T23:00:00.000Z");
        check("Fri, 25 Jun 2010 15:00:00 GMT", "2010-06-25T15:00:00.000Z");
        check("Wednesday, 03-Jul-13 15:30:00 GMT", "2013-07-03T15:30:00.000Z");
        check("Wed Jul  3 15:30:00 2013", "2013-07-03T15:30:00.000Z");
        check("25-Aug-2007 15:00:00 EST", "2007-08-25T20:00:00.000Z");
        check("2020-09-21", "2020-09-21T00:00:00.000Z");
        check("2020-09-21T23:59:59+02:00", "2020-09-21T21:59:59.000Z");
        check("2020-09-21t23:59:59.25z", "2020-09-21T23:59:59.000Z");
        check("2020-09-21 08:05 UTC", "2020-09-21T08:05:00.000Z");
        check("2020-09-21T08:05:00 -0330", "2020-09-21T11:35:00.000Z");
        check("July 4th, 2030 3:15 pm", "2030-07-04T15:15:00.000Z");
        check("29 February 2024 24:00", "2024-03-01T00:00:00.000Z");
        check("1 Jan 1950", "1970-01-01T00:00:00.000Z");
        check("Fri, 25 Jun 2010 15:00:00 -0800 (PST)", "2010-06-25T23:00:00.000Z");
        check("Fri Jun 25 2010 15:00:00 GMT+0200 (Central European Summer Time)", "2010-06-25T13:00:00.000Z");
        check("25 Jun 2010 15:00 UTC+2", "2010-06-25T13:00:00.000Z");
        check("20100625", "2010-06-25T00:00:00.000Z");
        check("20100625T150000Z", "2010-06-25T15:00:00.000Z");
        check("20100625T1500+0200", "2010-06-25T13:00:00.000Z");
        check("2010/06/25 15:00", "2010-06-25T15:00:00.000Z");
    }

    #[test]
    fn what_is_no_date_is_none() {
        for value in [
            "",
            "soon",
            "0",
            "30 Feb 2020",
            "2020-13-01",
            "25 Jun",
            "25 Jun 2010 25:00",
            "25 Jun 2010 x",
            "2010 2011",
            "1 2 3 4",
        ] {
            assert_eq!(parse_date(value), None, "value {value:?}");
        }
    }

    #[test]
    fn counts_days_like_the_calendar_that_prints_them() {
        for day in (0..60_000).step_by(17) {
            let shown = Timestamp::from_secs(day * 86_400).to_string();
            assert_eq!(parse_date(&shown[..10]), Some(Timestamp::from_secs(day * 86_400)), "day {day}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(value in "[0-9a-zA-Z:+/, .é-]{0,40}") {
            parse_date(&value);
        }
    }
}
