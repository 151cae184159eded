//! Runs the fuzz targets, each for a while, and sums up.
//!
//! The targets lie in `fuzz/`, a workspace of its own. The toolchain is stable: coverage instrumentation needs `RUSTC_BOOTSTRAP=1`, and
//! there is no sanitizer, since none of the code under test is unsafe. What a run finds worth keeping stays in `fuzz/corpus` and the next
//! one starts from it; an input that fails is left in `fuzz/artifacts`, and its fault gets a test of its own.

mod seeds;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use tempfile::TempDir;

use crate::command::{self, Captured};
use crate::tools;

/// The version that the targets' manifest is written for.
const CARGO_FUZZ_VERSION: &str = "0.13.2";

/// The longest that one input may take, in seconds; the largest take some tens of milliseconds.
const INPUT_TIMEOUT_SECONDS: u32 = 10;

/// Memory of one target, in MiB.
const MAX_MEMORY_MIB: u32 = 1024;

/// Lines of a failed run that are shown.
const MAX_SHOWN_LINES: usize = 60;

/// A target and the longest input that is tried on it, in bytes: long enough for its rules to meet each other, short enough for
/// thousands of inputs a second.
struct Target {
    name: &'static str,
    max_input_bytes: usize,
}

const TARGETS: [Target; 6] = [
    Target { name: "robots", max_input_bytes: 4096 },
    Target { name: "url", max_input_bytes: 1024 },
    Target { name: "extract", max_input_bytes: 8192 },
    Target { name: "sitemap", max_input_bytes: 8192 },
    Target { name: "retry_after", max_input_bytes: 512 },
    Target { name: "directives", max_input_bytes: 1024 },
];

/// What to run and for how long.
#[derive(Args)]
pub struct Options {
    /// How long each target runs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u32,
    /// One target alone.
    #[arg(long, value_name = "NAME", value_parser = TARGETS.map(|target| target.name))]
    target: Option<String>,
    /// A folder of case files whose inputs the runs start from.
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
}

/// Builds the targets, runs them one after the other, and prints a table.
///
/// # Errors
/// A target does not build, or an input made one fail.
pub fn run(options: &Options) -> Result<()> {
    let cargo_fuzz = tools::installed("cargo-fuzz", CARGO_FUZZ_VERSION)?;
    let targets = TARGETS.iter().filter(|target| options.target.as_deref().is_none_or(|name| name == target.name));
    let seeds = TempDir::new().context("cannot make a folder for the seeds")?;
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    for target in targets {
        command::run(fuzz(&cargo_fuzz, "build").args(["--sanitizer", "none", target.name]))?;
        let seeds = seeds.path().join(target.name);
        let num_seeds = match &options.cases {
            Some(cases) => seeds::write(target.name, cases, &seeds)?,
            None => 0,
        };
        println!("    {} from {num_seeds} seeds, {} s", target.name, options.seconds);
        let said = run_target(&cargo_fuzz, target, (num_seeds > 0).then_some(&*seeds), options.seconds)?;
        let outcome = if said.succeeded { "nothing found" } else { "FAILED" };
        if !said.succeeded {
            failed.push(target.name);
            print_tail(&said);
        }
        rows.push(format!("{:<12} {:>8} {} {outcome}", target.name, num_seeds, Figures::of(&said.stderr)));
    }
    println!("{:<12} {:>8} {:>12} {:>9} {:>8}", "target", "seeds", "inputs", "coverage", "corpus");
    rows.iter().for_each(|row| println!("{row}"));
    if !failed.is_empty() {
        bail!("fuzz: {} failed; the inputs are in fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

/// cargo-fuzz with a subcommand, as a cargo subcommand is called.
fn fuzz(cargo_fuzz: &Path, subcommand: &str) -> Command {
    let mut command = Command::new(cargo_fuzz);
    command.args(["fuzz", subcommand]).current_dir(command::workspace_root());
    // The instrumented build must not meet the plain one.
    command.env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_TARGET_DIR");
    command
}

fn run_target(cargo_fuzz: &Path, target: &Target, seeds: Option<&Path>, seconds: u32) -> Result<Captured> {
    let fuzz_folder = command::workspace_root().join("fuzz");
    let corpus = fuzz_folder.join("corpus").join(target.name);
    std::fs::create_dir_all(&corpus).with_context(|| format!("cannot make {}", corpus.display()))?;
    let dictionary = fuzz_folder.join("dictionaries").join(format!("{}.dict", target.name));
    let mut command = fuzz(cargo_fuzz, "run");
    // What is found goes to the first folder; the seeds are only read.
    command.args(["--sanitizer", "none", target.name]).arg(corpus).args(seeds).arg("--");
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-max_len={}", target.max_input_bytes));
    command.arg(format!("-dict={}", dictionary.display()));
    command.arg(format!("-timeout={INPUT_TIMEOUT_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MAX_MEMORY_MIB}"));
    command.arg("-print_final_stats=1");
    command::capture(&mut command)
}

fn print_tail(said: &Captured) {
    let lines: Vec<&str> = said.stderr.lines().collect();
    lines[lines.len().saturating_sub(MAX_SHOWN_LINES)..].iter().for_each(|line| println!("    {line}"));
}

/// What libFuzzer says at its end; empty where it said nothing.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    num_inputs: String,
    coverage: String,
    corpus: String,
}

impl Figures {
    fn of(output: &str) -> Self {
        let mut figures = Self::default();
        for line in output.lines() {
            if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
                figures.num_inputs = number.trim().to_owned();
            }
            // `#4711 NEW cov: 12 ft: 34 corp: 5/678b ..`
            let mut words = line.split_whitespace();
            while let Some(word) = words.next() {
                match word {
                    "cov:" => figures.coverage = words.next().unwrap_or_default().to_owned(),
                    "corp:" => {
                        let corpus = words.next().unwrap_or_default();
                        figures.corpus = corpus.split('/').next().unwrap_or_default().to_owned();
                    }
                    _ => {}
                }
            }
        }
        figures
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>12} {:>9} {:>8} ", self.num_inputs, self.coverage, self.corpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_last_that_were_said() {
        let output = "INFO: seed corpus: files: 9\n#2\tINITED cov: 10 ft: 20 corp: 1/1b exec/s: 0\n\
                      #99\tDONE   cov: 12 ft: 34 corp: 5/678b lim: 4 exec/s: 9\nDone 99 runs in 1 second(s)\n\
                      stat::number_of_executed_units: 99\n";
        let wanted = Figures { num_inputs: "99".into(), coverage: "12".into(), corpus: "5".into() };
        assert_eq!(Figures::of(output), wanted);
        assert_eq!(Figures::of(""), Figures::default());
    }

    #[test]
    fn every_target_has_its_source_and_its_dictionary() {
        let fuzz_folder = command::workspace_root().join("fuzz");
        let manifest = std::fs::read_to_string(fuzz_folder.join("Cargo.toml")).unwrap();
        for target in &TARGETS {
            assert!(fuzz_folder.join(format!("fuzz_targets/{}.rs", target.name)).is_file(), "{}", target.name);
            assert!(fuzz_folder.join(format!("dictionaries/{}.dict", target.name)).is_file(), "{}", target.name);
            assert!(manifest.contains(&format!("name = \"{}\"", target.name)), "{}", target.name);
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
