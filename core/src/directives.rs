//! What a page or an answer says about indexing itself: meta robots and X-Robots-Tag.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// The union of all directives that apply to us; the strictest of each wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directives {
    /// The page must not be stored.
    pub noindex: bool,
    /// Its links must not be followed.
    pub nofollow: bool,
    /// No cached copy (nothing of that kind is ever kept).
    pub noarchive: bool,
    /// No description may be kept or shown.
    pub nosnippet: bool,
    /// From this moment on the page counts as noindex.
    pub unavailable_after: Option<Timestamp>,
}

impl Directives {
    /// Whether the page may be stored at `now`.
    pub fn allows_storing(&self, now: Timestamp) -> bool {
        !self.noindex && self.unavailable_after.is_none_or(|after| now < after)
    }
}
