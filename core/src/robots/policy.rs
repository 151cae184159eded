//! What one robots.txt lays upon one crawler, and its answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::lines::cut;
use super::pattern::{Pattern, common_form};
use super::{compile, stored};
use crate::ledger::RobotsGround;
use crate::url::PageUrl;

/// Longest text of a line that a verdict carries, in bytes.
pub const MAX_LINE_TEXT_BYTES: usize = 256;

/// What a policy rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsBasis {
    /// A file was read.
    File,
    /// There is no file: nothing is forbidden (RFC 9309 §2.3.1.3).
    NoFile {
        /// The status that said so.
        status: u16,
    },
    /// A login stands before the site: everything is forbidden.
    LoginRequired {
        /// The status that said so: 401 or 407.
        status: u16,
    },
}

/// Which group of the file binds the crawler (RFC 9309 §2.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsGroup {
    /// Its own; all groups that name it count as one. The name as the file first spells it.
    Own(Box<str>),
    /// The one for all others.
    Any,
    /// None: nothing is forbidden.
    None,
}

impl RobotsGroup {
    /// The name on its User-agent line, if there is a group.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Own(name) => Some(name),
            Self::Any => Some("*"),
            Self::None => None,
        }
    }
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text, trimmed, at most [`MAX_LINE_TEXT_BYTES`] of it.
    pub text: String,
}

/// Why a path may not be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsRefusal {
    /// A Disallow line matches best.
    Line(RobotsLine),
    /// A login stands before the site.
    LoginRequired {
        /// The status that robots.txt was answered with.
        status: u16,
    },
}

/// Whether a path may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsVerdict {
    /// Yes, on this ground.
    Allowed(RobotsGround),
    /// No, for this reason.
    Disallowed(RobotsRefusal),
}

impl RobotsVerdict {
    /// Whether it is a yes.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

/// What a rule does with the paths that it matches. The order is that of preference between equally specific ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    Allow,
    Disallow,
}

/// An Allow or Disallow line, or one of Content-Usage that says whether search may use a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub number: u32,
    pub effect: Effect,
    pub pattern: Pattern,
    pub text: Box<str>,
}

impl Rule {
    pub(super) fn line(&self) -> RobotsLine {
        RobotsLine { number: self.number, text: cut(&self.text, MAX_LINE_TEXT_BYTES).to_owned() }
    }
}

/// What one robots.txt lays upon one crawler: only the lines that bind it, most specific first.
///
/// Stored as those lines themselves and compiled anew when read, so what is stored stays small whatever the patterns
/// become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "stored::StoredPolicy", try_from = "stored::StoredPolicy")]
pub struct RobotsPolicy {
    pub(super) basis: RobotsBasis,
    pub(super) group: RobotsGroup,
    /// In the order in which they decide.
    pub(super) rules: Vec<Rule>,
    /// Content-Usage, in the order in which they decide.
    pub(super) search_rules: Vec<Rule>,
    pub(super) crawl_delay: Option<Duration>,
    pub(super) sitemaps: Vec<String>,
}

impl RobotsPolicy {
    /// What a file says to the crawler with this product token; `*` stands for one that no group names. Any bytes will
    /// do.
    pub fn parse(bytes: &[u8], product_token: &str) -> Self {
        compile::compile(bytes, super::product_token(product_token))
    }

    /// The policy where there is no file.
    pub fn without_file(status: u16) -> Self {
        Self::bare(RobotsBasis::NoFile { status })
    }

    /// The policy where a login stands before the site.
    pub fn login_required(status: u16) -> Self {
        Self::bare(RobotsBasis::LoginRequired { status })
    }

    fn bare(basis: RobotsBasis) -> Self {
        Self {
            basis,
            group: RobotsGroup::None,
            rules: Vec::new(),
            search_rules: Vec::new(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        }
    }

    /// What it rests on.
    pub fn basis(&self) -> RobotsBasis {
        self.basis
    }

    /// The group that decides.
    pub fn group(&self) -> &RobotsGroup {
        &self.group
    }

    /// Whether a page may be asked for; its origin is taken to be the one that the file is for.
    pub fn verdict(&self, url: &PageUrl) -> RobotsVerdict {
        self.verdict_for_path(url.path_and_query())
    }

    /// Whether a path with query may be asked for. The most specific rule decides, Allow wins a tie (RFC 9309 §2.2.2).
    pub fn verdict_for_path(&self, path_and_query: &str) -> RobotsVerdict {
        // RFC 9309 §2.2.2: the file itself is always allowed.
        if path_and_query == "/robots.txt" {
            return RobotsVerdict::Allowed(RobotsGround::RobotsFile);
        }
        match self.basis {
            RobotsBasis::NoFile { .. } => RobotsVerdict::Allowed(RobotsGround::NoRule),
            RobotsBasis::LoginRequired { status } => RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status }),
            RobotsBasis::File => self.verdict_of_rules(path_and_query),
        }
    }

    fn verdict_of_rules(&self, path_and_query: &str) -> RobotsVerdict {
        let Some(rule) = first_match(&self.rules, path_and_query) else {
            return RobotsVerdict::Allowed(RobotsGround::NoRule);
        };
        let line = rule.line();
        match rule.effect {
            Effect::Allow => RobotsVerdict::Allowed(RobotsGround::Line { number: line.number, text: line.text }),
            Effect::Disallow => RobotsVerdict::Disallowed(RobotsRefusal::Line(line)),
        }
    }

    /// The line that keeps a path out of search (`Content-Usage: /path search=n`); such a page counts as noindex.
    pub fn search_usage_forbidden(&self, path_and_query: &str) -> Option<RobotsLine> {
        let rule = first_match(&self.search_rules, path_and_query)?;
        match rule.effect {
            Effect::Allow => None,
            Effect::Disallow => Some(rule.line()),
        }
    }

    /// The gap between requests that the group asks for, at most [`super::MAX_CRAWL_DELAY`].
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The Sitemap lines of the whole file as they stand, without repeats.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The same as absolute http(s) URLs, relative ones resolved against where the file lies; what is no such URL is
    /// left out.
    pub fn sitemap_urls(&self, robots_url: &Url) -> Vec<Url> {
        let mut urls: Vec<Url> = Vec::new();
        for url in self.sitemaps.iter().filter_map(|raw| robots_url.join(raw).ok()) {
            if matches!(url.scheme(), "http" | "https") && !urls.contains(&url) {
                urls.push(url);
            }
        }
        urls
    }
}

fn first_match<'a>(rules: &'a [Rule], path_and_query: &str) -> Option<&'a Rule> {
    if rules.is_empty() {
        return None;
    }
    let path = common_form(path_and_query);
    rules.iter().find(|rule| rule.pattern.matches(&path))
}
