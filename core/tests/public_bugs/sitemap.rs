//! Reading sitemaps.

use lohisoftbot_core::sitemap::{SitemapFile, SitemapKind, SitemapLimits, read};
use url::Url;

#[track_caller]
fn check(report: &str, file: &str, wanted: &[&str]) {
    let at = Url::parse("https://a.test/sitemap.xml").unwrap();
    let file = SitemapFile { at: &at, content_type: None, bytes: file.as_bytes(), cut: false };
    let reading = read(file, &SitemapLimits::default(), &mut || true);
    let found: Vec<&str> = reading.urls.iter().map(|listed| listed.url.as_str()).collect();
    assert_eq!((reading.kind, &found[..]), (SitemapKind::UrlSet, wanted), "{report}: {file:?}");
}

#[test]
fn white_space_in_odd_places_costs_no_url() {
    let entry = "<urlset><url><loc>https://a.test/x</loc></url></urlset>";
    let report = "crawler-commons/crawler-commons#144";
    for before in ["\n", " \r\n\t", "\u{feff}\n"] {
        check(report, &format!("{before}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{entry}"), &["https://a.test/x"]);
    }
    let report = "ArchiveTeam/wpull#491";
    check(report, "<urlset><url><loc>\n   https://a.test/x\n </loc></url></urlset>", &["https://a.test/x"]);
}

#[test]
fn bytes_behind_the_end_cost_no_url() {
    let file = "<urlset><url><loc>https://a.test/x</loc></url></urlset><!--";
    check("ArchiveTeam/wpull#484", file, &["https://a.test/x"]);
}
