//! What the node would learn of a page, as its extractor learns it, and what the judge compares pages by.

use std::hash::{DefaultHasher, Hash, Hasher};

use lohisoftbot_core::extract::{FetchedPage, extract, is_other_format};
use lohisoftbot_core::page_choice::PageLinks;
use lohisoftbot_core::politeness::StoredAs;
use lohisoftbot_core::record::{ContentMark, PageRecord, StoredPage};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

/// A page that was read.
#[derive(Clone, Debug)]
pub struct ReadPage {
    /// What becomes of it.
    pub stored: StoredAs,
    /// The links on it that may be followed, and what else it says about the pages around it.
    pub around: PageLinks,
    /// Its canonical URL within the site, if it names one.
    pub canonical: Option<PageUrl>,
    /// The language of its html element.
    pub language: Option<String>,
    /// A hash of its title and text.
    pub text: u64,
}

/// Reads a page; none where its bytes are those of another format, or it shows a barrier.
pub fn read_page(url: &PageUrl, head: &ResponseHead, body: &[u8], at: Timestamp) -> Option<ReadPage> {
    if is_other_format(body) {
        return None;
    }
    let fetched = FetchedPage { url: url.as_url(), head, body, cut: false, product_token: "lohisoftbot" };
    let extracted = extract(fetched, &mut || true);
    if extracted.barrier.is_some() {
        return None;
    }
    let StoredPage { record, links, .. } = PageRecord::of_extracted(&extracted, url, head, 1, at);
    let is_kept = extracted.directives.allows_storing(at);
    Some(ReadPage {
        stored: if is_kept { StoredAs::Record(ContentMark::of(&record)) } else { StoredAs::Noindex },
        around: PageLinks::of_extracted(&extracted, &links),
        canonical: record.canonical,
        language: extracted.lang,
        text: hash_of_text(extracted.title.as_deref(), body),
    })
}

/// A hash of a title and of what stands outside of tags, white space aside.
fn hash_of_text(title: Option<&str>, html: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    title.hash(&mut hasher);
    let mut is_tag = false;
    for &byte in html {
        match byte {
            b'<' => is_tag = true,
            b'>' => is_tag = false,
            _ if is_tag || byte.is_ascii_whitespace() => {}
            _ => hasher.write_u8(byte),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_compared_without_tags_and_space() {
        let same = hash_of_text(Some("T"), b"<p>One two</p>");
        assert_eq!(same, hash_of_text(Some("T"), b"<div class=x>One\n two</div>"));
        assert_ne!(same, hash_of_text(Some("U"), b"<p>One two</p>"));
        assert_ne!(same, hash_of_text(Some("T"), b"<p>One three</p>"));
    }
}
