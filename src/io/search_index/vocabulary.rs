//! The words that the index knows: which of them a misspelt one may stand for, and how one that is being typed may go on.
//!
//! Counts of a word include pages that were replaced and not merged away yet, so they rank; whether a word is shown is decided by pages that
//! are there: nothing of a removed page is ever suggested.

use std::collections::HashMap;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{IndexRecordOption, Term};
use tantivy::{DocSet, Searcher, TERMINATED};

use super::schema::{Fields, STEM_MARK};

/// Words read of one segment for a prefix; a shorter prefix has more, and its most common ones are likely among the first.
const MAX_WORDS_READ: usize = 20_000;
/// Most words that a misspelt one is taken for at once.
pub const MAX_ALTERNATIVES: usize = 3;

/// How many pages have a word, replaced ones included.
pub fn num_pages_with(searcher: &Searcher, fields: &Fields, word: &str) -> tantivy::Result<u64> {
    searcher.doc_freq(&Term::from_field_text(fields.words, word))
}

/// The same for a stem.
pub fn num_pages_with_stem(searcher: &Searcher, fields: &Fields, stem: &str) -> tantivy::Result<u64> {
    num_pages_with(searcher, fields, &format!("{STEM_MARK}{stem}"))
}

/// What a word that no page has may stand for: known words a letter or two away, the nearest and most common first, with their distance.
pub fn alternatives(searcher: &Searcher, fields: &Fields, word: &str) -> tantivy::Result<Vec<(String, usize)>> {
    // A distance of two is for words long enough that not everything is near them.
    let distance = match word.chars().count() {
        0..=3 => return Ok(Vec::new()),
        4..=6 => 1,
        _ => 2,
    };
    if word.chars().all(|c| c.is_numeric()) {
        return Ok(Vec::new());
    }
    let term = Term::from_field_text(fields.words, word);
    let mut counts: HashMap<String, u64> = HashMap::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.words)?;
        let automaton = FuzzyTermQuery::new(term.clone(), distance, true).automaton()?;
        let mut stream = inverted.terms().search(automaton).into_stream()?;
        while let Some((key, info)) = stream.next() {
            if let Ok(found) = std::str::from_utf8(key)
                && !found.starts_with(STEM_MARK)
            {
                *counts.entry(found.to_owned()).or_default() += u64::from(info.doc_freq);
            }
        }
    }
    let far = |found: &str| strsim::osa_distance(found, word);
    let mut found: Vec<(String, usize, u64)> =
        counts.into_iter().map(|(w, n)| (far(&w), w, n)).map(|(d, w, n)| (w, d, n)).collect();
    found.sort_by(|one, other| {
        (one.1, std::cmp::Reverse(one.2), &one.0).cmp(&(other.1, std::cmp::Reverse(other.2), &other.0))
    });
    let mut kept = Vec::new();
    for (word, distance, _) in found {
        if kept.len() >= MAX_ALTERNATIVES {
            break;
        }
        if is_on_a_page(searcher, fields, &word)? {
            kept.push((word, distance));
        }
    }
    Ok(kept)
}

/// Known words that begin with `prefix`, the most common first.
pub fn beginning_with(
    searcher: &Searcher,
    fields: &Fields,
    prefix: &str,
    limit: usize,
) -> tantivy::Result<Vec<String>> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.words)?;
        let mut stream = inverted.terms().range().ge(prefix.as_bytes()).into_stream()?;
        for _ in 0..MAX_WORDS_READ {
            let Some((key, info)) = stream.next() else { break };
            if !key.starts_with(prefix.as_bytes()) {
                break;
            }
            if let Ok(found) = std::str::from_utf8(key) {
                *counts.entry(found.to_owned()).or_default() += u64::from(info.doc_freq);
            }
        }
    }
    let mut found: Vec<(String, u64)> = counts.into_iter().collect();
    found.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    let mut kept = Vec::new();
    for (word, _) in found {
        if kept.len() >= limit {
            break;
        }
        if is_on_a_page(searcher, fields, &word)? {
            kept.push(word);
        }
    }
    Ok(kept)
}

/// Whether a page that was not replaced has the word.
fn is_on_a_page(searcher: &Searcher, fields: &Fields, word: &str) -> tantivy::Result<bool> {
    let term = Term::from_field_text(fields.words, word);
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.words)?;
        let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else { continue };
        while postings.doc() != TERMINATED {
            if !segment.is_deleted(postings.doc()) {
                return Ok(true);
            }
            postings.advance();
        }
    }
    Ok(false)
}
