//! How much a waiting URL promises: an estimate of its PageRank from what was read of the site so far, and of what it is another version of.
//!
//! The estimate is PageRank (Page et al. 1999) over the pages that are known, as Cho, Garcia-Molina and Page (1998) order a crawl by it,
//! with one addition: a page that was not read yet is expected to link to the page above it, so that rank flows to the heads of
//! chapters and sections before their pages are read. The page above is the one that an outline (nested lists of links) puts it
//! under, else the one whose address its own begins with.
//!
//! What this deliberately does not do: drop anything. Invariants: the same queue gives the same weights; the work is bounded by
//! [`NUM_ROUNDS`] times the links that are remembered and some thirty look-ups a URL, and no URL is compared with every other one.

use std::collections::{HashMap, HashSet};

use super::address::{self, Address};
use super::{EntryRole, EntryStanding, FrontierEntry, NUM_LINK_SLOTS};
use crate::language::{Closeness, Language};

/// The share of a surfer's steps that follow a link.
const DAMPING: f64 = 0.85;
/// The share of an unread page's links that is expected to lead to the page above it.
const UP_SHARE: f64 = 0.3;
/// Rounds of the power iteration: what later ones would change is less than a tenth of a rank.
const NUM_ROUNDS: usize = 20;
/// A seed, and a page that other sites link to, gets this many times the rank that every page starts from.
const SEED_START: f64 = 2.0;

/// What one URL promises.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weight {
    /// Its place among the kinds of promise, the best first.
    pub promise: Promise,
    /// The estimate of its rank.
    pub rank: f64,
}

/// What kind of thing a URL promises to be; the first goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    /// A page.
    #[default]
    Page,
    /// A file that is no page, by its ending.
    OtherFormat,
    /// A page that the site has in a language nearer to its own, or another address of one that was taken.
    OtherVersion,
}

/// The weight of each entry.
pub(super) fn weigh(entries: &[FrontierEntry]) -> Vec<Weight> {
    let ranks = ranks(entries);
    let versions = Versions::of(entries);
    let weight = |(place, entry): (usize, &FrontierEntry)| {
        let promise = if versions.is_other(place, entry) {
            Promise::OtherVersion
        } else if address::is_other_format(&entry.url) {
            Promise::OtherFormat
        } else {
            Promise::Page
        };
        Weight { promise, rank: ranks[place] }
    };
    entries.iter().enumerate().map(weight).collect()
}

/// A page of the graph that is known.
fn is_node(entry: &FrontierEntry) -> bool {
    let may_be_page = match entry.standing {
        EntryStanding::Queued | EntryStanding::Stored => true,
        EntryStanding::Dropped(_) | EntryStanding::SitemapRead { .. } => entry.reading.is_some(),
    };
    may_be_page && entry.role == EntryRole::Page
}

fn ranks(entries: &[FrontierEntry]) -> Vec<f64> {
    let nodes: Vec<(usize, &FrontierEntry)> = entries.iter().enumerate().filter(|(_, entry)| is_node(entry)).collect();
    let above = pages_above(entries);
    let start = |entry: &FrontierEntry| if entry.depth == 0 { SEED_START } else { 1.0 };
    let all_starts: f64 = nodes.iter().map(|(_, entry)| start(entry)).sum();
    let mut starts = vec![0.0; entries.len()];
    for &(place, entry) in &nodes {
        starts[place] = start(entry) / all_starts;
    }
    let (mut ranks, mut next) = (starts.clone(), starts.clone());
    for _ in 0..NUM_ROUNDS {
        let mut votes = [0.0; NUM_LINK_SLOTS];
        let mut spread = 0.0;
        for (next, start) in next.iter_mut().zip(&starts) {
            *next = (1.0 - DAMPING) * start;
        }
        for &(place, entry) in &nodes {
            let outflow = DAMPING * ranks[place];
            match (&entry.reading, above[place]) {
                (Some(reading), _) if reading.num_links > 0 => {
                    if let Some(vote) = votes.get_mut(usize::from(reading.slot)) {
                        *vote = outflow / f64::from(reading.num_links);
                    }
                }
                (None, Some(above)) => {
                    next[above] += outflow * UP_SHARE;
                    spread += outflow * (1.0 - UP_SHARE);
                }
                (Some(_), _) | (None, None) => spread += outflow,
            }
        }
        let spread = spread / nodes.len().max(1) as f64;
        for &(place, entry) in &nodes {
            let mut rank = next[place] + spread;
            let mut linked_from = entry.linked_from;
            while linked_from != 0 {
                rank += votes[linked_from.trailing_zeros() as usize];
                linked_from &= linked_from - 1;
            }
            next[place] = rank;
        }
        std::mem::swap(&mut ranks, &mut next);
    }
    ranks
}

/// For each entry that was not read yet, the place of the page above it: by an outline, else by its address.
fn pages_above(entries: &[FrontierEntry]) -> Vec<Option<usize>> {
    let mut by_fingerprint = HashMap::new();
    let mut by_stem = HashMap::new();
    for (place, entry) in entries.iter().enumerate().filter(|(_, entry)| is_node(entry)) {
        by_fingerprint.insert(entry.url.fingerprint(), place);
        if entry.url.as_url().query().is_none() {
            by_stem.entry((entry.url.host(), address::stem(&entry.url))).or_insert(place);
        }
    }
    let above = |(place, entry): (usize, &FrontierEntry)| {
        if entry.reading.is_some() || !is_node(entry) {
            return None;
        }
        let by_outline = entry.above.and_then(|above| by_fingerprint.get(&above.get()));
        let host = entry.url.host();
        let by_address = || {
            // What stands behind a query stands below the page without it.
            let own = entry.url.as_url().query().map(|_| address::stem(&entry.url));
            let stems = own.into_iter().chain(address::ancestors(address::stem(&entry.url)));
            stems.filter_map(|stem| by_stem.get(&(host, stem))).find(|&&above| above != place)
        };
        by_outline.or_else(by_address).copied().filter(|&above| above != place)
    };
    entries.iter().enumerate().map(above).collect()
}

