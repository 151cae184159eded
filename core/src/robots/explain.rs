//! A verdict for people and machines: what was decided, and which line of the file decided it.
//!
//! It answers for what the crawler does, so a page that Content-Usage keeps out of search is not allowed: it counts as noindex, and is
//! not asked for. What a status without a file means is not told here; see [`super::status`].

use serde::Serialize;
use url::Url;

use super::compile::compile_with_outline;
use super::policy::{RobotsLine, RobotsRefusal, RobotsVerdict};
use super::product_token;
use crate::ledger::RobotsGround;

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// An Allow line: the most specific that matches.
    AllowLine,
    /// A Disallow line: the most specific that matches.
    DisallowLine,
    /// A Content-Usage line with `search=n`, on a path that may be asked for otherwise.
    ContentUsageLine,
    /// No line matches, and the group has an Allow or Disallow line without a value, which forbids nothing.
    EmptyLine,
    /// No line of the group matches.
    NoMatch,
    /// No group binds the crawler.
    NoGroup,
    /// The URL is that of robots.txt itself, which is always allowed (RFC 9309 §2.2.2).
    RobotsFile,
}

/// A verdict, with what made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Whether the URL may be asked for.
    pub allowed: bool,
    /// The number of the line that decided, from 1; none where no line did.
    pub line: Option<u32>,
    /// The text of that line.
    pub text: Option<String>,
    /// The User-agent name of the group that decided, `*` for the one of all others; none where no group binds the
    /// crawler.
    pub group: Option<String>,
    /// The number of the first User-agent line of that group.
    pub group_line: Option<u32>,
    /// What kind of thing decided.
    pub decided_by: DecidedBy,
}

/// What a file says to the crawler of this product token about a URL, and which line says so.
pub fn explain(bytes: &[u8], agent: &str, url: &Url) -> Explanation {
    let (policy, outline) = compile_with_outline(bytes, product_token(agent));
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let group = policy.group().name().map(str::to_owned);
    let (decided_by, line) = match policy.verdict_for_path(path) {
        RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) => (DecidedBy::DisallowLine, Some(line)),
        // A file alone never asks for a login.
        RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { .. }) => (DecidedBy::DisallowLine, None),
        RobotsVerdict::Allowed(RobotsGround::RobotsFile) => (DecidedBy::RobotsFile, None),
        RobotsVerdict::Allowed(ground) => match policy.search_usage_forbidden(path) {
            Some(line) => (DecidedBy::ContentUsageLine, Some(line)),
            None => match (ground, outline.empty_line) {
                (RobotsGround::Line { number, text }, _) => (DecidedBy::AllowLine, Some(RobotsLine { number, text })),
                (RobotsGround::NoRule | RobotsGround::RobotsFile, _) if group.is_none() => (DecidedBy::NoGroup, None),
                (RobotsGround::NoRule | RobotsGround::RobotsFile, Some(empty)) => (DecidedBy::EmptyLine, Some(empty)),
                (RobotsGround::NoRule | RobotsGround::RobotsFile, None) => (DecidedBy::NoMatch, None),
            },
        },
    };
    let allowed = match decided_by {
        DecidedBy::DisallowLine | DecidedBy::ContentUsageLine => false,
        DecidedBy::AllowLine
        | DecidedBy::EmptyLine
        | DecidedBy::NoMatch
        | DecidedBy::NoGroup
        | DecidedBy::RobotsFile => true,
    };
    let group_line = outline.group_line.filter(|_| group.is_some());
    let (line, text) = line.map(|line| (line.number, line.text)).unzip();
    Explanation { allowed, line, text, group, group_line, decided_by }
}

#[cfg(test)]
mod tests {
    use super::DecidedBy::*;
    use super::*;

    /// `wanted`: what decided, its line, the group and its line.
    #[track_caller]
    fn check(file: &str, path: &str, wanted: (DecidedBy, Option<u32>, Option<(&str, u32)>)) {
        let url = Url::parse("https://a.example").unwrap().join(path).unwrap();
        let got = explain(file.as_bytes(), "LohiSoftBot/1.0 (+https://lohisoft.com/bot)", &url);
        let group = got.group.as_deref().zip(got.group_line);
        assert_eq!((got.decided_by, got.line, group), wanted, "{path} under {file:?}");
        assert_eq!(got.text.is_some(), got.line.is_some());
        let line = got.line.map(|number| file.lines().nth(number as usize - 1).unwrap());
        assert_eq!(got.text.as_deref(), line, "{path} under {file:?}");
    }

    #[test]
    fn every_verdict_names_what_decided_and_where_it_stands() {
        let file = "# rules\nUser-agent: *\nDisallow: /\n\nUser-agent: x\nUser-agent: lohisoftbot\n\
                    Disallow: /private/\nAllow: /private/open\nContent-Usage: /quiet/ search=n\n";
        let ours = Some(("lohisoftbot", 6));
        check(file, "/private/x?y#z", (DisallowLine, Some(7), ours));
        check(file, "/private/open", (AllowLine, Some(8), ours));
        check(file, "/quiet/x", (ContentUsageLine, Some(9), ours));
        check(file, "/x", (NoMatch, None, ours));
        check(file, "/robots.txt", (RobotsFile, None, ours));
        check("User-agent: *\nDisallow: /a\nDisallow: /a/b", "/a/b", (DisallowLine, Some(3), Some(("*", 1))));
    }

    #[test]
    fn a_line_without_a_value_decides_where_nothing_matches() {
        check("User-agent: *\nDisallow:", "/x", (EmptyLine, Some(2), Some(("*", 1))));
        check("User-agent: *\nAllow:\nDisallow:", "/x", (EmptyLine, Some(2), Some(("*", 1))));
        check("User-agent: *\nDisallow:\nDisallow: /x", "/x", (DisallowLine, Some(3), Some(("*", 1))));
        check(
            "User-agent: *\nDisallow:\nUser-agent: lohisoftbot\nDisallow: /y",
            "/x",
            (NoMatch, None, Some(("lohisoftbot", 3))),
        );
        check(
            "User-agent: lohisoftbot\nDisallow:\nUser-agent: *\nDisallow: /",
            "/x",
            (EmptyLine, Some(2), Some(("lohisoftbot", 1))),
        );
    }

    #[test]
    fn where_no_group_binds_us_nothing_decides_but_what_is_said_to_all() {
        for file in ["", "# nothing", "User-agent: x\nDisallow: /", "Disallow: /", "<html><p>Disallow: /</p></html>"] {
            check(file, "/x", (NoGroup, None, None));
        }
        check("Content-Usage: search=n\nUser-agent: x\nDisallow: /", "/x", (ContentUsageLine, Some(1), None));
    }

    #[test]
    fn a_forbidden_path_is_forbidden_by_its_rule_whatever_search_may_do() {
        check("User-agent: *\nContent-Usage: search=n\nDisallow: /x", "/x", (DisallowLine, Some(3), Some(("*", 1))));
        check("User-agent: *\nContent-Usage: search=n\nAllow: /x", "/x", (ContentUsageLine, Some(2), Some(("*", 1))));
        check("User-agent: *\nContent-Usage: search=y\nAllow: /x", "/x", (AllowLine, Some(3), Some(("*", 1))));
    }
}
