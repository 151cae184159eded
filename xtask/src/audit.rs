//! Crawls practice webs of three hundred sites with every fault and every barrier, fifty of them at one address, for several seeds, with one
//! and with two threads; wants the auditor to find nothing, no barrier stored, and nothing lost that only looks like one.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use crate::command::{Built, capture};

/// Numbers of threads that sites live on.
const THREADS: [u32; 2] = [1, 2];

/// Which webs.
#[derive(Args)]
pub struct Options {
    /// The seeds of the practice webs, from the first to the last.
    #[arg(long, value_name = "FROM-TO", default_value = "1-5", value_parser = seeds)]
    seeds: (u64, u64),
    /// Sites of each.
    #[arg(long, value_name = "N", default_value_t = 300)]
    sites: u32,
    /// How many of them share one address.
    #[arg(long, value_name = "N", default_value_t = 50)]
    shared: u32,
}

fn seeds(typed: &str) -> Result<(u64, u64), String> {
    let (from, to) = typed.split_once('-').unwrap_or((typed, typed));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err("write a number, or two as in 1-5".to_owned()),
    }
}

/// What the example says of one crawl.
#[derive(Deserialize)]
struct Figures {
    sites: u64,
    requests: u64,
    waits: u64,
    honoured: u64,
    at_shared_address: u64,
    max_at_once_there: u64,
    barriers_asked: u64,
    barriers_stored: Vec<String>,
    look_alikes_asked: u64,
    look_alikes_lost: Vec<String>,
    violations: u64,
    told: Vec<String>,
}

impl Figures {
    fn row(&self, seed: u64, threads: u32) -> String {
        let Self { sites, requests, waits, honoured, at_shared_address, max_at_once_there, .. } = self;
        let Self { barriers_asked, look_alikes_asked, violations, .. } = self;
        let (stored, lost) = (self.barriers_stored.len(), self.look_alikes_lost.len());
        format!(
            "{seed:>4} {threads:>7} {sites:>6} {requests:>8} {waits:>6} {honoured:>8} {at_shared_address:>6} {max_at_once_there:>7} \
             {barriers_asked:>8} {stored:>6} {look_alikes_asked:>11} {lost:>4} {violations:>10}"
        )
    }

    /// The log begins behind the handshake: a site whose certificate is wrong is never in it.
    fn is_clean(&self, num_sites: u32) -> bool {
        self.violations == 0
            && self.sites + 1 >= num_sites.into()
            && self.barriers_stored.is_empty()
            && self.look_alikes_lost.is_empty()
            && self.barriers_asked > 0
            && self.look_alikes_asked > 0
    }
}

/// Runs all crawls and prints a table.
///
/// # Errors
/// The example does not build, a crawl does not come to its end or reaches too few sites, or the auditor found a violation.
pub fn run(options: &Options) -> Result<()> {
    let program = Built::with(&["--quiet", "--workspace", "--example", "audit"])?.executable("example", "audit")?;
    let mut num_bad = 0;
    println!("seed threads  sites requests  waits honoured shared at_once barriers stored look-alikes lost violations");
    for seed in options.seeds.0..=options.seeds.1 {
        for threads in THREADS {
            let numbers =
                [seed, threads.into(), options.sites.into(), options.shared.into()].map(|number| number.to_string());
            let said = capture(Command::new(&program).args(numbers))?;
            if !said.succeeded {
                bail!("the crawl of seed {seed} with {threads} threads failed: {}", said.stderr);
            }
            let figures: Figures =
                serde_json::from_str(&said.stdout).with_context(|| format!("the example said {:?}", said.stdout))?;
            println!("{}", figures.row(seed, threads));
            figures.told.iter().for_each(|violation| println!("    {violation}"));
            figures.barriers_stored.iter().for_each(|url| println!("    a barrier is stored: {url}"));
            figures.look_alikes_lost.iter().for_each(|url| println!("    taken for a barrier: {url}"));
            if !figures.is_clean(options.sites) {
                num_bad += 1;
            }
        }
    }
    if num_bad > 0 {
        bail!("audit: {num_bad} crawls had violations or reached too few sites");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_range() {
        assert_eq!(seeds("1-5"), Ok((1, 5)));
        assert_eq!(seeds("7"), Ok((7, 7)));
        assert!(seeds("5-1").is_err() && seeds("x").is_err() && seeds("1-").is_err());
    }
}
