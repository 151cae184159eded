//! A robots.txt as its author means it: plain prefixes and a delay, with a judgement of its own that shares nothing with the code under
//! test.

use std::fmt::Write as _;
use std::time::Duration;

use crate::rng::Rng;

/// Beginnings of paths that files speak of; the pages of a fake site lie under them.
pub const PREFIXES: [&str; 6] = ["/a/", "/b/", "/c", "/d/x", "/d/", "/"];

/// Places that files name as sitemaps: some under rules, one that is a page, and one that is not the site's own.
const SITEMAPS: [&str; 7] = [
    "/sitemaps/0.xml",
    "/sitemaps/9.xml",
    "/a/map.xml",
    "/c.xml",
    "/sitemap.xml",
    "/",
    "https://elsewhere.test/map.xml",
];

/// What the author wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsFile {
    pub allow: Vec<&'static str>,
    pub disallow: Vec<&'static str>,
    pub crawl_delay: Option<u64>,
    pub sitemaps: Vec<&'static str>,
}

impl RobotsFile {
    pub fn random(rng: &mut Rng) -> Self {
        let mut file = Self::default();
        for prefix in PREFIXES {
            match rng.below(if prefix == "/" { 20 } else { 8 }) {
                0 => file.disallow.push(prefix),
                1 => file.allow.push(prefix),
                _ => {}
            }
        }
        if rng.once_in(4) {
            file.crawl_delay = Some(rng.pick(&[1, 7, 20, 45, 90, 600, 86_400, 1_000_000]));
        }
        if rng.once_in(3) {
            file.sitemaps = (0..1 + rng.below(4)).map(|_| rng.pick(&SITEMAPS)).collect();
        }
        file
    }

    /// Without a Crawl-delay above a few seconds, and never closed as a whole.
    pub fn mild(rng: &mut Rng) -> Self {
        let mut file = Self::random(rng);
        file.disallow.retain(|prefix| *prefix != "/");
        file.crawl_delay = file.crawl_delay.map(|delay| delay.min(20));
        file
    }

    /// The longest prefix decides, Allow where both are as long (RFC 9309 §2.2.2).
    pub fn permits(&self, path: &str) -> bool {
        let longest = |prefixes: &[&str]| prefixes.iter().filter(|p| path.starts_with(**p)).map(|p| p.len()).max();
        longest(&self.allow) >= longest(&self.disallow)
    }

    /// The delay it asks for, up to the day that is honoured.
    pub fn delay(&self) -> Duration {
        Duration::from_secs(self.crawl_delay.unwrap_or(0).min(86_400))
    }

    pub fn text(&self, rng: &mut Rng) -> String {
        let mut text = String::from("# made up\nUser-agent: otherbot\nDisallow: /\n\n");
        let own = rng.once_in(2);
        if own {
            text.push_str("User-agent: *\nAllow: /\nCrawl-delay: 3000\n\n");
        }
        writeln!(text, "User-agent: {}", if own { "LohiSoftBot" } else { "*" }).expect("a String takes all");
        for prefix in &self.disallow {
            writeln!(text, "Disallow: {prefix}").expect("a String takes all");
        }
        if let Some(delay) = self.crawl_delay {
            writeln!(text, "Crawl-delay: {delay}").expect("a String takes all");
        }
        for prefix in &self.allow {
            writeln!(text, "Allow: {prefix}").expect("a String takes all");
        }
        for sitemap in &self.sitemaps {
            writeln!(text, "Sitemap: {sitemap}").expect("a String takes all");
        }
        text
    }
}
