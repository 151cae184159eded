//! The form of Robots-Tag (draft-illyes-repext §3.1.1): a dictionary as in RFC 9651 whose keys are product tokens and whose parameters
//! are rules, `*;noindex;nosnippet, ExampleBot;max-snippet=0`.
//!
//! The draft's own example is no dictionary by the RFC (`*` without a value, a bare `;` at the end), so a strict parser would lose what
//! it says. This one takes members apart at commas and semicolons outside of strings and lists, and takes rules from wherever the form
//! can hold them: parameters, an inner list (`*=(noindex nosnippet)`), a string or token (`*="noindex"`), or in place of a key, where they hold for all.
//!
//! A field may mix both forms. What only the old one has is left to it: a directive with a value in place of a key, since a date may hold
//! commas, and every word without a key in a field that names a robot before a colon, since it may be that robot's.
//!
//! Invariants: time is linear in the value; a member for another robot never adds anything.

use super::listed::robot_name;
use super::{Directives, Valued, concerns_us, end_of, unquoted};

/// Words that in place of a key are rules without a name before them, not names of robots.
const RULE_WORDS: [&str; 18] = [
    "noindex",
    "nofollow",
    "none",
    "noarchive",
    "nosnippet",
    "all",
    "index",
    "follow",
    "archive",
    "snippet",
    "nocache",
    "noimageindex",
    "noimageai",
    "noai",
    "notranslate",
    "noodp",
    "noydir",
    "nositelinkssearchbox",
];

/// Whether a field of either name holds something in the old form: a robot's name before a colon, which the new form has in strings
/// alone, or a directive with a value where a robot's name should be.
pub(super) fn is_listed(value: &str) -> bool {
    names_a_robot(value) || Pieces::at(value, ',').any(|member| Valued::split(member).is_some())
}

/// Whether a robot's name stands before a colon somewhere: what follows without a name of its own may be for that robot alone.
fn names_a_robot(value: &str) -> bool {
    Pieces::at(value, ',').any(|member| robot_name(member).is_some())
}

impl Directives {
    /// Adds a field, but for what only the old form has.
    pub(super) fn add_structured(&mut self, value: &str, product_token: &str) {
        let names_a_robot = names_a_robot(value);
        for member in Pieces::at(value, ',') {
            let mut parts = Pieces::at(member, ';');
            let item = parts.next().unwrap_or_default().trim();
            let (key, rules) = item.split_once('=').unwrap_or((item, ""));
            let key = key.trim().trim_matches(['"', '\'']);
            if Valued::split(item).is_some() || (names_a_robot && !concerns_us(key, product_token)) {
                continue;
            }
            let is_rule = RULE_WORDS.iter().any(|word| word.eq_ignore_ascii_case(key));
            if is_rule || key.contains(char::is_whitespace) {
                self.add_rule(item);
            } else if !key.is_empty() && !concerns_us(key, product_token) {
                continue;
            }
            if !is_rule {
                words_of(rules).for_each(|rule| self.add_rule(rule));
            }
            parts.for_each(|rule| self.add_rule(rule));
        }
    }

    /// Adds `name` or `name=value`.
    fn add_rule(&mut self, rule: &str) {
        match Valued::split(rule) {
            Some((Valued::UnavailableAfter, value)) => {
                if let Some(moment) = end_of(value) {
                    self.add_end(moment);
                }
            }
            Some((Valued::MaxSnippet, value)) => self.add_max_snippet(value),
            Some((Valued::Irrelevant, _)) => {}
            None => {
                let (names, value) = rule.split_once('=').unwrap_or((rule, ""));
                // RFC 9651 §3.3.6: `?0` is false; a parameter without a value is true (§3.1.2).
                if value.trim() != "?0" {
                    names.split(char::is_whitespace).for_each(|word| self.add_word(word));
                }
            }
        }
    }
}

/// The words of an inner list, a string or a token.
fn words_of(rules: &str) -> impl Iterator<Item = &str> {
    unquoted(rules.trim().trim_matches(['(', ')'])).split([' ', '\t', ',', ';'])
}

/// What stands between separators that are in no string and in no inner list. Where quotes or brackets do not match, separators count
/// everywhere: half a string hides no rule.
struct Pieces<'a> {
    rest: Option<&'a str>,
    separator: char,
    is_balanced: bool,
}

impl<'a> Pieces<'a> {
    fn at(value: &'a str, separator: char) -> Self {
        let mut nesting = Nesting::default();
        value.chars().for_each(|c| nesting.pass(c));
        Self { rest: Some(value), separator, is_balanced: nesting.is_outside() }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let mut nesting = Nesting::default();
        let end = rest.find(|c| {
            if self.is_balanced {
                nesting.pass(c);
            }
            c == self.separator && nesting.is_outside()
        });
        let (piece, after) = match end {
            Some(end) => (&rest[..end], Some(&rest[end + self.separator.len_utf8()..])),
            None => (rest, None),
        };
        self.rest = after;
        Some(piece)
    }
}

/// Where a reader stands after some characters.
#[derive(Default)]
struct Nesting {
    in_string: bool,
    in_list: bool,
    is_escaped: bool,
}

impl Nesting {
    fn pass(&mut self, c: char) {
        match c {
            _ if self.is_escaped => self.is_escaped = false,
            '\\' if self.in_string => self.is_escaped = true,
            '"' => self.in_string = !self.in_string,
            // Inner lists hold no lists (RFC 9651 §3.1.1).
            '(' if !self.in_string => self.in_list = true,
            ')' if !self.in_string => self.in_list = false,
            _ => {}
        }
    }

    fn is_outside(&self) -> bool {
        !self.in_string && !self.in_list
    }
}
