//! Cases of kind `retry_after`: the wait that a server asks for, where it applies, and the ladder.

use std::path::Path;
use std::time::Duration;

use lohisoftbot_core::backoff::BackoffPolicy;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::retry_after::{MAX_WAIT, wait_of};
use lohisoftbot_core::{http_date, time::Timestamp};
use serde_json::Value;

use crate::CaseResult;

/// Status of the answer in a `parse` line: one with which Retry-After always applies.
const ASKING_STATUS: u64 = 503;

/// Runs one line. Asserted are the lines that are neither disputed nor a matter of policy, and those that recommend something.
pub fn run_line(line: &Value, _dir: &Path) -> CaseResult {
    let got = match line.get("kind").and_then(Value::as_str) {
        Some("parse" | "applies") => asked(line),
        Some("backoff") => ladder(line),
        _ => return malformed("the kind parse, applies or backoff"),
    };
    let recommended = line.get("recommended").filter(|value| !value.is_null());
    let is_open = line.get("policy").is_some_and(is_set) || line.get("disputed").is_some_and(is_set);
    let wanted = match (recommended, line.get("expected_seconds")) {
        (Some(wanted), _) => wanted,
        (None, _) if is_open => return CaseResult::NotAsserted,
        (None, Some(wanted)) => wanted,
        (None, None) => return malformed("expected_seconds"),
    };
    let Some(got) = got else { return malformed("fields that can be read") };
    let is_clamped =
        line.get("clamp").is_some_and(is_set) && wanted.is_null() && got.is_some_and(|wait| wait >= MAX_WAIT);
    if is_clamped || got.map(|wait| wait.as_secs_f64()) == wanted.as_f64() {
        CaseResult::Passed
    } else {
        let got = got.map_or_else(|| "null".to_owned(), |wait| wait.as_secs_f64().to_string());
        CaseResult::Failed { wanted: wanted.to_string(), got }
    }
}

/// The wait of an answer with the line's values; none where the line cannot be read.
fn asked(line: &Value) -> Option<Option<Duration>> {
    let now = http_date::parse(line.get("now")?.as_str()?, Timestamp::EPOCH)?;
    let status = match line.get("status") {
        Some(status) => status.as_u64()?,
        None => ASKING_STATUS,
    };
    let mut head = ResponseHead::new(u16::try_from(status).ok()?);
    if let Some(date) = line.get("date") {
        head.push("date", date.as_str()?.as_bytes());
    }
    for value in line.get("values")?.as_array()? {
        head.push("retry-after", value.as_str()?.as_bytes());
    }
    Some(wait_of(&head, now))
}

/// The ladder's wait after so many attempts, without jitter; none where the line has another formula.
fn ladder(line: &Value) -> Option<Option<Duration>> {
    let secs =
        |key: &str| line.get(key).and_then(Value::as_f64).and_then(|secs| Duration::try_from_secs_f64(secs).ok());
    let policy = BackoffPolicy { first: secs("min_seconds")?, max: secs("max_seconds")?, jitter_percent: 0 };
    let attempt = line.get("attempt")?.as_u64()?;
    let rung = u8::try_from(attempt.saturating_add(1)).unwrap_or(u8::MAX);
    Some(Some(policy.wait(rung, None, 0.0)))
}

/// Whether a mark is there: `true` or a text that says why.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

fn malformed(wanted: &str) -> CaseResult {
    CaseResult::Failed { wanted: format!("a line with {wanted}"), got: "none".to_owned() }
}
