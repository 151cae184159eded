//! Which sitemap of a site is asked for next.
//!
//! Sitemaps cost requests of the same small budget as pages, so few are asked. An index alone names no page, so what it lists goes before
//! what else robots.txt named. What it deliberately does not do: ask robots.txt, exclusion or delay; its answers are page requests like
//! any other.
//!
//! Invariants: no sitemap twice, none of another site, at most [`MAX_INDEX_DEPTH`] indexes in a row, no more requests than it was made with.

use std::collections::{HashSet, VecDeque};

use ::url::Url;

use super::{SitemapReading, SitemapUrl};
use crate::site::Site;
use crate::url::PageUrl;

/// Sitemaps that are asked for in a cycle; each costs one of the cycle's page requests.
pub const MAX_SITEMAP_REQUESTS: usize = 2;
/// Indexes in a row whose lists are followed. The protocol knows one; one more inside it does happen.
pub const MAX_INDEX_DEPTH: usize = 2;
/// Sitemaps that are remembered as still to be asked; the rest of longer lists is let go.
pub const MAX_WAITING_SITEMAPS: usize = 1_000;

/// The walk over the sitemaps of one site.
#[derive(Clone, Debug)]
pub struct SitemapWalk {
    site: Site,
    waiting: VecDeque<(PageUrl, usize)>,
    seen: HashSet<PageUrl>,
    num_requests_left: usize,
    asked_depth: usize,
    urls: Vec<SitemapUrl>,
}

impl SitemapWalk {
    /// Starts at the sitemaps that robots.txt names, or at `/sitemap.xml` where it names none.
    pub fn new(site: Site, starts: impl IntoIterator<Item = Url>, max_requests: usize) -> Self {
        let mut walk = Self {
            site,
            waiting: VecDeque::new(),
            seen: HashSet::new(),
            num_requests_left: max_requests,
            asked_depth: 0,
            urls: Vec::new(),
        };
        walk.add(starts, 0);
        walk
    }

    /// The sitemap to ask for now; none when the walk is over.
    pub fn next_request(&mut self) -> Option<PageUrl> {
        self.num_requests_left = self.num_requests_left.checked_sub(1)?;
        let (url, depth) = self.waiting.pop_front()?;
        self.asked_depth = depth;
        Some(url)
    }

    /// Takes in what the last answer held. An answer that was no sitemap, or none at all, need not be told.
    pub fn on_reading(&mut self, reading: SitemapReading) {
        self.urls.extend(reading.urls);
        if self.asked_depth < MAX_INDEX_DEPTH {
            self.add(reading.sitemaps, self.asked_depth + 1);
        }
    }

    /// All pages that were listed, in the order of the walk.
    pub fn urls(&self) -> &[SitemapUrl] {
        &self.urls
    }

    /// Puts sitemaps before all that wait, in their own order.
    fn add(&mut self, sitemaps: impl IntoIterator<Item = Url>, depth: usize) {
        let mut added = VecDeque::new();
        for url in sitemaps {
            if self.waiting.len() + added.len() >= MAX_WAITING_SITEMAPS {
                break;
            }
            let Ok(url) = PageUrl::from_url(url) else { continue };
            if url.site() == self.site && self.seen.insert(url.clone()) {
                added.push_back((url, depth));
            }
        }
        added.append(&mut self.waiting);
        self.waiting = added;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sitemap::SitemapKind;

    fn url(path: &str) -> Url {
        Url::parse("https://a.example/").unwrap().join(path).unwrap()
    }

    /// Walks over a web in which each sitemap lists the ones given; the paths in the order of the requests.
    #[track_caller]
    fn check(starts: &[&str], web: &[(&str, &[&str])], max_requests: usize, wanted: &[&str]) {
        let mut walk = SitemapWalk::new(Site::of_host("a.example"), starts.iter().map(|path| url(path)), max_requests);
        let mut asked = Vec::new();
        while let Some(next) = walk.next_request() {
            let lists = web.iter().find(|(path, _)| url(path) == *next.as_url());
            if let Some((_, children)) = lists {
                walk.on_reading(SitemapReading {
                    kind: SitemapKind::Index,
                    urls: Vec::new(),
                    sitemaps: children.iter().map(|path| url(path)).collect(),
                    cut: false,
                });
            }
            asked.push(next.as_url().path().to_owned());
        }
        assert_eq!(asked, wanted, "{starts:?} {web:?}");
    }

    #[test]
    fn what_an_index_lists_goes_before_what_waits() {
        check(&["/i", "/z"], &[("/i", &["/1", "/2"])], 9, &["/i", "/1", "/2", "/z"]);
    }

    #[test]
    fn requests_end_with_their_number() {
        check(&["/i", "/z"], &[("/i", &["/1", "/2"])], MAX_SITEMAP_REQUESTS, &["/i", "/1"]);
        check(&["/i"], &[], 0, &[]);
    }

    #[test]
    fn no_sitemap_is_asked_twice_under_any_spelling() {
        check(&["/i", "/i#x"], &[("/i", &["/i", "/1", "/%31", "/1"])], 9, &["/i", "/1"]);
    }

    #[test]
    fn loops_and_endless_chains_of_indexes_end() {
        check(&["/a"], &[("/a", &["/b"]), ("/b", &["/a", "/c"])], 9, &["/a", "/b", "/c"]);
        let chain: &[(&str, &[&str])] = &[("/0", &["/1"]), ("/1", &["/2"]), ("/2", &["/3"]), ("/3", &["/4"])];
        check(&["/0"], chain, 99, &["/0", "/1", "/2"]);
    }

    #[test]
    fn sitemaps_of_other_sites_are_not_asked() {
        let starts = ["https://b.example/s", "http://www.a.example/s", "http://127.0.0.1/s"];
        check(&starts, &[], 9, &["/s"]);
    }

    #[test]
    fn a_child_that_is_gone_spoils_nothing() {
        check(&["/i"], &[("/i", &["/gone", "/1"]), ("/1", &[])], 9, &["/i", "/gone", "/1"]);
    }

    #[test]
    fn long_lists_are_let_go_beyond_the_cap() {
        let starts = (0..3 * MAX_WAITING_SITEMAPS).map(|n| url(&format!("/{n}")));
        let mut walk = SitemapWalk::new(Site::of_host("a.example"), starts, usize::MAX);
        let num_asked = std::iter::from_fn(|| walk.next_request()).count();
        assert_eq!(num_asked, MAX_WAITING_SITEMAPS);
    }
}
