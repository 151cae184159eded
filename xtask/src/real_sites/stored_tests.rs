//! The comparison finds each kind of difference and forgives nothing but a cap.

use super::*;

fn page(title: &str, headings: &[(u8, &str)]) -> PageTexts {
    let headings = headings.iter().map(|(level, text)| Heading { level: *level, text: (*text).to_owned() }).collect();
    PageTexts { title: Some(title.to_owned()), description: None, headings }
}

#[track_caller]
fn check(stored: &PageTexts, read: &PageTexts, num_differences: usize) {
    let found = differences(stored, read);
    assert_eq!(found.len(), num_differences, "{found:#?}");
}

#[test]
fn equal_pages_have_no_difference_and_changed_ones_have_theirs() {
    let read = page("A", &[(1, "One"), (2, "Two")]);
    check(&read, &read, 0);
    check(&page("B", &[(1, "One"), (2, "Two")]), &read, 1);
    check(&page("A", &[(1, "One"), (3, "Two")]), &read, 1);
    check(&page("A", &[(1, "One"), (2, "Tw")]), &read, 1);
    // A heading that is missing or too many differs in level and text.
    check(&page("A", &[(1, "One")]), &read, 2);
    check(&page("A", &[(1, "One"), (2, "Two"), (2, "Three")]), &read, 2);
    check(&PageTexts { title: None, ..read.clone() }, &read, 1);
    check(&PageTexts { description: Some("d".to_owned()), ..read.clone() }, &read, 1);
}

#[test]
fn a_text_over_its_cap_may_be_cut_near_the_cap_and_nowhere_else() {
    let long = "word ".repeat(100);
    let long = long.trim_end();
    let stored = |chars: usize| page("A", &[(1, &long[..chars])]);
    let read = page("A", &[(1, long)]);
    check(&stored(254), &read, 0);
    check(&stored(200), &read, 0);
    check(&stored(100), &read, 1);
    check(&read, &read, 1);
}

#[test]
fn headings_beyond_the_cap_are_not_missed() {
    let many: Vec<(u8, String)> = (0..70).map(|number| (2, format!("h{number}"))).collect();
    let all: Vec<(u8, &str)> = many.iter().map(|(level, text)| (*level, text.as_str())).collect();
    check(&page("A", &all[..64]), &page("A", &all), 0);
    check(&page("A", &all[..63]), &page("A", &all), 2);
}

#[test]
fn the_dump_is_read_with_fields_that_are_not_compared() {
    let line = r#"{"url":"http://git.test:8080/a.html?b#c","title":null,"description":"d","headings":[{"level":2,"text":"T"}],"status":200}"#;
    let pages = parse_dump(&format!("{line}\n\n")).unwrap();
    assert_eq!(pages[0].host_and_path(), Some(("git.test", "/a.html")));
    assert_eq!(pages[0].texts.headings, [Heading { level: 2, text: "T".to_owned() }]);
    assert!(parse_dump("{\"url\":\"http://a/\"}").is_err());
}

#[test]
fn a_language_must_be_stored_and_show_its_letters() {
    let [romanian, chinese] = &LANGUAGES;
    let stored = |url: &str, title: &str| StoredPage { url: url.to_owned(), texts: page(title, &[]) };
    let good = stored("http://a.test/ro/b.html", "Îndeplinirea cerințelor și după");
    assert_eq!(language_problem(romanian, std::slice::from_ref(&good)), None);
    assert!(language_problem(chinese, std::slice::from_ref(&good)).is_some());
    // UTF-8 read as windows-1252 has none of the letters.
    let broken = stored("http://a.test/ro/b.html", "cerinÈ›elor È™i dupÄƒ");
    assert!(language_problem(romanian, &[broken]).is_some());
    assert_eq!(language_problem(chinese, &[stored("http://a.test/zh-CN/b.html", "Debian 管理员手册")]), None);
    assert_eq!(language_problem(chinese, &[stored("http://handbook-zh.test/apt.html", "APT 手册")]), None);
    // Letters on a page of another language prove nothing.
    assert!(language_problem(romanian, &[stored("http://a.test/de/b.html", "cerințelor și după")]).is_some());
}
