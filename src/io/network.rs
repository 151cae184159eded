//! The network of the node: what the configuration says once, and the ports that each thread builds from it.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use lohisoftbot_actors::ports::{Fetch, NetworkFactory, Resolve};
use rustls::ClientConfig;

use super::fetch::AwcFetch;
use super::limits::FetchLimits;
use super::resolver::{HickoryResolver, ResolverSettings};
use super::tls::{TlsSetupError, client_config};

/// Builds the ports of a thread.
#[derive(Clone)]
pub struct Network {
    limits: FetchLimits,
    tls: Arc<ClientConfig>,
    resolver: Arc<ResolverSettings>,
}

impl Network {
    /// From `[network]`; fails where a file of `network.extra_roots` cannot be used.
    pub fn new(
        limits: FetchLimits,
        resolver: ResolverSettings,
        extra_roots: &[PathBuf],
    ) -> Result<Self, TlsSetupError> {
        Ok(Self { limits, tls: client_config(extra_roots)?, resolver: Arc::new(resolver) })
    }
}

impl NetworkFactory for Network {
    fn fetcher(&self) -> Rc<dyn Fetch> {
        Rc::new(AwcFetch::new(self.limits.clone(), self.tls.clone()))
    }

    fn resolver(&self) -> Rc<dyn Resolve> {
        Rc::new(HickoryResolver::new(self.resolver.clone()))
    }
}
