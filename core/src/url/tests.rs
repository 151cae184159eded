//! The canonical form and the bounds of a `PageUrl`, row by row, and their invariants on random text.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(raw: &str, wanted: &str) {
    let url = PageUrl::parse(raw, None).unwrap_or_else(|refusal| panic!("{raw} {refusal}"));
    assert_eq!(url.as_str(), wanted, "from {raw}");
    assert_eq!(PageUrl::parse(url.as_str(), None).as_ref(), Ok(&url), "{raw} is not stable");
}

#[track_caller]
fn check_refused(raw: &str, wanted: UrlRefusal) {
    assert_eq!(PageUrl::parse(raw, None), Err(wanted), "{raw}");
}

#[test]
fn fragment_empty_query_and_root_dot_are_taken_off() {
    check("http://a.example", "http://a.example/");
    check("http://a.example/x#part", "http://a.example/x");
    check("http://a.example/#!/route", "http://a.example/");
    check("http://a.example/?", "http://a.example/");
    check("http://a.example/?#", "http://a.example/");
    check("http://A.Example.:80/", "http://a.example/");
    check("https://a.example.:8443/", "https://a.example:8443/");
}

#[test]
fn triplets_are_upper_cased_and_unreserved_ones_decoded() {
    check("http://a.example/%7euser/%66oo%2ehtml", "http://a.example/~user/foo.html");
    check("http://a.example/a%2fb%c3%a9", "http://a.example/a%2Fb%C3%A9");
    check("http://a.example/?q=%e9%41%26", "http://a.example/?q=%E9A%26");
    check("http://a.example/90%+of/%zz%", "http://a.example/90%+of/%zz%");
}

#[test]
fn a_stray_percent_sign_never_becomes_a_triplet() {
    check("http://a.example/%%36%31", "http://a.example/%%361");
    check("http://a.example/%6%31", "http://a.example/%6%31");
    check("http://a.example/%%7e", "http://a.example/%~");
    check("http://a.example/%2561", "http://a.example/%2561");
    check("http://a.example/%zz%77%v", "http://a.example/%zzw%v");
}

#[test]
fn session_ids_are_taken_off() {
    check("http://a.example/x;jsessionid=1E6F.node1?p=1", "http://a.example/x?p=1");
    check("http://a.example/x;JSessionID=1/y;jsessionid=2;v=3", "http://a.example/x/y;v=3");
    check("http://a.example/;jsessionid=a", "http://a.example/");
    check("http://a.example/b/..;jsessionid=a", "http://a.example/");
    check("http://a.example/x?a=1;jsessionid=0F&b=2", "http://a.example/x?a=1&b=2");
    check("http://a.example/x?PHPSESSID=1&a=1&jsessionid=2&Bv_SessionID=3&_sessionid=4", "http://a.example/x?a=1");
    check("http://a.example/x?sid=0123456789abcdef&a=1", "http://a.example/x?a=1");
    check("http://a.example/x?_sid=0123456789abcdef", "http://a.example/x");
}

#[test]
fn a_parameter_that_may_be_content_stays() {
    check("http://a.example/x?sid=1234", "http://a.example/x?sid=1234");
    check("http://a.example/x?sid=0123456789abcde", "http://a.example/x?sid=0123456789abcde");
    check("http://a.example/x?sid=how-to-bake-a-good-bread", "http://a.example/x?sid=how-to-bake-a-good-bread");
    check(
        "http://a.example/x?ref=1&source=2&NewsID=3&addressid=4",
        "http://a.example/x?ref=1&source=2&NewsID=3&addressid=4",
    );
    check("http://a.example/x;v=1?utmost=1", "http://a.example/x;v=1?utmost=1");
}

