//! What lies under the pages: headers of every answer, HEAD, caches, time-outs, places, TLS, and the messages of a failed start.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lohisoftbot_core::config::{ListenAddress, WebSettings};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::fake::{FakeIndex, found};
use super::rig::{Answer, INFO_URL, Rig, read_to_end, settings};
use crate::web::{PublicSite, WebError};

fn rig(change: impl FnOnce(&mut WebSettings)) -> Rig {
    let mut settings = settings();
    change(&mut settings);
    Rig::start(settings, FakeIndex::answering(found))
}

#[track_caller]
fn check_headers(answer: &Answer) {
    let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{answer:?}"));
    for part in
        ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "style-src 'self'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    assert_eq!(answer.header("set-cookie"), None);
}

#[test]
fn every_answer_carries_the_safety_headers() {
    let rig = rig(|_| {});
    for (method, target, status) in [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/search?q=a", 200),
        ("GET", "/search?q=a&site=!", 400),
        ("GET", "/api/v1/search?q=a", 200),
        ("GET", "/api/v1/search", 400),
        ("GET", "/api/v1/suggest?q=a", 200),
        ("GET", "/api/v1/openapi.json", 200),
        ("GET", "/opensearch.xml", 200),
        ("GET", "/robots.txt", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/static/../Cargo.toml", 404),
        ("POST", "/", 405),
        ("OPTIONS", "/api/v1/search", 405),
        ("TRACE", "/", 405),
    ] {
        let answer = rig.ask(method, target, &[]);
        check_headers(answer.is(status));
        assert_eq!(answer.header("strict-transport-security"), None, "only TLS may ask for TLS");
    }
    check_headers(rig.ask("GET", "/", &["host: evil.example"]).is(421));
}

#[test]
fn head_is_answered_as_get_without_the_body() {
    let rig = rig(|_| {});
    for target in ["/", "/search?q=a", "/api/v1/search?q=a", "/robots.txt", "/nowhere"] {
        let (get, head) = (rig.get(target), rig.ask("HEAD", target, &[]));
        assert_eq!((head.status, head.body.as_str()), (get.status, ""), "{target}");
        assert_eq!(head.header("content-length"), Some(get.body.len().to_string().as_str()), "{target}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{target}");
    }
}

#[test]
fn style_sheet_and_icon_are_kept_for_good_under_a_name_that_changes_with_them() {
    let rig = rig(|_| {});
    let home = rig.get("/");
    for (kind, before) in
        [("text/css; charset=utf-8", "rel=\"stylesheet\" href=\""), ("image/svg+xml", "type=\"image/svg+xml\" href=\"")]
    {
        let path = home.body.split(before).nth(1).unwrap().split('"').next().unwrap();
        let file = rig.get(path);
        check_headers(file.is(200));
        assert_eq!(file.header("content-type"), Some(kind));
        assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let tag = file.header("etag").unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = rig.ask("GET", path, &[&format!("if-none-match: {known}")]);
            assert_eq!((again.status, again.body.as_str()), (304, ""));
            check_headers(&again);
        }
        rig.ask("GET", path, &["if-none-match: \"other\""]).is(200);
        rig.get(&path.replace('-', "-0")).is(404);
    }
}

