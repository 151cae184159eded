//! What is asked of the search index, and what it answers.
//!
//! Invariant: all text here is plain text of strangers; whoever shows it escapes it.

use serde::Serialize;

use super::query::Query;
use super::{DEFAULT_RESULTS_PER_PAGE, MAX_OFFSET, MAX_RESULTS_PER_PAGE};
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// A query and which part of its results is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// What is looked for.
    pub query: Query,
    /// Only pages of this site, however many: "more from this site".
    pub site: Option<Site>,
    /// How many results to pass over; more than [`MAX_OFFSET`] counts as that many.
    pub offset: u32,
    /// How many results are wanted, at most [`MAX_RESULTS_PER_PAGE`].
    pub limit: u32,
}

impl SearchRequest {
    /// A request for the first page of results.
    pub fn new(query: Query) -> Self {
        Self { query, site: None, offset: 0, limit: DEFAULT_RESULTS_PER_PAGE }
    }

    /// The offset within its bound.
    pub fn bounded_offset(&self) -> u32 {
        self.offset.min(MAX_OFFSET)
    }

    /// The limit within its bounds.
    pub fn bounded_limit(&self) -> u32 {
        self.limit.clamp(1, MAX_RESULTS_PER_PAGE)
    }
}

/// One page of results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchAnswer {
    /// The results, best first.
    pub results: Vec<SearchResult>,
    /// How many pages match, counted before those of one site are folded together.
    pub num_results: u64,
    /// More results follow behind these.
    pub has_more: bool,
    /// The whole query respelt, where a word of it looks misspelt.
    pub correction: Option<String>,
    /// What of the query was not used, and why: a sentence each.
    pub passed_over: Vec<String>,
}

/// A page that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchResult {
    /// The page itself, which the result links to (P13).
    pub url: PageUrl,
    /// Its site.
    pub site: Site,
    /// Its title, or a heading or its address where it has none.
    pub title: Vec<MarkedText>,
    /// Its description, or headings where it has none; may be empty.
    pub snippet: Vec<MarkedText>,
    /// Its language, as a tag such as `ro` or `pt-br`.
    pub language: Option<String>,
    /// When the crawler saw it last.
    pub last_seen: Timestamp,
    /// Further matching pages of the same site that were folded away; told with the last result of a site on the page.
    pub num_more_from_site: u64,
    /// Why it is a result.
    pub why: Why,
}

/// A stretch of text, and whether it is what was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarkedText {
    /// The text as the page has it.
    pub text: String,
    /// Its word is one of the query's.
    pub is_match: bool,
}

/// Why a page is a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The fields that matched.
    pub fields: Vec<SearchField>,
    /// Sites whose links to the page matched, at most [`super::MAX_LINKING_SITES_NAMED`].
    pub linking_sites: Vec<Site>,
    /// How many sites link to the page, whether their links matched or not.
    pub num_linking_sites: u64,
}

/// What of a page can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchField {
    /// Its title.
    Title,
    /// Its description.
    Description,
    /// Its headings.
    Headings,
    /// The texts of links that point to it.
    Anchors,
    /// The words of its address.
    UrlWords,
    /// The name of its site.
    Site,
}

impl SearchField {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Title, Self::Description, Self::Headings, Self::Anchors, Self::UrlWords, Self::Site];
}
