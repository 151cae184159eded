//! Which URL of a site's queue is asked for next: the home page first, then sitemaps, then what pages link to, by an estimate of its
//! PageRank, then what only a sitemap lists, in its order, then what is like URLs that brought nothing; files that are no pages and other
//! languages' versions last.
//!
//! `weighing` makes the estimate, `links` remembers what it is made of, `doubts` learns from answers. `docs/PAGE_CHOICE.md` says how well it does.
//! [`PageQueue`] is the site's page queue. It remembers what became of each URL in the newest cycle, so that no URL is asked twice and
//! `explain` can answer. Invariant: a URL stands in it once, and never more than `max_urls` URLs or [`MAX_QUEUE_URL_BYTES`] stand in it,
//! stored pages that it had lost aside (see [`PageQueue::note_records`]).

mod address;
mod doubts;
mod links;
mod of_page;
mod rank;
mod recrawl;
mod sitemaps;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trap_tests;
mod weighing;
#[cfg(test)]
mod weighing_tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::barrier::BarrierKind;
use crate::ledger::RequestKind;
use crate::site_row::SiteFrontier;
use crate::url::PageUrl;

use rank::Rank;
use weighing::Weight;

pub use links::{LinkedPage, NUM_LINK_SLOTS, PageLinks, PageReading};
pub use sitemaps::{MAX_CHILDREN_OF_INDEX, MAX_INDEX_DEPTH, MAX_NAMED_SITEMAPS};

/// Most bytes of URLs in one site's queue: the queue is stored as one value, and that has a limit.
pub const MAX_QUEUE_URL_BYTES: usize = 512 << 10;

/// Longest chain of redirects that is followed.
pub const MAX_REDIRECT_HOPS: u8 = 5;

/// Why a URL is not asked, or no longer. Stored by their order, so that a new reason goes to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropReason {
    /// A line of robots.txt forbids it.
    Robots {
        /// Line number, from 1.
        line: u32,
        /// The line as it stood.
        text: String,
    },
    /// The operator excluded its domain.
    Excluded,
    /// Its origin is one too many for this cycle.
    TooManyOrigins,
    /// It is no HTML page (any more), by its type.
    NotHtml,
    /// It does not exist (any more).
    Gone,
    /// A login, paywall or bot protection stands before it.
    Barrier(BarrierKind),
    /// It asked not to be indexed.
    Noindex,
    /// It sends elsewhere.
    Redirect {
        /// Where to, if that is usable.
        target: Option<PageUrl>,
    },
    /// Another answer that is nothing to store.
    Status(u16),
    /// It failed as often as it may.
    TooManyTries,
    /// Its origin's robots.txt cannot be read.
    RobotsUnreachable,
    /// Reading it made the extractor fail; nothing of it is kept.
    ExtractionFailed,
    /// Its address is one that is never dialled.
    AddressRefused {
        /// Which range it is in, or what the node lacks.
        why: String,
    },
    /// Its host's name does not exist.
    NoSuchName,
    /// A login stands before the robots.txt of its origin.
    RobotsLogin {
        /// The status that said so.
        status: u16,
    },
    /// The store refused it: the site's pages are all taken.
    StoreFull,
    /// It was to be asked as a sitemap, and holds nothing that a sitemap is.
    NoSitemap,
    /// It was to be asked as a sitemap, and the cycle has no request left for one.
    SitemapsSpent,
    /// Its bytes are those of another format, whatever its type says: no page is there any more.
    OtherFormat,
    /// It sends elsewhere for good.
    MovedForGood {
        /// Where to.
        target: PageUrl,
    },
}

impl DropReason {
    /// Whether the page's record goes with it: it is gone, or must not be kept.
    pub fn removes_record(&self) -> bool {
        match self {
            Self::Robots { .. } | Self::RobotsLogin { .. } | Self::Gone | Self::Noindex | Self::Excluded => true,
            Self::NotHtml | Self::OtherFormat | Self::MovedForGood { .. } => true,
            Self::Barrier(kind) => kind.closes_page(),
            Self::TooManyOrigins
            | Self::Redirect { .. }
            | Self::Status(_)
            | Self::TooManyTries
            | Self::RobotsUnreachable
            | Self::ExtractionFailed
            | Self::StoreFull
            | Self::NoSitemap
            | Self::SitemapsSpent
            | Self::AddressRefused { .. }
            | Self::NoSuchName => false,
        }
    }

