//! The last word on the order: what BM25 cannot see, for the first of what it found.
//!
//! A page gains by having more of the query's words, by having them side by side, by links of distinct sites, and by being a home page. A home
//! page that the query names comes before all else.

use lohisoftbot_core::config::SearchSettings;
use lohisoftbot_core::search::MAX_LINKING_SITES_NAMED;
use lohisoftbot_core::search::mark::{Closeness, Hit, WordForms, nearness};
use lohisoftbot_core::search::text::StemLanguage;
use lohisoftbot_core::search::{Anchor, PageDocument, SearchField, Why};
use lohisoftbot_core::site::Site;

/// How a page was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// By its words.
    ByWords,
    /// The query names it.
    ByName,
}

/// A page that was found, looked at closely.
pub struct Ranked {
    /// The page.
    pub page: PageDocument,
    /// How it was found.
    pub found: Found,
    /// The higher, the better; comparable within one answer.
    pub score: f32,
}

/// What all words in a text count for: other forms count less.
const STEM_CREDIT: f32 = 0.7;
/// Half of the score of a page without any of the words stays.
const COVERAGE_GAIN: f32 = 1.0;
/// What all words side by side in a field add, by field.
const NEAR_TITLE_GAIN: f32 = 0.5;
const NEAR_ANCHOR_GAIN: f32 = 0.4;
const NEAR_HEADING_GAIN: f32 = 0.4;
const NEAR_DESCRIPTION_GAIN: f32 = 0.2;
/// What being a home page adds, where nothing else decides.
const HOME_GAIN: f32 = 0.03;

/// The language whose stems a page has.
pub fn stem_language(page: &PageDocument) -> Option<StemLanguage> {
    page.language.and_then(|language| StemLanguage::of_tag(language.as_str()))
}

/// Scores a page; `bm25` is its share of the best page's.
pub fn rank(page: PageDocument, found: Found, bm25: f32, forms: &WordForms, settings: &SearchSettings) -> Ranked {
    let language = stem_language(&page);
    let hits = |text: &str| forms.hits(text, language);
    let title = page.title.as_deref().map(hits).unwrap_or_default();
    let description = page.description.as_deref().map(hits).unwrap_or_default();
    let headings: Vec<Vec<Hit>> = page.headings.iter().map(|heading| hits(heading)).collect();
    let anchors: Vec<Vec<Hit>> = page.anchors.iter().map(|anchor| hits(&anchor.text)).collect();
    let elsewhere = [hits(&page.url_words()), hits(&page.site_words())];
    let all = [&title, &description].into_iter().chain(&headings).chain(&anchors).chain(&elsewhere);
    let coverage = coverage(all.flatten(), forms.len());
    let near = |texts: &[Vec<Hit>]| texts.iter().map(|hits| nearness(hits, forms.len())).fold(0.0, f32::max);
    let nearness = NEAR_TITLE_GAIN * nearness(&title, forms.len())
        + NEAR_ANCHOR_GAIN * near(&anchors)
        + NEAR_HEADING_GAIN * near(&headings)
        + NEAR_DESCRIPTION_GAIN * nearness(&description, forms.len());
    let home = if page.url.is_home() { HOME_GAIN } else { 0.0 };
    let gain = 1.0 + COVERAGE_GAIN * coverage + nearness + authority(&page, settings) + home;
    Ranked { score: bm25 * gain, page, found }
}

/// Ten times as many sites count for one step more.
fn authority(page: &PageDocument, settings: &SearchSettings) -> f32 {
    settings.authority_weight as f32 / 100.0 * (1.0 + page.num_linking_sites as f32).log10()
}

/// The share of the query's words that a page has, each at its closest.
fn coverage<'a>(hits: impl Iterator<Item = &'a Hit>, num_words: usize) -> f32 {
    if num_words == 0 {
        return 0.0;
    }
    let mut best: Vec<Option<Closeness>> = vec![None; num_words];
    for hit in hits {
        best[hit.word] = best[hit.word].max(Some(hit.closeness));
    }
    let credit = |closeness: &Option<Closeness>| match closeness {
        None => 0.0,
        Some(Closeness::SameStem) => STEM_CREDIT,
        Some(Closeness::Exact) => 1.0,
    };
    best.iter().map(credit).sum::<f32>() / num_words as f32
}

/// Named home pages first, the one with most authority before others; then by score; then by address, so that an order is always the same.
pub fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|one, other| {
        let by_links = match (one.found, other.found) {
            (Found::ByName, Found::ByName) => other.page.num_linking_sites.cmp(&one.page.num_linking_sites),
            (Found::ByName | Found::ByWords, Found::ByName | Found::ByWords) => std::cmp::Ordering::Equal,
        };
        let by_score = other.score.total_cmp(&one.score);
        other.found.cmp(&one.found).then(by_links).then(by_score).then_with(|| one.page.url.cmp(&other.page.url))
    });
}

/// Why a page is a result.
pub fn why(page: &PageDocument, forms: &WordForms) -> Why {
    let language = stem_language(page);
    let has = |text: &str| !forms.hits(text, language).is_empty();
    let matching = |anchor: &&Anchor| anchor.site != page.url.site() && has(&anchor.text);
    let mut linking_sites: Vec<Site> = page.anchors.iter().filter(matching).map(|anchor| anchor.site.clone()).collect();
    linking_sites.dedup();
    linking_sites.truncate(MAX_LINKING_SITES_NAMED);
    let matches = |field: &SearchField| match field {
        SearchField::Title => page.title.as_deref().is_some_and(has),
        SearchField::Description => page.description.as_deref().is_some_and(has),
        SearchField::Headings => page.headings.iter().any(|heading| has(heading)),
        SearchField::Anchors => page.anchors.iter().any(|anchor| has(&anchor.text)),
        SearchField::UrlWords => has(&page.url_words()),
        SearchField::Site => has(&page.site_words()),
    };
    let fields = SearchField::ALL.into_iter().filter(matches).collect();
    Why { fields, linking_sites, num_linking_sites: page.num_linking_sites }
}
