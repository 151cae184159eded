//! Dates in URLs. A calendar is told from an archive by where its dates lie: an archive ends today.
//!
//! A date is a year with a month, and perhaps a day: `/2026/11/30/`, `/2026-11`, `?date=2026-11-30`, `?year=2026&month=11`. A year alone is
//! a number like any other. Whether `/2087/3/` is a month or the third page of thread 2087 cannot be told, nor whether `/parts/2345-12` is
//! a month. So a date counts as evidence only where it is *plain*: it has a day behind dashes, a leading zero, a name that means dates, or
//! stands behind a word that does. Any other only stands back, and only in the years of the web's own time.

use std::ops::Range;

use super::{Judgement, TrapKind};
use crate::time::Timestamp;
use crate::url::PageUrl;

/// A month further ahead than this is one of a calendar without an end: events are announced two years before at most.
pub const MAX_MONTHS_AHEAD: u32 = 24;

/// Thai sites count years from another start.
const THAI_ERA_OFFSET: u32 = 543;
/// Years before now in which a year of that era is taken for one.
const THAI_ERA_YEARS_BACK: u32 = 60;
/// Years in which a number that is not plainly a year is taken for one, to stand back.
const WEB_YEARS: Range<u32> = 1990..2050;
/// Parts of parameter names that speak of dates.
const DATE_NAMES: [&str; 5] = ["date", "month", "year", "day", "cal"];
/// Words of a path that speak of dates.
const DATE_WORDS: [&str; 12] = [
    "calendar",
    "calendars",
    "kalender",
    "calendrier",
    "calendario",
    "cal",
    "events",
    "event",
    "agenda",
    "month",
    "day",
    "week",
];

/// A date that a URL holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateInUrl {
    /// Months since the year 0.
    months: u32,
    /// From 1; 1 where only the month is given.
    day: u32,
    /// It is written as dates are written.
    is_plain: bool,
    /// Nothing follows it.
    is_last: bool,
    /// Where in `path_and_query` it stands: one piece, or year and month apart.
    places: [Range<usize>; 2],
}

impl DateInUrl {
    /// Whether it is written as dates are, so that it can be nothing else.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether its month, or its day, has not begun yet.
    pub(super) fn is_ahead(&self, now: Timestamp) -> bool {
        let (months, day) = months_and_day(now);
        let own = self.months_near(now);
        own > months || (own == months && self.day > day)
    }

    fn is_far_ahead(&self, now: Timestamp) -> bool {
        self.is_plain() && self.months_near(now) > months_and_day(now).0 + MAX_MONTHS_AHEAD
    }

    /// The same in the era that makes sense of it.
    fn months_near(&self, now: Timestamp) -> u32 {
        let (now_months, _) = months_and_day(now);
        let thai = self.months.checked_sub(THAI_ERA_OFFSET * 12);
        match thai {
            Some(months)
                if months + THAI_ERA_YEARS_BACK * 12 >= now_months && months <= now_months + MAX_MONTHS_AHEAD =>
            {
                months
            }
            Some(_) | None => self.months,
        }
    }

    /// A fingerprint of the URL with every date the same.
    pub(super) fn template(&self, url: &PageUrl) -> u64 {
        let text = url.path_and_query().as_bytes();
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(url.host().as_bytes());
        let mut at = 0;
        for place in &self.places {
            hasher.update(&text[at..place.start]);
            hasher.update(b"\0");
            at = place.end;
        }
        hasher.update(&text[at..]);
        hasher.digest()
    }
}

pub(super) fn judge(url: &PageUrl, now: Timestamp) -> Judgement {
    match find(url) {
        Some(date) if date.is_far_ahead(now) => Judgement::Trap(TrapKind::EndlessCalendar),
        Some(date) if date.is_last && (date.is_plain || WEB_YEARS.contains(&(date.months / 12))) => {
            Judgement::Suspect(TrapKind::EndlessCalendar)
        }
        Some(_) | None => Judgement::Clear,
    }
}

/// The first date in the path, else one in the query.
pub(super) fn find(url: &PageUrl) -> Option<DateInUrl> {
    let text = url.path_and_query();
    let path_len = url.as_url().path().len();
    in_path(text, path_len).or_else(|| in_query(text, path_len))
}

