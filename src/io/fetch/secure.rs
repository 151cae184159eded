//! Fetches over TLS: whose certificate is believed, and what is offered.

use std::path::PathBuf;
use std::sync::Arc;

use lohisoftbot_actors::ports::Fetch;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::FetchFailure;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;

use super::test_server::{Act, TestServer, answer, fetch, hasty_limits, order, patient_limits};
use crate::io::fetch::AwcFetch;
use crate::io::tls::{TlsSetupError, client_config};

/// A root of our own, in a file as `network.extra_roots` names it.
pub(super) struct Root {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(super) file: PathBuf,
    _directory: TempDir,
}

impl Root {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("root.pem");
        std::fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file, _directory: directory }
    }

    /// A server's settings with a certificate for these names; it would speak HTTP/2 if asked.
    pub(super) fn server_config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

/// Fetches `url` from a server with a certificate for `names`, believing `roots`; the body, or the failure.
async fn body_of(
    url: &str,
    names: &[&str],
    root: &Root,
    roots: &[PathBuf],
    script: Vec<Act>,
) -> Result<(String, bool), FetchFailure> {
    let server = TestServer::start_with(script, Some(root.server_config(names))).await;
    let report = fetch(order(url, server.address, RequestKind::Page), patient_limits(), roots).await;
    report.result.map(|answer| (String::from_utf8(answer.body.to_vec()).unwrap(), answer.cut))
}

#[actix_rt::test]
async fn a_certificate_must_come_from_a_known_root_and_name_the_host() {
    let root = Root::new();
    let known = std::slice::from_ref(&root.file);
    let whole = || Ok(("body".to_owned(), false));
    for (case, url, names, roots, expected) in [
        ("a known root", "https://site.test/", &["site.test"][..], known, whole()),
        ("a wildcard", "https://a.site.test/", &["*.site.test"], known, whole()),
        ("a trailing dot", "https://site.test./", &["site.test"], known, whole()),
        ("an address", "https://192.0.2.7/", &["192.0.2.7"], known, whole()),
        ("an unknown root", "https://site.test/", &["site.test"], &[], Err(FetchFailure::TlsFailed)),
        ("another name", "https://site.test/", &["other.test"], known, Err(FetchFailure::TlsFailed)),
        ("a wildcard too short", "https://a.b.site.test/", &["*.site.test"], known, Err(FetchFailure::TlsFailed)),
        ("another address", "https://192.0.2.7/", &["192.0.2.8"], known, Err(FetchFailure::TlsFailed)),
    ] {
        assert_eq!(body_of(url, names, &root, roots, answer(PAGE)).await, expected, "{case}");
    }
}

#[actix_rt::test]
async fn a_body_that_runs_until_the_close_is_whole_only_with_the_closing_alert() {
    let root = Root::new();
    let known = std::slice::from_ref(&root.file);
    let head = b"HTTP/1.1 200 OK\r\n\r\nbody".to_vec();
    for (last, is_cut) in [(Act::Close, false), (Act::Drop, true)] {
        let script = vec![Act::ReadRequest, Act::Send(head.clone()), last];
        let got = body_of("https://site.test/", &["site.test"], &root, known, script).await;
        assert_eq!(got, Ok(("body".to_owned(), is_cut)));
    }
    let script = vec![Act::ReadRequest, Act::Send(PAGE.as_bytes().to_vec()), Act::Drop];
    let got = body_of("https://site.test/", &["site.test"], &root, known, script).await;
    assert_eq!(got, Ok(("body".to_owned(), false)), "a length needs no alert");
}

#[actix_rt::test]
async fn host_carries_the_port_of_the_url_only_where_it_is_not_443() {
    let root = Root::new();
    let server = TestServer::start_with(answer(PAGE), Some(root.server_config(&["site.test"]))).await;
    for url in ["https://site.test/", "https://site.test:8443/", "https://site.test:80/"] {
        let order = order(url, server.address, RequestKind::Page);
        assert!(fetch(order, patient_limits(), std::slice::from_ref(&root.file)).await.result.is_ok());
    }
    let hosts: Vec<String> = server.requests().iter().filter_map(|r| r.lines().nth(1).map(str::to_owned)).collect();
    assert_eq!(hosts, ["Host: site.test", "Host: site.test:8443", "Host: site.test:80"]);
}

#[actix_rt::test]
async fn sessions_are_resumed_by_later_fetches() {
    let root = Root::new();
    let server = TestServer::start_with(answer(PAGE), Some(root.server_config(&["site.test"]))).await;
    let fetcher = AwcFetch::new(patient_limits(), client_config(std::slice::from_ref(&root.file)).unwrap());
    let mut received = Vec::new();
    for _ in 0..2 {
        let report = fetcher.fetch(order("https://site.test/", server.address, RequestKind::Page)).await;
        assert!(report.result.is_ok());
        received.push(report.wire_bytes);
    }
    assert!(received[1] + 200 < received[0], "a resumed handshake sends no certificate: {received:?} bytes");
}

#[actix_rt::test]
async fn a_server_that_speaks_no_tls_fails_in_the_handshake() {
    for (script, failure) in [
        (vec![Act::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), Act::WaitForClose], FetchFailure::TlsFailed),
        (vec![Act::Close], FetchFailure::TlsFailed),
        (vec![Act::Drop], FetchFailure::TlsFailed),
        (vec![Act::WaitForClose], FetchFailure::TlsTimeout),
    ] {
        let server = TestServer::start(script).await;
        let report = fetch(order("https://site.test/", server.address, RequestKind::Page), hasty_limits(), &[]).await;
        assert_eq!(report.result.unwrap_err(), failure);
    }
}

#[test]
fn root_files_that_cannot_be_used_are_named() {
    let directory = TempDir::new().unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "no certificate here\n").unwrap();
    let broken = directory.path().join("broken.pem");
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let missing = directory.path().join("missing.pem");
    assert!(matches!(client_config(&[empty]), Err(TlsSetupError::Empty { .. })));
    assert!(matches!(client_config(&[broken]), Err(TlsSetupError::NoRoot { .. })));
    let error = client_config(std::slice::from_ref(&missing)).unwrap_err();
    assert!(error.to_string().contains(missing.to_str().unwrap()), "{error}");
}
