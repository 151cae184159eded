//! Directives from the bytes that come to the record that is kept: every form of them, through extraction and
//! `PageRecord::of_extracted`.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use lohisoftbot_core::extract::{ExtractedPage, FetchedPage, extract};
use lohisoftbot_core::record::{PageRecord, StoredPage};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

/// 2026-01-01, when every page here is fetched.
const NOW: Timestamp = Timestamp::from_secs(1_767_225_600);

/// What becomes of a page, by letters: `k` its record is kept, `d` with its description, `l` its link is followed.
type Fate = &'static str;

const ALL: Fate = "kdl";

fn read(fields: &[(&str, &str)], html: &str) -> (ExtractedPage, StoredPage) {
    let url = PageUrl::parse("http://a.example/page", None).unwrap();
    let head = ResponseHead::new(200).with("content-type", "text/html; charset=utf-8");
    let head = fields.iter().fold(head, |head, (name, value)| head.with(name, value));
    let page =
        FetchedPage { url: url.as_url(), head: &head, body: html.as_bytes(), cut: false, product_token: "lohisoftbot" };
    let extracted = extract(page, &mut || true);
    let stored = PageRecord::of_extracted(&extracted, &url, &head, 1, NOW);
    (extracted, stored)
}

/// A page with a description of each kind and one link.
#[track_caller]
fn check(fields: &[(&str, &str)], in_head: &str, wanted: Fate) {
    let html = format!(
        "<!doctype html><html><head><title>t</title><meta name=description content=plain>\
         <meta property=og:description content=graph><meta name=twitter:description content=bird>{in_head}</head>\
         <body><a href=/next>next</a></body></html>"
    );
    let (extracted, stored) = read(fields, &html);
    let mut fate = String::new();
    if extracted.directives.allows_storing(NOW) {
        fate.push('k');
    }
    if stored.record.description.is_some() {
        fate.push('d');
    }
    if !stored.links[0].nofollow {
        fate.push('l');
    }
    assert_eq!(fate, wanted, "{fields:?} {in_head}");
    assert_eq!(stored.record.nosnippet, stored.record.description.is_none(), "{fields:?} {in_head}");
}

#[track_caller]
fn check_meta(in_head: &str, wanted: Fate) {
    check(&[], in_head, wanted);
}

#[track_caller]
fn check_header(value: &str, wanted: Fate) {
    check(&[("X-Robots-Tag", value)], "", wanted);
}

#[test]
fn metas_count_in_any_case_and_number_and_for_our_name() {
    check_meta("", ALL);
    check_meta("<meta name=robots content=noindex>", "dl");
    check_meta("<META NAME='ROBOTS' CONTENT='NOINDEX'>", "dl");
    check_meta("<meta name='robots'content='noindex'>", "dl");
    check_meta("<meta content=noindex name=robots>", "dl");
    check_meta("<meta name=' robots ' content=' noindex '>", "dl");
    check_meta("<meta name=robots content=none>", "d");
    check_meta("<meta name=robots content='nofollow'>", "kd");
    check_meta("<meta name=robots content=index><meta name=robots content=noindex>", "dl");
    check_meta("<meta name=robots content=noindex><meta name=robots content='all, index, follow'>", "dl");
    check_meta("<meta name=robots content=nofollow><meta name=lohisoftbot content=nosnippet>", "k");
    check_meta("<meta name=lohisoftbot content=noindex>", "dl");
    check_meta("<meta name=LohiSoftBot/1.0 content=NoIndex>", "dl");
    check_meta("<meta name=lohisoftbot content=all><meta name=robots content=noindex>", "dl");
    check_meta("<meta name=robots content='noindex nofollow'>", "d");
    check_meta("<meta name=robots content='noarchive, noimageindex; noindex'>", "dl");
    check_meta("<meta name=robots content='&#110;oindex'>", "dl");
}

#[test]
fn what_is_no_directive_for_us_changes_nothing() {
    check_meta("<meta name=googlebot content=noindex>", ALL);
    check_meta("<meta name=lohisoftbot-news content=none>", ALL);
    check_meta("<meta name=robots content='noarchive, notranslate, max-image-preview:none, noimageindex'>", ALL);
    check_meta("<meta name=robots content=''><meta name=robots>", ALL);
    check_meta("<!-- <meta name=robots content=noindex> -->", ALL);
    check_meta("<script>'<meta name=robots content=noindex>'</script>", ALL);
    check_meta("<template><meta name=robots content=noindex></template>", ALL);
    check_meta("<meta property=description content=noindex>", ALL);
    check_meta("<meta name=robots content='max-snippet:-1, max-snippet: 160'>", ALL);
}

