//! Languages, as pages and paths name them.
//!
//! A tag is compared by its first two subtags (RFC 5646 §2.1), whatever its case and its hyphen: `zh_CN`, `zh-cn` and `zh-CN` are one. What
//! this does not do: know that `no` and `nb` are close, or which script is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest tag that is kept, in bytes: two letters, a hyphen, and the longest second subtag, `valencia` for one.
const MAX_TAG_BYTES: usize = 11;

/// ISO 639-1: the two-letter codes that name a language in a path. Three-letter ones would be taken for words too often.
const PATH_CODES: &[u8] = b"aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfygagdglgngugv\
hahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulvmgmhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojom\
orospapiplpsptqurmrnrorurwsascsdsesgsiskslsmsnsosqsrssstsusvswtatetgthtitktltntotrtstttwtyugukuruzvevivowawoxhyiyozazhzu";

/// A language tag: lower case, at most two subtags.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Language([u8; MAX_TAG_BYTES]);

/// How near two languages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// Not the same language.
    Other,
    /// The same language of two regions, or one tag names none.
    SamePrimary,
    /// The same tag.
    Same,
}

impl Language {
    /// The language that an `html` element or an `hreflang` names; none for `x-default` and what is no tag.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let mut kept = [0; MAX_TAG_BYTES];
        let mut length = 0;
        for (number, subtag) in tag.trim().split(['-', '_']).take(2).enumerate() {
            let is_subtag = subtag.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let is_primary = (2..=3).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
            if number == 0 && !is_primary {
                return None;
            }
            // What follows a single letter is no part of what is compared (RFC 5646 §2.2.6, §2.2.7).
            if !is_subtag || (number > 0 && !(2..=8).contains(&subtag.len())) {
                break;
            }
            let bytes = subtag.bytes().map(|byte| byte.to_ascii_lowercase());
            let hyphen = (number > 0).then_some(b'-');
            for (place, byte) in kept[length..].iter_mut().zip(hyphen.into_iter().chain(bytes)) {
                *place = byte;
                length += 1;
            }
        }
        Some(Self(kept))
    }

    /// The language that a part of a path names: a two-letter code, with a region or a script behind it or nothing.
    pub fn of_path_part(part: &str) -> Option<Self> {
        let mut subtags = part.split(['-', '_']);
        let primary = subtags.next().filter(|primary| primary.len() == 2)?.to_ascii_lowercase();
        let is_known = PATH_CODES.chunks_exact(2).any(|code| code == primary.as_bytes());
        // `pt-br`, `zh-hant`, `es-419`, `ca-valencia`; `in-depth` is a title.
        let is_second = |subtag: &str| {
            (matches!(subtag.len(), 2 | 4) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic()))
                || (subtag.len() == 3 && subtag.bytes().all(|byte| byte.is_ascii_digit()))
                || subtag.eq_ignore_ascii_case("valencia")
        };
        let (second, third) = (subtags.next(), subtags.next());
        let second_fits = second.is_none_or(is_second);
        // A region stands behind a script: `zh-hant-tw`.
        let third_fits = third.is_none_or(|third| third.len() == 2 && second.is_some_and(|script| script.len() == 4));
        (is_known && second_fits && third_fits && subtags.next().is_none()).then(|| Self::of_tag(part)).flatten()
    }

    /// The tag.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(MAX_TAG_BYTES);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }

    /// How near it is to another.
    pub fn closeness(&self, other: &Self) -> Closeness {
        let [(ours, our_region), (theirs, their_region)] = [self, other].map(|language| {
            let tag = language.as_str();
            tag.split_once('-').map_or((tag, None), |(primary, second)| (primary, Some(second)))
        });
        match ours == theirs {
            false => Closeness::Other,
            true if our_region == their_region => Closeness::Same,
            true => Closeness::SamePrimary,
        }
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.as_str())
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_tag(tag: &str, wanted: Option<&str>) {
        assert_eq!(Language::of_tag(tag).as_ref().map(Language::as_str), wanted, "{tag:?}");
    }

    #[test]
    fn tags_are_read_whatever_their_case_and_their_hyphen() {
        check_tag("en", Some("en"));
        check_tag(" PT-br ", Some("pt-br"));
        check_tag("zh_Hant_TW", Some("zh-hant"));
        check_tag("ast", Some("ast"));
        check_tag("ca-valencia", Some("ca-valencia"));
        check_tag("de-x-private", Some("de"));
        check_tag("en-", Some("en"));
        for none in ["", "x-default", "english", "e", "日本", "12"] {
            check_tag(none, None);
        }
    }

    #[track_caller]
    fn check_part(part: &str, wanted: Option<&str>) {
        assert_eq!(Language::of_path_part(part).as_ref().map(Language::as_str), wanted, "{part:?}");
    }

    #[test]
    fn parts_of_paths_are_languages_by_the_list_alone() {
        check_part("de", Some("de"));
        check_part("zh_CN", Some("zh-cn"));
        check_part("pt-BR", Some("pt-br"));
        check_part("zh-Hant-TW", Some("zh-hant"));
        check_part("es-419", Some("es-419"));
        check_part("ca-valencia", Some("ca-valencia"));
        for none in ["xx", "js", "in-depth", "ast", "d", "deu", "to-do-list", "is-it-so", "", "v2", "de-"] {
            check_part(none, None);
        }
    }

    #[test]
    fn languages_are_near_by_their_first_subtag_and_the_same_by_both() {
        let near = |one, other| Language::of_tag(one).unwrap().closeness(&Language::of_tag(other).unwrap());
        assert_eq!(near("en", "EN"), Closeness::Same);
        assert_eq!(near("en", "en-GB"), Closeness::SamePrimary);
        assert_eq!(near("zh-CN", "zh-TW"), Closeness::SamePrimary);
        assert_eq!(near("en", "de"), Closeness::Other);
        assert_eq!(near("de", "de-at"), Closeness::SamePrimary);
    }

    #[test]
    fn the_list_has_each_code_once() {
        let codes: Vec<&[u8]> = PATH_CODES.chunks_exact(2).collect();
        assert!(PATH_CODES.len().is_multiple_of(2) && codes.is_sorted_by(|one, next| one < next), "{codes:?}");
    }
}
