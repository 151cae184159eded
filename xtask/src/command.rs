//! Running other programs: echoed, timed, and with a failure that names the command.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The checkout that this program was built from.
pub fn workspace_root() -> PathBuf {
    // `cargo run` sets the variable; a binary that is started by hand falls back on where it was built.
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), Into::into);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The cargo that started us, in the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    command
}

/// A command that the kernel ends with us, also where no guard runs any more.
pub fn ending_with_us(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args()).map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

/// Runs a command with its output shown, and says how long it took.
///
/// # Errors
/// The command cannot be started, or ends with anything but success.
pub fn run(command: &mut Command) -> Result<()> {
    let name = shown(command);
    println!("==> {name}");
    let started = Instant::now();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{name}`"))?;
    println!("    {:.1} s", started.elapsed().as_secs_f64());
    if !status.success() {
        bail!("`{name}` ended with {status}");
    }
    Ok(())
}

/// What a command wrote, whatever its end was.
pub struct Captured {
    /// It ended with success.
    pub succeeded: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a command and returns what it wrote.
///
/// # Errors
/// The command cannot be started.
pub fn capture(command: &mut Command) -> Result<Captured> {
    let name = shown(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{name}`"))?;
    Ok(Captured {
        succeeded: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
