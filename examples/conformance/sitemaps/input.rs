//! The bytes of a case: a file beside the cases, a text in the line, or what a recipe makes.

use std::fs;
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// Bytes that a recipe writes at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// The body of a line; what is wrong with the line if it has none.
pub fn of_line(line: &Value, dir: &Path) -> Result<Vec<u8>, &'static str> {
    if let Some(name) = line["file"].as_str() {
        return fs::read(dir.join(name)).map_err(|_| "file");
    }
    if line["recipe"].is_object() {
        return of_recipe(&line["recipe"]);
    }
    of_text(line).ok_or("file, body or recipe")
}

/// The body of a file of a walk; none where the answer has none to read.
pub fn of_walk_file(file: &Value) -> Result<Option<Vec<u8>>, &'static str> {
    match file {
        // A file that the walk does not know answers 404.
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone().into_bytes())),
        Value::Object(_) if file["status"].as_u64().is_some_and(|status| status != 200) => Ok(None),
        Value::Object(_) if file["recipe"].is_object() => of_recipe(&file["recipe"]).map(Some),
        Value::Object(_) => of_text(file).map(Some).ok_or("body of a walk's file"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err("walk's file"),
    }
}

fn of_text(value: &Value) -> Option<Vec<u8>> {
    match (&value["body"], &value["body_base64"]) {
        (Value::String(text), _) => Some(text.clone().into_bytes()),
        (_, Value::String(coded)) => STANDARD.decode(coded).ok(),
        _ => None,
    }
}

fn of_recipe(recipe: &Value) -> Result<Vec<u8>, &'static str> {
    if recipe["gzip_of"].is_object() {
        return gzip_of(&recipe["gzip_of"]);
    }
    for (count, outer, entry) in [
        ("urlset_of", "urlset", "url"),
        ("index_of", "sitemapindex", "sitemap"),
        ("sitemapindex_of", "sitemapindex", "sitemap"),
    ] {
        if let Some(num_entries) = recipe[count].as_u64() {
            return list_of(recipe, num_entries, outer, entry);
        }
    }
    if let Some(num_times) = recipe["repeat"].as_u64() {
        let num_times = usize::try_from(num_times).map_err(|_| "repeat")?;
        return Ok(bytes_of(&recipe["bytes"]).ok_or("bytes")?.repeat(num_times));
    }
    Err("recipe of a known form")
}

/// A gzip file, made without ever holding what is in it.
fn gzip_of(inner: &Value) -> Result<Vec<u8>, &'static str> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = match (inner["repeat"].as_u64(), bytes_of(&inner["bytes"])) {
        (Some(num_times), Some(pattern)) if !pattern.is_empty() => {
            let a_chunk = (CHUNK_BYTES / pattern.len()).max(1);
            let chunk = pattern.repeat(a_chunk);
            let mut num_left = usize::try_from(num_times).map_err(|_| "repeat")?;
            let mut result = Ok(());
            while num_left > 0 && result.is_ok() {
                let num_now = num_left.min(a_chunk);
                result = encoder.write_all(&chunk[..num_now * pattern.len()]);
                num_left -= num_now;
            }
            result
        }
        _ => {
            let body = of_text(inner).map_or_else(|| of_recipe(inner), Ok)?;
            encoder.write_all(&body)
        }
    };
    written.and_then(|()| encoder.finish()).map_err(|_| "gzip_of")
}

/// A sitemap or index of many entries by a template: `{i}` is the entry's number, `{x*3000}` so many times that text.
fn list_of(recipe: &Value, num_entries: u64, outer: &str, entry: &str) -> Result<Vec<u8>, &'static str> {
    let template = recipe["loc_template"].as_str().ok_or("loc_template")?;
    let template = repeated(template);
    let first = recipe["i_from"].as_u64().unwrap_or(0);
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{outer}>\n");
    for number in first..first + num_entries {
        let loc = template.replace("{i}", &number.to_string());
        text.push_str(&format!("<{entry}><loc>{loc}</loc></{entry}>\n"));
    }
    text.push_str(&format!("</{outer}>\n"));
    Ok(text.into_bytes())
}

/// A template with its `{text*count}` written out.
fn repeated(template: &str) -> String {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let written_out = part.split_once('}').and_then(|(inner, rest)| {
            let (text, count) = inner.split_once('*')?;
            Some((text.repeat(count.parse().ok()?), rest))
        });
        match written_out {
            Some((text, rest)) => {
                out.push_str(&text);
                out.push_str(rest);
            }
            None => {
                out.push('{');
                out.push_str(part);
            }
        }
    }
    out
}

/// Bytes as hex after `0x`, or as the text itself.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let text = value.as_str()?;
    let Some(hex) = text.strip_prefix("0x") else { return Some(text.as_bytes().to_vec()) };
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
