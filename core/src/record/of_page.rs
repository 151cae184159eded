//! From what was read off a page to what is stored of it: the caps, and the sites that its links lead to.
//!
//! It does not ask whether the page may be stored; [`crate::directives::Directives::allows_storing`] answers that, and exclusions are
//! the store's business.
//!
//! Invariant: links lead to URLs that may be asked for, never to the page itself, each target once; the record names exactly the
//! sites that its links lead to (the store leaves excluded ones out when it groups the links into rows).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::freshness::{etag_of, last_modified_of};
use super::{
    MAX_ANCHOR_CHARS, MAX_HEADING_CHARS, MAX_HEADINGS, MAX_LANG_BYTES, MAX_LINKS, MAX_LINKS_BYTES, MAX_TEXT_CHARS,
    PageRecord, StoredLink,
};
use crate::discovery::{LinkDrop, LinkDropCounts};
use crate::extract::{ExtractedPage, Heading};
use crate::response::ResponseHead;
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// How far before a cap the end of a word is looked for, in characters.
const MAX_WORD_CHARS: usize = 32;

/// All that is stored of one fetched page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// The page's own record.
    pub record: PageRecord,
    /// Its links in page order, for whoever stores and queues them; one marked `nofollow` must not be followed.
    pub links: Vec<StoredLink>,
    /// How many links are not among them, or must not be followed, by reason.
    pub dropped: LinkDropCounts,
}

impl PageRecord {
    /// What is stored of a page that was fetched from `url` in that cycle of its site.
    pub fn of_extracted(
        extracted: &ExtractedPage,
        url: &PageUrl,
        head: &ResponseHead,
        cycle: u32,
        fetched_at: Timestamp,
    ) -> StoredPage {
        let (links, dropped) = stored_links(extracted, url);
        let record = Self {
            url: url.clone(),
            title: extracted.title.as_deref().map(|title| capped(title, MAX_TEXT_CHARS)),
            description: stored_description(extracted),
            headings: stored_headings(extracted),
            lang: extracted.lang.clone().filter(|lang| lang.len() <= MAX_LANG_BYTES),
            canonical: canonical_within(extracted, &url.site()),
            fetched_at,
            status: head.status,
            etag: etag_of(head),
            last_modified: last_modified_of(head),
            cycle,
            cut: extracted.cut,
            nosnippet: extracted.directives.nosnippet,
            unavailable_after: extracted.directives.unavailable_after,
            target_sites: target_sites(&links),
        };
        StoredPage { record, links, dropped }
    }
}

/// P7: where the page forbids a snippet, nothing that only a snippet needs is kept.
fn stored_description(extracted: &ExtractedPage) -> Option<String> {
    let description = extracted.description.as_deref().filter(|_| !extracted.directives.nosnippet)?;
    Some(capped(description, MAX_TEXT_CHARS))
}

fn stored_headings(extracted: &ExtractedPage) -> Vec<Heading> {
    let cap = |heading: &Heading| Heading { level: heading.level, text: capped(&heading.text, MAX_HEADING_CHARS) };
    extracted.headings.iter().take(MAX_HEADINGS).map(cap).collect()
}

/// A canonical URL of another site would let a page speak for a site that is not its own.
fn canonical_within(extracted: &ExtractedPage, site: &Site) -> Option<PageUrl> {
    let canonical = PageUrl::from_url(extracted.canonical.clone()?).ok()?;
    (canonical.site() == *site).then_some(canonical)
}

