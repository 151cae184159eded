//! Programs of the routines that cargo can install, kept in the user's cache from one checkout to the next.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::command::{self, cargo};

/// The program of that name and version; installed first where it is missing.
///
/// # Errors
/// It cannot be installed.
pub fn installed(name: &str, version: &str) -> Result<PathBuf> {
    let folder = cache_folder().join(format!("{name}-{version}"));
    let program = folder.join("bin").join(name);
    if !program.exists() {
        // A debug build is there in a minute, and none of these programs does the work itself for long.
        let mut install = cargo();
        install.args(["install", name, "--version", version, "--locked", "--debug", "--root"]);
        command::run(install.arg(&folder).env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(program)
}

/// The user's cache of this project.
fn cache_folder() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("lohisoftbot")
}
