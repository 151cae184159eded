//! `lohisoftbot extract` and `lohisoftbot robots`: what the bot would make of a file, without sending anything.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use lohisoftbot_core::barrier::BarrierKind;
use lohisoftbot_core::extract::{FetchedPage, extract, is_other_format};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{Answer, classify};
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::{self, DecidedBy, PRODUCT_TOKEN};
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
    let answer = classify(RequestKind::Page, &head, &args.url, now);
    let barrier = match &answer {
        Answer::Barrier { kind, .. } => Some(*kind),
        Answer::Html if !is_other_format(&body) => extracted.barrier,
        Answer::Html
        | Answer::Sitemap
        | Answer::OtherType
        | Answer::OtherContent
        | Answer::NotModified
        | Answer::Redirect { .. }
        | Answer::Gone
        | Answer::AskOnceMore { .. }
        | Answer::Busy { .. }
        | Answer::Refused { .. } => None,
    };
    let why_not = match answer {
        _ if barrier.is_some() => barrier.map(BarrierKind::describe),
        Answer::Html if is_other_format(&body) => Some("its bytes are no HTML page, whatever its type says"),
        Answer::Html if extracted.directives.allows_storing(now) => None,
        Answer::Html => Some("it asks not to be indexed"),
        Answer::Sitemap
        | Answer::OtherType
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
        "barrier": barrier,
        "directives": extracted.directives,
        "charset": extracted.charset,
        "record": kept.then_some(&stored.record),
        "links": if barrier.is_none() { stored.links.as_slice() } else { &[] },
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
    if let (Some(line), Some(text)) = (&verdict.line, &verdict.text) {
        writeln!(out, "line {line}: {text}")?;
    }
    writeln!(out, "{}", ground(verdict.decided_by))?;
    match (&verdict.group, verdict.group_line) {
        (Some(group), Some(line)) => writeln!(out, "group: {group}, from line {line} on")?,
        (Some(group), None) => writeln!(out, "group: {group}")?,
        (None, _) => writeln!(out, "group: none binds {}", args.agent)?,
    }
    Ok(())
}

/// Why the verdict is what it is, in a sentence.
fn ground(decided_by: DecidedBy) -> &'static str {
    match decided_by {
        DecidedBy::AllowLine => "this Allow line is the most specific one that matches",
        DecidedBy::DisallowLine => "this Disallow line is the most specific one that matches",
        DecidedBy::ContentUsageLine => "search may not use this page, so the bot does not ask for it",
        DecidedBy::EmptyLine => "a line without a value forbids nothing, and no other line of the group matches",
        DecidedBy::NoMatch => "no line of the group matches this URL, and what is not forbidden is allowed",
        DecidedBy::NoGroup => "no group of the file is for this bot or for all, so nothing is forbidden to it",
        DecidedBy::RobotsFile => "robots.txt itself may always be asked for",
    }
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
