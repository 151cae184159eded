//! Cases of the kind `robots`: may this agent ask for this URL, given this robots.txt?

use std::path::Path;

use base64::Engine as _;
use lohisoftbot_core::codec::{decode, encode};
use lohisoftbot_core::robots::{RobotsPolicy, explain};
use serde_json::Value;
use url::Url;

use crate::CaseResult;

/// Runs one line.
pub fn run_line(line: &Value, _file_dir: &Path) -> CaseResult {
    let Some(file) = robots_txt(line) else { return CaseResult::malformed("robots_txt") };
    let Some(agent) = line["user_agent"].as_str() else { return CaseResult::malformed("user_agent") };
    let Some(url) = line["url"].as_str().and_then(absolute) else { return CaseResult::malformed("url") };
    let got = explain(&file, agent, &url);
    // A stored policy must answer as the parsed one does.
    let policy = RobotsPolicy::parse(&file, agent);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    match encode(&policy).and_then(|bytes| decode::<RobotsPolicy>(&bytes)) {
        Ok(stored) if stored.verdict_for_path(path) == policy.verdict_for_path(path) => {}
        Ok(_) => return CaseResult::Failed { wanted: "one answer".into(), got: "another after storing".into() },
        Err(error) => {
            return CaseResult::Failed { wanted: "a policy that can be stored".into(), got: error.to_string() };
        }
    }
    let wanted = if disputed(line) { &line["recommended"] } else { &line["allowed"] };
    match wanted.as_bool() {
        Some(wanted) if wanted == got.allowed => CaseResult::Passed,
        Some(wanted) => CaseResult::Failed { wanted: format!("allowed: {wanted}"), got: format!("{got:?}") },
        None => CaseResult::NotAsserted,
    }
}

/// The URL of a case; some sources give a path alone.
fn absolute(raw: &str) -> Option<Url> {
    Url::parse(raw).or_else(|_| Url::parse("http://example.com/")?.join(raw)).ok()
}

/// The file of a case, as text or in base64.
pub fn robots_txt(line: &Value) -> Option<Vec<u8>> {
    match (&line["robots_txt"], &line["robots_txt_base64"]) {
        (Value::String(text), _) => Some(text.clone().into_bytes()),
        (_, Value::String(encoded)) => base64::engine::general_purpose::STANDARD.decode(encoded).ok(),
        _ => None,
    }
}

/// Whether the sources of a case disagree, or leave it open.
pub fn disputed(line: &Value) -> bool {
    line["disputed"].as_bool() == Some(true) || !line["policy"].is_null()
}
