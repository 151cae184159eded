//! What each key of the configuration may be set to.
//!
//! The limit of a promise (20 page requests) stands here as a bound that no configuration passes.
//! Values that are merely unwise are the business of `lohisoftbot check`.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use super::{Config, LEAST_MIN_DELAY, LEAST_RECRAWL_INTERVAL, MAX_PAGE_REQUESTS, is_host_name, show_size, show_span};

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {what}: {fix}")]
pub struct ConfigProblem {
    /// Section and key, such as `budget.page_requests`.
    pub key: &'static str,
    /// What is wrong with the value.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const MAX_ADDRESS_DELAY: Duration = Duration::from_secs(10);
/// Longest time that a connection may stand without its request. Servers close such connections, some after 20 seconds (Apache's
/// `RequestReadTimeout header=20-40`), and a request sent into a closed connection is a ticket spent for nothing.
const MAX_IDLE_CONNECTION: Duration = Duration::from_secs(20);

/// Longest path of a Unix socket in bytes: `sun_path` holds 108, the last one a zero (unix(7)).
const MAX_SOCKET_PATH_BYTES: usize = 107;

pub(super) fn problems(config: &Config) -> Vec<ConfigProblem> {
    let mut found = Problems(Vec::new());
    identity(config, &mut found);
    network(config, &mut found);
    pace(config, &mut found);
    storage(config, &mut found);
    search(config, &mut found);
    web(config, &mut found);
    found.0
}

struct Problems(Vec<ConfigProblem>);

impl Problems {
    fn add(&mut self, key: &'static str, what: impl Into<String>, fix: impl Into<String>) {
        self.0.push(ConfigProblem { key, what: what.into(), fix: fix.into() });
    }

    fn span(&mut self, key: &'static str, value: Duration, low: Duration, high: Duration) {
        self.within(key, value, low, high, show_span);
    }

    fn size(&mut self, key: &'static str, value: u64, low: u64, high: u64) {
        self.within(key, value, low, high, show_size);
    }

    fn count(&mut self, key: &'static str, value: u32, low: u32, high: u32) {
        self.within(key, value, low, high, |count| count.to_string());
    }

    fn within<T: PartialOrd + Copy>(&mut self, key: &'static str, value: T, low: T, high: T, show: fn(T) -> String) {
        if value < low || value > high {
            self.add(key, format!("is {}", show(value)), format!("write a value from {} to {}", show(low), show(high)));
        }
    }
}

fn identity(config: &Config, found: &mut Problems) {
    let identity = &config.identity;
    // RFC 9309 §2.2.1: a product token holds letters, underscores and hyphens only; any other would never match its
    // group.
    let is_token = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b == b'-';
    if identity.product.is_empty() || identity.product.len() > 64 || !identity.product.bytes().all(is_token) {
        found.add(
            "identity.product",
            format!("is {:?}, which robots.txt files cannot address", identity.product),
            "write 1 to 64 letters, hyphens or underscores, such as \"LohiSoftBot\"",
        );
    }
    let is_version = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if identity.version.is_empty() || identity.version.len() > 32 || !identity.version.bytes().all(is_version) {
        found.add(
            "identity.version",
            format!("is {:?}", identity.version),
            "write 1 to 32 letters, digits, dots, hyphens or underscores, such as \"1.0\"",
        );
    }
    if !is_mail_address(&identity.contact) {
        found.add(
            "identity.contact",
            format!("is {:?}, which is no mail address", identity.contact),
            "write the address of whoever answers for this bot, such as \"message@lohisoft.com\"",
        );
    }
    if !is_page_address(&identity.info_url) {
        found.add(
            "identity.info_url",
            format!("is {:?}, which is no address of a web page", crate::url::without_userinfo(&identity.info_url)),
            "write the page that describes this bot, such as \"https://lohisoft.com/bot\"",
        );
    }
    found.count("identity.user_agent_url_share", identity.user_agent_url_share, 0, 100);
    if !is_host_name(&identity.host_suffix) {
        found.add(
            "identity.host_suffix",
            format!("is {:?}, which is no host name", identity.host_suffix),
            "write the name that the host names of the published addresses end in, such as \"bot.lohisoft.com\"",
        );
        return;
    }
    for (address, host) in &identity.addresses {
        let below = host.strip_suffix(&identity.host_suffix).and_then(|rest| rest.strip_suffix('.'));
        if !is_host_name(host) || below.is_none() {
            found.add(
                "identity.addresses",
                format!("gives {address} the name {host:?}"),
                format!("write a host name that ends in .{}, or change identity.host_suffix", identity.host_suffix),
            );
        }
    }
}

/// A plain mail address that fits between the parentheses of a User-Agent comment (RFC 9110 §5.6.5).
fn is_mail_address(text: &str) -> bool {
    let Some((local, host)) = text.split_once('@') else { return false };
    let is_local = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&b);
    (1..=64).contains(&local.len()) && local.bytes().all(is_local) && is_host_name(host) && host.contains('.')
}

