//! From a query to what tantivy is asked: which words, in which forms, in which fields, and what a page must and must not have.
//!
//! Words outside of phrases are alternatives: a page has at least one, and ranks by all that it has. Phrases, `intitle:`, `site:` and `lang:`
//! are conditions. A word is asked for as it is, and by its stems in the languages that the index has most of, since nobody says which
//! language a query is in.

use std::collections::BTreeSet;

use lohisoftbot_core::config::SearchSettings;
use lohisoftbot_core::search::document::in_one_word;
use lohisoftbot_core::search::mark::WordForms;
use lohisoftbot_core::search::text::{self, StemLanguage};
use lohisoftbot_core::search::{Query, SearchRequest, Term as QueryTerm, TermPlace};
use tantivy::Searcher;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query as TantivyQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Term};

use super::schema::{Fields, STEM_MARK};
use super::vocabulary;

/// What another form of a word counts for, where the word itself counts one.
const STEM_SHARE: f32 = 0.5;
/// What a known word counts for that a misspelt one is taken for.
const ALTERNATIVE_SHARE: f32 = 0.6;
/// Most stems of a word.
const MAX_STEMS: usize = 6;
/// Longest query that may name a site, in characters.
const MAX_NAME_CHARS: usize = 64;

type Clause = (Occur, Box<dyn TantivyQuery>);

/// A query as it is asked.
pub struct Asked {
    /// Scores pages.
    pub scored: Box<dyn TantivyQuery>,
    /// Finds the same pages, without scores.
    pub matching: Box<dyn TantivyQuery>,
    /// Finds home pages that the query names.
    pub named: Option<Box<dyn TantivyQuery>>,
    /// The words in all their forms, for marking and ranking.
    pub forms: WordForms,
    /// Misspelt words, folded, with what they are taken for.
    pub corrections: Vec<(String, String)>,
}

/// A word as it is asked for.
struct Word {
    /// Known words with what each counts for.
    exact: Vec<(String, f32)>,
    stems: Vec<String>,
}

/// Reads a request against the words that the index has. None where there is nothing to ask.
pub fn ask(
    request: &SearchRequest,
    searcher: &Searcher,
    fields: &Fields,
    settings: &SearchSettings,
    languages: &[StemLanguage],
) -> tantivy::Result<Option<Asked>> {
    let query = &request.query;
    let mut languages = languages.to_vec();
    languages.extend(query.language.and_then(|language| StemLanguage::of_tag(language.as_str())));
    let mut asking =
        Asking { searcher, fields, settings, languages, forms: WordForms::default(), corrections: Vec::new() };
    let (mut scored, mut matching, mut conditions): (Vec<Clause>, Vec<Clause>, Vec<Clause>) = Default::default();
    for term in &query.wanted {
        let words = term.words.iter().map(|word| asking.word(word)).collect::<tantivy::Result<Vec<_>>>()?;
        for word in &words {
            scored.extend(asking.scored(word));
            matching.extend(asking.matching(word));
        }
        if !is_loose(term) {
            conditions.push((Occur::Must, asking.condition(term)));
        }
    }
    let has_terms_that_must_be = !conditions.is_empty();
    conditions.extend(asking.filters(request));
    conditions.extend(query.unwanted.iter().map(|term| (Occur::MustNot, asking.condition(term))));
    if scored.is_empty() && query.hosts.is_empty() && request.site.is_none() {
        return Ok(None);
    }
    let named = asking.named(query, &conditions);
    let Asking { forms, corrections, .. } = asking;
    let whole = |any_of: Vec<Clause>| whole(any_of, &conditions, has_terms_that_must_be);
    Ok(Some(Asked { scored: whole(scored), matching: whole(matching), named, forms, corrections }))
}

/// Whether a term is a word anywhere, which a page need not have if it has another.
fn is_loose(term: &QueryTerm) -> bool {
    term.words.len() == 1 && term.place == TermPlace::Anywhere
}

/// At least one of the first, unless conditions ask for a term already; and all conditions.
fn whole(any_of: Vec<Clause>, conditions: &[Clause], has_terms_that_must_be: bool) -> Box<dyn TantivyQuery> {
    let copies = || conditions.iter().map(|(occur, query)| (*occur, query.box_clone()));
    match (any_of.is_empty(), conditions.is_empty()) {
        // A flat union of words alone is what tantivy can cut short (block-max WAND).
        (false, true) => Box::new(BooleanQuery::new(any_of)),
        (false, false) if has_terms_that_must_be => {
            Box::new(BooleanQuery::new(any_of.into_iter().chain(copies()).collect()))
        }
        (false, false) => {
            let union: Clause = (Occur::Must, Box::new(BooleanQuery::new(any_of)));
            Box::new(BooleanQuery::new(std::iter::once(union).chain(copies()).collect()))
        }
        (true, _) => {
            let all: Clause = (Occur::Must, Box::new(AllQuery));
            Box::new(BooleanQuery::new(std::iter::once(all).chain(copies()).collect()))
        }
    }
}

struct Asking<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    settings: &'a SearchSettings,
    languages: Vec<StemLanguage>,
    forms: WordForms,
    corrections: Vec<(String, String)>,
}

