//! What is found, in which order, and how it is shown.

use lohisoftbot_core::search::SearchField;

use super::*;

fn schools() -> Rig {
    let mut rig = Rig::new();
    let school = ["Școala Gimnazială Nr. 5", "Orarul şi lista profesorilor", "Anunțuri pentru părinți|Înscrieri"];
    rig.save("https://scoala.example/", "ro", school, Vec::new());
    rig.save("https://oras.example/educatie", "ro", ["Educație", "Toate școlile din oraș", "Grădinițe"], Vec::new());
    let linking = vec![stored_link("https://scoala.example/", "pagina școlii noastre")];
    rig.save("https://blog.example/", "ro", ["Jurnal", "Despre copii", ""], linking);
    rig.save(
        "https://rust.example/book",
        "en",
        ["The Rust Book", "Learn the language", "Ownership|Borrowing"],
        Vec::new(),
    );
    rig.commit();
    rig
}

#[test]
fn romanian_forms_find_each_other_with_diacritics_and_without() {
    let rig = schools();
    for typed in ["școala", "scoala", "ŞCOALA", "s\u{326}coala"] {
        rig.check_first(typed, "https://scoala.example/");
    }
    for typed in ["școli", "scoli", "şcolilor", "scolile"] {
        let found = rig.urls(typed);
        assert!(found.contains(&"https://oras.example/educatie".to_owned()), "{typed} {found:?}");
    }
    rig.check("inscriere", &["https://scoala.example/"]);
    rig.check("gradinita", &["https://oras.example/educatie"]);
    rig.check("borrowed", &["https://rust.example/book"]);
}

#[test]
fn a_result_shows_the_page_with_what_matched_and_says_why() {
    let rig = schools();
    let answer = rig.search("scolii profesori");
    let first = &answer.results[0];
    assert_eq!(first.url.as_str(), "https://scoala.example/");
    assert_eq!(shown(&first.snippet), "Orarul şi lista [profesorilor]");
    assert_eq!(first.language.as_deref(), Some("ro"));
    assert!(first.why.fields.contains(&SearchField::Description) && first.why.fields.contains(&SearchField::Anchors));
    let sites: Vec<&str> = first.why.linking_sites.iter().map(lohisoftbot_core::site::Site::as_str).collect();
    assert_eq!((sites, first.why.num_linking_sites), (vec!["blog.example"], 1));
    let answer = rig.search("ownership");
    assert_eq!(shown(&answer.results[0].title), "The Rust Book");
}

#[test]
fn operators_narrow_what_is_found() {
    let rig = schools();
    rig.check("\"rust book\"", &["https://rust.example/book"]);
    rig.check("\"book rust\"", &[]);
    rig.check("\"lista profesorilor\"", &["https://scoala.example/"]);
    rig.check("rust -ownership", &[]);
    rig.check("learn -\"the language\"", &[]);
    rig.check("site:rust.example", &["https://rust.example/book"]);
    rig.check("școala site:rust.example", &[]);
    rig.check("lang:en book", &["https://rust.example/book"]);
    rig.check("lang:ro book", &[]);
    rig.check("intitle:rust", &["https://rust.example/book"]);
    rig.check("intitle:ownership", &[]);
    rig.check("intitle:\"the rust\" learn", &["https://rust.example/book"]);
    rig.check("-rust", &[]);
    rig.check("lang:ro", &[]);
    assert_eq!(rig.search("-rust").passed_over, ["There is no word to look for."]);
}

#[test]
fn a_misspelt_word_is_taken_for_the_one_that_is_known() {
    let rig = schools();
    let answer = rig.search("ownershp rules -ruby");
    assert_eq!(answer.results[0].url.as_str(), "https://rust.example/book");
    assert_eq!(answer.correction.as_deref(), Some("ownership rules -ruby"));
    assert_eq!(rig.search("profesorlior").correction.as_deref(), Some("profesorilor"));
    assert_eq!(rig.search("ownership").correction, None);
    assert_eq!(rig.search("xyzzyqwv").correction, None);
}

#[test]
fn a_word_that_is_being_typed_goes_on_with_known_words() {
    let rig = schools();
    let suggest = |typed: &str| rig.index.reader().suggest(typed, 10).unwrap();
    assert_eq!(suggest("the Borr"), ["the borrowing"]);
    assert!(suggest("ș").contains(&"scoala".to_owned()), "{:?}", suggest("ș"));
    assert_eq!(suggest("the "), [] as [&str; 0]);
    assert_eq!(suggest(""), [] as [&str; 0]);
    assert_eq!(rig.index.reader().suggest("o", 1).unwrap().len(), 1);
}

