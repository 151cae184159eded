//! The node under test, as anybody would run it: built for release, with a configuration file, seeds, and the dump afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::doc_sets::RealSite;
use crate::command::{Built, capture, ending_with_us, shown};

/// The delay that the node is told to keep, in ms. Short, so that the routine is; the rule is the same.
pub const MIN_DELAY_MS: u64 = 300;

/// How long the whole crawl may take. Sites are crawled side by side, 21 requests each: about ten seconds.
const CRAWL_TIMEOUT: Duration = Duration::from_secs(240);

/// The binaries that the routine runs.
pub struct Binaries {
    node: PathBuf,
    dump: PathBuf,
}

impl Binaries {
    /// Builds them for release.
    ///
    /// # Errors
    /// The build fails, or cargo names no binary.
    pub fn build() -> Result<Self> {
        let built = Built::with(&["--release", "--bin", "lohisoftbot", "--bin", "lohisoftbot-dump"])?;
        Ok(Self { node: built.executable("bin", "lohisoftbot")?, dump: built.executable("bin", "lohisoftbot-dump")? })
    }

    /// Takes them as they are.
    ///
    /// # Errors
    /// One is not there.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        let find = |name| {
            let file = folder.join(name);
            file.canonicalize().with_context(|| format!("there is no {}", file.display()))
        };
        Ok(Self { node: find("lohisoftbot")?, dump: find("lohisoftbot-dump")? })
    }
}

/// The files of one run, below a folder of its own.
pub struct Run {
    config: PathBuf,
    seeds: PathBuf,
    data_dir: PathBuf,
}

impl Run {
    /// Writes configuration and seeds.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn prepare(folder: &Path, sites: &[RealSite], port: u16) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let run =
            Self { config: folder.join("config.toml"), seeds: folder.join("seeds.txt"), data_dir: folder.join("data") };
        fs::write(&run.config, configuration(sites, &run.data_dir, &folder.join("control.sock")))?;
        let seeds: String = sites.iter().map(|site| format!("http://{}:{port}/\n", site.host)).collect();
        fs::write(&run.seeds, seeds)?;
        Ok(run)
    }

    /// Crawls until nothing is left to do.
    ///
    /// # Errors
    /// The node fails, or is not idle in time.
    pub fn crawl(&self, binaries: &Binaries) -> Result<()> {
        let mut command = ending_with_us(&binaries.node);
        command.arg("run").arg("--config").arg(&self.config).arg("--seeds").arg(&self.seeds).arg("--until-idle");
        let (config, seeds) = (self.config.display(), self.seeds.display());
        println!("==> lohisoftbot run --config {config} --seeds {seeds} --until-idle");
        let started = Instant::now();
        let mut node = Guarded(command.stdin(Stdio::null()).spawn().context("cannot start the node")?);
        let status = loop {
            if let Some(status) = node.0.try_wait()? {
                break status;
            }
            if started.elapsed() > CRAWL_TIMEOUT {
                bail!("the node is not idle after {} s", CRAWL_TIMEOUT.as_secs());
            }
            thread::sleep(Duration::from_millis(50));
        };
        println!("    {:.1} s", started.elapsed().as_secs_f64());
        if !status.success() {
            bail!("the node ended with {status}");
        }
        Ok(())
    }

    /// The stored pages as JSON lines.
    ///
    /// # Errors
    /// The dump fails.
    pub fn dump_pages(&self, binaries: &Binaries) -> Result<String> {
        let mut command = Command::new(&binaries.dump);
        command.arg("--store").arg(&self.data_dir).args(["pages", "--format", "jsonl"]);
        let said = capture(&mut command)?;
        if !said.succeeded {
            bail!("`{}` failed: {}", shown(&command), said.stderr);
        }
        Ok(said.stdout)
    }
}

/// Ends the node with the routine.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Loopback names and addresses only: with the identity enforced, the node refuses any other.
fn configuration(sites: &[RealSite], data_dir: &Path, socket: &Path) -> String {
    let resolve: Vec<String> = sites.iter().map(|site| format!("\"{}\" = \"{}\"", site.host, site.address)).collect();
    format!(
        "[network]\nresolve = {{ {} }}\nallow_ranges = [\"127.0.0.0/8\"]\n\n[politeness]\nmin_delay = \"{MIN_DELAY_MS}ms\"\n\n\
         [discovery]\nmode = \"seeds\"\n\n[store]\ndata_dir = {}\n\n[control]\nsocket = {}\n\n[web]\nlisten = \"off\"\n",
        resolve.join(", "),
        toml_text(data_dir),
        toml_text(socket),
    )
}

/// A path as a TOML string.
fn toml_text(path: &Path) -> String {
    // TOML's basic strings have the escapes of JSON's.
    Value::from(path.to_string_lossy()).to_string()
}