#[test]
fn tracking_parameters_are_taken_off_and_the_rest_keeps_its_order() {
    check("http://a.example/?b=2&utm_source=x&a=1&UTM_Campaign=y", "http://a.example/?b=2&a=1");
    check("http://a.example/?fbclid=1&gclid=2&msclkid=3", "http://a.example/");
    check("http://a.example/?utm%5Fsource=x", "http://a.example/");
    check("http://a.example/?&a=1&&utm_x=1&b", "http://a.example/?&a=1&&b");
}

#[test]
fn scheme_www_slashes_and_index_pages_stay() {
    for url in
        ["http://www.a.example/", "http://a.example//b///", "http://a.example/index.html", "https://a.example:80/A/"]
    {
        check(url, url);
    }
}

#[test]
fn every_spelling_of_a_host_ends_up_as_one_site() {
    for (spellings, site) in [
        (
            &["http://BÜCHER.example/", "http://b%C3%BCcher.example", "http://www.xn--bcher-kva.example./"][..],
            "xn--bcher-kva.example",
        ),
        (&["http://example%2Ecom/", "http://www。example．com/", "http://ｅｘａｍｐｌｅ.com"][..], "example.com"),
        (
            &["http://2130706433/", "http://0x7f.1/", "http://127.1", "http://0177.0.0.1.", "http://１２７.0.0.1"][..],
            "127.0.0.1",
        ),
    ] {
        for raw in spellings {
            let url = PageUrl::parse(raw, None).unwrap_or_else(|refusal| panic!("{raw} {refusal}"));
            assert_eq!(url.site().as_str(), site, "{raw}");
            assert!(!url.host().ends_with('.'), "{raw}");
        }
    }
}

#[test]
fn what_cannot_or_must_not_be_asked_is_refused() {
    check_refused("http://user@a.example/", UrlRefusal::Credentials);
    check_refused("https://a:b@a.example/", UrlRefusal::Credentials);
    check_refused("ftp://a.example/", UrlRefusal::OtherScheme);
    check_refused("mailto:x@a.example", UrlRefusal::OtherScheme);
    check_refused("javascript:f()", UrlRefusal::OtherScheme);
    check_refused("a.example/", UrlRefusal::Unparsable);
    check_refused("http://[::1]/", UrlRefusal::NoUsableHost);
    check_refused("http://./", UrlRefusal::NoUsableHost);
    check_refused("http://a..example/", UrlRefusal::NoUsableHost);
    check_refused("http://a.example../", UrlRefusal::NoUsableHost);
    check_refused("http://a{b}.example/", UrlRefusal::NoUsableHost);
    check_refused(&format!("http://{}.example/", "a".repeat(64)), UrlRefusal::LabelTooLong);
    check_refused(&format!("http://{}example/", "abc.".repeat(64)), UrlRefusal::HostTooLong);
    let long_and_odd = format!("http://{}.a{{b}}.example/", "a".repeat(64));
    check_refused(&long_and_odd, UrlRefusal::NoUsableHost);
    PageUrl::parse(&format!("http://{}.example/", "a".repeat(63)), None).unwrap();
    check_refused(&format!("http://a.example/{}", "x".repeat(MAX_URL_BYTES)), UrlRefusal::TooLong);
    check_refused(&" ".repeat(MAX_RAW_URL_BYTES + 1), UrlRefusal::TooLong);
}

#[test]
fn references_with_any_number_of_slashes_name_a_host() {
    let base = PageUrl::parse("https://a.example/x/y", None).unwrap();
    for (raw, wanted) in [
        ("//b.example/z", "https://b.example/z"),
        ("///b.example/z", "https://b.example/z"),
        (" /\\/\t/b.example//z", "https://b.example//z"),
        ("\\\\b.example", "https://b.example/"),
        ("/z//w", "https://a.example/z//w"),
        ("z", "https://a.example/x/z"),
        ("", "https://a.example/x/y"),
    ] {
        assert_eq!(PageUrl::parse(raw, Some(&base)).unwrap().as_str(), wanted, "{raw:?}");
    }
    assert_eq!(PageUrl::parse("////", Some(&base)), Err(UrlRefusal::Unparsable));
}

