//! Which addresses a node dials: only those that are open, on every hop, whatever a name server says and when it says it.
//!
//! One loopback address is open; servers on others, which are not, count who comes. The name server is the tests' own.

mod crawl;

use serde_json::Value;

use self::crawl::{CLOSED, OPEN, crawl};

/// How the range of the closed addresses is named, with what would open it.
const IN_WORDS: &str = "is in 127.0.0.0/8 (loopback); a range in network.allow_ranges that holds it would open it";

#[test]
fn closed_address_is_never_dialled_whatever_leads_there() {
    let crawl = crawl();
    let dialled: Vec<_> = crawl.visits.iter().filter(|visit| visit.to != OPEN).collect();
    assert!(dialled.is_empty(), "{dialled:#?}");
    assert!(crawl.visits.len() > 30, "the open address was crawled: {:#?}", crawl.visits);
    // The servers there do count.
    let counted: Vec<_> = crawl.control_visits.iter().map(|visit| visit.to).collect();
    assert!(CLOSED.iter().all(|address| counted.contains(address)), "{counted:?}");
}

#[test]
fn name_that_turns_to_a_closed_address_is_asked_no_more() {
    let crawl = crawl();
    assert_eq!(crawl.asked_of("turn.test"), [(OPEN, "/robots.txt")]);
    let why = crawl.fate_of("http://turn.test:{port}/");
    assert!(why.contains(&format!("{} {IN_WORDS}", CLOSED[0])), "{why}");
    assert_eq!(crawl.sites["turn.test"]["reason"], "AddressRefused");

    let late = crawl.asked_of("late.test");
    assert_eq!((late.len(), late[0]), (3, (OPEN, "/robots.txt")), "{late:?}");
}

#[test]
fn each_request_has_one_look_up_of_its_own_unless_an_answer_may_be_kept() {
    let crawl = crawl();
    for host in ["forms.test", "page.test", "many.test"] {
        assert_eq!(crawl.num_asked(host), crawl.asked_of(host).len(), "{host}");
    }
    // The last look-up was the one that was refused, and there was none afterwards.
    assert_eq!(crawl.num_asked("late.test"), crawl.asked_of("late.test").len() + 1);
    assert_eq!(crawl.num_asked("kept.test"), 1);
    assert!(crawl.asked_of("kept.test").len() > 4, "{:?}", crawl.asked_of("kept.test"));
    assert!(crawl.asked.iter().all(|question| question.kind == "A"), "{:?}", crawl.asked);
}

#[test]
fn of_several_addresses_the_open_one_is_dialled() {
    let visited = crawl().asked_of("many.test");
    assert_eq!(visited.first(), Some(&(OPEN, "/robots.txt")));
    assert!(visited.contains(&(OPEN, "/")) && visited.iter().all(|(to, _)| *to == OPEN), "{visited:?}");
}

#[test]
fn redirects_of_robots_txt_and_of_pages_and_sitemaps_to_a_closed_address_are_not_followed() {
    let crawl = crawl();
    for host in ["www.hop.test", "www.page.test", "www.map.test"] {
        assert!(crawl.num_asked(host) > 0, "{host} was looked up");
        assert_eq!(crawl.asked_of(host), [], "{host}");
    }
    // Its robots.txt cannot be read, so nothing else is asked.
    let hop = crawl.asked_of("hop.test");
    assert!(!hop.is_empty() && hop.iter().all(|(_, path)| *path == "/robots.txt"), "{hop:?}");
    for url in ["http://www.page.test:{port}/", "http://www.map.test:{port}/"] {
        assert!(crawl.fate_of(url).contains(IN_WORDS), "{url}: {}", crawl.fate_of(url));
    }
}

#[test]
fn odd_forms_of_closed_addresses_are_refused_as_links_and_as_redirects() {
    let crawl = crawl();
    let go: Vec<_> = crawl.asked_of("forms.test").into_iter().filter(|(_, path)| path.starts_with("/go/")).collect();
    assert!(go.len() > 10, "{go:?}");
    for (url, words) in [
        ("http://127.0.0.1:{port}/", IN_WORDS),
        ("http://127.0.0.9:{port}/", IN_WORDS),
        ("http://localhost:{port}/", IN_WORDS),
        ("http://www.localhost:{port}/", IN_WORDS),
        ("http://printer.local:{port}/", "names in .local"),
        ("http://hidden.onion:{port}/", "names in .onion"),
        ("http://metadata.google.internal:{port}/", "names in .internal"),
        ("http://forms.test:25/", "port 25 is not for the web"),
        ("http://forms.test:6000/", "port 6000 is not for the web"),
    ] {
        assert!(crawl.fate_of(url).contains(words), "{url}: {}", crawl.fate_of(url));
    }
    let odd: Vec<_> = crawl.frontier.keys().filter(|url| !url.starts_with("http://") || url.contains('[')).collect();
    assert!(odd.is_empty(), "{odd:?}");
    for name in ["localhost", "www.localhost", "printer.local", "hidden.onion", "metadata.google.internal"] {
        assert_eq!(crawl.num_asked(name), 0, "{name} was looked up");
    }
}

#[test]
fn names_that_do_not_exist_and_name_servers_that_fail_are_told_apart() {
    let crawl = crawl();
    for (site, reason) in [
        ("no-such-name.test", "NoSuchName"),
        ("empty.test", "NoSuchName"),
        ("mapped.test", "NoSuchName"),
        ("broken.test", "NameServers"),
        ("silent.test", "NameServers"),
        ("garbage.test", "NameServers"),
        ("cut.test", "NameServers"),
        ("truncated.test", "NameServers"),
        ("target.test", "AddressRefused"),
        ("alias.test", "AddressRefused"),
        ("whole-alias.test", "AddressRefused"),
        ("to-localhost.test", "AddressRefused"),
    ] {
        let row = &crawl.sites[site];
        assert_eq!(row["reason"], Value::from(reason), "{site}: {row:?}");
        assert_eq!(crawl.asked_of(site), [], "{site}");
    }
}

#[test]
fn operator_is_told_which_range_refuses_and_what_would_open_it() {
    let crawl = crawl();
    let refusal = format!("{} {IN_WORDS}", CLOSED[0]);
    assert!(crawl.explained.contains("its address is one that is never dialled"), "{}", crawl.explained);
    assert!(crawl.explained.contains(&refusal), "{}", crawl.explained);
    assert!(crawl.site_shown.contains(&refusal), "{}", crawl.site_shown);
}
