//! Stems: what the forms of a word have in common, by language.
//!
//! A word gets the stem of its folded form and the folded stem of the form with diacritics, where they differ. So a query without diacritics
//! meets the first, and one with them both: neither finds less than the other, and a language whose rules look at diacritics is still
//! stemmed by all of its rules.

use frostem::{Algorithm, Stemmer};
use whatlang::Lang;

use super::{folded, lower};

/// A text shorter than this is not asked for its language, in characters: titles of a word or two are guessed wrong too often.
const MIN_DETECT_CHARS: usize = 24;
/// A longer text is asked by its beginning, in characters.
const MAX_DETECT_CHARS: usize = 600;

/// A language whose forms of words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StemLanguage(usize);

/// Tag, rules, and what detection calls it.
struct Known(&'static str, Algorithm, Option<Lang>);

/// The languages that tantivy stems. Norwegian is written in two standards under three tags.
const KNOWN: [Known; 20] = [
    Known("ar", Algorithm::Arabic, Some(Lang::Ara)),
    Known("da", Algorithm::Danish, Some(Lang::Dan)),
    Known("nl", Algorithm::Dutch, Some(Lang::Nld)),
    Known("en", Algorithm::English, Some(Lang::Eng)),
    Known("fi", Algorithm::Finnish, Some(Lang::Fin)),
    Known("fr", Algorithm::French, Some(Lang::Fra)),
    Known("de", Algorithm::German, Some(Lang::Deu)),
    Known("el", Algorithm::Greek, Some(Lang::Ell)),
    Known("hu", Algorithm::Hungarian, Some(Lang::Hun)),
    Known("it", Algorithm::Italian, Some(Lang::Ita)),
    Known("no", Algorithm::Norwegian, None),
    Known("nb", Algorithm::Norwegian, Some(Lang::Nob)),
    Known("nn", Algorithm::Norwegian, None),
    Known("pt", Algorithm::Portuguese, Some(Lang::Por)),
    Known("ro", Algorithm::Romanian, Some(Lang::Ron)),
    Known("ru", Algorithm::Russian, Some(Lang::Rus)),
    Known("es", Algorithm::Spanish, Some(Lang::Spa)),
    Known("sv", Algorithm::Swedish, Some(Lang::Swe)),
    Known("ta", Algorithm::Tamil, Some(Lang::Tam)),
    Known("tr", Algorithm::Turkish, Some(Lang::Tur)),
];

impl StemLanguage {
    /// All.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..KNOWN.len()).map(Self)
    }

    /// The language of a tag, by its first subtag; none where its forms are not known. `mo` is what Romanian was called in Moldova
    /// (RFC 5646 §2.2.1 has it as deprecated).
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
        let primary = if primary == "mo" { "ro" } else { primary.as_str() };
        KNOWN.iter().position(|known| known.0 == primary).map(Self)
    }

    /// Its tag.
    pub fn tag(self) -> &'static str {
        KNOWN[self.0].0
    }
}

/// The language a text is written in, as a tag of two letters, where that is beyond doubt and its forms are known.
pub fn detect(text: &str) -> Option<StemLanguage> {
    let beginning = match text.char_indices().nth(MAX_DETECT_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    if beginning.chars().count() < MIN_DETECT_CHARS {
        return None;
    }
    let info = whatlang::detect(beginning).filter(whatlang::Info::is_reliable)?;
    KNOWN.iter().position(|known| known.2 == Some(info.lang())).map(StemLanguage)
}

/// The stems of a word in a language: one or two, folded; the folded word itself where it has no other.
pub fn stems(word: &str, language: StemLanguage) -> Vec<String> {
    let stemmer = Stemmer::new(KNOWN[language.0].1);
    let plain = folded(word);
    let mut stems = vec![folded(&stemmer.stem(&plain))];
    if !word.is_ascii() {
        let marked = folded(&stemmer.stem(&as_the_rules_spell(&lower(word), language)));
        if !stems.contains(&marked) {
            stems.push(marked);
        }
    }
    stems.retain(|stem| !stem.is_empty());
    if stems.is_empty() {
        stems.push(plain);
    }
    stems
}

/// Snowball's Romanian is written with the comma below; the cedilla is what old keyboards and fonts had.
fn as_the_rules_spell(word: &str, language: StemLanguage) -> String {
    if KNOWN[language.0].1 == Algorithm::Romanian {
        word.replace('ş', "ș").replace('ţ', "ț")
    } else {
        word.to_owned()
    }
}
