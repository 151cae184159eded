//! Links as a page shows them, before anything is decided about them.

use ::url::Url;

/// One target of a page, all its links to that target merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Resolved http or https URL without fragment, in WHATWG serialisation (not yet the canonical crawl form).
    pub url: Url,
    /// The distinct texts of its links, in order, joined by one space; may be empty.
    pub text: String,
    /// Every one of its links carries nofollow, ugc or sponsored.
    pub nofollow: bool,
    /// Place among the page's links of the one that it stands below in an outline: a list inside a list. Not stored.
    pub above: Option<usize>,
}
