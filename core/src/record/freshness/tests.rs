//! Which condition a record allows, which validators are kept, and what a 304 does to a record.

use proptest::prelude::*;

use super::*;
use crate::extract::Heading;
use crate::url::PageUrl;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const PAST: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn record(etag: Option<&str>, last_modified: Option<&str>) -> PageRecord {
    PageRecord {
        url: PageUrl::parse("https://a.test/p", None).unwrap(),
        title: Some("Title".into()),
        description: Some("About".into()),
        headings: vec![Heading { level: 1, text: "One".into() }],
        lang: Some("en".into()),
        canonical: None,
        fetched_at: Timestamp::from_secs(5),
        status: 200,
        etag: etag.map(str::to_owned),
        last_modified: last_modified.map(str::to_owned),
        cycle: 1,
        cut: false,
        nosnippet: false,
        unavailable_after: None,
        target_sites: Vec::new(),
    }
}

/// Wanted: `E` and the ETag, or `D` and the date, or nothing.
#[track_caller]
fn check(etag: Option<&str>, last_modified: Option<&str>, wanted: Option<(char, &str)>) {
    let condition = StoredCopy::of(&record(etag, last_modified), NOW).condition;
    let wanted = wanted.map(|(kind, value)| match kind {
        'E' => Condition::NoneMatch(value.to_owned()),
        _ => Condition::ModifiedSince(value.to_owned()),
    });
    assert_eq!(condition, wanted, "ETag {etag:?}, Last-Modified {last_modified:?}");
}

#[test]
fn etag_goes_first_verbatim_and_the_date_only_where_there_is_none() {
    check(Some("\"v1\""), Some(PAST), Some(('E', "\"v1\"")));
    check(Some("W/\"v1\""), None, Some(('E', "W/\"v1\"")));
    check(Some("\"\""), None, Some(('E', "\"\"")));
    check(Some("\"a-gzip\""), None, Some(('E', "\"a-gzip\"")));
    check(None, Some(PAST), Some(('D', PAST)));
    check(None, None, None);
}

#[test]
fn what_is_no_entity_tag_is_never_sent() {
    for etag in
        ["*", "v1", "\"", "\"v1", "v1\"", "w/\"v1\"", "W/v1", "\"a\",\"b\"", "\"a\", \"b\"", "\"a b\"", "\"é\"", ""]
    {
        check(Some(etag), Some(PAST), Some(('D', PAST)));
    }
}

#[test]
fn a_date_is_sent_where_it_is_an_http_date_that_has_passed() {
    for date in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", PAST, "Fri, 15 Jan 2027 08:00:00 GMT"] {
        check(None, Some(date), Some(('D', date)));
    }
    for date in [
        "Fri, 15 Jan 2027 08:00:01 GMT",
        "Sun, 06 Nov 2044 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "06 Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37.000Z",
        "yesterday",
        "0",
    ] {
        check(None, Some(date), None);
    }
}

#[test]
fn a_page_that_was_read_in_part_is_asked_plainly() {
    let cut = PageRecord { cut: true, ..record(Some("\"v1\""), Some(PAST)) };
    assert_eq!(StoredCopy::of(&cut, NOW).condition, None);
}

#[test]
fn validators_are_kept_only_where_they_can_go_back_byte_for_byte() {
    let long = format!("\"{}\"", "x".repeat(255));
    for (name, value, kept) in [
        ("etag", " \"v1\"\t", Some("\"v1\"")),
        ("etag", "*", None),
        ("etag", "\"caf\u{e9}\"", None),
        ("etag", "\"a\u{7f}\"", None),
        ("etag", long.as_str(), None),
        ("last-modified", PAST, Some(PAST)),
        ("last-modified", "Sun,\u{a0}06", None),
        ("last-modified", "", None),
    ] {
        let head = ResponseHead::new(200).with(name, value);
        let found = if name == "etag" { etag_of(&head) } else { last_modified_of(&head) };
        assert_eq!(found.as_deref(), kept, "{name}: {value:?}");
    }
    assert_eq!(etag_of(&ResponseHead::new(200).with("etag", b"\"\xff\"")), None);
}

