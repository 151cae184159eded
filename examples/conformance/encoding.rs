//! Cases of the kind `encoding`.

use std::path::Path;

use serde_json::Value;

use crate::CaseResult;

/// Runs one line.
pub fn run_line(_line: &Value, _file_dir: &Path) -> CaseResult {
    CaseResult::NotAsserted
}
