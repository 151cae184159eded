//! What each page of a site weighs: PageRank, where duplicates are one page, and language twins weigh nothing.
//!
//! - A **document** is a page with all its duplicates: of the same title and text, or one naming another as its canonical URL.
//! - **Ranks** are worked out over documents; links to a redirect are links to its end, links to nothing are none.
//! - **Twins** are documents whose paths differ in a language tag alone, or that a page names as its versions by hreflang. The one in the
//!   site's main language, that of the home page, keeps its weight; where there is none in it, the first that was found.
//! - What must not be kept (noindex) weighs nothing.

use std::collections::HashMap;

use lohisoftbot_core::language::{Closeness, Language};
use lohisoftbot_core::politeness::StoredAs;
use lohisoftbot_core::url::PageUrl;

use crate::graph::{Gives, Graph};
use crate::rank::page_rank;
use crate::reading::ReadPage;

/// The weights of a site.
#[derive(Debug)]
pub struct Weights {
    /// The document of each URL that gives a page.
    pub document_of: Vec<Option<usize>>,
    /// What each document weighs.
    pub of_document: Vec<f64>,
    /// Documents that weigh nothing since they are twins.
    pub num_twins: usize,
}

impl Weights {
    /// Weighs a graph.
    pub fn of(graph: &Graph) -> Self {
        let document_of = documents(graph);
        let num_documents = document_of.iter().flatten().max().map_or(0, |last| last + 1);
        let mut targets = vec![Vec::new(); num_documents];
        for (place, node) in graph.nodes.iter().enumerate() {
            let Some(document) = document_of[place] else { continue };
            let ends = node.to.iter().filter_map(|&to| document_of[graph.end_of(to)?]);
            targets[document].extend(ends.filter(|&end| end != document));
        }
        for to in &mut targets {
            to.sort_unstable();
            to.dedup();
        }
        let mut of_document = page_rank(&targets);
        let first_of = first_places(&document_of, num_documents);
        let is_twin = twins(graph, &document_of, &first_of);
        for (document, weight) in of_document.iter_mut().enumerate() {
            let is_kept =
                page_at(graph, first_of[document]).is_some_and(|page| matches!(page.stored, StoredAs::Record(_)));
            if is_twin[document] || !is_kept {
                *weight = 0.0;
            }
        }
        Self { document_of, of_document, num_twins: is_twin.iter().filter(|is_twin| **is_twin).count() }
    }

    /// All weight that there is.
    pub fn total(&self) -> f64 {
        self.of_document.iter().sum()
    }

    /// The weight that requests for these URLs bring home.
    pub fn kept(&self, requests: impl IntoIterator<Item = usize>) -> f64 {
        let mut is_taken = vec![false; self.of_document.len()];
        let documents = requests.into_iter().filter_map(|place| self.document_of[place]);
        documents
            .filter(|&document| !std::mem::replace(&mut is_taken[document], true))
            .map(|d| self.of_document[d])
            .sum()
    }
}

fn page_at(graph: &Graph, place: usize) -> Option<&ReadPage> {
    match &graph.nodes[place].gives {
        Gives::Page(page) => Some(page),
        Gives::Redirect(_) | Gives::Nothing => None,
    }
}

/// The document of each URL that gives a page, numbered in order of first appearance.
fn documents(graph: &Graph) -> Vec<Option<usize>> {
    let places = graph.places();
    let mut by_text: HashMap<u64, usize> = HashMap::new();
    // Each place points to one before it that has the same text, or to its canonical URL; the end of the way stands for all.
    let mut leads_to: Vec<usize> = (0..graph.nodes.len()).collect();
    for place in 0..graph.nodes.len() {
        let Some(page) = page_at(graph, place) else { continue };
        leads_to[place] = *by_text.entry(page.text).or_insert(place);
        let canonical = page.canonical.as_ref().and_then(|url| graph.end_of(*places.get(url)?));
        if let Some(canonical) = canonical.filter(|canonical| end(&leads_to, *canonical) != place) {
            let from = end(&leads_to, place);
            leads_to[from] = end(&leads_to, canonical);
        }
    }
    let mut number_of: HashMap<usize, usize> = HashMap::new();
    let number = |place: usize| {
        page_at(graph, place)?;
        let next = number_of.len();
        Some(*number_of.entry(end(&leads_to, place)).or_insert(next))
    };
    (0..graph.nodes.len()).map(number).collect()
}

fn end(leads_to: &[usize], mut place: usize) -> usize {
    while leads_to[place] != place {
        place = leads_to[place];
    }
    place
}

