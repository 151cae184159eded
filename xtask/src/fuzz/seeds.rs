//! Inputs for the fuzz targets from a folder of case files, in the form that each target cuts its input from.
//!
//! The cases are not part of this repository. A line that has not what a target takes gives no seed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// The longest input that is worth starting from, in bytes.
const MAX_SEED_BYTES: usize = 64 * 1024;

/// Makes an input of one line of a case file; the folder is where the files lie that the line names.
type Make = fn(&Value, &Path) -> Option<Vec<u8>>;

/// Writes the seeds of a target into a new folder, and says how many there are.
///
/// # Errors
/// A case file cannot be read or is no row of JSON values, or a seed cannot be written.
pub fn write(target: &str, cases: &Path, folder: &Path) -> Result<usize> {
    let sources: &[(&str, Make)] = match target {
        "robots" => &[("robots.jsonl", robots), ("robots_extra.jsonl", robots)],
        "url" => &[("urls.jsonl", url)],
        "extract" => &[("metadata.jsonl", metadata), ("encoding.jsonl", encoding), ("pages_expected.jsonl", file_page)],
        "sitemap" => &[("sitemaps.jsonl", sitemap)],
        "retry_after" => &[("retry_after.jsonl", retry_after)],
        "directives" => &[("metadata.jsonl", directives)],
        _ => &[],
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut num_seeds = 0;
    for (file, make) in sources {
        let path = cases.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case = serde_json::from_str(line).with_context(|| format!("{} holds a broken line", path.display()))?;
            let Some(seed) = make(&case, cases).filter(|seed| seed.len() <= MAX_SEED_BYTES) else { continue };
            let path = folder.join(format!("seed-{num_seeds}"));
            fs::write(&path, seed).with_context(|| format!("cannot write {}", path.display()))?;
            num_seeds += 1;
        }
    }
    Ok(num_seeds)
}

/// A first line, and a body behind it.
fn with_line(line: &str, body: &[u8]) -> Vec<u8> {
    [line.replace(['\r', '\n'], " ").as_bytes(), b"\n", body].concat()
}

fn robots(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    let url = case["url"].as_str().unwrap_or("/");
    // What stands behind scheme and host.
    let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or("/");
    Some(with_line(path, case["robots_txt"].as_str()?.as_bytes()))
}

fn url(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    Some(with_line(case["base"].as_str().unwrap_or(""), case["input"].as_str()?.as_bytes()))
}

fn metadata(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    let headers = &case["http_headers"];
    let page = with_line(&joined(&headers["x-robots-tag"]), case["html"].as_str()?.as_bytes());
    Some(with_line(&joined(&headers["content-type"]), &page))
}

fn encoding(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    let body = base64(case["bytes_base64"].as_str()?)?;
    Some(with_line(case["content_type"].as_str().unwrap_or(""), &with_line("", &body)))
}

fn file_page(case: &Value, cases: &Path) -> Option<Vec<u8>> {
    let body = fs::read(cases.join(case["file"].as_str()?)).ok()?;
    Some(with_line("text/html", &with_line("", &body)))
}

fn sitemap(case: &Value, cases: &Path) -> Option<Vec<u8>> {
    if let Some(file) = case["file"].as_str() {
        let body = fs::read(cases.join(file)).ok()?;
        return Some(with_line(case["content_type"].as_str().unwrap_or(""), &body));
    }
    let files = case["walk"]["files"].as_object()?;
    let body = files.values().find_map(Value::as_str)?;
    Some(with_line("", body.as_bytes()))
}

fn retry_after(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    let values = case["values"].as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    let status = case["status"].as_u64().unwrap_or(503).to_string();
    Some(with_line(&status, &with_line(case["date"].as_str().unwrap_or(""), values.as_bytes())))
}

/// The header's values, and those of the page's meta elements.
fn directives(case: &Value, _cases: &Path) -> Option<Vec<u8>> {
    let mut lines = Vec::new();
    match &case["http_headers"]["x-robots-tag"] {
        Value::String(value) => lines.push(value.as_str()),
        Value::Array(values) => lines.extend(values.iter().filter_map(Value::as_str)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
    let html = case["html"].as_str().unwrap_or("");
    if html.to_ascii_lowercase().contains("robots") {
        lines.extend(html.split("content=\"").skip(1).filter_map(|rest| rest.split('"').next()));
    }
    (!lines.is_empty()).then(|| lines.join("\n").into_bytes())
}

/// A header of one or of several values.
fn joined(value: &Value) -> String {
    match value {
        Value::String(value) => value.clone(),
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Base64 in its standard alphabet (RFC 4648 §4).
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut num_bits) = (0u32, 0u32);
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0xffff;
        num_bits += 6;
        if num_bits >= 8 {
            num_bits -= 8;
            bytes.push(u8::try_from(held >> num_bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(make: Make, case: &str, wanted: Option<&str>) {
        let made = make(&serde_json::from_str(case).unwrap(), Path::new("."));
        assert_eq!(made.map(|made| String::from_utf8(made).unwrap()).as_deref(), wanted, "{case}");
    }

    #[test]
    fn a_case_becomes_lines_and_a_body() {
        check(robots, r#"{"url": "http://a.example/x?y", "robots_txt": "Allow: /"}"#, Some("/x?y\nAllow: /"));
        check(robots, r#"{"url": "http://a.example", "robots_txt": ""}"#, Some("/\n"));
        check(robots, r#"{"url": "/x"}"#, None);
        check(url, r#"{"base": null, "input": "a\nb"}"#, Some("\na\nb"));
        check(retry_after, r#"{"values": ["1", "2"], "status": 429}"#, Some("429\n\n1\n2"));
        check(metadata, r#"{"html": "<p>", "http_headers": {"x-robots-tag": ["a", "b"]}}"#, Some("\na, b\n<p>"));
        check(encoding, r#"{"bytes_base64": "PHA+", "content_type": "text/html"}"#, Some("text/html\n\n<p>"));
        check(directives, r#"{"html": "<meta name=robots content=\"none\">"}"#, Some("none"));
        check(directives, r#"{"html": "<p>"}"#, None);
    }

    #[test]
    fn base64_of_every_length_is_undone() {
        for (text, wanted) in [("", ""), ("YQ==", "a"), ("YWI=", "ab"), ("YWJj", "abc"), ("YWJjZA", "abcd")] {
            assert_eq!(base64(text).as_deref(), Some(wanted.as_bytes()), "{text}");
        }
        assert_eq!(base64("Y*"), None);
    }
}
