//! Answers requests from what is committed.
//!
//! BM25 finds candidates; the first [`NUM_RANKED`] are read and ranked anew, always the same ones, so that the second page of results goes on
//! where the first ended; then the pages of one site are folded together.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use lohisoftbot_actors::search::{SearchIndexError, SearchReader};
use lohisoftbot_core::codec;
use lohisoftbot_core::config::SearchSettings;
use lohisoftbot_core::search::mark::{MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, WordForms};
use lohisoftbot_core::search::text::{self, StemLanguage};
use lohisoftbot_core::search::{
    MAX_RESULTS_PER_SITE, MAX_SUGGESTIONS, PageDocument, SearchAnswer, SearchRequest, SearchResult,
};
use lohisoftbot_core::site::Site;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, Query as TantivyQuery};
use tantivy::schema::{Term, Value};
use tantivy::{DocAddress, IndexReader, Searcher, TantivyDocument};

use super::ask::{Asked, ask, basic};
use super::rank::{self, Found, Ranked};
use super::schema::Fields;
use super::vocabulary;

/// Candidates that are read and ranked anew.
const NUM_RANKED: usize = 128;
/// Most home pages that a query may name at once.
const MAX_NAMED: usize = 8;
/// Most candidates that are asked for: an answer from [`lohisoftbot_core::search::MAX_OFFSET`] on is filled from these.
const MAX_CANDIDATES: usize = 16_384;
/// Most languages whose stems a query is asked by.
const MAX_LANGUAGES: usize = 4;
/// What stands between headings that stand in for a description.
const HEADING_GAP: &str = " · ";

/// A committed state of the index.
pub struct Serving {
    searcher: Searcher,
    fields: Fields,
    settings: SearchSettings,
    languages: Vec<StemLanguage>,
}

impl Serving {
    /// What `reader` sees now.
    pub fn new(reader: IndexReader, fields: Fields, settings: SearchSettings) -> tantivy::Result<Self> {
        let searcher = reader.searcher();
        let mut languages = Vec::new();
        for language in StemLanguage::all() {
            let num_pages = searcher.doc_freq(&Term::from_field_text(fields.language, language.tag()))?;
            languages.push((num_pages, language));
        }
        languages.retain(|(num_pages, _)| *num_pages > 0);
        languages.sort_by(|one, other| other.cmp(one));
        let languages = languages.into_iter().take(MAX_LANGUAGES).map(|(_, language)| language).collect();
        Ok(Self { searcher, fields, settings, languages })
    }

