//! What of a text is what was looked for: for showing it, for saying why a page is a result, and for ranking.
//!
//! Invariant: the marked pieces of a text, put together, are the text.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::MarkedText;
use super::text::{self, StemLanguage};

/// Longest snippet, in characters.
pub const MAX_SNIPPET_CHARS: usize = 300;
/// Longest title that is shown, in characters.
pub const MAX_TITLE_CHARS: usize = 160;
/// How much of a snippet stands before the first match where that lies far behind, in characters.
const LEAD_CHARS: usize = 60;

/// The words that are looked for, in the forms in which a page may have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordForms {
    /// Number of the word by folded form.
    exact: BTreeMap<String, usize>,
    /// Numbers of the words by stem.
    stems: BTreeMap<String, usize>,
    /// How many words are looked for.
    num_words: usize,
}

/// How a word of a text matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// Another form of the word.
    SameStem,
    /// The word itself.
    Exact,
}

/// A word of a text that matches one that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Number of the word among those that are looked for.
    pub word: usize,
    /// How many words of the text stand before it.
    pub position: usize,
    /// How near it is.
    pub closeness: Closeness,
    start: usize,
    end: usize,
}

impl WordForms {
    /// Takes a further word in: what it is itself, and the stems it may have. Forms that are known already stay with the earlier word.
    pub fn add(&mut self, exact: impl IntoIterator<Item = String>, stems: impl IntoIterator<Item = String>) {
        let number = self.num_words;
        self.num_words += 1;
        for form in exact {
            self.exact.entry(form).or_insert(number);
        }
        for stem in stems {
            self.stems.entry(stem).or_insert(number);
        }
    }

    /// How many words are looked for.
    pub fn len(&self) -> usize {
        self.num_words
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.num_words == 0
    }

    /// The words of a text that match. `language` is the text's.
    pub fn hits(&self, text: &str, language: Option<StemLanguage>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (position, word) in text::words(text).enumerate() {
            let folded = text::folded(word.text);
            let found = match self.exact.get(&folded) {
                Some(number) => Some((*number, Closeness::Exact)),
                None => self.stem_of(word.text, language).map(|number| (number, Closeness::SameStem)),
            };
            if let Some((word_number, closeness)) = found {
                hits.push(Hit { word: word_number, position, closeness, start: word.start, end: word.end });
            }
        }
        hits
    }

    fn stem_of(&self, word: &str, language: Option<StemLanguage>) -> Option<usize> {
        text::stems(word, language?).iter().find_map(|stem| self.stems.get(stem)).copied()
    }

    /// The text in pieces, those that match marked.
    pub fn marked(&self, text: &str, language: Option<StemLanguage>) -> Vec<MarkedText> {
        let mut pieces: Vec<MarkedText> = Vec::new();
        let mut done = 0;
        let mut push = |from: usize, to: usize, is_match: bool| {
            if from < to {
                pieces.push(MarkedText { text: text[from..to].to_owned(), is_match });
            }
        };
        for hit in self.hits(text, language) {
            push(done, hit.start, false);
            push(hit.start, hit.end, true);
            done = hit.end;
        }
        push(done, text.len(), false);
        pieces
    }

    /// The part of a long text that shows most, marked; cut ends are shown by an ellipsis.
    pub fn snippet(&self, text: &str, max_chars: usize, language: Option<StemLanguage>) -> Vec<MarkedText> {
        let num_chars = text.chars().count();
        if num_chars <= max_chars {
            return self.marked(text, language);
        }
        let first = self.hits(text, language).first().map_or(0, |hit| text[..hit.start].chars().count());
        let from = if first + LEAD_CHARS < max_chars {
            0
        } else {
            first.saturating_sub(LEAD_CHARS).min(num_chars - max_chars)
        };
        let at = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(at, _)| at);
        let (mut begin, mut end) = (at(from), at(from + max_chars));
        // A word is not cut where a space is near.
        if begin > 0 {
            begin += text[begin..end].find(char::is_whitespace).filter(|gap| *gap < LEAD_CHARS).unwrap_or(0);
        }
        if end < text.len() {
            end = text[begin..end].rfind(char::is_whitespace).filter(|gap| *gap > 0).map_or(end, |gap| begin + gap);
        }
        let mut pieces = self.marked(text[begin..end].trim(), language);
        let ellipsis = |text: &str| MarkedText { text: text.to_owned(), is_match: false };
        if begin > 0 {
            pieces.insert(0, ellipsis("… "));
        }
        if end < text.len() {
            pieces.push(ellipsis(" …"));
        }
        pieces
    }
}

