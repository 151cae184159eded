//! The order of waiting URLs: whether one may be asked now, its kind, and what it promises.

use super::weighing::{Promise, Weight};
use super::{EntryRole, FrontierEntry};

/// Rank among queued URLs; the smallest goes first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Rank {
    stands_back: bool,
    is_guess: bool,
    num_tries: u8,
    class: Class,
    /// The more there are, the later.
    doubts: u8,
    /// How much less than everything it promises.
    lack: f64,
    has_query: bool,
    depth: u16,
    num_segments: usize,
}

/// The first part of a URL's rank. A page that pages link to goes before one that is merely listed, whatever their paths. What is doubted
/// goes behind both, and before what brings nothing new for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Home,
    Sitemap,
    Linked,
    Listed,
    Doubtful,
    OtherFormat,
    OtherVersion,
}

impl Rank {
    /// The order of ranks: ranks of numbers, so that any two can be compared.
    pub(super) fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
    }
}

impl FrontierEntry {
    /// A guess goes behind all else: whoever is answered enough without it does not ask for it.
    pub(super) fn rank(&self, weight: Weight, stands_back: impl Fn(&Self) -> bool) -> Rank {
        let (class, lack) = match (self.role, weight.promise) {
            // What an index lists goes before the other sitemaps: an index alone names no page.
            (EntryRole::Sitemap { depth }, _) => (Class::Sitemap, -f64::from(depth)),
            (EntryRole::GuessedSitemap, _) => (Class::Sitemap, 0.0),
            (EntryRole::Page, _) if self.url.is_home() && self.depth == 0 => (Class::Home, 0.0),
            (EntryRole::Page, Promise::OtherVersion) => (Class::OtherVersion, -weight.rank),
            (EntryRole::Page, Promise::OtherFormat) => (Class::OtherFormat, -weight.rank),
            (EntryRole::Page, Promise::Page) if weight.doubts > 0 => (Class::Doubtful, -weight.rank),
            (EntryRole::Page, Promise::Page) if self.num_inlinks > 0 => (Class::Linked, -weight.rank),
            (EntryRole::Page, Promise::Page) => (Class::Listed, 0.0),
        };
        // Where nothing else tells them apart: the plain before the queried, the near before the far. A list is in its own order.
        let is_listed = class == Class::Listed;
        let path = self.url.as_url().path();
        Rank {
            stands_back: stands_back(self),
            is_guess: self.role == EntryRole::GuessedSitemap,
            num_tries: self.num_tries,
            class,
            doubts: weight.doubts,
            lack,
            has_query: !is_listed && self.url.as_url().query().is_some(),
            depth: if is_listed { 0 } else { self.depth },
            num_segments: if is_listed { 0 } else { path.split('/').filter(|segment| !segment.is_empty()).count() },
        }
    }
}
