//! The resolve port over hickory: from a host to one address that may be dialled.
//!
//! A literal address, an address from the configuration and an address from a name server go through the same vetting; there is no
//! other way to a [`VettedAddress`], and whoever has one dials it without another look-up: a name server that changes its mind between
//! the two changes nothing. Only A records are asked for: requests never leave over IPv6 (P10). The hosts file and the search list are
//! not used, so a name means the same on every machine, and names outside the public DNS are not sent to anybody.
//!
//! Invariants: a name that does not exist is told apart from name servers that fail, since the first parks a site for long. One call
//! asks for a name at most once, and not at all while an earlier answer is good.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData};
use hickory_resolver::system_conf::read_system_conf;
use lohisoftbot_actors::ports::{Resolve, VettedAddress};
use lohisoftbot_core::address::{AddressRefusal, Ipv4Range, NameStanding, port_is_blocked, standing_of_name, vet};
use lohisoftbot_core::outcome::ResolveFailure;
use tokio::time::timeout;

use super::answer_memory::AnswerMemory;
use super::host_overrides::HostOverrides;

/// What `[network]` says about names and addresses.
#[derive(Clone, Debug)]
pub struct ResolverSettings {
    /// `network.resolve`.
    pub overrides: HostOverrides,
    /// `network.allow_ranges`: ranges that may be dialled although they are special.
    pub allowed: Vec<Ipv4Range>,
    /// `network.nameservers`; where there are none, those of the system.
    pub name_servers: Vec<SocketAddr>,
    /// `network.dns_timeout`: one lookup, all tries together.
    pub dns_timeout: Duration,
}

impl Default for ResolverSettings {
    fn default() -> Self {
        Self {
            overrides: HostOverrides::default(),
            allowed: Vec::new(),
            name_servers: Vec::new(),
            dns_timeout: Duration::from_secs(5),
        }
    }
}

impl ResolverSettings {
    fn apply_to(&self, options: &mut ResolverOpts) {
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = self.dns_timeout / NUM_TRIES;
        options.attempts = NUM_TRIES as usize - 1;
        // `AnswerMemory` remembers in its place.
        options.cache_size = 0;
    }
}

/// Tries of one query; they share the DNS time-out.
const NUM_TRIES: u32 = 2;

/// Most links of a chain of aliases that are followed within one answer; real chains have two or three.
const MAX_ALIASES: usize = 16;

/// Most addresses of one answer that are looked at: a name server is a stranger too, and one is enough.
const MAX_ADDRESSES: usize = 64;

/// The resolver of one thread.
#[derive(Clone)]
pub struct HickoryResolver {
    settings: Arc<ResolverSettings>,
    /// None where the machine has no name servers: overrides and literal addresses still work.
    dns: Option<Rc<TokioResolver>>,
    memory: Rc<RefCell<AnswerMemory>>,
}

impl HickoryResolver {
    /// A resolver for the calling thread. A machine without name servers is reported in the log, since it may need none.
    pub fn new(settings: Arc<ResolverSettings>) -> Self {
        let dns = match dns_of(&settings) {
            Ok(dns) => Some(Rc::new(dns)),
            Err(error) => {
                tracing::warn!(%error, "no name servers; only network.resolve and literal addresses work");
                None
            }
        };
        Self { settings, dns, memory: Rc::default() }
    }

    async fn addresses_of(&self, host: &str) -> Result<Vec<Ipv4Addr>, ResolveFailure> {
        if let Ok(literal) = host.parse() {
            return Ok(vec![literal]);
        }
        if let Some(address) = self.settings.overrides.address_of(host) {
            return Ok(vec![address]);
        }
        match standing_of_name(host) {
            NameStanding::Public => {}
            NameStanding::Loopback => return Ok(vec![Ipv4Addr::LOCALHOST]),
            NameStanding::Reserved(suffix) => return Err(refused(&AddressRefusal::Name(suffix))),
        }
        let name = absolute_name(host).ok_or(ResolveFailure::NoSuchName)?;
        if let Some(addresses) = self.memory.borrow().recall(&name, Instant::now()) {
            return Ok(addresses);
        }
        let dns = self.dns.as_ref().ok_or(ResolveFailure::NameServers)?;
        let answer = match timeout(self.settings.dns_timeout, dns.ipv4_lookup(name.clone())).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(failure_of(host, &error)),
            Err(_) => return Err(ResolveFailure::NameServers),
        };
        let (addresses, ttl) = addresses_in(&answer, &name);
        if addresses.is_empty() {
            return Err(ResolveFailure::NoSuchName);
        }
        self.memory.borrow_mut().remember(name, addresses.clone(), ttl, Instant::now());
        Ok(addresses)
    }
}

