//! Barriers: a login, a paywall or a bot protection before a site, recognised so that it is never passed (P5).
//!
//! Recognised are statuses, fields that the makers of bot protections document, redirects to a login or a challenge, and what a page
//! shows that came with 200: the marks of a challenge, a password form and little else, its own word that it is not to be read for free.
//! The tables are [`fields`](self) for heads, `marks` for pages; each row names where it is documented or publicly known.
//!
//! What this deliberately does not do: guess. A mark that every page of a protected site carries is no evidence by itself, and words of
//! text are none at all; the one exception, two titles, counts only on a page that holds nothing else. This module sees values, never a
//! tree: what they are read off is `extract`'s.

mod fields;
mod marks;
mod page;
mod paywall;
mod redirect;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use self::marks::Place;
pub(crate) use self::page::{PageAddress, PageEvidence};
pub(crate) use self::paywall::{is_false, is_page_type};
pub use self::redirect::{is_challenge_redirect, is_login_address, is_login_redirect};
use crate::response::ResponseHead;

/// What stands before the page. Stored by place: new kinds are appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BarrierKind {
    /// 401 or 407: credentials are wanted.
    LoginRequired,
    /// 402: money is wanted.
    PaymentRequired,
    /// 403: the server will not, whatever is tried.
    Forbidden,
    /// 451: a law or a court stands before it.
    LegallyBlocked,
    /// A bot protection wants a proof that a person is there.
    Challenge,
    /// The way leads to an evident login page.
    LoginRedirect,
    /// The page is a password form and little else.
    PasswordForm,
    /// The page says of itself that it is not to be read for free.
    PaywalledContent,
}

impl BarrierKind {
    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::LoginRequired => "a login is required",
            Self::PaymentRequired => "a payment is required",
            Self::Forbidden => "access is forbidden",
            Self::LegallyBlocked => "blocked for legal reasons",
            Self::Challenge => "a bot protection asks for a proof",
            Self::LoginRedirect => "redirected to a login page",
            Self::PasswordForm => "the page is a password form",
            Self::PaywalledContent => "the page says that it is not to be read for free",
        }
    }

    /// Whether the page is no longer public by this, so that a record from before goes. A challenge and a 403 say something about the
    /// visitor and nothing about the page: what is stored of it stays.
    pub const fn closes_page(self) -> bool {
        match self {
            Self::LoginRequired
            | Self::PaymentRequired
            | Self::LegallyBlocked
            | Self::LoginRedirect
            | Self::PasswordForm
            | Self::PaywalledContent => true,
            Self::Forbidden | Self::Challenge => false,
        }
    }
}

/// The barrier that a status alone announces.
pub const fn of_status(status: u16) -> Option<BarrierKind> {
    match status {
        401 | 407 => Some(BarrierKind::LoginRequired),
        402 => Some(BarrierKind::PaymentRequired),
        403 => Some(BarrierKind::Forbidden),
        451 => Some(BarrierKind::LegallyBlocked),
        _ => None,
    }
}

/// The barrier that an answer's head announces, status and fields; the redirect's target is asked about with [`is_login_redirect`] and
/// [`is_challenge_redirect`].
///
/// `WWW-Authenticate` on anything but a 401 is none: RFC 9110 §11.6.1 lets it stand there to say that credentials would bring more.
pub fn of_head(head: &ResponseHead) -> Option<BarrierKind> {
    if fields::is_challenge(head) { Some(BarrierKind::Challenge) } else { of_status(head.status) }
}

/// Whether a barrier stands before nothing but itself: the login form at a login page's own address, to which anyone may link.
/// Such a page is not stored, yet it says nothing about the rest of its site.
pub fn stands_before_nothing(kind: BarrierKind, url: &crate::url::PageUrl) -> bool {
    kind == BarrierKind::PasswordForm && is_login_address(url.as_url())
}
