//! What the search index knows of a page: its record, and what others call it.
//!
//! Everything here follows from the store alone, so an index can be built anew at any time and comes out the same. The unit is the site: it has
//! at most [`crate::site_row::MAX_PAGES_PER_SITE`] pages, and all of them are replaced together.
//!
//! Links that ask not to be followed say nothing of their target. A site's links to its own pages name them too, but lend no authority.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::text;
use crate::codec::Stored;
use crate::language::Language;
use crate::record::{InlinkRow, PageRecord};
use crate::site::Site;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Most rows of links that are read of one site, in the order of their source's address: what a site that everyone links to costs is bounded.
pub const MAX_INLINK_ROWS: usize = 4096;
/// Most texts of links kept of a page; of other sites first, since a site's own menu says less.
pub const MAX_ANCHORS: usize = 128;

/// A page as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDocument {
    /// Where it is.
    pub url: PageUrl,
    /// Its title.
    pub title: Option<String>,
    /// Its description; none where it forbids a snippet.
    pub description: Option<String>,
    /// Its headings, in order.
    pub headings: Vec<String>,
    /// What links to it say, each text once a site.
    pub anchors: Vec<Anchor>,
    /// How many other sites link to it, among the [`MAX_INLINK_ROWS`] rows that are read.
    pub num_linking_sites: u64,
    /// Its language, declared or else detected.
    pub language: Option<Language>,
    /// When it was fetched last, or found unchanged.
    pub last_seen: Timestamp,
}

impl Stored for PageDocument {
    const VERSION: u8 = 1;
}

/// What links of one site call a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    /// The site that the links stand on.
    pub site: Site,
    /// Their text.
    pub text: String,
}

/// The pages of a site, all that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteDocuments {
    /// The site.
    pub site: Site,
    /// Its pages; none where the site has none any more.
    pub pages: Vec<PageDocument>,
}

impl SiteDocuments {
    /// From what is stored of the site, and the rows of links to it.
    pub fn of_stored(site: Site, records: Vec<PageRecord>, inlinks: Vec<InlinkRow>) -> Self {
        let mut called = Called::default();
        for row in inlinks.into_iter().take(MAX_INLINK_ROWS) {
            called.take(row);
        }
        let pages = records.into_iter().map(|record| called.document(&site, record)).collect();
        Self { site, pages }
    }
}

/// What pages are called, by whom.
#[derive(Default)]
struct Called(BTreeMap<PageUrl, (BTreeSet<Site>, BTreeSet<Anchor>)>);

impl Called {
    fn take(&mut self, row: InlinkRow) {
        let source = row.source.site();
        for link in row.links.into_iter().filter(|link| !link.nofollow) {
            let (sites, anchors) = self.0.entry(link.target).or_default();
            sites.insert(source.clone());
            if !link.text.is_empty() {
                anchors.insert(Anchor { site: source.clone(), text: link.text });
            }
        }
    }

    fn document(&mut self, site: &Site, record: PageRecord) -> PageDocument {
        let (sites, anchors) = self.0.remove(&record.url).unwrap_or_default();
        let (own, others): (Vec<Anchor>, Vec<Anchor>) = anchors.into_iter().partition(|anchor| anchor.site == *site);
        let headings: Vec<String> = record.headings.into_iter().map(|heading| heading.text).collect();
        let declared = record.lang.as_deref().and_then(Language::of_tag);
        let language = declared.or_else(|| {
            let said = [record.title.as_deref(), record.description.as_deref()].into_iter().flatten();
            let whole: Vec<&str> = said.chain(headings.iter().map(String::as_str)).collect();
            Language::of_tag(text::detect(&whole.join(". "))?.tag())
        });
        PageDocument {
            title: record.title,
            description: record.description.filter(|_| !record.nosnippet),
            headings,
            anchors: others.into_iter().chain(own).take(MAX_ANCHORS).collect(),
            num_linking_sites: sites.iter().filter(|linking| *linking != site).count() as u64,
            language,
            last_seen: record.fetched_at,
            url: record.url,
        }
    }
}

impl PageDocument {
    /// The words of its address: of the path and the query, percent-encoding undone.
    pub fn url_words(&self) -> String {
        let path = self.url.path_and_query();
        percent_decoded(path)
    }

    /// The words of its host, without `www` and the public suffix.
    pub fn site_words(&self) -> String {
        named_part(self.url.host()).replace(['.', '-', '_'], " ")
    }

    /// What a query says that names this page: for a home page its host, its site and the site's name, each written in one word.
    pub fn names(&self) -> Vec<String> {
        if !self.url.is_home() {
            return Vec::new();
        }
        let (host, site) = (self.url.host(), self.url.site());
        let bare = host.strip_prefix("www.").unwrap_or(host);
        let mut names = vec![in_one_word(host), in_one_word(bare)];
        // A host below the site is not what the site's name names, unless it is `www`.
        if bare == site.as_str() {
            names.push(in_one_word(named_part(bare)));
        }
        names.sort();
        names.dedup();
        names
    }
}

