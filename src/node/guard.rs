//! Keeps a node that does not hold its published addresses from the public Internet (P10, `identity.enforce`).

use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_actors::ports::{Fetch, NetworkFactory, Resolve, VettedAddress};
use lohisoftbot_core::identity::IdentityStanding;
use lohisoftbot_core::outcome::ResolveFailure;

/// A network whose resolver hands out public addresses only to a node that can stand for its identity.
pub struct GuardedNetwork<N> {
    network: N,
    standing: Arc<IdentityStanding>,
}

impl<N> GuardedNetwork<N> {
    /// Guards `network` as `standing` demands.
    pub fn new(network: N, standing: IdentityStanding) -> Self {
        Self { network, standing: Arc::new(standing) }
    }
}

impl<N: NetworkFactory> NetworkFactory for GuardedNetwork<N> {
    fn fetcher(&self) -> Rc<dyn Fetch> {
        self.network.fetcher()
    }

    fn resolver(&self) -> Rc<dyn Resolve> {
        Rc::new(GuardedResolver { resolver: self.network.resolver(), standing: self.standing.clone() })
    }
}

struct GuardedResolver {
    resolver: Rc<dyn Resolve>,
    standing: Arc<IdentityStanding>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, host: &str, port: u16) -> LocalBoxFuture<'static, Result<VettedAddress, ResolveFailure>> {
        let standing = self.standing.clone();
        let resolving = self.resolver.resolve(host, port);
        async move {
            let address = resolving.await?;
            match standing.may_crawl(*address.socket_addr().ip()) {
                Ok(()) => Ok(address),
                Err(refusal) => Err(ResolveFailure::AddressRefused(refusal.to_string())),
            }
        }
        .boxed_local()
    }
}
