//! One clean line, read by the `robotstxt` crate: which directive it is, and its value.
//!
//! The crate knows what webmasters mistype (`disalow`, a missing colon) the way Google reads it. It is handed one line
//! at a time, so that a line it cannot take (it may panic) is the only one lost, and so that line numbers are ours.

use std::panic::{AssertUnwindSafe, catch_unwind};

use robotstxt::{RobotsParseHandler, parse_robotstxt};

/// What a line says. Values are trimmed and without comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    UserAgent(String),
    Allow(String),
    Disallow(String),
    Sitemap(String),
    CrawlDelay(String),
    ContentUsage(String),
    /// The parser panicked on it.
    Unreadable,
}

/// Reads a clean line; nothing for a comment, an unknown directive, or no directive at all.
pub(super) fn read(line: &str) -> Option<Directive> {
    let mut escaped = String::new();
    let directive = match bare_percent(line, 0) {
        None => feed(line),
        Some(first) => {
            escape_bare_percents(line, first, &mut escaped);
            feed(&escaped)
        }
    };
    match directive {
        // A sitemap's address is no pattern: it is taken as it stands.
        Some(Directive::Sitemap(_)) if !escaped.is_empty() => feed(line),
        other => other,
    }
}

/// Where the first `%` at or after `from` stands that begins no triplet.
fn bare_percent(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'%', &bytes[from..])
        .map(|at| at + from)
        .find(|at| !matches!(bytes[at + 1..], [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit()))
}

/// The crate drops a `%` that begins no triplet, and two bytes with it, so it is handed the triplet of the `%` instead.
fn escape_bare_percents(line: &str, first: usize, out: &mut String) {
    let mut done = 0;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&line[done..at]);
        out.push_str("%25");
        done = at + 1;
        next = bare_percent(line, done);
    }
    out.push_str(&line[done..]);
}

fn feed(line: &str) -> Option<Directive> {
    // The crate takes the characters U+00EF, U+00BB and U+00BF at the start of its input for a byte order mark.
    let guarded = line.starts_with('\u{ef}').then(|| format!("#\n{line}"));
    let body = guarded.as_deref().unwrap_or(line);
    let reader = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = OneLine { directive: None };
        parse_robotstxt(body, &mut reader);
        reader
    }));
    match reader {
        Ok(OneLine { directive }) => directive,
        Err(_) => Some(Directive::Unreadable),
    }
}

/// Takes what the crate reports of one line.
struct OneLine {
    directive: Option<Directive>,
}

impl RobotsParseHandler for OneLine {
    fn handle_robots_start(&mut self) {}

    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, _: u32, value: &str) {
        self.directive = Some(Directive::UserAgent(value.to_owned()));
    }

    fn handle_allow(&mut self, _: u32, value: &str) {
        self.directive = Some(Directive::Allow(value.to_owned()));
    }

    fn handle_disallow(&mut self, _: u32, value: &str) {
        self.directive = Some(Directive::Disallow(value.to_owned()));
    }

    fn handle_sitemap(&mut self, _: u32, value: &str) {
        self.directive = Some(Directive::Sitemap(value.to_owned()));
    }

    fn handle_unknown_action(&mut self, _: u32, key: &str, value: &str) {
        self.directive = extension(key, value);
    }
}

/// The directives beyond RFC 9309 that are heard (§2.2.4 lets a crawler do so).
fn extension(key: &str, value: &str) -> Option<Directive> {
    let key = key.to_ascii_lowercase();
    match key.as_str() {
        // The slower reading of a misspelt delay is the polite one.
        "crawl-delay" | "crawldelay" | "crawl delay" => Some(Directive::CrawlDelay(value.to_owned())),
        "content-usage" => Some(Directive::ContentUsage(value.to_owned())),
        "site map" => Some(Directive::Sitemap(value.to_owned())),
        // An address on a line of its own, where `Sitemap:` was forgotten.
        "http" | "https" if is_sitemap_address(value) => Some(Directive::Sitemap(format!("{key}:{value}"))),
        _ => None,
    }
}

