//! Whom the pages ask.

use futures_util::future::LocalBoxFuture;
use lohisoftbot_core::search::SearchAnswer;

/// The search index as the pages see it. What was typed goes in as it was typed.
pub trait Searcher: Send + Sync {
    /// Up to `limit` results from `offset` on, of one site alone where one is named.
    fn search(
        &self,
        typed: String,
        site: Option<String>,
        offset: u32,
        limit: u32,
    ) -> LocalBoxFuture<'_, Result<SearchAnswer, SearchUnavailable>>;

    /// Up to `limit` words or titles that begin with `prefix`, the likeliest first.
    fn suggest(&self, prefix: String, limit: u32) -> LocalBoxFuture<'_, Result<Vec<String>, SearchUnavailable>>;
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchUnavailable {
    /// The index is being opened or built.
    #[error("the search index is being prepared")]
    Starting,
    /// It did not answer, or not in time.
    #[error("the search index did not answer")]
    NoAnswer,
}
