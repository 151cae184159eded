//! Mutation testing of the rules that keep the promises: each small change to their code must make a test fail.
//!
//! cargo-mutants does it, on a copy of the tree: all of them with the unit tests of `core`, and what survives those with a simulation that
//! is cut to seconds. What was caught is remembered in `target/mutants`, so that a run that was ended goes on where it was, and one after a
//! fix tries the survivors alone. A survivor that no test can catch is explained in `core/mutants-explained.txt`; any other fails the
//! routine.
//!
//! Not part of `cargo xtask check`: it takes some ten seconds for each of hundreds of mutants.

mod explained;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command;
use crate::tools;
use explained::Explained;

/// The version whose names of mutants the list of explanations is written in.
const CARGO_MUTANTS_VERSION: &str = "27.1.0";

/// What is mutated where nothing is named: all that a promise hangs on.
const FILES: [&str; 6] = [
    "core/src/backoff.rs",
    "core/src/budget.rs",
    "core/src/retry_after.rs",
    "core/src/robots.rs",
    "core/src/robots/**",
    "core/src/politeness/**",
];

/// The simulation cut to seconds: sites, and events of each.
const SIMULATION: [(&str, &str); 2] = [("SIM_SITES", "40"), ("SIM_EVENTS", "2000")];

/// What a mutant's build leaves out, as settings of cargo. Compiling is most of the time, so core is not optimised and nothing carries
/// debug information.
const BUILD_SETTINGS: [&str; 2] = ["profile.dev.package.lohisoftbot-core.opt-level=0", "profile.dev.debug=false"];

/// Tests that tell nothing about the mutated files and take over a minute where core is not optimised: they read mebibytes of markup.
const SKIPPED_TESTS: &str = "extract::bombs";

/// Which test programs of core are built and run.
const UNIT_TESTS: &[&str] = &["--cargo-test-arg=--lib"];
const UNIT_TESTS_AND_SIMULATION: &[&str] = &["--cargo-test-arg=--lib", "--cargo-test-arg=--test=simulation"];

/// The shortest time after which tests count as hanging, in seconds; they take two, on a busy machine some more.
const HANGS_AFTER_SECONDS: &str = "20";

/// Which mutants.
#[derive(Args)]
pub struct Options {
    /// Files to mutate, as a glob from the workspace's root; may be given several times.
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,
    /// One part of the work, such as 0/4 to 3/4.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Forgets what earlier runs caught.
    #[arg(long)]
    fresh: bool,
}

/// Runs cargo-mutants and prints the survivors that nothing explains.
///
/// # Errors
/// cargo-mutants cannot be installed or used, the tests fail without any mutation, or an unexplained mutant survived.
pub fn run(options: &Options) -> Result<()> {
    let explained = Explained::read(&command::workspace_root().join("core/mutants-explained.txt"))?;
    let program = tools::installed("cargo-mutants", CARGO_MUTANTS_VERSION)?;
    let folder = command::workspace_root().join("target/mutants");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Building the simulation as well would take most of the time, and the unit tests catch nearly all.
    for (number, tests) in [UNIT_TESTS, UNIT_TESTS_AND_SIMULATION].into_iter().enumerate() {
        let mut mutants = mutants(&program, &folder, options, tests);
        if !options.fresh || number > 0 {
            mutants.arg("--iterate");
        }
        mutants.args(["--", "--", "--skip", SKIPPED_TESTS]);
        println!("==> {}", command::shown(&mutants));
        let started = Instant::now();
        let status = mutants.stdin(Stdio::null()).status().context("cannot start cargo-mutants")?;
        println!("    {:.0} s", started.elapsed().as_secs_f64());
        // Its own codes: nothing survived, something did, tests hung. All else is no result.
        if !matches!(status.code(), Some(0 | 2 | 3)) {
            bail!("cargo-mutants ended with {status}");
        }
    }
    let whole = options.files.is_empty() && options.shard.is_none();
    report(&folder.join("mutants.out"), &explained, whole.then_some(Whole))
}

fn mutants(program: &Path, folder: &Path, options: &Options, tests: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["mutants", "--package", "lohisoftbot-core", "--no-config", "--no-shuffle", "--jobs", "1"]);
    command.arg("--output").arg(folder);
    command.args(["--minimum-test-timeout", HANGS_AFTER_SECONDS]);
    let files = options.files.iter().map(String::as_str);
    let files: Vec<&str> = if options.files.is_empty() { FILES.to_vec() } else { files.collect() };
    files.iter().for_each(|file| {
        command.args(["--file", file]);
    });
    options.shard.iter().for_each(|shard| {
        command.args(["--shard", shard]);
    });
    for setting in BUILD_SETTINGS {
        command.arg(format!("--cargo-arg=--config={setting}"));
    }
    command.args(tests).current_dir(command::workspace_root()).envs(SIMULATION);
    // Dependencies stay built from one run to the next, and core's own parts from one mutant to the next.
    command.env("CARGO_TARGET_DIR", folder.join("build")).env("CARGO_INCREMENTAL", "1");
    // An input that caught one mutant must not be kept for the next: a fresh run would not have it.
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1").env("RUST_BACKTRACE", "0");
    command
}

/// All files were mutated, so that an explanation which fits no survivor is out of date.
struct Whole;

/// Prints what came of it.
fn report(out: &Path, explained: &Explained, whole: Option<Whole>) -> Result<()> {
    let lines_of = |name: &str| lines(&out.join(name));
    let survivors = lines_of("missed.txt")?;
    // One that was caught now can stand in both lists.
    let mut caught: BTreeSet<String> = lines_of("caught.txt")?.into_iter().collect();
    caught.extend(lines_of("previously_caught.txt").unwrap_or_default());
    println!(
        "{} caught or not to be built (earlier runs included), {} hung",
        caught.len(),
        lines_of("timeout.txt")?.len()
    );
    let (known, unknown): (Vec<&String>, Vec<&String>) =
        survivors.iter().partition(|mutant| explained.explains(mutant, source_line));
    println!("{} survived, {} of them explained", survivors.len(), known.len());
    if whole.is_some() {
        let fits = |title: &str| survivors.iter().any(|mutant| explained::without_place(mutant) == title);
        explained.titles().filter(|title| !fits(title)).for_each(|title| println!("no longer needed: {title}"));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    unknown.iter().for_each(|mutant| println!("    {mutant}"));
    bail!("mutants: {} survived that nothing explains", unknown.len());
}

/// Lines of a file of cargo-mutants; it writes all of them at its start.
fn lines(path: &PathBuf) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// A line of the workspace's sources.
fn source_line(file: &str, number: usize) -> Option<String> {
    let text = std::fs::read_to_string(command::workspace_root().join(file)).ok()?;
    text.lines().nth(number.checked_sub(1)?).map(str::to_owned)
}
