//! What the marks and the shape of one page come to.

use std::time::Duration;

use ::url::Url;

use super::marks::{self, Holds, Place};
use super::{BarrierKind, is_login_address, is_login_redirect, paywall};
use crate::url::PageUrl;

/// Most text of a page that is a challenge by a mark that good pages carry too. Anubis explains itself in some 1,500 characters.
const MAX_STUB_CHARS: usize = 2_000;
/// And most links.
const MAX_STUB_LINKS: usize = 20;
/// Most text beside a captcha, or under a title that is mere words.
const MAX_BARE_CHARS: usize = 400;
/// And most links.
const MAX_BARE_LINKS: usize = 6;
/// Most text beside a password form that the page is for.
const MAX_FORM_CHARS: usize = 250;
/// And most links.
const MAX_FORM_LINKS: usize = 15;
/// Most text beside the password form at a login page's own address, which may explain itself.
const MAX_LOGIN_PAGE_CHARS: usize = 2_000;
/// From here on text is no longer counted: it is more than any rule asks about.
const COUNTED_CHARS: usize = 4_000;
/// Longest time in which a page that sends its visitor on is no page to stay on.
const MAX_REFRESH_DELAY: Duration = Duration::from_secs(10);
/// Most claims about payment read of one page.
const MAX_CLAIMS: usize = 64;

/// What the walk over a page saw that bears on barriers. Filled by `extract`; what it comes to is decided by [`Self::verdict`].
#[derive(Debug, Default)]
pub(crate) struct PageEvidence {
    strongest: Option<Holds>,
    num_password_inputs: usize,
    num_other_inputs: usize,
    num_captchas: usize,
    num_chars: usize,
    num_links: usize,
    is_locked: bool,
    paid_pages: Vec<Option<String>>,
}

/// Which page it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageAddress<'a> {
    /// Where it was fetched.
    pub(crate) url: &'a Url,
    /// What it calls itself.
    pub(crate) canonical: Option<&'a Url>,
    /// Where it sends its visitor by a meta refresh, and after how long.
    pub(crate) refresh: Option<(&'a Url, Duration)>,
}

impl PageEvidence {
    /// Takes note of what stands in a place where marks are.
    pub(crate) fn note(&mut self, place: Place, text: &str) {
        // `Holds` is ordered from the strongest on.
        self.strongest = [self.strongest, marks::strongest(place, text)].into_iter().flatten().min();
    }

    /// Text that the page shows, outside of links, labels, buttons and the site's own frame around its pages.
    pub(crate) fn note_text(&mut self, text: &str) {
        if self.num_chars < COUNTED_CHARS {
            self.num_chars += text.chars().filter(|c| !c.is_whitespace()).count();
        }
    }

    /// A link outside of that frame.
    pub(crate) fn note_link(&mut self) {
        self.num_links += 1;
    }

    /// A field to write into that is no password, or a choice.
    pub(crate) fn note_other_input(&mut self) {
        self.num_other_inputs += 1;
    }

    /// A field for a password.
    pub(crate) fn note_password_input(&mut self) {
        self.num_password_inputs += 1;
    }

    /// A captcha that waits to be solved.
    pub(crate) fn note_captcha(&mut self) {
        self.num_captchas += 1;
    }

    /// `article:content_tier` of the page. `locked` is for subscribers alone; `metered` is read for free up to a number of articles.
    /// (<https://developers.facebook.com/docs/news-indexing/guides/metadata-tags/>)
    pub(crate) fn note_content_tier(&mut self, tier: &str) {
        self.is_locked |= tier.trim_ascii().eq_ignore_ascii_case("locked");
    }

    /// A page, this one where no URL is given, that is said not to be read for free.
    pub(crate) fn note_paid_page(&mut self, page: Option<&str>) {
        if self.paid_pages.len() < MAX_CLAIMS {
            self.paid_pages.push(page.map(str::to_owned));
        }
    }

    /// The JSON-LD of one script element.
    pub(crate) fn note_json_ld(&mut self, json: &str) {
        for page in paywall::paid_pages(json) {
            self.note_paid_page(page.as_deref());
        }
    }

    /// What stands before the page, if anything does. Of a page that was cut, nothing is said by how little it holds.
    pub(crate) fn verdict(&self, page: PageAddress<'_>, is_cut: bool) -> Option<BarrierKind> {
        if self.is_challenge(is_cut) {
            Some(BarrierKind::Challenge)
        } else if !is_cut && self.sends_to_login(page) {
            Some(BarrierKind::LoginRedirect)
        } else if !is_cut && self.is_password_form(page.url) {
            Some(BarrierKind::PasswordForm)
        } else if self.is_paywalled(page) {
            Some(BarrierKind::PaywalledContent)
        } else {
            None
        }
    }

    fn is_challenge(&self, is_cut: bool) -> bool {
        let is_bare = !is_cut && self.holds_at_most(MAX_BARE_CHARS, MAX_BARE_LINKS);
        let is_marked = match self.strongest {
            Some(Holds::Anywhere) => true,
            Some(Holds::OnStub) => self.holds_at_most(MAX_STUB_CHARS, MAX_STUB_LINKS),
            Some(Holds::OnBare) => is_bare && self.num_other_inputs == 0,
            None => false,
        };
        // A captcha beside a field to write into guards that form; one beside nothing guards the page.
        let is_gate = self.num_captchas > 0 && is_bare && self.num_other_inputs + self.num_password_inputs == 0;
        is_marked || is_gate
    }

    /// The same as a redirect that says so with its status, for servers that answer 200 and a page that holds nothing else.
    fn sends_to_login(&self, page: PageAddress<'_>) -> bool {
        let Some((target, delay)) = page.refresh else { return false };
        let [Ok(own), Ok(target)] = [page.url, target].map(|url| PageUrl::parse(url.as_str(), None)) else {
            return false;
        };
        delay <= MAX_REFRESH_DELAY
            && is_login_redirect(&own, &target)
            && self.holds_at_most(MAX_BARE_CHARS, MAX_BARE_LINKS)
    }

    fn is_password_form(&self, url: &Url) -> bool {
        let max_chars = if is_login_address(url) { MAX_LOGIN_PAGE_CHARS } else { MAX_FORM_CHARS };
        // At its own address a login page may stand amid all the links of its site.
        let max_links = if is_login_address(url) { usize::MAX } else { MAX_FORM_LINKS };
        self.num_password_inputs > 0 && self.holds_at_most(max_chars, max_links)
    }

    fn is_paywalled(&self, page: PageAddress<'_>) -> bool {
        self.is_locked || self.paid_pages.iter().any(|claimed| claimed.as_deref().is_none_or(|url| is_same(url, page)))
    }

    fn holds_at_most(&self, chars: usize, links: usize) -> bool {
        self.num_chars <= chars && self.num_links <= links
    }
}

/// Whether a claim about the page at `claimed` is one about this page. Query and host are looked past: print, mobile and AMP forms.
fn is_same(claimed: &str, page: PageAddress<'_>) -> bool {
    let Ok(claimed) = page.url.join(claimed) else { return true };
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    let claimed = path(&claimed);
    claimed == path(page.url) || page.canonical.is_some_and(|canonical| claimed == path(canonical))
}
