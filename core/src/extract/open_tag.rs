//! How many attributes a tag has that is not over yet.
//!
//! The tokenizer compares each attribute of a tag with all before it and says nothing until the tag is over: fifty thousand of them take
//! seconds. So while a tag goes on and on, its text is followed here as WHATWG HTML's attribute states do, for the count alone. Where the
//! tag began is found by following the tags of the text before, so inside a script or a comment the count may be wrong; the tokenizer
//! then has tokens for each piece of a script, and in a comment only what looks like a tag without an end would be counted.

/// Comparisons of names in the time in which the tree builder makes an element.
const COMPARISONS_PER_UNIT: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    /// Behind a `<`.
    TagOpen,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

/// The tag that a text ends in, if it does.
#[derive(Debug)]
pub(super) struct OpenTag {
    state: State,
    num_attributes: usize,
}

impl OpenTag {
    /// The tag that is open at the end of `text`.
    pub(super) fn at_end_of(text: &str) -> Self {
        let mut tag = Self { state: State::Outside, num_attributes: 0 };
        tag.read(text);
        tag
    }

    /// Reads on; says how many units of work the attributes in this piece cost.
    pub(super) fn read(&mut self, text: &str) -> usize {
        let mut num_comparisons = 0;
        for byte in text.bytes() {
            let next = self.state.after(byte);
            match (self.state, next) {
                (State::Outside, State::TagOpen) => self.num_attributes = 0,
                (State::BeforeName | State::AfterName, State::Name) => {
                    num_comparisons += self.num_attributes;
                    self.num_attributes += 1;
                }
                _ => {}
            }
            self.state = next;
        }
        num_comparisons / COMPARISONS_PER_UNIT
    }
}

impl State {
    fn after(self, byte: u8) -> Self {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C);
        match (self, byte) {
            (Self::Quoted(quote), _) => {
                if byte == quote {
                    Self::BeforeName
                } else {
                    self
                }
            }
            (Self::Outside, b'<') => Self::TagOpen,
            (Self::Outside, _) => Self::Outside,
            (Self::TagOpen, b'<') => Self::TagOpen,
            (Self::TagOpen, _) => {
                if byte.is_ascii_alphabetic() || byte == b'/' {
                    Self::TagName
                } else {
                    Self::Outside
                }
            }
            (_, b'>') => Self::Outside,
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
        let tag = OpenTag::at_end_of(text);
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
            ("<p =a =b", 1),
            ("<p a  =  b\nc\td\u{c}e", 4),
            ("<p title=\"one two three", 1),
            ("<p title='a > b' x", 2),
            ("text <b><i x y>t</i> a < b <p z", 1),
            ("<p a b>", 0),
            ("no tag", 0),
            ("<!-- a b c", 0),
            ("", 0),
        ] {
            check(text, wanted);
        }
    }

    #[test]
    fn cost_grows_with_the_square_of_the_attributes_and_not_with_the_length_of_a_value() {
        let mut tag = OpenTag::at_end_of("<p");
        let first = tag.read(&" a".repeat(1000));
        let second = tag.read(&" a".repeat(1000));
        assert_eq!((first, second), (499_500 / COMPARISONS_PER_UNIT, 1_499_500 / COMPARISONS_PER_UNIT));
        let mut tag = OpenTag::at_end_of("<p x='");
        assert_eq!(tag.read(&"some words ".repeat(100_000)), 0);
    }

    #[test]
    fn count_goes_on_from_piece_to_piece() {
        let mut tag = OpenTag::at_end_of("<p a b=\"c");
        tag.read(" d\" e f=");
        tag.read("'g");
        assert_eq!((tag.num_attributes, tag.state), (4, State::Quoted(b'\'')));
    }
}
