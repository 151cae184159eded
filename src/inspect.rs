//! `lohisoftbot extract` and `lohisoftbot robots`: what the bot would make of a file, without sending anything.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use lohisoftbot_core::extract::{FetchedPage, extract};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{Answer, classify};
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::{self, PRODUCT_TOKEN};
use lohisoftbot_core::time::Timestamp;
use serde_json::json;

use crate::cli::{ExtractArgs, RobotsArgs};

/// Longest file that is read, in bytes; the node itself reads less of a page.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Prints, as JSON, what would be kept of a page, and why nothing would be where that is so.
pub fn extract_file(args: &ExtractArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let body = read(&args.file)?;
    let mut head = ResponseHead::new(200);
    for header in &args.headers {
        head.push(&header.name, header.value.as_bytes());
    }
    let token = PRODUCT_TOKEN.to_ascii_lowercase();
    let page = FetchedPage { url: args.url.as_url(), head: &head, body: &body, cut: false, product_token: &token };
    let extracted = extract(page, &mut || true);
    let now = Timestamp::from_secs(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs(),
    );
    let stored = PageRecord::of_extracted(&extracted, &args.url, &head, 1, now);
    let why_not = match classify(RequestKind::Page, &head, &args.url, now) {
        Answer::Html if extracted.directives.allows_storing(now) => None,
        Answer::Html => Some("it asks not to be indexed"),
        Answer::Sitemap
        | Answer::OtherContent
        | Answer::NotModified
        | Answer::Redirect { .. }
        | Answer::Gone
        | Answer::Barrier { .. }
        | Answer::AskOnceMore { .. }
        | Answer::Busy { .. }
        | Answer::Refused { .. } => Some("by these header fields it is no HTML page, and the node would not read it"),
    };
    let kept = why_not.is_none();
    let answer = json!({
        "kept": kept,
        "why_not": why_not,
        "directives": extracted.directives,
        "charset": extracted.charset,
        "record": kept.then_some(&stored.record),
        "links": stored.links,
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
    Ok(())
}

/// Prints whether a robots.txt lets a crawler ask for a URL, and which line says so.
pub fn robots_file(args: &RobotsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let bytes = read(&args.file)?;
    let verdict = robots::explain(&bytes, &args.agent, args.url.as_url());
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&verdict)?)?;
        return Ok(());
    }
    writeln!(out, "{}: {}", if verdict.allowed { "allowed" } else { "forbidden" }, args.url)?;
    match (&verdict.line, &verdict.text) {
        (Some(line), Some(text)) => writeln!(out, "line {line}: {text}")?,
        (_, _) => writeln!(out, "no line of the file matches this URL")?,
    }
    match &verdict.group {
        Some(group) => writeln!(out, "group: {group}")?,
        None => writeln!(out, "group: none binds {}", args.agent)?,
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let shown: PathBuf = path.to_owned();
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).with_context(|| format!("cannot open {}", shown.display()))?)
    };
    source
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", shown.display()))?;
    anyhow::ensure!(bytes.len() as u64 <= MAX_FILE_BYTES, "{} is larger than {MAX_FILE_BYTES} bytes", shown.display());
    Ok(bytes)
}
