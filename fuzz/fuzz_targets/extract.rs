//! Pages: the first line is a Content-Type, the second an X-Robots-Tag, the rest the body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::extract::{FetchedPage, extract};
use lohisoftbot_core::record::{MAX_HEADINGS, MAX_LINKS, PageRecord};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use lohisoftbot_fuzz::{first_line, header};

/// Questions that an input of a few kilobytes may cost the budget.
const MAX_QUESTIONS: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let (content_type, rest) = first_line(data);
    let (robots_tag, body) = first_line(rest);
    let page_url = PageUrl::parse("https://www.a.example/dir/page.html?q=1", None).expect("a fixed URL is one");
    let mut head = ResponseHead::new(200);
    for (name, line) in [("content-type", &content_type), ("x-robots-tag", &robots_tag)] {
        if let Some(value) = header(line) {
            head.push(name, value.as_bytes());
        }
    }
    let mut num_questions = 0;
    let mut count = || {
        num_questions += 1;
        true
    };
    let page = FetchedPage { url: page_url.as_url(), head: &head, body, cut: false, product_token: "lohisoftbot" };
    let extracted = extract(page, &mut count);
    assert!(num_questions <= MAX_QUESTIONS, "{num_questions} questions for {} bytes", body.len());

    assert!(extracted.title.as_deref().is_none_or(is_collapsed));
    assert!(extracted.description.as_deref().is_none_or(is_collapsed));
    assert!(extracted.headings.iter().all(|heading| (1..=3).contains(&heading.level) && is_collapsed(&heading.text)));
    for link in &extracted.links {
        assert!(matches!(link.url.scheme(), "http" | "https") && link.url.fragment().is_none());
    }

    let stored = PageRecord::of_extracted(&extracted, &page_url, &head, 1, Timestamp::EPOCH);
    assert!(stored.record.headings.len() <= MAX_HEADINGS && stored.links.len() <= MAX_LINKS);
    assert!(stored.links.iter().all(|link| link.target != page_url));
    assert!(stored.record.description.is_none() || !extracted.directives.nosnippet);
});

/// Never empty, and no white space of HTML but single spaces inside.
fn is_collapsed(text: &str) -> bool {
    let is_html_space = |c: char| matches!(c, '\t' | '\n' | '\x0c' | '\r');
    !text.is_empty() && !text.contains(is_html_space) && !text.contains("  ") && text.trim_matches(' ') == text
}
