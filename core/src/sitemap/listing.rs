//! What has been taken of a file so far, within its caps.

use ::url::Url;

use super::{SitemapKind, SitemapLimits, SitemapReading, SitemapUrl};
use crate::time::Timestamp;
use crate::url::MAX_URL_BYTES;

/// Invariant: within the caps that it was made with; the first entry beyond one makes it full and cut.
pub(super) struct Listing {
    reading: SitemapReading,
    limits: SitemapLimits,
    url_bytes_left: usize,
    is_full: bool,
}

impl Listing {
    pub(super) fn new(kind: SitemapKind, limits: &SitemapLimits) -> Self {
        let reading = SitemapReading { kind, urls: Vec::new(), sitemaps: Vec::new(), cut: false };
        Self { reading, limits: *limits, url_bytes_left: limits.max_url_bytes, is_full: false }
    }

    pub(super) fn set_kind(&mut self, kind: SitemapKind) {
        self.reading.kind = kind;
    }

    /// Something is missing.
    pub(super) fn cut(&mut self) {
        self.reading.cut = true;
    }

    /// Whether nothing more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn add_page(&mut self, url: Url, lastmod: Option<Timestamp>) {
        if self.has_room(&url, self.reading.urls.len(), self.limits.max_urls) {
            self.reading.urls.push(SitemapUrl { url, lastmod });
        }
    }

    pub(super) fn add_sitemap(&mut self, url: Url) {
        if self.has_room(&url, self.reading.sitemaps.len(), self.limits.max_sitemaps) {
            self.reading.sitemaps.push(url);
        }
    }

    pub(super) fn into_reading(self) -> SitemapReading {
        self.reading
    }

    /// Takes the room that the URL needs; a URL that is too long to be asked for is none (sitemaps.org: fewer than 2,048 characters).
    fn has_room(&mut self, url: &Url, num_held: usize, max_held: usize) -> bool {
        let num_bytes = url.as_str().len();
        if num_bytes > MAX_URL_BYTES {
            return false;
        }
        match self.url_bytes_left.checked_sub(num_bytes) {
            Some(left) if num_held < max_held && !self.is_full => {
                self.url_bytes_left = left;
                true
            }
            Some(_) | None => {
                self.is_full = true;
                self.reading.cut = true;
                false
            }
        }
    }
}
