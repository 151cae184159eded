//! Cases of the kind `robots_extra`: Crawl-delay, Sitemap lines, where a robots.txt lies and what it is for.

use std::path::Path;

use lohisoftbot_core::robots::{RobotsPolicy, scope};
use serde_json::{Value, json};
use url::Url;

use crate::CaseResult;
use crate::robots::{disputed, robots_txt};

/// Runs one line.
pub fn run_line(line: &Value, _file_dir: &Path) -> CaseResult {
    let got = match line["kind"].as_str() {
        Some("crawl_delay") => crawl_delay(line),
        Some("sitemaps") => sitemaps(line),
        Some("robots_url") => url_of(line, "url").map(|url| json!(scope::robots_url(&url).map(String::from))),
        Some("scope") => url_of(line, "robots_url")
            .and_then(|robots_at| Some(json!(scope::governs(&robots_at, &url_of(line, "url")?)))),
        _ => return CaseResult::malformed("kind"),
    };
    let Some(got) = got else { return CaseResult::malformed("input") };
    let wanted = if disputed(line) { &line["recommended"] } else { &line["expected"] };
    if disputed(line) && wanted.is_null() {
        return CaseResult::NotAsserted;
    }
    // Seconds are written as 10 or as 10.0.
    let is_equal = match (wanted.as_f64(), got.as_f64()) {
        (Some(wanted), Some(got)) => (wanted - got).abs() < 1e-6,
        _ => *wanted == got,
    };
    if is_equal { CaseResult::Passed } else { CaseResult::Failed { wanted: wanted.to_string(), got: got.to_string() } }
}

fn crawl_delay(line: &Value) -> Option<Value> {
    let policy = RobotsPolicy::parse(&robots_txt(line)?, line["user_agent"].as_str()?);
    Some(json!(policy.crawl_delay().map(|delay| delay.as_secs_f64())))
}

fn sitemaps(line: &Value) -> Option<Value> {
    let policy = RobotsPolicy::parse(&robots_txt(line)?, "*");
    let urls = policy.sitemap_urls(&url_of(line, "robots_url")?);
    Some(json!(urls.into_iter().map(String::from).collect::<Vec<_>>()))
}

fn url_of(line: &Value, key: &str) -> Option<Url> {
    Url::parse(line[key].as_str()?).ok()
}
