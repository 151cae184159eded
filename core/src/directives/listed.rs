//! The old form: directives between commas, in metas and in X-Robots-Tag, where a robot's name and a colon may stand before them.

use super::{Directives, Valued, concerns_us, end_of};

/// What stands between directives. Authors write semicolons too, and the new form sets rules apart by them.
const SEPARATORS: [char; 2] = [',', ';'];

/// A date may hold up to two commas of its own (`Wednesday, Jul 3, 2013`).
const MAX_PIECES_PER_DATE: usize = 3;

impl Directives {
    /// Adds the content of a meta element.
    pub(super) fn add_content(&mut self, content: &str) {
        let pieces: Vec<&str> = content.split(SEPARATORS).collect();
        let mut at = 0;
        while at < pieces.len() {
            at += self.add_piece(&pieces[at..]);
        }
    }

    /// Adds a field. It may start with a robot's name; it then holds for that robot until another name or the end of the field.
    pub(super) fn add_listed(&mut self, value: &str, product_token: &str) {
        let mut pieces: Vec<&str> = value.split(SEPARATORS).collect();
        let mut is_for_us = true;
        let mut at = 0;
        while at < pieces.len() {
            if let Some((name, rest)) = robot_name(pieces[at]) {
                is_for_us = concerns_us(name, product_token);
                pieces[at] = rest;
            }
            at += if is_for_us { self.add_piece(&pieces[at..]) } else { 1 };
        }
    }

    /// Adds the directive at the front of `pieces` (what stood between separators) and says how many of them it took.
    fn add_piece(&mut self, pieces: &[&str]) -> usize {
        match Valued::split(pieces[0]) {
            Some((Valued::UnavailableAfter, value)) => {
                for taken in (1..=pieces.len().min(MAX_PIECES_PER_DATE)).rev() {
                    let date = std::iter::once(value).chain(pieces[1..taken].iter().copied()).collect::<Vec<_>>();
                    if let Some(moment) = end_of(&date.join(",")) {
                        self.add_end(moment);
                        return taken;
                    }
                }
            }
            Some((Valued::MaxSnippet, value)) => self.add_max_snippet(value),
            Some((Valued::Irrelevant, _)) => {}
            // Authors forget the commas; a word is a directive however it is set apart.
            None => pieces[0].split_whitespace().for_each(|word| self.add_word(word)),
        }
        1
    }
}

/// Splits a robot's name off a piece. A name is one word that begins like one and is no directive with a value; so the hour of a date
/// that could not be read hides nothing that follows it.
pub(super) fn robot_name(piece: &str) -> Option<(&str, &str)> {
    if Valued::split(piece).is_some() {
        return None;
    }
    let (name, rest) = piece.split_once(':')?;
    let name = name.trim().trim_matches(['"', '\'']);
    let begins_a_name = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '*' | '_'));
    let goes_on_as_one = !name.contains(|c: char| c.is_whitespace() || matches!(c, ';' | '='));
    (begins_a_name && goes_on_as_one).then_some((name, rest))
}