#[test]
fn a_caret_is_encoded_in_the_path_and_left_in_the_query() {
    check("http://a.example/a^b?c^d", "http://a.example/a%5Eb?c^d");
    let parsed = Url::parse("http://a.example/a^b").unwrap();
    assert_eq!(canonicalize(parsed).as_str(), "http://a.example/a%5Eb");
}

#[test]
fn length_is_judged_after_tracking_is_taken_off() {
    check(&format!("http://a.example/?utm_term={}", "x".repeat(MAX_URL_BYTES)), "http://a.example/");
}

#[test]
fn the_canonical_form_alone_drops_user_info_and_knows_ipv6() {
    for (raw, wanted) in [
        ("http://user:pw@a.example/", "http://a.example/"),
        ("http://user:pass@[::1]:80/x/../y", "http://[::1]/y"),
        ("http://a.example../", "http://a.example../"),
    ] {
        assert_eq!(canonical(raw, None).unwrap().as_str(), wanted, "{raw}");
    }
}

#[test]
fn stored_text_that_is_no_page_url_is_not_read_back() {
    let config = bincode::config::standard();
    let read = |text: &str| {
        let bytes = bincode::serde::encode_to_vec(text, config).unwrap();
        bincode::serde::decode_from_slice::<PageUrl, _>(&bytes, config).map(|(url, _)| url.to_string()).ok()
    };
    assert_eq!(read("http://a.example/x"), Some("http://a.example/x".to_owned()));
    assert_eq!(read("http://user@a.example/"), None);
    assert_eq!(read("http://[::1]/"), None);
}

/// Text made of the pieces that URL parsers trip over.
fn url_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(vec![
            "a", "B", "1", "f", "/", "//", "..", ".", ";", "?", "&", "=", "#", "%", "%2", "%36", "%2e", "%2F", "%c3%A9", "%25", "\\", "@", ":",
            ";jsessionid=", ";JSESSIONID=a1", "utm_a=1", "sid=0123456789abcdef", "PHPSESSID=", "é", "。", " ", "\t", "+", "[", "]", "{", "'", "^",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    let host =
        proptest::sample::select(vec!["a.example", "A.example.", "1.2.3", "é.example", "a.example:81", "[::1]", "u@h"]);
    (proptest::sample::select(vec!["http://", "https://", "HTTP:\\\\"]), host, proptest::collection::vec(piece, 0..24))
        .prop_map(|(scheme, host, pieces)| format!("{scheme}{host}/{}", pieces.concat()))
}

proptest! {
    #[test]
    fn canonicalising_twice_changes_nothing(raw in url_like()) {
        if let Ok(once) = canonical(&raw, None) {
            prop_assert_eq!(canonicalize(once.clone()), once.clone());
            prop_assert_eq!(canonical(once.as_str(), None), Ok(once));
        }
    }

    #[test]
    fn a_page_url_keeps_its_promises(raw in url_like()) {
        if let Ok(url) = PageUrl::parse(&raw, None) {
            prop_assert!(url.as_str().is_ascii() && url.as_str().len() <= MAX_URL_BYTES);
            prop_assert!(url.as_url().fragment().is_none() && url.as_url().username().is_empty() && url.as_url().password().is_none());
            prop_assert!(url.as_url().query() != Some(""));
            prop_assert_eq!(PageUrl::parse(url.as_str(), None), Ok(url.clone()));
            prop_assert!(url.site().contains_host(url.host()));
            prop_assert_eq!(url.origin().home().site(), url.site());
        }
    }

    #[test]
    fn any_text_is_parsed_without_panic(raw in ".*", base in url_like()) {
        let base = PageUrl::parse(&base, None).ok();
        let _ = PageUrl::parse(&raw, base.as_ref());
    }
}
