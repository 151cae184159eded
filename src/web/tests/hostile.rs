//! Titles, queries and addresses of strangers who mean harm: shown as text, whatever they hold.

use lohisoftbot_core::search::{SearchAnswer, SearchResult};

use super::fake::{FakeIndex, marked, result};
use super::rig::{Answer, Rig, settings};
use crate::web::SearchUnavailable;

fn answer_of(changed: fn(&mut SearchResult)) -> Result<SearchAnswer, SearchUnavailable> {
    let mut result = result("https://farm.test/", &["Farm"]);
    changed(&mut result);
    Ok(SearchAnswer { results: vec![result], num_results: 1, ..SearchAnswer::default() })
}

/// The page of results with one result.
fn page(answer: fn() -> Result<SearchAnswer, SearchUnavailable>) -> Answer {
    Rig::start(settings(), FakeIndex::answering(answer)).get("/search?q=x")
}

#[test]
fn markup_in_every_text_is_shown_as_text() {
    let page = page(|| {
        const EVIL: &str = "</bdi><script>alert(1)</script><img src=x onerror=alert(2)>\"'&lt;";
        let mut answer = answer_of(|result| {
            result.title = marked(&["a", EVIL]);
            result.snippet = marked(&[EVIL]);
            result.language = Some("en\" onmouseover=\"x".to_owned());
        })?;
        answer.correction = Some(EVIL.to_owned());
        answer.passed_over = vec![EVIL.to_owned()];
        Ok(answer)
    });
    page.is(200).has_not("<script").has_not("<img").has_not("onmouseover").has("&#60;script&#62;alert(1)");
    assert_eq!(page.body.matches("&#60;/bdi&#62;").count(), 5, "twice of the title, once of the other three");
}

#[test]
fn markup_in_the_query_is_shown_as_text() {
    let rig = Rig::start(settings(), FakeIndex::answering(super::fake::found));
    let evil = "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&site=%22%3E%3Cscript%3E";
    rig.get(evil).has_not("<script").has("&#60;script&#62;");
    let evil = "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&lang=%22%3E%3Cscript%3E";
    rig.get(evil).is(200).has_not("<script").has("value=\"&#34;&#62;&#60;script&#62;");
    rig.get("/%3Cscript%3E").is(404).has_not("<script").has_not("%3Cscript");
}

#[test]
fn marks_of_direction_turn_nothing_around() {
    let page = page(|| {
        answer_of(|result| {
            result.title = marked(&["\u{202e}gpj.", "live\u{202c}\u{2069}", "\u{200f} עברית"]);
            result.snippet = marked(&["\u{2067}a\u{0000}b\u{001b}c"]);
        })
    });
    page.has("<bdi>gpj.<mark>live</mark> עברית</bdi>").has("<bdi>a b c</bdi>");
    for mark in ['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2067}', '\u{200f}'] {
        page.has_not(&mark.to_string());
    }
}

#[test]
fn ten_thousand_characters_are_cut_at_a_character() {
    let page = page(|| {
        answer_of(|result| {
            result.title = marked(&[&"ț".repeat(10_000)]);
            result.snippet = marked(&["", &"👍".repeat(10_000)]);
        })
    });
    page.has(&format!(">{}…<", "ț".repeat(160))).has(&format!("<mark>{}…</mark>", "👍".repeat(320)));
    assert!(page.body.len() < 20_000, "{} bytes", page.body.len());
}

#[test]
fn page_without_a_visible_title_is_called_by_its_address() {
    let page = page(|| answer_of(|result| result.title = marked(&["\u{202e} \u{200b}"])));
    page.has("<bdi>farm.test</bdi></a></h2>");
}

#[test]
fn overlong_correction_makes_no_link() {
    let page = page(|| {
        let mut answer = answer_of(|_| {})?;
        answer.correction = Some("x".repeat(257));
        Ok(answer)
    });
    page.has_not("Did you mean");
}
