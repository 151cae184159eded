//! What the pages say, in each language: the Fluent files of `locales/`, built in.
//!
//! A number goes in twice where it decides a plural: as a number that chooses the form, and as the text that is shown.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use super::language::PageLanguage;

const ENGLISH: &str = include_str!("../../locales/en/search.ftl");
const ROMANIAN: &str = include_str!("../../locales/ro/search.ftl");

static WORDS: LazyLock<[FluentBundle<FluentResource>; 2]> = LazyLock::new(|| PageLanguage::ALL.map(bundle));

fn source(language: PageLanguage) -> &'static str {
    match language {
        PageLanguage::English => ENGLISH,
        PageLanguage::Romanian => ROMANIAN,
    }
}

fn bundle(language: PageLanguage) -> FluentBundle<FluentResource> {
    // A file that is read in part only is a fault that a test finds; what was read still serves.
    let resource = FluentResource::try_new(source(language).to_owned()).unwrap_or_else(|(partial, _)| partial);
    let locale = language.tag().parse().expect("the tags of our languages are well-formed");
    let mut bundle = FluentBundle::new_concurrent(vec![locale]);
    // Marks around every number and name would stand in attributes and titles too; what a stranger wrote is isolated where it is
    // handed in (`isolated`).
    bundle.set_use_isolating(false);
    bundle.add_resource_overriding(resource);
    bundle
}

/// The sentence of this key.
pub(super) fn say(language: PageLanguage, key: &str) -> String {
    say_with(language, key, &[])
}

/// The sentence of this key with its places filled in.
pub(super) fn say_with(language: PageLanguage, key: &str, values: &[(&'static str, FluentValue<'_>)]) -> String {
    let bundle = match language {
        PageLanguage::English => &WORDS[0],
        PageLanguage::Romanian => &WORDS[1],
    };
    let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else { return key.to_owned() };
    let args: FluentArgs = values.iter().map(|(name, value)| (*name, value.clone())).collect();
    bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
}

/// The number that chooses the plural form. Romanian counts 101 to 119 as it counts 2 (CLDR: `n != 1 and n % 100 = 1..19`); the rules
/// that Fluent brings see this up to 19 only.
pub(super) fn plural(language: PageLanguage, number: u64) -> u64 {
    match language {
        PageLanguage::Romanian if number > 100 && (1..=19).contains(&(number % 100)) => 2,
        PageLanguage::English | PageLanguage::Romanian => number,
    }
}

/// A whole number as it is written in this language: 12,345 or 12.345.
pub(super) fn number(language: PageLanguage, number: u64) -> String {
    let separator = match language {
        PageLanguage::English => ',',
        PageLanguage::Romanian => '.',
    };
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(separator);
        }
        shown.push(digit);
    }
    shown
}

/// A stranger's text between marks that keep its direction from turning the sentence around it (Unicode UAX #9, FSI and PDI).
pub(super) fn isolated(text: &str) -> String {
    format!("\u{2068}{text}\u{2069}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn keys(language: PageLanguage) -> BTreeSet<&'static str> {
        let is_key = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase());
        source(language).lines().filter(is_key).filter_map(|line| line.split_once(" =")).map(|(key, _)| key).collect()
    }

    /// The places that a message leaves open.
    fn places(language: PageLanguage, key: &str) -> BTreeSet<&'static str> {
        let text = source(language);
        let start = text.find(&format!("\n{key} =")).unwrap() + 1;
        let length = text[start..].match_indices('\n').find(|(at, _)| {
            text[start + at + 1..].chars().next().is_none_or(|c| c.is_ascii_lowercase() || c == '\n' || c == '#')
        });
        let message = &text[start..start + length.map_or(text.len() - start, |(at, _)| at)];
        message.split('$').skip(1).filter_map(|rest| rest.split([' ', '}']).next()).collect()
    }

    #[test]
    fn every_file_is_read_whole() {
        for language in PageLanguage::ALL {
            let read = FluentResource::try_new(source(language).to_owned());
            assert!(read.is_ok(), "{language:?}: {:?}", read.err().map(|(_, errors)| errors));
        }
    }

    #[test]
    fn every_language_has_the_same_keys_with_the_same_places() {
        assert_eq!(keys(PageLanguage::English), keys(PageLanguage::Romanian));
        for key in keys(PageLanguage::English) {
            assert_eq!(places(PageLanguage::English, key), places(PageLanguage::Romanian, key), "{key}");
        }
    }

    #[test]
    fn every_key_that_is_used_is_there_and_every_key_is_used() {
        const USERS: &[&str] = &[
            include_str!("../../templates/base.html"),
            include_str!("../../templates/form.html"),
            include_str!("../../templates/home.html"),
            include_str!("../../templates/results.html"),
            include_str!("../../templates/problem.html"),
            include_str!("../../templates/opensearch.xml"),
            include_str!("pages.rs"),
            include_str!("view.rs"),
            include_str!("problem.rs"),
            include_str!("static_files.rs"),
        ];
        let known = keys(PageLanguage::English);
        let mut used = BTreeSet::new();
        for text in USERS {
            for piece in text.split("say").skip(1) {
                let Some(call) = piece.strip_prefix("(").or_else(|| piece.strip_prefix("_with(")) else { continue };
                // A key that is put together elsewhere stands there as a text of its own.
                let Some((before, rest)) = call.split_once('"').filter(|(before, _)| !before.contains(['[', ')', '!']))
                else {
                    continue;
                };
                let key = rest.split('"').next().unwrap_or(before);
                assert!(known.contains(key), "{key:?} is used and has no text");
            }
            used.extend(known.iter().filter(|key| text.contains(&format!("\"{key}\""))));
        }
        let built = |key: &&&str| key.starts_with("problem-");
        let unused: Vec<_> = known.difference(&used).filter(|key| !built(key)).collect();
        assert!(unused.is_empty(), "texts that nothing shows: {unused:?}");
    }

    #[track_caller]
    fn check_count(language: PageLanguage, count: u64, wanted: &str) {
        let shown = number(language, count);
        let values = [("count", plural(language, count).into()), ("shown", shown.into())];
        let said = say_with(language, "results-count", &values);
        assert_eq!(said, wanted);
    }

    #[test]
    fn romanian_counts_in_three_forms() {
        let ro = PageLanguage::Romanian;
        check_count(ro, 1, "1 pagină găsită");
        check_count(ro, 2, "2 pagini găsite");
        check_count(ro, 19, "19 pagini găsite");
        check_count(ro, 20, "20 de pagini găsite");
        check_count(ro, 100, "100 de pagini găsite");
        check_count(ro, 101, "101 pagini găsite");
        check_count(ro, 119, "119 pagini găsite");
        check_count(ro, 120, "120 de pagini găsite");
        check_count(ro, 0, "0 pagini găsite");
        check_count(ro, 12_345, "12.345 de pagini găsite");
    }

    #[test]
    fn english_counts_in_two_forms() {
        let en = PageLanguage::English;
        check_count(en, 1, "1 page found");
        check_count(en, 2, "2 pages found");
        check_count(en, 0, "0 pages found");
        check_count(en, 1_234_567, "1,234,567 pages found");
    }
}
