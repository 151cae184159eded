//! A web to practise on: some sixty small sites on loopback addresses, good and bad ones, that note down every request.
//!
//! The `demo` command crawls it, and the tests judge by it: [`log`] says what was asked and when, [`labels`] says what might have been
//! asked, and [`auditor`] compares the two. Sites and labels come from a seed; nothing here uses the node's own rules, so the two can
//! be checked against each other. It is no general web server and listens on the loopback only.
//!
//! Invariants: the same plan gives the same sites; a URL's label never changes while the web runs (a page of two epochs, see
//! [`freshness`], has a label that tells of both); every request that is answered is in
//! the log before the first byte of its answer is sent.

pub mod answers;
pub mod auditor;
mod barriers;
mod encode;
pub mod faults;
pub mod freshness;
mod generate;
pub mod labels;
mod links;
pub mod log;
pub mod name_server;
mod odd_pages;
pub mod page;
pub mod plan;
pub mod robots_files;
pub mod script;
mod server;
pub mod site_plan;
pub mod sitemaps;
#[cfg(test)]
mod tests;
mod tls;
pub mod traps;
pub mod words;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{net::TcpListener, sync::oneshot, task::JoinSet, time::sleep};
use tokio_rustls::TlsAcceptor;

use auditor::{AuditLabels, AuditReport, AuditRules, audit};
use labels::UrlLabel;
use log::RequestLog;
use plan::PracticePlan;
use server::{Door, Server};
use site_plan::{PageHost, Ports, PracticeSites, Scheme};
use tls::{CertificateError, PracticeTls};

/// How many free ports are tried before giving up: each must be free on every address.
const MAX_PORT_ATTEMPTS: usize = 50;

/// How often the thread's pulse is noted: the finest that the log can tell of its own lateness.
const PULSE: Duration = Duration::from_millis(5);

