//! The settings of a node, typed, with their defaults.
//!
//! Nothing here reads a file or the environment: the root package does, and hands in what it read through serde. A
//! [`Config`] that was read is used only when [`Config::problems`] finds nothing; the defaults have none.

mod addresses;
mod bounds;
mod quantity;
mod sections;
mod web;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use addresses::{HostPattern, HostPatternError, NameServer, NameServerError, ResolveTable, is_host_name};
pub use bounds::ConfigProblem;
pub use quantity::{QuantityError, parse_size, parse_span, show_size, show_span};
pub use sections::{
    BackoffSettings, BudgetSettings, ControlSettings, DiscoveryMode, DiscoverySettings, IdentitySettings, LogFormat,
    LogLevel, NetworkSettings, PolitenessSettings, RecrawlSettings, RobotsSettings, SearchSettings, StoreSettings,
    TelemetrySettings,
};
pub use web::{ListenAddress, ListenAddressError, ProxyRange, ProxyRangeError, WebSettings};

/// Page requests of a site and cycle that the operator promises never to exceed.
pub const MAX_PAGE_REQUESTS: u16 = 20;
/// Shortest delay between requests that can be configured, for tests; a public site deserves a second at least.
pub const LEAST_MIN_DELAY: Duration = Duration::from_millis(1);
/// Shortest time from one cycle of a site to the next that can be configured, for tests.
pub const LEAST_RECRAWL_INTERVAL: Duration = Duration::from_secs(1);

/// All settings of a node, one field a section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Who the bot says it is.
    pub identity: IdentitySettings,
    /// How requests leave.
    pub network: NetworkSettings,
    /// Delays between requests.
    pub politeness: PolitenessSettings,
    /// Waits after failures.
    pub backoff: BackoffSettings,
    /// Requests of a site and cycle.
    pub budget: BudgetSettings,
    /// robots.txt.
    pub robots: RobotsSettings,
    /// Which sites are taken up.
    pub discovery: DiscoverySettings,
    /// When a site is crawled again.
    pub recrawl: RecrawlSettings,
    /// What is kept, and where.
    pub store: StoreSettings,
    /// The search index.
    pub search: SearchSettings,
    /// The web pages.
    pub web: WebSettings,
    /// The control socket.
    pub control: ControlSettings,
    /// Logs.
    pub telemetry: TelemetrySettings,
}

impl Config {
    /// Every key whose value cannot be used, with what to write instead; empty where all is well.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        bounds::problems(self)
    }

    /// Where the control socket lies.
    pub fn socket_path(&self) -> PathBuf {
        if self.control.socket.as_os_str().is_empty() {
            self.store.data_dir.join("control.sock")
        } else {
            self.control.socket.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_have_no_problem() {
        assert_eq!(Config::default().problems(), Vec::new());
    }

    #[test]
    fn socket_lies_in_the_data_folder_unless_it_is_named() {
        let mut config = Config::default();
        assert_eq!(config.socket_path(), PathBuf::from("data/control.sock"));
        config.control.socket = "/run/bot.sock".into();
        assert_eq!(config.socket_path(), PathBuf::from("/run/bot.sock"));
    }
}
