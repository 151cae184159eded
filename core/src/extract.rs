//! What is read off a page: title, description, headings, links, and what the page says about itself.
//!
//! Pure; never fails; stops when the [`WorkBudget`] says so and marks the result as cut.

use ::url::Url;

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
    /// The product token that meta and X-Robots-Tag are read for, lower case, e.g. `lohisoftbot`.
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
    /// `link rel=canonical` inside head, resolved, as it stands (the caller keeps it within the site).
    pub canonical: Option<Url>,
    /// `html lang`, else `xml:lang`, trimmed.
    pub lang: Option<String>,
    /// Directives of meta elements and X-Robots-Tag together, the strictest of each.
    pub directives: Directives,
    /// Target of a meta refresh, resolved (WHATWG shared declarative refresh steps).
    pub meta_refresh: Option<Url>,
    /// Name of the charset it was decoded with, lower-case WHATWG label.
    pub charset: &'static str,
    /// The body was incomplete, or the work budget ended the work.
    pub cut: bool,
}

/// Reads a page.
pub fn extract(_page: FetchedPage<'_>, _budget: &mut dyn WorkBudget) -> ExtractedPage {
    ExtractedPage::default()
}