    /// A few plain words for people.
    pub fn describe(&self) -> String {
        let words = match self {
            Self::Robots { line, text } => return format!("line {line} of robots.txt forbids it: {text}"),
            Self::Barrier(kind) => return format!("{}; barriers are never passed", kind.describe()),
            Self::Redirect { target: Some(target) } => return format!("it redirects to {target}"),
            Self::MovedForGood { target } => return format!("it moved to {target} for good"),
            Self::Status(status) => return format!("it answered {status}"),
            Self::Excluded => "its domain is excluded",
            Self::TooManyOrigins => "its site has more origins than a cycle takes up",
            Self::NotHtml => "it is no HTML page",
            Self::OtherFormat => "its content is no HTML page, whatever its type says",
            Self::Gone => "it does not exist (404, 410, or a redirect to nowhere)",
            Self::Noindex => "it asks not to be indexed (noindex)",
            Self::Redirect { target: None } => "it redirects to nothing that could be asked",
            Self::TooManyTries => "it failed as often as it may be asked",
            Self::RobotsUnreachable => "the robots.txt of its origin cannot be read",
            Self::ExtractionFailed => "reading it failed",
            Self::AddressRefused { why } => return format!("its address is one that is never dialled: {why}"),
            Self::NoSuchName => "its host's name does not exist",
            Self::RobotsLogin { status } => {
                return format!("a login stands before the robots.txt of its origin ({status}), so nothing is asked");
            }
            Self::StoreFull => "the site's pages are all taken",
            Self::NoSitemap => "it was asked as a sitemap and is none",
            Self::SitemapsSpent => "it is a sitemap, and this cycle has no request left for one",
        };
        words.to_owned()
    }
}

/// What became of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryStanding {
    /// Waits for its turn.
    Queued,
    /// Was asked for, and its page is stored.
    Stored,
    /// Will not be asked for in this cycle, or no longer.
    Dropped(DropReason),
    /// Was asked for as a sitemap, and read.
    SitemapRead {
        /// Pages of the site that it lists, at most as many as the queue takes.
        num_urls: u32,
    },
}

/// What a URL is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryRole {
    /// To be stored.
    Page,
    /// For the URLs that it lists: robots.txt names it, or an index that robots.txt names.
    Sitemap {
        /// Indexes that led to it.
        depth: u8,
    },
    /// The same, but that it exists is a guess: no robots.txt of the site names a sitemap.
    GuessedSitemap,
}

impl EntryRole {
    /// What a request for it counts as.
    pub const fn request_kind(self) -> RequestKind {
        match self {
            Self::Page => RequestKind::Page,
            Self::Sitemap { .. } | Self::GuessedSitemap => RequestKind::Sitemap,
        }
    }

    /// Whether it is asked for what it lists.
    pub const fn is_sitemap(self) -> bool {
        match self {
            Self::Page => false,
            Self::Sitemap { .. } | Self::GuessedSitemap => true,
        }
    }

    /// Indexes that led to it.
    pub const fn index_depth(self) -> u8 {
        match self {
            Self::Page | Self::GuessedSitemap => 0,
            Self::Sitemap { depth } => depth,
        }
    }
}

/// One URL of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontierEntry {
    /// The URL.
    pub url: PageUrl,
    /// Links away from the nearest seed.
    pub depth: u16,
    /// Pages of the site that link to it, as far as seen; 0 where only a sitemap lists it.
    pub num_inlinks: u32,
    /// Times it was asked for.
    pub num_tries: u8,
    /// Redirects that led here.
    pub num_hops: u8,
    /// A record of it was stored, in this cycle or an earlier one, and not removed since.
    pub has_record: bool,
    /// What became of it.
    pub standing: EntryStanding,
    /// What it is asked for.
    pub role: EntryRole,
    /// The pages that link to it, of those that were read: a bit for the [`PageReading::slot`] of each.
    pub linked_from: u32,
    /// Fingerprint of the URL above it in the outline of the page that made it known.
    pub above: Option<NonZeroU64>,
    /// A page names it as its version in another language.
    pub is_other_version: bool,
    /// What is remembered of its page since it was read last.
    pub reading: Option<Box<PageReading>>,
}

