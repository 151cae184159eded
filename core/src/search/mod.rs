//! Search: what may be asked, how words are compared, and what an answer says.
//!
//! - [`query`]: what a person types becomes a [`Query`], always; what it could not use is said in plain notes;
//! - [`text`]: words of any script, folded so that diacritics and case make no difference, and their stems;
//! - [`answer`]: what is asked of an index and what comes back.
//!
//! What this deliberately does not do: hold an index, or rank. That is the search index's adapter, behind a port.
//!
//! Invariant: nothing here panics or grows beyond its named caps, whatever is typed.

pub mod answer;
pub mod query;

pub use self::answer::{MarkedText, SearchAnswer, SearchField, SearchRequest, SearchResult, Why};
pub use self::query::{ParsedQuery, Query};

/// Most results on one page of an answer.
pub const MAX_RESULTS_PER_PAGE: u32 = 20;
/// Results on one page of an answer where nobody says how many.
pub const DEFAULT_RESULTS_PER_PAGE: u32 = 10;
/// Furthest place from which results are asked for; who wants more asks more narrowly.
pub const MAX_OFFSET: u32 = 1000;
/// Most results of one site on a page of an answer, unless the request names the site.
pub const MAX_RESULTS_PER_SITE: u32 = 2;
/// Most sites that [`Why`] names.
pub const MAX_LINKING_SITES_NAMED: usize = 10;
/// Most suggestions for a prefix.
pub const MAX_SUGGESTIONS: u32 = 10;