fn in_path(text: &str, path_len: usize) -> Option<DateInUrl> {
    let (path, query) = text.split_at(path_len);
    if !path.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut speaks_of_dates = false;
    let mut segments = pieces(path, 0, b'/').peekable();
    while let Some(place) = segments.next() {
        let segment = &path[place.clone()];
        speaks_of_dates |= DATE_WORDS.iter().any(|word| segment.eq_ignore_ascii_case(word));
        if let Some((months, day, len)) = dashed(segment) {
            let end = place.start + len;
            let is_last = query.is_empty() && path[end..].trim_end_matches('/').is_empty();
            let (places, is_plain) = ([place.start..end, end..end], speaks_of_dates || len == DAY_LEN);
            return Some(DateInUrl { months, day, is_plain, is_last, places });
        }
        let (Some(year), Some(next)) = (year(segment), segments.peek().cloned()) else { continue };
        let Some(month) = small_number(&path[next.clone()], 12) else { continue };
        let mut ahead = segments.clone();
        ahead.next();
        let day_place = ahead.next().filter(|place| small_number(&path[place.clone()], 31).is_some());
        let end = day_place.clone().unwrap_or(next.clone()).end;
        let is_plain = speaks_of_dates || path[next.clone()].starts_with('0');
        return Some(DateInUrl {
            months: year * 12 + month - 1,
            day: day_place.and_then(|place| small_number(&path[place], 31)).unwrap_or(1),
            is_plain,
            is_last: query.is_empty() && path[end..].trim_end_matches('/').is_empty(),
            places: [place.start..end, end..end],
        });
    }
    None
}

fn in_query(text: &str, path_len: usize) -> Option<DateInUrl> {
    let mut found_year: Option<(u32, Range<usize>)> = None;
    let mut found_month = None;
    for place in pieces(text, path_len, b'&') {
        let place = if text.as_bytes()[place.start] == b'?' { place.start + 1..place.end } else { place };
        let Some((name, value)) = text[place.clone()].split_once('=') else { continue };
        let value_at = place.start + name.len() + 1..place.end;
        if let Some((months, day, len)) = dashed(value).filter(|(.., len)| *len == value.len()) {
            let (end, name) = (value_at.start + len, name.to_ascii_lowercase());
            let is_plain = len == DAY_LEN || DATE_NAMES.iter().any(|part| name.contains(part));
            return Some(DateInUrl { months, day, is_plain, is_last: true, places: [value_at.start..end, end..end] });
        }
        let name = name.to_ascii_lowercase();
        if name == "y" || ["year", "yr", "jahr"].iter().any(|end| name.ends_with(end)) {
            found_year = year(value).map(|year| (year, value_at));
        } else if name == "m" || ["month", "mon", "mo", "monat"].iter().any(|end| name.ends_with(end)) {
            found_month = small_number(value, 12).map(|month| (month, value_at));
        }
    }
    let ((year, year_at), (month, month_at)) = (found_year?, found_month?);
    let places = if year_at.start < month_at.start { [year_at, month_at] } else { [month_at, year_at] };
    Some(DateInUrl { months: year * 12 + month - 1, day: 1, is_plain: true, is_last: true, places })
}

/// Length of `YYYY-MM-DD`.
const DAY_LEN: usize = 10;

/// `YYYY-MM` or `YYYY-MM-DD` at the start of a text: its months, its day, its length. Another digit must not follow.
fn dashed(text: &str) -> Option<(u32, u32, usize)> {
    let bytes = text.as_bytes();
    let is_dash = |at: usize| matches!(bytes.get(at), Some(b'-' | b'_'));
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let year = year(text.get(..4)?).filter(|_| is_dash(4))?;
    let month = small_number(text.get(5..7)?, 12)?;
    let months = year * 12 + month - 1;
    let day = text.get(8..10).filter(|_| is_dash(7) && !is_digit(10)).and_then(|day| small_number(day, 31));
    match day {
        Some(day) => Some((months, day, DAY_LEN)),
        None if is_digit(7) => None,
        None => Some((months, 1, 7)),
    }
}

fn year(text: &str) -> Option<u32> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|year| is_year && *year >= 1000)
}

fn small_number(text: &str, max: u32) -> Option<u32> {
    let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && (1..=max).contains(number))
}

/// Where the non-empty pieces between separators lie, from `start` on.
fn pieces(text: &str, start: usize, separator: u8) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
    let mut at = start;
    std::iter::from_fn(move || {
        while at < text.len() && text.as_bytes()[at] == separator {
            at += 1;
        }
        if at >= text.len() {
            return None;
        }
        let len = text.as_bytes()[at..].iter().position(|byte| *byte == separator).unwrap_or(text.len() - at);
        let place = at..at + len;
        at = place.end;
        Some(place)
    })
}

fn months_and_day(at: Timestamp) -> (u32, u32) {
    let (year, month, day) = crate::time::civil_from_days(at.as_secs() / 86_400);
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX / 24);
    (narrow(year) * 12 + narrow(month) - 1, narrow(day))
}