impl Resolve for HickoryResolver {
    fn resolve(&self, host: &str, port: u16) -> LocalBoxFuture<'static, Result<VettedAddress, ResolveFailure>> {
        let (resolver, host) = (self.clone(), host.to_owned());
        Box::pin(async move {
            if port_is_blocked(port) {
                return Err(refused(&AddressRefusal::Port(port)));
            }
            if host.contains(':') {
                return Err(refused(&AddressRefusal::Ipv6));
            }
            let addresses = resolver.addresses_of(&host).await?;
            choose(&addresses, port, &resolver.settings.allowed)
        })
    }
}

/// The name as it stands, hyphens at odd places and underscores included; none where DNS cannot hold it. Names are looked up as
/// absolute, never with a search domain behind them.
fn absolute_name(host: &str) -> Option<Name> {
    let labels: Vec<&[u8]> = host.strip_suffix('.').unwrap_or(host).split('.').map(str::as_bytes).collect();
    if labels.iter().any(|label| label.is_empty()) {
        return None;
    }
    let mut name = Name::from_labels(labels).ok()?;
    name.set_fqdn(true);
    Some(name)
}

/// The addresses of `name` in an answer, in its order, and how long they may be remembered. They are those of the name itself and of
/// what it is an alias of; a record of any other name is none of its business.
fn addresses_in(answer: &Lookup, name: &Name) -> (Vec<Ipv4Addr>, Duration) {
    let (records, last) = (answer.answers(), answer.query().name());
    let mut names = vec![name];
    while let Some(next) = records.iter().find_map(|record| match &record.data {
        RData::CNAME(target) if names.contains(&&record.name) && !names.contains(&&target.0) => Some(&target.0),
        _ => None,
    }) {
        names.push(next);
        if names.len() > MAX_ALIASES {
            return (Vec::new(), Duration::ZERO);
        }
    }
    // Where the chain leads to `localhost`, the library leaves its links out, and with them what their TTLs were.
    let is_whole = names.contains(&last);
    names.push(last);
    let (mut addresses, mut ttl) = (Vec::new(), if is_whole { u32::MAX } else { 0 });
    for record in records.iter().filter(|record| names.contains(&&record.name)) {
        ttl = ttl.min(record.ttl);
        match record.data {
            RData::A(address) if addresses.len() < MAX_ADDRESSES => addresses.push(address.0),
            _ => {}
        }
    }
    (addresses, Duration::from_secs(ttl.into()))
}

/// The first address that may be dialled: name servers turn their answers, so first is as good as any. An address that is refused is
/// skipped and never dialled; a public one beside it belongs to the name all the same, and to dial it harms nobody.
fn choose(addresses: &[Ipv4Addr], port: u16, allowed: &[Ipv4Range]) -> Result<VettedAddress, ResolveFailure> {
    let mut refusal = ResolveFailure::NoSuchName;
    for address in addresses {
        match vet(*address, allowed) {
            Ok(()) => return Ok(VettedAddress::new_vetted(SocketAddrV4::new(*address, port))),
            Err(why) => refusal = refused(&why),
        }
    }
    Err(refusal)
}

fn refused(why: &AddressRefusal) -> ResolveFailure {
    ResolveFailure::AddressRefused(why.to_string())
}

fn failure_of(host: &str, error: &NetError) -> ResolveFailure {
    match error {
        // NXDOMAIN, or a name that exists without an A record; any other code is a server's failure.
        NetError::Dns(DnsError::NoRecordsFound(none))
            if matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError) =>
        {
            ResolveFailure::NoSuchName
        }
        _ => {
            tracing::debug!(host, %error, "name servers failed");
            ResolveFailure::NameServers
        }
    }
}

fn dns_of(settings: &ResolverSettings) -> Result<TokioResolver, NetError> {
    let (config, mut options) = if settings.name_servers.is_empty() {
        read_system_conf()?
    } else {
        let servers = settings.name_servers.iter().map(name_server_at).collect();
        (ResolverConfig::from_name_servers(servers), ResolverOpts::default())
    };
    settings.apply_to(&mut options);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build()
}

fn name_server_at(address: &SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

#[cfg(test)]
mod tests;
