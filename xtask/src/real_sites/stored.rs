//! Holds what the node stored against what html5lib reads off the same files.
//!
//! Both sides are plain texts here: the dump's lines on one side, the oracle's on the other. Knows the published caps of a record, since
//! a text that is longer than its cap is stored as its beginning.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::doc_sets::RealSite;
use super::packages;
use crate::command::{capture, workspace_root};

/// Longest title and description of a record, in characters.
const MAX_TEXT_CHARS: usize = 1_024;
/// Longest heading of a record, in characters.
const MAX_HEADING_CHARS: usize = 256;
/// Most headings of a record.
const MAX_HEADINGS: usize = 64;
/// A cut falls on a word where one is near: no more than this is given up for it, in characters.
const MAX_GIVEN_UP_CHARS: usize = 128;

/// Debian's own Python, the one that Debian's html5lib belongs to, whatever `python3` on the path is.
const PYTHON: &str = "/usr/bin/python3";

/// One heading, on either side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Heading {
    /// 1, 2 or 3.
    pub level: u8,
    /// Its text.
    pub text: String,
}

/// What is compared of a page, on either side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PageTexts {
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its headings in order.
    pub headings: Vec<Heading>,
}

impl PageTexts {
    /// All texts of the page.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let single = self.title.iter().chain(&self.description).map(String::as_str);
        single.chain(self.headings.iter().map(|heading| heading.text.as_str()))
    }
}

/// A page as the dump shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredPage {
    /// Where it was fetched.
    pub url: String,
    /// Its texts.
    #[serde(flatten)]
    pub texts: PageTexts,
}

impl StoredPage {
    /// Host (without port) and path of its URL.
    pub fn host_and_path(&self) -> Option<(&str, &str)> {
        let (_, rest) = self.url.split_once("://")?;
        let slash = rest.find('/')?;
        let (authority, path) = rest.split_at(slash);
        let host = authority.split(':').next()?;
        Some((host, path.split(['?', '#']).next()?))
    }
}

/// Reads the dump's JSON lines.
///
/// # Errors
/// A line has no URL, title or headings.
pub fn parse_dump(lines: &str) -> Result<Vec<StoredPage>> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).with_context(|| format!("cannot read the dump's line {line}")))
        .collect()
}

/// What html5lib reads off these files, in their order.
///
/// # Errors
/// Python or html5lib cannot be installed, or the script fails.
pub fn ask_oracle(files: &[PathBuf]) -> Result<Vec<PageTexts>> {
    let has_html5lib = capture(Command::new(PYTHON).args(["-c", "import html5lib"])).is_ok_and(|said| said.succeeded);
    if !has_html5lib {
        packages::install_missing(&["python3-html5lib".to_owned()])?;
    }
    let script = workspace_root().join("xtask/src/real_sites/oracle.py");
    let mut child = Command::new(PYTHON)
        .arg(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {PYTHON} {}", script.display()))?;
    let names: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let mut stdin = child.stdin.take().context("the oracle's input is not piped")?;
    // A thread of its own, so that neither side waits for the other with a full pipe.
    let writer = thread::spawn(move || stdin.write_all(names.as_bytes()));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("the oracle ended with {}", output.status);
    }
    if let Ok(written) = writer.join() {
        written.context("cannot hand the oracle its files")?;
    }
    let lines = String::from_utf8(output.stdout).context("the oracle wrote no UTF-8")?;
    let pages = lines.lines().map(serde_json::from_str).collect::<Result<Vec<PageTexts>, _>>()?;
    if pages.len() != files.len() {
        bail!("the oracle answered {} of {} files", pages.len(), files.len());
    }
    Ok(pages)
}

/// The file that each page was served from.
///
/// # Errors
/// A stored page is of none of the sites, or its file does not exist: the node stored what no server sent.
pub fn files_of(pages: &[StoredPage], sites: &[RealSite]) -> Result<Vec<PathBuf>> {
    let file_of = |page: &StoredPage| -> Result<PathBuf> {
        let (host, path) = page.host_and_path().with_context(|| format!("{} is no URL", page.url))?;
        let site =
            sites.iter().find(|site| site.host == host).with_context(|| format!("{} is of no known site", page.url))?;
        let file = site.file_of(path);
        if !Path::is_file(&file) {
            bail!("{} was stored, but there is no {}", page.url, file.display());
        }
        Ok(file)
    };
    pages.iter().map(file_of).collect()
}

