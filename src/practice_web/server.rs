//! The practice web's own HTTP/1.1 server: reads one request a connection, finds its answer, logs it and plays the answer's script.
//!
//! It is written by hand because it must send what no proper server sends. A request that cannot be logged is not answered.

use std::{
    collections::HashMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinSet, spawn_blocking},
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{
    answers::{self, PageAsked},
    freshness::Epoch,
    labels::RequestKind,
    log::{EndedBy, LogEntry, RequestEnd, RequestLog, micros, unix_ms},
    robots_files::{self, RobotsAsked},
    script::{Answer, Head, RobotsRole, Step},
    site_plan::{PageHost, Ports, PracticeSites, Scheme, SitePlan},
};

/// The longest request head that is read.
const MAX_REQUEST_HEAD_BYTES: usize = 64 << 10;
/// The most header fields of a request that are read.
const MAX_REQUEST_FIELDS: usize = 64;
/// How long a connection may take for its TLS handshake, and then for its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The longest that one answer lasts: no asker waits longer for a stalled one.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(180);
/// The most that is sent of an endless body.
const MAX_ENDLESS_BYTES: usize = 64 << 20;
/// The largest piece handed to the kernel at once. The last one's start counts as the end of the request, so pieces are small.
const PIECE_BYTES: usize = 16 << 10;

/// A listener with the scheme it speaks.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) address: Ipv4Addr,
    pub(super) scheme: Scheme,
}

/// What all connections share.
pub(super) struct Server {
    sites: Arc<PracticeSites>,
    ports: Ports,
    log: RequestLog,
    acceptor: TlsAcceptor,
    /// How often each URL was asked.
    num_asked: Mutex<HashMap<(Scheme, String, String), usize>>,
}

/// A parsed request head.
struct Request {
    method: String,
    host: String,
    path: String,
    fields: Vec<(String, String)>,
}

