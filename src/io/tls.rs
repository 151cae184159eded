//! The TLS settings that all fetches share: the web's root certificates and those that `network.extra_roots` adds.
//!
//! Only `http/1.1` is offered: the HTTP/2 code under awc has an open advisory (RUSTSEC-2026-0258). No certificate of our own is
//! ever shown, and no early data is sent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

/// Hosts whose sessions are kept for resumption; a session is under 1 KiB, tickets included.
const MAX_RESUMABLE_HOSTS: usize = 4096;

/// Why the settings cannot be made. A person must act.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// A file of `network.extra_roots` cannot be read as PEM.
    #[error("network.extra_roots: cannot read certificates from {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls_pki_types::pem::Error,
    },
    /// A certificate in it is no root that can be trusted.
    #[error("network.extra_roots: {path} holds a certificate that is no root: {source}")]
    NoRoot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::Error,
    },
    /// It holds no certificate at all.
    #[error("network.extra_roots: {path} holds no certificate")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The cryptography refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Provider(rustls::Error),
}

/// The settings, with the roots of these PEM files added to the web's.
pub fn client_config(extra_roots: &[PathBuf]) -> Result<Arc<ClientConfig>, TlsSetupError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for path in extra_roots {
        add_roots(&mut roots, path)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsSetupError::Provider)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::in_memory_sessions(MAX_RESUMABLE_HOSTS);
    Ok(Arc::new(config))
}

fn add_roots(roots: &mut RootCertStore, path: &Path) -> Result<(), TlsSetupError> {
    let unreadable = |source| TlsSetupError::Unreadable { path: path.to_owned(), source };
    let mut num_added = 0;
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        roots
            .add(certificate.map_err(unreadable)?)
            .map_err(|source| TlsSetupError::NoRoot { path: path.to_owned(), source })?;
        num_added += 1;
    }
    if num_added == 0 { Err(TlsSetupError::Empty { path: path.to_owned() }) } else { Ok(()) }
}
