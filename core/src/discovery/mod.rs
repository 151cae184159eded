//! Which links are worth a place in a site's queue: the defences against traps, and why a link was left out.
//!
//! A trap is a part of a site that has no end: a calendar that goes on for ever, links that carry a new session id each time, paths that
//! grow by a broken relative link, filters that are combined in every way. A URL that is dropped wrongly is a page lost; a trap that is
//! followed costs requests, of which a cycle has twenty. So evidence decides how hard a defence is:
//!
//! - **dropped**, where the URL alone is proof enough ([`Judgement::Trap`]): a word three times in a row or four times in a path, a
//!   sequence of segments three times in a row, more than [`MAX_PATH_SEGMENTS`] segments, a month that is years ahead, the same parameter
//!   three times, more than [`MAX_PARAMETERS`] parameters;
//! - **ranked last**, where it is a hint ([`Judgement::Suspect`]): a sequence repeated once, an address that is nothing but a date, many
//!   parameters, one of them repeated. Such a URL is asked for when nothing else waits, so no page is lost by it;
//! - **capped**, where only many of a kind tell ([`QueueShape`]): pages of one calendar, combinations of filters, queries of one path; and
//!   a page that is known already comes in under no second session id. What is known first is taken, the rest is dropped.
//!
//! What the answers of a site tell is learnt where its next page is chosen ([`crate::page_choice`]); which URLs are alike for that, so that
//! one's answer says something about another, is said here ([`likenesses`]).
//!
//! What it deliberately does not do: look at pages. Twins and duplicates are told apart elsewhere; robots.txt, exclusions and addresses
//! are not asked here either. A seed is never judged: it is the operator's word.
//!
//! Sources of the ideas: Heritrix's `PathologicalPathDecideRule` and `TooManyPathSegmentsDecideRule`, Nutch's default URL filter, and the
//! chapter on traps in Olston and Najork, "Web Crawling" (2010). The caps are this crawler's own, measured by the budget of twenty.
//! Of 109,226 links that pages and documentation of others hold, the rules for single URLs dropped eight, all of them counters of
//! advertisers or forms, and let 299 stand back: archives by month, and queries with many parameters.
//!
//! Invariants: no decision depends on anything but its arguments; a judgement costs time linear in the URL.

mod date;
mod dropped;
mod likeness;
mod path;
mod query;
mod session;
mod shape;
#[cfg(test)]
mod tests;

use crate::time::Timestamp;
use crate::url::PageUrl;

pub use date::MAX_MONTHS_AHEAD;
pub use dropped::{LinkDrop, LinkDropCounts, NUM_LINK_DROPS};
pub use likeness::{NUM_LIKENESSES, likenesses};
pub use path::MAX_PATH_SEGMENTS;
pub use query::{MAX_PARAMETERS, MAX_PLAIN_PARAMETERS};
pub use shape::{MAX_CALENDAR_PAGES, MAX_DATES_OF_TEMPLATE, MAX_GROWN_QUERIES, MAX_QUERIES_OF_TEMPLATE, QueueShape};

/// What makes a URL look like part of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrapKind {
    /// One segment stands in the path again and again: a relative link that should have been an absolute one.
    RepeatedSegment,
    /// A sequence of segments is repeated, for the same reason.
    RepeatedSequence,
    /// The path is deeper than any that people made.
    DeepPath,
    /// A calendar: each page links to the next month or day, without an end.
    EndlessCalendar,
    /// The address names the visit; the page is known under another session id, or without one.
    SessionId,
    /// More parameters than a page is addressed by: a form, or filters.
    ManyParameters,
    /// One parameter is repeated: a link that adds it instead of setting it.
    RepeatedParameter,
    /// Filters combined with filters: every combination is a page.
    GrowingQuery,
    /// One path has very many queries.
    CrowdedTemplate,
}

impl TrapKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::RepeatedSegment,
        Self::RepeatedSequence,
        Self::DeepPath,
        Self::EndlessCalendar,
        Self::SessionId,
        Self::ManyParameters,
        Self::RepeatedParameter,
        Self::GrowingQuery,
        Self::CrowdedTemplate,
    ];

    /// A name for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RepeatedSegment => "trap_repeated_segment",
            Self::RepeatedSequence => "trap_repeated_sequence",
            Self::DeepPath => "trap_deep_path",
            Self::EndlessCalendar => "trap_endless_calendar",
            Self::SessionId => "trap_session_id",
            Self::ManyParameters => "trap_many_parameters",
            Self::RepeatedParameter => "trap_repeated_parameter",
            Self::GrowingQuery => "trap_growing_query",
            Self::CrowdedTemplate => "trap_crowded_template",
        }
    }

    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::RepeatedSegment => "one part of its path stands there again and again",
            Self::RepeatedSequence => "a sequence of parts of its path is repeated",
            Self::DeepPath => "its path is too deep",
            Self::EndlessCalendar => "it is a page of a calendar that has no end",
            Self::SessionId => "it carries a session id, and its page is known without it or under another one",
            Self::ManyParameters => "its query has too many parameters",
            Self::RepeatedParameter => "its query repeats a parameter",
            Self::GrowingQuery => "its query combines filters, each of which is a page of its own",
            Self::CrowdedTemplate => "its path has very many queries already",
        }
    }
}

/// What a URL looks like, seen alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Like a page.
    Clear,
    /// Perhaps like part of a trap: asked for when nothing else waits.
    Suspect(TrapKind),
    /// Like part of a trap: not taken into the queue.
    Trap(TrapKind),
}

/// Judges a URL by itself. A home page is always clear.
pub fn judge(url: &PageUrl, now: Timestamp) -> Judgement {
    if url.is_home() {
        return Judgement::Clear;
    }
    let mut judgement = Judgement::Clear;
    for next in [path::judge(url), query::judge(url), date::judge(url, now)] {
        match (next, judgement) {
            (Judgement::Trap(_), _) => return next,
            (Judgement::Suspect(_), Judgement::Clear) => judgement = next,
            (Judgement::Suspect(_) | Judgement::Clear, _) => {}
        }
    }
    judgement
}

/// Whether a URL that waits is to stand back behind all that look like pages.
pub fn is_suspect(url: &PageUrl, now: Timestamp) -> bool {
    match judge(url, now) {
        Judgement::Clear => false,
        Judgement::Suspect(_) | Judgement::Trap(_) => true,
    }
}
