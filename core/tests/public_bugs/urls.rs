//! Spellings of one address.

use lohisoftbot_core::address::vet;
use lohisoftbot_core::url::{PageUrl, UrlRefusal};

/// All spellings are one page.
#[track_caller]
fn check_one(report: &str, spellings: &[&str], wanted: &str) {
    for raw in spellings {
        let url = PageUrl::parse(raw, None).unwrap_or_else(|refusal| panic!("{report}: {raw} {refusal}"));
        assert_eq!(url.as_str(), wanted, "{report}: {raw}");
    }
}

#[test]
fn one_address_has_one_form() {
    check_one(
        "Arachni/arachni#171",
        &["http://h.test/;jsessionid=a", "http://h.test/;jsessionid=b", "http://h.test/;JSESSIONID=0F.node1"],
        "http://h.test/",
    );
    check_one("Norconex/crawler#480", &["http://h.test/a b", "http://h.test/a%20b"], "http://h.test/a%20b");
    check_one("Norconex/crawler#290", &["http://h.test", "http://h.test/"], "http://h.test/");
    check_one("crawler-commons/crawler-commons#303", &["https://example%2Ecom/"], "https://example.com/");
    check_one(
        "spider-rs/spider#319",
        &["http://h.test/p#a", "http://h.test/p#b", "http://h.test/x/../p", "http://H.test:80/p?"],
        "http://h.test/p",
    );
}

#[test]
fn a_parameter_that_tracks_nobody_stays() {
    let url = "http://h.test/?utm=1&ref=home&id=7&source=x&page=2";
    check_one("niksite/url-normalize#26", &[url], url);
}

#[test]
fn what_was_made_for_one_person_or_for_no_browser_is_no_page() {
    for (report, raw, refusal) in [
        ("firecrawl/firecrawl#2591", "https://a:b@host.test/", UrlRefusal::Credentials),
        ("firecrawl/firecrawl#2591", "https://user@host.test/", UrlRefusal::Credentials),
        ("Arachni/arachni#730", "mailto:x@y.test", UrlRefusal::OtherScheme),
        ("marty1885/tlgs#3", "javascript:f()", UrlRefusal::OtherScheme),
        ("marty1885/tlgs#3", "news:comp.lang.misc", UrlRefusal::OtherScheme),
    ] {
        assert_eq!(PageUrl::parse(raw, None), Err(refusal), "{report}: {raw}");
    }
}

#[test]
fn an_address_in_one_number_is_the_address_that_is_refused() {
    for raw in ["http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://127.1/"] {
        let url = PageUrl::parse(raw, None).unwrap();
        let address: std::net::Ipv4Addr = url.host().parse().unwrap();
        assert!(vet(address, &[]).is_err(), "raptor7197/caamas#30: {raw}");
    }
}
