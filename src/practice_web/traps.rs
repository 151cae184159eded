//! Sites with a part that has no end: what lies in it, and what links to what there.
//!
//! The pages of a trap are planned like any others, far more of them than a crawl may ask for, so that each has its label. What a trap
//! would go on with beyond the last planned page is not linked to.

use fastrand::Rng;

use super::{
    faults::{RobotsKind, TrapKind},
    generate::html_page,
    labels::{AnswerKind, Storage},
    plan::PracticePlan,
    site_plan::{PagePlan, SitePlan},
};

/// Ordinary pages of a site with a trap: few, so that a crawl has requests left for the trap.
pub(super) const NUM_PAGES_BESIDE_TRAP: usize = 6;
/// The years of the calendar.
const YEARS: std::ops::RangeInclusive<u32> = 2016..=2045;
/// The month of the calendar that ordinary pages link to.
const FIRST_MONTH: (u32, u32) = (2026, 11);
/// Pages that are linked under session ids.
pub const NUM_ITEMS: usize = 4;
/// Session ids of each.
const NUM_SESSIONS: usize = 6;
/// Levels of the path that grows.
const NUM_LEVELS: usize = 20;
/// The list with filters.
const LIST: &str = "/shop";
/// Its filters, with two values each.
const FILTERS: [(&str, [&str; 2]); 4] =
    [("color", ["red", "blue"]), ("size", ["s", "m"]), ("brand", ["oak", "elm"]), ("stock", ["yes", "soon"])];

/// The trap that a site has: of those that the plan asks for, each has one site with plain rules.
pub(super) fn kind_of(plan: &PracticePlan, index: usize, robots: RobotsKind) -> Option<TrapKind> {
    let is_plain = matches!(robots, RobotsKind::OwnGroup | RobotsKind::Empty);
    // The sites between them, and the one whose sitemap nobody names, are there to show something else.
    if !is_plain || index % 4 != 2 || index == super::sitemaps::UNNAMED_SITE {
        return None;
    }
    let is_past_unnamed = index > super::sitemaps::UNNAMED_SITE;
    plan.faults.traps().nth(index / 4 - usize::from(is_past_unnamed))
}

/// Adds the pages of the site's trap.
pub(super) fn add(plan: &PracticePlan, site: &mut SitePlan, rng: &mut Rng) {
    let Some(kind) = site.trap else { return };
    for (path, is_real) in pages(kind) {
        let page = html_page(plan, rng, site, path, site.language);
        let (answer, storage) = match is_real {
            true => (AnswerKind::Page, Storage::Stored),
            false => (AnswerKind::Trap(kind), Storage::Either),
        };
        site.pages.push(PagePlan { answer, storage, target_bytes: 0, ..page });
    }
}

/// Whether the links to a page are those that [`links_on`] gives.
pub(super) fn links_itself(site: &SitePlan, page: &PagePlan) -> bool {
    site.trap == Some(TrapKind::Filters) && page.path.starts_with(LIST)
}

/// The paths of a trap, and whether a person would miss the page: a list with one filter is a page like any other.
fn pages(kind: TrapKind) -> Vec<(String, bool)> {
    match kind {
        TrapKind::Calendar => {
            let months = YEARS.flat_map(|year| (1..=12).map(move |month| (year, month)));
            months.map(|month| (month_path(month), false)).collect()
        }
        TrapKind::Sessions => {
            let all = (0..NUM_ITEMS).flat_map(|item| (0..NUM_SESSIONS).map(move |session| (item, session)));
            all.map(|(item, session)| (item_path(item, session), false)).collect()
        }
        TrapKind::GrowingPath => (1..=NUM_LEVELS).map(|level| (level_path(level), false)).collect(),
        TrapKind::Filters => {
            let mut chosen = vec![Vec::new()];
            for filter in FILTERS {
                let more = chosen.clone();
                for value in filter.1 {
                    chosen.extend(more.iter().map(|list| [list.clone(), vec![(filter.0, value)]].concat()));
                }
            }
            chosen.into_iter().map(|filters| (list_path(&filters), filters.len() < 2)).collect()
        }
    }
}

/// The paths that a page of the site links to beside the links that every page has.
pub(super) fn links_on(site: &SitePlan, index: usize) -> Vec<String> {
    let Some(kind) = site.trap else { return Vec::new() };
    let path = site.pages[index].path.as_str();
    match kind {
        TrapKind::Calendar => match month_of(path) {
            None => vec![month_path(FIRST_MONTH)],
            Some((year, month)) => {
                let before = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
                let after = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                let same = YEARS.rev().map(|year| (year, month));
                [before, after].into_iter().chain(same).map(month_path).collect()
            }
        },
        // Each page has a session of its own, as if each visit began there.
        TrapKind::Sessions => (0..NUM_ITEMS).map(|item| item_path(item, index % NUM_SESSIONS)).collect(),
        TrapKind::GrowingPath => {
            let level = path.matches("wiki/").count();
            vec![level_path(level + 1)]
        }
        TrapKind::Filters => {
            let chosen = path.strip_prefix(LIST).map(|query| query.trim_start_matches('?'));
            let Some(chosen) = chosen else { return vec![LIST.to_owned()] };
            let of_path: Vec<(&str, &str)> = chosen.split('&').filter_map(|one| one.split_once('=')).collect();
            let open = FILTERS.iter().filter(|(name, _)| of_path.iter().all(|(known, _)| known != name));
            let more = open.flat_map(|(name, values)| values.iter().map(move |value| (*name, *value)));
            more.map(|one| list_path(&in_order([of_path.clone(), vec![one]].concat()))).collect()
        }
    }
}

fn month_path((year, month): (u32, u32)) -> String {
    format!("/calendar/{year}/{month}/")
}

fn month_of(path: &str) -> Option<(u32, u32)> {
    let (year, month) = path.strip_prefix("/calendar/")?.trim_end_matches('/').split_once('/')?;
    Some((year.parse().ok()?, month.parse().ok()?))
}

/// The path of an item under a session id.
fn item_path(item: usize, session: usize) -> String {
    let id = (session as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("/item/{item}.html?osCsid={id:016x}{id:016x}")
}

fn level_path(level: usize) -> String {
    format!("/{}", "wiki/".repeat(level))
}

fn list_path(filters: &[(&str, &str)]) -> String {
    if filters.is_empty() {
        return LIST.to_owned();
    }
    let parameters: Vec<String> = filters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{LIST}?{}", parameters.join("&"))
}

fn in_order<'a>(mut filters: Vec<(&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    filters.sort_by_key(|(name, _)| FILTERS.iter().position(|(known, _)| known == name));
    filters
}