impl FrontierEntry {
    /// A page that waits, of which nothing else is known yet.
    pub fn new(url: PageUrl, depth: u16) -> Self {
        Self {
            url,
            depth,
            num_inlinks: 0,
            num_tries: 0,
            num_hops: 0,
            has_record: false,
            standing: EntryStanding::Queued,
            role: EntryRole::Page,
            linked_from: 0,
            above: None,
            is_other_version: false,
            reading: None,
        }
    }

    /// Whether nothing is known of it but that a sitemap lists it.
    fn is_merely_listed(&self) -> bool {
        self.role == EntryRole::Page && self.num_inlinks == 0
    }
}

/// The URLs of one site and what became of them.
#[derive(Clone, Debug, Default)]
pub struct PageQueue {
    entries: Vec<FrontierEntry>,
    places: HashMap<u64, usize, BuildHasherDefault<Prehashed>>,
    num_url_bytes: usize,
    /// What each entry promised when [`PageQueue::weigh`] looked; without the entries that came since.
    weights: Vec<Weight>,
    /// Nothing changed since.
    is_weighed: bool,
}

/// What else is in a queue follows from its entries.
impl PartialEq for PageQueue {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for PageQueue {}

impl From<SiteFrontier> for PageQueue {
    fn from(stored: SiteFrontier) -> Self {
        let mut queue = Self::default();
        for entry in stored.entries {
            queue.push(entry);
        }
        queue
    }
}

impl PageQueue {
    /// All URLs, in the order in which they were found.
    pub fn entries(&self) -> &[FrontierEntry] {
        &self.entries
    }

    /// The form in which it is stored.
    pub fn to_stored(&self) -> SiteFrontier {
        SiteFrontier { entries: self.entries.clone() }
    }

    /// How many wait for their turn.
    pub fn num_queued(&self) -> usize {
        self.queued().count()
    }

    /// The entry of a URL.
    pub fn get(&self, url: &PageUrl) -> Option<&FrontierEntry> {
        self.places.get(&url.fingerprint()).map(|&place| &self.entries[place])
    }

    /// Puts a URL in; if it is in already, only counts the link. Beyond `max_urls` nothing new is taken.
    pub fn add(&mut self, url: PageUrl, depth: u16, num_hops: u8, max_urls: usize) -> Added {
        if let Some(&place) = self.places.get(&url.fingerprint()) {
            let entry = &mut self.entries[place];
            self.is_weighed &= entry.depth <= depth && entry.num_inlinks > 0;
            entry.num_inlinks = entry.num_inlinks.saturating_add(1);
            entry.depth = entry.depth.min(depth);
            if depth == 0 && entry.num_tries == 0 {
                // A seed is a page, whatever a robots.txt calls it.
                entry.role = EntryRole::Page;
            }
            return Added::Known;
        }
        if self.entries.len() >= max_urls || self.num_url_bytes + url.as_str().len() > MAX_QUEUE_URL_BYTES {
            return Added::NoRoom;
        }
        self.push(FrontierEntry { num_inlinks: 1, num_hops, ..FrontierEntry::new(url, depth) });
        Added::New
    }

    /// Says what became of a URL.
    pub fn settle(&mut self, url: &PageUrl, standing: EntryStanding) {
        if let Some(&place) = self.places.get(&url.fingerprint()) {
            let entry = &mut self.entries[place];
            entry.has_record = match &standing {
                EntryStanding::Stored => true,
                EntryStanding::Queued | EntryStanding::SitemapRead { .. } => entry.has_record,
                EntryStanding::Dropped(reason) => entry.has_record && !reason.removes_record(),
            };
            entry.standing = standing;
            self.is_weighed = false;
        }
    }

    /// Counts one more request for a URL and gives the new count.
    pub fn count_try(&mut self, url: &PageUrl) -> u8 {
        let Some(&place) = self.places.get(&url.fingerprint()) else { return 0 };
        let entry = &mut self.entries[place];
        entry.num_tries = entry.num_tries.saturating_add(1);
        entry.num_tries
    }

