//! From the configuration to what the actors and adapters are told.

use std::sync::Arc;

use lohisoftbot_actors::frontier::{Discovery, FrontierSettings};
use lohisoftbot_actors::host::SiteIdentity;
use lohisoftbot_core::address_gate::AddressRules;
use lohisoftbot_core::audit::{AuditRules, Limits};
use lohisoftbot_core::backoff::BackoffPolicy;
use lohisoftbot_core::budget::{Budget, MAX_ORIGINS_PER_CYCLE, MAX_STORED_PAGES};
use lohisoftbot_core::config::{Config, DiscoveryMode};
use lohisoftbot_core::identity::{Identity, SourceAddresses};
use lohisoftbot_core::politeness::SiteRules;
use lohisoftbot_core::robots::MAX_ROBOTS_BYTES;
use lohisoftbot_core::sitemap::MAX_SITEMAP_BYTES;

use super::StartError;
use crate::check::holds_address;
use crate::io::host_overrides::HostOverrides;
use crate::io::limits::FetchLimits;
use crate::io::network::Network;
use crate::io::resolver::ResolverSettings;

/// The settings of the state machine.
pub fn site_rules(config: &Config) -> SiteRules {
    let budget = Budget::new(config.budget.page_requests, MAX_STORED_PAGES);
    SiteRules {
        min_delay: config.politeness.min_delay,
        response_time_factor: config.politeness.response_time_factor,
        max_adaptive_delay: config.politeness.max_adaptive_delay,
        max_crawl_delay: config.politeness.max_crawl_delay,
        park_after: config.politeness.park_after,
        backoff: BackoffPolicy {
            first: config.backoff.first,
            max: config.backoff.max,
            jitter_percent: config.backoff.jitter_percent,
        },
        budget: budget.expect("a checked configuration keeps the budget within its bounds"),
        max_queued_urls: config.discovery.max_queued_urls as usize,
        recrawl_interval: config.recrawl.interval,
        min_recrawl_interval: config.recrawl.min_interval,
        max_recrawl_interval: config.recrawl.max_interval,
        product_token: config.identity.product.clone(),
    }
}

/// What an audit of the ledger holds it against.
pub fn audit_rules(config: &Config) -> AuditRules {
    let settings = Limits {
        page_requests: config.budget.page_requests,
        origins: MAX_ORIGINS_PER_CYCLE,
        shortest_interval: config.recrawl.min_interval,
        min_delay: config.politeness.min_delay,
        response_time_factor: config.politeness.response_time_factor,
        max_adaptive_delay: config.politeness.max_adaptive_delay,
    };
    AuditRules { promise: Limits::PROMISE, settings }
}

/// The manners at addresses that sites share.
pub fn address_rules(config: &Config) -> AddressRules {
    AddressRules::new(config.politeness.per_address_concurrency as usize, config.politeness.per_address_delay)
}

/// The settings of the frontier.
pub fn frontier_settings(config: &Config) -> FrontierSettings {
    let identity = Identity::new(&config.identity);
    let sources = SourceAddresses::new(config, holds_address);
    FrontierSettings {
        rules: Arc::new(site_rules(config)),
        discovery: match config.discovery.mode {
            DiscoveryMode::Seeds => Discovery::Seeds,
            DiscoveryMode::Links => Discovery::Links { max_sites: u64::from(config.discovery.max_sites) },
        },
        max_live_sites: config.discovery.max_live_sites as usize,
        identity: Arc::new(move |site, cycle| SiteIdentity {
            user_agent: identity.user_agent_for(site).to_owned(),
            source: sources.choose(site, cycle),
        }),
        random_seed: fastrand::u64(..),
    }
}

/// The network ports.
pub fn network(config: &Config) -> Result<Network, StartError> {
    let settings = &config.network;
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limits = FetchLimits {
        connect_timeout: settings.connect_timeout,
        tls_timeout: settings.tls_timeout,
        first_byte_timeout: settings.first_byte_timeout,
        idle_timeout: settings.idle_timeout,
        total_timeout: settings.total_timeout,
        max_head_bytes: to_usize(settings.max_head_bytes),
        max_head_lines: settings.max_head_lines as usize,
        max_body_bytes: to_usize(settings.max_body_bytes),
        max_robots_bytes: MAX_ROBOTS_BYTES,
        max_sitemap_bytes: MAX_SITEMAP_BYTES,
        max_ratio: settings.max_decode_ratio,
    };
    let resolver = ResolverSettings {
        overrides: HostOverrides::new(settings.resolve.iter())?,
        allowed: settings.allow_ranges.clone(),
        name_servers: settings.nameservers.iter().map(|server| server.0.into()).collect(),
        dns_timeout: settings.dns_timeout,
    };
    Ok(Network::new(limits, resolver, &settings.extra_roots)?)
}
