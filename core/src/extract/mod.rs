//! What is read off a page: title, description, headings, links, and what the page says about itself.
//!
//! Pure; never fails; stops when the [`WorkBudget`] says so and marks the result as cut. The page is decoded, parsed as a browser with
//! scripting on would parse it, and its tree walked once, for a barrier ([`crate::barrier`]) as well. It does not decide anything: what of this is stored, and how much of it, is
//! the business of [`crate::record`]; whether it may be stored, of [`crate::directives`].
//!
//! Invariant: nothing of the page's running text leaves this module, only what [`ExtractedPage`] has fields for.

#[cfg(test)]
mod bombs;
mod formatting;
mod links;
mod meter;
mod open_tag;
mod refresh;
mod sight;
mod sniff;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod walk;

use std::borrow::Cow;
use std::time::Duration;

use ::url::Url;

pub use self::sniff::is_other_format;
use crate::barrier::{BarrierKind, PageAddress};
use crate::charset::{self, Fallback};
use crate::directives::Directives;
use crate::link::Link;

/// Says whether work on one page may go on. Asked between pieces of work, never inside one.
///
/// `core` has no clock; the carrier hands in a deadline, a test hands in a count of steps.
pub trait WorkBudget {
    /// Called before each piece of work; `false` ends the work.
    fn may_go_on(&mut self) -> bool;
}

impl<F: FnMut() -> bool> WorkBudget for F {
    fn may_go_on(&mut self) -> bool {
        self()
    }
}

/// A page as it was fetched: decoded from its transfer and content codings, not from its charset.
#[derive(Clone, Copy, Debug)]
pub struct FetchedPage<'a> {
    /// The URL it was fetched from.
    pub url: &'a Url,
    /// Status and header fields of the answer.
    pub head: &'a crate::response::ResponseHead,
    /// The body bytes.
    pub body: &'a [u8],
    /// The body is known to be incomplete.
    pub cut: bool,
    /// The product token that metas and header fields are read for, lower case, e.g. `lohisoftbot`.
    pub product_token: &'a str,
}

/// One heading.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Heading {
    /// 1, 2 or 3.
    pub level: u8,
    /// Its collapsed text, never empty.
    pub text: String,
}

/// Link elements as they stand in the tree, the clones that a tree builder makes of misnested ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTally {
    /// HTML `a` elements with href.
    pub num_a_with_href: usize,
    /// HTML `area` elements with href.
    pub num_area_with_href: usize,
    /// Those of both that lead to an http or https URL.
    pub num_http: usize,
    /// Those of the latter with nofollow, ugc or sponsored.
    pub num_http_nofollow: usize,
}

/// Everything that is read off a page. Text is uncapped here; caps apply when a record is made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedPage {
    /// First non-empty HTML title.
    pub title: Option<String>,
    /// Meta description, else og:description, else twitter:description.
    pub description: Option<String>,
    /// h1 to h3 in document order.
    pub headings: Vec<Heading>,
    /// Links to http and https URLs, merged by target, in order of first appearance.
    pub links: Vec<Link>,
    /// How many link elements the tree held, before merging.
    pub link_tally: LinkTally,
    /// `link rel=canonical` inside head, resolved, as it stands (the caller keeps it within the site).
    pub canonical: Option<Url>,
    /// Language tags and URLs of `link rel=alternate hreflang`, in order, as they stand. Not stored.
    pub versions: Vec<(String, Url)>,
    /// `html lang`, else `xml:lang`, trimmed.
    pub lang: Option<String>,
    /// Directives of meta elements and header fields together, the strictest of each.
    pub directives: Directives,
    /// Target of a meta refresh, resolved (WHATWG shared declarative refresh steps). The page itself where it only reloads; of any
    /// scheme, `javascript:` too, so whoever follows it goes through [`crate::url::PageUrl`] first.
    pub meta_refresh: Option<Url>,
    /// How long a browser would show the page before that refresh.
    pub meta_refresh_delay: Option<Duration>,
    /// What the page shows to stand before what it should hold: a challenge, a password form, a paywall. Then nothing of it is kept.
    pub barrier: Option<BarrierKind>,
    /// Name of the charset it was decoded with, lower-case WHATWG label.
    pub charset: &'static str,
    /// The body was incomplete, or the work budget ended the work.
    pub cut: bool,
}

/// Reads a page. Where nothing names its charset and its bytes are not UTF-8, the charset is guessed from them.
pub fn extract(page: FetchedPage<'_>, budget: &mut dyn WorkBudget) -> ExtractedPage {
    extract_with_fallback(page, Fallback::Detect, budget)
}

/// The same with the charset of last resort named by the caller.
pub fn extract_with_fallback(page: FetchedPage<'_>, fallback: Fallback, budget: &mut dyn WorkBudget) -> ExtractedPage {
    let content_type = content_type(page.head);
    let (text, charset) = charset::decode(page.body, content_type.as_deref(), fallback);
    let mut meter = meter::Meter::new(budget);
    let tree = tree::build(&text, &mut meter);
    let page_links = links::PageLinks::new(page.url, charset);
    let (mut extracted, evidence) = walk::read(&tree.document, page_links, page.product_token, &mut meter.begin_walk());
    extracted.directives = extracted.directives.and(Directives::of_headers(page.head, page.product_token));
    extracted.charset = charset;
    extracted.cut |= page.cut || !tree.is_whole;
    let refresh = extracted.meta_refresh.as_ref().zip(extracted.meta_refresh_delay);
    let address = PageAddress { url: page.url, canonical: extracted.canonical.as_ref(), refresh };
    extracted.barrier = evidence.verdict(address, extracted.cut);
    extracted
}

/// The Content-Type that names a charset: the last that does, since a gateway's field comes before that of the page's own server.
fn content_type(head: &crate::response::ResponseHead) -> Option<Cow<'_, str>> {
    let values: Vec<_> = head.all("content-type").map(String::from_utf8_lossy).collect();
    values.into_iter().rev().find(|value| charset::of_content_type(value).is_some())
}
