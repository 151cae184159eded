//! One site under any name: however a host is written, it is one `PageUrl` host, one `Origin`, one `Site`, and one exclusion.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use proptest::prelude::*;

/// A host in its plain form, its site, and the ways to write it.
struct Host {
    plain: &'static str,
    site: &'static str,
    spellings: &'static [&'static str],
}

const HOSTS: [Host; 4] = [
    Host {
        plain: "www.example.test",
        site: "example.test",
        spellings: &[
            "www.example.test",
            "WWW.Example.TEST",
            "www.example.test.",
            "www%2Eexample%2etest",
            "%77%77%77.example.test",
            "www.ex%41mple.test%2E",
            "ｗｗｗ.ｅｘａｍｐｌｅ.test",
            "www．example．test",
            "www。example。test",
            "www｡example｡test｡",
            "www.exam\u{ad}ple.test",
            "www.example%E3%80%82test",
        ],
    },
    Host {
        plain: "xn--bcher-kva.example",
        site: "xn--bcher-kva.example",
        spellings: &[
            "bücher.example",
            "BÜCHER.example",
            "bu\u{308}cher.example",
            "Bu\u{308}cher.Example.",
            "xn--bcher-kva.example",
            "XN--BCHER-KVA.EXAMPLE",
            "b%C3%BCcher.example",
            "b%c3%bccher。example",
            "ｂücher.example",
        ],
    },
    Host {
        plain: "xn--0-mga.xn--e1afmkfd.xn--p1ai",
        site: "xn--e1afmkfd.xn--p1ai",
        spellings: &["ï0.пример.рф", "Ï0.ПРИМЕР.РФ", "ï０.xn--e1afmkfd.рф.", "XN--0-MGA.пример。xn--p1ai"],
    },
    Host {
        plain: "127.0.0.1",
        site: "127.0.0.1",
        spellings: &[
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0X7F.0.0.0x1",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "0177.0.0.01",
            "00000000177.1",
            "１２７.０.０.１",
            "①②⑦.0.0.1",
            "127。0．0｡1",
            "%31%32%37.0.0.1",
            "0x7f%2E1",
            "２１３０７０６４３３",
        ],
    },
];

/// The same for a whole address, port and scheme included.
#[track_caller]
fn check_url(raw: &str, host: &Host) {
    let url = PageUrl::parse(raw, None).unwrap_or_else(|refusal| panic!("{raw} {refusal}"));
    assert_eq!((url.host(), url.site().as_str()), (host.plain, host.site), "{raw}");
    let plain = PageUrl::parse(&format!("{}://{}/", url.as_url().scheme(), host.plain), None).unwrap();
    assert_eq!(url.origin(), plain.origin(), "{raw}");
    assert_eq!(url, plain, "{raw}");
    assert_eq!(Seed::parse(raw).unwrap().url, plain, "{raw} as a seed");
}

#[test]
fn every_spelling_of_a_host_is_one_url_one_origin_and_one_site() {
    for host in &HOSTS {
        for spelling in host.spellings {
            for (before, after) in [
                ("http://", ""),
                ("http://", ":80/"),
                ("HTTP://", ":/"),
                ("https://", ":443"),
                ("https:\\\\", ":0443/#x"),
            ] {
                check_url(&format!("{before}{spelling}{after}"), host);
            }
            let bare = Seed::parse(spelling).unwrap_or_else(|refusal| panic!("{spelling} {refusal}"));
            assert_eq!(
                (bare.url.host(), bare.url.site().as_str()),
                (host.plain, host.site),
                "{spelling} as a bare seed"
            );
        }
    }
}

#[test]
fn an_exclusion_by_any_spelling_is_that_of_the_host() {
    for host in &HOSTS {
        for spelling in host.spellings {
            let domain = Domain::parse(spelling).unwrap_or_else(|error| panic!("{spelling}: {error}"));
            assert_eq!(domain.as_str(), host.plain, "{spelling}");
            let mut all = Exclusions::default();
            all.insert(domain, Exclusion { at: Timestamp::EPOCH, reason: String::new() });
            assert!(all.covers_host(host.plain), "{spelling}");
        }
    }
}

