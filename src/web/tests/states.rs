//! The states that a search can be in, and what each tells a person.

use std::sync::Arc;

use lohisoftbot_core::search::SearchAnswer;

use super::fake::{FakeIndex, found, nothing};
use super::rig::{Rig, settings};
use crate::web::SearchUnavailable;

fn rig(answer: fn() -> Result<SearchAnswer, SearchUnavailable>) -> (Rig, Arc<FakeIndex>) {
    let index = FakeIndex::answering(answer);
    (Rig::start(settings(), index.clone()), index)
}

#[test]
fn home_page_has_a_labelled_field_and_is_whole_without_a_script() {
    let (rig, _) = rig(found);
    let page = rig.get("/");
    page.is(200).has("<html lang=\"en\">").has("<label for=\"q\">").has("<input type=\"search\" id=\"q\" name=\"q\"");
    page.has("<form role=\"search\" action=\"/search\" method=\"get\">")
        .has("<main id=\"content\"")
        .has("href=\"#content\"");
    page.has_not("<script").has_not("style=").has_not("onclick");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
}

#[test]
fn result_links_straight_to_its_page_and_says_what_it_is() {
    let (rig, index) = rig(found);
    let page = rig.get("/search?q=harvest");
    page.is(200).has("href=\"https://farm.test/harvest?year=1&#38;month=2\" rel=\"noopener noreferrer\"");
    page.has("The <mark>harvest</mark> on the farm").has("Of the <mark>harvest</mark> in autumn");
    page.has("<bdi class=\"host\">farm.test</bdi> <bdi>› harvest</bdi>");
    page.has("Romanian").has("<time datetime=\"2026-11-30\">Last seen on 30 November 2026</time>");
    page.has("1,234 pages found, showing 1 to 2").has("lang=\"ro\" hreflang=\"ro\"");
    page.has("<title>\u{2068}harvest\u{2069} – LohiSoft Search</title>").has("value=\"harvest\"");
    assert_eq!(*index.asked.lock().unwrap(), [("harvest".to_owned(), None, 0, 10)]);
}

#[test]
fn result_says_why_it_is_one_and_how_its_site_is_taken_out() {
    let (rig, _) = rig(found);
    let page = rig.get("/search?q=harvest");
    page.has("<details>").has("Why this result").has("<li>the title</li>").has("<li>the text of links to it</li>");
    page.has("7 sites link to this page.").has("<li><bdi>links.test</bdi></li>").has("href=\"/bot#remove\"");
    let page = rig.get("/search?q=harvest&lang=ro");
    page.has("De ce acest rezultat").has("7 site-uri au legături").has("href=\"/bot/ro#remove\"");
}

#[test]
fn more_from_a_site_is_a_link_that_confines_the_search() {
    let (rig, index) = rig(found);
    rig.get("/search?q=harvest&lang=en")
        .has("href=\"/search?q=harvest&#38;site=farm.test&#38;lang=en\">3 more pages from farm.test");
    let page = rig.get("/search?q=harvest&site=Farm.test");
    page.has("Only pages from \u{2068}farm.test\u{2069}.").has("<a href=\"/search?q=harvest\">Search all sites</a>");
    page.has_not("more pages from").has("<input type=\"hidden\" name=\"site\" value=\"farm.test\">");
    let asked = index.asked.lock().unwrap().last().cloned();
    assert_eq!(asked, Some(("harvest".to_owned(), Some("farm.test".to_owned()), 0, 10)));
    rig.get("/search?q=harvest&site=a%20b").is(400).has("That is no name of a site");
}

#[test]
fn misspelt_word_and_unused_parts_are_said_above_the_results() {
    let (rig, _) = rig(found);
    let page = rig.get("/search?q=harvst&lang=en");
    page.has("Did you mean <a href=\"/search?q=harvest+festival&#38;lang=en\"><bdi>harvest festival</bdi></a>?");
    page.has("What could not be used in your search").has("<bdi>a minus sign alone stands for nothing</bdi>");
}

#[test]
fn pages_of_results_lead_on_and_back() {
    let (rig, index) = rig(found);
    rig.get("/search?q=a").has("rel=\"next\" href=\"/search?q=a&#38;page=2\"").has_not("rel=\"prev\"");
    let page = rig.get("/search?q=a&page=3");
    page.has("rel=\"prev\" href=\"/search?q=a&#38;page=2\"").has("rel=\"next\" href=\"/search?q=a&#38;page=4\"");
    page.has("Page 3").has("showing 21 to 22").has("start=\"21\"");
    assert_eq!(index.asked.lock().unwrap().last().unwrap().2, 20);
    rig.get("/search?q=a&page=2").has("rel=\"prev\" href=\"/search?q=a\"");
    let last = rig.get("/search?q=a&page=100000");
    last.has_not("rel=\"next\"").has("Only the first 1,000 results can be shown").has("Page 100<");
    assert_eq!(index.asked.lock().unwrap().iter().map(|asked| asked.2).max(), Some(990));
}

