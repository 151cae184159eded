//! Times hostile input against plain text of the same kind and size, in the same run.
//!
//! Each reading happens in a process of its own, of `examples/bombs.rs`, which says what processor time and memory it took. Hostile and
//! plain take turns, and the median of several counts, so that what else the machine does falls on both.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{Built, capture};

/// How many times as long as plain text anything of its size may take.
const MAX_RATIO: f64 = 50.0;
/// The most memory that reading a mebibyte may take, in KiB.
const MAX_PEAK_KIB: u64 = 128 * 1024;

/// How often.
#[derive(Args)]
pub struct Options {
    /// Processes for each input; the median counts.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// What one reading took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    nanos: u64,
    peak_kib: u64,
}

/// Builds the example in release form, times all its inputs, and prints a table.
///
/// # Errors
/// The example does not build or fails, or an input costs too much.
pub fn run(options: &Options) -> Result<()> {
    let arguments = ["--quiet", "--release", "--example", "bombs"];
    let program = Built::with(&arguments)?.executable("example", "bombs")?;
    let list = said(&program, &[])?;
    let inputs: Vec<(&str, &str)> = list.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut too_costly = Vec::new();
    println!("{:<9} {:<32} {:>9} {:>9} {:>7} {:>10}", "kind", "a mebibyte of", "ms", "plain ms", "ratio", "peak MiB");
    for (kind, name) in inputs.iter().filter(|(_, name)| *name != "plain") {
        let (mut plain, mut hostile) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            plain.push(cost(&program, kind, "plain")?);
            hostile.push(cost(&program, kind, name)?);
        }
        let (plain, hostile) = (median(plain), median(hostile));
        let ratio = hostile.nanos as f64 / plain.nanos.max(1) as f64;
        let millis = |cost: Cost| cost.nanos as f64 / 1e6;
        let is_too_costly = ratio > MAX_RATIO || hostile.peak_kib > MAX_PEAK_KIB;
        println!(
            "{kind:<9} {name:<32} {:>9.2} {:>9.2} {ratio:>7.1} {:>10.1}{}",
            millis(hostile),
            millis(plain),
            hostile.peak_kib as f64 / 1024.0,
            if is_too_costly { "  TOO MUCH" } else { "" }
        );
        if is_too_costly {
            too_costly.push(format!("{kind} {name}"));
        }
    }
    if !too_costly.is_empty() {
        bail!(
            "bombs: {} cost more than {MAX_RATIO} times plain text, or more than {MAX_PEAK_KIB} KiB",
            too_costly.join(", ")
        );
    }
    println!("all within {MAX_RATIO} times plain text and {} MiB", MAX_PEAK_KIB / 1024);
    Ok(())
}

fn cost(program: &Path, kind: &str, name: &str) -> Result<Cost> {
    let said = said(program, &[kind, name])?;
    parse(&said).with_context(|| format!("bombs {kind} {name} said {said:?}"))
}

fn said(program: &Path, arguments: &[&str]) -> Result<String> {
    let said = capture(Command::new(program).args(arguments))?;
    if !said.succeeded {
        bail!("bombs {} failed: {}", arguments.join(" "), said.stderr);
    }
    Ok(said.stdout)
}

fn parse(said: &str) -> Option<Cost> {
    let (nanos, peak_kib) = said.trim().split_once(' ')?;
    Some(Cost { nanos: nanos.parse().ok()?, peak_kib: peak_kib.parse().ok()? })
}

/// The one in the middle by time, with the largest peak of all.
fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by_key(|cost| cost.nanos);
    let peak_kib = costs.iter().map(|cost| cost.peak_kib).max().unwrap_or(0);
    Cost { peak_kib, ..costs[costs.len() / 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_time_and_the_largest_peak() {
        let costs = [(9, 1), (1, 7), (5, 2)].map(|(nanos, peak_kib)| Cost { nanos, peak_kib });
        assert_eq!(median(costs.to_vec()), Cost { nanos: 5, peak_kib: 7 });
    }

    #[test]
    fn what_an_example_says_is_two_numbers() {
        assert_eq!(parse("12 3\n"), Some(Cost { nanos: 12, peak_kib: 3 }));
        assert_eq!(parse("12"), None);
    }
}