#[test]
fn a_host_that_is_no_name_and_no_address_under_any_reading_is_no_site() {
    for raw in [
        "http://256.0.0.1/",
        "http://0x100000000/",
        "http://4294967296/",
        "http://127.0.0.1.1/",
        "http://0x7f.1../",
        "http://1.2.3.08/",
        "http://。/",
        "http://www。。example.test/",
        "http://exa%00mple.test/",
        "http://exa%20mple.test/",
        "http://xn--a/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        assert!(PageUrl::parse(raw, None).is_err(), "{raw}: {:?}", PageUrl::parse(raw, None));
    }
}

#[test]
fn lookalikes_are_other_sites() {
    let site = |raw: &str| PageUrl::parse(raw, None).unwrap().site();
    // Cyrillic letters, a hyphen too many, a name that only begins alike, and an address that is another.
    for (one, two) in [
        ("http://example.test/", "http://ехаmple.test/"),
        ("http://example.test/", "http://ex-ample.test/"),
        ("http://example.test/", "http://example.test.com/"),
        ("http://127.0.0.1/", "http://127.0.0.2/"),
        ("http://127.1/", "http://127.0.1.0/"),
    ] {
        assert_ne!(site(one), site(two), "{one} and {two}");
    }
}

/// One way to write a character of a host.
fn written(c: char, way: u8) -> String {
    let full_width = u32::from(c).checked_add(0xFEE0).and_then(char::from_u32);
    match (way % 5, c) {
        (0, '.') => "。".to_owned(),
        (1, '.') => "．".to_owned(),
        (2, _) => format!("%{:02x}", u32::from(c)),
        (3, 'a'..='z' | '0'..='9') => full_width.unwrap().to_string(),
        (4, _) => c.to_ascii_uppercase().to_string(),
        _ => c.to_string(),
    }
}

/// A part of an address, in one of the bases that browsers read.
fn part(value: u32, base: u8) -> String {
    match base % 3 {
        0 => value.to_string(),
        1 => format!("0x{value:x}"),
        _ => format!("0{value:o}"),
    }
}

proptest! {
    #[test]
    fn any_mixture_of_spellings_is_one_host(
        name in "[a-z][a-z0-9]{1,6}(-[a-z0-9]{1,4})?(\\.[a-z][a-z0-9]{1,6}){1,3}",
        ways in proptest::collection::vec(any::<u8>(), 40),
        dot in "[.]?",
    ) {
        // A name whose last label reads as a number is an address or nothing; letters come first here, so none does.
        let spelled: String = name.chars().zip(ways).map(|(c, way)| written(c, way)).collect();
        let plain = PageUrl::parse(&format!("http://{name}/"), None).unwrap();
        let url = PageUrl::parse(&format!("http://{spelled}{dot}/"), None).unwrap();
        prop_assert_eq!(url.site(), plain.site());
        prop_assert_eq!(Domain::parse(&format!("{spelled}{dot}")).unwrap(), Domain::parse(&name).unwrap());
        prop_assert_eq!(url, plain);
    }

    #[test]
    fn any_form_of_an_address_is_one_host(
        octets in any::<[u8; 4]>(),
        num_parts in 1usize..=4,
        bases in any::<[u8; 4]>(),
        ways in proptest::collection::vec(any::<u8>(), 64),
    ) {
        let address = std::net::Ipv4Addr::from(octets);
        let first: Vec<String> = octets[..num_parts - 1].iter().zip(bases).map(|(o, base)| part(u32::from(*o), base)).collect();
        let rest = u32::from(address) & (u32::MAX >> (8 * (num_parts as u32 - 1)));
        let text = [first, vec![part(rest, bases[3])]].concat().join(".");
        let spelled: String = text.chars().zip(ways).map(|(c, way)| written(c, way)).collect();
        let url = PageUrl::parse(&format!("http://{spelled}/"), None).unwrap();
        prop_assert_eq!(url.site().to_string(), address.to_string());
        prop_assert_eq!(Domain::parse(&spelled).unwrap().to_string(), address.to_string());
    }
}
