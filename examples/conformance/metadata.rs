//! `metadata.jsonl`: one small page and its answer's head, and everything that is to be read off it.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lohisoftbot_core::charset::Fallback;
use lohisoftbot_core::directives::{Directives, parse_date};
use lohisoftbot_core::extract::{ExtractedPage, FetchedPage, Heading, extract_with_fallback};
use lohisoftbot_core::link::Link;
use lohisoftbot_core::response::ResponseHead;
use serde_json::{Map, Value, json};
use url::Url;

use crate::CaseResult;

/// Runs one line; `dir` is not needed, the page stands in the line.
pub fn run_line(line: &Value, _dir: &Path) -> CaseResult {
    let body = match (line["html"].as_str(), line["html_base64"].as_str()) {
        (Some(html), _) => html.as_bytes().to_vec(),
        (None, Some(encoded)) => match STANDARD.decode(encoded) {
            Ok(bytes) => bytes,
            Err(error) => return failed("a readable line", &error),
        },
        (None, None) => return failed("a line with html or html_base64", &"neither"),
    };
    match read_page(line, &body) {
        Ok(page) => compare(line, &fields_of(&page)),
        Err(result) => result,
    }
}

/// Extracts `body` with the URL, headers and bot name of the line; windows-1252 is the fallback that the cases name.
pub fn read_page(line: &Value, body: &[u8]) -> Result<ExtractedPage, CaseResult> {
    let shown = line["url"].as_str().unwrap_or_default();
    let url = Url::parse(shown).map_err(|error| failed("a line with a URL", &error))?;
    let head = head_of(&line["http_headers"]);
    let token = line["bot"].as_str().unwrap_or("examplebot").to_ascii_lowercase();
    let page = FetchedPage { url: &url, head: &head, body, cut: false, product_token: &token };
    Ok(extract_with_fallback(page, Fallback::Windows1252, &mut || true))
}

/// Compares every field that the line expects, or that it recommends where it is disputed or a matter of policy.
pub fn compare(line: &Value, got: &Map<String, Value>) -> CaseResult {
    let is_open = line["disputed"].as_bool() == Some(true) || !line["policy"].is_null();
    let wanted = if is_open { &line["recommended"] } else { &line["expected"] };
    let Some(wanted) = wanted.as_object() else { return CaseResult::NotAsserted };
    let mut differences = (Map::new(), Map::new());
    for (field, value) in wanted {
        let value = comparable(field, value);
        let found = got.get(field).cloned().unwrap_or_else(|| json!("field not known to the runner"));
        if found != value && !is_acceptable(&line["acceptable"][field], &value, &found) {
            differences.0.insert(field.clone(), value);
            differences.1.insert(field.clone(), found);
        }
    }
    if differences.0.is_empty() {
        return CaseResult::Passed;
    }
    CaseResult::Failed {
        wanted: Value::Object(differences.0).to_string(),
        got: Value::Object(differences.1).to_string(),
    }
}

/// The fields of a page as the cases spell them.
pub fn fields_of(page: &ExtractedPage) -> Map<String, Value> {
    let refresh = page.meta_refresh.as_ref().zip(page.meta_refresh_delay);
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("title", json!(page.title));
    put("description", json!(page.description));
    put("headings", page.headings.iter().map(heading).collect());
    put("canonical", json!(page.canonical));
    put("robots_directives", robots(&page.directives));
    put("lang", json!(page.lang));
    put("links", page.links.iter().map(link).collect());
    put("encoding", json!(page.charset));
    put("meta_refresh", refresh.map_or(Value::Null, |(url, delay)| json!({"seconds": delay.as_secs(), "url": url})));
    fields
}

fn heading(heading: &Heading) -> Value {
    json!({"level": heading.level, "text": heading.text})
}

fn link(link: &Link) -> Value {
    json!({"url": link.url, "text": link.text, "nofollow": link.nofollow})
}

fn robots(directives: &Directives) -> Value {
    json!({
        "noindex": directives.noindex,
        "nofollow": directives.nofollow,
        "noarchive": directives.noarchive,
        "nosnippet": directives.nosnippet,
        "unavailable_after": directives.unavailable_after.map(|moment| moment.to_string()),
    })
}

/// Brings an expected value into the form that ours has: links merged by URL, dates as moments.
fn comparable(field: &str, expected: &Value) -> Value {
    match (field, expected) {
        ("links", Value::Array(links)) => merged(links),
        ("robots_directives", Value::Object(directives)) => {
            let mut directives = directives.clone();
            if let Some(date) = directives.get("unavailable_after").and_then(Value::as_str) {
                let moment =
                    parse_date(date).map_or_else(|| format!("unreadable: {date}"), |moment| moment.to_string());
                directives.insert("unavailable_after".to_owned(), json!(moment));
            }
            Value::Object(directives)
        }
        _ => expected.clone(),
    }
}

/// Distinct texts in order joined by one space, nofollow only if every one is.
fn merged(links: &[Value]) -> Value {
    let mut groups: Vec<(&Value, Vec<&str>, bool)> = Vec::new();
    for link in links {
        let text = link["text"].as_str().unwrap_or_default();
        let nofollow = link["nofollow"].as_bool() == Some(true);
        match groups.iter_mut().find(|(url, ..)| **url == link["url"]) {
            Some((_, texts, all_nofollow)) => {
                *all_nofollow &= nofollow;
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            None => groups.push((&link["url"], vec![text], nofollow)),
        }
    }
    let one = |(url, texts, nofollow): (&Value, Vec<&str>, bool)| {
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        json!({"url": url, "text": texts.join(" "), "nofollow": nofollow})
    };
    groups.into_iter().map(one).collect()
}

/// `acceptable` lists further right values of a field, or of the members of an object.
fn is_acceptable(acceptable: &Value, wanted: &Value, found: &Value) -> bool {
    match acceptable {
        Value::Array(values) => values.contains(found),
        Value::Object(members) => match (wanted.as_object(), found.as_object()) {
            (Some(wanted), Some(found)) => found.iter().all(|(name, value)| {
                wanted.get(name) == Some(value)
                    || members.get(name).is_some_and(|list| is_acceptable(list, &Value::Null, value))
            }),
            _ => false,
        },
        _ => false,
    }
}

/// The answer's head: `:status` is the status, an array means that the field came several times.
fn head_of(headers: &Value) -> ResponseHead {
    let status = &headers[":status"];
    let status = status.as_u64().or_else(|| status.as_str()?.parse().ok()).and_then(|code| u16::try_from(code).ok());
    let mut head = ResponseHead::new(status.unwrap_or(200));
    for (name, value) in headers.as_object().into_iter().flatten().filter(|(name, _)| !name.starts_with(':')) {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        values.iter().filter_map(Value::as_str).for_each(|value| head.push(name, value.as_bytes()));
    }
    head
}

fn failed(wanted: &str, got: &dyn std::fmt::Display) -> CaseResult {
    CaseResult::Failed { wanted: wanted.to_owned(), got: got.to_string() }
}