fn first_places(document_of: &[Option<usize>], num_documents: usize) -> Vec<usize> {
    let mut first = vec![usize::MAX; num_documents];
    for (place, document) in document_of.iter().enumerate() {
        if let Some(document) = *document {
            first[document] = first[document].min(place);
        }
    }
    first
}

/// Which documents are another language's version of one that weighs something.
fn twins(graph: &Graph, document_of: &[Option<usize>], first_of: &[usize]) -> Vec<bool> {
    let home = document_of.iter().flatten().next().and_then(|&home| page_at(graph, first_of[home]));
    let main = home.and_then(|page| Language::of_tag(page.language.as_deref()?));
    let language_of = |document: usize| {
        let place = first_of[document];
        let said = page_at(graph, place).and_then(|page| Language::of_tag(page.language.as_deref()?));
        without_language(&graph.nodes[place].url).1.or(said).or(main)
    };
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (document, &place) in first_of.iter().enumerate() {
        groups.entry(without_language(&graph.nodes[place].url).0).or_default().push(document);
    }
    let places = graph.places();
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    for (document, &place) in first_of.iter().enumerate() {
        let Some(page) = page_at(graph, place) else { continue };
        let versions =
            page.around.versions.iter().filter_map(|(_, url)| document_of[graph.end_of(*places.get(url)?)?]);
        groups.push(std::iter::once(document).chain(versions).collect());
    }
    let mut is_twin = vec![false; first_of.len()];
    for mut group in groups {
        group.sort_by_key(|&document| first_of[document]);
        let closeness = |document: usize| match (language_of(document), main) {
            (Some(language), Some(main)) => language.closeness(&main),
            (Some(_), None) | (None, _) => Closeness::Other,
        };
        // The nearest to the main language, and of those the first.
        let Some(&kept) = group.iter().rev().max_by_key(|&&document| closeness(document)) else { continue };
        let is_tagged = |document: usize| without_language(&graph.nodes[first_of[document]].url).1.is_some();
        for &document in &group {
            let (Some(language), Some(of_kept)) = (language_of(document), language_of(kept)) else { continue };
            is_twin[document] |= match language.closeness(&of_kept) {
                Closeness::Other => true,
                // A page without a tag is no version of one in the same language: the two are linked as two.
                Closeness::SamePrimary => is_tagged(document) && is_tagged(kept),
                Closeness::Same => false,
            };
        }
    }
    is_twin
}

/// A URL without the language tag in its path, and that language: a folder, or a part of the file's name between dots.
fn without_language(url: &PageUrl) -> (String, Option<Language>) {
    let mut language = None;
    let mut take = |part: &&str| match Language::of_path_part(part).filter(|_| language.is_none()) {
        Some(found) => {
            language = Some(found);
            false
        }
        None => true,
    };
    let (folders, file) = url.as_url().path().rsplit_once('/').unwrap_or_default();
    let folders: Vec<&str> = folders.split('/').filter(|part| take(part)).collect();
    let is_tag_alone = Language::of_path_part(file).is_some();
    let mut parts = file.split('.').enumerate();
    let file: Vec<&str> = parts
        .by_ref()
        .filter(|(number, part)| (*number == 0 && !is_tag_alone) || take(part))
        .map(|(_, part)| part)
        .collect();
    let file = file.join(".");
    let file = if file == "index.html" { "" } else { file.as_str() };
    let query = url.as_url().query().unwrap_or_default();
    (format!("{}{}/{file}?{query}", url.host(), folders.join("/")), language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, key: &str, language: Option<&str>) {
        let url = PageUrl::parse(&format!("http://a.test{path}"), None).unwrap();
        let (found, tag) = without_language(&url);
        assert_eq!((found.as_str(), tag.as_ref().map(Language::as_str)), (format!("a.test{key}?").as_str(), language));
    }

    #[test]
    fn a_language_is_taken_out_of_a_path_once() {
        check("/", "/", None);
        check("/de/", "/", Some("de"));
        check("/de", "/", Some("de"));
        check("/ro-RO/apt.html", "/apt.html", Some("ro-ro"));
        check("/docs/zh_CN/a/b.html", "/docs/a/b.html", Some("zh-cn"));
        check("/a/index.de.html", "/a/", Some("de"));
        check("/en/it/x", "/it/x", Some("en"));
        check("/apt.html", "/apt.html", None);
        check("/no.html", "/no.html", None);
    }
}