#[test]
fn search_without_results_gives_advice() {
    let (rig, _) = rig(nothing);
    rig.get("/search?q=xyzzy")
        .is(200)
        .has("No page found for \u{2068}xyzzy\u{2069}")
        .has("Check the spelling.")
        .has_not("<ol");
    let page = rig.get("/search?q=xyzzy&page=7");
    page.has("No more results for")
        .has("<a href=\"/search?q=xyzzy\">Back to the first page</a>")
        .has_not("Check the spelling.");
}

#[test]
fn empty_and_overlong_searches_ask_nothing_of_the_index() {
    let (rig, index) = rig(found);
    rig.get("/search").is(200).has("What are you looking for?");
    rig.get("/search?q=%20%20").is(200).has("What are you looking for?");
    rig.get(&format!("/search?q={}", "a".repeat(257))).is(400).has("256 bytes at most").has_not(&"a".repeat(65));
    assert!(index.asked.lock().unwrap().is_empty());
    rig.get(&format!("/search?q={}", "a".repeat(256))).is(200);
    assert_eq!(index.asked.lock().unwrap().len(), 1);
}

#[test]
fn index_that_does_not_answer_leaves_the_words_in_the_field() {
    for (answer, sentence) in [
        ((|| Err(SearchUnavailable::Starting)) as fn() -> _, "The index is being prepared."),
        (|| Err(SearchUnavailable::NoAnswer), "The index did not answer."),
    ] {
        let (rig, _) = rig(answer);
        let page = rig.get("/search?q=harvest");
        page.is(503).has("Search is not available just now").has(sentence).has("value=\"harvest\"");
        assert_eq!(page.header("retry-after"), Some("30"));
        let call = rig.get("/api/v1/search?q=harvest");
        assert_eq!(call.is(503).json()["error"]["code"], "unavailable");
        rig.get("/").is(200);
    }
}

#[test]
fn panic_of_the_index_is_a_page_and_not_a_cut_connection() {
    let (rig, _) = rig(|| panic!("on purpose"));
    rig.get("/search?q=harvest").is(500).has("Something went wrong here").has_not("on purpose").has_not("harvest");
    assert_eq!(rig.get("/api/v1/search?q=harvest").is(500).json()["error"]["code"], "internal");
    rig.get("/").is(200);
}

#[test]
fn language_is_negotiated_and_the_switch_keeps_the_search() {
    let (rig, _) = rig(found);
    let ask = |target: &str, accept: &str| rig.ask("GET", target, &[&format!("accept-language: {accept}")]);
    let page = ask("/search?q=a%26b&page=2&site=farm.test", "ro-RO,ro;q=0.9,en;q=0.5");
    page.has("<html lang=\"ro\">")
        .has("1.234 de pagini găsite, afișate de la 11 la 12")
        .has("Văzută ultima dată la 30 noiembrie 2026");
    page.has(
        "lang=\"en\" hreflang=\"en\" href=\"/search?q=a%26b&#38;site=farm.test&#38;page=2&#38;lang=en\">English</a>",
    );
    page.has("<span lang=\"ro\" aria-current=\"true\">Română</span>").has_not("name=\"lang\"");
    assert_eq!(page.header("vary"), Some("accept-language"));
    ask("/", "en;q=0.2,ro;q=0.8").has("<html lang=\"ro\">");
    ask("/", "de").has("<html lang=\"en\">");
    let page = ask("/search?q=a&lang=en", "ro");
    page.has("<html lang=\"en\">").has("<input type=\"hidden\" name=\"lang\" value=\"en\">").has("href=\"/?lang=en\"");
    page.has("rel=\"next\" href=\"/search?q=a&#38;page=2&#38;lang=en\"");
    ask("/?lang=xx", "ro").has("<html lang=\"ro\">").has_not("lang=xx");
}

#[test]
fn missing_page_and_wrong_method_are_told_in_the_readers_language() {
    let (rig, _) = rig(found);
    rig.get("/nowhere").is(404).has("There is no such page").has("<form role=\"search\"");
    rig.ask("GET", "/nowhere", &["accept-language: ro"]).is(404).has("Nu există această pagină");
    let page = rig.ask("POST", "/search", &["content-length: 0"]);
    assert_eq!(page.is(405).has("This page can only be read").header("allow"), Some("GET, HEAD"));
    rig.ask("DELETE", "/?lang=ro", &[]).is(405).has("Această pagină poate fi numai citită");
    rig.ask("POST", "/nowhere", &[]).is(404);
}