impl Asking<'_> {
    /// A word in its forms; one that the index does not know is taken for those near it.
    fn word(&mut self, typed: &str) -> tantivy::Result<Word> {
        let folded = text::folded(typed);
        let stems = self.stems(typed);
        let mut word = Word { exact: vec![(folded.clone(), 1.0)], stems };
        if !self.is_known(&word)? {
            let near = vocabulary::alternatives(self.searcher, self.fields, &folded)?;
            if let Some((nearest, _)) = near.first() {
                self.corrections.push((folded, nearest.clone()));
            }
            for (alternative, distance) in near {
                word.stems.extend(self.stems(&alternative));
                word.exact.push((alternative, ALTERNATIVE_SHARE / distance.max(1) as f32));
            }
        }
        self.forms.add(word.exact.iter().map(|(exact, _)| exact.clone()), word.stems.iter().cloned());
        Ok(word)
    }

    fn stems(&self, word: &str) -> Vec<String> {
        let stems: BTreeSet<String> = self.languages.iter().flat_map(|language| text::stems(word, *language)).collect();
        let plain = text::folded(word);
        // Pages whose language is not known have the word itself for a stem.
        std::iter::once(plain.clone()).chain(stems.into_iter().filter(|stem| *stem != plain)).take(MAX_STEMS).collect()
    }

    fn is_known(&self, word: &Word) -> tantivy::Result<bool> {
        for (exact, _) in &word.exact {
            if vocabulary::num_pages_with(self.searcher, self.fields, exact)? > 0 {
                return Ok(true);
            }
        }
        for stem in &word.stems {
            if vocabulary::num_pages_with_stem(self.searcher, self.fields, stem)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn scored(&self, word: &Word) -> Vec<Clause> {
        let (fields, weights) = (self.fields, self.settings);
        let by_field = [
            (fields.title, weights.title_weight),
            (fields.headings, weights.headings_weight),
            (fields.anchors, weights.anchors_weight),
            (fields.description, weights.description_weight),
            (fields.url_words, weights.url_weight),
            (fields.site_words, weights.site_weight),
        ];
        let stem_fields = [(fields.title_stems, weights.title_weight), (fields.body_stems, weights.headings_weight)];
        let mut clauses: Vec<Clause> = Vec::new();
        let mut add = |field: Field, text: &str, weight: f32| {
            if weight > 0.0 {
                let term = TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(term), weight))));
            }
        };
        for (exact, share) in &word.exact {
            by_field.into_iter().for_each(|(field, weight)| add(field, exact, weight as f32 * share));
        }
        for stem in &word.stems {
            stem_fields.into_iter().for_each(|(field, weight)| add(field, stem, weight as f32 * STEM_SHARE));
        }
        clauses
    }

    fn matching(&self, word: &Word) -> Vec<Clause> {
        let stems = word.stems.iter().map(|stem| format!("{STEM_MARK}{stem}"));
        let texts = word.exact.iter().map(|(exact, _)| exact.clone()).chain(stems);
        texts.map(|text| (Occur::Should, basic(self.fields.words, &text))).collect()
    }

    /// A word or a phrase, as it was typed and in one field.
    fn condition(&self, term: &QueryTerm) -> Box<dyn TantivyQuery> {
        let fields = self.fields;
        let words: Vec<String> = term.words.iter().map(|word| text::folded(word)).collect();
        let places: &[Field] = match term.place {
            TermPlace::Title => &[fields.title],
            TermPlace::Anywhere => &[
                fields.title,
                fields.headings,
                fields.anchors,
                fields.description,
                fields.url_words,
                fields.site_words,
            ],
        };
        let in_field = |field: &Field| -> Clause {
            let terms: Vec<Term> = words.iter().map(|word| Term::from_field_text(*field, word)).collect();
            let query: Box<dyn TantivyQuery> = match terms.as_slice() {
                [term] => Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs)),
                _ => Box::new(PhraseQuery::new(terms)),
            };
            (Occur::Should, query)
        };
        Box::new(BooleanQuery::new(places.iter().map(in_field).collect()))
    }

    fn filters(&self, request: &SearchRequest) -> Vec<Clause> {
        let fields = self.fields;
        let mut filters: Vec<Clause> = Vec::new();
        let mut must = |query: Box<dyn TantivyQuery>| {
            filters.push((Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn TantivyQuery>));
        };
        if let Some(site) = &request.site {
            must(basic(fields.site, site.as_str()));
        }
        if !request.query.hosts.is_empty() {
            let hosts = request.query.hosts.iter().map(|host| (Occur::Should, basic(fields.hosts, host)));
            must(Box::new(BooleanQuery::new(hosts.collect())));
        }
        if let Some(language) = &request.query.language {
            must(basic(fields.language, language.as_str()));
        }
        filters
    }

    /// Home pages whose name is all that was typed, written in one word.
    fn named(&self, query: &Query, conditions: &[Clause]) -> Option<Box<dyn TantivyQuery>> {
        let words: Vec<&str> = query.wanted_words().collect();
        let name = in_one_word(&words.join(" "));
        if !query.wanted.iter().all(is_loose) || !(1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
            return None;
        }
        let is_named: Clause = (Occur::Must, basic(self.fields.names, &name));
        let conditions = conditions.iter().map(|(occur, query)| (*occur, query.box_clone()));
        Some(Box::new(BooleanQuery::new(std::iter::once(is_named).chain(conditions).collect())))
    }
}

/// Finds a value without scoring it.
pub fn basic(field: Field, value: &str) -> Box<dyn TantivyQuery> {
    Box::new(TermQuery::new(Term::from_field_text(field, value), IndexRecordOption::Basic))
}
