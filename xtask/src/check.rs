//! What must hold before a commit, in the order in which it fails fastest.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, cargo};
use crate::tools;

/// The version of cargo-deny that deny.toml is written for.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// Runs all checks; the first that fails ends the routine.
///
/// # Errors
/// A check failed.
pub fn run() -> Result<()> {
    command::run(cargo().args(["fmt", "--all", "--check"]))?;
    command::run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    command::run(cargo().args(["test", "--workspace"]))?;
    command::run(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    deny()
}

/// Checks bans, licences and sources. Advisories need a database from the network and are left to a person.
///
/// # Errors
/// cargo-deny cannot be installed, or found something.
pub fn deny() -> Result<()> {
    let program = tools::installed("cargo-deny", CARGO_DENY_VERSION)?;
    let mut check = Command::new(program);
    command::run(check.args(["check", "bans", "licenses", "sources"]).current_dir(command::workspace_root()))
}
