//! What a person types, read by a small grammar of our own.
//!
//! ```text
//! word             pages with the word, or better with it
//! "some words"     pages with these words one after the other
//! -word, -"words"  pages without
//! intitle:word     the title has it; a phrase and a minus in front may be used too
//! site:example.com only pages of this domain and below it; several: of any of them
//! lang:ro          only pages in this language
//! ```
//!
//! There is no nesting and no operator between words, so nothing can be unbalanced but a quotation mark. What cannot be used is passed over and
//! told of; nothing that is typed is an error.
//!
//! Invariant: a query has at most [`MAX_QUERY_WORDS`] words, each with a folded form that is not empty, and its `typed` at most
//! [`MAX_QUERY_BYTES`] bytes.

#[cfg(test)]
mod tests;

use std::fmt;

use super::text::{self, WordAt};
use crate::language::Language;
use crate::url::PageUrl;

/// Longest query that is read, in bytes; what follows is passed over.
pub const MAX_QUERY_BYTES: usize = 256;
/// Most words of a query, those in phrases counted; what follows is passed over.
pub const MAX_QUERY_WORDS: usize = 16;

/// A query, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What was typed, as far as it was read.
    pub typed: String,
    /// Words and phrases that are looked for: a page has every phrase, and of the words at least one.
    pub wanted: Vec<Term>,
    /// Words and phrases that a page must not have.
    pub unwanted: Vec<Term>,
    /// Only pages whose host is one of these or lies below it; any page where there is none.
    pub hosts: Vec<String>,
    /// Only pages in this language.
    pub language: Option<Language>,
    /// What could not be used.
    pub passed_over: Vec<PassedOver>,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its words as they were typed: one is a word, more are a phrase.
    pub words: Vec<String>,
    /// Only where the title has it.
    pub place: TermPlace,
}

/// Where a term is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermPlace {
    /// Anywhere.
    Anywhere,
    /// In the title alone.
    Title,
}

/// A part of what was typed that was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassedOver {
    /// What is longer than a query may be.
    TooLong,
    /// Words beyond the most that are looked for.
    TooManyWords,
    /// A quotation mark without its partner: the words behind it are read as a phrase.
    OpenQuotation,
    /// `site:` with something that is no domain.
    NoDomain(String),
    /// `lang:` with something that is no language.
    NoLanguage(String),
    /// A second `lang:`.
    SecondLanguage(String),
    /// A minus before `site:` or `lang:`.
    MinusBefore(&'static str),
    /// `intitle:` without a word.
    NoTitleWord,
    /// Nothing to look for is left.
    NothingWanted,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "A query is read up to {MAX_QUERY_BYTES} bytes; the rest was left out."),
            Self::TooManyWords => write!(f, "Up to {MAX_QUERY_WORDS} words are looked for; the rest was left out."),
            Self::OpenQuotation => {
                write!(f, "A quotation mark was not closed; the words behind it were read as a phrase.")
            }
            Self::NoDomain(given) => {
                write!(f, "\"{given}\" is no domain; write one behind site:, such as site:example.com.")
            }
            Self::NoLanguage(given) => {
                write!(f, "\"{given}\" is no language; write one behind lang:, such as lang:ro.")
            }
            Self::SecondLanguage(given) => write!(f, "Pages in one language are shown; lang:{given} was left out."),
            Self::MinusBefore(operator) => write!(f, "A minus before {operator} is not known; it was left out."),
            Self::NoTitleWord => write!(f, "A word or phrase belongs behind intitle:."),
            Self::NothingWanted => write!(f, "There is no word to look for."),
        }
    }
}

/// What stands before a word or a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Plain,
    Site,
    Lang,
    InTitle,
}

impl Prefix {
    const NAMED: [(Self, &'static str); 3] =
        [(Self::Site, "site:"), (Self::Lang, "lang:"), (Self::InTitle, "intitle:")];

    /// The prefix that `text` begins with, and its length.
    fn of(text: &str) -> (Self, usize) {
        let begins = |name: &str| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        let named = Self::NAMED.into_iter().find(|(_, name)| begins(name));
        named.map_or((Self::Plain, 0), |(prefix, name)| (prefix, name.len()))
    }
}

/// Whether pages with a term are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Wanted,
    Unwanted,
}

impl Query {
    /// Reads what was typed.
    pub fn parse(typed: &str) -> Self {
        let mut query = Self::default();
        let read = query.cut(typed);
        query.typed = read.trim().to_owned();
        let mut rest = read;
        while let Some(piece) = query.next_piece(rest) {
            rest = piece.rest;
            query.take(piece);
        }
        if !query.can_be_asked() {
            query.pass_over(PassedOver::NothingWanted);
        }
        query
    }

    /// Whether there is anything to look for.
    pub fn can_be_asked(&self) -> bool {
        !self.wanted.is_empty() || !self.hosts.is_empty()
    }

    /// The wanted words outside of phrases and inside, in the order typed.
    pub fn wanted_words(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().flat_map(|term| term.words.iter().map(String::as_str))
    }

    /// What was not used, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.passed_over.iter().map(PassedOver::to_string).collect()
    }

    fn pass_over(&mut self, what: PassedOver) {
        if !self.passed_over.contains(&what) {
            self.passed_over.push(what);
        }
    }

