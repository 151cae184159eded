//! Running other programs: echoed, timed, and with a failure that names the command.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

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
    // `cargo run` describes this package in the environment. Build scripts that look there, ring's for one, would take the difference for
    // a change, and half the tree would be built again, here and after us.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(describes_a_package)) {
        command.env_remove(name);
    }
    command
}

/// Whether cargo sets this variable for what it runs, about the package that it belongs to.
fn describes_a_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
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

/// What cargo said about a build, message by message.
pub struct Built(String);

impl Built {
    /// Runs `cargo build` with these arguments; warnings and errors are shown.
    ///
    /// # Errors
    /// The build fails.
    pub fn with(arguments: &[&str]) -> Result<Self> {
        let mut command = cargo();
        command.arg("build").args(arguments).args(["--message-format", "json-render-diagnostics"]);
        let name = shown(&command);
        println!("==> {name}");
        let started = Instant::now();
        let said = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let said = said.with_context(|| format!("cannot start `{name}`"))?;
        println!("    {:.1} s", started.elapsed().as_secs_f64());
        if !said.status.success() {
            bail!("`{name}` ended with {}", said.status);
        }
        Ok(Self(String::from_utf8_lossy(&said.stdout).into_owned()))
    }

    /// Where the built binary or example of this name lies.
    ///
    /// # Errors
    /// Cargo built none.
    pub fn executable(&self, kind: &str, name: &str) -> Result<PathBuf> {
        let found = self.0.lines().find_map(|line| executable_of(kind, name, line));
        found.with_context(|| format!("cargo built no {kind} {name}"))
    }
}

/// The path of what was built, if this message of cargo's is about it.
fn executable_of(kind: &str, name: &str, message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_wanted = message["target"]["name"] == name && message["target"]["kind"][0] == kind;
    if is_wanted { message["executable"].as_str().map(PathBuf::from) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_describes_a_package_is_told_from_what_says_how_to_build() {
        assert!(describes_a_package("CARGO_PKG_NAME") && describes_a_package("CARGO_MANIFEST_DIR"));
        assert!(!describes_a_package("CARGO_TARGET_DIR") && !describes_a_package("CARGO_INCREMENTAL"));
    }

    #[test]
    fn an_executable_is_found_by_kind_and_name() {
        let artifact = |kind, path| format!(r#"{{"target":{{"name":"node","kind":["{kind}"]}},"executable":{path}}}"#);
        let built = Built([artifact("lib", "null"), artifact("bin", "\"/t/node\""), "not JSON".to_owned()].join("\n"));
        assert_eq!(built.executable("bin", "node").unwrap(), Path::new("/t/node"));
        assert!(built.executable("example", "node").is_err());
        assert!(built.executable("lib", "node").is_err());
    }
}