/// Links in their canonical form, merged once more, since several spellings may have become one; and a count of those that are of no use.
fn stored_links(extracted: &ExtractedPage, page: &PageUrl) -> (Vec<StoredLink>, LinkDropCounts) {
    let (mut links, mut dropped): (Vec<StoredLink>, _) = (Vec::new(), LinkDropCounts::default());
    let tally = extracted.link_tally;
    let num_with_href = tally.num_a_with_href + tally.num_area_with_href;
    dropped.add(LinkDrop::NotHttp, num_with_href.saturating_sub(tally.num_http));
    let mut place_of: HashMap<PageUrl, usize> = HashMap::new();
    let mut bytes_left = MAX_LINKS_BYTES;
    for link in &extracted.links {
        let target = match PageUrl::from_url(link.url.clone()) {
            Ok(target) => target,
            Err(refusal) => {
                dropped.count(LinkDrop::of_refusal(refusal));
                continue;
            }
        };
        if target == *page {
            continue;
        }
        let text = capped(&link.text, MAX_ANCHOR_CHARS);
        // A page's own nofollow is that of all its links.
        let nofollow = link.nofollow || extracted.directives.nofollow;
        match place_of.entry(target) {
            Entry::Occupied(place) => {
                let merged = &mut links[*place.get()];
                merged.nofollow &= nofollow;
                if merged.text != text {
                    merged.text = capped(format!("{} {text}", merged.text).trim(), MAX_ANCHOR_CHARS);
                }
            }
            Entry::Vacant(place) => {
                let bytes = place.key().as_str().len() + text.len();
                let Some(left) = bytes_left.checked_sub(bytes).filter(|_| links.len() < MAX_LINKS) else {
                    dropped.count(LinkDrop::TooManyOnPage);
                    continue;
                };
                bytes_left = left;
                links.push(StoredLink { target: place.key().clone(), text, nofollow });
                place.insert(links.len() - 1);
            }
        }
    }
    dropped.add(LinkDrop::Nofollow, links.iter().filter(|link| link.nofollow).count());
    (links, dropped)
}

/// The sites that links lead to, each once, in order of first appearance.
fn target_sites(links: &[StoredLink]) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut known = HashSet::new();
    for site in links.iter().map(|link| link.target.site()) {
        if known.insert(site.clone()) {
            sites.push(site);
        }
    }
    sites
}

