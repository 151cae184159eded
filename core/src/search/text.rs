//! Words: how a text is taken apart, when two words are the same, and what they have in common with their other forms.
//!
//! A word is a run of letters and digits; scripts that write without spaces are taken apart into their characters, so that a phrase of
//! characters stands for a word. Words are compared by their folded form: lower case, without the marks of Latin, Greek, Cyrillic, Hebrew and
//! Arabic letters, so `Școală`, `şcoală` and `scoala` are one. Marks that are letters of their own, as in Devanagari, stay.
//!
//! What this deliberately does not do: stop words. `to be or not to be` is a query.
//!
//! Invariant: folding a folded word changes nothing, and no folded word is longer than [`MAX_WORD_CHARS`] characters.

mod stems;
#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub use self::stems::{StemLanguage, detect, stems};

/// Longest word that is compared, in characters; what follows is left out of it.
pub const MAX_WORD_CHARS: usize = 48;

/// A word where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordAt<'a> {
    /// The word as it is written.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = WordAt<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let begin = from + text[from..].find(char::is_alphanumeric)?;
        let rest = &text[begin..];
        let first = rest.chars().next()?;
        let length = if stands_alone(first) {
            let behind = &rest[first.len_utf8()..];
            first.len_utf8() + behind.find(|c| !is_combining_mark(c)).unwrap_or(behind.len())
        } else {
            rest.find(|c: char| !is_inside_word(c) || stands_alone(c)).unwrap_or(rest.len())
        };
        from = begin + length;
        Some(WordAt { text: &text[begin..from], start: begin, end: from })
    })
}

fn is_inside_word(c: char) -> bool {
    // The zero-width joiner and non-joiner shape letters inside words (UAX #29 §4); the soft hyphen is invisible in them.
    c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// Scripts that write words without spaces: each character is taken as a word.
pub(super) fn stands_alone(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Marks that only colour a letter.
fn is_dropped_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}'
        | '\u{5c4}' | '\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// The form in which words are compared; empty for what has no letter or digit of its own.
pub fn folded(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return word.chars().take(MAX_WORD_CHARS).map(|c| c.to_ascii_lowercase()).collect();
    }
    let plain = word.chars().take(MAX_WORD_CHARS).nfkd().flat_map(char::to_lowercase);
    // What NFKD makes of a letter may hold spaces and strokes: U+FDFA, the fraction of one half.
    let letters = plain.filter(|c| !is_dropped_mark(*c) && (c.is_alphanumeric() || is_combining_mark(*c)));
    let mut kept = String::with_capacity(word.len());
    for c in letters {
        match letters_for(c) {
            Some(letters) => kept.push_str(letters),
            None => kept.push(c),
        }
    }
    // NFKD takes Hangul syllables apart; NFC puts them together again.
    kept.nfc().take(MAX_WORD_CHARS).collect()
}

/// Letters that Unicode does not take apart, as people type them who have no key for them.
fn letters_for(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ŋ' => "n",
        'þ' => "th",
        'ŧ' => "t",
        'ς' => "σ",
        _ => return None,
    })
}

/// Lower case in its composed form, marks kept, in the letters that the stemmers know.
fn lower(word: &str) -> String {
    word.chars().take(MAX_WORD_CHARS).flat_map(char::to_lowercase).nfc().collect()
}