/// Where a stored page differs from what the oracle reads; empty where it does not.
pub fn differences(stored: &PageTexts, read: &PageTexts) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, stored: Option<&str>, read: Option<&str>, cap: usize| {
        let is_same = match (stored, read) {
            (Some(stored), Some(read)) => is_kept(stored, read, cap),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_same {
            found.push(format!("{what}: stored {stored:?}, html5lib reads {read:?}"));
        }
    };
    check("title", stored.title.as_deref(), read.title.as_deref(), MAX_TEXT_CHARS);
    check("description", stored.description.as_deref(), read.description.as_deref(), MAX_TEXT_CHARS);
    let num_headings = stored.headings.len().max(read.headings.len().min(MAX_HEADINGS));
    for index in 0..num_headings {
        let (stored, read) = (stored.headings.get(index), read.headings.get(index));
        let level = |heading: Option<&Heading>| heading.map(|heading| heading.level.to_string());
        check(
            &format!("level of heading {}", index + 1),
            level(stored).as_deref(),
            level(read).as_deref(),
            MAX_HEADING_CHARS,
        );
        let text = |heading: Option<&Heading>| heading.map(|heading| heading.text.clone());
        check(&format!("heading {}", index + 1), text(stored).as_deref(), text(read).as_deref(), MAX_HEADING_CHARS);
    }
    found
}

/// Whether `stored` is `read`, or its beginning where it is longer than the cap.
fn is_kept(stored: &str, read: &str, cap: usize) -> bool {
    let num_stored = stored.chars().count();
    if read.chars().count() <= cap {
        return stored == read;
    }
    // An ellipsis may stand for what was cut.
    let beginning = stored.trim_end_matches('\u{2026}').trim_end();
    num_stored <= cap && num_stored + MAX_GIVEN_UP_CHARS >= cap && read.starts_with(beginning)
}

/// What the texts of a language must show: that they came through unharmed.
pub struct LanguageCheck {
    /// What to call it in a message.
    pub name: &'static str,
    /// Site that is in this language as a whole.
    pub host: &'static str,
    /// First folders of a path that pages of this language lie in.
    pub folders: &'static [&'static str],
    /// Letters that no other reading of the bytes would give: at least one of them must occur in the stored texts.
    pub letters: &'static [&'static [char]],
}

/// The languages that the routine looks for.
pub const LANGUAGES: [LanguageCheck; 2] = [
    LanguageCheck {
        name: "Romanian",
        host: "handbook-ro.test",
        folders: &["ro-RO", "ro"],
        // With comma below as the language has them; the handbook's older pages have the cedilla.
        letters: &[&['\u{219}', '\u{218}', '\u{15f}'], &['\u{21b}', '\u{21a}', '\u{163}'], &['\u{103}', '\u{102}']],
    },
    LanguageCheck {
        name: "Chinese",
        host: "handbook-zh.test",
        folders: &["zh-CN", "zh_CN", "zh-TW"],
        letters: &[&['\u{624b}', '\u{518c}', '\u{88dd}', '\u{88c5}']],
    },
];

/// What is wrong with a language's stored pages; none where all is well.
pub fn language_problem(language: &LanguageCheck, pages: &[StoredPage]) -> Option<String> {
    let is_of = |page: &&StoredPage| {
        page.host_and_path().is_some_and(|(host, path)| {
            let folder = path.trim_start_matches('/').split_once('/').map_or("", |(folder, _)| folder);
            host == language.host || language.folders.contains(&folder)
        })
    };
    let texts: Vec<&str> = pages.iter().filter(is_of).flat_map(|page| page.texts.texts()).collect();
    if texts.is_empty() {
        return Some(format!("no page in {} was stored", language.name));
    }
    // That each text is the one that the page holds is compared elsewhere; which letters twenty pages have is up to their choice.
    let is_there = |group: &&[char]| texts.iter().any(|text| text.contains(*group));
    let letters = language.letters;
    (!letters.iter().any(is_there)).then(|| format!("no {} text has any of {letters:?}", language.name))
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
