//! Cases of the kind `sitemaps`: one file, a file made by a recipe, or a walk over several files.

mod input;

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use lohisoftbot::io::decode::{DecodeCaps, gunzip_file};
use lohisoftbot_core::directives::parse_date;
use lohisoftbot_core::page_choice::{EntryStanding, PageQueue};
use lohisoftbot_core::robots::RobotsPolicy;
use lohisoftbot_core::sitemap::{
    MAX_SITEMAP_BYTES, SitemapFile, SitemapKind, SitemapLimits, SitemapReading, SitemapUrl, read,
};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::Value;
use url::Url;

use crate::CaseResult;
use crate::robots::disputed;

/// Requests of a walk whose line does not say how many pages a cycle may ask for: the budget of a cycle.
const MAX_WALK_REQUESTS: usize = 20;

/// URLs that a site's queue takes by default.
const MAX_QUEUED_URLS: usize = 1000;

/// Decoded bytes for one byte of a gzip file.
const MAX_RATIO: u32 = 1000;

/// Runs one line. A line that is a matter of policy is run, and its answer not judged.
pub fn run_line(line: &Value, dir: &Path) -> CaseResult {
    let result = if line["walk"].is_object() {
        walk(line)
    } else {
        match input::of_line(line, dir) {
            Ok(file) => single(line, file),
            Err(what) => return CaseResult::malformed(what),
        }
    };
    match result {
        // Some lines say which further answers are right; a policy line is not judged.
        CaseResult::Failed { .. } if disputed(line) => CaseResult::NotAsserted,
        result => result,
    }
}

/// Reads a body as the crawler does: gzip undone by its first bytes, then read from where it was fetched.
fn read_body(body: Vec<u8>, at: &Url, content_type: Option<&str>) -> SitemapReading {
    let caps = DecodeCaps { bytes: MAX_SITEMAP_BYTES, ratio: MAX_RATIO };
    let file = gunzip_file(Bytes::from(body), caps, || true);
    let file = SitemapFile { at, content_type, bytes: &file.body, cut: file.cut };
    read(file, &SitemapLimits::default(), &mut || true)
}

fn single(line: &Value, file: Vec<u8>) -> CaseResult {
    let at = line["url"].as_str().unwrap_or("https://example.com/sitemap.xml");
    let Ok(at) = Url::parse(at) else { return CaseResult::malformed("url") };
    let reading = read_body(file, &at, line["content_type"].as_str());
    let expected = &line["expected"];
    let urls = texts(reading.urls.iter().map(|listed| &listed.url));

    if let Some(kind) = expected["kind"].as_str()
        && kind != kind_name(reading.kind)
    {
        return failed(kind, kind_name(reading.kind));
    }
    let acceptable = line["acceptable_urls"].as_array().map_or(&[][..], Vec::as_slice);
    if let wanted @ Value::Array(_) = &expected["urls"]
        && Value::from(urls.clone()) != *wanted
        && !acceptable.contains(&Value::from(urls.clone()))
    {
        return failed(wanted, &Value::from(urls));
    }
    if let wanted @ Value::Array(_) = &expected["sitemaps"] {
        let sitemaps = Value::from(texts(reading.sitemaps.iter()));
        if sitemaps != *wanted {
            return failed(wanted, &sitemaps);
        }
    }
    check_lastmod(line, &reading.urls)
}

/// Each listed time is the wanted one; those that are named as lenient may also be none.
fn check_lastmod(line: &Value, urls: &[SitemapUrl]) -> CaseResult {
    let Some(wanted) = line["expected"]["lastmod"].as_object() else { return CaseResult::Passed };
    let lenient = line["lenient_lastmod"].as_array().map_or(&[][..], Vec::as_slice);
    let got: BTreeMap<&str, Option<Timestamp>> =
        urls.iter().map(|listed| (listed.url.as_str(), listed.lastmod)).collect();
    for (url, wanted) in wanted {
        let got = got.get(url.as_str()).copied().flatten();
        let may_be_none = lenient.iter().any(|lenient| lenient == url.as_str());
        let is_right = match wanted.as_str() {
            None => got.is_none(),
            Some(text) => got.is_some_and(|got| same_moment(text, got)) || (got.is_none() && may_be_none),
        };
        if !is_right {
            return failed(&format!("{url} {wanted}"), &format!("{got:?}"));
        }
    }
    CaseResult::Passed
}