#[track_caller]
fn check_renewed(record: PageRecord, fields: &[(&str, &str)], etag: Option<&str>, last_modified: Option<&str>) {
    let head = fields.iter().fold(ResponseHead::new(304), |head, (name, value)| head.with(name, value));
    let mut renewed = record.clone();
    Renewal::of_head(&head, "lohisoftbot").apply(&mut renewed, NOW, 7);
    assert_eq!((renewed.fetched_at, renewed.cycle, renewed.status), (NOW, 7, 200), "{fields:?}");
    let validators = (renewed.etag.as_deref(), renewed.last_modified.as_deref());
    assert_eq!(validators, (etag, last_modified), "{record:?} {fields:?}");
    assert_eq!(ContentMark::of(&renewed), ContentMark::of(&record), "{fields:?}");
}

#[test]
fn validators_of_a_304_take_the_place_of_the_stored_ones() {
    let new = "Mon, 07 Nov 1994 08:49:37 GMT";
    check_renewed(record(Some("\"1\""), Some(PAST)), &[], Some("\"1\""), Some(PAST));
    check_renewed(record(Some("\"1\""), None), &[("etag", "\"1\""), ("last-modified", new)], Some("\"1\""), Some(new));
    check_renewed(record(Some("\"1\""), None), &[("etag", "W/\"1\"")], Some("W/\"1\""), None);
    check_renewed(record(None, Some(PAST)), &[("etag", "\"1\"")], Some("\"1\""), Some(PAST));
    check_renewed(record(Some("\"1\""), None), &[("etag", "*")], Some("\"1\""), None);
}

#[test]
fn a_304_that_names_another_copy_leaves_no_validator() {
    check_renewed(record(Some("\"1\""), Some(PAST)), &[("etag", "\"2\"")], None, None);
    check_renewed(record(Some("W/\"1\""), Some(PAST)), &[("etag", "W/\"2\"")], None, None);
}

#[test]
fn directives_on_a_304_count() {
    let renewal = |value: &str| Renewal::of_head(&ResponseHead::new(304).with("x-robots-tag", value), "lohisoftbot");
    assert!(!renewal("noindex").allows_storing(NOW));
    assert!(!renewal("LohiSoftBot: none").allows_storing(NOW));
    assert!(!renewal("unavailable_after: 1 Jan 2020 00:00:00 GMT").allows_storing(NOW));
    assert!(renewal("otherbot: noindex").allows_storing(NOW));
    let mut kept = record(None, None);
    renewal("nosnippet, unavailable_after: 1 Jan 2040 00:00:00 GMT").apply(&mut kept, NOW, 2);
    assert_eq!((kept.description.as_ref(), kept.nosnippet), (None, true));
    let end = Timestamp::from_secs(2_208_988_800);
    assert_eq!(kept.unavailable_after, Some(end));
    renewal("unavailable_after: 1 Jan 2041 00:00:00 GMT").apply(&mut kept, NOW, 2);
    assert_eq!(kept.unavailable_after, Some(end), "an end that was told is never put off");
}

#[test]
fn a_mark_tells_contents_apart_and_nothing_else() {
    let first = record(None, None);
    let mark = ContentMark::of(&first);
    let same = PageRecord { fetched_at: NOW, cycle: 9, cut: true, status: 203, ..record(Some("\"2\""), Some(PAST)) };
    assert_eq!(ContentMark::of(&same), mark);
    for other in [
        PageRecord { title: None, ..first.clone() },
        PageRecord { title: Some("Title2".into()), ..first.clone() },
        PageRecord { description: Some("Title".into()), ..first.clone() },
        PageRecord { headings: Vec::new(), ..first.clone() },
        PageRecord { lang: None, ..first.clone() },
        PageRecord { canonical: PageUrl::parse("https://a.test/c", None).ok(), ..first.clone() },
    ] {
        assert_ne!(ContentMark::of(&other), mark, "{other:?}");
    }
}

proptest! {
    #[test]
    fn a_condition_is_one_short_line_of_ascii_whatever_a_record_holds(etag in "\\PC{0,30}|\"[!-~]{0,300}\"", date in "\\PC{0,40}") {
        let copy = StoredCopy::of(&record(Some(&etag), Some(&date)), NOW);
        if let Some(Condition::NoneMatch(text) | Condition::ModifiedSince(text)) = copy.condition {
            prop_assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert!(text == etag || text == date);
        }
    }
}