/// Which documents were taken, and which languages the site has beside its own.
struct Versions {
    addresses: Vec<Option<Address>>,
    main: Option<Language>,
    /// Places of what was taken in this cycle, by document.
    taken: HashMap<u64, Vec<usize>>,
    /// Languages that paths name, as far as it is proven that they do, in order.
    proven: Vec<Language>,
    /// How near the nearest of them comes to the site's own.
    nearest: Closeness,
}

impl Versions {
    fn of(entries: &[FrontierEntry]) -> Self {
        let address = |entry: &FrontierEntry| is_node(entry).then(|| Address::of(&entry.url));
        let addresses: Vec<Option<Address>> = entries.iter().map(address).collect();
        let known = || addresses.iter().enumerate().filter_map(|(place, address)| Some((place, (*address)?)));
        let mut taken: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, address) in known().filter(|(place, _)| entries[*place].standing == EntryStanding::Stored) {
            taken.entry(address.document).or_default().push(place);
        }
        let tag_at = |place: &usize| addresses[*place].and_then(|address| address.language);
        let first_tagged = || taken.values().flatten().filter(|place| tag_at(place).is_some()).min();
        let main = main_language(entries).or_else(|| first_tagged().and_then(tag_at));
        let proven = proven_languages(entries, &addresses, main);
        let closeness = |language: &Language| main.map_or(Closeness::Other, |main| language.closeness(&main));
        let nearest = proven.iter().map(closeness).max().unwrap_or(Closeness::Other);
        Self { addresses, main, taken, proven, nearest }
    }

    /// Whether the entry at this place is another version of what was taken, or of what is to be taken in a nearer language.
    fn is_other(&self, place: usize, entry: &FrontierEntry) -> bool {
        let Some(address) = self.addresses[place] else { return false };
        let taken = self.taken.get(&address.document).map_or(&[][..], Vec::as_slice);
        entry.is_other_version
            || taken.iter().any(|&taken| taken != place && self.is_version_of(&address, taken))
            || address.language.is_some_and(|language| self.is_side_language(&language))
    }

    fn is_version_of(&self, address: &Address, taken: usize) -> bool {
        let of_taken = self.addresses[taken].and_then(|taken| taken.language);
        if of_taken == address.language {
            return true;
        }
        if [of_taken, address.language].into_iter().flatten().any(|language| !self.is_proven(&language)) {
            return false;
        }
        // What names no language is in the site's own; a page in it that has a tag may be another document, a page of languages beside
        // the home page in one of them.
        match (of_taken.or(self.main), address.language.or(self.main)) {
            (Some(one), Some(other)) => match one.closeness(&other) {
                Closeness::Other => true,
                Closeness::SamePrimary => of_taken.is_some() && address.language.is_some(),
                Closeness::Same => false,
            },
            (Some(_), None) | (None, _) => false,
        }
    }

    fn is_side_language(&self, language: &Language) -> bool {
        let Some(main) = self.main else { return false };
        let closeness = language.closeness(&main);
        self.is_proven(language) && (closeness == Closeness::Other || closeness < self.nearest)
    }

    fn is_proven(&self, language: &Language) -> bool {
        self.proven.binary_search(language).is_ok()
    }
}

/// Languages that paths name. `/it/` may be a department: what proves it a language is a document with another tag, a second document
/// with and without it, or a page there that says so itself.
fn proven_languages(entries: &[FrontierEntry], addresses: &[Option<Address>], main: Option<Language>) -> Vec<Language> {
    let mut untagged: HashSet<u64> = HashSet::new();
    let mut first_tag: HashMap<u64, Language> = HashMap::new();
    let known = || entries.iter().zip(addresses).filter_map(|(entry, address)| Some((entry, (*address)?)));
    let mut proven = Vec::new();
    for (entry, address) in known() {
        let Some(tagged) = address.language else {
            untagged.insert(address.document);
            continue;
        };
        let first = *first_tag.entry(address.document).or_insert(tagged);
        if first != tagged {
            proven.extend([first, tagged]);
        }
        let spoken = entry.reading.as_ref().and_then(|reading| reading.language);
        if let Some(spoken) = spoken
            && tagged.closeness(&spoken) != Closeness::Other
            && main.is_none_or(|main| main.closeness(&spoken) != Closeness::Same)
        {
            proven.push(tagged);
        }
    }
    let mut beside_untagged: HashMap<Language, u32> = HashMap::new();
    for (document, tagged) in first_tag {
        if untagged.contains(&document) {
            *beside_untagged.entry(tagged).or_default() += 1;
        }
    }
    proven
        .extend(beside_untagged.into_iter().filter(|(_, num_documents)| *num_documents > 1).map(|(tagged, _)| tagged));
    proven.sort_unstable();
    proven.dedup();
    proven
}

/// The language of the home page, else of the first page that was read, as it says itself.
pub(super) fn main_language(entries: &[FrontierEntry]) -> Option<Language> {
    let spoken = || entries.iter().filter_map(|entry| Some((entry, entry.reading.as_ref()?.language?)));
    let home = spoken().find(|(entry, _)| entry.url.is_home() && entry.depth == 0);
    home.or_else(|| spoken().next()).map(|(_, language)| language)
}
