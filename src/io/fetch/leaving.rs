//! A fetch and its place at the address: nothing of the request leaves before it may, the wait is nobody's response time, and the place
//! is given back with the end of the request, however long the connection takes to close.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use lohisoftbot_actors::ports::{AddressSlot, Fetch, FetchOrder, HeldSlot};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::FetchFailure;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::test_server::{Act, TestServer, answer, answer_and_hang, hasty_limits, order, pass_by, patient_limits};
use crate::io::fetch::AwcFetch;
use crate::io::limits::FetchLimits;
use crate::io::tls::client_config;

/// Longer than any fetch of these tests takes by itself, by far.
const WAIT: Duration = Duration::from_millis(700);

/// A slot that a test opens, and that counts what it is told.
struct WatchedSlot {
    may_leave: watch::Receiver<bool>,
    told: Arc<Told>,
}

#[derive(Default)]
pub(super) struct Told {
    num_asked: AtomicUsize,
    num_left: AtomicUsize,
    num_answered: AtomicUsize,
}

impl HeldSlot for WatchedSlot {
    fn leave(&self) -> BoxFuture<'static, ()> {
        self.told.num_asked.fetch_add(1, Ordering::SeqCst);
        let mut may_leave = self.may_leave.clone();
        Box::pin(async move { drop(may_leave.wait_for(|may| *may).await) })
    }

    fn note_left(&self) {
        self.told.num_left.fetch_add(1, Ordering::SeqCst);
    }

    fn note_answered(&self) {
        self.told.num_answered.fetch_add(1, Ordering::SeqCst);
    }
}

/// An order with a watched slot; what opens it, what it was told, and whether it is still held.
pub(super) fn watched(server: &TestServer) -> (FetchOrder, watch::Sender<bool>, Weak<Told>) {
    let (open, may_leave) = watch::channel(false);
    let told = Arc::<Told>::default();
    let held = Arc::downgrade(&told);
    let slot = AddressSlot::holding(WatchedSlot { may_leave, told });
    (FetchOrder { slot, ..order("http://site.test/", server.address, RequestKind::Page) }, open, held)
}

fn told(held: &Weak<Told>) -> [usize; 3] {
    let told = held.upgrade().expect("the slot is held");
    [&told.num_asked, &told.num_left, &told.num_answered].map(|number| number.load(Ordering::SeqCst))
}

#[actix_rt::test]
async fn request_waits_for_leave_behind_its_handshake_and_the_wait_is_no_response_time() {
    let script = vec![Act::ReadRequest, Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Act::WaitForClose];
    let server = TestServer::start(script).await;
    let (order, open, held) = watched(&server);
    let fetcher = AwcFetch::new(hasty_limits(), client_config(&[]).unwrap());
    let fetching = actix_rt::spawn(fetcher.fetch(order));
    sleep(WAIT).await;
    assert_eq!((server.peers().len(), server.requests().len()), (1, 0), "the connection is up and nothing is sent");
    assert_eq!(told(&held), [1, 0, 0]);
    open.send_replace(true);
    server.until_asked(1).await;
    assert_eq!(told(&held)[..2], [1, 1], "it has left, and keeps its place until the answer is over");
    while told(&held) != [1, 1, 1] {
        sleep(Duration::from_millis(1)).await;
    }
    let report = fetching.await.unwrap();
    // The server never ends its body, so the fetch ends by its idle time-out, counted from leave on.
    assert_eq!(report.result.unwrap_err(), FetchFailure::IdleTimeout);
    assert!(report.took >= hasty_limits().idle_timeout && report.took < WAIT, "{:?}", report.took);
    assert!(held.upgrade().is_none(), "the place is given back");
}

#[actix_rt::test]
async fn place_is_given_back_with_the_answer() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")).await;
    let (order, open, held) = watched(&server);
    open.send_replace(true);
    let fetcher = AwcFetch::new(patient_limits(), client_config(&[]).unwrap());
    assert!(fetcher.fetch(order).await.result.is_ok());
    assert!(held.upgrade().is_none());
}

#[actix_rt::test]
async fn place_is_given_back_by_a_fetch_that_is_broken_off_or_finds_nobody() {
    let server = TestServer::start(vec![Act::WaitForClose]).await;
    let fetcher = AwcFetch::new(patient_limits(), client_config(&[]).unwrap());
    let (order, _open, held) = watched(&server);
    assert!(timeout(WAIT, fetcher.fetch(order)).await.is_err());
    assert!(held.upgrade().is_none(), "broken off at the door");
    server.until_closed(1).await;

    let (mut order, _open, held) = watched(&server);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let std::net::SocketAddr::V4(nobody) = nobody else { panic!("bound to IPv4") };
    order.address = lohisoftbot_actors::ports::VettedAddress::new_vetted(nobody);
    assert_eq!(fetcher.fetch(order).await.result.unwrap_err(), FetchFailure::ConnectRefused);
    assert!(held.upgrade().is_none(), "nobody answered");
}

/// Longer than every time-out there is.
const LONG_WAIT: Duration = Duration::from_secs(3600);

/// Lets a fetch come to the door, and stand there for [`LONG_WAIT`].
async fn wait_long_at_the_door(held: &Weak<Told>) {
    while told(held) != [1, 0, 0] {
        sleep(Duration::from_millis(1)).await;
    }
    pass_by(LONG_WAIT).await;
}

#[actix_rt::test]
async fn wait_for_leave_longer_than_every_time_out_is_no_failure_and_no_response_time() {
    let server = TestServer::start(answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")).await;
    let (order, open, held) = watched(&server);
    let fetcher = AwcFetch::new(patient_limits(), client_config(&[]).unwrap());
    let fetching = actix_rt::spawn(fetcher.fetch(order));
    wait_long_at_the_door(&held).await;
    assert!(!fetching.is_finished() && server.requests().is_empty());
    open.send_replace(true);
    let report = fetching.await.unwrap();
    assert_eq!(&report.result.unwrap().body[..], b"body");
    assert!(report.took < LONG_WAIT, "{:?}", report.took);
}

#[actix_rt::test]
async fn whole_request_time_out_goes_on_behind_the_wait_for_leave() {
    let limits = FetchLimits { total_timeout: Duration::from_secs(10), ..patient_limits() };
    let server = TestServer::start(answer_and_hang("HTTP/1.1 200")).await;
    let (order, open, held) = watched(&server);
    let fetching = actix_rt::spawn(AwcFetch::new(limits.clone(), client_config(&[]).unwrap()).fetch(order));
    wait_long_at_the_door(&held).await;
    open.send_replace(true);
    server.until_asked(1).await;
    pass_by(limits.total_timeout).await;
    let report = fetching.await.unwrap();
    assert_eq!(report.result.unwrap_err(), FetchFailure::TotalTimeout);
    assert!(report.took >= limits.total_timeout && report.took < LONG_WAIT, "{:?}", report.took);
}
