//! What a page or an answer says about indexing itself: meta robots, X-Robots-Tag, Robots-Tag and Content-Usage.
//!
//! Rules for all robots and rules for ours add up; the strictest of each wins, so a permission never lifts a prohibition. What is not
//! understood changes nothing. `nocache`, `noimageindex`, `max-image-preview` and the like concern things that are never kept.
//!
//! `listed` reads what metas and X-Robots-Tag hold, `structured` what Robots-Tag does; a field that is written in the form of the other,
//! or in both at once, is read in both. Where a value is no proper one of either, words that plainly forbid something count all the same.

mod date;
mod listed;
mod structured;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::date::parse_date;
use crate::content_usage::SearchWish;
use crate::response::ResponseHead;
use crate::time::Timestamp;

/// The union of all directives that apply to us; the strictest of each wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directives {
    /// The page must not be stored.
    pub noindex: bool,
    /// Its links must not be followed.
    pub nofollow: bool,
    /// No cached copy (nothing of that kind is ever kept).
    pub noarchive: bool,
    /// No description may be kept or shown.
    pub nosnippet: bool,
    /// From this moment on the page counts as noindex.
    pub unavailable_after: Option<Timestamp>,
}

impl Directives {
    /// Whether the page may be stored at `now`.
    pub fn allows_storing(&self, now: Timestamp) -> bool {
        !self.noindex && self.unavailable_after.is_none_or(|after| now < after)
    }

    /// What the header fields of an answer say to the robot with that product token (any case): every X-Robots-Tag, every Robots-Tag
    /// (draft-illyes-repext), and every Content-Usage (draft-ietf-aipref-attach §2), whose `search=n` counts as noindex.
    pub fn of_headers(head: &ResponseHead, product_token: &str) -> Self {
        let mut directives = Self::default();
        for value in head.all("x-robots-tag").map(String::from_utf8_lossy) {
            directives.add_listed(&value, product_token);
            // The draft gives the old name the new form as well.
            directives.add_structured(&value, product_token);
        }
        for value in head.all("robots-tag").map(String::from_utf8_lossy) {
            if structured::is_listed(&value) {
                directives.add_listed(&value, product_token);
            }
            directives.add_structured(&value, product_token);
        }
        for statement in head.all("content-usage").map(String::from_utf8_lossy) {
            directives.noindex |= SearchWish::stated(&statement) == Some(SearchWish::Forbidden);
        }
        directives
    }

    /// What the `content` of one meta element says, whose name is `robots` or ours.
    pub fn of_meta_content(content: &str) -> Self {
        let mut directives = Self::default();
        directives.add_content(content);
        directives
    }

    /// Both together, the strictest of each.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
            nosnippet: self.nosnippet || other.nosnippet,
            unavailable_after: match (self.unavailable_after, other.unavailable_after) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
        }
    }

    fn add_end(&mut self, moment: Timestamp) {
        *self = self.and(Self { unavailable_after: Some(moment), ..Self::default() });
    }

    fn add_max_snippet(&mut self, value: &str) {
        self.nosnippet |= unquoted(value) == "0";
    }

    fn add_word(&mut self, word: &str) {
        match word.trim_matches(['"', '\'']).to_ascii_lowercase().as_str() {
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "none" => (self.noindex, self.nofollow) = (true, true),
            "noarchive" => self.noarchive = true,
            "nosnippet" => self.nosnippet = true,
            _ => {}
        }
    }
}

/// The end that `unavailable_after` names: a date as RFC 9651 §3.3.7 has it, in seconds (`@1372865400`), or in the forms of old.
fn end_of(value: &str) -> Option<Timestamp> {
    let Some(seconds) = unquoted(value).strip_prefix('@') else { return parse_date(value) };
    let (is_before_epoch, digits) = seconds.strip_prefix('-').map_or((false, seconds), |digits| (true, digits));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if is_before_epoch { Some(Timestamp::EPOCH) } else { digits.parse().ok().map(Timestamp::from_secs) }
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

/// A directive that carries a value; any other name before a colon is a robot's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Valued {
    UnavailableAfter,
    MaxSnippet,
    /// Concerns what is never kept.
    Irrelevant,
}

impl Valued {
    fn of_name(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "unavailable_after" => Some(Self::UnavailableAfter),
            "max-snippet" => Some(Self::MaxSnippet),
            "max-image-preview" | "max-video-preview" | "indexifembedded" => Some(Self::Irrelevant),
            _ => None,
        }
    }

    /// Splits `name: value` or `name=value`, if the name is that of a directive with a value.
    fn split(text: &str) -> Option<(Self, &str)> {
        let (name, value) = text.split_once([':', '='])?;
        Some((Self::of_name(name)?, value))
    }
}

/// Whether a name (of a meta element) is that one, in any case.
pub fn is_name_of(name: &str, wanted: &str) -> bool {
    name.trim().eq_ignore_ascii_case(wanted)
}

/// Whether a name (of a meta element, or before the directives in a header field) is ours, in any case, a version behind it or not.
pub fn is_our_name(name: &str, product_token: &str) -> bool {
    let token = crate::robots::product_token(name.trim());
    !token.is_empty() && token.eq_ignore_ascii_case(product_token)
}

/// Whether directives after this name hold for us: it is ours, or it is that of all robots.
fn concerns_us(name: &str, product_token: &str) -> bool {
    name == "*" || is_name_of(name, "robots") || is_our_name(name, product_token)
}