/// How well the words of a query stand together in a text: 0 where fewer than two of them are in it, 1 where all stand side by side in
/// their order.
pub fn nearness(hits: &[Hit], num_words: usize) -> f32 {
    if num_words < 2 {
        return 0.0;
    }
    let mut best = 0.0_f32;
    for (at, hit) in hits.iter().enumerate() {
        // The words that follow in a window twice as long as the query, each counted once.
        let window = hits[at..].iter().take_while(|other| other.position < hit.position + 2 * num_words);
        let (mut seen, mut last, mut in_order) = (BTreeSet::new(), hit.position, 0_usize);
        let mut previous: Option<&Hit> = None;
        for other in window {
            if seen.insert(other.word) {
                in_order +=
                    usize::from(previous.is_some_and(|p| p.word + 1 == other.word && p.position + 1 == other.position));
                last = other.position;
                previous = Some(other);
            }
        }
        if seen.len() < 2 {
            continue;
        }
        let coverage = seen.len() as f32 / num_words as f32;
        let density = seen.len() as f32 / (last - hit.position + 1) as f32;
        let order = in_order as f32 / (num_words - 1) as f32;
        best = best.max(coverage * density * (0.5 + 0.5 * order));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(words: &[&str]) -> WordForms {
        let mut forms = WordForms::default();
        let ro = StemLanguage::of_tag("ro").unwrap();
        for word in words {
            forms.add([text::folded(word)], text::stems(word, ro));
        }
        forms
    }

    fn shown(pieces: &[MarkedText]) -> String {
        pieces.iter().map(|p| if p.is_match { format!("[{}]", p.text) } else { p.text.clone() }).collect()
    }

    #[track_caller]
    fn check(words: &[&str], text: &str, wanted: &str) {
        assert_eq!(shown(&forms(words).marked(text, StemLanguage::of_tag("ro"))), wanted, "{words:?} in {text:?}");
    }

    #[test]
    fn words_are_marked_as_the_text_has_them() {
        check(&["scoala"], "Școala nr. 5", "[Școala] nr. 5");
        check(&["școli"], "Lista şcolilor din oraș", "Lista [şcolilor] din oraș");
        check(&["script"], "<script>alert(1)</script>", "<[script]>alert(1)</[script]>");
        check(&["x"], "", "");
        check(&[], "nimic", "nimic");
    }

    #[test]
    fn a_long_text_is_shown_around_its_first_match_and_cut_between_words() {
        let text = format!("{} ținta {}", "cuvinte multe ".repeat(40), "alte cuvinte ".repeat(40));
        let snippet = forms(&["ținta"]).snippet(&text, 120, None);
        let line = shown(&snippet);
        assert!(line.starts_with("… ") && line.ends_with(" …") && line.contains("[ținta]"), "{line}");
        assert!(line.chars().count() <= 126, "{line}");
        assert_eq!(shown(&forms(&["x"]).snippet("scurt", 120, None)), "scurt");
        assert!(shown(&forms(&["x"]).snippet(&"ț".repeat(500), 120, None)).chars().count() <= 124);
    }

    #[test]
    fn words_side_by_side_in_order_are_nearest() {
        let near = |text: &str| {
            let forms = forms(&["new", "york", "city"]);
            nearness(&forms.hits(text, None), forms.len())
        };
        let texts = ["new york city", "york new city", "new york", "new other york other city", "new", ""];
        let values: Vec<f32> = texts.iter().map(|text| near(text)).collect();
        assert!((values[0] - 1.0).abs() < 1e-6, "{values:?}");
        assert!(values.is_sorted_by(|one, next| one >= next), "{values:?}");
        assert!(values[4] == 0.0 && values[3] > 0.0, "{values:?}");
    }

    proptest::proptest! {
        #[test]
        fn marked_pieces_make_the_text(text in "\\PC{0,60}", word in "[a-zșț]{1,4}") {
            let pieces = forms(&[&word]).marked(&text, StemLanguage::of_tag("en"));
            proptest::prop_assert_eq!(pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), text);
        }

        #[test]
        fn a_snippet_is_never_much_longer_than_asked(text in "\\PC{0,400}", max in 61usize..200) {
            let length: usize = forms(&["a"]).snippet(&text, max, None).iter().map(|p| p.text.chars().count()).sum();
            proptest::prop_assert!(length <= max + 4);
        }
    }
}
