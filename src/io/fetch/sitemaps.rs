//! Sitemaps: read under every type, inflated where they are gzip files, and bounded in both.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use lohisoftbot_actors::ports::{FetchOrder, FetchReport, FetchedResponse};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::sitemap::MAX_SITEMAP_BYTES;

use super::UNPACK_TIMEOUT;
use super::leaving::watched;
use super::test_server::{TestServer, answer, answer_and_hang, fetch, order, pass_by, patient_limits, until};

const LIST: &[u8] = b"https://site.test/a\nhttps://site.test/b\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn fetched(status: &str, fields: &str, body: &[u8]) -> FetchedResponse {
    let mut bytes = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    let server = TestServer::start(answer(bytes)).await;
    let order = order("http://site.test/sitemap.xml", server.address, RequestKind::Sitemap);
    fetch(order, patient_limits(), &[]).await.result.unwrap()
}

#[actix_rt::test]
async fn a_sitemap_is_read_under_every_type_and_a_gzip_file_is_inflated() {
    for (fields, body) in [
        ("Content-Type: application/xml\r\n", LIST.to_vec()),
        ("Content-Type: text/html\r\n", LIST.to_vec()),
        ("Content-Type: application/octet-stream\r\n", LIST.to_vec()),
        ("Content-Type: application/gzip\r\n", gzip(LIST)),
        ("Content-Type: text/xml\r\nContent-Encoding: gzip\r\n", gzip(LIST)),
        ("Content-Type: application/x-gzip\r\nContent-Encoding: gzip\r\n", gzip(&gzip(LIST))),
    ] {
        let FetchedResponse { body, cut, .. } = fetched("200", fields, &body).await;
        assert_eq!((&body[..], cut), (LIST, false), "{fields:?}");
    }
}

#[actix_rt::test]
async fn no_other_status_brings_a_body() {
    for status in ["203", "206", "301", "404", "503"] {
        assert!(fetched(status, "", LIST).await.body.is_empty(), "{status}");
    }
}

#[actix_rt::test]
async fn a_body_over_the_cap_is_cut_there() {
    let long = vec![b'x'; MAX_SITEMAP_BYTES + 1];
    let response = fetched("200", "", &long).await;
    assert_eq!((response.body.len(), response.cut), (MAX_SITEMAP_BYTES, true));
}

#[actix_rt::test]
async fn a_gzip_bomb_is_inflated_no_further_than_the_cap() {
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
    let of_bombs = gzip(&bomb);
    for (fields, body) in [
        ("Content-Type: application/gzip\r\n", &bomb),
        ("Content-Encoding: gzip\r\n", &bomb),
        ("Content-Type: application/gzip\r\nContent-Encoding: gzip\r\n", &of_bombs),
    ] {
        let response = fetched("200", fields, body).await;
        assert!(response.body.len() <= MAX_SITEMAP_BYTES && response.cut, "{fields:?}: {} bytes", response.body.len());
    }
}

#[actix_rt::test]
async fn a_broken_gzip_file_gives_what_came_of_it() {
    let text = LIST.repeat(5000);
    let whole = gzip(&text);
    let response = fetched("200", "Content-Type: application/gzip\r\n", &whole[..whole.len() / 2]).await;
    assert!(response.cut && text.starts_with(&response.body));
}

#[actix_rt::test]
async fn servers_that_negotiate_are_asked_for_xml() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\n\r\n")).await;
    let order = order("http://site.test/sitemap.xml", server.address, RequestKind::Sitemap);
    fetch(order, patient_limits(), &[]).await.result.unwrap();
    assert!(server.requests()[0].contains("\r\nAccept: application/xml,text/xml,text/plain,*/*;q=0.5\r\n"));
}

/// Fetches a sitemap that is a gzip file while the one thread that could unpack it is busy for `span`, by the clock of the timers.
fn fetched_with_unpacking_held_up(span: Duration) -> FetchReport {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || is_released.recv().is_err());
        let file = gzip(LIST);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
        let server = TestServer::start(answer_and_hang([head.as_bytes(), &file].concat())).await;
        let (order, open, held) = watched(&server);
        open.send_replace(true);
        let order = FetchOrder { kind: RequestKind::Sitemap, ..order };
        let fetching = actix_rt::spawn(fetch(order, patient_limits(), &[]));
        server.until_closed(1).await;
        until(|| held.upgrade().is_none()).await;
        assert!(
            !fetching.is_finished(),
            "the connection is closed and the place given back, and the file is not unpacked"
        );
        pass_by(span).await;
        drop(release);
        assert!(busy.await.unwrap());
        fetching.await.unwrap()
    })
}

#[test]
fn unpacking_is_no_response_time_and_holds_neither_the_connection_nor_the_place() {
    let span = UNPACK_TIMEOUT / 2;
    let report = fetched_with_unpacking_held_up(span);
    assert!(report.took < span, "{:?}", report.took);
    let response = report.result.unwrap();
    assert_eq!((&response.body[..], response.cut), (LIST, false));
}

#[test]
fn unpacking_that_takes_too_long_is_given_up_and_nothing_is_kept() {
    let report = fetched_with_unpacking_held_up(UNPACK_TIMEOUT * 2);
    assert!(report.took < UNPACK_TIMEOUT, "{:?}", report.took);
    let response = report.result.unwrap();
    assert_eq!((&response.body[..], response.cut), (&b""[..], true));
}