#[test]
fn header_fields_count_for_all_and_for_us() {
    check_header("noindex", "dl");
    check_header("NOINDEX, NOFOLLOW", "d");
    check_header("none", "d");
    check_header("lohisoftbot: noindex", "dl");
    check_header("LohiSoftBot: nofollow, nosnippet", "k");
    check_header("*: noindex", "dl");
    check_header("otherbot: none", ALL);
    check_header("otherbot: noindex, lohisoftbot: nofollow", "kd");
    check_header("nofollow, otherbot: noindex", "kd");
    check(&[("X-Robots-Tag", "otherbot: none"), ("X-Robots-Tag", "noindex")], "", "dl");
    check(&[("X-Robots-Tag", "nofollow"), ("x-robots-tag", "lohisoftbot: noindex")], "", "d");
    check(&[("X-Robots-Tag", "nofollow")], "<meta name=robots content=nosnippet>", "k");
    check(&[("Robots-Tag", "*;noindex;nofollow")], "", "d");
    check(&[("Robots-Tag", "otherbot;noindex, lohisoftbot;nosnippet")], "", "kl");
    check(&[("Content-Usage", "search=n")], "", "dl");
    check(&[("Content-Usage", "train-ai=n")], "", ALL);
}

#[test]
fn an_end_in_the_past_is_noindex_in_every_form_of_a_date_and_one_to_come_is_not() {
    for (past, to_come) in [
        ("25 Jun 2010 15:00:00 PST", "25 Jun 2199 15:00:00 PST"),
        ("Fri, 25 Jun 2010 15:00:00 GMT", "Tue, 25 Jun 2199 15:00:00 GMT"),
        ("Fri, 25 Jun 2010 15:00:00 -0800 (PST)", "Tue, 25 Jun 2199 15:00:00 -0800 (PST)"),
        ("Friday, 25-Jun-10 15:00:00 UTC", "Monday, 25-Jun-68 15:00:00 UTC"),
        ("Fri Jun 25 15:00:00 2010", "Tue Jun 25 15:00:00 2199"),
        ("25-Jun-2010 15:00:00 EST", "25-Jun-2199 15:00:00 EST"),
        ("2010-06-25", "2199-06-25"),
        ("2010-06-25T15:00:00+02:00", "2199-06-25T15:00:00+02:00"),
        ("2010-06-25 15:00", "2199-06-25 15:00"),
        ("20100625T150000Z", "21990625T150000Z"),
        ("June 25th, 2010 3:00 pm", "June 25th, 2199 3:00 pm"),
        // The moment of the fetch itself, and the next second.
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
    ] {
        for (date, ended) in [(past, true), (to_come, false)] {
            let fate = if ended { "dl" } else { ALL };
            let with_nofollow = if ended { "d" } else { "kd" };
            check_meta(&format!("<meta name=robots content='unavailable_after: {date}'>"), fate);
            check_meta(&format!("<meta name=robots content='nofollow, Unavailable_After:{date}'>"), with_nofollow);
            check_header(&format!("unavailable_after: {date}"), fate);
            check_header(&format!("unavailable_after: {date}, nofollow"), with_nofollow);
            check_header(&format!("lohisoftbot: unavailable_after: {date}"), fate);
            check_header(&format!("otherbot: unavailable_after: {date}"), ALL);
            check(&[("Robots-Tag", &format!("*;unavailable_after=\"{date}\""))], "", fate);
        }
    }
    check_header("unavailable_after: some day", ALL);
}

#[test]
fn an_end_to_come_is_kept_with_the_record() {
    let (_, stored) = read(&[("X-Robots-Tag", "unavailable_after: 2199-06-25")], "<title>t</title>");
    assert_eq!(stored.record.unavailable_after.map(|end| end.to_string()).as_deref(), Some("2199-06-25T00:00:00.000Z"));
}

#[test]
fn where_a_snippet_is_forbidden_no_description_of_any_kind_is_kept() {
    for content in ["nosnippet", "NoSnippet", "max-snippet:0", "max-snippet: 0", "Max-Snippet=0", "all, nosnippet"] {
        check_meta(&format!("<meta name=robots content='{content}'>"), "kl");
        check_header(content, "kl");
        for kind in ["name=description", "property=og:description", "name=twitter:description"] {
            let html = format!("<meta name=robots content='{content}'><meta {kind} content=secret><title>t</title>");
            let (_, stored) = read(&[], &html);
            assert_eq!(stored.record.description, None, "{html}");
            assert!(!format!("{stored:?}").contains("secret"), "{html}");
        }
    }
}

#[test]
fn links_are_marked_by_any_of_the_three_words_in_any_case_among_others() {
    for (rel, followed) in [
        ("nofollow", false),
        ("NOFOLLOW", false),
        ("ugc", false),
        ("UGC", false),
        ("sponsored", false),
        ("Sponsored", false),
        ("noopener nofollow noreferrer", false),
        ("external\tnofollow", false),
        ("external\nUgc", false),
        ("me,sponsored", false),
        ("", true),
        ("noopener", true),
        ("nofollows", true),
        ("no follow", true),
        ("dofollow", true),
    ] {
        for element in ["a", "area"] {
            let (_, stored) = read(&[], &format!("<{element} rel='{rel}' href=/next>next</{element}>"));
            assert_eq!(stored.links[0].nofollow, !followed, "{element} rel={rel:?}");
        }
    }
    let (_, stored) = read(&[], "<a rel=nofollow href=/next>one</a><A REL=UGC HREF=/next>two</A>");
    assert!(stored.links[0].nofollow, "each link says so");
    let (_, stored) = read(&[], "<a rel=nofollow href=/next>one</a><a href=/next>two</a>");
    assert!(!stored.links[0].nofollow, "one link does not");
}
