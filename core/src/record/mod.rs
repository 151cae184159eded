//! What is stored of a page and of the links to it (P6), with the caps on it.
//!
//! Invariant: nothing of the page's running text is in here; only title, description, headings, URLs and the texts of links.

mod freshness;
mod of_page;
mod room;

use serde::{Deserialize, Serialize};

use crate::extract::Heading;
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

pub use self::freshness::{Condition, ContentMark, Renewal, StoredCopy};
pub use self::of_page::StoredPage;
pub use self::room::makes_room;

/// Most headings kept of a page.
pub const MAX_HEADINGS: usize = 64;
/// Longest heading kept, in characters.
pub const MAX_HEADING_CHARS: usize = 256;
/// Most links kept of a page.
pub const MAX_LINKS: usize = 512;
/// Longest title and longest description kept, in characters.
pub const MAX_TEXT_CHARS: usize = 1024;
/// Longest anchor text kept, in characters.
pub const MAX_ANCHOR_CHARS: usize = 256;
/// Most bytes that the targets and texts of a page's links come to; with it the largest row stays below what the store takes.
pub const MAX_LINKS_BYTES: usize = 512 * 1024;
/// Longest validator (ETag, Last-Modified) kept, in bytes; a longer one cannot be cut, so it is dropped.
pub const MAX_VALIDATOR_BYTES: usize = 256;
/// Longest language tag kept, in bytes; what is longer is none (RFC 5646 §4.4.1 reckons with 35).
pub const MAX_LANG_BYTES: usize = 64;

/// The stored record of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRecord {
    /// Where it was fetched; search results link here.
    pub url: PageUrl,
    /// Its title.
    pub title: Option<String>,
    /// Its description; none where nosnippet forbids keeping it.
    pub description: Option<String>,
    /// Its headings.
    pub headings: Vec<Heading>,
    /// Its language as it declares it.
    pub lang: Option<String>,
    /// The URL it names as canonical, where that lies in the same site.
    pub canonical: Option<PageUrl>,
    /// Bookkeeping.
    pub fetched_at: Timestamp,
    /// The status it came with.
    pub status: u16,
    /// Its ETag, for asking again.
    pub etag: Option<String>,
    /// Its Last-Modified, for asking again.
    pub last_modified: Option<String>,
    /// The site's cycle it was fetched in.
    pub cycle: u32,
    /// It was read only in part.
    pub cut: bool,
    /// The page forbids a snippet.
    pub nosnippet: bool,
    /// From this moment on it must not be kept.
    pub unavailable_after: Option<Timestamp>,
    /// Sites that its stored links point to: lets the page's inlink rows be removed without a scan.
    pub target_sites: Vec<Site>,
}

/// One link as it is stored with its target's site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLink {
    /// The target, in canonical form.
    pub target: PageUrl,
    /// The anchor text, capped.
    pub text: String,
    /// The source asked not to follow it.
    pub nofollow: bool,
}

/// All stored links from one source page to one target site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlinkRow {
    /// The page the links stand on.
    pub source: PageUrl,
    /// When that page was fetched.
    pub fetched_at: Timestamp,
    /// The links, in page order.
    pub links: Vec<StoredLink>,
}
