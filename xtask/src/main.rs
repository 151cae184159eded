//! Every routine of the house, as `cargo xtask NAME`.
//!
//! A routine here needs no tool beyond cargo, or installs what it needs, or says which package is missing. It changes nothing
//! outside the build folder and folders of its own, system packages of `real-sites` apart. Called bare, it lists the routines.

mod audit;
mod bombs;
mod browser;
mod check;
mod command;
mod conformance;
mod fuzz;
mod mutants;
mod page_choice;
mod real_sites;
mod tools;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The routines of the house", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    routine: Option<Routine>,
}

#[derive(Subcommand)]
enum Routine {
    /// What must hold before a commit: formatting, clippy, tests, documentation, dependencies.
    Check,
    /// Checks dependencies' licences, bans and sources (installs cargo-deny into the user's cache where it is missing).
    Deny,
    /// Runs the conformance example on a folder of cases and prints a table.
    Conformance(conformance::Options),
    /// Runs the fuzz targets, each for a minute (installs cargo-fuzz into the user's cache where it is missing).
    Fuzz(fuzz::Options),
    /// Crawls practice webs of three hundred sites with every fault and barrier, by several seeds, on one thread and on two; the auditor
    /// must find nothing.
    Audit(audit::Options),
    /// Times a mebibyte of hostile input of each kind against one of plain text; fails above fifty times as long.
    Bombs(bombs::Options),
    /// Looks at the search page with a headless Chromium, at two widths, in light and dark, by the keyboard and without scripts; axe-core must
    /// find nothing serious, and screenshots are left to look at (needs chromium, nodejs and npm).
    Browser(browser::Options),
    /// Changes the rules in hundreds of small ways, each of which must make a test fail (installs cargo-mutants into the user's cache
    /// where it is missing; takes hours, and goes on where it was ended).
    Mutants(mutants::Options),
    /// Measures how much of a site's link weight twenty requests bring home, on Debian's HTML documentation and on a practice web, and
    /// writes the tables of docs/PAGE_CHOICE.md.
    PageChoice(page_choice::Options),
    /// Serves Debian's HTML documentation with nginx on loopback addresses, crawls it, and checks nginx's log and the store.
    RealSites(real_sites::Options),
}

fn main() -> ExitCode {
    let Some(routine) = Cli::parse().routine else {
        // A bare call asks what there is; the list is the answer, not an error.
        return match Cli::command().print_help() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    };
    let result = match routine {
        Routine::Check => check::run(),
        Routine::Deny => check::deny(),
        Routine::Conformance(options) => conformance::run(&options),
        Routine::Fuzz(options) => fuzz::run(&options),
        Routine::Audit(options) => audit::run(&options),
        Routine::Bombs(options) => bombs::run(&options),
        Routine::Browser(options) => browser::run(&options),
        Routine::Mutants(options) => mutants::run(&options),
        Routine::PageChoice(options) => page_choice::run(&options),
        Routine::RealSites(options) => real_sites::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
