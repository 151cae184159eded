//! A server on the loopback that does what a script says, whatever HTTP says, and remembers what it was asked.

use std::cell::{Cell, RefCell};
use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use lohisoftbot_actors::ports::{AddressSlot, Fetch, FetchOrder, FetchReport, VettedAddress};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::url::PageUrl;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::io::fetch::AwcFetch;
use crate::io::limits::FetchLimits;
use crate::io::tls::client_config;

pub const USER_AGENT: &str = "LohiSoftBot/1.0 (+message@lohisoft.com)";

/// One thing that the server does.
#[derive(Clone)]
pub enum Act {
    /// Reads until the empty line behind the request's head.
    ReadRequest,
    Send(Vec<u8>),
    /// Sends the bytes again and again until the other side goes.
    SendForEver(Vec<u8>),
    /// Does nothing until the other side goes.
    WaitForClose,
    /// Closes in order, with TLS's closing alert where there is TLS.
    Close,
    /// Closes without a word.
    Drop,
}

/// Reads the request, sends `bytes`, closes.
pub fn answer(bytes: impl AsRef<[u8]>) -> Vec<Act> {
    vec![Act::ReadRequest, Act::Send(bytes.as_ref().to_vec()), Act::Close]
}

/// Reads the request, sends `bytes`, stays silent.
pub fn answer_and_hang(bytes: impl AsRef<[u8]>) -> Vec<Act> {
    vec![Act::ReadRequest, Act::Send(bytes.as_ref().to_vec()), Act::WaitForClose]
}

#[derive(Clone)]
pub struct TestServer {
    pub address: SocketAddrV4,
    requests: Rc<RefCell<Vec<String>>>,
    peers: Rc<RefCell<Vec<String>>>,
    num_closed: Rc<Cell<usize>>,
}

impl TestServer {
    pub async fn start(script: Vec<Act>) -> Self {
        Self::start_with(script, None).await
    }

    pub async fn start_with(script: Vec<Act>, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("bound to IPv4") };
        let server = Self { address, requests: Rc::default(), peers: Rc::default(), num_closed: Rc::default() };
        let serving = server.clone();
        actix_rt::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                serving.peers.borrow_mut().push(peer.ip().to_string());
                let (script, serving) = (script.clone(), serving.clone());
                match tls.clone() {
                    None => drop(actix_rt::spawn(serving.play(stream, script))),
                    Some(config) => drop(actix_rt::spawn(async move {
                        if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                            serving.play(stream, script).await;
                        }
                    })),
                }
            }
        });
        server
    }

    /// Every request that came, heads only.
    pub fn requests(&self) -> Vec<String> {
        self.requests.borrow().clone()
    }

    /// Returns once that many requests came.
    pub async fn until_asked(&self, num_requests: usize) {
        until(|| self.requests.borrow().len() >= num_requests).await;
    }

    /// Returns once the other side closed that many connections that the server kept open.
    pub async fn until_closed(&self, num_connections: usize) {
        until(|| self.num_closed.get() >= num_connections).await;
    }

    async fn play(self, mut stream: impl AsyncRead + AsyncWrite + Unpin, script: Vec<Act>) {
        for act in script {
            let result = match act {
                Act::ReadRequest => {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        match stream.read_u8().await {
                            Ok(byte) => request.push(byte),
                            Err(_) => return,
                        }
                    }
                    self.requests.borrow_mut().push(String::from_utf8(request).unwrap());
                    Ok(())
                }
                Act::Send(bytes) => match stream.write_all(&bytes).await {
                    Ok(()) => stream.flush().await,
                    error => error,
                },
                Act::SendForEver(bytes) => loop {
                    if let Err(error) = stream.write_all(&bytes).await {
                        break Err(error);
                    }
                },
                Act::WaitForClose => {
                    let result = stream.read_to_end(&mut Vec::new()).await;
                    self.num_closed.set(self.num_closed.get() + 1);
                    result.map(drop)
                }
                Act::Close => stream.shutdown().await,
                Act::Drop => return,
            };
            if result.is_err() {
                return;
            }
        }
    }

    /// The addresses that the connections came from.
    pub fn peers(&self) -> Vec<String> {
        self.peers.borrow().clone()
    }
}

/// Lets the other tasks run until the condition holds.
pub async fn until(is_met: impl Fn() -> bool) {
    let waiting = async {
        while !is_met() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the condition is met in time");
}

/// Moves the clock of the timers on, and lets those that are due go off.
pub async fn pass_by(span: Duration) {
    tokio::time::pause();
    tokio::time::advance(span).await;
    tokio::time::resume();
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Time-outs that no honest answer on the loopback meets.
pub fn patient_limits() -> FetchLimits {
    FetchLimits::default()
}

/// Time-outs short enough to wait for in a test. The later phases have the longer ones, so that each failure is told apart.
pub fn hasty_limits() -> FetchLimits {
    FetchLimits {
        connect_timeout: Duration::from_millis(400),
        tls_timeout: Duration::from_millis(400),
        first_byte_timeout: Duration::from_millis(400),
        idle_timeout: Duration::from_millis(400),
        total_timeout: Duration::from_secs(20),
        ..FetchLimits::default()
    }
}

pub fn order(url: &str, address: SocketAddrV4, kind: RequestKind) -> FetchOrder {
    FetchOrder {
        url: PageUrl::parse(url, None).unwrap(),
        kind,
        address: VettedAddress::new_vetted(address),
        source: None,
        user_agent: USER_AGENT.to_owned(),
        condition: None,
        slot: AddressSlot::open(),
    }
}

pub async fn fetch(order: FetchOrder, limits: FetchLimits, roots: &[PathBuf]) -> FetchReport {
    AwcFetch::new(limits, client_config(roots).unwrap()).fetch(order).await
}
