//! Sitemaps: the first line is a Content-Type, the rest the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::page_choice::{EntryStanding, MAX_CHILDREN_OF_INDEX, PageQueue};
use lohisoftbot_core::sitemap::{MAX_CHILD_SITEMAPS, SitemapFile, SitemapKind, SitemapLimits, choose, read};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::{MAX_URL_BYTES, PageUrl};
use lohisoftbot_fuzz::{first_line, header};

/// Pages that are chosen of one file.
const MAX_PAGES: usize = 20;

/// URLs that the queue takes.
const MAX_QUEUED_URLS: usize = 30;

fuzz_target!(|data: &[u8]| {
    let (content_type, file) = first_line(data);
    let at = PageUrl::parse("https://www.a.example/dir/sitemap.xml", None).expect("a fixed URL is one");
    let mut num_questions = 0;
    let mut count = || {
        num_questions += 1;
        true
    };
    let limits = SitemapLimits::default();
    let fetched = SitemapFile {
        at: at.as_url(),
        content_type: header(&content_type),
        bytes: file,
        cut: file.last().is_some_and(|byte| byte % 2 == 0),
    };
    let reading = read(fetched, &limits, &mut count);
    // Decoding can make three bytes of one, and each byte is at most one step of 256 that are one question.
    assert!(num_questions <= 2 + file.len() / 64, "{num_questions} questions for {} bytes", file.len());
    if let SitemapKind::Nothing(_) = reading.kind {
        assert!(reading.urls.is_empty() && reading.sitemaps.is_empty());
    }
    assert!(reading.sitemaps.len() <= MAX_CHILD_SITEMAPS);
    for url in reading.urls.iter().map(|listed| &listed.url).chain(&reading.sitemaps) {
        assert!(matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_BYTES);
    }

    let now = Timestamp::from_secs(1_800_000_000);
    let chosen = choose(&reading.urls, &at.site(), now, MAX_PAGES, &mut || true);
    assert!(chosen.len() <= MAX_PAGES && chosen.is_sorted_by(|(_, one), (_, next)| one >= next));
    assert!(chosen.iter().all(|(url, lastmod)| url.site() == at.site() && lastmod.is_none_or(|at| at <= now)));

    let mut queue = PageQueue::default();
    queue.add_named_sitemaps([at.clone()], MAX_QUEUED_URLS);
    assert_eq!(queue.best(|_| false).map(|entry| &entry.url), Some(&at));
    let children = reading.sitemaps.into_iter().filter_map(|url| PageUrl::from_url(url).ok());
    queue.add_children(&at, children, MAX_QUEUED_URLS);
    queue.add_listed(chosen.into_iter().map(|(url, _)| url), MAX_QUEUED_URLS);
    queue.settle(&at, EntryStanding::SitemapRead { num_urls: 0 });
    let num_sitemaps = queue.entries().iter().filter(|entry| entry.role.is_sitemap()).count();
    assert!(num_sitemaps <= 1 + MAX_CHILDREN_OF_INDEX && queue.entries().len() <= MAX_QUEUED_URLS);
    assert!(queue.best(|_| false).is_none_or(|next| next.url != at));
});
