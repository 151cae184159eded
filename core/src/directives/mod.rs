//! What a page or an answer says about indexing itself: meta robots and X-Robots-Tag.
//!
//! Rules for all robots and rules for ours add up; the strictest of each wins, so a permission never lifts a prohibition. What is not
//! understood changes nothing. `nocache`, `noimageindex`, `max-image-preview` and the like concern things that are never kept.

mod date;

use serde::{Deserialize, Serialize};

pub use self::date::parse_date;
use crate::response::ResponseHead;
use crate::time::Timestamp;

/// Directives that carry a value after a colon; any other name before a colon is a robot's.
const VALUED: [&str; 5] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "indexifembedded"];

/// A date may hold up to two commas of its own (`Wednesday, Jul 3, 2013`).
const MAX_PIECES_PER_DATE: usize = 3;

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

    /// What the X-Robots-Tag fields of an answer say to the robot with that product token (any case).
    ///
    /// A field may start with a robot's name; it then holds for that robot until another name or the end of the field.
    pub fn of_headers(head: &ResponseHead, product_token: &str) -> Self {
        let mut directives = Self::default();
        for value in head.all("x-robots-tag") {
            directives.add_header(&String::from_utf8_lossy(value), product_token);
        }
        directives
    }

    /// What the `content` of one meta element says, whose name is `robots` or ours.
    pub fn of_meta_content(content: &str) -> Self {
        let mut directives = Self::default();
        let pieces: Vec<&str> = content.split(',').collect();
        let mut at = 0;
        while at < pieces.len() {
            at += directives.add_piece(&pieces[at..]);
        }
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

    fn add_header(&mut self, value: &str, product_token: &str) {
        let mut pieces: Vec<&str> = value.split(',').collect();
        let mut concerns_us = true;
        let mut at = 0;
        while at < pieces.len() {
            if let Some((name, rest)) = robot_name(pieces[at]) {
                concerns_us = is_name_of(name, product_token) || name == "*";
                pieces[at] = rest;
            }
            at += if concerns_us { self.add_piece(&pieces[at..]) } else { 1 };
        }
    }

    /// Adds the directive at the front of `pieces` (what stood between commas) and says how many of them it took.
    fn add_piece(&mut self, pieces: &[&str]) -> usize {
        match valued(pieces[0]) {
            Some(("unavailable_after", value)) => {
                for taken in (1..=pieces.len().min(MAX_PIECES_PER_DATE)).rev() {
                    let date = std::iter::once(value).chain(pieces[1..taken].iter().copied()).collect::<Vec<_>>();
                    if let Some(moment) = parse_date(&date.join(",")) {
                        *self = self.and(Self { unavailable_after: Some(moment), ..Self::default() });
                        return taken;
                    }
                }
            }
            Some(("max-snippet", value)) => self.nosnippet |= value.trim() == "0",
            Some(_) => {}
            // Authors forget the commas; a word is a directive however it is set apart.
            None => pieces[0].split(|c: char| c.is_whitespace() || c == ';').for_each(|word| self.add_word(word)),
        }
        1
    }

    fn add_word(&mut self, word: &str) {
        match word.to_ascii_lowercase().as_str() {
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "none" => (self.noindex, self.nofollow) = (true, true),
            "noarchive" => self.noarchive = true,
            "nosnippet" => self.nosnippet = true,
            _ => {}
        }
    }
}

/// Whether a name (of a meta element, or before a colon) is that robot's, in any case.
pub fn is_name_of(name: &str, product_token: &str) -> bool {
    name.trim().eq_ignore_ascii_case(product_token)
}

/// Splits `name: value` for the directives that have a value; the name comes back as it is listed.
fn valued(piece: &str) -> Option<(&'static str, &str)> {
    let (name, value) = piece.split_once([':', '='])?;
    VALUED.into_iter().find(|known| known.eq_ignore_ascii_case(name.trim())).map(|known| (known, value))
}

