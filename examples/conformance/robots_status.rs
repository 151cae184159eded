//! Cases of the kind `robots_status`: what does this way of answers to `/robots.txt` come to?
//!
//! A hop to another site's own `/robots.txt` is followed, as if that site were known, live and free; one to anything
//! else of another site is not, as the design says.

use std::path::Path;

use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::status::{
    BodyEnd, InForce, RobotsAnswer, RobotsHops, RobotsReading, Validators, read_answer, rules_in_force,
};
use lohisoftbot_core::robots::{MAX_ROBOTS_BYTES, RobotsPolicy};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::Value;
use url::Url;

use crate::CaseResult;
use crate::robots::disputed;

const NOW: Timestamp = Timestamp::from_secs(2_000_000_000);

/// Runs one line.
pub fn run_line(line: &Value, _file_dir: &Path) -> CaseResult {
    let start = line["fetch"]["start"].as_str().unwrap_or("https://example.com/robots.txt");
    let Ok(start) = PageUrl::parse(start, None) else { return CaseResult::malformed("start") };
    let Some(end) = walk(&line["fetch"], &start) else { return CaseResult::malformed("fetch") };
    let (got, policy) = outcome(line, end);

    let mut accepted: Vec<&str> = line["expected"].as_str().into_iter().collect();
    accepted.extend(line["acceptable"].as_array().into_iter().flatten().filter_map(Value::as_str));
    let is_asserted = !disputed(line) || line["acceptable"].is_array();
    if is_asserted && !accepted.contains(&got) {
        return CaseResult::Failed { wanted: accepted.join(" or "), got: got.to_owned() };
    }
    for check in line["check"].as_array().into_iter().flatten() {
        if let Some(failed) = failed_check(line, check, &start, policy.as_ref()) {
            return failed;
        }
    }
    if is_asserted { CaseResult::Passed } else { CaseResult::NotAsserted }
}

/// Follows the hops of a case to the reading of the last answer; the inner value is none where none came.
fn walk(fetch: &Value, start: &PageUrl) -> Option<Option<RobotsReading>> {
    if fetch["error"].is_string() {
        return Some(None);
    }
    let mut hops = RobotsHops::from_origin(&start.origin());
    let listed = fetch["hops"].as_array()?;
    let turns = if fetch["repeats_forever"].as_bool() == Some(true) { 20 } else { 1 };
    for hop in listed.iter().cycle().take(listed.len() * turns) {
        let mut head = ResponseHead::new(u16::try_from(hop["status"].as_u64()?).ok()?);
        for (field, key) in [("content-type", "content_type"), ("location", "location")] {
            if let Some(value) = hop[key].as_str() {
                head.push(field, value.as_bytes());
            }
        }
        let body = body(hop);
        let read = &body[..body.len().min(MAX_ROBOTS_BYTES)];
        let body_end = if read.len() < body.len() { BodyEnd::Cut } else { BodyEnd::Whole };
        let answer = RobotsAnswer { head: &head, body: read, body_end, validators: Validators::NotSent };
        match read_answer(&hops, &answer, "*") {
            RobotsReading::Hop(target) | RobotsReading::OtherSite(target) => hops.follow(target),
            end => return Some(Some(end)),
        }
    }
    // The case lists no answer from there: it is somewhere that may not be asked.
    Some(None)
}

fn body(hop: &Value) -> Vec<u8> {
    let recipe = &hop["body_recipe"];
    let Some(first) = recipe["first"].as_str() else {
        return hop["body"].as_str().unwrap_or_default().as_bytes().to_vec();
    };
    let mut body = first.as_bytes().to_vec();
    let until = recipe["pad_until_bytes"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
    let pad = recipe["pad_line"].as_str().filter(|pad| !pad.is_empty()).unwrap_or("\n");
    while body.len() < until {
        body.extend(pad.as_bytes());
    }
    body.extend(recipe["last"].as_str().unwrap_or_default().as_bytes());
    body
}

/// What counts after the fetch, by the names that the cases use.
fn outcome(line: &Value, end: Option<RobotsReading>) -> (&'static str, Option<RobotsPolicy>) {
    let name = match end {
        Some(RobotsReading::Rules(_)) => "parse",
        Some(RobotsReading::NoRules(_)) => "allow_all",
        Some(RobotsReading::DisallowAll(_)) => "disallow_all",
        _ => return cached(&line["cache"]),
    };
    (name, end.and_then(RobotsReading::into_policy))
}

fn cached(cache: &Value) -> (&'static str, Option<RobotsPolicy>) {
    let ago = |count: Option<u64>, secs: u64| count.map(|n| Timestamp::from_secs(NOW.as_secs() - n * secs));
    let copy = cache["rules"].as_str().map(|rules| RobotsPolicy::parse(rules.as_bytes(), "*"));
    let fetched_at = ago(cache["age_hours"].as_u64(), 3_600).unwrap_or(NOW);
    let unreachable_since = ago(cache["unreachable_days"].as_u64(), 86_400).unwrap_or(NOW);
    match rules_in_force(copy.as_ref().map(|policy| (policy, fetched_at)), Some(unreachable_since), NOW) {
        InForce::Copy(policy) => ("use_cached", Some(policy.clone())),
        InForce::AskFirst | InForce::DisallowAll => ("disallow_all", None),
    }
}

/// A pair of path or URL and whether it is allowed; a URL of another origin is judged by that origin's own file.
fn failed_check(line: &Value, check: &Value, start: &PageUrl, policy: Option<&RobotsPolicy>) -> Option<CaseResult> {
    let (Some(target), Some(wanted)) = (check[0].as_str(), check[1].as_bool()) else {
        return Some(CaseResult::malformed("check"));
    };
    let Ok(url) = start.as_url().join(target) else { return Some(CaseResult::malformed("check")) };
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let other = &line["fetch"]["other_host"];
    let other_at = other["robots_url"].as_str().and_then(|raw| Url::parse(raw).ok());
    let got = match other_at {
        Some(at) if at.origin() == url.origin() => {
            let body = other["body"].as_str().unwrap_or_default();
            RobotsPolicy::parse(body.as_bytes(), "*").verdict_for_path(path).is_allowed()
        }
        _ => policy.is_some_and(|policy| policy.verdict_for_path(path).is_allowed()),
    };
    (got != wanted).then(|| CaseResult::Failed { wanted: format!("{target} allowed: {wanted}"), got: format!("{got}") })
}
