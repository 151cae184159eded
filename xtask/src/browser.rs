//! Looks at the search page with a real browser: builds the example `search_page`, serves it on a free port, and has
//! `tests/browser/check.mjs` walk through it with a headless Chromium.
//!
//! What the script needs is pinned in its lock file and fetched by npm.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{self, Built, ending_with_us, workspace_root};

/// Which browser, and where to.
#[derive(Args)]
pub struct Options {
    /// The browser; Debian's package is called chromium.
    #[arg(long, value_name = "FILE", default_value = "/usr/bin/chromium")]
    chromium: PathBuf,
    /// Where the screenshots go.
    #[arg(long, value_name = "FOLDER", default_value = "target/browser")]
    out: PathBuf,
}

/// Ends what it holds.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Walks through the page.
///
/// # Errors
/// A program is missing, the example does not build, or the page is not as it must be.
pub fn run(options: &Options) -> Result<()> {
    for program in [&options.chromium, Path::new("/usr/bin/node"), Path::new("/usr/bin/npm")] {
        if !program.exists() {
            bail!("{} is missing: apt-get install chromium nodejs npm", program.display());
        }
    }
    let example = Built::with(&["--quiet", "--example", "search_page"])?.executable("example", "search_page")?;
    let folder = workspace_root().join("tests/browser");
    command::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    let mut serving = ending_with_us(&example);
    serving.arg("127.0.0.1:0").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut serving = Ended(serving.spawn().context("cannot start the example search_page")?);
    let said = serving.0.stdout.take().context("the example search_page has no output")?;
    let mut address = String::new();
    BufReader::new(said).read_line(&mut address).context("the example search_page says nothing")?;
    let out = workspace_root().join(&options.out);
    let mut check = Command::new("node");
    check.arg("check.mjs").arg(address.trim()).arg(out).arg(&options.chromium).current_dir(&folder);
    command::run(&mut check)
}
