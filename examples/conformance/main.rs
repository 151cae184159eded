//! Runs a file of outside test cases against the rules: `cargo run --release --example conformance -- KIND FILE.jsonl`.
//!
//! Each line of the file is one case, in the format of its kind. Every failed case is named by its id with what was
//! wanted and what came; the last line says `N passed, N failed`. A case whose sources disagree, or that the standards
//! leave open, is still run, so that it may not crash, but its answer is not judged. A case that `differences.txt` lists
//! is answered differently on purpose: it is printed with the reason and counted apart.
//!
//! Exit code: 0 when nothing failed, 1 when a case failed, 2 when the kind or the file cannot be used.

mod differences;
mod encoding;
mod metadata;
mod pages;
mod retry_after;
mod robots;
mod robots_extra;
mod robots_status;
mod sitemaps;
mod urls;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

/// What one case came to.
pub enum CaseResult {
    /// The answer is the wanted one, or another that the case accepts.
    Passed,
    /// The answer is another.
    Failed {
        /// What the case wants.
        wanted: String,
        /// What came.
        got: String,
    },
    /// The case ran, and its answer is not judged.
    NotAsserted,
}

impl CaseResult {
    /// Passed where both are equal.
    pub fn compare<T: PartialEq + std::fmt::Debug>(wanted: &T, got: &T) -> Self {
        if wanted == got {
            Self::Passed
        } else {
            Self::Failed { wanted: format!("{wanted:?}"), got: format!("{got:?}") }
        }
    }

    /// A failure for a line that does not have the form of its kind.
    pub fn malformed(what: &str) -> Self {
        Self::Failed { wanted: "a line of this kind".to_owned(), got: format!("a line with a bad or missing {what}") }
    }
}

/// Runs one line of a file in the given directory.
type RunLine = fn(&Value, &Path) -> CaseResult;

/// Every kind, by the name that the command line takes.
const KINDS: [(&str, RunLine); 9] = [
    ("robots", robots::run_line),
    ("robots_extra", robots_extra::run_line),
    ("robots_status", robots_status::run_line),
    ("retry_after", retry_after::run_line),
    ("urls", urls::run_line),
    ("metadata", metadata::run_line),
    ("encoding", encoding::run_line),
    ("sitemaps", sitemaps::run_line),
    ("pages", pages::run_line),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("conformance: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs the file that the arguments name; the number of failed cases, or why there was nothing to run.
fn run(args: &[String]) -> Result<usize, String> {
    let [kind, file] = args else {
        return Err(format!("usage: conformance KIND FILE.jsonl, where KIND is one of {}", kind_names()));
    };
    let Some((_, run_line)) = KINDS.iter().find(|(name, _)| name == kind) else {
        return Err(format!("unknown kind {kind:?}; known kinds: {}", kind_names()));
    };
    let path = PathBuf::from(file);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {file}: {e}"))?;
    let dir = path.parent().unwrap_or(Path::new("."));

    let (mut num_passed, mut num_failed, mut num_not_asserted, mut num_known) = (0, 0, 0, 0);
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).map_err(|e| format!("{file}, line {}: {e}", index + 1))?;
        let id = case["id"].as_str().map_or_else(|| format!("line {}", index + 1), str::to_owned);
        match guarded(*run_line, &case, dir) {
            CaseResult::Passed => num_passed += 1,
            CaseResult::NotAsserted => num_not_asserted += 1,
            CaseResult::Failed { wanted, got } => match differences::reason_for(&id) {
                Some(reason) => {
                    num_known += 1;
                    println!("{id}: differs on purpose: wanted {wanted}, got {got}. {reason}");
                }
                None => {
                    num_failed += 1;
                    println!("{id}: wanted {wanted}, got {got}");
                }
            },
        }
    }
    println!("{num_not_asserted} not asserted, run for no crash");
    println!("{num_known} on purpose, listed in differences.txt");
    println!("{num_passed} passed, {num_failed} failed");
    Ok(num_failed)
}

/// Runs one line; a panic is that line's failure and not the end of the run.
fn guarded(run_line: RunLine, case: &Value, dir: &Path) -> CaseResult {
    match catch_unwind(AssertUnwindSafe(|| run_line(case, dir))) {
        Ok(result) => result,
        Err(payload) => {
            CaseResult::Failed { wanted: "no crash".to_owned(), got: format!("panic: {}", panic_text(&*payload)) }
        }
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

fn kind_names() -> String {
    KINDS.map(|(name, _)| name).join(", ")
}
