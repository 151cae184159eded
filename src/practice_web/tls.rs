//! Certificates of the practice web: one authority, made anew at each start, and one certificate a site, signed by it.

use std::{collections::HashMap, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::{
    ServerConfig,
    crypto::ring,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::{
    faults::RobotsKind,
    site_plan::{PracticeSites, site_name_of_host},
};

/// Why no certificates could be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The certificate could not be generated.
    #[error("cannot generate a practice certificate")]
    Generate(#[from] rcgen::Error),
    /// rustls does not take it.
    #[error("cannot use a practice certificate")]
    Use(#[from] rustls::Error),
}

/// The authority's certificate as PEM, and the server side of TLS for all sites.
pub(super) struct PracticeTls {
    pub(super) ca_pem: String,
    pub(super) config: Arc<ServerConfig>,
}

impl PracticeTls {
    /// Makes an authority and a certificate for each site.
    pub(super) fn create(sites: &PracticeSites) -> Result<Self, CertificateError> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Practice web authority");
        let key = KeyPair::generate()?;
        let ca_pem = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        let mut by_site = HashMap::new();
        for site in sites.sites() {
            let is_wrong = site.robots == RobotsKind::WrongCertificate;
            let name = if is_wrong { format!("not-{}", site.name) } else { site.name.clone() };
            by_site.insert(site.name.clone(), Arc::new(certified_key(&name, &issuer)?));
        }
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(BySiteName { by_site }));
        Ok(Self { ca_pem, config: Arc::new(config) })
    }
}

fn certified_key(name: &str, issuer: &Issuer<'_, KeyPair>) -> Result<CertifiedKey, CertificateError> {
    let mut params = CertificateParams::new(vec![name.to_owned(), format!("*.{name}")])?;
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok(CertifiedKey::new(vec![certificate.der().clone()], ring::sign::any_supported_type(&key)?))
}

/// Picks the certificate by the site of the name that the client asks for.
#[derive(Debug)]
struct BySiteName {
    by_site: HashMap<String, Arc<CertifiedKey>>,
}

impl ResolvesServerCert for BySiteName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_ascii_lowercase();
        self.by_site.get(site_name_of_host(&name)).cloned()
    }
}
