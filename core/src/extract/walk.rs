//! The one walk over a page's tree that finds everything.

use html5ever::{ExpandedName, expanded_name, local_name, ns};
use kuchikiki::{ElementData, NodeRef};

use super::links::PageLinks;
use super::meter::WalkMeter;
use super::refresh;
use super::sight::BarrierSight;
use super::text::{Edge, Visit, collapsed, is_html_space, text_of};
use super::{ExtractedPage, Heading};
use crate::barrier::PageEvidence;
use crate::directives::{Directives, is_name_of, is_our_name};

/// Versions in other languages that are read of one page: there are some two hundred languages that anybody writes in.
const MAX_VERSIONS: usize = 256;

/// Descriptions by the name of their meta element, the best first. Sites mix up `name` and `property` for all but the first.
#[derive(Default)]
struct Descriptions {
    plain: Option<String>,
    open_graph: Option<String>,
    twitter: Option<String>,
}

/// Reads everything off the tree, and what it shows of a barrier; `cut` is set where the meter ended the walk.
pub(super) fn read(
    document: &NodeRef,
    page_links: PageLinks,
    product_token: &str,
    meter: &mut WalkMeter<'_, '_>,
) -> (ExtractedPage, PageEvidence) {
    let mut sight = BarrierSight::default();
    let mut walk = Walk {
        page: ExtractedPage { lang: language(document), ..ExtractedPage::default() },
        page_links,
        product_token,
        descriptions: Descriptions::default(),
        canonical_hrefs: Vec::new(),
        version_hrefs: Vec::new(),
        refreshes: Vec::new(),
        is_in_head: false,
    };
    // The outermost one, while the walk is inside it. No other template holds anything in this tree.
    let mut shadow_root: Option<NodeRef> = None;
    let mut edge = Edge::first_below(document);
    while let Some(now) = edge {
        match &now {
            Edge::Open(node) => {
                if !meter.may_step(0) {
                    break;
                }
                if let Some(element) = node.as_element() {
                    // What stands in a shadow root is no title, heading or link of the page's own; a form there is one all the same.
                    if shadow_root.is_none() {
                        walk.enter(node, element, meter);
                    }
                    if shadow_root.is_none() && element.name.expanded() == expanded_name!(html "template") {
                        shadow_root = Some(node.clone());
                    }
                    sight.enter(node, element, meter);
                } else if let Some(text) = node.as_text() {
                    sight.text(&text.borrow());
                }
            }
            Edge::Close(node) => {
                sight.leave(node);
                shadow_root.take_if(|outermost| outermost == node);
                if let Some(element) = node.as_element() {
                    walk.page_links.leave(element);
                    walk.is_in_head &= !is_head(element.name.expanded());
                }
            }
        }
        edge = now.next(document, Visit::Enter);
    }
    let mut page = walk.finish();
    page.cut |= meter.is_stopped();
    let evidence = sight.evidence(page.title.as_deref());
    (page, evidence)
}

struct Walk<'a> {
    page: ExtractedPage,
    page_links: PageLinks,
    product_token: &'a str,
    descriptions: Descriptions,
    canonical_hrefs: Vec<String>,
    /// Language tags and addresses of the page's versions.
    version_hrefs: Vec<(String, String)>,
    refreshes: Vec<String>,
    is_in_head: bool,
}

