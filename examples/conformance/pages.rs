//! `pages_expected.jsonl`: real saved pages, with what two other parsers find on them.

use std::path::Path;

use lohisoftbot_core::extract::ExtractedPage;
use serde_json::{Map, Value, json};

use crate::{CaseResult, metadata};

/// Runs one line; the page lies in `dir`, under the line's `file`.
pub fn run_line(line: &Value, dir: &Path) -> CaseResult {
    let path = dir.join(line["file"].as_str().unwrap_or_default());
    let body = match std::fs::read(&path) {
        Ok(body) => body,
        Err(error) => {
            return CaseResult::Failed { wanted: format!("a page at {}", path.display()), got: error.to_string() };
        }
    };
    let page = match metadata::read_page(line, &body) {
        Ok(page) => page,
        Err(result) => return result,
    };
    if !line["encoding"].is_null() && line["encoding"] != page.charset {
        return CaseResult::Failed { wanted: line["encoding"].to_string(), got: json!(page.charset).to_string() };
    }
    metadata::compare(line, &with_counts(&page))
}

fn with_counts(page: &ExtractedPage) -> Map<String, Value> {
    let mut fields = metadata::fields_of(page);
    for (name, count) in [
        ("a_with_href", page.link_tally.num_a_with_href),
        ("area_with_href", page.link_tally.num_area_with_href),
        ("http_links", page.link_tally.num_http),
        ("nofollow_links", page.link_tally.num_http_nofollow),
        ("http_links_unique", page.links.len()),
    ] {
        fields.insert(name.to_owned(), json!(count));
    }
    fields
}
