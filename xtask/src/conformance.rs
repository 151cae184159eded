//! Runs the conformance example on every file of a folder of cases, and sums up.
//!
//! The cases are not part of this repository; the folder is an argument. A kind that the example's usage line does not name is a
//! failure. A case that it answers differently on purpose is shown with the reason that it gives, and is none.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{Built, capture};

/// A kind of cases, and the file it lies in.
struct Kind {
    name: &'static str,
    file: &'static str,
}

const fn kind(name: &'static str, file: &'static str) -> Kind {
    Kind { name, file }
}

/// All kinds that the cases' description knows.
const KINDS: [Kind; 9] = [
    kind("robots", "robots.jsonl"),
    kind("robots_extra", "robots_extra.jsonl"),
    kind("robots_status", "robots_status.jsonl"),
    kind("retry_after", "retry_after.jsonl"),
    kind("urls", "urls.jsonl"),
    kind("metadata", "metadata.jsonl"),
    kind("encoding", "encoding.jsonl"),
    kind("pages", "pages_expected.jsonl"),
    kind("sitemaps", "sitemaps.jsonl"),
];

/// What the runner says of a case that it answers differently on purpose, between its id and the reason.
const ON_PURPOSE: &str = ": differs on purpose: ";

/// What to run and how much must pass.
#[derive(Args)]
pub struct Options {
    /// The folder with the case files.
    #[arg(long, value_name = "DIR")]
    cases: PathBuf,
    /// The share of asserted lines, in percent, that each kind must pass.
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0)]
    bar: f64,
    /// Show the failed lines of each kind, not only the counts.
    #[arg(long)]
    verbose: bool,
}

/// What one kind came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tally {
    num_passed: u32,
    num_failed: u32,
    num_on_purpose: u32,
}

impl Tally {
    /// The share that passed, in percent. No case at all is no pass: a runner that reads nothing must not look perfect.
    fn percent(self) -> f64 {
        match self.num_passed + self.num_failed {
            0 => 0.0,
            all => 100.0 * f64::from(self.num_passed) / f64::from(all),
        }
    }
}

/// Runs all kinds and prints the table.
///
/// # Errors
/// The folder or a kind is missing, the example does not build, or a kind stays below the bar.
pub fn run(options: &Options) -> Result<()> {
    let cases =
        options.cases.canonicalize().with_context(|| format!("no folder of cases at {}", options.cases.display()))?;
    // The development build, with the features of the whole workspace: `cargo test --workspace` has made it already.
    let example =
        Built::with(&["--quiet", "--workspace", "--example", "conformance"])?.executable("example", "conformance")?;
    let usage = {
        let said = capture(&mut Command::new(&example))?;
        said.stdout + &said.stderr
    };
    let mut below = Vec::new();
    println!("{:<14} {:>7} {:>7} {:>11} {:>8}", "kind", "passed", "failed", "on purpose", "share");
    for kind in &KINDS {
        if !names_word(&usage, kind.name) {
            below.push(format!("{}: the runner does not know this kind", kind.name));
            continue;
        }
        match run_kind(&example, kind, &cases, options)? {
            Some(tally) => {
                println!(
                    "{:<14} {:>7} {:>7} {:>11} {:>6.1} %",
                    kind.name,
                    tally.num_passed,
                    tally.num_failed,
                    tally.num_on_purpose,
                    tally.percent()
                );
                if tally.percent() < options.bar {
                    below.push(format!("{}: {:.1} % is below {} %", kind.name, tally.percent(), options.bar));
                }
            }
            None => below.push(format!("{}: the runner ended without its counts", kind.name)),
        }
    }
    if !below.is_empty() {
        bail!("conformance: {}", below.join("; "));
    }
    Ok(())
}

fn run_kind(example: &Path, kind: &Kind, cases: &Path, options: &Options) -> Result<Option<Tally>> {
    let file = cases.join(kind.file);
    if !file.is_file() {
        bail!("{} is missing", file.display());
    }
    let said = capture(Command::new(example).arg(kind.name).arg(&file))?;
    let tally = tally_of(&said.stdout);
    if options.verbose || tally.is_none() {
        print!("{}", said.stdout);
        eprint!("{}", said.stderr);
    } else {
        // What differs on purpose is shown each time, so that nobody takes it for a pass.
        said.stdout.lines().filter(|line| line.contains(ON_PURPOSE)).for_each(|line| println!("{line}"));
    }
    Ok(tally)
}

/// The last line of the form `N passed, N failed` (more may follow after a comma), and how many cases were named as differing on purpose.
fn tally_of(output: &str) -> Option<Tally> {
    let on_purpose = output.lines().filter(|line| line.contains(ON_PURPOSE)).count();
    let num_on_purpose = u32::try_from(on_purpose).ok()?;
    output.lines().rev().find_map(|line| {
        let mut parts = line.trim().split(", ");
        let num_passed = parts.next()?.strip_suffix(" passed")?.parse().ok()?;
        let num_failed = parts.next()?.strip_suffix(" failed")?.parse().ok()?;
        Some(Tally { num_passed, num_failed, num_on_purpose })
    })
}

/// Whether a text holds this word whole: `robots` is not in `robots_extra`.
fn names_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_tally(output: &str, expected: Option<(u32, u32, u32)>) {
        let expected =
            expected.map(|(num_passed, num_failed, num_on_purpose)| Tally { num_passed, num_failed, num_on_purpose });
        assert_eq!(tally_of(output), expected, "{output:?}");
    }

    #[test]
    fn counts_are_read_from_the_last_line_that_has_them() {
        check_tally("FAILED a: wanted 1, got 2\n3 passed, 1 failed\n", Some((3, 1, 0)));
        check_tally("1 passed, 0 failed\n7 passed, 2 failed, 4 skipped\n\n", Some((7, 2, 0)));
        check_tally("  12 passed, 0 failed  ", Some((12, 0, 0)));
        check_tally("a: differs on purpose: wanted 1, got 2. R.\n1 on purpose\n3 passed, 0 failed\n", Some((3, 0, 1)));
        check_tally("error: no such file", None);
        check_tally("x passed, y failed", None);
        check_tally("", None);
    }

    #[test]
    fn a_run_without_cases_passes_no_bar() {
        let percent = |num_passed, num_failed| Tally { num_passed, num_failed, num_on_purpose: 1 }.percent();
        assert!(percent(0, 0) < 1.0);
        assert!((percent(9, 1) - 90.0).abs() < 1e-9);
    }

    #[test]
    fn a_kind_is_known_only_by_its_whole_name() {
        assert!(names_word("usage: conformance KIND FILE, KIND one of robots_extra, urls", "urls"));
        assert!(!names_word("KIND: robots_extra|urls", "robots"));
    }
}
