//! Cases of kind `urls`: what the URL parser makes of a text, and the canonical crawl form.

use std::path::Path;

use lohisoftbot_core::url::{canonical, resolve};
use serde_json::Value;

use crate::CaseResult;

/// Runs one line. Every line is asserted: `parse` lines come from the URL standard's own tests, and a `canonical` line's `expected` is
/// itself the recommended form, even where the form is a matter of policy or its source does otherwise.
pub fn run_line(line: &Value, _dir: &Path) -> CaseResult {
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    let Some(input) = text("input") else { return malformed("an input") };
    let base = match text("base").map(|base| resolve(base, None)) {
        None => None,
        Some(Ok(base)) => Some(base),
        Some(Err(_)) => return malformed("a base that is a URL"),
    };
    let got = match text("kind") {
        Some("parse") => resolve(input, base.as_ref()),
        Some("canonical") => canonical(input, base.as_ref()),
        _ => return malformed("the kind parse or canonical"),
    };
    let got = got.map_or(Value::Null, |url| Value::from(url.as_str()));
    let Some(wanted) = line.get("expected") else { return malformed("an expected value") };
    if got == *wanted {
        CaseResult::Passed
    } else {
        CaseResult::Failed { wanted: wanted.to_string(), got: got.to_string() }
    }
}

fn malformed(wanted: &str) -> CaseResult {
    CaseResult::Failed { wanted: format!("a line with {wanted}"), got: "none".to_owned() }
}