fn is_page_address(text: &str) -> bool {
    let plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"()\\\"<>".contains(&b));
    plain && text.len() <= 256 && text.contains("://") && crate::url::PageUrl::parse(text, None).is_ok()
}

fn network(config: &Config, found: &mut Problems) {
    let network = &config.network;
    for (key, value) in [
        ("network.dns_timeout", network.dns_timeout),
        ("network.connect_timeout", network.connect_timeout),
        ("network.tls_timeout", network.tls_timeout),
        ("network.first_byte_timeout", network.first_byte_timeout),
        ("network.idle_timeout", network.idle_timeout),
        ("network.total_timeout", network.total_timeout),
    ] {
        found.span(key, value, MILLI, HOUR);
    }
    found.size("network.max_head_bytes", network.max_head_bytes, KIB, MIB);
    found.count("network.max_head_lines", network.max_head_lines, 16, 4096);
    found.size("network.max_body_bytes", network.max_body_bytes, KIB, 64 * MIB);
    found.count("network.max_decode_ratio", network.max_decode_ratio, 1, 100_000);
    found.count("network.max_in_flight", network.max_in_flight, 1, 65_536);
    found.count("network.host_threads", network.host_threads, 0, 1024);
    if network.max_in_flight_bytes < network.max_body_bytes {
        found.add(
            "network.max_in_flight_bytes",
            format!("is {}, too little for one body", show_size(network.max_in_flight_bytes)),
            format!("write at least network.max_body_bytes, {}", show_size(network.max_body_bytes)),
        );
    }
    if network.extra_roots.iter().any(|path| path.as_os_str().is_empty()) {
        found.add("network.extra_roots", "holds an empty path", "write the path of a PEM file, or leave it out");
    }
    // With an enforced identity, requests leave from the published addresses and no others (P10). Addresses in an
    // opened range never reach a public one, so a test may send from there.
    let is_free = |address| network.allow_ranges.iter().any(|range| range.contains(address));
    for address in &network.source_addresses {
        if config.identity.enforce && !config.identity.addresses.contains_key(address) && !is_free(*address) {
            found.add(
                "network.source_addresses",
                format!("holds {address}, which identity.addresses does not publish"),
                "publish it there with its host name, or take it out here",
            );
        }
    }
}

fn pace(config: &Config, found: &mut Problems) {
    found.span("politeness.min_delay", config.politeness.min_delay, LEAST_MIN_DELAY, DAY);
    found.count("politeness.response_time_factor", config.politeness.response_time_factor, 0, 1000);
    found.span("politeness.max_adaptive_delay", config.politeness.max_adaptive_delay, Duration::ZERO, DAY);
    found.span("politeness.max_crawl_delay", config.politeness.max_crawl_delay, MILLI, 30 * DAY);
    found.span("politeness.park_after", config.politeness.park_after, MILLI, DAY);
    found.count("politeness.per_address_concurrency", config.politeness.per_address_concurrency, 1, 1000);
    addresses(config, found);
    found.span("backoff.first", config.backoff.first, MILLI, DAY);
    if config.backoff.max < config.backoff.first || config.backoff.max > 30 * DAY {
        found.add(
            "backoff.max",
            format!("is {}", show_span(config.backoff.max)),
            format!("write a value from backoff.first, {}, to 30d", show_span(config.backoff.first)),
        );
    }
    found.count("backoff.jitter_percent", config.backoff.jitter_percent.into(), 0, 100);
    found.count("budget.page_requests", config.budget.page_requests.into(), 1, MAX_PAGE_REQUESTS.into());
    found.count("discovery.max_sites", config.discovery.max_sites, 1, 100_000_000);
    found.count("discovery.max_live_sites", config.discovery.max_live_sites, 1, 1_000_000);
    found.count("discovery.max_queued_urls", config.discovery.max_queued_urls, 1, 1000);
    recrawl(config, found);
}

