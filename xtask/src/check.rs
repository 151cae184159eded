//! What must hold before a commit, in the order in which it fails fastest.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::command::{self, cargo};

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
    let folder = cache_folder().join(format!("cargo-deny-{CARGO_DENY_VERSION}"));
    let program = folder.join("bin/cargo-deny");
    if !program.exists() {
        // A debug build is there in a minute, and the check takes a second.
        let mut install = cargo();
        install.args(["install", "cargo-deny", "--version", CARGO_DENY_VERSION, "--locked", "--debug", "--root"]);
        command::run(install.arg(&folder).env_remove("CARGO_TARGET_DIR"))?;
    }
    let mut check = Command::new(program);
    command::run(check.args(["check", "bans", "licenses", "sources"]).current_dir(command::workspace_root()))
}

/// The user's cache of this project, kept from one checkout to the next.
fn cache_folder() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("lohisoftbot")
}
