//! The sections of the configuration and what each key is by default.
//!
//! The defaults are those of `config.toml` as it ships; a test of the root package holds the two together. A section
//! says what a key means and its unit; what a key may be set to is said in `bounds`.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::addresses::{NameServer, ResolveTable};
use super::quantity::{size, span};
use crate::address::Ipv4Range;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Who the bot says it is, and where its requests come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdentitySettings {
    /// The product token: the name that robots.txt groups are matched with (RFC 9309 §2.2.1).
    pub product: String,
    /// The version behind it in the User-Agent.
    pub version: String,
    /// Mail address of who answers for the bot.
    pub contact: String,
    /// Page that describes the bot.
    pub info_url: String,
    /// Share of sites, in percent, that are shown `info_url` in the User-Agent; the others are shown `contact`.
    pub user_agent_url_share: u32,
    /// The name below which the host names of all published addresses lie, without a leading dot.
    pub host_suffix: String,
    /// The published addresses with the host name of each.
    pub addresses: BTreeMap<Ipv4Addr, String>,
    /// Whether a node that does not hold the published addresses refuses to crawl public addresses.
    pub enforce: bool,
}

impl Default for IdentitySettings {
    fn default() -> Self {
        Self {
            product: "LohiSoftBot".to_owned(),
            version: "1.0".to_owned(),
            contact: "message@lohisoft.com".to_owned(),
            info_url: "https://lohisoft.com/bot".to_owned(),
            user_agent_url_share: 0,
            host_suffix: "bot.lohisoft.com".to_owned(),
            addresses: BTreeMap::from([(
                Ipv4Addr::new(79, 139, 58, 98),
                "crawl-79-139-58-98.bot.lohisoft.com".to_owned(),
            )]),
            enforce: true,
        }
    }
}

/// How requests leave, and the limits of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkSettings {
    /// Names that are answered from here, for test hosts.
    pub resolve: ResolveTable,
    /// Ranges that are dialled although they are not public.
    pub allow_ranges: Vec<Ipv4Range>,
    /// PEM files of further certificate authorities.
    pub extra_roots: Vec<PathBuf>,
    /// Name servers; the system's where there is none.
    pub nameservers: Vec<NameServer>,
    /// Addresses that requests leave from; the published ones where there is none.
    pub source_addresses: Vec<Ipv4Addr>,
    /// Longest time for a name to resolve.
    #[serde(with = "span")]
    pub dns_timeout: Duration,
    /// Longest time for a connection to be made.
    #[serde(with = "span")]
    pub connect_timeout: Duration,
    /// Longest time for the TLS handshake.
    #[serde(with = "span")]
    pub tls_timeout: Duration,
    /// Longest time from the request to the head of the answer.
    #[serde(with = "span")]
    pub first_byte_timeout: Duration,
    /// Longest time in which nothing of a body comes.
    #[serde(with = "span")]
    pub idle_timeout: Duration,
    /// Longest time for one whole request.
    #[serde(with = "span")]
    pub total_timeout: Duration,
    /// Longest head of an answer, in bytes.
    #[serde(with = "size")]
    pub max_head_bytes: u64,
    /// Most lines in the head of an answer.
    pub max_head_lines: u32,
    /// Longest body after decoding, in bytes; what is longer is cut.
    #[serde(with = "size")]
    pub max_body_bytes: u64,
    /// Most bytes that one byte of a compressed body may become.
    pub max_decode_ratio: u32,
    /// Most requests, of pages, sitemaps and robots.txt, whose answers are fetched, extracted or stored at once.
    pub max_in_flight: u32,
    /// Most bytes of body that are held at once.
    #[serde(with = "size")]
    pub max_in_flight_bytes: u64,
    /// Threads that sites live on, each site on one of them; as many as there are cores where it is 0.
    pub host_threads: u32,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            resolve: ResolveTable::default(),
            allow_ranges: Vec::new(),
            extra_roots: Vec::new(),
            nameservers: Vec::new(),
            source_addresses: Vec::new(),
            dns_timeout: 5 * SECOND,
            connect_timeout: 10 * SECOND,
            tls_timeout: 10 * SECOND,
            first_byte_timeout: 20 * SECOND,
            idle_timeout: 15 * SECOND,
            total_timeout: 60 * SECOND,
            max_head_bytes: 64 * KIB,
            max_head_lines: 256,
            max_body_bytes: 2 * MIB,
            max_decode_ratio: 1000,
            max_in_flight: 256,
            max_in_flight_bytes: 256 * MIB,
            host_threads: 0,
        }
    }
}

/// How long a site is left alone between two requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolitenessSettings {
    /// Shortest delay after a request has ended.
    #[serde(with = "span")]
    pub min_delay: Duration,
    /// The delay is at least this many times the last response time.
    pub response_time_factor: u32,
    /// Longest delay that follows from the response time.
    #[serde(with = "span")]
    pub max_adaptive_delay: Duration,
    /// Longest Crawl-delay that is honoured; a longer one counts as this.
    #[serde(with = "span")]
    pub max_crawl_delay: Duration,
    /// A site that waits longer than this is parked.
    #[serde(with = "span")]
    pub park_after: Duration,
    /// Most requests at once to one IP address, over all sites there.
    pub per_address_concurrency: u32,
    /// Shortest time between the starts of two requests to one IP address, over all sites there; none where it is zero.
    #[serde(with = "span")]
    pub per_address_delay: Duration,
}

