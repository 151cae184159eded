//! What a site's sitemap lists: pages with the time of their last change, and further sitemaps.
//!
//! [`read`] takes whatever a server sent under a sitemap's address: a sitemap or an index of them (sitemaps.org 0.9 and its forerunners),
//! an RSS or Atom feed, a list of URLs as text, or something else entirely. It is pure and never fails; where the file is broken, what
//! could be read of it counts. Namespaces, letter case and closing tags are taken leniently, since sitemaps are written by hand and by
//! plugins; entities that a file declares are never expanded.
//!
//! What it deliberately does not do: undo gzip (the carrier does, bounded), fetch, or judge whether a listed URL may be asked. The list
//! is what the file says, other sites' and private hosts' URLs included; [`choose`] makes pages of one site out of it, and
//! [`crate::page_choice`] says which sitemap is asked next.
//!
//! Invariant: work and memory are linear in the size of the file, within [`SitemapLimits`], and the work stops when its budget says so.

mod choice;
mod entries;
mod form;
mod lastmod;
mod listing;
mod meter;
mod names;
mod xml;

#[cfg(test)]
mod bombs;
#[cfg(test)]
mod tests;

use ::url::Url;

pub use self::choice::{choose, same_site_only};
pub use self::lastmod::parse as parse_moment;
use crate::extract::WorkBudget;
use crate::time::Timestamp;

/// Bytes of one sitemap that are read, decompressed. The protocol allows 50 MiB; 10 MiB was its limit for years, holds some 50,000
/// usual entries, and is far more than a cycle can ask for.
pub const MAX_SITEMAP_BYTES: usize = 10 << 20;
/// Pages that are taken of one sitemap: as many as the protocol allows.
pub const MAX_SITEMAP_URLS: usize = 50_000;
/// Bytes of URLs that are kept of one sitemap. A short relative URL under a long base takes many times its own size.
pub const MAX_SITEMAP_URL_BYTES: usize = 8 << 20;
/// Further sitemaps that are taken of one index. The protocol allows 50,000; a cycle asks for two.
pub const MAX_CHILD_SITEMAPS: usize = 1_000;
/// Elements that may stand inside each other; a sitemap has three levels, with its extensions five.
pub const MAX_SITEMAP_DEPTH: usize = 64;

/// Caps on the reading of one sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapLimits {
    /// Bytes of the file; what is beyond is not looked at.
    pub max_bytes: usize,
    /// Pages.
    pub max_urls: usize,
    /// Bytes of all kept URLs together.
    pub max_url_bytes: usize,
    /// Further sitemaps.
    pub max_sitemaps: usize,
    /// Levels of nested elements.
    pub max_depth: usize,
}

impl Default for SitemapLimits {
    fn default() -> Self {
        Self {
            max_bytes: MAX_SITEMAP_BYTES,
            max_urls: MAX_SITEMAP_URLS,
            max_url_bytes: MAX_SITEMAP_URL_BYTES,
            max_sitemaps: MAX_CHILD_SITEMAPS,
            max_depth: MAX_SITEMAP_DEPTH,
        }
    }
}

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapKind {
    /// A sitemap.
    UrlSet,
    /// A sitemap of sitemaps.
    Index,
    /// A list of URLs, one a line.
    Text,
    /// RSS, of any version.
    Rss,
    /// Atom.
    Atom,
    /// No sitemap.
    Nothing(NoSitemap),
}

/// Why a file is no sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSitemap {
    /// Nothing but white space.
    Empty,
    /// A web page: most often an error page sent with status 200.
    Html,
    /// Still compressed.
    Compressed,
    /// Neither known markup nor a list of URLs.
    Unknown,
}

/// One page as a sitemap lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapUrl {
    /// Its URL as the WHATWG parser serialises it: http or https, of any host, not in canonical crawl form.
    pub url: Url,
    /// When it last changed; none where the file does not say or says it unreadably. May lie in the future.
    pub lastmod: Option<Timestamp>,
}

/// All that was read of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapReading {
    /// What the file is.
    pub kind: SitemapKind,
    /// Listed pages in the file's order, doubles included.
    pub urls: Vec<SitemapUrl>,
    /// Listed sitemaps in the file's order, doubles included.
    pub sitemaps: Vec<Url>,
    /// A cap or the budget ended the reading, or the file breaks off.
    pub cut: bool,
}

impl SitemapReading {
    pub(super) fn nothing(why: NoSitemap) -> Self {
        Self { kind: SitemapKind::Nothing(why), urls: Vec::new(), sitemaps: Vec::new(), cut: false }
    }
}

/// A sitemap as it was fetched: decompressed, not decoded from its charset.
#[derive(Clone, Copy, Debug)]
pub struct SitemapFile<'a> {
    /// Where it came from.
    pub at: &'a Url,
    /// Content-Type. It is asked for the charset alone, since servers send sitemaps under every type there is.
    pub content_type: Option<&'a str>,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// They are known to be incomplete: what stands last may lack its end, and counts only where that end can be seen.
    pub cut: bool,
}

/// Reads a sitemap.
pub fn read(file: SitemapFile<'_>, limits: &SitemapLimits, budget: &mut dyn WorkBudget) -> SitemapReading {
    let cut = file.cut || file.bytes.len() > limits.max_bytes;
    let bytes = &file.bytes[..file.bytes.len().min(limits.max_bytes)];
    let mut meter = meter::Meter::new(budget);
    let mut reading = if form::is_compressed(bytes) {
        SitemapReading::nothing(NoSitemap::Compressed)
    } else {
        let text = form::decode(bytes, file.content_type);
        let ending = if cut { form::Ending::BrokenOff } else { form::Ending::Whole };
        form::read(&text, ending, file.at, limits, &mut meter)
    };
    reading.cut |= cut;
    reading
}
