//! Sitemaps in a site's queue, and the pages that nothing but a sitemap makes known.
//!
//! What it deliberately does not do: say how many sitemaps are asked for in a cycle, or whether robots.txt permits it. Invariants: no
//! sitemap stands in the queue twice; no home page and no seed is ever asked as a sitemap; sitemaps and what they list leave room for
//! what pages link to.

use std::collections::HashSet;

use super::{Added, EntryRole, EntryStanding, FrontierEntry, MAX_QUEUE_URL_BYTES, PageQueue};
use crate::url::PageUrl;

/// Indexes in a row whose lists are followed. The protocol knows one; one more inside it does happen.
pub const MAX_INDEX_DEPTH: u8 = 2;
/// Sitemaps that the robots.txt files of a site name, as far as they are remembered: many more than a cycle asks for.
pub const MAX_NAMED_SITEMAPS: usize = 20;
/// Sitemaps that are taken of one index, the first ones: many more than a cycle asks for.
pub const MAX_CHILDREN_OF_INDEX: usize = 10;

impl PageQueue {
    /// Puts in the sitemaps that a robots.txt names, in its order, up to [`MAX_NAMED_SITEMAPS`].
    ///
    /// A URL that waits as a page, and neither was asked nor is where the crawl starts, becomes a sitemap.
    pub fn add_named_sitemaps(&mut self, urls: impl IntoIterator<Item = PageUrl>, max_urls: usize) {
        let mut num_sitemaps = self.entries.iter().filter(|entry| entry.role.is_sitemap()).count();
        for url in urls {
            if num_sitemaps >= MAX_NAMED_SITEMAPS {
                break;
            }
            let role = EntryRole::Sitemap { depth: 0 };
            let is_taken = match self.add_sitemap(url.clone(), role, 0, max_urls) {
                Added::New => true,
                Added::NoRoom => false,
                Added::Known => self.make_sitemap(&url, role),
            };
            num_sitemaps += usize::from(is_taken);
        }
    }

    /// Puts in the sitemaps that the index `of` lists. They go before all other sitemaps, in their order.
    pub fn add_children(&mut self, of: &PageUrl, urls: impl IntoIterator<Item = PageUrl>, max_urls: usize) {
        let Some(index) = self.get(of).filter(|entry| entry.role.is_sitemap()) else { return };
        let depth = index.role.index_depth() + 1;
        if depth > MAX_INDEX_DEPTH {
            return;
        }
        let role = EntryRole::Sitemap { depth };
        for url in urls.into_iter().take(MAX_CHILDREN_OF_INDEX) {
            match self.add_sitemap(url.clone(), role, 0, max_urls) {
                Added::New | Added::NoRoom => {}
                Added::Known => {
                    self.make_sitemap(&url, role);
                }
            }
        }
    }

    /// Puts in one sitemap, if its URL is new and no home page.
    pub fn add_sitemap(&mut self, url: PageUrl, role: EntryRole, num_hops: u8, max_urls: usize) -> Added {
        if self.get(&url).is_some() {
            return Added::Known;
        }
        let num_bytes = self.num_url_bytes + url.as_str().len();
        if url.is_home() || self.entries.len() >= max_urls || num_bytes > MAX_QUEUE_URL_BYTES {
            return Added::NoRoom;
        }
        self.push(FrontierEntry { num_hops, role, ..known_by_list(url) });
        Added::New
    }

    /// Puts in pages that a sitemap lists, best first. Those of them that were known in no other way and wait stand in this order too.
    /// Half of the queue is left to what pages link to.
    pub fn add_listed(&mut self, urls: impl IntoIterator<Item = PageUrl>, max_urls: usize) {
        let mut listed = Vec::new();
        for url in urls {
            match self.get(&url) {
                Some(known) if known.is_merely_listed() && known.standing == EntryStanding::Queued => {
                    listed.push(known.clone());
                }
                Some(_) => {}
                None => listed.push(known_by_list(url)),
            }
        }
        let mut seen = HashSet::new();
        listed.retain(|entry| seen.insert(entry.url.fingerprint()));
        self.retain(|url| !seen.contains(&url.fingerprint()));
        // What the store holds a record of is never forgotten here, so its room is kept until it is in again.
        let with_record = || listed.iter().filter(|entry| entry.has_record);
        let mut num_owed = with_record().count();
        let mut num_owed_bytes: usize = with_record().map(|entry| entry.url.as_str().len()).sum();
        let merely_listed = || self.entries.iter().filter(|entry| entry.is_merely_listed());
        let mut num_listed = merely_listed().count();
        let mut num_listed_bytes: usize = merely_listed().map(|entry| entry.url.as_str().len()).sum();
        for entry in listed {
            let num_bytes = entry.url.as_str().len();
            let has_room = num_listed < (max_urls / 2).max(1)
                && self.entries.len() + num_owed < max_urls
                && num_listed_bytes + num_bytes <= MAX_QUEUE_URL_BYTES / 2
                && self.num_url_bytes + num_owed_bytes + num_bytes <= MAX_QUEUE_URL_BYTES;
            if entry.has_record {
                (num_owed, num_owed_bytes) = (num_owed - 1, num_owed_bytes - num_bytes);
            }
            if has_room || entry.has_record {
                (num_listed, num_listed_bytes) = (num_listed + 1, num_listed_bytes + num_bytes);
                self.push(entry);
            }
        }
    }

