//! How much a waiting URL promises: an estimate of its PageRank from what was read of the site so far, and of what it is another version of.
//!
//! The estimate is PageRank (Page et al. 1999) over the pages that are known, as Cho, Garcia-Molina and Page (1998) order a crawl by it,
//! with one addition: a page that was not read yet is expected to link to the page above it, so that rank flows to the heads of
//! chapters and sections before their pages are read. The page above is the one that an outline (nested lists of links) puts it
//! under, else the one whose address its own begins with.
//!
//! And with one bound: each page has some rank for nothing, and would hand it on, so that pages which link to ever new ones, each to its
//! own, would outweigh whatever the start links to. So a page gives no other more than was given to itself by pages as near to the start
//! (its elders): what a chain leads to weighs less with each link, as in a rank that flows from trusted pages alone (Gyongyi,
//! Garcia-Molina and Pedersen: Combating Web Spam with TrustRank, 2004), yet pages that many link to weigh as before.
//!
//! What this deliberately does not do: drop anything. Invariants: the same queue gives the same weights; the work is bounded by
//! [`NUM_ROUNDS`] times the links that are remembered and some thirty look-ups a URL, and no URL is compared with every other one.

use std::collections::{HashMap, HashSet};

use super::address::{self, Address};
use super::doubts::doubts;
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
    /// How much the answers of others say against it.
    pub doubts: u8,
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
    let doubts = doubts(entries);
    let versions = Versions::of(entries);
    let weight = |(place, entry): (usize, &FrontierEntry)| {
        let promise = if versions.is_other(place, entry) {
            Promise::OtherVersion
        } else if address::is_other_format(&entry.url) {
            Promise::OtherFormat
        } else {
            Promise::Page
        };
        Weight { promise, doubts: doubts[place], rank: ranks[place] }
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
    let elders = elders(&nodes);
    // What the pages that were read have of their rank from elders.
    let mut earned = [0.0; NUM_LINK_SLOTS];
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
                    let slot = usize::from(reading.slot);
                    if let Some(vote) = votes.get_mut(slot) {
                        let share = outflow / f64::from(reading.num_links);
                        *vote = if elders[slot].is_some() { share.min(DAMPING * earned[slot]) } else { share };
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
            next[place] += spread + sum_of(&votes, entry.linked_from);
        }
        for (earned, elders) in earned.iter_mut().zip(&elders) {
            *earned = sum_of(&votes, elders.unwrap_or_default());
        }
        std::mem::swap(&mut ranks, &mut next);
    }
    ranks
}

/// The votes of these slots together.
fn sum_of(votes: &[f64; NUM_LINK_SLOTS], mut slots: u32) -> f64 {
    let mut sum = 0.0;
    while slots != 0 {
        sum += votes[slots.trailing_zeros() as usize];
        slots &= slots - 1;
    }
    sum
}

/// For each page that was read, by its slot: the slots of the pages that link to it and lie as near to where the crawl starts. What it
/// leads to itself is none of these. Nothing for the start itself, and for a page of which no link is known: a sitemap may list it.
fn elders(nodes: &[(usize, &FrontierEntry)]) -> [Option<u32>; NUM_LINK_SLOTS] {
    let read = nodes.iter().filter_map(|&(_, entry)| Some((entry.reading.as_ref()?.slot, entry)));
    let read: Vec<(u8, &FrontierEntry)> = read.filter(|(slot, _)| usize::from(*slot) < NUM_LINK_SLOTS).collect();
    let mut elders = [None; NUM_LINK_SLOTS];
    for &(slot, entry) in read.iter().filter(|(_, entry)| entry.depth > 0 && entry.linked_from != 0) {
        let near = read.iter().filter(|(other, page)| *other != slot && page.depth <= entry.depth);
        let near = near.fold(0, |bits, (other, _)| bits | 1_u32 << other);
        elders[usize::from(slot)] = Some(entry.linked_from & near);
    }
    elders
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
