//! The certificate and key of `web.tls_certificate` and `web.tls_key`.
//!
//! Only `http/1.1` is offered: the HTTP/2 code under actix-web has an open advisory (RUSTSEC-2026-0258).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Why there is no TLS. A person must act.
#[derive(Debug, thiserror::Error)]
pub enum TlsFilesError {
    /// The certificate cannot be read as PEM.
    #[error("web.tls_certificate: cannot read a certificate from {}: {source}; name a PEM file that this user may read", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls_pki_types::pem::Error,
    },
    /// The key cannot be read as PEM.
    #[error("web.tls_key: cannot read a private key from {}: {source}; name a PEM file that this user may read", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls_pki_types::pem::Error,
    },
    /// The two do not belong together, or one is of an unknown kind.
    #[error(
        "web.tls_certificate and web.tls_key: {} and {} cannot be used together: {source}; name the key that the certificate was made for",
        certificate.display(), key.display()
    )]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        source: rustls::Error,
    },
}

/// Reads both files.
pub(super) fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsFilesError> {
    let no_certificate = |source| TlsFilesError::Certificate { path: certificate.to_owned(), source };
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect).map_err(no_certificate)?;
    if chain.is_empty() {
        return Err(no_certificate(rustls_pki_types::pem::Error::NoItemsFound));
    }
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|source| TlsFilesError::Key { path: key.to_owned(), source })?;
    let unusable = |source| TlsFilesError::Pair { certificate: certificate.to_owned(), key: key.to_owned(), source };
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