/// The words of a text, folded and joined: `Debian.org` and `debian org` are one.
pub fn in_one_word(text: &str) -> String {
    text::words(text).map(|word| text::folded(word.text)).collect()
}

/// A host without `www.` in front and its public suffix behind: what people call it.
fn named_part(host: &str) -> &str {
    let bare = host.strip_prefix("www.").unwrap_or(host);
    if bare.parse::<std::net::Ipv4Addr>().is_ok() {
        return bare;
    }
    let suffix = psl::suffix_str(bare).filter(|suffix| suffix.len() < bare.len());
    suffix.and_then(|suffix| bare.strip_suffix(suffix)).map_or(bare, |name| name.trim_end_matches('.'))
}

/// Bytes that are no UTF-8 are left out.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%') {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &behind[2..];
            }
            None => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).replace('\u{fffd}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::Heading;
    use crate::record::StoredLink;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, None).unwrap()
    }

    fn record(address: &str) -> PageRecord {
        PageRecord {
            url: url(address),
            title: Some("Primăria".into()),
            description: Some("Programul de lucru cu publicul al primăriei municipiului".into()),
            headings: vec![Heading { level: 1, text: "Anunțuri".into() }],
            lang: None,
            canonical: None,
            fetched_at: Timestamp::from_secs(7),
            status: 200,
            etag: None,
            last_modified: None,
            cycle: 1,
            cut: false,
            nosnippet: false,
            unavailable_after: None,
            target_sites: Vec::new(),
        }
    }

    fn row(source: &str, links: &[(&str, &str, bool)]) -> InlinkRow {
        let link = |(target, text, nofollow): &(&str, &str, bool)| StoredLink {
            target: url(target),
            text: (*text).to_owned(),
            nofollow: *nofollow,
        };
        InlinkRow { source: url(source), fetched_at: Timestamp::EPOCH, links: links.iter().map(link).collect() }
    }

    #[test]
    fn a_page_is_called_what_links_of_other_sites_call_it_and_then_its_own() {
        let home = "https://a.test/";
        let rows = vec![
            row("https://a.test/x", &[(home, "Acasă", false)]),
            row("https://a.test/y", &[(home, "Acasă", false)]),
            row("https://b.test/", &[(home, "Primăria A", false), ("https://a.test/gone", "gone", false)]),
            row("https://b.test/2", &[(home, "Primăria A", false)]),
            row("https://c.test/", &[(home, "", false)]),
            row("https://spam.test/", &[(home, "casino", true)]),
        ];
        let documents = SiteDocuments::of_stored(url(home).site(), vec![record(home)], rows);
        let page = &documents.pages[0];
        let texts: Vec<_> = page.anchors.iter().map(|anchor| (anchor.site.as_str(), anchor.text.as_str())).collect();
        assert_eq!(texts, [("b.test", "Primăria A"), ("a.test", "Acasă")]);
        assert_eq!(page.num_linking_sites, 2);
        assert_eq!(page.language.map(|language| language.to_string()).as_deref(), Some("ro"));
        assert_eq!((page.headings.as_slice(), page.last_seen), (&["Anunțuri".to_owned()][..], Timestamp::from_secs(7)));
    }

    #[test]
    fn a_page_that_forbids_a_snippet_has_no_description_and_its_own_language_rules() {
        let record = PageRecord { nosnippet: true, lang: Some("en-GB".into()), ..record("https://a.test/p") };
        let page = SiteDocuments::of_stored(record.url.site(), vec![record], Vec::new()).pages.remove(0);
        assert_eq!(page.description, None);
        assert_eq!(page.language.map(|language| language.to_string()).as_deref(), Some("en-gb"));
    }

    #[track_caller]
    fn check_words(address: &str, url_words: &str, site_words: &str, names: &[&str]) {
        let page = SiteDocuments::of_stored(url(address).site(), vec![record(address)], Vec::new()).pages.remove(0);
        assert_eq!((page.url_words().as_str(), page.site_words().as_str()), (url_words, site_words), "{address}");
        assert_eq!(page.names(), names, "{address}");
    }

    #[test]
    fn a_home_page_is_named_by_its_host_and_its_site() {
        check_words("https://www.debian.org/", "/", "debian", &["debian", "debianorg", "wwwdebianorg"]);
        check_words("https://my-shop.example.co.uk/", "/", "my shop example", &["myshopexamplecouk"]);
        check_words("https://bbc.co.uk/", "/", "bbc", &["bbc", "bbccouk"]);
        check_words("http://127.0.0.1/", "/", "127 0 0 1", &["127001"]);
        check_words("https://a.test/%C8%99coli?q=1", "/școli?q=1", "a", &[]);
        check_words("https://a.test/100%/%ff", "/100%/ ", "a", &[]);
    }
}
