//! How many attributes a tag has that is not over yet.
//!
//! The tokenizer compares each attribute of a tag with all before it and says nothing until the tag is over: fifty thousand of them take
//! seconds. So the text is followed here as WHATWG HTML's tag and attribute states do, for the count alone.
//!
//! Where a tag begins cannot be told from the text without building the tree: what stands in comments, scripts and titles looks like tags
//! and quotes too. It need not be. Text gives tokens as it is read and markup gives one where it ends, so that nothing is open where a
//! token has just come; and all markup begins with `<`. So pieces end behind each `<`, and [`OpenTag::read_to_token`] starts anew.
//!
//! Invariant: no text before a tag changes its count. Where the two readers differ (a NUL in a CDATA section), more is counted than is there.

/// Comparisons of names in the time in which the tree builder makes an element.
const COMPARISONS_PER_UNIT: usize = 128;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// Behind a `<`.
    TagOpen,
    /// Behind a `</`.
    EndTagOpen,
    /// In a comment, a doctype or a CDATA section: each ends with a token.
    WithoutAttributes,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

/// The tag that a text ends in, if it does.
#[derive(Debug, Default)]
pub(super) struct OpenTag {
    state: State,
    num_attributes: usize,
    num_new_comparisons: usize,
}

/// Units of work that so many attributes of a tag cost that is over.
pub(super) const fn units_of_whole_tag(num_attributes: usize) -> usize {
    num_attributes * num_attributes.saturating_sub(1) / 2 / COMPARISONS_PER_UNIT
}

impl OpenTag {
    /// Reads on in a text of which no token came; says how many units of work the attributes in it cost.
    pub(super) fn read(&mut self, text: &str) -> usize {
        for byte in text.bytes() {
            let next = self.state.after(byte);
            if next == State::TagOpen {
                self.num_attributes = 0;
            }
            if next == State::Name && self.state != State::Name {
                self.num_new_comparisons += self.num_attributes;
                self.num_attributes += 1;
            }
            self.state = next;
        }
        let units = self.num_new_comparisons / COMPARISONS_PER_UNIT;
        self.num_new_comparisons %= COMPARISONS_PER_UNIT;
        units
    }

    /// Passes a text of which a token came, and which has no `<` but at its end.
    pub(super) fn read_to_token(&mut self, text: &str) {
        *self = Self::default();
        if text.ends_with('<') {
            self.state = State::TagOpen;
        }
    }
}

impl State {
    fn after(self, byte: u8) -> Self {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C);
        match (self, byte) {
            (Self::WithoutAttributes, _) => self,
            (Self::Quoted(quote), _) => {
                if byte == quote {
                    Self::BeforeName
                } else {
                    self
                }
            }
            (Self::Outside | Self::TagOpen, b'<') => Self::TagOpen,
            (Self::Outside, _) => Self::Outside,
            (Self::TagOpen, b'/') => Self::EndTagOpen,
            (Self::TagOpen, b'!' | b'?') => Self::WithoutAttributes,
            (Self::TagOpen, _) => {
                if byte.is_ascii_alphabetic() {
                    Self::TagName
                } else {
                    Self::Outside
                }
            }
            (_, b'>') => Self::Outside,
            (Self::EndTagOpen, _) => {
                if byte.is_ascii_alphabetic() {
                    Self::TagName
                } else {
                    Self::WithoutAttributes
                }
            }
            (Self::TagName | Self::Name, b'/') => Self::BeforeName,
            (Self::TagName, _) if is_space => Self::BeforeName,
            (Self::TagName, _) => Self::TagName,
            (Self::BeforeName | Self::AfterName, b'/') => Self::BeforeName,
            (Self::BeforeName | Self::AfterName | Self::BeforeValue, _) if is_space => self,
            (Self::BeforeValue, b'"' | b'\'') => Self::Quoted(byte),
            (Self::BeforeValue, _) => Self::Unquoted,
            (Self::Unquoted | Self::Name, _) if is_space => {
                if self == Self::Name {
                    Self::AfterName
                } else {
                    Self::BeforeName
                }
            }
            (Self::Unquoted, _) => Self::Unquoted,
            (Self::Name | Self::AfterName, b'=') => Self::BeforeValue,
            (Self::BeforeName | Self::AfterName | Self::Name, _) => Self::Name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: usize) {
        let mut tag = OpenTag::default();
        tag.read(text);
        let num_attributes = if tag.state == State::Outside { 0 } else { tag.num_attributes };
        assert_eq!(num_attributes, wanted, "{text:?}, {:?}", tag.state);
    }

    #[test]
    fn attributes_are_counted_however_they_are_written() {
        for (text, wanted) in [
            ("<p a b c", 3),
            ("<p a=1 b='2' c=\"3\" d", 4),
            ("<p a=1 b = '2'c=\"3\"d", 4),
            ("<p/a/b/c", 3),
            ("<p a=x\" b=y' c", 3),
            ("<p a\" b' c", 3),
            ("<p a<b <c", 2),
            ("<p =a =b", 1),
            ("<p a  =  b\nc\td\u{c}e", 4),
            ("<p title=\"one two three", 1),
            ("<p title='a > b' x", 2),
            ("</p a b", 2),
            ("text <b><i x y>t</i> a < b <p z", 1),
            ("</><p a b", 2),
            ("<<p a b", 2),
            ("<p a b>", 0),
            ("no tag", 0),
            ("<!-- a b c", 0),
            ("<?x a b c", 0),
            ("</ a b c", 0),
            ("", 0),
        ] {
            check(text, wanted);
        }
    }

    #[test]
    fn cost_grows_with_the_square_of_the_attributes_and_not_with_the_length_of_a_value() {
        let mut tag = OpenTag::default();
        tag.read("<p");
        let first = tag.read(&" a".repeat(1000));
        let second = tag.read(&" a".repeat(1000));
        assert_eq!(first, units_of_whole_tag(1000));
        assert_eq!(first + second, units_of_whole_tag(2000));
        let mut tag = OpenTag::default();
        tag.read("<p x='");
        assert_eq!(tag.read(&"some words ".repeat(100_000)), 0);
    }

    #[test]
    fn count_goes_on_from_piece_to_piece_and_starts_anew_at_a_token() {
        let mut tag = OpenTag::default();
        tag.read("<p a b=\"c");
        tag.read(" d\" e f=");
        tag.read("'g");
        assert_eq!((tag.num_attributes, tag.state), (4, State::Quoted(b'\'')));
        tag.read_to_token("x' -->text<");
        tag.read("p a");
        assert_eq!((tag.num_attributes, tag.state), (1, State::Name));
        tag.read_to_token(">text");
        assert_eq!((tag.num_attributes, tag.state), (0, State::Outside));
    }
}
