//! However a fetch ends, its connection is closed by then: a request that was given up is over for its server too, whatever the node's
//! threads do next.
//!
//! The server is a thread of its own with blocking sockets. Whenever it is asked whether it saw the end, the one thread of the fetch's
//! runtime stands still, so nothing that the fetch might have left behind can be what closed the connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use lohisoftbot_actors::ports::{Fetch, FetchReport};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::FetchFailure;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::time::timeout;

use super::secure::Root;
use super::test_server::{hasty_limits, order, patient_limits};
use crate::io::fetch::AwcFetch;
use crate::io::limits::FetchLimits;
use crate::io::tls::client_config;

/// Whatever takes longer never comes.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Parts of answers, behind which the server is silent.
const NOTHING: &str = "";
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
const HALF: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// A server that takes one request, answers with a part of an answer, and waits for the end of the connection.
struct Witness {
    address: SocketAddrV4,
    has_answered: mpsc::Receiver<()>,
    saw_end: mpsc::Receiver<()>,
}

impl Witness {
    fn start(part: &'static str, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("bound to IPv4") };
        let ((answered, has_answered), (ended, saw_end)) = (mpsc::channel(), mpsc::channel());
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
            let mut stream: Box<dyn Stream> = match tls {
                None => Box::new(stream),
                Some(config) => Box::new(StreamOwned::new(ServerConnection::new(config).unwrap(), stream)),
            };
            let (mut request, mut piece) = (Vec::new(), [0; 4096]);
            while !request.ends_with(b"\r\n\r\n") {
                let length = stream.read(&mut piece).unwrap();
                assert!(length > 0, "a whole request comes");
                request.extend_from_slice(&piece[..length]);
            }
            stream.write_all(part.as_bytes()).unwrap();
            stream.flush().unwrap();
            answered.send(()).unwrap();
            // Closed, reset, or without the closing alert of TLS: an end in any case, unless it is our own patience that ended.
            match stream.read(&mut piece) {
                Ok(0) => ended.send(()).unwrap(),
                Err(error)
                    if !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
                {
                    ended.send(()).unwrap();
                }
                Ok(_) | Err(_) => {}
            }
        });
        Self { address, has_answered, saw_end }
    }

    fn fetch(&self, limits: FetchLimits) -> LocalBoxFuture<'static, FetchReport> {
        let order = order("http://site.test/", self.address, RequestKind::Page);
        AwcFetch::new(limits, client_config(&[]).unwrap()).fetch(order)
    }

    /// Whether the server sees the end while the thread of the fetch does nothing.
    #[track_caller]
    fn assert_closed(&self, how: &str) {
        assert!(self.saw_end.recv_timeout(MAX_WAIT).is_ok(), "still open: {how}");
    }
}

/// Runs a fetch until its server has answered all that it will, and a little longer, so that it is read too.
async fn run_until_answered(fetching: &mut LocalBoxFuture<'static, FetchReport>, server: &Witness) {
    while server.has_answered.try_recv().is_err() {
        assert!(timeout(Duration::from_millis(1), &mut *fetching).await.is_err(), "ended too soon");
    }
    assert!(timeout(Duration::from_millis(20), fetching).await.is_err(), "ended too soon");
}

#[actix_rt::test]
async fn connection_is_closed_when_a_fetch_is_dropped() {
    for part in [NOTHING, HEAD, HALF] {
        let server = Witness::start(part, None);
        let mut fetching = server.fetch(patient_limits());
        run_until_answered(&mut fetching, &server).await;
        drop(fetching);
        server.assert_closed(part);
    }
}

#[actix_rt::test]
async fn connection_is_closed_when_the_task_of_a_fetch_was_broken_off() {
    for part in [NOTHING, HEAD, HALF] {
        let server = Witness::start(part, None);
        let fetching = actix_rt::spawn(server.fetch(patient_limits()));
        while server.has_answered.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        fetching.abort();
        assert!(fetching.await.is_err_and(|error| error.is_cancelled()));
        server.assert_closed(part);
    }
}

#[actix_rt::test]
async fn connection_is_closed_when_a_fetch_has_timed_out() {
    let in_all = FetchLimits { total_timeout: Duration::from_millis(400), ..patient_limits() };
    for (part, limits, failure) in [
        (NOTHING, hasty_limits(), Some(FetchFailure::FirstByteTimeout)),
        (HEAD, hasty_limits(), Some(FetchFailure::IdleTimeout)),
        (HALF, hasty_limits(), None),
        (NOTHING, in_all.clone(), Some(FetchFailure::TotalTimeout)),
        (HEAD, in_all.clone(), Some(FetchFailure::TotalTimeout)),
        (HALF, in_all, None),
    ] {
        let server = Witness::start(part, None);
        let report = server.fetch(limits).await;
        server.assert_closed(part);
        assert_eq!(report.result.err(), failure, "{part:?}");
    }
}

#[actix_rt::test]
async fn connection_is_closed_when_a_fetch_has_its_answer_though_the_server_would_keep_it() {
    let server = Witness::start(WHOLE, None);
    let report = server.fetch(patient_limits()).await;
    server.assert_closed(WHOLE);
    assert!(report.result.is_ok());
}

#[actix_rt::test]
async fn connection_under_tls_is_closed_in_the_same_ways() {
    let root = Root::new();
    let tls = client_config(std::slice::from_ref(&root.file)).unwrap();
    let fetch_from = |server: &Witness, limits| {
        let order = order("https://site.test/", server.address, RequestKind::Page);
        AwcFetch::new(limits, tls.clone()).fetch(order)
    };
    let config = root.server_config(&["site.test"]);
    for part in [NOTHING, HEAD, HALF] {
        let server = Witness::start(part, Some(config.clone()));
        let mut fetching = fetch_from(&server, patient_limits());
        run_until_answered(&mut fetching, &server).await;
        drop(fetching);
        server.assert_closed(part);
    }
    for part in [NOTHING, HEAD, HALF, WHOLE] {
        let server = Witness::start(part, Some(config.clone()));
        fetch_from(&server, FetchLimits { tls_timeout: MAX_WAIT, ..hasty_limits() }).await;
        server.assert_closed(part);
    }
}
