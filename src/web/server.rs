//! The listener of the public pages, from its socket to its orderly end.
//!
//! actix-web's own server would offer HTTP/2 over TLS, because another part of the graph turns that on in actix-http; so the HTTP/1.1
//! service is put together here, on connections with a deadline (`connection`).

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use actix_http::{HttpService, Request};
use actix_rt::net::TcpStream;
use actix_server::{Server, ServerHandle};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::body::MessageBody;
use actix_web::dev::AppConfig;
use actix_web::{App, web};
use lohisoftbot_core::config::{ListenAddress, WebSettings};
use tokio_rustls::TlsAcceptor;

use super::client::is_trusted;
use super::connection::{Connection, Patience, Places};
use super::dispatch::{MAX_SEARCH_TIMEOUT, Shared, dispatch};
use super::headers::Transport;
use super::host::HostRule;
use super::rate::{RateLimiter, subscriber};
use super::searcher::Searcher;
use super::tls::{TlsFilesError, server_config};

/// Threads that answer visitors. They wait for the index most of the time.
const NUM_WORKERS: usize = 2;
/// One address may hold this share of all connections, a trusted proxy all of them.
const SHARE_OF_ONE_ADDRESS: u32 = 4;
/// How long answers that are under way may take once the pages are told to stop, in seconds.
const STOP_TIMEOUT_S: u64 = 5;

/// Why there are no public pages. A person must act.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Another program listens there already.
    #[error(
        "web.listen: {address} is in use by another program; stop that one, or set web.listen to another port, or to \"off\""
    )]
    InUse {
        /// Where.
        address: SocketAddr,
    },
    /// This user may not listen there.
    #[error(
        "web.listen: this user may not listen at {address}; set web.listen to a port of 1024 or above, with a reverse proxy before it"
    )]
    Forbidden {
        /// Where.
        address: SocketAddr,
    },
    /// The machine does not have this address.
    #[error(
        "web.listen: this machine does not have the address {address}; set web.listen to one that it has, or to 0.0.0.0"
    )]
    NoSuchAddress {
        /// Where.
        address: SocketAddr,
    },
    /// Another fault of the system.
    #[error("web.listen: cannot listen at {address}: {source}; set web.listen to another address, or to \"off\"")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsFilesError),
}

impl WebError {
    fn of(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::InUse { address },
            io::ErrorKind::PermissionDenied => Self::Forbidden { address },
            io::ErrorKind::AddrNotAvailable => Self::NoSuchAddress { address },
            _ => Self::Listen { address, source },
        }
    }
}

/// The public pages, before they listen.
pub struct PublicSite;

impl PublicSite {
    /// Takes the address that the settings name, so that visitors can connect; they are answered once [`Bound::serve`] runs. None where
    /// `web.listen` is `"off"`. Must run within an actix system.
    /// Whoever asks for the bot's own page is sent to `info_url`.
    pub fn bind(
        settings: &WebSettings,
        info_url: &str,
        searcher: Arc<dyn Searcher>,
    ) -> Result<Option<Bound>, WebError> {
        let ListenAddress::At(wanted) = settings.listen else { return Ok(None) };
        let acceptor = match settings.tls_certificate.as_os_str().is_empty() {
            true => None,
            false => Some(TlsAcceptor::from(server_config(&settings.tls_certificate, &settings.tls_key)?)),
        };
        let failed = |source| WebError::of(wanted, source);
        let listener = TcpListener::bind(wanted).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let transport = if acceptor.is_some() { Transport::Tls } else { Transport::Plain };
        let shared = web::Data::new(Shared {
            searcher,
            hosts: HostRule::new(&settings.hostnames, address),
            proxies: settings.trusted_proxies.clone(),
            limiter: RateLimiter::new(settings.requests_per_minute, settings.request_burst, Instant::now()),
            transport,
            search_timeout: settings.request_timeout.min(MAX_SEARCH_TIMEOUT),
            info_url: info_url.to_owned(),
        });
        let patience = Patience { request_timeout: settings.request_timeout, keep_alive: settings.keep_alive };
        let gate = Gate {
            acceptor,
            places: Places::default(),
            patience,
            most: (settings.max_connections / SHARE_OF_ONE_ADDRESS).max(1),
            shared: shared.clone(),
        };
        let server = listen(listener, settings, gate, shared).map_err(failed)?;
        Ok(Some(Bound { address, transport, server }))
    }
}

