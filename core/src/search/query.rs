//! The grammar of queries.

use crate::language::Language;

/// A query that can be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What a page must have, or better has.
    pub wanted: Vec<Term>,
    /// What a page must not have.
    pub unwanted: Vec<Term>,
    /// Only pages of hosts that end so.
    pub sites: Vec<String>,
    /// Only pages of this language.
    pub language: Option<Language>,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its words as they were typed: one is a word, more are a phrase.
    pub words: Vec<String>,
    /// Only where the title has it.
    pub in_title: bool,
}

/// What was typed, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The query.
    pub query: Query,
    /// What could not be used, and why: a sentence each.
    pub passed_over: Vec<String>,
}

impl Query {
    /// Reads what was typed.
    pub fn parse(_typed: &str) -> ParsedQuery {
        ParsedQuery::default()
    }
}
