//! Opening the connection of one fetch: to exactly the vetted address, from the chosen source address, with TLS where the URL
//! says https.
//!
//! This is the service that awc asks for a connection. It pays no heed to the address in awc's request: the one to dial is fixed
//! when the connector is made, so nothing on the way can change it. Each phase has its own time-out and its own failure.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_service::Service;
use actix_tls::connect::{ConnectError, ConnectInfo, Connection};
use awc::http::Uri;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_core::outcome::FetchFailure;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::exchange::SharedExchange;
use super::head_filter::HeadFilter;
use super::limits::FetchLimits;

/// A connection's bytes, with or without TLS.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

/// What awc reads from and writes to.
pub type FilteredStream = HeadFilter<Box<dyn Duplex>>;

/// Where one fetch connects to.
#[derive(Clone)]
pub struct Route {
    /// The vetted address.
    pub address: SocketAddrV4,
    /// The address to leave from; the system's choice where there is none.
    pub source: Option<Ipv4Addr>,
    /// TLS, for https.
    pub tls: Option<TlsRoute>,
}

/// How TLS is spoken with one host.
#[derive(Clone)]
pub struct TlsRoute {
    /// Shared by all fetches, so that sessions are resumed.
    pub config: Arc<ClientConfig>,
    /// The host of the URL: sent as SNI where it is a name, and what the certificate must name.
    pub host: String,
}

/// Opens the connection of one fetch.
#[derive(Clone)]
pub struct PinnedConnector {
    route: Route,
    limits: FetchLimits,
    exchange: SharedExchange,
}

impl PinnedConnector {
    /// For one fetch.
    pub fn new(route: Route, limits: FetchLimits, exchange: SharedExchange) -> Self {
        Self { route, limits, exchange }
    }

    async fn open(self) -> Result<FilteredStream, FetchFailure> {
        let stream = match timeout(self.limits.connect_timeout, dial(&self.route)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(failure_of_dialling(&error)),
            Err(_) => return Err(FetchFailure::ConnectTimeout),
        };
        let counted = CountedStream { stream, exchange: self.exchange.clone() };
        let io: Box<dyn Duplex> = match self.route.tls {
            None => Box::new(counted),
            Some(tls) => {
                // A name behind a trailing dot is the same name; certificates are written without it.
                let host = tls.host.trim_end_matches('.').to_owned();
                let name = ServerName::try_from(host).map_err(|_| FetchFailure::TlsFailed)?;
                let handshake = TlsConnector::from(tls.config).connect(name, counted);
                match timeout(self.limits.tls_timeout, handshake).await {
                    Ok(Ok(stream)) => Box::new(stream),
                    Ok(Err(error)) => {
                        tracing::debug!(host = tls.host, %error, "no TLS");
                        return Err(FetchFailure::TlsFailed);
                    }
                    Err(_) => return Err(FetchFailure::TlsTimeout),
                }
            }
        };
        // As late as can be, since no two handshakes take equally long; the wait for the answer begins behind it.
        self.exchange.leave().await;
        Ok(HeadFilter::new(io, self.exchange, self.limits))
    }
}

async fn dial(route: &Route) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(source) = route.source {
        socket.bind(SocketAddr::from((source, 0)))?;
    }
    let stream = socket.connect(route.address.into()).await?;
    // The request is one small write; there is nothing to gather.
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn failure_of_dialling(error: &io::Error) -> FetchFailure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => FetchFailure::ConnectRefused,
        io::ErrorKind::TimedOut => FetchFailure::ConnectTimeout,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => FetchFailure::Reset,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => FetchFailure::Unreachable,
        // A source address that this machine does not hold, or no free descriptors: not the site's doing.
        _ => {
            tracing::error!(%error, "the node cannot open connections");
            FetchFailure::Unreachable
        }
    }
}

impl Service<ConnectInfo<Uri>> for PinnedConnector {
    type Response = Connection<Uri, FilteredStream>;
    type Error = ConnectError;
    type Future = LocalBoxFuture<'static, Result<Self::Response, ConnectError>>;

    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&self, wanted: ConnectInfo<Uri>) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let exchange = connector.exchange.clone();
            match connector.open().await {
                Ok(stream) => Ok(Connection::new(wanted.request().clone(), stream)),
                Err(failure) => {
                    exchange.fail(failure);
                    Err(ConnectError::Io(io::Error::other(failure.describe())))
                }
            }
        })
    }
}

/// Counts what comes in, below TLS.
struct CountedStream {
    stream: TcpStream,
    exchange: SharedExchange,
}

impl AsyncRead for CountedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let num_before = buf.filled().len();
        let result = Pin::new(&mut this.stream).poll_read(cx, buf);
        this.exchange.add_wire_bytes(buf.filled().len() - num_before);
        result
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
