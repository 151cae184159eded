//! Answers that no server should send, and what comes of them: read whole, cut, or failed for a named reason.

use std::io::Write;
use std::time::Duration;

use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::FetchFailure;

use super::test_server::{Act, TestServer, answer, answer_and_hang, fetch, hasty_limits, order, patient_limits};
use crate::io::limits::FetchLimits;

/// What a fetch came to.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Whole(u16, Vec<u8>),
    Cut(u16, Vec<u8>),
    Failed(FetchFailure),
}

fn whole(body: impl AsRef<[u8]>) -> End {
    End::Whole(200, body.as_ref().to_vec())
}

fn cut(body: impl AsRef<[u8]>) -> End {
    End::Cut(200, body.as_ref().to_vec())
}

async fn end_of(script: Vec<Act>, kind: RequestKind, limits: FetchLimits) -> End {
    let server = TestServer::start(script).await;
    let order = order(&format!("http://bad.test:{}/page", server.address.port()), server.address, kind);
    match fetch(order, limits, &[]).await.result {
        Ok(answer) if answer.cut => End::Cut(answer.head.status, answer.body.to_vec()),
        Ok(answer) => End::Whole(answer.head.status, answer.body.to_vec()),
        Err(failure) => End::Failed(failure),
    }
}

async fn check_all(cases: Vec<(&str, Vec<Act>, End)>, limits: FetchLimits) {
    for (name, script, expected) in cases {
        let end = end_of(script, RequestKind::Page, limits.clone()).await;
        assert_eq!(end, expected, "{name}");
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn br(plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    brotli::CompressorWriter::new(&mut coded, 4096, 5, 22).write_all(plain).unwrap();
    coded
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::encode_all(plain, 3).unwrap()
}

/// A 200 with these fields and this body, closed behind it.
fn ok(fields: &str, body: impl AsRef<[u8]>) -> Vec<Act> {
    answer([format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), body.as_ref()].concat())
}

#[actix_rt::test]
async fn odd_but_readable_answers_are_read_whole() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    let fields_up_to_the_cap = "X-Field: value\r\n".repeat(250);
    check_all(
        vec![
            ("a plain answer", ok("Content-Length: 4\r\n", "body"), whole("body")),
            ("ended by the close", ok("", "body"), whole("body")),
            ("ended by the close, HTTP/1.0", answer("HTTP/1.0 200 OK\r\n\r\nbody"), whole("body")),
            ("no body, ended by the close", ok("", ""), whole("")),
            ("length zero", ok("Content-Length: 0\r\n", ""), whole("")),
            ("more than its length", ok("Content-Length: 4\r\n", "body and more"), whole("body")),
            (
                "keeps the connection",
                answer_and_hang("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"),
                whole("body"),
            ),
            (
                "chunked, keeps the connection",
                answer_and_hang("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"),
                whole("body"),
            ),
            (
                "chunked with extension and trailer",
                ok("Transfer-Encoding: chunked\r\n", "4;a=b\r\nbody\r\n0\r\nX: y\r\n\r\n"),
                whole("body"),
            ),
            (
                "chunked and a length",
                ok("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "4\r\nbody\r\n0\r\n\r\n"),
                whole("body"),
            ),
            (
                "chunked twice",
                ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n"),
                whole("body"),
            ),
            ("equal lengths", ok("Content-Length: 4\r\nContent-Length: 4\r\n", "body"), whole("body")),
            ("equal lengths in one field", ok("Content-Length: 4, 4\r\n", "body"), whole("body")),
            ("an empty length", ok("Content-Length:\r\n", "body"), whole("body")),
            ("early hints before", answer(format!("{interim}HTTP/1.1 200 OK\r\n\r\nbody")), whole("body")),
            ("100 before", answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody"), whole("body")),
            ("eight interim heads", answer(format!("{}HTTP/1.1 200 OK\r\n\r\nbody", interim.repeat(8))), whole("body")),
            (
                "a folded field",
                ok("Content-Type: text/html;\r\n charset=utf-8\r\nContent-Length: 4\r\n", "body"),
                whole("body"),
            ),
            ("line feeds alone", answer("HTTP/1.1 200 OK\nContent-Length: 4\n\nbody"), whole("body")),
            ("no reason", answer("HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbody"), whole("body")),
            ("Latin-1 reason and value", answer(b"HTTP/1.1 200 \xdcber\r\nX-A: caf\xe9\r\n\r\nbody"), whole("body")),
            (
                "lines that are no field",
                ok("garbage\r\n: x\r\nbad name: y\r\nContent-Length: 4\r\n", "body"),
                whole("body"),
            ),
            ("more fields than awc takes", ok(&fields_up_to_the_cap, "body"), whole("body")),
            ("empty lines before", answer("\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody"), whole("body")),
            ("lower-case protocol", answer("http/1.1 200 ok\r\n\r\nbody"), whole("body")),
            (
                "answers before it is asked",
                vec![Act::Send(b"HTTP/1.1 200 OK\r\n\r\nbody".to_vec()), Act::ReadRequest, Act::Close],
                whole("body"),
            ),
            ("gzip", ok("Content-Encoding: gzip\r\n", gzip(b"body")), whole("body")),
            ("x-gzip", ok("Content-Encoding: X-GZIP\r\n", gzip(b"body")), whole("body")),
            ("gzip of two members", ok("Content-Encoding: gzip\r\n", gzip(b"body").repeat(2)), whole("bodybody")),
            (
                "gzip and garbage",
                ok("Content-Encoding: gzip\r\n", [gzip(b"body"), b"garbage".to_vec()].concat()),
                whole("body"),
            ),
            ("br", ok("Content-Encoding: br\r\n", br(b"body")), whole("body")),
            ("zstd", ok("Content-Encoding: zstd\r\n", zstd(b"body")), whole("body")),
            ("gzip, br", ok("Content-Encoding: gzip, br\r\n", br(&gzip(b"body"))), whole("body")),
            ("gzip of no bytes", ok("Content-Encoding: gzip\r\nContent-Length: 0\r\n", ""), whole("")),
            ("gzip as a transfer coding", ok("Transfer-Encoding: gzip\r\n", gzip(b"body")), whole("body")),
            (
                "gzip as a transfer coding under chunks",
                ok("Transfer-Encoding: gzip, chunked\r\n", [b"18\r\n", &gzip(b"body")[..], b"\r\n0\r\n\r\n"].concat()),
                whole("body"),
            ),
        ],
        patient_limits(),
    )
    .await;
    assert_eq!(gzip(b"body").len(), 0x18, "the chunk size above");
}

#[actix_rt::test]
async fn answers_that_break_off_are_cut_and_keep_what_came() {
    let million = vec![b'x'; 1 << 20];
    let zeros = vec![0; 32 << 20];
    let cap = FetchLimits::default().max_body_bytes;
    let by_ratio = |coded: &[u8]| vec![0; (coded.len() * 1000).clamp(64 * 1024, cap)];
    check_all(
        vec![
            ("short of its length", ok("Content-Length: 9\r\n", "body"), cut("body")),
            ("nothing of its length", ok("Content-Length: 9\r\n", ""), cut("")),
            (
                "dropped inside its length",
                vec![
                    Act::ReadRequest,
                    Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody".to_vec()),
                    Act::Drop,
                ],
                cut("body"),
            ),
            ("cut inside a chunk", ok("Transfer-Encoding: chunked\r\n", "9\r\nbody"), cut("body")),
            ("cut between chunks", ok("Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n"), cut("body")),
            ("chunk size that is none", ok("Transfer-Encoding: chunked\r\n", "4\r\nbody\r\nzz\r\n"), cut("body")),
            ("chunked in name only", ok("Transfer-Encoding: chunked\r\n", "<html>"), cut("")),
            ("gzip in name only", ok("Content-Encoding: gzip\r\n", "<html>"), cut("")),
            ("a coding nobody knows", ok("Content-Encoding: sdch\r\n", "body"), cut("")),
            ("four codings", ok("Content-Encoding: gzip, gzip, gzip, gzip\r\n", "body"), cut("")),
            (
                "endless",
                vec![
                    Act::ReadRequest,
                    Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
                    Act::SendForEver(million.clone()),
                ],
                cut(vec![b'x'; cap]),
            ),
            (
                "endless chunks",
                vec![
                    Act::ReadRequest,
                    Act::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
                    Act::SendForEver([&b"100000\r\n"[..], &million, b"\r\n"].concat()),
                ],
                cut(vec![b'x'; cap]),
            ),
            ("gzip bomb", ok("Content-Encoding: gzip\r\n", gzip(&zeros)), cut(by_ratio(&gzip(&zeros)))),
            ("br bomb", ok("Content-Encoding: br\r\n", br(&zeros)), cut(by_ratio(&br(&zeros)))),
            ("zstd bomb", ok("Content-Encoding: zstd\r\n", zstd(&zeros)), cut(by_ratio(&zstd(&zeros)))),
        ],
        patient_limits(),
    )
    .await;
}

#[actix_rt::test]
async fn what_is_no_answer_fails_for_its_own_reason() {
    use FetchFailure::{HeadTooLarge, Malformed, Reset};
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    check_all(
        vec![
            ("closed at once", vec![Act::Close], End::Failed(Reset)),
            ("dropped at once", vec![Act::Drop], End::Failed(Reset)),
            ("closed when asked", vec![Act::ReadRequest, Act::Close], End::Failed(Reset)),
            ("closed inside the head", answer("HTTP/1.1 200 OK\r\nContent-"), End::Failed(Reset)),
            ("closed behind an interim head", answer(interim), End::Failed(Reset)),
            ("another protocol", answer_and_hang("SSH-2.0-OpenSSH_9.2\r\n"), End::Failed(Malformed)),
            ("a body without a head", answer_and_hang("<html><title>x</title>"), End::Failed(Malformed)),
            ("binary garbage", answer_and_hang([0x15, 3, 1, 0, 2, 2, 0x46]), End::Failed(Malformed)),
            ("a status that is none", answer("HTTP/1.1 2000 OK\r\n\r\n"), End::Failed(Malformed)),
            ("differing lengths", ok("Content-Length: 4\r\nContent-Length: 5\r\n", "body"), End::Failed(Malformed)),
            ("a negative length", ok("Content-Length: -4\r\n", "body"), End::Failed(Malformed)),
            ("a length that is no number", ok("Content-Length: four\r\n", "body"), End::Failed(Malformed)),
            ("nine interim heads", answer_and_hang(interim.repeat(9)), End::Failed(Malformed)),
            ("300 fields", ok(&"X-Field: value\r\n".repeat(300), "body"), End::Failed(HeadTooLarge)),
            (
                "a head of 200 KB",
                ok(&format!("X-Field: {}\r\n", "x".repeat(200_000)), "body"),
                End::Failed(HeadTooLarge),
            ),
            (
                "a head without end",
                vec![
                    Act::ReadRequest,
                    Act::Send(b"HTTP/1.1 200 OK\r\nX-Field: ".to_vec()),
                    Act::SendForEver(vec![b'x'; 4096]),
                ],
                End::Failed(HeadTooLarge),
            ),
            (
                "interim heads without end",
                vec![Act::ReadRequest, Act::SendForEver(interim.as_bytes().to_vec())],
                End::Failed(Malformed),
            ),
        ],
        patient_limits(),
    )
    .await;
}

#[actix_rt::test]
async fn silence_ends_in_the_time_out_of_its_phase() {
    use FetchFailure::{FirstByteTimeout, IdleTimeout};
    check_all(
        vec![
            ("no answer", answer_and_hang(""), End::Failed(FirstByteTimeout)),
            ("half a head", answer_and_hang("HTTP/1.1 200 OK\r\nContent-"), End::Failed(FirstByteTimeout)),
            ("an interim head alone", answer_and_hang("HTTP/1.1 103 x\r\n\r\n"), End::Failed(FirstByteTimeout)),
            ("no body", answer_and_hang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), End::Failed(IdleTimeout)),
            ("half a body", answer_and_hang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody"), cut("body")),
            (
                "half a chunked body",
                answer_and_hang("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody"),
                cut("body"),
            ),
        ],
        hasty_limits(),
    )
    .await;
}

#[actix_rt::test]
async fn the_whole_request_time_out_ends_what_never_falls_silent() {
    let limits =
        FetchLimits { total_timeout: Duration::from_secs(1), max_body_bytes: usize::MAX / 16, ..patient_limits() };
    let endless =
        vec![Act::ReadRequest, Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Act::SendForEver(b"x".to_vec())];
    let End::Cut(200, body) = end_of(endless, RequestKind::Page, limits.clone()).await else { panic!("not cut") };
    assert!(!body.is_empty());
    let no_head = end_of(answer_and_hang("HTTP/1.1 200"), RequestKind::Page, limits.clone()).await;
    assert_eq!(no_head, End::Failed(FetchFailure::TotalTimeout));
    let no_body = end_of(answer_and_hang("HTTP/1.1 200 OK\r\n\r\n"), RequestKind::Page, limits).await;
    assert_eq!(no_body, End::Failed(FetchFailure::TotalTimeout));
}

#[actix_rt::test]
async fn bodies_that_are_not_wanted_are_not_read() {
    use RequestKind::{Page, Robots};
    let with = |status: &str, fields: &str| {
        answer_and_hang(format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 4\r\n\r\nbody"))
    };
    for (kind, status, fields, body) in [
        (Page, 200, "Content-Type: text/html; charset=utf-8\r\n", "body"),
        (Page, 200, "Content-Type: TEXT/HTML\r\n", "body"),
        (Page, 200, "Content-Type: application/xhtml+xml\r\n", "body"),
        (Page, 200, "", "body"),
        (Page, 200, "Content-Type: image/png\r\n", ""),
        (Page, 200, "Content-Type: application/pdf\r\n", ""),
        (Page, 203, "Content-Type: text/html\r\n", ""),
        (Page, 204, "", ""),
        (Page, 301, "Content-Type: text/html\r\nLocation: /x\r\n", ""),
        (Page, 304, "", ""),
        (Page, 404, "Content-Type: text/html\r\n", ""),
        (Page, 503, "Content-Type: text/html\r\n", ""),
        (Page, 999, "Content-Type: text/html\r\n", ""),
        (Robots, 200, "Content-Type: text/plain\r\n", "body"),
        (Robots, 200, "Content-Type: image/png\r\n", "body"),
        (Robots, 206, "", "body"),
        (Robots, 204, "", ""),
        (Robots, 404, "", ""),
        (Robots, 503, "", ""),
    ] {
        let end = end_of(with(&status.to_string(), fields), kind, patient_limits()).await;
        assert_eq!(end, End::Whole(status, body.as_bytes().to_vec()), "{kind:?} {status} {fields:?}");
    }
}

#[actix_rt::test]
async fn robots_and_pages_have_caps_of_their_own() {
    let long = vec![b'x'; 3 << 20];
    for (kind, cap) in [(RequestKind::Robots, 500 * 1024), (RequestKind::Page, 2 << 20)] {
        assert_eq!(end_of(ok("", &long), kind, patient_limits()).await, cut(vec![b'x'; cap]), "{kind:?}");
        let exact = ok("", vec![b'x'; cap]);
        assert_eq!(end_of(exact, kind, patient_limits()).await, whole(vec![b'x'; cap]), "{kind:?}");
    }
}
