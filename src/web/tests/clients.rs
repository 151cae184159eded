//! Who may ask, how much, and under which name.

use lohisoftbot_core::config::WebSettings;

use super::fake::{FakeIndex, found};
use super::rig::{Rig, settings};

fn rig(change: impl FnOnce(&mut WebSettings)) -> Rig {
    let mut settings = settings();
    change(&mut settings);
    Rig::start(settings, FakeIndex::answering(found))
}

fn statuses(rig: &Rig, num: usize, line: &str) -> Vec<u16> {
    (0..num).map(|_| rig.ask("GET", "/", &[line]).status).collect()
}

#[test]
fn client_beyond_its_rate_is_told_when_to_come_back() {
    let rig = rig(|web| (web.requests_per_minute, web.request_burst) = (1, 3));
    assert_eq!(statuses(&rig, 4, "x-forwarded-for: 192.0.2.1"), [200, 200, 200, 429]);
    // A stranger's word about whom it asks for changes nothing.
    let page = rig.ask("GET", "/search?q=a", &["x-forwarded-for: 192.0.2.2", "accept-language: ro"]);
    page.is(429).has("Prea multe cereri");
    let wait: u64 = page.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(rig.get("/api/v1/search?q=a").is(429).json()["error"]["code"], "too_many_requests");
}

#[test]
fn clients_behind_a_trusted_proxy_are_counted_apart() {
    let rig = rig(|web| {
        (web.requests_per_minute, web.request_burst) = (1, 2);
        web.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    });
    assert_eq!(statuses(&rig, 3, "x-forwarded-for: 192.0.2.1"), [200, 200, 429]);
    assert_eq!(statuses(&rig, 3, "x-forwarded-for: 192.0.2.2"), [200, 200, 429]);
    // What the client itself wrote stands to the left of what the proxy added.
    assert_eq!(statuses(&rig, 1, "x-forwarded-for: 192.0.2.99, 192.0.2.1"), [429]);
    assert_eq!(statuses(&rig, 1, "forwarded: for=192.0.2.77"), [200]);
}

#[test]
fn scheme_is_believed_from_a_trusted_proxy_alone() {
    let line = &["x-forwarded-proto: https"];
    rig(|_| {}).ask("GET", "/opensearch.xml", line).has("template=\"http://localhost/search");
    let trusting = rig(|web| web.trusted_proxies = vec!["127.0.0.1".parse().unwrap()]);
    trusting.ask("GET", "/opensearch.xml", line).has("template=\"https://localhost/search");
    trusting.ask("GET", "/opensearch.xml", &[]).has("template=\"http://localhost/search");
}

#[test]
fn strange_host_names_are_refused_before_anything_is_answered() {
    let local = rig(|_| {});
    for host in ["localhost", "127.0.0.1:8080", "[::1]"] {
        local.ask("GET", "/", &[&format!("host: {host}")]).is(200);
    }
    for host in ["evil.example", "evil.example:8080", "a\"b", ""] {
        local
            .ask("GET", "/search?q=a", &[&format!("host: {host}")])
            .is(421)
            .has("This site has another name")
            .has_not("farm");
    }
    local.raw("GET / HTTP/1.0\r\n\r\n").is(421);
    let named = rig(|web| web.hostnames = vec!["search.example.org".to_owned()]);
    named.ask("GET", "/opensearch.xml", &["host: search.example.org"]).is(200).has("http://search.example.org/search");
    named.ask("GET", "/", &["host: example.org"]).is(421);
}

#[test]
fn oversized_requests_are_refused() {
    let rig = rig(|_| {});
    rig.get(&format!("/search?q=a&x={}", "a".repeat(4096))).is(414).has("That address is too long");
    let line = format!("x-big: {}", "a".repeat(17_000));
    rig.ask("GET", "/", &[&line]).is(431).has("The request is too large");
    let lines: Vec<String> = (0..200).map(|number| format!("x-{number}: a")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert!(matches!(rig.ask("GET", "/", &lines).status, 400 | 431));
    let line = format!("x-big: {}", "a".repeat(300_000));
    assert!(matches!(rig.ask("GET", "/", &[&line]).status, 0 | 431));
    rig.get("/").is(200);
}