/// At most `max_chars` characters of `text`, up to the end of a word where one is near.
fn capped(text: &str, max_chars: usize) -> String {
    let Some((end, next)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let kept = &text[..end];
    if next.is_whitespace() {
        return kept.trim_end().to_owned();
    }
    let near = kept.char_indices().rev().take(MAX_WORD_CHARS).find(|(_, c)| c.is_whitespace());
    kept[..near.map_or(end, |(at, _)| at)].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use ::url::Url;

    use super::*;
    use crate::codec;
    use crate::directives::Directives;
    use crate::link::Link;

    const PAGE: &str = "https://www.site.test/page";

    fn link(url: &str, text: &str, nofollow: bool) -> Link {
        Link { url: Url::parse(url).unwrap(), text: text.to_owned(), nofollow, above: None }
    }

    fn store(extracted: &ExtractedPage) -> StoredPage {
        let head = ResponseHead::new(200).with("etag", "W/\"1\"").with("last-modified", "x".repeat(257));
        PageRecord::of_extracted(extracted, &PageUrl::parse(PAGE, None).unwrap(), &head, 7, Timestamp::from_secs(5))
    }

    #[track_caller]
    fn check_capped(text: &str, max_chars: usize, wanted: &str) {
        assert_eq!(capped(text, max_chars), wanted, "text {text:?} capped at {max_chars}");
    }

    #[test]
    fn a_cap_falls_on_a_word_where_one_is_near_and_on_a_character_else() {
        check_capped("short", 5, "short");
        check_capped("one two three", 9, "one two");
        check_capped("one two three", 7, "one two");
        check_capped("one two three", 8, "one two");
        check_capped("învățătură", 4, "învă");
        check_capped("測試圖書館", 3, "測試圖");
        check_capped(&format!("a {}", "b".repeat(60)), 50, &format!("a {}", "b".repeat(48)));
        check_capped("x", 0, "");
    }

    #[test]
    fn every_field_is_capped() {
        let long = "word ".repeat(1000).trim_end().to_owned();
        let extracted = ExtractedPage {
            title: Some(long.clone()),
            description: Some(long.clone()),
            headings: vec![Heading { level: 2, text: long.clone() }; 100],
            links: (0..600).map(|n| link(&format!("https://other.test/{n}"), &long, false)).collect(),
            lang: Some("x".repeat(65)),
            ..ExtractedPage::default()
        };
        let stored = store(&extracted);
        assert_eq!(stored.record.title.unwrap().chars().count(), 1024);
        assert_eq!(stored.record.description.unwrap().chars().count(), 1024);
        assert_eq!((stored.record.headings.len(), stored.record.headings[0].text.len()), (64, 254));
        assert_eq!((stored.links.len(), stored.links[0].text.len()), (512, 254));
        assert_eq!((stored.record.lang, stored.record.last_modified), (None, None));
        assert_eq!(stored.record.etag.as_deref(), Some("W/\"1\""));
    }

    #[test]
    fn the_longest_urls_still_fit_into_the_store() {
        let path = "p".repeat(2000);
        let links = (0..600).map(|n| link(&format!("https://other.test/{n}{path}"), &"ț".repeat(300), false)).collect();
        let stored = store(&ExtractedPage { links, ..ExtractedPage::default() });
        assert!(stored.links.len() > 200);
        assert!(codec::encode(&stored.record).is_ok());
    }

    #[test]
    fn nosnippet_leaves_no_description() {
        let directives = Directives { nosnippet: true, ..Directives::default() };
        let extracted = ExtractedPage { description: Some("secret".into()), directives, ..ExtractedPage::default() };
        let record = store(&extracted).record;
        assert_eq!((record.description, record.nosnippet), (None, true));
    }

    #[test]
    fn a_canonical_url_counts_within_the_site_alone() {
        for (canonical, wanted) in [
            ("https://site.test/c", Some("https://site.test/c")),
            ("http://m.site.test/c", Some("http://m.site.test/c")),
            ("https://othersite.test/c", None),
            ("https://user@site.test/c", None),
        ] {
            let extracted = ExtractedPage { canonical: Url::parse(canonical).ok(), ..ExtractedPage::default() };
            let found = store(&extracted).record.canonical;
            assert_eq!(found.as_ref().map(PageUrl::as_str), wanted, "canonical {canonical}");
        }
    }

    #[test]
    fn links_name_their_target_sites_without_the_page_itself_and_what_cannot_be_asked_for() {
        let links = vec![
            link("https://b.test/1", "one", false),
            link(PAGE, "self", false),
            link("https://www.site.test/other", "other", true),
            link("https://x.b.test/2", "two", false),
            link("https://[::1]/", "six", false),
            link("https://user:pw@b.test/", "secret", false),
        ];
        let stored = store(&ExtractedPage { links, ..ExtractedPage::default() });
        let sites: Vec<_> = stored.record.target_sites.iter().map(Site::as_str).collect();
        assert_eq!(sites, ["b.test", "site.test"]);
        assert_eq!(stored.links.iter().map(|link| link.nofollow).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn targets_that_become_one_in_canonical_form_are_merged() {
        let links = vec![
            link("https://b.test/1#x", "one", true),
            link("https://b.test/1#y", "uno", false),
            link("https://b.test/1#z", "", true),
        ];
        let stored = store(&ExtractedPage { links, ..ExtractedPage::default() });
        assert_eq!(stored.links.len(), 1);
        assert_eq!((stored.links[0].text.as_str(), stored.links[0].nofollow), ("one uno", false));
    }

    #[test]
    fn nofollow_of_the_page_is_nofollow_of_each_link() {
        let directives = Directives { nofollow: true, ..Directives::default() };
        let links = vec![link("https://b.test/1", "one", false)];
        let stored = store(&ExtractedPage { links, directives, ..ExtractedPage::default() });
        assert!(stored.links[0].nofollow);
    }

    proptest::proptest! {
        #[test]
        fn a_capped_text_is_a_beginning_of_the_text_within_the_cap(text in "\\PC{0,80}", max_chars in 0usize..60) {
            let kept = capped(&text, max_chars);
            proptest::prop_assert!(text.starts_with(&kept));
            proptest::prop_assert!(kept.chars().count() <= max_chars);
        }
    }
}
