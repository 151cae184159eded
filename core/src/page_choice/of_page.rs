//! From what was read off a page to what its queue is told of the pages around it.

use std::collections::HashMap;
use std::num::NonZeroU64;

use super::{LinkedPage, PageLinks};
use crate::extract::ExtractedPage;
use crate::language::Language;
use crate::link::Link;
use crate::record::StoredLink;
use crate::url::PageUrl;

impl PageLinks {
    /// What a page says, and those of its links, in their canonical form, that may be followed.
    pub fn of_extracted(extracted: &ExtractedPage, links: &[StoredLink]) -> Self {
        let above = outline(&extracted.links);
        let linked = |link: &StoredLink| {
            let above = NonZeroU64::new(link.target.fingerprint()).and_then(|own| above.get(&own)).copied();
            LinkedPage { url: link.target.clone(), above }
        };
        let version =
            |(tag, url): &(String, ::url::Url)| Some((Language::of_tag(tag)?, PageUrl::from_url(url.clone()).ok()?));
        Self {
            links: links.iter().filter(|link| !link.nofollow).map(linked).collect(),
            language: extracted.lang.as_deref().and_then(Language::of_tag),
            versions: extracted.versions.iter().filter_map(version).collect(),
        }
    }
}

/// For each target that stands below another one in the page's outline, that one; both by the fingerprint of their canonical form.
fn outline(links: &[Link]) -> HashMap<NonZeroU64, NonZeroU64> {
    let mut known: HashMap<usize, Option<NonZeroU64>> = HashMap::new();
    let mut fingerprint = |place: usize| {
        let canonical = || NonZeroU64::new(PageUrl::from_url(links.get(place)?.url.clone()).ok()?.fingerprint());
        *known.entry(place).or_insert_with(canonical)
    };
    let below = links.iter().enumerate().filter_map(|(place, link)| Some((place, link.above?)));
    let mut outline = HashMap::new();
    for (place, above) in below {
        if let (Some(own), Some(above)) = (fingerprint(place), fingerprint(above))
            && own != above
        {
            outline.entry(own).or_insert(above);
        }
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(url: &str, above: Option<usize>) -> Link {
        Link { url: ::url::Url::parse(url).unwrap(), text: String::new(), nofollow: false, above }
    }

    fn stored(url: &str, nofollow: bool) -> StoredLink {
        StoredLink { target: PageUrl::parse(url, None).unwrap(), text: String::new(), nofollow }
    }

    #[test]
    fn an_outline_and_versions_are_told_in_canonical_form_and_nofollow_is_not_told() {
        let extracted = ExtractedPage {
            links: vec![
                link("https://a.test/part/./", None),
                link("https://a.test/part/one?utm_source=x", Some(0)),
                link("https://a.test/unfollowed", Some(0)),
                link("https://a.test/part/", Some(1)),
            ],
            lang: Some("EN-us".to_owned()),
            versions: vec![
                ("x-default".to_owned(), ::url::Url::parse("https://a.test/").unwrap()),
                ("de".to_owned(), ::url::Url::parse("https://a.test/de#x").unwrap()),
            ],
            ..ExtractedPage::default()
        };
        let links = [
            stored("https://a.test/part/", false),
            stored("https://a.test/part/one", false),
            stored("https://a.test/unfollowed", true),
        ];
        let told = PageLinks::of_extracted(&extracted, &links);
        let fingerprint = |link: &StoredLink| NonZeroU64::new(link.target.fingerprint());
        let above: Vec<_> = told.links.iter().map(|link| (link.url.path_and_query(), link.above)).collect();
        assert_eq!(above, [("/part/", fingerprint(&links[1])), ("/part/one", fingerprint(&links[0]))]);
        assert_eq!(told.language, Language::of_tag("en-us"));
        assert_eq!(
            told.versions,
            [(Language::of_tag("de").unwrap(), PageUrl::parse("https://a.test/de", None).unwrap())]
        );
    }
}