/// The public pages, listening.
pub struct Bound {
    address: SocketAddr,
    transport: Transport,
    server: Server,
}

impl Bound {
    /// Where they listen, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the search page for a browser on this machine.
    pub fn url(&self) -> String {
        let scheme = match self.transport {
            Transport::Plain => "http",
            Transport::Tls => "https",
        };
        let ip = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        };
        format!("{scheme}://{}/", SocketAddr::new(ip, self.address.port()))
    }

    /// What stops them, from anywhere.
    pub fn handle(&self) -> StopHandle {
        StopHandle(self.server.handle())
    }

    /// Answers visitors until the handle stops it.
    pub async fn serve(self) -> io::Result<()> {
        self.server.await
    }
}

/// Stops the public pages.
#[derive(Clone, Debug)]
pub struct StopHandle(ServerHandle);

impl StopHandle {
    /// Takes no further visitor, and is done when those who are there have their answers, or after five seconds.
    pub async fn stop(&self) {
        self.0.stop(true).await;
    }
}

/// What a connection goes through before its first request.
#[derive(Clone)]
struct Gate {
    acceptor: Option<TlsAcceptor>,
    places: Places,
    patience: Patience,
    /// Connections of one address.
    most: u32,
    shared: web::Data<Shared>,
}

impl Gate {
    /// None where it is shut again: nobody must act, so nothing is logged.
    async fn admit(self, stream: TcpStream) -> Option<(Connection, Option<SocketAddr>)> {
        let peer = stream.peer_addr().ok()?;
        let most = if is_trusted(peer.ip(), &self.shared.proxies) { u32::MAX } else { self.most };
        let place = self.places.take(subscriber(peer.ip()), most)?;
        let connection = match self.acceptor {
            None => Connection::plain(stream, self.patience, place),
            Some(acceptor) => {
                let shaken = tokio::time::timeout(self.patience.request_timeout, acceptor.accept(stream)).await;
                Connection::tls(shaken.ok()?.ok()?, self.patience, place)
            }
        };
        Some((connection, Some(peer)))
    }
}

/// A connection that ended, by whoever's will.
#[derive(Debug)]
struct Ended;

fn listen(listener: TcpListener, settings: &WebSettings, gate: Gate, shared: web::Data<Shared>) -> io::Result<Server> {
    let (keep_alive, timeout) = (settings.keep_alive, settings.request_timeout);
    let per_worker = (settings.max_connections as usize / NUM_WORKERS).max(1);
    let builder = Server::build()
        .workers(NUM_WORKERS)
        .max_concurrent_connections(per_worker)
        .shutdown_timeout(STOP_TIMEOUT_S)
        .disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let builder = builder.listen("public pages", listener, move || {
        let (gate, stopping) = (gate.clone(), stopping.clone());
        let http = HttpService::build()
            .keep_alive(keep_alive)
            .client_request_timeout(timeout)
            .client_disconnect_timeout(timeout)
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .h1(map_config(app(shared.clone()), |()| AppConfig::default()));
        fn_service(move |stream: TcpStream| {
            let gate = gate.clone();
            async move { gate.admit(stream).await.ok_or(Ended) }
        })
        .and_then(http.map_err(|_| Ended).map_init_err(|_| ()))
    })?;
    Ok(builder.run())
}

/// The pages as a service of requests.
fn app(
    shared: web::Data<Shared>,
) -> impl ServiceFactory<
    Request,
    Config = AppConfig,
    Response = actix_web::dev::ServiceResponse<impl MessageBody>,
    Error = actix_web::Error,
    InitError = (),
> {
    App::new().app_data(shared).default_service(web::to(dispatch)).into_factory()
}