impl Walk<'_> {
    fn enter(&mut self, node: &NodeRef, element: &ElementData, meter: &mut WalkMeter<'_, '_>) {
        self.page_links.enter(element);
        match element.name.expanded() {
            name if is_head(name) => self.is_in_head = true,
            expanded_name!(html "title") => {
                if self.page.title.is_none() {
                    self.page.title = collapsed(&child_text(node));
                }
            }
            expanded_name!(html "meta") => self.add_meta(element),
            expanded_name!(html "base") => self.page_links.add_base(element),
            expanded_name!(html "link") if self.is_in_head => self.add_head_link(element),
            expanded_name!(html "h1") => self.add_heading(1, node, meter),
            expanded_name!(html "h2") => self.add_heading(2, node, meter),
            expanded_name!(html "h3") => self.add_heading(3, node, meter),
            expanded_name!(html "a") | expanded_name!(html "area") => self.page_links.add(node, element, meter),
            _ => {}
        }
    }

    fn add_heading(&mut self, level: u8, node: &NodeRef, meter: &mut WalkMeter<'_, '_>) {
        if let Some(text) = text_of(node, meter) {
            self.page.headings.push(Heading { level, text });
        }
    }

    fn add_meta(&mut self, element: &ElementData) {
        let attributes = element.attributes.borrow();
        let Some(content) = attributes.get("content") else { return };
        if attributes.get("http-equiv").is_some_and(|pragma| pragma.eq_ignore_ascii_case("refresh")) {
            self.refreshes.push(content.to_owned());
        }
        let is_called = |attribute: &'static str, wanted: &str| {
            attributes.get(attribute).is_some_and(|name| is_name_of(name, wanted))
        };
        let is_ours = attributes.get("name").is_some_and(|name| is_our_name(name, self.product_token));
        if is_called("name", "robots") || is_ours {
            self.page.directives = self.page.directives.and(Directives::of_meta_content(content));
        }
        let place = if is_called("name", "description") {
            &mut self.descriptions.plain
        } else if is_called("property", "og:description") || is_called("name", "og:description") {
            &mut self.descriptions.open_graph
        } else if is_called("name", "twitter:description") || is_called("property", "twitter:description") {
            &mut self.descriptions.twitter
        } else {
            return;
        };
        if place.is_none() {
            *place = collapsed(content);
        }
    }

    fn add_head_link(&mut self, element: &ElementData) {
        let attributes = element.attributes.borrow();
        let rel = attributes.get("rel").unwrap_or_default();
        let href = attributes.get("href").filter(|href| collapsed(href).is_some());
        if let Some(href) = href
            && rel.split(is_html_space).any(|word| word.eq_ignore_ascii_case("canonical"))
        {
            self.canonical_hrefs.push(href.to_owned());
        }
        if let (Some(href), Some(tag)) = (href, attributes.get("hreflang"))
            && self.version_hrefs.len() < MAX_VERSIONS
            && rel.split(is_html_space).any(|word| word.eq_ignore_ascii_case("alternate"))
        {
            self.version_hrefs.push((tag.to_owned(), href.to_owned()));
        }
    }

    fn finish(mut self) -> ExtractedPage {
        let base = self.page_links.base().into_owned();
        self.page.canonical = self.canonical_hrefs.iter().find_map(|href| self.page_links.resolve_http(href, &base));
        let version = |(tag, href): &(String, String)| Some((tag.clone(), self.page_links.resolve_http(href, &base)?));
        self.page.versions = self.version_hrefs.iter().filter_map(version).collect();
        let refresh = self.refreshes.iter().find_map(|content| {
            let refresh = refresh::parse(content)?;
            let target = match refresh.target {
                Some(target) => self.page_links.resolve(target, &base)?,
                None => self.page_links.page().clone(),
            };
            Some((refresh.delay, target))
        });
        (self.page.meta_refresh_delay, self.page.meta_refresh) = refresh.unzip();
        self.page.description = self.descriptions.plain.or(self.descriptions.open_graph).or(self.descriptions.twitter);
        let merged = self.page_links.merged();
        (self.page.links, self.page.link_tally, self.page.cut) = (merged.links, merged.tally, merged.is_cut);
        self.page
    }
}

fn is_head(name: ExpandedName<'_>) -> bool {
    name == expanded_name!(html "head")
}

/// The text that stands directly in an element, as `title.text` has it.
pub(super) fn child_text(node: &NodeRef) -> String {
    node.children().filter_map(|child| child.as_text().map(|text| text.borrow().clone())).collect()
}

/// `lang` of the root element, else its `xml:lang`.
fn language(document: &NodeRef) -> Option<String> {
    let root = document.children().find_map(|child| child.into_element_ref())?;
    let attributes = root.attributes.borrow();
    ["lang", "xml:lang"].into_iter().find_map(|name| attributes.get(name).and_then(collapsed))
}