/// The interval that is learnt of a site starts within its bounds, whoever sets only one of the three.
fn recrawl(config: &Config, found: &mut Problems) {
    let recrawl = &config.recrawl;
    found.span("recrawl.interval", recrawl.interval, LEAST_RECRAWL_INTERVAL, 365 * DAY);
    found.span("recrawl.min_interval", recrawl.min_interval, LEAST_RECRAWL_INTERVAL, 365 * DAY);
    found.span("recrawl.max_interval", recrawl.max_interval, SECOND, 365 * DAY);
    if recrawl.min_interval > recrawl.interval {
        found.add(
            "recrawl.min_interval",
            format!("is {}, longer than recrawl.interval", show_span(recrawl.min_interval)),
            format!("write a value up to {}", show_span(recrawl.interval)),
        );
    }
    if recrawl.max_interval < recrawl.interval {
        found.add(
            "recrawl.max_interval",
            format!("is {}, shorter than recrawl.interval", show_span(recrawl.max_interval)),
            format!("write a value from {} on", show_span(recrawl.interval)),
        );
    }
}

/// Requests to a shared address wait for their turn with the connection made, so the wait of the last of those inside is bounded.
fn addresses(config: &Config, found: &mut Problems) {
    const KEY: &str = "politeness.per_address_delay";
    let (delay, num_inside) = (config.politeness.per_address_delay, config.politeness.per_address_concurrency);
    if delay > MAX_ADDRESS_DELAY {
        return found.span(KEY, delay, Duration::ZERO, MAX_ADDRESS_DELAY);
    }
    let longest_wait = delay.saturating_mul(num_inside);
    if longest_wait > MAX_IDLE_CONNECTION {
        found.add(
            KEY,
            format!(
                "is {}, so {num_inside} connections at once would be idle for up to {}",
                show_span(delay),
                show_span(longest_wait)
            ),
            format!(
                "write a value up to {}, or lower politeness.per_address_concurrency",
                show_span(MAX_IDLE_CONNECTION / num_inside)
            ),
        );
    }
}

fn storage(config: &Config, found: &mut Problems) {
    if config.store.data_dir.as_os_str().is_empty() {
        found.add("store.data_dir", "is empty", "write the path of a folder, such as \"data\"");
    }
    found.span("store.batch_interval", config.store.batch_interval, MILLI, 10 * SECOND);
    found.size("store.cache_bytes", config.store.cache_bytes, MIB, 64 * GIB);
    let socket = config.socket_path();
    if byte_len(&socket) > MAX_SOCKET_PATH_BYTES {
        found.add(
            "control.socket",
            format!("would be {} bytes long ({})", byte_len(&socket), socket.display()),
            format!("write a path of at most {MAX_SOCKET_PATH_BYTES} bytes, which is all that a Unix socket can have"),
        );
    }
}

fn search(config: &Config, found: &mut Problems) {
    let search = &config.search;
    found.span("search.commit_interval", search.commit_interval, 100 * MILLI, HOUR);
    // Below 15 MiB tantivy refuses to write.
    found.size("search.memory_bytes", search.memory_bytes, 16 * MIB, 2 * GIB);
    let weights = [
        ("search.title_weight", search.title_weight),
        ("search.headings_weight", search.headings_weight),
        ("search.anchors_weight", search.anchors_weight),
        ("search.description_weight", search.description_weight),
        ("search.url_weight", search.url_weight),
        ("search.site_weight", search.site_weight),
        ("search.authority_weight", search.authority_weight),
    ];
    for (key, weight) in weights {
        found.count(key, weight, 0, 100);
    }
}

fn web(config: &Config, found: &mut Problems) {
    let web = &config.web;
    for name in &web.hostnames {
        if !is_host_name(name) && name.parse::<IpAddr>().is_err() {
            found.add(
                "web.hostnames",
                format!("holds {name:?}, which is no host name"),
                "write names alone, without scheme or port, such as \"search.example.org\"",
            );
        }
    }
    let lone_key = match (web.tls_certificate.as_os_str().is_empty(), web.tls_key.as_os_str().is_empty()) {
        (true, false) => Some("web.tls_certificate"),
        (false, true) => Some("web.tls_key"),
        (true, true) | (false, false) => None,
    };
    if let Some(key) = lone_key {
        found.add(
            key,
            "is empty while the other half of TLS is set",
            "write the paths of both PEM files, or of neither",
        );
    }
    found.count("web.max_connections", web.max_connections, 8, 65_536);
    found.span("web.request_timeout", web.request_timeout, 100 * MILLI, 10 * MINUTE);
    found.span("web.keep_alive", web.keep_alive, 100 * MILLI, 10 * MINUTE);
    found.count("web.requests_per_minute", web.requests_per_minute, 1, 1_000_000);
    found.count("web.request_burst", web.request_burst, 1, 1_000_000);
}

fn byte_len(path: &Path) -> usize {
    path.as_os_str().as_encoded_bytes().len()
}

#[cfg(test)]
mod tests;
