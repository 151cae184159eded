//! From listed URLs to pages of one site, the best to ask first.
//!
//! It ranks by what the sitemap says alone: the page that changed last comes first, and those that changed at the same time, or that the
//! file gives no time for, in the file's order. How this weighs against links is the business of [`crate::page_choice`].

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::SitemapUrl;
use crate::extract::WorkBudget;
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// The listed URLs that lie in the site. Others are not this site's to announce, nor this site's to pay for (P1).
pub fn same_site_only<'a>(urls: &'a [SitemapUrl], site: &Site) -> Vec<&'a SitemapUrl> {
    urls.iter().filter(|listed| listed.url.host_str().is_some_and(|host| site.contains_host(host))).collect()
}

/// At most `max_pages` pages of the site, the best first, each once. A time after `now` is a lie or a mistake, and counts as none. Where
/// the budget ends, the rest of the list is let go.
pub fn choose(
    urls: &[SitemapUrl],
    site: &Site,
    now: Timestamp,
    max_pages: usize,
    budget: &mut dyn WorkBudget,
) -> Vec<(PageUrl, Option<Timestamp>)> {
    let mut places = HashMap::new();
    let mut pages: Vec<(PageUrl, Option<Timestamp>)> = Vec::new();
    for listed in same_site_only(urls, site) {
        if !budget.may_go_on() {
            break;
        }
        let Ok(url) = PageUrl::from_url(listed.url.clone()) else { continue };
        let lastmod = listed.lastmod.filter(|changed_at| *changed_at <= now);
        match places.entry(url.clone()) {
            Entry::Vacant(place) => {
                place.insert(pages.len());
                pages.push((url, lastmod));
            }
            Entry::Occupied(place) => {
                let (_, known) = &mut pages[*place.get()];
                *known = (*known).max(lastmod);
            }
        }
    }
    // Stable, so equal times keep the file's order; no time at all comes last.
    pages.sort_by_key(|(_, lastmod)| Reverse(*lastmod));
    pages.truncate(max_pages);
    pages
}

#[cfg(test)]
mod tests {
    use ::url::Url;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000_000);

    fn listed(urls: &[(&str, Option<u64>)]) -> Vec<SitemapUrl> {
        let url = |text: &str| Url::parse(text).unwrap();
        urls.iter().map(|(text, secs)| SitemapUrl { url: url(text), lastmod: secs.map(Timestamp::from_secs) }).collect()
    }

    #[track_caller]
    fn check(urls: &[(&str, Option<u64>)], max_pages: usize, wanted: &[&str]) {
        let chosen = choose(&listed(urls), &Site::of_host("a.example"), NOW, max_pages, &mut || true);
        let chosen: Vec<&str> = chosen.iter().map(|(url, _)| url.as_str()).collect();
        assert_eq!(chosen, wanted, "{urls:?}");
    }

    #[test]
    fn the_newest_page_comes_first_and_the_files_order_decides_the_rest() {
        check(
            &[
                ("http://a.example/none", None),
                ("http://a.example/old", Some(1)),
                ("http://a.example/new", Some(9)),
                ("http://a.example/as-new", Some(9)),
                ("http://a.example/none-either", None),
            ],
            9,
            &[
                "http://a.example/new",
                "http://a.example/as-new",
                "http://a.example/old",
                "http://a.example/none",
                "http://a.example/none-either",
            ],
        );
    }

    #[test]
    fn a_time_in_the_future_counts_as_none() {
        check(
            &[("http://a.example/future", Some(1_000_001)), ("http://a.example/past", Some(1_000_000))],
            9,
            &["http://a.example/past", "http://a.example/future"],
        );
    }

    #[test]
    fn a_page_under_many_spellings_stands_once_with_its_newest_time() {
        check(
            &[
                ("http://a.example/x#part", Some(1)),
                ("http://a.example/y", Some(5)),
                ("http://a.example/x?utm_source=map", Some(9)),
            ],
            9,
            &["http://a.example/x", "http://a.example/y"],
        );
    }

    #[test]
    fn what_is_not_of_the_site_or_cannot_be_asked_stays_out() {
        check(
            &[
                ("http://b.example/", None),
                ("http://127.0.0.1/x", None),
                ("http://[::1]/x", None),
                ("http://me:pass@a.example/", None),
                ("http://evil-a.example/", None),
                ("https://www.a.example/w", None),
                ("http://A.example:8080/p", None),
            ],
            9,
            &["https://www.a.example/w", "http://a.example:8080/p"],
        );
    }

    #[test]
    fn no_more_than_asked_for_are_chosen() {
        check(&[("http://a.example/1", None), ("http://a.example/2", Some(1))], 1, &["http://a.example/2"]);
        check(&[("http://a.example/1", None)], 0, &[]);
    }
}
