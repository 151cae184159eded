//! The links of one page: resolved against its base, filtered to http and https, merged by target.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ::url::Url;
use encoding_rs::{Encoding, UTF_8};
use html5ever::{expanded_name, local_name, ns};
use kuchikiki::{ElementData, NodeRef};

use super::LinkTally;
use super::meter::WalkMeter;
use super::text::{collapsed, is_html_space, text_of};
use crate::charset;
use crate::link::Link;

/// Values of `rel` that ask not to be followed.
const NOFOLLOW: [&str; 3] = ["nofollow", "ugc", "sponsored"];

/// Most link elements read of a page, and most bytes that their URLs may come to when they are resolved. A page has hundreds; a short
/// relative link costs its whole base, however long that is.
const MAX_LINK_ELEMENTS: usize = 1 << 15;
const MAX_RESOLVED_BYTES: usize = 8 << 20;
/// Lists inside each other that are told apart in an outline.
const MAX_OUTLINE_LEVELS: usize = 16;

/// A link element as it stands in the tree; its URL waits for the base, which may come later in the page.
struct RawLink {
    href: String,
    text: Option<String>,
    nofollow: bool,
    /// Place of the one that it stands below in an outline.
    above: Option<usize>,
}

/// Gathers the links of a page and resolves its URLs.
pub(super) struct PageLinks {
    page: Url,
    encoding: &'static Encoding,
    base_href: Option<String>,
    raw: Vec<RawLink>,
    outline: Outline,
    tally: LinkTally,
    is_cut: bool,
}

/// The links of a page in their final form.
pub(super) struct MergedLinks {
    pub(super) links: Vec<Link>,
    pub(super) tally: LinkTally,
    /// The page has more links than were read.
    pub(super) is_cut: bool,
}

impl PageLinks {
    pub(super) fn new(page: &Url, charset: &str) -> Self {
        let encoding = charset::of_label(charset).unwrap_or(UTF_8);
        Self {
            page: page.clone(),
            encoding,
            base_href: None,
            raw: Vec::new(),
            outline: Outline::default(),
            tally: LinkTally::default(),
            is_cut: false,
        }
    }

    /// Notes a `base` element; the first one with an href counts, wherever it stands.
    pub(super) fn add_base(&mut self, element: &ElementData) {
        if self.base_href.is_none() {
            self.base_href = element.attributes.borrow().get("href").map(str::to_owned);
        }
    }

    /// Notes an `a` or `area` element, if it has an href.
    pub(super) fn add(&mut self, node: &NodeRef, element: &ElementData, meter: &mut WalkMeter<'_, '_>) {
        let attributes = element.attributes.borrow();
        let Some(href) = attributes.get("href") else { return };
        if self.raw.len() == MAX_LINK_ELEMENTS {
            self.is_cut = true;
            return;
        }
        let label = |name: &'static str| attributes.get(name).and_then(collapsed);
        let text = if element.name.local == local_name!("area") {
            self.tally.num_area_with_href += 1;
            label("alt")
        } else {
            self.tally.num_a_with_href += 1;
            text_of(node, meter)
        };
        let text = text.or_else(|| label("aria-label")).or_else(|| label("title"));
        let nofollow = attributes.get("rel").is_some_and(asks_not_to_follow);
        let above = self.outline.add_link(self.raw.len());
        self.raw.push(RawLink { href: href.to_owned(), text, nofollow, above });
    }

    /// The walk goes into an element.
    pub(super) fn enter(&mut self, element: &ElementData) {
        if is_list(element) {
            self.outline.open_list();
        }
    }

    /// The walk leaves an element.
    pub(super) fn leave(&mut self, element: &ElementData) {
        if is_list(element) {
            self.outline.close_list();
        }
    }

    /// The URL the page was fetched from.
    pub(super) fn page(&self) -> &Url {
        &self.page
    }

