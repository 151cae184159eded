//! Strangers' texts, made fit to be shown: no control characters, no marks that turn the direction of what follows, no length
//! that fills the screen.
//!
//! Escaping is the templates' business: what comes out of here is still plain text.

use lohisoftbot_core::search::MarkedText;

/// Characters of a title that are shown.
pub(super) const MAX_TITLE_CHARS: usize = 160;
/// Characters of a snippet that are shown.
pub(super) const MAX_SNIPPET_CHARS: usize = 320;
/// Characters of an address that are shown.
pub(super) const MAX_ADDRESS_CHARS: usize = 100;
/// Characters of any other text of a stranger: a correction, a suggestion, a note.
pub(super) const MAX_PHRASE_CHARS: usize = 256;

/// What stands where a text was cut.
const CUT: char = '…';

/// A piece of a text as a template shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) is_match: bool,
}

/// The text without what is not to be shown, cut after `max_chars` characters.
pub(super) fn shown(text: &str, max_chars: usize) -> String {
    let mut left = max_chars;
    let (mut shown, is_whole) = take(text, &mut left);
    if !is_whole {
        cut(&mut shown);
    }
    shown.trim().to_owned()
}

/// The same over pieces, the marked ones still marked.
pub(super) fn shown_pieces(pieces: &[MarkedText], max_chars: usize) -> Vec<Piece> {
    let mut left = max_chars;
    let mut shown: Vec<Piece> = Vec::new();
    for piece in pieces {
        let (mut text, is_whole) = take(&piece.text, &mut left);
        if !is_whole {
            cut(&mut text);
        }
        if !text.is_empty() {
            shown.push(Piece { text, is_match: piece.is_match });
        }
        if !is_whole {
            break;
        }
    }
    if shown.iter().all(|piece| piece.text.trim().is_empty()) { Vec::new() } else { shown }
}

/// Takes characters while there are some `left`; says whether that was all of the text.
fn take(text: &str, left: &mut usize) -> (String, bool) {
    let mut taken = String::new();
    for c in text.chars().filter_map(seen) {
        if *left == 0 {
            return (taken, false);
        }
        taken.push(c);
        *left -= 1;
    }
    (taken, true)
}

fn cut(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push(CUT);
}

/// The character as it is shown, if it is.
fn seen(c: char) -> Option<char> {
    match c {
        // Directional marks, embeddings, overrides and isolates (UAX #9 §2), and what is invisible wherever it stands.
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => None,
        '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => Some(' '),
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, max_chars: usize, wanted: &str) {
        assert_eq!(shown(text, max_chars), wanted, "{text:?}");
    }

    fn piece(text: &str, is_match: bool) -> MarkedText {
        MarkedText { text: text.to_owned(), is_match }
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        check("abc", 3, "abc");
        check("abcd", 3, "abc…");
        check("ab cd", 3, "ab…");
        check("țțțț", 2, "țț…");
        check(&"👍".repeat(10_000), 2, "👍👍…");
        check("", 0, "");
    }

    #[test]
    fn marks_of_direction_and_controls_are_not_shown() {
        check("a\u{202e}txt.exe\u{202c}", 99, "atxt.exe");
        check("\u{2067}a\u{2069}\u{200f}b\u{061c}", 99, "ab");
        check("a\0b\u{1b}[31m\r\nc\u{85}d", 99, "a b [31m  c d");
        check("\u{feff}a\u{200b}b", 99, "ab");
        check("עברית <script>", 99, "עברית <script>");
    }

    #[test]
    fn marked_pieces_stay_marked_up_to_the_cut() {
        let shown = shown_pieces(&[piece("one ", false), piece("two", true), piece(" three", false)], 9);
        let wanted = [("one ", false), ("two", true), (" t…", false)];
        assert_eq!(shown, wanted.map(|(text, is_match)| Piece { text: text.to_owned(), is_match }));
    }

    #[test]
    fn text_of_nothing_visible_is_no_text() {
        assert!(shown_pieces(&[piece("\u{202e} \u{200b}", true), piece("\n", false)], 9).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_comes_in_what_is_shown_is_short_and_free_of_controls(text in any::<String>(), max in 0_usize..40) {
            let shown = shown(&text, max);
            prop_assert!(shown.chars().count() <= max + 1);
            let is_bad = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
            prop_assert!(!shown.chars().any(is_bad));
        }
    }
}