/// Splits a robot's name off a piece. A name is one word that is no directive with a value.
fn robot_name(piece: &str) -> Option<(&str, &str)> {
    if valued(piece).is_some() {
        return None;
    }
    let (name, rest) = piece.split_once(':')?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Directives =
        Directives { noindex: false, nofollow: false, noarchive: false, nosnippet: false, unavailable_after: None };

    /// `wanted` names the directives that are set, by their first letters.
    fn of_letters(wanted: &str) -> Directives {
        Directives {
            noindex: wanted.contains('i'),
            nofollow: wanted.contains('f'),
            noarchive: wanted.contains('a'),
            nosnippet: wanted.contains('s'),
            unavailable_after: None,
        }
    }

    #[track_caller]
    fn check_meta(content: &str, wanted: &str) {
        assert_eq!(Directives::of_meta_content(content), of_letters(wanted), "content {content:?}");
    }

    #[track_caller]
    fn check_headers(values: &[&str], wanted: &str) {
        let mut head = ResponseHead::new(200);
        values.iter().for_each(|value| head.push("X-Robots-Tag", value.as_bytes()));
        assert_eq!(Directives::of_headers(&head, "lohisoftbot"), of_letters(wanted), "values {values:?}");
    }

    #[test]
    fn meta_content_is_a_list_in_any_case() {
        check_meta("noindex,nofollow", "if");
        check_meta("NOINDEX , Follow", "i");
        check_meta("index, noindex", "i");
        check_meta("none", "if");
        check_meta("all", "");
        check_meta("", "");
        check_meta("noarchive, nosnippet, noimageindex, notranslate", "as");
        check_meta("noindex nofollow", "if");
        check_meta("noindex;nofollow", "if");
        check_meta("max-snippet:0", "s");
        check_meta("max-snippet: 0, max-image-preview:none", "s");
        check_meta("max-snippet:-1, max-snippet:20", "");
        check_meta("noindexing, xnofollow", "");
    }

    #[test]
    fn headers_add_up_and_hold_for_the_robot_they_name() {
        check_headers(&[], "");
        check_headers(&["noindex, nofollow"], "if");
        check_headers(&["nofollow", "lohisoftbot: noindex"], "if");
        check_headers(&["LohiSoftBot: none"], "if");
        check_headers(&["googlebot: noindex, nofollow"], "");
        check_headers(&["googlebot: noindex, lohisoftbot: nofollow"], "f");
        check_headers(&["nofollow, googlebot: noindex"], "f");
        check_headers(&["googlebot: noindex", "nosnippet"], "s");
        check_headers(&["*: noarchive"], "a");
        check_headers(&["max-snippet:0, noindex"], "si");
    }

    #[test]
    fn a_date_keeps_its_commas_and_colons() {
        for value in [
            "unavailable_after: Wednesday, 03-Jul-13 15:30:00 GMT, noindex",
            "noindex, unavailable_after: 3 Jul 2013 15:30:00 GMT",
            "noindex, lohisoftbot: unavailable_after: Wednesday, Jul 3, 2013 15:30 UTC",
            "noindex, unavailable_after: 2013-07-03T15:30:00Z",
        ] {
            let head = ResponseHead::new(200).with("x-robots-tag", value);
            let wanted = Some(Timestamp::from_secs(1_372_865_400));
            let found = Directives::of_headers(&head, "lohisoftbot");
            assert_eq!(found, Directives { noindex: true, unavailable_after: wanted, ..NOTHING }, "value {value:?}");
        }
    }

    #[test]
    fn the_earlier_of_two_ends_wins_and_an_unreadable_one_is_none() {
        let both = Directives::of_meta_content("unavailable_after: 2020-09-21, unavailable_after: 2019-01-01");
        assert_eq!(both.unavailable_after, parse_date("2019-01-01"));
        assert_eq!(Directives::of_meta_content("unavailable_after: soon, nofollow"), of_letters("f"));
    }

    #[test]
    fn storing_ends_at_the_moment_named() {
        let end = Timestamp::from_secs(1000);
        let directives = Directives { unavailable_after: Some(end), ..NOTHING };
        assert!(directives.allows_storing(Timestamp::from_secs(999)));
        assert!(!directives.allows_storing(end));
        assert!(!Directives { noindex: true, ..NOTHING }.allows_storing(Timestamp::EPOCH));
    }

    proptest::proptest! {
        #[test]
        fn no_value_makes_it_panic_and_a_prohibition_is_never_lifted(value in ".{0,80}") {
            let plain = ResponseHead::new(200).with("x-robots-tag", "noindex").with("x-robots-tag", &value);
            proptest::prop_assert!(Directives::of_headers(&plain, "lohisoftbot").noindex);
            Directives::of_meta_content(&value);
        }
    }
}