/// Sends `before`, then, if there are drops, one every 50 ms, and wants to be hung up on.
#[track_caller]
fn check_hung_up(before: &str, drop: &[u8]) {
    let rig =
        rig(|web| (web.request_timeout, web.keep_alive) = (Duration::from_millis(300), Duration::from_millis(300)));
    let mut stream = rig.connect();
    stream.write_all(before.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (started, mut seen) = (Instant::now(), [0; 4096]);
    loop {
        // A time-out between bytes would never end this.
        let is_gone = stream.write_all(drop).is_err();
        match stream.read(&mut seen) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
        assert!(!is_gone && started.elapsed() < super::rig::PATIENCE, "still connected after {before:?} {drop:?}");
    }
    rig.still_answers();
}

const WHOLE: &str = "GET /robots.txt HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[test]
fn client_that_sends_its_head_by_drops_is_hung_up_on() {
    check_hung_up("", b"x");
    check_hung_up("GET / HTTP/1.1\r\nx-a: ", b"x");
    check_hung_up(WHOLE, b"x");
}

#[test]
fn half_a_head_behind_a_whole_request_in_one_packet_holds_no_connection() {
    let pipelined = format!("{WHOLE}GET / HTTP/1.1\r\nx-a: ");
    check_hung_up(&pipelined, b"x");
    check_hung_up(&pipelined, b"");
    check_hung_up(&format!("{WHOLE}{WHOLE}G"), b"");
}

#[test]
fn client_that_sends_nothing_is_hung_up_on() {
    check_hung_up("", b"");
    check_hung_up(WHOLE, b"");
    check_hung_up("GET / HTTP/1.1\r\n", b"");
    check_hung_up("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n", b"x");
}

#[test]
fn client_that_takes_no_answer_is_hung_up_on() {
    let rig = rig(|web| web.request_timeout = Duration::from_millis(300));
    let mut stream = rig.connect();
    stream.set_write_timeout(Some(super::rig::PATIENCE)).unwrap();
    let request = "GET /search?q=a HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    let started = Instant::now();
    // Answers of many megabytes are asked for and none is read, until writing fails because the other end is gone.
    while stream.write_all(request.as_bytes()).is_ok() {
        assert!(started.elapsed() < super::rig::PATIENCE, "still connected");
    }
    rig.still_answers();
}

#[test]
fn one_address_holds_a_share_of_the_connections_only() {
    let rig = rig(|web| web.max_connections = 16);
    let mut held: Vec<_> = (0..4).map(|_| rig.connect()).collect();
    for stream in &mut held {
        stream.write_all(b"GET /robots.txt HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert_ne!(stream.read(&mut [0; 64]).unwrap(), 0);
    }
    assert_eq!(rig.get("/").status, 0, "a fifth connection is closed unanswered");
    drop(held);
    rig.still_answers();
}

#[test]
fn stopped_pages_are_gone_and_leave_their_port_free() {
    let mut rig = rig(|_| {});
    rig.get("/").is(200);
    let address = rig.address;
    let idle = rig.connect();
    let started = Instant::now();
    rig.stop();
    assert!(started.elapsed() < Duration::from_secs(10));
    drop(idle);
    assert!(std::net::TcpStream::connect(address).is_err());
}

fn files(dir: &tempfile::TempDir) -> (rcgen::CertifiedKey<rcgen::KeyPair>, std::path::PathBuf, std::path::PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (dir.path().join("chain.pem"), dir.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (made, certificate, key)
}

#[test]
fn tls_speaks_http_1_alone_and_asks_browsers_to_stay() {
    let dir = tempfile::tempdir().unwrap();
    let (made, certificate, key) = files(&dir);
    let rig = rig(|web| (web.tls_certificate, web.tls_key) = (certificate, key));
    assert_eq!(rig.url, format!("https://127.0.0.1:{}/", rig.address.port()));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let mut client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let connection = ClientConnection::new(Arc::new(client), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, rig.connect());
    stream.write_all(b"GET /opensearch.xml HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let answer = read_to_end(&mut stream);
    answer.is(200).has("template=\"https://localhost/search");
    check_headers(&answer);
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    // Plain HTTP to the same port is hung up on.
    assert_eq!(rig.get("/").status, 0);
}

#[test]
fn client_that_does_not_shake_hands_is_hung_up_on() {
    let dir = tempfile::tempdir().unwrap();
    let (_, certificate, key) = files(&dir);
    let rig = rig(|web| {
        (web.tls_certificate, web.tls_key) = (certificate, key);
        web.request_timeout = Duration::from_millis(300);
    });
    let mut stream = rig.connect();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
}

#[track_caller]
fn check_refused(settings: &WebSettings, words: &[&str]) -> WebError {
    let system = actix_rt::System::new();
    let error = system
        .block_on(async { PublicSite::bind(settings, INFO_URL, FakeIndex::answering(found)).err().expect("refused") });
    for word in words {
        assert!(error.to_string().contains(word), "{error} names no {word}");
    }
    error
}

#[test]
fn failed_start_says_what_where_and_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let at = |address: SocketAddr| WebSettings { listen: ListenAddress::At(address), ..settings() };
    check_refused(&at(address), &["web.listen", &address.to_string(), "in use", "another port"]);
    check_refused(&at("192.0.2.1:8080".parse().unwrap()), &["web.listen", "192.0.2.1:8080", "does not have"]);

    let dir = tempfile::tempdir().unwrap();
    let (_, certificate, key) = files(&dir);
    let with = |certificate: &std::path::Path, key: &std::path::Path| WebSettings {
        tls_certificate: certificate.to_owned(),
        tls_key: key.to_owned(),
        ..settings()
    };
    let missing = dir.path().join("missing.pem");
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let other = dir.path().join("other.pem");
    std::fs::write(&other, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    check_refused(&with(&missing, &key), &["web.tls_certificate", "missing.pem", "name a PEM file"]);
    check_refused(&with(&empty, &key), &["web.tls_certificate", "empty.pem"]);
    check_refused(&with(&certificate, &missing), &["web.tls_key", "missing.pem"]);
    check_refused(&with(&certificate, &certificate), &["web.tls_key", "chain.pem"]);
    check_refused(&with(&certificate, &other), &["web.tls_certificate and web.tls_key", "other.pem"]);
}

#[test]
fn pages_that_are_off_listen_nowhere() {
    let off = WebSettings { listen: ListenAddress::Off, ..settings() };
    let bound =
        actix_rt::System::new().block_on(async { PublicSite::bind(&off, INFO_URL, FakeIndex::answering(found)) });
    assert!(bound.unwrap().is_none());
}
