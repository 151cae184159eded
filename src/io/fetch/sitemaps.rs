//! Sitemaps: read under every type, inflated where they are gzip files, and bounded in both.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use lohisoftbot_actors::ports::FetchedResponse;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::sitemap::MAX_SITEMAP_BYTES;

use super::test_server::{TestServer, answer, fetch, order, patient_limits};

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