    /// Pages in it.
    pub fn num_pages(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn search(&self, request: &SearchRequest) -> tantivy::Result<SearchAnswer> {
        let passed_over = request.query.notes();
        let asked = ask(request, &self.searcher, &self.fields, &self.settings, &self.languages)?;
        let Some(asked) = asked else { return Ok(SearchAnswer { passed_over, ..SearchAnswer::default() }) };
        let num_matching = self.searcher.search(&asked.matching, &Count)? as u64;
        let (offset, limit) = (request.bounded_offset() as usize, request.bounded_limit() as usize);
        let fold_sites = request.site.is_none() && request.query.hosts.is_empty();
        let mut num_candidates = NUM_RANKED.max(2 * (offset + limit + 1));
        let (shown, has_more) = loop {
            let candidates = self.candidates(&asked, num_candidates)?;
            let is_all = candidates.num_found < num_candidates || num_candidates >= MAX_CANDIDATES;
            let order = if fold_sites { folded(candidates.order) } else { candidates.order };
            if order.len() > offset + limit || is_all {
                let has_more = order.len() > offset + limit;
                break (order.into_iter().skip(offset).take(limit).collect::<Vec<_>>(), has_more);
            }
            num_candidates *= 4;
        };
        let mut results: Vec<SearchResult> = shown.into_iter().map(|page| result(page, &asked.forms)).collect();
        if fold_sites {
            self.count_more(&asked, &mut results)?;
        }
        let num_results = num_matching.max((offset + results.len()) as u64);
        let correction = correction(&request.query.typed, &asked.corrections);
        Ok(SearchAnswer { results, num_results, has_more, correction, passed_over })
    }

    /// The best of what matches, in order.
    fn candidates(&self, asked: &Asked, limit: usize) -> tantivy::Result<Candidates> {
        let mut named: Vec<DocAddress> = Vec::new();
        if let Some(query) = &asked.named {
            let found = self.searcher.search(query, &TopDocs::with_limit(MAX_NAMED).order_by_score())?;
            named.extend(found.into_iter().map(|(_, address)| address));
        }
        let found = self.searcher.search(&asked.scored, &TopDocs::with_limit(limit).order_by_score())?;
        let num_found = found.len();
        let best = found.first().map_or(1.0, |(score, _)| score.max(f32::MIN_POSITIVE));
        let mut ranked: Vec<Ranked> = Vec::new();
        let rank = |page, found, share| rank::rank(page, found, share, &asked.forms, &self.settings);
        for address in &named {
            ranked.push(rank(self.page(*address)?, Found::ByName, 1.0));
        }
        let mut others = found.into_iter().filter(|(_, address)| !named.contains(address));
        for (score, address) in others.by_ref().take(NUM_RANKED) {
            // Without a word to score by, every page is as good as the other.
            let share = if score > 0.0 { score / best } else { 1.0 };
            ranked.push(rank(self.page(address)?, Found::ByWords, share));
        }
        rank::sort(&mut ranked);
        let mut order: Vec<PageDocument> = ranked.into_iter().map(|ranked| ranked.page).collect();
        for (_, address) in others {
            order.push(self.page(address)?);
        }
        Ok(Candidates { order, num_found })
    }

    fn page(&self, address: DocAddress) -> tantivy::Result<PageDocument> {
        let document: TantivyDocument = self.searcher.doc(address)?;
        let bytes = document.get_first(self.fields.page).and_then(|value| value.as_bytes().map(<[u8]>::to_vec));
        codec::decode(&bytes.unwrap_or_default())
            .map_err(|error| tantivy::TantivyError::InternalError(format!("a stored page is damaged: {error}")))
    }

    /// Says with the last result of each site how many more of it match.
    fn count_more(&self, asked: &Asked, results: &mut [SearchResult]) -> tantivy::Result<()> {
        let mut last_of: HashMap<Site, (usize, u64)> = HashMap::new();
        for (place, result) in results.iter().enumerate() {
            let (last, num_shown) = last_of.entry(result.site.clone()).or_default();
            (*last, *num_shown) = (place, *num_shown + 1);
        }
        for (site, (last, num_shown)) in last_of {
            let of_site: Vec<(Occur, Box<dyn TantivyQuery>)> =
                vec![(Occur::Must, basic(self.fields.site, site.as_str())), (Occur::Must, asked.matching.box_clone())];
            let num_matching = self.searcher.search(&BooleanQuery::new(of_site), &Count)? as u64;
            results[last].num_more_from_site = num_matching.saturating_sub(num_shown);
        }
        Ok(())
    }

    fn suggest(&self, typed: &str, limit: u32) -> tantivy::Result<Vec<String>> {
        // Only a word that is still being typed goes on.
        let last = text::words(typed).last().filter(|word| word.end == typed.len());
        let Some(word) = last else { return Ok(Vec::new()) };
        let folded = text::folded(word.text);
        if folded.is_empty() {
            return Ok(Vec::new());
        }
        let limit = limit.min(MAX_SUGGESTIONS) as usize;
        let words = vocabulary::beginning_with(&self.searcher, &self.fields, &folded, limit)?;
        Ok(words.into_iter().map(|whole| format!("{}{whole}", &typed[..word.start])).collect())
    }
}

struct Candidates {
    order: Vec<PageDocument>,
    num_found: usize,
}

/// Keeps the first pages of each site.
fn folded(order: Vec<PageDocument>) -> Vec<PageDocument> {
    let mut num_of: HashMap<Site, u32> = HashMap::new();
    let mut keeps = |page: &PageDocument| {
        let num = num_of.entry(page.url.site()).or_default();
        *num += 1;
        *num <= MAX_RESULTS_PER_SITE
    };
    order.into_iter().filter(|page| keeps(page)).collect()
}

fn result(page: PageDocument, forms: &WordForms) -> SearchResult {
    let language = rank::stem_language(&page);
    let title = page.title.as_deref().or(page.headings.first().map(String::as_str)).unwrap_or(page.url.as_str());
    let headings = page.headings.join(HEADING_GAP);
    let snippet = page.description.as_deref().unwrap_or(&headings);
    SearchResult {
        site: page.url.site(),
        title: forms.snippet(title, MAX_TITLE_CHARS, language),
        snippet: forms.snippet(snippet, MAX_SNIPPET_CHARS, language),
        language: page.language.map(|language| language.to_string()),
        last_seen: page.last_seen,
        num_more_from_site: 0,
        why: rank::why(&page, forms),
        url: page.url,
    }
}

/// What was typed, with the misspelt words respelt.
fn correction(typed: &str, corrections: &[(String, String)]) -> Option<String> {
    let mut respelt = String::with_capacity(typed.len());
    let mut done = 0;
    for word in text::words(typed) {
        let folded = text::folded(word.text);
        if let Some((_, known)) = corrections.iter().find(|(misspelt, _)| *misspelt == folded) {
            respelt.push_str(&typed[done..word.start]);
            respelt.push_str(known);
            done = word.end;
        }
    }
    respelt.push_str(&typed[done..]);
    (done > 0).then_some(respelt)
}

/// Reads whatever serves when it is asked.
pub struct TantivyReader(Arc<RwLock<Arc<Serving>>>);

impl TantivyReader {
    /// Over what is put in its place at each commit.
    pub fn new(serving: Arc<RwLock<Arc<Serving>>>) -> Self {
        Self(serving)
    }

    fn serving(&self) -> Arc<Serving> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SearchReader for TantivyReader {
    fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, SearchIndexError> {
        self.serving().search(request).map_err(failed("searching"))
    }

    fn suggest(&self, typed: &str, limit: u32) -> Result<Vec<String>, SearchIndexError> {
        self.serving().suggest(typed, limit).map_err(failed("suggesting"))
    }
}

fn failed(doing: &'static str) -> impl FnOnce(tantivy::TantivyError) -> SearchIndexError {
    // What was asked is in no message: queries are never logged.
    move |error| SearchIndexError { path: PathBuf::from("search"), doing, detail: error.to_string() }
}