    /// The URLs that wait for their turn, as found.
    pub fn queued(&self) -> impl Iterator<Item = &FrontierEntry> {
        self.entries.iter().filter(|entry| entry.standing == EntryStanding::Queued)
    }

    /// Looks at what each URL promises by all that is known now. Without it, the order is the one of the last look.
    pub fn weigh(&mut self) {
        if !self.is_weighed {
            self.weights = weighing::weigh(&self.entries);
            self.is_weighed = true;
        }
    }

    /// The queued URLs, best first: one that `stands_back` behind all others, those never tried before those tried, then by what they
    /// promise, then as found.
    pub fn by_choice(&self, stands_back: impl Fn(&FrontierEntry) -> bool) -> Vec<PageUrl> {
        let mut queued: Vec<_> = self.ranked(&stands_back).collect();
        queued.sort_by(|(one, _), (other, _)| one.cmp(other));
        queued.into_iter().map(|(_, entry)| entry.url.clone()).collect()
    }

    /// The first of [`Self::by_choice`], in one pass and without a copy.
    pub fn best(&self, stands_back: impl Fn(&FrontierEntry) -> bool) -> Option<&FrontierEntry> {
        // `min_by` keeps the first of equals: the one found first.
        self.ranked(&stands_back).min_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, entry)| entry)
    }

    fn ranked(&self, stands_back: &impl Fn(&FrontierEntry) -> bool) -> impl Iterator<Item = (Rank, &FrontierEntry)> {
        let weights = self.weights.iter().copied().chain(std::iter::repeat(Weight::default()));
        let queued = self.entries.iter().zip(weights).filter(|(entry, _)| entry.standing == EntryStanding::Queued);
        queued.map(move |(entry, weight)| (entry.rank(weight, stands_back), entry))
    }

    /// Rewrites every URL that `rewrite` has a new form for; used when a guessed scheme turns out wrong.
    pub fn rewrite(&mut self, rewrite: impl Fn(&PageUrl) -> Option<PageUrl>) {
        let old = std::mem::take(self);
        for mut entry in old.entries {
            if let Some(url) = rewrite(&entry.url) {
                entry.url = url;
            }
            self.push(entry);
        }
    }

    fn push(&mut self, entry: FrontierEntry) {
        if let Entry::Vacant(place) = self.places.entry(entry.url.fingerprint()) {
            place.insert(self.entries.len());
            self.num_url_bytes += entry.url.as_str().len();
            self.is_weighed = false;
            self.entries.push(entry);
        }
    }

    /// Makes ready for a new cycle: every URL may be asked again, but for those that were gone, and they come back when they are linked
    /// to. Sitemaps, and what only they list and the store does not hold, come back when they are named and listed anew.
    pub fn reopen(&mut self) {
        // A queue that is older than the store may say so of a page that has come back since.
        let is_gone =
            |entry: &FrontierEntry| entry.standing == EntryStanding::Dropped(DropReason::Gone) && !entry.has_record;
        let is_past =
            |entry: &FrontierEntry| entry.role.is_sitemap() || (entry.is_merely_listed() && !entry.has_record);
        let goes = |entry: &FrontierEntry| is_gone(entry) || is_past(entry);
        if self.entries.iter().any(goes) {
            let kept = std::mem::take(&mut self.entries).into_iter().filter(|entry| !goes(entry)).collect();
            *self = Self::from(SiteFrontier { entries: kept });
        }
        for entry in &mut self.entries {
            entry.standing = EntryStanding::Queued;
            entry.num_tries = 0;
        }
        self.is_weighed = false;
    }

    /// Forgets every URL that `keep` does not hold on to; gives how many went.
    pub fn retain(&mut self, keep: impl Fn(&PageUrl) -> bool) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| keep(&entry.url));
        let num_gone = before - self.entries.len();
        if num_gone > 0 {
            *self = Self::from(SiteFrontier { entries: std::mem::take(&mut self.entries) });
        }
        num_gone
    }
}

/// What [`PageQueue::add`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new in the queue.
    New,
    /// It was known; the link was counted.
    Known,
    /// The queue is full.
    NoRoom,
}

/// Fingerprints are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct Prehashed(u64);

impl Hasher for Prehashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only u64 keys are hashed")
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}