/// Why the practice web did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The plan's addresses leave the loopback range.
    #[error("practice address {0} is not in 127.0.0.0/8")]
    NotLoopback(Ipv4Addr),
    /// No port was free on all addresses.
    #[error("cannot listen on the practice addresses")]
    Listen(#[source] io::Error),
    /// The log file cannot be opened.
    #[error("cannot open the practice web's log file")]
    LogFile(#[source] io::Error),
    /// The thread or its runtime cannot be started.
    #[error("cannot start the practice web's thread")]
    Thread(#[source] io::Error),
    /// The certificates cannot be made.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
}

/// A running practice web. Dropping it ends it too, without waiting.
pub struct PracticeWeb {
    sites: Arc<PracticeSites>,
    ports: Ports,
    log: RequestLog,
    ca_pem: String,
    /// Dropped to end the thread.
    stop: Option<oneshot::Sender<()>>,
    stopped: oneshot::Receiver<()>,
}

impl PracticeWeb {
    /// Generates the sites of a plan; the same plan gives the same sites.
    pub fn generate(plan: PracticePlan) -> PracticeSites {
        PracticeSites::generate(plan)
    }

    /// Starts serving, on a thread and a runtime of its own. When this returns, every address listens.
    pub async fn start(sites: PracticeSites) -> Result<Self, StartError> {
        let sites = Arc::new(sites);
        let log = RequestLog::create(sites.plan().log_file.as_deref()).map_err(StartError::LogFile)?;
        let PracticeTls { ca_pem, config } = PracticeTls::create(&sites)?;
        let (started_sender, started) = oneshot::channel();
        let (stop, stop_receiver) = oneshot::channel();
        let (stopped_sender, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let (thread_sites, thread_log) = (Arc::clone(&sites), log.clone());
        let body = move || {
            runtime.block_on(run(thread_sites, thread_log, TlsAcceptor::from(config), started_sender, stop_receiver));
            runtime.shutdown_background();
            // Nobody waits for this where the web was dropped instead of shut down.
            let _ = stopped_sender.send(());
        };
        thread::Builder::new().name("practice-web".into()).spawn(body).map_err(StartError::Thread)?;
        let gone = |_| StartError::Thread(io::Error::other("the practice web's thread ended at once"));
        let ports = started.await.map_err(gone)??;
        Ok(Self { sites, ports, log, ca_pem, stop: Some(stop), stopped })
    }

    /// Ends all listeners and connections, and returns when they are closed.
    pub async fn shutdown(mut self) {
        self.stop = None;
        // An error means that the thread is gone already.
        let _ = (&mut self.stopped).await;
    }

    /// The sites being served.
    pub fn sites(&self) -> &PracticeSites {
        &self.sites
    }

    /// The ports that every address listens on.
    pub const fn ports(&self) -> Ports {
        self.ports
    }

    /// The request log.
    pub const fn log(&self) -> &RequestLog {
        &self.log
    }

    /// The certificate of the web's own authority, for `network.extra_roots`.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Names and addresses for `network.resolve`: each site's name and all names below it.
    pub fn resolve_table(&self) -> Vec<(String, Ipv4Addr)> {
        let sites = self.sites.sites().iter();
        sites.flat_map(|site| [(site.name.clone(), site.address), (format!("*.{}", site.name), site.address)]).collect()
    }

    /// The home page of each site. Some of the plain sites are named by an origin that redirects to the right one.
    pub fn seeds(&self) -> Vec<String> {
        let home = |site: &site_plan::SitePlan| {
            let is_stray = site.is_plain() && site.index % 10 == 6;
            if is_stray {
                format!("{}://{}:{}/", Scheme::Http.as_str(), site.name, self.ports.http)
            } else {
                format!("{}/", site.origin(PageHost::Main, self.ports))
            }
        };
        self.sites.sites().iter().map(home).collect()
    }

    /// The labels of all URLs.
    pub fn labels(&self) -> Vec<UrlLabel> {
        self.sites.labels(self.ports)
    }

    /// What the auditor says about the requests so far.
    pub fn audit(&self, rules: &AuditRules) -> AuditReport {
        audit(&self.log.entries(), &AuditLabels::of_sites(&self.sites), rules)
    }
}

/// The life of the web's thread.
async fn run(
    sites: Arc<PracticeSites>,
    log: RequestLog,
    acceptor: TlsAcceptor,
    started: oneshot::Sender<Result<Ports, StartError>>,
    stop: oneshot::Receiver<()>,
) {
    let (ports, doors) = match listen(&sites).await {
        Ok(listening) => listening,
        Err(error) => {
            // If nobody waits for the start any more, nobody misses the reason.
            let _ = started.send(Err(error));
            return;
        }
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(beat(log.clone()));
    let server = Arc::new(Server::new(sites, ports, log, acceptor));
    for door in doors {
        tasks.spawn(Arc::clone(&server).serve(door));
    }
    if started.send(Ok(ports)).is_ok() {
        // The sender is dropped to stop the web, so an error is the usual way to get here.
        let _ = stop.await;
    }
    tasks.shutdown().await;
}

/// Notes in the log, for as long as it is polled, when the thread had its turn: what it reads may have waited since.
async fn beat(log: RequestLog) {
    loop {
        log.beat();
        sleep(PULSE).await;
    }
}

/// Listens on every address with one port for each scheme.
async fn listen(sites: &PracticeSites) -> Result<(Ports, Vec<Door>), StartError> {
    let mut addresses: Vec<Ipv4Addr> = sites.sites().iter().map(|site| site.address).collect();
    addresses.dedup();
    if let Some(outside) = addresses.iter().find(|address| !address.is_loopback()) {
        return Err(StartError::NotLoopback(*outside));
    }
    let (http, mut doors) =
        listen_with(&addresses, Scheme::Http, sites.plan().http_port).await.map_err(StartError::Listen)?;
    let (https, more) =
        listen_with(&addresses, Scheme::Https, sites.plan().https_port).await.map_err(StartError::Listen)?;
    doors.extend(more);
    Ok((Ports { http, https }, doors))
}

async fn listen_with(addresses: &[Ipv4Addr], scheme: Scheme, fixed: Option<u16>) -> io::Result<(u16, Vec<Door>)> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match listen_once(addresses, scheme, fixed.unwrap_or(0)).await {
            Err(error)
                if fixed.is_none() && attempts < MAX_PORT_ATTEMPTS && error.kind() == io::ErrorKind::AddrInUse => {}
            outcome => return outcome,
        }
    }
}

/// Takes the port of the first address, chosen by the system where `port` is 0, on all others too.
async fn listen_once(addresses: &[Ipv4Addr], scheme: Scheme, mut port: u16) -> io::Result<(u16, Vec<Door>)> {
    let mut doors = Vec::with_capacity(addresses.len());
    for &address in addresses {
        let listener = TcpListener::bind(SocketAddr::from((address, port))).await?;
        port = listener.local_addr()?.port();
        doors.push(Door { listener, address, scheme });
    }
    Ok((port, doors))
}