    /// The document's base URL: the first base's href against the page's URL, or the page's URL.
    pub(super) fn base(&self) -> Cow<'_, Url> {
        let resolved = self.base_href.as_deref().and_then(|href| self.resolve(href, &self.page));
        match resolved.filter(|base| !matches!(base.scheme(), "data" | "javascript")) {
            Some(base) => Cow::Owned(base),
            None => Cow::Borrowed(&self.page),
        }
    }

    /// "Encoding-parse" of the WHATWG: the query is written in the page's own charset.
    pub(super) fn resolve(&self, href: &str, base: &Url) -> Option<Url> {
        let encoding = self.encoding.output_encoding();
        let encode: &dyn for<'q> Fn(&'q str) -> Cow<'q, [u8]> = &|query| encoding.encode(query).0;
        let encode = Some(encode).filter(|_| encoding != UTF_8);
        Url::options().base_url(Some(base)).encoding_override(encode).parse(href).ok()
    }

    /// The same for what a crawler can use: http and https only, no fragment.
    pub(super) fn resolve_http(&self, href: &str, base: &Url) -> Option<Url> {
        let mut url = self.resolve(href, base)?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        url.set_fragment(None);
        Some(url)
    }

    /// All links resolved and merged by target, in order of first appearance.
    pub(super) fn merged(self) -> MergedLinks {
        let base = self.base().into_owned();
        let mut merged = MergedLinks { links: Vec::new(), tally: self.tally, is_cut: self.is_cut };
        let mut place_of: HashMap<Url, usize> = HashMap::new();
        let mut texts: HashSet<(usize, &str)> = HashSet::new();
        let mut bytes_left = MAX_RESOLVED_BYTES;
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.raw.len());
        for raw in &self.raw {
            places.push(None);
            let Some(left) = bytes_left.checked_sub(base.as_str().len() + raw.href.len()) else {
                merged.is_cut = true;
                break;
            };
            bytes_left = left;
            let Some(url) = self.resolve_http(&raw.href, &base) else { continue };
            merged.tally.num_http += 1;
            merged.tally.num_http_nofollow += usize::from(raw.nofollow);
            let place = *place_of.entry(url).or_insert_with_key(|url| {
                merged.links.push(Link { url: url.clone(), text: String::new(), nofollow: true, above: None });
                merged.links.len() - 1
            });
            if let Some(own) = places.last_mut() {
                *own = Some(place);
            }
            let link = &mut merged.links[place];
            let above = raw.above.and_then(|above| places[above]).filter(|above| *above != place);
            link.above = link.above.or(above);
            link.nofollow &= raw.nofollow;
            if let Some(text) = raw.text.as_deref()
                && texts.insert((place, text))
            {
                if !link.text.is_empty() {
                    link.text.push(' ');
                }
                link.text.push_str(text);
            }
        }
        merged
    }
}

fn is_list(element: &ElementData) -> bool {
    matches!(
        element.name.expanded(),
        expanded_name!(html "ul") | expanded_name!(html "ol") | expanded_name!(html "dl") | expanded_name!(html "menu")
    )
}

/// Lists inside lists: a link in the inner one stands below the last link before it in the outer one.
#[derive(Default)]
struct Outline {
    /// The last link of each list that is open, outermost first.
    last_links: Vec<Option<usize>>,
    /// Lists that are open beyond [`MAX_OUTLINE_LEVELS`].
    num_deeper: usize,
}

impl Outline {
    fn open_list(&mut self) {
        if self.last_links.len() < MAX_OUTLINE_LEVELS {
            self.last_links.push(None);
        } else {
            self.num_deeper += 1;
        }
    }

    fn close_list(&mut self) {
        if self.num_deeper > 0 {
            self.num_deeper -= 1;
        } else {
            self.last_links.pop();
        }
    }

    /// Notes a link; gives the one that it stands below.
    fn add_link(&mut self, link: usize) -> Option<usize> {
        let (own, outer) = self.last_links.split_last_mut()?;
        *own = Some(link);
        outer.last().copied().flatten()
    }
}

/// `rel` is a list of words; some write commas between them.
fn asks_not_to_follow(rel: &str) -> bool {
    rel.split(|c| is_html_space(c) || c == ',').any(|word| NOFOLLOW.iter().any(|n| n.eq_ignore_ascii_case(word)))
}
