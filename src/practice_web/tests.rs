//! The practice web, asked over raw sockets: what it sends must be what its labels say, and its log what was asked.

use std::{collections::BTreeSet, time::Duration};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::{
    faults::{Faults, PageFault, RobotsKind},
    labels::{AnswerKind, Permission, RequestKind, Storage},
    log::{EndedBy, LogEntry},
    plan::Canaries,
    script::{Backoff, RobotsRole},
    site_plan::{Rel, SitePlan},
    *,
};

mod answered;
mod generated;
mod logged;

const AGENT: &str = "LohiSoftBot/1.0 (+message@lohisoft.com)";
/// More than any finite answer has.
const ANSWER_LIMIT: u64 = 1 << 20;

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Connects to a URL's site as its scheme says; an error is one of the handshake.
async fn connect(web: &PracticeWeb, scheme: Scheme, host: &str) -> io::Result<Box<dyn Stream>> {
    let site = web.sites().site_of_host(host).expect("the host is one of the web's");
    let tcp = TcpStream::connect((site.address, web.ports().of(scheme))).await?;
    match scheme {
        Scheme::Http => Ok(Box::new(tcp)),
        Scheme::Https => {
            let mut roots = RootCertStore::empty();
            roots
                .add(CertificateDer::from_pem_slice(web.ca_pem().as_bytes()).expect("it is PEM"))
                .expect("it is a certificate");
            let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring has them")
                .with_root_certificates(roots)
                .with_no_client_auth();
            let name = ServerName::try_from(host.to_owned()).expect("it is a name");
            Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, tcp).await?))
        }
    }
}

async fn send(stream: &mut dyn Stream, host: &str, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the web reads requests");
    stream.flush().await.expect("the web reads requests");
}

/// What one request brought, up to the end of the connection or to the limit.
async fn ask(web: &PracticeWeb, scheme: Scheme, host: &str, path: &str) -> Vec<u8> {
    let mut stream = connect(web, scheme, host).await.expect("the handshake succeeds");
    send(&mut *stream, host, path).await;
    let mut bytes = Vec::new();
    // A body that drips is left after its first bytes, as it would never reach the limit.
    let is_drip = path == page_path(web, PageFault::Drip);
    let limit = if is_drip { 1_000 } else { ANSWER_LIMIT };
    // A reset is an answer too: what came before it counts.
    let _ = stream.take(limit).read_to_end(&mut bytes).await;
    bytes
}

async fn ask_main(web: &PracticeWeb, site: &SitePlan, path: &str) -> Vec<u8> {
    ask(web, site.scheme, &site.main_host, path).await
}

fn split(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end..])
}

/// The status of an answer; 0 if it is no HTTP.
fn status_of(bytes: &[u8]) -> u16 {
    let (head, _) = split(bytes);
    head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}

fn field_of(bytes: &[u8], name: &str) -> Option<String> {
    let (head, _) = split(bytes);
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
}

async fn start(plan: PracticePlan) -> PracticeWeb {
    PracticeWeb::start(PracticeSites::generate(plan)).await.expect("it starts")
}

fn site_of(web: &PracticeWeb, robots: RobotsKind) -> &SitePlan {
    web.sites().sites().iter().find(|site| site.robots == robots).expect("the plan has such a site")
}

/// The path that shows a fault, empty if none does.
fn page_path(web: &PracticeWeb, fault: PageFault) -> &str {
    let mut pages = web.sites().sites().iter().flat_map(|site| &site.pages);
    pages.find(|page| page.answer == AnswerKind::Fault(fault)).map_or("", |page| page.path.as_str())
}

/// The site and the path that show a fault.
fn page_of(web: &PracticeWeb, fault: PageFault) -> (&SitePlan, &str) {
    let mut pages = web.sites().sites().iter().flat_map(|site| site.pages.iter().map(move |page| (site, page)));
    let found = pages.find(|(_, page)| page.answer == AnswerKind::Fault(fault));
    found.map(|(site, page)| (site, page.path.as_str())).expect("the plan has such a page")
}

fn rules() -> AuditRules {
    AuditRules::new(Duration::ZERO, Duration::from_millis(1), vec![AGENT.to_owned()])
        .with_addresses(usize::MAX, Duration::ZERO)
}

/// Every fault on small sites.
fn all_faults() -> PracticePlan {
    PracticePlan {
        pages_per_site: (3, 8),
        faults: Faults::all(),
        canaries: Some(Canaries::default()),
        ..PracticePlan::demo(5)
    }
}
