//! What a server sees of a fetch.

use std::net::{Ipv4Addr, SocketAddrV4};

use lohisoftbot_actors::ports::Fetch;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::FetchFailure;
use lohisoftbot_core::record::Condition;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use super::test_server::{TestServer, USER_AGENT, answer, answer_and_hang, fetch, hasty_limits, order, patient_limits};
use crate::io::fetch::AwcFetch;
use crate::io::tls::client_config;

#[actix_rt::test]
async fn a_request_has_exactly_these_fields_in_this_order() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\n\r\nbody")).await;
    let port = server.address.port();
    let fields_behind_host = format!(
        "User-Agent: {USER_AGENT}\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.1\r\n\
         Accept-Encoding: gzip, deflate, br, zstd\r\n"
    );
    let plain = order(&format!("http://site.test:{port}/a/b?c=d%20e&f={{g}}|h#i"), server.address, RequestKind::Page);
    let mut conditional = order("http://site.test/", server.address, RequestKind::Page);
    conditional.condition = Some(Condition::NoneMatch("W/\"v1\"".to_owned()));
    let mut since = order("http://site.test/", server.address, RequestKind::Page);
    since.condition = Some(Condition::ModifiedSince("Sun, 01 Nov 2026 00:00:00 GMT".to_owned()));
    let mut hostile = order("http://site.test/robots.txt", server.address, RequestKind::Robots);
    hostile.condition = Some(Condition::NoneMatch("x\r\nCookie: stolen".to_owned()));
    let fetcher = AwcFetch::new(patient_limits(), client_config(&[]).unwrap());
    for order in [plain, conditional, since, hostile] {
        assert!(fetcher.fetch(order).await.result.is_ok());
    }
    let expected = [
        format!(
            "GET /a/b?c=d%20e&f={{g}}|h HTTP/1.1\r\nHost: site.test:{port}\r\n{fields_behind_host}Connection: close\r\n\r\n"
        ),
        format!(
            "GET / HTTP/1.1\r\nHost: site.test\r\n{fields_behind_host}If-None-Match: W/\"v1\"\r\nConnection: close\r\n\r\n"
        ),
        format!(
            "GET / HTTP/1.1\r\nHost: site.test\r\n{fields_behind_host}\
             If-Modified-Since: Sun, 01 Nov 2026 00:00:00 GMT\r\nConnection: close\r\n\r\n"
        ),
        format!("GET /robots.txt HTTP/1.1\r\nHost: site.test\r\n{fields_behind_host}Connection: close\r\n\r\n"),
    ];
    assert_eq!(server.requests(), expected);
}

#[actix_rt::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let head = "HTTP/1.1 302 Found\r\nLocation: /caf\u{e9}\r\nRetry-After: 5\r\nX-Robots-Tag: noindex\r\nx-robots-tag: nofollow\r\n\r\n";
    let server = TestServer::start(answer(head)).await;
    let answer = fetch(order("http://site.test/", server.address, RequestKind::Page), patient_limits(), &[])
        .await
        .result
        .unwrap();
    assert_eq!(answer.head.status, 302);
    assert_eq!(answer.head.all("location").collect::<Vec<_>>(), ["/caf\u{e9}".as_bytes()]);
    assert_eq!(answer.head.all("x-robots-tag").collect::<Vec<_>>(), [&b"noindex"[..], b"nofollow"]);
    assert_eq!(server.requests().len(), 1);
}

#[actix_rt::test]
async fn a_request_leaves_from_the_chosen_source_address() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\n\r\n")).await;
    for source in [Ipv4Addr::new(127, 0, 0, 5), Ipv4Addr::new(127, 9, 8, 7)] {
        let mut order = order("http://site.test/", server.address, RequestKind::Page);
        order.source = Some(source);
        assert!(fetch(order, patient_limits(), &[]).await.result.is_ok());
    }
    assert_eq!(server.peers(), ["127.0.0.5", "127.9.8.7"]);
}

#[actix_rt::test]
async fn nothing_is_sent_from_an_address_that_the_machine_does_not_hold() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\n\r\n")).await;
    let mut order = order("http://site.test/", server.address, RequestKind::Page);
    order.source = Some(Ipv4Addr::new(192, 0, 2, 1));
    assert_eq!(fetch(order, patient_limits(), &[]).await.result.unwrap_err(), FetchFailure::Unreachable);
    assert!(server.peers().is_empty());
}

#[actix_rt::test]
async fn nothing_is_sent_under_a_user_agent_that_cannot_be_sent() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\n\r\n")).await;
    let mut order = order("http://site.test/", server.address, RequestKind::Page);
    order.user_agent = "Bot\r\nX: y".to_owned();
    assert!(fetch(order, patient_limits(), &[]).await.result.is_err());
    assert!(server.peers().is_empty());
}

#[actix_rt::test]
async fn the_address_of_the_order_is_dialled_whatever_the_host_says() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\n\r\n")).await;
    let report = fetch(order("http://203.0.113.7:9/", server.address, RequestKind::Page), patient_limits(), &[]).await;
    assert!(report.result.is_ok());
    assert!(server.requests()[0].contains("\r\nHost: 203.0.113.7:9\r\n"));
}

#[actix_rt::test]
async fn every_byte_that_came_is_counted_and_the_time_taken() {
    let head = "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    let server = TestServer::start(answer(format!("{head}body"))).await;
    let report = fetch(order("http://site.test/", server.address, RequestKind::Page), patient_limits(), &[]).await;
    assert_eq!(report.wire_bytes, head.len() as u64 + 4);
    assert!(!report.took.is_zero());
}

#[actix_rt::test]
async fn a_closed_port_refuses_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr().unwrap().port());
    drop(listener);
    let report = fetch(order("http://site.test/", address, RequestKind::Page), patient_limits(), &[]).await;
    assert_eq!(report.result.unwrap_err(), FetchFailure::ConnectRefused);
    assert_eq!(report.wire_bytes, 0);
}

#[actix_rt::test]
async fn a_server_that_takes_no_connection_ends_in_the_connect_time_out() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr().unwrap().port());
    // Connections that nobody accepts fill the queue; the kernel then lets further ones hang.
    let mut queued = Vec::new();
    while let Ok(connected) = timeout(hasty_limits().connect_timeout, TcpStream::connect(address)).await {
        queued.push(connected.unwrap());
        assert!(queued.len() < 100, "the queue never fills");
    }
    let report = fetch(order("http://site.test/", address, RequestKind::Page), hasty_limits(), &[]).await;
    assert_eq!(report.result.unwrap_err(), FetchFailure::ConnectTimeout);
}

#[actix_rt::test]
async fn every_fetch_closes_its_connection_although_the_server_keeps_it_open() {
    let whole = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nbody";
    let unwanted = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n";
    for head in [whole, unwanted] {
        let server = TestServer::start(answer_and_hang(head)).await;
        let fetcher = AwcFetch::new(patient_limits(), client_config(&[]).unwrap());
        for n in 0..50 {
            let order = order(&format!("http://site{n}.test/"), server.address, RequestKind::Page);
            assert!(fetcher.fetch(order).await.result.is_ok());
        }
        server.until_closed(50).await;
    }
}

#[actix_rt::test]
async fn dropping_a_fetch_closes_its_connection() {
    let server = TestServer::start(answer_and_hang("")).await;
    let order = order("http://site.test/", server.address, RequestKind::Page);
    let fetching = actix_rt::spawn(fetch(order, patient_limits(), &[]));
    server.until_asked(1).await;
    fetching.abort();
    server.until_closed(1).await;
    assert_eq!(server.requests().len(), 1);
}