fn is_sitemap_address(after_scheme: &str) -> bool {
    let lower = after_scheme.to_ascii_lowercase();
    lower.starts_with("//") && (lower.contains("sitemap") || lower.ends_with(".xml") || lower.ends_with(".xml.gz"))
}

#[cfg(test)]
mod tests {
    use super::Directive::*;
    use super::*;

    #[track_caller]
    fn check(line: &str, wanted: Option<Directive>) {
        assert_eq!(read(line), wanted, "{line:?}");
    }

    #[test]
    fn rfc9309_2_2_lines_are_read_whatever_the_case_and_the_blanks() {
        for line in
            ["User-agent: foo", "USER-AGENT:foo", "user-agent \t:\t foo # bar", "useragent: foo", "user-agent foo"]
        {
            check(line, Some(UserAgent("foo".into())));
        }
        for line in ["Disallow: /x", "disallow:/x", "DISALLOW /x", "Dissallow: /x", "disalow: /x#y", "diasllow: /x"] {
            check(line, Some(Disallow("/x".into())));
        }
        check("Allow:", Some(Allow(String::new())));
        check("Allow: /a b", Some(Allow("/a b".into())));
    }

    #[test]
    fn lines_that_say_nothing_are_passed_over() {
        for line in ["# Disallow: /", "Disallow", "disallow /a /b", ": /x", "Noindex: /x", "<p>Disallow: /x", "Host: x"]
        {
            check(line, None);
        }
    }

    #[test]
    fn a_percent_that_begins_no_triplet_is_kept_as_the_character() {
        check("Disallow: /100%/caf\u{e9}", Some(Disallow("/100%25/caf%C3%A9".into())));
        check("Disallow: /%%41%4", Some(Disallow("/%25%41%254".into())));
        check("Allow: /%c3%a9%", Some(Allow("/%C3%A9%25".into())));
        check("Sitemap: http://a.example/100%.xml", Some(Sitemap("http://a.example/100%.xml".into())));
    }

    #[test]
    fn a_letter_that_looks_like_a_byte_order_mark_is_not_eaten() {
        check("\u{ef}Disallow: /", None);
        check("\u{ef}\u{bb}\u{bf}Disallow: /", None);
    }

    #[test]
    fn extensions_are_heard() {
        check("Crawl-delay: 10", Some(CrawlDelay("10".into())));
        check("crawl-Delay 10", Some(CrawlDelay("10".into())));
        check("CRAWLDELAY : 1.5 # s", Some(CrawlDelay("1.5".into())));
        check("Content-Usage: /a search=n", Some(ContentUsage("/a search=n".into())));
        check("site-map: /s.xml", Some(Sitemap("/s.xml".into())));
        check("Site Map: /s.xml", Some(Sitemap("/s.xml".into())));
        check("http://a.example/my-Sitemap.txt", Some(Sitemap("http://a.example/my-Sitemap.txt".into())));
        check("HTTPS://a.example/b.XML", Some(Sitemap("https://a.example/b.XML".into())));
        check("http://a.example/", None);
    }

    #[test]
    fn the_longest_line_of_many_byte_characters_is_read() {
        let path = "/".to_owned() + &"\u{e9}".repeat((super::super::lines::MAX_LINE_BYTES - 11) / 2);
        let Some(Disallow(value)) = read(&format!("Disallow: {path}")) else { panic!("not read as a rule") };
        assert_eq!(value.len(), 1 + (path.len() - 1) * 3);
    }

    proptest::proptest! {
        #[test]
        fn no_clean_line_makes_the_parser_panic(
            line in "[%\u{ef}\u{bb}\u{bf}:# \ta-dA-F0-9*$\u{e9}\u{1f600}]{0,30}",
            key in "(Disallow|Allow|x|)[: ]?",
        ) {
            let line = format!("{key}{line}");
            proptest::prop_assert_ne!(read(line.trim()), Some(Unreadable));
        }
    }
}
