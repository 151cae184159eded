//! What only many URLs together show: pages of one calendar, combinations of filters, one page under many session ids.
//!
//! [`QueueShape`] is made from a site's queue when links come, and forgotten with them: it costs no memory between pages. Invariant: what
//! it counts is what the queue holds, done with or not, so that its caps hold over a whole cycle and over the next one.

use std::collections::{HashMap, HashSet};

use super::date::{self, DateInUrl};
use super::query::ParameterSet;
use super::{TrapKind, session};
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Most URLs of a site that differ in nothing but a date, as long as no date lies ahead: as many as a cycle has requests.
pub const MAX_DATES_OF_TEMPLATE: usize = 20;
/// The same where a date lies ahead, as no archive has it: so many pages of a calendar may be asked for.
pub const MAX_CALENDAR_PAGES: usize = 4;
/// Most combinations of filters on one path.
pub const MAX_GROWN_QUERIES: usize = 4;
/// Most queries on paths that differ in nothing but numbers: ten times what a cycle can ask for, so that there is a choice left.
pub const MAX_QUERIES_OF_TEMPLATE: usize = 200;

/// Queries of one path that are remembered to compare others with.
const MAX_COMPARED_QUERIES: usize = 64;
/// Known queries that a query must hold to count as a combination: one is held by any detail of a list.
const MIN_COMBINED_QUERIES: usize = 2;

/// The URLs of one queue, seen together.
#[derive(Clone, Debug)]
pub struct QueueShape {
    now: Timestamp,
    dates: HashMap<u64, DateGroup>,
    paths: HashMap<u64, PathGroup>,
    templates: HashMap<u64, usize>,
    bare: HashSet<u64>,
}

/// URLs that differ in a date.
#[derive(Clone, Copy, Debug, Default)]
struct DateGroup {
    num: usize,
    is_ahead: bool,
}

/// Queries of one path.
#[derive(Clone, Debug, Default)]
struct PathGroup {
    known: Vec<ParameterSet>,
    num_grown: usize,
}

/// What of a URL the shape is about.
struct Features {
    /// One that is plainly a date.
    date: Option<DateInUrl>,
    parameters: Option<ParameterSet>,
    bare: Option<String>,
}

impl QueueShape {
    /// Of these URLs.
    pub fn of<'a>(urls: impl IntoIterator<Item = &'a PageUrl>, now: Timestamp) -> Self {
        let (dates, paths, templates, bare) = (HashMap::new(), HashMap::new(), HashMap::new(), HashSet::new());
        let mut shape = Self { now, dates, paths, templates, bare };
        for url in urls {
            shape.note(url, &Features::of(url), None);
        }
        shape
    }

    /// Whether the shape has anything to say about a URL; where not, none need be made for it.
    pub fn concerns(url: &PageUrl) -> bool {
        let path = url.as_url().path();
        url.as_url().query().is_some() || path.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b'('))
    }

    /// Lets a URL in that `from` links to, where that is known, and counts it; or says what it is too much of.
    pub fn admit(&mut self, url: &PageUrl, from: Option<&PageUrl>) -> Result<(), TrapKind> {
        let features = Features::of(url);
        if features.bare.as_ref().is_some_and(|bare| self.bare.contains(&print(url, bare))) {
            return Err(TrapKind::SessionId);
        }
        if let Some(date) = &features.date {
            let group = self.dates.get(&date.template(url)).copied().unwrap_or_default();
            let is_calendar = group.is_ahead || date.is_ahead(self.now);
            let most = if is_calendar { MAX_CALENDAR_PAGES } else { MAX_DATES_OF_TEMPLATE };
            if group.num >= most {
                return Err(TrapKind::EndlessCalendar);
            }
        }
        if let Some(parameters) = &features.parameters {
            if self.templates.get(&template(url)).is_some_and(|num| *num >= MAX_QUERIES_OF_TEMPLATE) {
                return Err(TrapKind::CrowdedTemplate);
            }
            let path = self.paths.get(&path_print(url));
            let is_full = path.is_some_and(|path| path.num_grown >= MAX_GROWN_QUERIES);
            if is_full && path.is_some_and(|path| path.is_grown(parameters, from_same_path(url, from).as_ref())) {
                return Err(TrapKind::GrowingQuery);
            }
        }
        self.note(url, &features, from);
        Ok(())
    }

    fn note(&mut self, url: &PageUrl, features: &Features, from: Option<&PageUrl>) {
        let bare = features.bare.as_deref().unwrap_or_else(|| url.path_and_query());
        self.bare.insert(print(url, bare));
        if let Some(date) = &features.date {
            let group = self.dates.entry(date.template(url)).or_default();
            group.num += 1;
            group.is_ahead |= date.is_ahead(self.now);
        }
        if let Some(parameters) = &features.parameters {
            *self.templates.entry(template(url)).or_default() += 1;
            let path = self.paths.entry(path_print(url)).or_default();
            path.num_grown += usize::from(path.is_grown(parameters, from_same_path(url, from).as_ref()));
            if path.known.len() < MAX_COMPARED_QUERIES && !path.known.contains(parameters) {
                path.known.push(parameters.clone());
            }
        }
    }
}

impl PathGroup {
    /// Whether a query combines what are queries of their own, or is the linking page's grown by one more.
    fn is_grown(&self, parameters: &ParameterSet, from: Option<&ParameterSet>) -> bool {
        let has_grown = from.is_some_and(|from| from.len() > 1 && parameters.has_grown_from(from));
        let num_held = self.known.iter().filter(|known| parameters.has_grown_from(known)).count();
        has_grown || num_held >= MIN_COMBINED_QUERIES || self.known.iter().any(|known| parameters.is_reordered(known))
    }
}

impl Features {
    fn of(url: &PageUrl) -> Self {
        let parameters = url.as_url().query().map(ParameterSet::of);
        Self { date: date::find(url).filter(DateInUrl::is_plain), parameters, bare: session::without_session(url) }
    }
}

/// The query of the linking page, if it lies on the same path.
fn from_same_path(url: &PageUrl, from: Option<&PageUrl>) -> Option<ParameterSet> {
    let from = from.filter(|from| path_print(from) == path_print(url))?;
    from.as_url().query().map(ParameterSet::of)
}

fn path_print(url: &PageUrl) -> u64 {
    print(url, url.as_url().path())
}

fn print(url: &PageUrl, text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), xxhash_rust::xxh3::xxh3_64(url.host().as_bytes()))
}

/// A fingerprint of host and path with all numbers the same.
fn template(url: &PageUrl) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(url.host().as_bytes());
    for part in url.as_url().path().split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()) {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    hasher.digest()
}