/// Whether a time in UTC, perhaps with a fraction of a second, is this one.
fn same_moment(text: &str, got: Timestamp) -> bool {
    let (whole, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
    let millis = format!("{fraction:0<3}").get(..3).and_then(|digits| digits.parse::<u64>().ok());
    let Some((whole, millis)) = parse_date(&format!("{whole}Z")).zip(millis) else { return false };
    whole.as_millis() + millis == got.as_millis()
}

/// Walks over the line's files as a cycle would.
fn walk(line: &Value) -> CaseResult {
    let (walk, expected) = (&line["walk"], &line["expected"]);
    let starts: Vec<Url> = walk["start"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|start| Url::parse(start.as_str()?).ok())
        .collect();
    let Some(site) = starts.first().and_then(|start| PageUrl::from_url(start.clone()).ok()).map(|url| url.site())
    else {
        return CaseResult::malformed("start");
    };
    let own = |urls: Vec<Url>| {
        let urls = urls.into_iter().filter_map(|url| PageUrl::from_url(url).ok());
        urls.filter(|url| url.site() == site).collect::<Vec<_>>()
    };
    let (mut fetched, mut listed) = (Vec::new(), Vec::new());
    let mut queue = PageQueue::default();
    queue.add_named_sitemaps(own(starts), MAX_QUEUED_URLS);
    while let Some(url) =
        queue.best(|_| false).map(|entry| entry.url.clone()).filter(|_| fetched.len() < MAX_WALK_REQUESTS)
    {
        let file = &walk["files"][url.as_str()];
        match input::of_walk_file(file) {
            Ok(Some(body)) => {
                let reading = read_body(body, url.as_url(), file["content_type"].as_str());
                queue.add_children(&url, own(reading.sitemaps), MAX_QUEUED_URLS);
                listed.extend(reading.urls);
            }
            Ok(None) => {}
            Err(what) => return CaseResult::malformed(what),
        }
        queue.settle(&url, EntryStanding::SitemapRead { num_urls: 0 });
        fetched.push(url.as_str().to_owned());
    }

    let urls = sorted(texts(listed.iter().map(|listed| &listed.url)));
    if expected["urls"].is_array() && sorted_list(&expected["urls"]) != urls {
        return failed(&expected["urls"], &Value::from(urls));
    }
    let num_fetches = Value::from(fetched.len());
    if !expected["fetches"].is_null() && expected["fetches"] != num_fetches {
        return failed(&expected["fetches"], &num_fetches);
    }
    if expected["max_fetches"].as_u64().is_some_and(|most| fetched.len() as u64 > most) {
        return failed(&format!("at most {} fetches", expected["max_fetches"]), &num_fetches);
    }
    if let Some(forbidden) = sorted_list(&expected["must_not_fetch"]).into_iter().find(|url| fetched.contains(url)) {
        return failed(&format!("no fetch of {forbidden}"), &format!("{fetched:?}"));
    }
    if expected["crawlable"].is_array() {
        let crawlable = sorted(crawlable(&walk["files"], &listed));
        return CaseResult::compare(&sorted_list(&expected["crawlable"]), &crawlable);
    }
    CaseResult::Passed
}

/// The URLs that the robots.txt of their origin, where the files hold one, lets the crawler ask for.
fn crawlable(files: &Value, urls: &[SitemapUrl]) -> Vec<String> {
    let is_allowed = |listed: &&SitemapUrl| {
        let robots_at = listed.url.join("/robots.txt").map(String::from).unwrap_or_default();
        let Some(robots_txt) = files[robots_at].as_str() else { return true };
        let policy = RobotsPolicy::parse(robots_txt.as_bytes(), "lohisoftbot");
        PageUrl::from_url(listed.url.clone()).is_ok_and(|url| policy.verdict(&url).is_allowed())
    };
    texts(urls.iter().filter(is_allowed).map(|listed| &listed.url))
}

fn kind_name(kind: SitemapKind) -> &'static str {
    match kind {
        SitemapKind::UrlSet => "urlset",
        SitemapKind::Index => "sitemapindex",
        SitemapKind::Text => "text",
        SitemapKind::Rss | SitemapKind::Atom => "feed",
        SitemapKind::Nothing(_) => "none",
    }
}

fn texts<'a>(urls: impl Iterator<Item = &'a Url>) -> Vec<String> {
    urls.map(Url::to_string).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// A list of texts, in order; empty where there is none.
fn sorted_list(list: &Value) -> Vec<String> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    sorted(list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect())
}

fn failed(wanted: &(impl std::fmt::Display + ?Sized), got: &(impl std::fmt::Display + ?Sized)) -> CaseResult {
    CaseResult::Failed { wanted: wanted.to_string(), got: got.to_string() }
}