#[test]
fn a_home_page_comes_first_for_a_query_that_names_its_site() {
    let mut rig = Rig::new();
    rig.save("https://www.my-shop.example/", "en", ["Welcome", "", ""], Vec::new());
    for number in 0..5 {
        let texts = ["My Shop review: my shop, my shop", "my shop my shop", "My shop"];
        rig.save(&format!("https://review{number}.example/my-shop"), "en", texts, Vec::new());
    }
    rig.commit();
    for typed in ["my shop", "My-Shop", "myshop", "my-shop.example", "www.my-shop.example"] {
        rig.check_first(typed, "https://www.my-shop.example/");
    }
    assert_ne!(rig.urls("my shop review")[0], "https://www.my-shop.example/");
}

#[test]
fn links_of_many_sites_lift_a_page_above_its_like() {
    let mut rig = Rig::new();
    let texts = ["Weather today", "Forecast for the week", ""];
    for host in ["a", "b", "c"] {
        rig.save(&format!("https://{host}.example/weather"), "en", texts, Vec::new());
    }
    for number in 0..20 {
        let links = vec![stored_link("https://b.example/weather", "see")];
        rig.save(&format!("https://l{number}.example/"), "en", ["Links", "", ""], links);
    }
    rig.commit();
    rig.check_first("weather", "https://b.example/weather");
    rig.check_first("weather forecast", "https://b.example/weather");
}

#[test]
fn words_side_by_side_come_before_the_same_words_apart() {
    let mut rig = Rig::new();
    rig.save("https://a.example/1", "en", ["York times of the new era", "", ""], Vec::new());
    rig.save("https://b.example/1", "en", ["The new york times era of", "", ""], Vec::new());
    rig.commit();
    rig.check_first("new york times", "https://b.example/1");
}

#[test]
fn one_site_never_fills_the_page() {
    let mut rig = Rig::new();
    for number in 0..15 {
        rig.save(&format!("https://big.example/{number}"), "en", ["Cheese cheese cheese", "cheese", ""], Vec::new());
    }
    for number in 0..15 {
        rig.save(
            &format!("https://s{number}.example/x"),
            "en",
            ["A page on cheese and wine and more", "", ""],
            Vec::new(),
        );
    }
    rig.commit();
    let answer = rig.search("cheese");
    let of_big: Vec<u64> =
        answer.results.iter().filter(|r| r.site.as_str() == "big.example").map(|r| r.num_more_from_site).collect();
    assert_eq!((of_big, answer.results.len(), answer.num_results), (vec![0, 13], 10, 30));
    assert!(answer.has_more);
    let ask = |offset, site| {
        let request = SearchRequest { offset, site, ..SearchRequest::new(Query::parse("cheese")) };
        rig.index.reader().search(&request).unwrap()
    };
    let second = ask(10, None);
    assert_eq!((second.results.len(), second.has_more), (7, false));
    let mut seen: Vec<String> = answer.results.iter().chain(&second.results).map(|r| r.url.to_string()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 17);
    let more = ask(0, Some(answer.results[0].site.clone()));
    assert_eq!((more.results.len(), more.num_results), (10, 15));
    assert_eq!(ask(5000, None).results.len(), 0);
}

#[test]
fn whatever_is_typed_gives_an_answer() {
    let rig = schools();
    for typed in [
        "",
        "\"",
        "((((",
        "a:b:c",
        "*",
        "-",
        "site:",
        "\u{202e}abc",
        "🦀",
        "школа",
        "東京 \"京都\"",
        "title:x AND [1 TO 2]",
    ] {
        rig.search(typed);
    }
    rig.search(&"(".repeat(10_000));
    rig.search(&"scoala ".repeat(1000));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 64, ..Default::default() })]
    #[test]
    fn any_query_on_any_page_gives_an_answer(title in "\\PC{0,40}", typed in "\\PC{0,40}", prefix in "\\PC{0,10}") {
        static RIG: std::sync::OnceLock<std::sync::Mutex<Rig>> = std::sync::OnceLock::new();
        let rig = RIG.get_or_init(|| std::sync::Mutex::new(Rig::new()));
        let mut rig = rig.lock().unwrap_or_else(PoisonError::into_inner);
        rig.save("https://a.example/", "", [&title, &typed, &prefix], Vec::new());
        rig.commit();
        rig.search(&typed);
        rig.search(&title);
        rig.index.reader().suggest(&prefix, 10).unwrap();
    }
}