    fn cut<'a>(&mut self, typed: &'a str) -> &'a str {
        if typed.len() <= MAX_QUERY_BYTES {
            return typed;
        }
        self.pass_over(PassedOver::TooLong);
        let end = (0..=MAX_QUERY_BYTES).rev().find(|at| typed.is_char_boundary(*at)).unwrap_or(0);
        // Half a word would be another word.
        let end = if typed[end..].starts_with(char::is_whitespace) {
            end
        } else {
            typed[..end].rfind(char::is_whitespace).unwrap_or(end)
        };
        &typed[..end]
    }

    fn next_piece<'a>(&mut self, text: &'a str) -> Option<Piece<'a>> {
        let text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(after) if !after.is_empty() && !after.starts_with(char::is_whitespace) => (Sign::Unwanted, after),
            Some(_) | None => (Sign::Wanted, text),
        };
        let (prefix, prefix_length) = Prefix::of(unsigned);
        let body = &unsigned[prefix_length..];
        if let Some(inside) = body.strip_prefix(is_quotation_mark) {
            let (inside, rest) = match inside.find(is_quotation_mark) {
                Some(end) => (&inside[..end], inside[end..].trim_start_matches(is_quotation_mark)),
                None => {
                    self.pass_over(PassedOver::OpenQuotation);
                    (inside, "")
                }
            };
            return Some(Piece { sign, prefix, body: inside, form: Form::Quoted, rest });
        }
        // A quotation mark in mid-word begins a phrase of its own.
        let end = body.find(|c: char| c.is_whitespace() || is_quotation_mark(c)).unwrap_or(body.len());
        Some(Piece { sign, prefix, body: &body[..end], form: Form::Bare, rest: &body[end..] })
    }

    fn take(&mut self, piece: Piece<'_>) {
        match (piece.prefix, piece.sign) {
            (Prefix::Site, Sign::Wanted) => self.take_site(piece.body),
            (Prefix::Lang, Sign::Wanted) => self.take_language(piece.body),
            (Prefix::Site, Sign::Unwanted) => self.pass_over(PassedOver::MinusBefore("site:")),
            (Prefix::Lang, Sign::Unwanted) => self.pass_over(PassedOver::MinusBefore("lang:")),
            (Prefix::InTitle, sign) => {
                if !self.take_words(piece.body, piece.form, sign, TermPlace::Title) {
                    self.pass_over(PassedOver::NoTitleWord);
                }
            }
            (Prefix::Plain, sign) => {
                self.take_words(piece.body, piece.form, sign, TermPlace::Anywhere);
            }
        }
    }

    fn take_site(&mut self, given: &str) {
        let bare = given.split_once("://").map_or(given, |(_, behind)| behind);
        let host = PageUrl::parse(&format!("http://{}/", bare.trim_end_matches('/')), None);
        match host {
            Ok(url) if !bare.is_empty() => {
                let host = url.host().trim_end_matches('.').to_owned();
                if !self.hosts.contains(&host) {
                    self.hosts.push(host);
                }
            }
            Ok(_) | Err(_) => self.pass_over(PassedOver::NoDomain(given.to_owned())),
        }
    }

    fn take_language(&mut self, given: &str) {
        match (Language::of_tag(given), self.language) {
            (None, _) => self.pass_over(PassedOver::NoLanguage(given.to_owned())),
            (Some(language), None) => self.language = Some(language),
            (Some(language), Some(known)) if language == known => {}
            (Some(_), Some(_)) => self.pass_over(PassedOver::SecondLanguage(given.to_owned())),
        }
    }

    /// Takes words in, as far as there is room; false where there is no word.
    fn take_words(&mut self, body: &str, form: Form, sign: Sign, place: TermPlace) -> bool {
        let mut words: Vec<String> = text::words(body)
            .filter(|word| !text::folded(word.text).is_empty())
            .map(|w: WordAt<'_>| w.text.to_owned())
            .collect();
        if words.is_empty() {
            return false;
        }
        let room = MAX_QUERY_WORDS.saturating_sub(self.num_words());
        if words.len() > room {
            self.pass_over(PassedOver::TooManyWords);
            words.truncate(room);
        }
        // Characters of a script without spaces mean something together; so do the parts of an unwanted word, and of one in the title.
        let together = form == Form::Quoted || sign == Sign::Unwanted || body.chars().any(text::stands_alone);
        let terms = if together { vec![words] } else { words.into_iter().map(|word| vec![word]).collect() };
        let taken = match sign {
            Sign::Wanted => &mut self.wanted,
            Sign::Unwanted => &mut self.unwanted,
        };
        for words in terms.into_iter().filter(|words| !words.is_empty()) {
            let term = Term { words, place };
            if !taken.iter().any(|known| known.is_same(&term)) {
                taken.push(term);
            }
        }
        true
    }

    fn num_words(&self) -> usize {
        self.wanted.iter().chain(&self.unwanted).map(|term| term.words.len()).sum()
    }
}

impl Term {
    /// The same words in another spelling of case and diacritics, in the same place.
    fn is_same(&self, other: &Self) -> bool {
        let fold = |term: &Self| term.words.iter().map(|word| text::folded(word)).collect::<Vec<_>>();
        self.place == other.place && fold(self) == fold(other)
    }
}

/// A piece of what was typed, up to the next space or quotation mark.
struct Piece<'a> {
    sign: Sign,
    prefix: Prefix,
    body: &'a str,
    form: Form,
    rest: &'a str,
}

/// Whether a piece stands in quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Bare,
    Quoted,
}

/// Phones type curly ones, and Romanian keyboards low ones.
fn is_quotation_mark(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}')
}
