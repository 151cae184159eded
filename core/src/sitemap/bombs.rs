//! Files that are made to cost much: counted in questions to the budget and in what is kept.

use ::url::Url;

use super::meter::UNITS_PER_QUESTION;
use super::tests::whole;
use super::*;

const MIB: usize = 1 << 20;

/// Questions that a mebibyte may cost: one unit for each byte, and for each 256 of them one more.
const MAX_QUESTIONS_A_MIB: usize = (MIB + MIB / 256) / UNITS_PER_QUESTION;

/// A mebibyte of `start` and then `repeated` over and over.
fn mebibyte(start: &str, repeated: &str) -> String {
    let mut text = start.to_owned();
    text.extend(std::iter::repeat_n(repeated, (MIB - start.len()) / repeated.len()));
    text
}

/// Reads it under a base URL of two kilobytes, which multiplies whatever is relative.
#[track_caller]
fn check(start: &str, repeated: &str) -> SitemapReading {
    let at = Url::parse(&format!("https://a.example/{}/s.xml", "d".repeat(2000))).unwrap();
    let mut num_questions = 0;
    let mut count = || {
        num_questions += 1;
        true
    };
    let reading = read(whole(mebibyte(start, repeated).as_bytes(), &at), &SitemapLimits::default(), &mut count);
    let name = format!("{start} {repeated}");
    assert!(num_questions <= MAX_QUESTIONS_A_MIB, "{name}: {num_questions} questions");
    let num_bytes: usize = reading.urls.iter().map(|listed| listed.url.as_str().len()).sum();
    assert!(num_bytes <= MAX_SITEMAP_URL_BYTES, "{name}: {num_bytes} bytes of URLs");
    assert!(reading.urls.len() <= MAX_SITEMAP_URLS && reading.sitemaps.len() <= MAX_CHILD_SITEMAPS, "{name}");
    reading
}

#[test]
fn nested_elements_end_at_the_depth_cap() {
    for repeated in ["<a>", "<x:image>", "<urlset>"] {
        assert!(check("<urlset><url><loc>/a</loc>", repeated).cut, "{repeated}");
        assert!(check("<urlset>", repeated).cut, "{repeated}");
        assert!(check("<rss><item><description>", repeated).cut, "{repeated}");
    }
    assert!(check("<urlset><url><loc>", "<a>").cut);
    assert!(check("", "<a>").urls.is_empty());
}

#[test]
fn entries_that_are_never_closed_are_no_depth() {
    assert_eq!(check("<sitemapindex>", "<sitemap>").sitemaps, []);
    assert_eq!(check("<urlset>", "<url>").urls, []);
    assert_eq!(check("<sitemapindex>", "<sitemap><loc>/s</loc>").sitemaps.len(), MAX_CHILD_SITEMAPS);
    assert!(check("<urlset>", "<url><loc>/a</loc>").urls.len() > 10_000);
}

#[test]
fn lists_end_at_the_caps_on_entries_and_on_their_bytes() {
    let short = check("<urlset>", "<url><loc>/</loc></url>");
    assert!(short.urls.len() > 40_000 && !short.cut);
    let many = check("<urlset>", "<url><loc>x</loc></url>");
    assert!(many.cut && many.urls.len() < MAX_SITEMAP_URL_BYTES / 2000);
    let text = check("", "http://a\n");
    assert!(text.cut && text.urls.len() == MAX_SITEMAP_URLS);
    assert!(check("<urlset><url>", "<loc>/x</loc>").cut);
}

#[test]
fn attributes_entities_comments_and_quotes_cost_their_length_alone() {
    for (start, repeated) in [
        ("<urlset ", "a='b' "),
        ("<urlset ", "xmlns:a='b' "),
        ("<urlset><url ", "a=\"b\" "),
        ("<feed><entry><link ", "href "),
        ("<feed><entry><link ", "rel='' "),
        ("<feed><entry><link href=\"", "&amp;"),
        ("<rss><item><guid ", "isPermaLink "),
        ("<urlset><url><loc>", "&"),
        ("<urlset><url><loc>", "&a;"),
        ("<urlset><url><loc>", "&amp;"),
        ("<urlset><url><loc>", " "),
        ("<urlset><url><loc>", "a "),
        ("<urlset><url><loc>", "<![CDATA[]]>"),
        ("<urlset><url><lastmod>", "2024-01-01 "),
        ("<urlset>", "<!--"),
        ("<urlset>", "<!---->"),
        ("<urlset>", "<!x"),
        ("<urlset>", "<!x>"),
        ("<urlset>", "<![CDATA["),
        ("<urlset>", "<a b=\""),
        ("<urlset>", "</url>"),
        ("<urlset>", "<?"),
        ("<!DOCTYPE a [", "<!ENTITY a \"&a;&a;\">"),
        ("<!DOCTYPE a [", "<"),
        ("", "<!"),
        ("", "<"),
        ("", "\n"),
        ("x", "<>"),
    ] {
        check(start, repeated);
    }
}

#[test]
fn a_budget_that_is_spent_ends_the_reading_and_keeps_what_was_read() {
    let text = mebibyte("<urlset>", "<url><loc>/a</loc></url>");
    let at = Url::parse("https://a.example/s.xml").unwrap();
    let mut num_questions = 0;
    let mut ten = || {
        num_questions += 1;
        num_questions <= 10
    };
    let reading = read(whole(text.as_bytes(), &at), &SitemapLimits::default(), &mut ten);
    assert!(reading.cut && !reading.urls.is_empty() && reading.urls.len() < 10 * UNITS_PER_QUESTION);
    assert_eq!(num_questions, 11);

    let none = read(whole(text.as_bytes(), &at), &SitemapLimits::default(), &mut || false);
    assert_eq!((none.urls.len(), none.cut), (0, true));
}

#[test]
fn a_file_beyond_the_cap_is_read_up_to_it() {
    let entry = "<url><loc>/a</loc></url>";
    let text = format!("<urlset>{}</urlset>", entry.repeat(10));
    let at = Url::parse("https://a.example/s.xml").unwrap();
    let limits = SitemapLimits { max_bytes: 8 + entry.len() * 4 + 12, ..SitemapLimits::default() };
    let reading = read(whole(text.as_bytes(), &at), &limits, &mut || true);
    assert_eq!((reading.urls.len(), reading.cut), (4, true));
}
