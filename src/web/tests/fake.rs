//! An index that answers as it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_core::search::{MarkedText, SearchAnswer, SearchField, SearchResult, Why};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::web::{SearchUnavailable, Searcher};

/// What it was asked: query, site, offset, limit.
pub type AskedFor = (String, Option<String>, u32, u32);

/// The index.
pub struct FakeIndex {
    answer: fn() -> Result<SearchAnswer, SearchUnavailable>,
    pub asked: Mutex<Vec<AskedFor>>,
}

impl FakeIndex {
    pub fn answering(answer: fn() -> Result<SearchAnswer, SearchUnavailable>) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::new(Vec::new()) })
    }
}

impl Searcher for FakeIndex {
    fn search(
        &self,
        typed: String,
        site: Option<String>,
        offset: u32,
        limit: u32,
    ) -> LocalBoxFuture<'_, Result<SearchAnswer, SearchUnavailable>> {
        self.asked.lock().unwrap().push((typed, site, offset, limit));
        let answer = (self.answer)();
        async move { answer }.boxed_local()
    }

    fn suggest(&self, prefix: String, limit: u32) -> LocalBoxFuture<'_, Result<Vec<String>, SearchUnavailable>> {
        self.asked.lock().unwrap().push((prefix.clone(), None, 0, limit));
        let suggestions = ["one", "two"].map(|word| format!("{prefix} {word}"));
        let answer = (self.answer)().map(|_| suggestions.into());
        async move { answer }.boxed_local()
    }
}

/// Pieces of a text; the odd ones are what was looked for.
pub fn marked(pieces: &[&str]) -> Vec<MarkedText> {
    let mark = |(at, text): (usize, &&str)| MarkedText { text: (*text).to_owned(), is_match: at % 2 == 1 };
    pieces.iter().enumerate().map(mark).collect()
}

/// A result with something in every field.
pub fn result(url: &str, title: &[&str]) -> SearchResult {
    let url = PageUrl::parse(url, None).unwrap();
    SearchResult {
        site: url.site(),
        url,
        title: marked(title),
        snippet: marked(&["Of the ", "harvest", " in autumn"]),
        language: Some("ro".to_owned()),
        last_seen: Timestamp::from_millis(1_796_058_309_123),
        num_more_from_site: 3,
        why: Why {
            fields: SearchField::ALL.into(),
            linking_sites: vec![Site::of_host("links.test")],
            num_linking_sites: 7,
        },
    }
}

/// Two of 1,234 pages, with all that an answer can say.
pub fn found() -> Result<SearchAnswer, SearchUnavailable> {
    Ok(SearchAnswer {
        results: vec![
            result("https://farm.test/harvest?year=1&month=2", &["The ", "harvest", " on the farm"]),
            result("http://other.test/", &["Other"]),
        ],
        num_results: 1234,
        has_more: true,
        correction: Some("harvest festival".to_owned()),
        passed_over: vec!["a minus sign alone stands for nothing".to_owned()],
    })
}

/// Nothing.
pub fn nothing() -> Result<SearchAnswer, SearchUnavailable> {
    Ok(SearchAnswer::default())
}