    /// Makes a sitemap of what waits under another role, if that may be; whether it is one now that was none.
    fn make_sitemap(&mut self, url: &PageUrl, role: EntryRole) -> bool {
        let Some(&place) = self.places.get(&url.fingerprint()) else { return false };
        self.is_weighed = false;
        let entry = &mut self.entries[place];
        let is_untouched = entry.standing == EntryStanding::Queued && entry.num_tries == 0 && !entry.has_record;
        let is_start = entry.depth == 0 || entry.url.is_home();
        match entry.role {
            EntryRole::Page if is_untouched && !is_start => {
                entry.role = role;
                true
            }
            EntryRole::GuessedSitemap if is_untouched => {
                entry.role = role;
                false
            }
            EntryRole::Page | EntryRole::Sitemap { .. } | EntryRole::GuessedSitemap => false,
        }
    }
}

/// A page that a sitemap lists.
fn known_by_list(url: PageUrl) -> FrontierEntry {
    FrontierEntry::new(url, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_choice::DropReason;

    const MAX_URLS: usize = 1000;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse("https://a.example/", None).unwrap().as_url().join(path).map(PageUrl::from_url).unwrap().unwrap()
    }

    fn urls(paths: &[&str]) -> Vec<PageUrl> {
        paths.iter().map(|path| url(path)).collect()
    }

    fn in_order(queue: &PageQueue) -> Vec<&str> {
        let order = queue.by_choice(|_| false);
        order.iter().map(|url| queue.get(url).unwrap().url.path_and_query()).collect()
    }

    /// Walks over a web in which each sitemap lists the ones given; the paths in the order in which they are asked.
    #[track_caller]
    fn check_walk(named: &[&str], web: &[(&str, &[&str])], wanted: &[&str]) {
        let mut queue = PageQueue::default();
        queue.add_named_sitemaps(urls(named), MAX_URLS);
        let mut asked = Vec::new();
        while let Some(next) = queue.best(|_| false).map(|entry| entry.url.clone()) {
            let children = web.iter().find(|(path, _)| url(path) == next).map_or(&[][..], |(_, children)| *children);
            queue.add_children(&next, urls(children), MAX_URLS);
            queue.settle(&next, EntryStanding::SitemapRead { num_urls: 0 });
            asked.push(next.path_and_query().to_owned());
        }
        assert_eq!(asked, wanted, "{named:?} {web:?}");
    }

    #[test]
    fn what_an_index_lists_goes_before_what_waits() {
        check_walk(&["/i", "/z"], &[("/i", &["/1", "/2"])], &["/i", "/1", "/2", "/z"]);
    }

    #[test]
    fn no_sitemap_is_asked_twice_under_any_spelling() {
        check_walk(&["/i", "/i#x"], &[("/i", &["/i", "/1", "/%31", "/1"])], &["/i", "/1"]);
    }

    #[test]
    fn loops_and_endless_chains_of_indexes_end() {
        check_walk(&["/a"], &[("/a", &["/b"]), ("/b", &["/a", "/c"])], &["/a", "/b", "/c"]);
        let chain: &[(&str, &[&str])] = &[("/0", &["/1"]), ("/1", &["/2"]), ("/2", &["/3"]), ("/3", &["/4"])];
        check_walk(&["/0"], chain, &["/0", "/1", "/2"]);
    }

    #[test]
    fn a_child_that_is_gone_spoils_nothing() {
        check_walk(&["/i"], &[("/i", &["/gone", "/1"]), ("/1", &[])], &["/i", "/gone", "/1"]);
    }

    #[test]
    fn long_lists_are_let_go_beyond_their_caps() {
        let mut queue = PageQueue::default();
        let many = |stem: &str| (0..100).map(|n| url(&format!("/{stem}{n}"))).collect::<Vec<_>>();
        queue.add_named_sitemaps(many("named"), MAX_URLS);
        queue.add_named_sitemaps(many("named-elsewhere"), MAX_URLS);
        assert_eq!(queue.entries().len(), MAX_NAMED_SITEMAPS);
        queue.add_children(&url("/named0"), many("child"), MAX_URLS);
        assert_eq!(queue.entries().len(), MAX_NAMED_SITEMAPS + MAX_CHILDREN_OF_INDEX);
    }

    #[test]
    fn sitemaps_come_after_the_home_page_and_before_all_others() {
        let mut queue = PageQueue::default();
        queue.add(url("/"), 0, 0, MAX_URLS);
        for _ in 0..50 {
            queue.add(url("/linked"), 1, 0, MAX_URLS);
        }
        queue.add(PageUrl::parse("https://www.a.example/", None).unwrap(), 1, 0, MAX_URLS);
        queue.add_named_sitemaps(urls(&["/s.xml"]), MAX_URLS);
        queue.add_sitemap(url("/guess.xml"), EntryRole::GuessedSitemap, 0, MAX_URLS);
        queue.add_listed(urls(&["/listed"]), MAX_URLS);
        assert_eq!(in_order(&queue), ["/", "/s.xml", "/", "/linked", "/listed", "/guess.xml"]);
    }

    #[test]
    fn links_outweigh_listing_and_the_list_orders_what_is_merely_listed() {
        let mut queue = PageQueue::default();
        queue.add_listed(urls(&["/deep/er/still?x=1", "/b", "/a"]), MAX_URLS);
        queue.add(url("/far/away/from/home?q=1"), 9, 0, MAX_URLS);
        assert_eq!(in_order(&queue), ["/far/away/from/home?q=1", "/deep/er/still?x=1", "/b", "/a"]);
        queue.add(url("/a"), 3, 0, MAX_URLS);
        assert_eq!(in_order(&queue)[..2], ["/a", "/far/away/from/home?q=1"]);
    }

    #[test]
    fn a_new_list_puts_what_is_merely_listed_into_its_own_order() {
        let mut queue = PageQueue::default();
        queue.add_listed(urls(&["/a", "/b", "/c"]), MAX_URLS);
        queue.settle(&url("/c"), EntryStanding::Stored);
        queue.add_listed(urls(&["/new", "/b", "/a", "/c", "/b"]), MAX_URLS);
        assert_eq!(in_order(&queue), ["/new", "/b", "/a"]);
        assert!(queue.get(&url("/c")).unwrap().has_record);
    }

    /// Found by the simulation: a page with a record used to come back into a queue that others had filled meanwhile.
    #[test]
    fn a_stored_page_at_the_end_of_a_list_keeps_its_place_in_a_full_queue() {
        let mut queue = PageQueue::default();
        queue.add_listed(urls(&["/kept"]), 2);
        queue.settle(&url("/kept"), EntryStanding::Stored);
        queue.reopen();
        queue.add_listed(urls(&["/new-1", "/new-2", "/kept"]), 2);
        assert_eq!(in_order(&queue), ["/new-1", "/kept"]);
    }

    #[test]
    fn lists_leave_half_of_the_queue_to_links() {
        let mut queue = PageQueue::default();
        queue.add_listed((0..100).map(|n| url(&format!("/{n}"))), 10);
        assert_eq!(queue.entries().len(), 5);
        queue.add_listed((100..200).map(|n| url(&format!("/{n}"))), 10);
        assert_eq!(queue.entries().len(), 5);
        let long = |n: u32| url(&format!("/{}{n}", "x".repeat(2000)));
        let mut queue = PageQueue::default();
        queue.add_listed((0..1000).map(long), MAX_URLS);
        assert!(queue.entries().len() * 2000 <= MAX_QUEUE_URL_BYTES / 2);
    }

    #[test]
    fn a_page_becomes_a_sitemap_only_while_nothing_else_is_known_of_it() {
        let mut queue = PageQueue::default();
        for path in ["/waits", "/tried", "/kept", "/seed", "/"] {
            queue.add(url(path), 1, 0, MAX_URLS);
        }
        queue.count_try(&url("/tried"));
        queue.settle(&url("/kept"), EntryStanding::Stored);
        queue.add(url("/seed"), 0, 0, MAX_URLS);
        queue.add_named_sitemaps(urls(&["/waits", "/tried", "/kept", "/seed", "/"]), MAX_URLS);
        let sitemaps = queue.entries().iter().filter(|entry| entry.role.is_sitemap());
        assert_eq!(sitemaps.map(|entry| entry.url.clone()).collect::<Vec<_>>(), [url("/waits")]);
        let mut empty = PageQueue::default();
        empty.add_named_sitemaps(urls(&["/"]), MAX_URLS);
        assert_eq!(empty, PageQueue::default(), "a home page is never asked as a sitemap");
    }

    #[test]
    fn a_new_cycle_forgets_sitemaps_and_what_only_they_list_but_no_stored_page() {
        let mut queue = PageQueue::default();
        queue.add(url("/"), 0, 0, MAX_URLS);
        queue.add_named_sitemaps(urls(&["/s.xml"]), MAX_URLS);
        queue.settle(&url("/s.xml"), EntryStanding::Dropped(DropReason::NoSitemap));
        queue.add_listed(urls(&["/kept", "/not-asked"]), MAX_URLS);
        queue.settle(&url("/kept"), EntryStanding::Stored);
        queue.reopen();
        assert_eq!(in_order(&queue), ["/", "/kept"]);
    }

    #[test]
    fn a_listed_page_whose_record_went_is_forgotten_when_it_is_listed_no_longer() {
        for reason in [DropReason::OtherFormat, DropReason::MovedForGood { target: url("/new") }] {
            let mut queue = PageQueue::default();
            queue.add_listed(urls(&["/kept"]), MAX_URLS);
            queue.settle(&url("/kept"), EntryStanding::Stored);
            queue.reopen();
            queue.settle(&url("/kept"), EntryStanding::Dropped(reason.clone()));
            queue.reopen();
            assert_eq!(queue.entries(), [], "{reason:?}");
        }
    }
}
