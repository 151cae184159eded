//! A robots.txt: the first line is a path that is asked about, the rest the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::robots::{MAX_CRAWL_DELAY, MAX_SITEMAPS, PRODUCT_TOKEN, RobotsPolicy, explain};
use lohisoftbot_fuzz::first_line;
use url::Url;

fuzz_target!(|data: &[u8]| {
    let (path, file) = first_line(data);
    let site = Url::parse("https://a.example/").expect("a fixed URL is one");
    let num_lines = file.split(|byte| matches!(byte, b'\n' | b'\r')).count();
    for agent in [PRODUCT_TOKEN, "*"] {
        let policy = RobotsPolicy::parse(file, agent);
        assert!(policy.verdict_for_path("/robots.txt").is_allowed());
        assert!(policy.crawl_delay().is_none_or(|delay| delay <= MAX_CRAWL_DELAY));
        assert!(policy.sitemaps().len() <= MAX_SITEMAPS);
        assert!(policy.sitemap_urls(&site).iter().all(|url| matches!(url.scheme(), "http" | "https")));
        if let Some(line) = policy.search_usage_forbidden(&path) {
            assert!((1..=num_lines).contains(&(line.number as usize)));
        }
        let Ok(url) = site.join(&path) else { continue };
        let explained = explain(file, agent, &url);
        assert!(explained.line.is_none_or(|line| (1..=num_lines).contains(&(line as usize))));
        let asked = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let is_out_of_search = policy.search_usage_forbidden(asked).is_some();
        assert_eq!(explained.allowed, policy.verdict_for_path(asked).is_allowed() && !is_out_of_search);
        // No rule forbids: a file alone does.
        assert!(explained.allowed || explained.line.is_some());
    }
});
