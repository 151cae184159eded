//! The public pages: search for people, and the same as JSON for programs.
//!
//! They ask through [`Searcher`] and know neither index nor actor. Every answer, errors included, is made in one place
//! (`dispatch`), which checks host name, size and rate first and adds the safety headers last.
//!
//! **Invariant:** a query is never logged, never a label of a metric, and never part of an error.
//!
//! **Invariant:** a result links straight to the page that was found, over http or https, and nothing passes through here.
//!
//! **Invariant:** every page works without scripts and without cookies.

mod api;
mod client;
mod connection;
mod dispatch;
mod headers;
mod host;
mod language;
mod pages;
mod params;
mod problem;
mod rate;
mod searcher;
mod server;
mod static_files;
mod text;
mod tls;
mod view;
mod words;

#[cfg(test)]
mod tests;

use lohisoftbot_core::search::{DEFAULT_RESULTS_PER_PAGE, MAX_OFFSET, MAX_RESULTS_PER_PAGE};

pub use searcher::{SearchUnavailable, Searcher};
pub use server::{Bound, PublicSite, StopHandle, WebError};

/// Longest query, in bytes.
pub const MAX_QUERY_BYTES: usize = 256;
/// Results on a page of results.
pub const RESULTS_PER_PAGE: u32 = DEFAULT_RESULTS_PER_PAGE;
/// Most results that one call of the API may ask for.
pub const MAX_RESULTS_PER_CALL: u32 = MAX_RESULTS_PER_PAGE;
/// The furthest result that can be reached: deep pages cost the index as much as all pages before them.
pub const MAX_REACHABLE_RESULTS: u32 = MAX_OFFSET;
/// Most suggestions that one call may ask for.
pub const MAX_SUGGESTIONS: u32 = lohisoftbot_core::search::MAX_SUGGESTIONS;
