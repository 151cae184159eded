//! Processes of the three binaries. A running node is killed when its guard goes, so a failed test leaves none behind.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longest life of a process that is waited for; one that takes longer hangs.
const MAX_PROCESS_LIFE: Duration = Duration::from_secs(180);
/// How often the end of a process, or its socket, is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The node.
pub fn node_binary() -> Command {
    quiet(env!("CARGO_BIN_EXE_lohisoftbot"))
}

/// The tool that asks a running node.
pub fn ctl_binary() -> Command {
    quiet(env!("CARGO_BIN_EXE_lohisoftbot-ctl"))
}

/// The tool that looks into a stopped node's store.
pub fn dump_binary() -> Command {
    quiet(env!("CARGO_BIN_EXE_lohisoftbot-dump"))
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("LOHISOFTBOT_") {
            command.env_remove(variable);
        }
    }
    command
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; a process that a signal ended has none.
    pub code: Option<i32>,
    /// What it wrote for whoever asked.
    pub stdout: String,
    /// What it wrote beside that.
    pub stderr: String,
}

impl Ran {
    /// Wants this exit code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Wants exit code 2, nothing on standard output and one line on standard error that holds all these words.
    #[track_caller]
    pub fn expect_one_clear_line(self, words: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:#?}");
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing: {self:#?}");
        }
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs a command to its end.
pub fn run_binary<S: AsRef<OsStr>>(mut command: Command, args: impl IntoIterator<Item = S>) -> Ran {
    command.args(args).output().unwrap().into()
}

/// A node in the background; its standard error grows in a file, its standard output in one beside it.
#[derive(Debug)]
pub struct RunningNode {
    child: Child,
    stderr: PathBuf,
}

impl RunningNode {
    /// Starts `lohisoftbot` with these arguments. What it says is appended to `stderr`; its temporary files lie in `temp_dir`.
    pub fn start<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, stderr: &Path, temp_dir: &Path) -> Self {
        let append_to = |path: &Path| OpenOptions::new().create(true).append(true).open(path).unwrap();
        let child = node_binary()
            .args(args)
            .env("TMPDIR", temp_dir)
            .stdout(append_to(&stderr.with_extension("out")))
            .stderr(append_to(stderr))
            .spawn()
            .unwrap();
        Self { child, stderr: stderr.to_owned() }
    }

    /// All that it and its forerunners said.
    pub fn said(&self) -> String {
        String::from_utf8(std::fs::read(&self.stderr).unwrap()).unwrap()
    }

    /// All that it and its forerunners wrote for whoever asked.
    pub fn shown(&self) -> String {
        String::from_utf8(std::fs::read(self.stderr.with_extension("out")).unwrap()).unwrap()
    }

    /// Waits until `is_so`, and fails early when the process ends before.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + MAX_PROCESS_LIFE;
        while !is_so() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the node ended with {status} before {what}:\n{}", self.said());
            }
            assert!(Instant::now() < deadline, "{what} did not come about:\n{}", self.said());
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + MAX_PROCESS_LIFE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the node does not end:\n{}", self.said());
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits for its end and wants this exit code.
    #[track_caller]
    pub fn expect_end(&mut self, code: i32) {
        let status = self.wait();
        assert_eq!(status.code(), Some(code), "{status}:\n{}", self.said());
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// kill -9; returns when it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for RunningNode {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