impl Request {
    fn field(&self, wanted: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

/// Where a request came in.
#[derive(Clone, Copy)]
struct Arrival {
    address: Ipv4Addr,
    peer: SocketAddr,
    scheme: Scheme,
}

/// A plain or an encrypted connection.
trait Connection: AsyncRead + AsyncWrite + Unpin {
    fn tcp(&self) -> &TcpStream;
}

impl Connection for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Connection for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

impl Server {
    pub(super) fn new(sites: Arc<PracticeSites>, ports: Ports, log: RequestLog, acceptor: TlsAcceptor) -> Self {
        Self { sites, ports, log, acceptor, num_asked: Mutex::default() }
    }

    /// Accepts at one door for as long as it is polled. Its connections end with it.
    pub(super) async fn serve(self: Arc<Self>, door: Door) {
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            match door.listener.accept().await {
                Ok((stream, peer)) => {
                    let arrival = Arrival { address: door.address, peer, scheme: door.scheme };
                    connections.spawn(Arc::clone(&self).connection(stream, arrival));
                }
                // Out of descriptors, most likely: some will be free again soon.
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn connection(self: Arc<Self>, stream: TcpStream, arrival: Arrival) {
        // An asker that leaves in the middle is an everyday event and already in the log, so errors end here.
        let _ = match arrival.scheme {
            Scheme::Http => self.exchange(stream, arrival).await,
            Scheme::Https => match timeout(REQUEST_TIMEOUT, self.acceptor.accept(stream)).await {
                Ok(Ok(stream)) => self.exchange(stream, arrival).await,
                Ok(Err(error)) => Err(error),
                Err(elapsed) => Err(elapsed.into()),
            },
        };
    }

    async fn exchange(self: Arc<Self>, mut stream: impl Connection, arrival: Arrival) -> io::Result<()> {
        let (start_us, late_us, head) = timeout(REQUEST_TIMEOUT, self.read_head(&mut stream)).await??;
        let start_unix_ms = unix_ms(SystemTime::now());
        let request = Arc::new(parse(&head)?);
        // Pages are made on another thread, so that the clock of the others does not wait for a large one.
        let (server, asked) = (Arc::clone(&self), Arc::clone(&request));
        let answer = spawn_blocking(move || server.answer(&asked, arrival)).await.map_err(io::Error::other)?;
        let seq = self.log.start(LogEntry {
            seq: 0,
            start_us,
            start_unix_ms,
            late_us,
            address: arrival.address,
            peer: arrival.peer,
            scheme: arrival.scheme,
            host: request.host.clone(),
            method: request.method.clone(),
            path: request.path.clone(),
            fields: request.fields.clone(),
            status: answer.status,
            label: answer.label.clone(),
            backoff: answer.backoff,
            robots_role: answer.robots_role,
            end: None,
        })?;
        let told_us = self.log.now_us();
        let wait_until_us = answer.retry_after.map(|wait| told_us + micros(wait));
        let (end_us, ended_by) = match timeout(ANSWER_TIMEOUT, self.play(&mut stream, &answer.steps)).await {
            Ok(end) => end,
            Err(_) => (self.log.now_us(), EndedBy::Server),
        };
        self.log.end(seq, RequestEnd { end_us, ended_by, wait_until_us })?;
        if answer.steps.contains(&Step::Reset) {
            return stream.tcp().set_zero_linger();
        }
        stream.shutdown().await
    }

    /// Reads up to the empty line. Gives the time of the first byte with it, and how late that may have been noted.
    async fn read_head(&self, stream: &mut impl Connection) -> io::Result<(u64, u64, Vec<u8>)> {
        let mut head = Vec::with_capacity(1_024);
        let (mut start_us, mut late_us) = (0, 0);
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            if head.len() > MAX_REQUEST_HEAD_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if stream.read_buf(&mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if start_us == 0 {
                (start_us, late_us) = self.log.read_at_us();
            }
        }
        Ok((start_us, late_us, head))
    }

    fn answer(&self, request: &Request, arrival: Arrival) -> Answer {
        let now = SystemTime::now();
        let Some(site) = self.sites.site_of_host(&request.host).filter(|site| site.address == arrival.address) else {
            return Head::new(421, now).answer("host of another address", b"");
        };
        let kind = site.request_kind(&request.path);
        if request.method != "GET" {
            return Head::new(405, now).with("Allow", "GET").answer("method", b"");
        }
        if site.is_plain() && self.is_stray(site, &request.host, arrival.scheme) {
            let location = format!("{}{}", site.origin(PageHost::Main, self.ports), request.path);
            let answer = Head::new(301, now).with("Location", &location).answer("other origin", b"");
            return match kind {
                RequestKind::Robots => answer.as_robots(RobotsRole::Hop),
                RequestKind::Page => answer,
            };
        }
        let num_before = self.count(request, arrival.scheme);
        let (sites, ports, path) = (&*self.sites, self.ports, request.path.as_str());
        match (kind, site.page(path)) {
            (RequestKind::Robots, _) => {
                robots_files::answer(&RobotsAsked { sites, site, path, num_before, ports, now })
            }
            (RequestKind::Page, Some(page)) => {
                let epoch = self.epoch_of(site);
                let [if_none_match, if_modified_since] =
                    ["if-none-match", "if-modified-since"].map(|name| request.field(name));
                let asked =
                    PageAsked { sites, site, page, num_before, epoch, if_none_match, if_modified_since, ports, now };
                answers::answer(&asked)
            }
            (RequestKind::Page, None) => answers::not_found(now),
        }
    }

    /// Whether an origin of a site is neither its main one nor that of its docs host.
    fn is_stray(&self, site: &SitePlan, host: &str, scheme: Scheme) -> bool {
        scheme != site.scheme || (host != site.host(PageHost::Main) && host != site.host(PageHost::Docs))
    }

    /// Which epoch a site is in, this request counted.
    fn epoch_of(&self, site: &SitePlan) -> Epoch {
        let num_asked = self.num_asked.lock().unwrap_or_else(PoisonError::into_inner);
        let home = (site.scheme, site.main_host.clone(), "/".to_owned());
        Epoch::after(num_asked.get(&home).copied().unwrap_or_default())
    }

    /// How often a URL was asked before; counts this time.
    fn count(&self, request: &Request, scheme: Scheme) -> usize {
        let mut num_asked = self.num_asked.lock().unwrap_or_else(PoisonError::into_inner);
        let num = num_asked.entry((scheme, request.host.clone(), request.path.clone())).or_default();
        *num += 1;
        *num - 1
    }

    /// Sends an answer. Gives the time just before its last byte was handed over, or, if the asker left first, the time that was seen.
    async fn play(&self, stream: &mut impl Connection, steps: &[Step]) -> (u64, EndedBy) {
        let mut end_us = self.log.now_us();
        for step in steps {
            let stays = match step {
                Step::Send(bytes) => self.send(stream, bytes, &mut end_us).await,
                Step::Pause(pause) => stays_for(stream, *pause).await,
                Step::Endless(bytes, pause) => self.send_endlessly(stream, bytes, *pause, &mut end_us).await,
                Step::Stall => stays_for(stream, ANSWER_TIMEOUT).await,
                Step::Reset => Ok(()),
            };
            if stays.is_err() {
                return (self.log.now_us(), EndedBy::Client);
            }
        }
        (end_us, EndedBy::Server)
    }

    async fn send(&self, stream: &mut impl Connection, bytes: &[u8], end_us: &mut u64) -> io::Result<()> {
        for piece in bytes.chunks(PIECE_BYTES) {
            *end_us = self.log.now_us();
            stream.write_all(piece).await?;
            stream.flush().await?;
        }
        Ok(())
    }

    async fn send_endlessly(
        &self,
        stream: &mut impl Connection,
        bytes: &[u8],
        pause: Duration,
        end_us: &mut u64,
    ) -> io::Result<()> {
        for _ in 0..MAX_ENDLESS_BYTES / bytes.len().max(1) {
            self.send(stream, bytes, end_us).await?;
            if !pause.is_zero() {
                stays_for(stream, pause).await?;
            }
        }
        Ok(())
    }
}

/// Waits, and fails as soon as the asker leaves.
async fn stays_for(stream: &mut impl Connection, pause: Duration) -> io::Result<()> {
    let leaves = async {
        let mut ignored = [0; 512];
        loop {
            match stream.read(&mut ignored).await {
                Ok(0) => return io::Error::from(io::ErrorKind::UnexpectedEof),
                Ok(_) => {}
                Err(error) => return error,
            }
        }
    };
    tokio::select! {
        () = sleep(pause) => Ok(()),
        error = leaves => Err(error),
    }
}

fn parse(head: &[u8]) -> io::Result<Request> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_REQUEST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    request.parse(head).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let fields: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|field| (field.name.to_ascii_lowercase(), String::from_utf8_lossy(field.value).into_owned()))
        .collect();
    let authority = fields.iter().find(|(name, _)| name == "host").map_or("", |(_, value)| value.as_str());
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_ascii_lowercase();
    let path = request.path.unwrap_or("/").to_owned();
    Ok(Request { method: request.method.unwrap_or("").to_owned(), host, path, fields })
}