impl Default for PolitenessSettings {
    fn default() -> Self {
        Self {
            min_delay: 5 * SECOND,
            response_time_factor: 5,
            max_adaptive_delay: 60 * SECOND,
            max_crawl_delay: DAY,
            park_after: MINUTE,
            per_address_concurrency: 4,
            per_address_delay: Duration::from_millis(200),
        }
    }
}

/// How long a site is left alone after 429, 5xx or no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackoffSettings {
    /// The first wait; each further one is twice as long.
    #[serde(with = "span")]
    pub first: Duration,
    /// The longest wait of the ladder.
    #[serde(with = "span")]
    pub max: Duration,
    /// A wait is drawn out by up to this share, in percent, so that sites do not wake together.
    pub jitter_percent: u8,
}

impl Default for BackoffSettings {
    fn default() -> Self {
        Self { first: MINUTE, max: DAY, jitter_percent: 10 }
    }
}

/// How much is asked of a site in one cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetSettings {
    /// Most page requests of a site and cycle; may only be lowered.
    pub page_requests: u16,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { page_requests: super::MAX_PAGE_REQUESTS }
    }
}

/// robots.txt. It has no keys: how long a copy rules is fixed, 24 hours at most (RFC 9309 §2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RobotsSettings {}

/// Where sites come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscoveryMode {
    /// Only sites that were given as seeds are crawled.
    Seeds,
    /// Sites that links lead to are taken up too.
    Links,
}

/// Which sites are taken up, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiscoverySettings {
    /// Where sites come from.
    pub mode: DiscoveryMode,
    /// Most sites that are known; links to further ones are dropped, seeds are always taken.
    pub max_sites: u32,
    /// Most sites that are crawled at the same time.
    pub max_live_sites: u32,
    /// Most URLs that wait in the queue of one site.
    pub max_queued_urls: u32,
}

impl Default for DiscoverySettings {
    fn default() -> Self {
        Self { mode: DiscoveryMode::Seeds, max_sites: 100_000, max_live_sites: 2000, max_queued_urls: 1000 }
    }
}

/// When a site is crawled again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecrawlSettings {
    /// From the first page request of one cycle to the start of the next, of a site of which nothing is learnt yet.
    #[serde(with = "span")]
    pub interval: Duration,
    /// Shortest interval of a site whose pages change often.
    #[serde(with = "span")]
    pub min_interval: Duration,
    /// Longest interval of a site whose pages hardly change.
    #[serde(with = "span")]
    pub max_interval: Duration,
}

impl Default for RecrawlSettings {
    fn default() -> Self {
        Self { interval: 30 * DAY, min_interval: 7 * DAY, max_interval: 90 * DAY }
    }
}

/// Where and how records and state are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoreSettings {
    /// Folder of everything that the node keeps.
    pub data_dir: PathBuf,
    /// How long writes are gathered before they are written together.
    #[serde(with = "span")]
    pub batch_interval: Duration,
    /// Memory for rows that were read or written lately.
    #[serde(with = "size")]
    pub cache_bytes: u64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { data_dir: PathBuf::from("data"), batch_interval: Duration::from_millis(200), cache_bytes: 128 * MIB }
    }
}

/// The search index, and what counts in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// Whether there is a search index.
    pub enabled: bool,
    /// How long changes are gathered before they can be found.
    #[serde(with = "span")]
    pub commit_interval: Duration,
    /// Memory for changes that are not written yet, in bytes.
    #[serde(with = "size")]
    pub memory_bytes: u64,
    /// What a word in the title counts for; the weights of all fields stand to each other as these numbers do.
    pub title_weight: u32,
    /// The same for headings.
    pub headings_weight: u32,
    /// The same for the texts of links to the page.
    pub anchors_weight: u32,
    /// The same for the description.
    pub description_weight: u32,
    /// The same for the words of its address.
    pub url_weight: u32,
    /// The same for the name of its site.
    pub site_weight: u32,
    /// What a page gains for each tenfold of sites that link to it, in percent of its score.
    pub authority_weight: u32,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            commit_interval: 10 * SECOND,
            memory_bytes: 64 * MIB,
            title_weight: 8,
            headings_weight: 4,
            anchors_weight: 6,
            description_weight: 2,
            url_weight: 2,
            site_weight: 3,
            authority_weight: 15,
        }
    }
}

/// How the operator speaks to the running node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlSettings {
    /// Path of the Unix socket; `control.sock` in `store.data_dir` where it is empty.
    pub socket: PathBuf,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// From which level on lines are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// A person must act.
    Error,
    /// Odd, recovered.
    Warn,
    /// Start, stop, configuration, totals.
    Info,
    /// Per site.
    Debug,
    /// Per URL.
    Trace,
}

/// What the node says about itself while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetrySettings {
    /// How log lines look.
    pub log_format: LogFormat,
    /// From which level on they are written.
    pub level: LogLevel,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { log_format: LogFormat::Text, level: LogLevel::Info }
    }
}
