//! The list of mutants that no test can catch, each with the reason.
//!
//! An entry is three lines: the mutant as cargo-mutants names it, without line and column; `at:` and a part of the mutated source line; and
//! `because:` and the reason. So it outlives edits elsewhere in the file, and explains no mutant of another line.

use std::path::Path;

use anyhow::{Context, Result, bail};

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    title: String,
    at: String,
}

/// The list.
#[derive(Debug, PartialEq, Eq)]
pub struct Explained(Vec<Entry>);

impl Explained {
    /// # Errors
    /// The file cannot be read, or an entry is not of the form.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut entries = Vec::new();
        while let Some(title) = lines.next() {
            let at = lines.next().and_then(|line| line.strip_prefix("at: "));
            let because = lines.next().and_then(|line| line.strip_prefix("because: "));
            let (Some(at), Some(_)) = (at, because) else {
                bail!("`{title}` needs a line `at: ..` and a line `because: ..`");
            };
            entries.push(Entry { title: title.to_owned(), at: at.to_owned() });
        }
        Ok(Self(entries))
    }

    /// The mutants that are explained.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| &*entry.title)
    }

    /// Whether an entry is about this mutant; `source_line` gives a line of a file by its number from 1.
    pub fn explains(&self, mutant: &str, source_line: impl Fn(&str, usize) -> Option<String>) -> bool {
        let title = without_place(mutant);
        let mut words = mutant.splitn(3, ':');
        let (Some(file), Some(Ok(number))) = (words.next(), words.next().map(str::parse)) else { return false };
        let Some(line) = source_line(file, number) else { return false };
        self.0.iter().any(|entry| entry.title == title && line.contains(&entry.at))
    }
}

/// `core/src/a.rs:7:5: replace f with ()` without the line and the column.
pub fn without_place(mutant: &str) -> String {
    match mutant.splitn(4, ':').collect::<Vec<_>>()[..] {
        [file, _line, _column, what] => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Why.\n\na.rs: replace < with <= in f\n    at: if x < 3\n    because: x is never 3.\n";

    #[track_caller]
    fn check(mutant: &str, line: &str, wanted: bool) {
        let explained = Explained::parse(LIST).unwrap();
        assert_eq!(explained.explains(mutant, |_, _| Some(line.to_owned())), wanted, "{mutant}");
    }

    #[test]
    fn mutant_is_explained_by_its_name_and_its_source_line() {
        check("a.rs:7:5: replace < with <= in f", "    if x < 3 {", true);
        check("a.rs:99:1: replace < with <= in f", "    if x < 3 {", true);
        check("a.rs:7:5: replace < with <= in f", "    if y < 3 {", false);
        check("a.rs:7:5: replace < with > in f", "    if x < 3 {", false);
        check("b.rs:7:5: replace < with <= in f", "    if x < 3 {", false);
        check("nonsense", "", false);
    }

    #[test]
    fn name_of_a_path_keeps_its_own_colons() {
        assert_eq!(without_place("a.rs:7:5: replace A::b -> C with D::e()"), "a.rs: replace A::b -> C with D::e()");
    }

    #[test]
    fn entry_without_a_reason_is_refused() {
        assert!(Explained::parse("a.rs: replace < with <= in f\nat: x\n").is_err());
        assert!(Explained::parse("a.rs: x\nbecause: y\nat: x\n").is_err());
    }

    #[test]
    fn list_of_the_house_can_be_read() {
        Explained::read(&crate::command::workspace_root().join("core/mutants-explained.txt")).unwrap();
    }
}
