//! A practice web in this process, and beside it the settings, seeds and folders of a node that crawls it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lohisoftbot::control::{Command, ControlClient};
use lohisoftbot::practice_web::PracticeWeb;
use lohisoftbot::practice_web::auditor::{AuditReport, AuditRules};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::{Config, ListenAddress};
use lohisoftbot_core::identity::{Identity, UserAgentForm};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::process::{Ran, RunningNode, ctl_binary, dump_binary, run_binary};

/// Longest wait for something that the request log must show; whatever takes longer will never come.
const MAX_LOG_WAIT: Duration = Duration::from_secs(120);

/// A practice web with the settings of a node for it.
pub struct Rig {
    web: PracticeWeb,
    runtime: Runtime,
    dir: TempDir,
    config: Config,
}

impl Rig {
    /// Starts the web of `plan`; the node's settings are the quick ones, changed by `adjust`.
    pub fn start(plan: PracticePlan, adjust: impl FnOnce(&mut Config)) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let web = runtime.block_on(PracticeWeb::start(PracticeWeb::generate(plan))).unwrap();
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        let ca_path = dir.path().join("practice-ca.pem");
        std::fs::write(&ca_path, web.ca_pem()).unwrap();
        let mut config = quick_config(dir.path());
        config.network.extra_roots = vec![ca_path];
        for (pattern, address) in web.resolve_table() {
            config.network.resolve.insert(pattern.parse().unwrap(), address);
        }
        adjust(&mut config);
        write_config(&dir.path().join("config.toml"), &config);
        std::fs::write(dir.path().join("seeds.txt"), web.seeds().join("\n")).unwrap();
        Self { web, runtime, dir, config }
    }

    /// The web.
    pub fn web(&self) -> &PracticeWeb {
        &self.web
    }

    /// Changes the settings for the next node that starts.
    pub fn change_config(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        write_config(&self.path("config.toml"), &self.config);
    }

    /// A path in the rig's own folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The node's data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.config.store.data_dir.clone()
    }

    /// The node's control socket.
    pub fn socket(&self) -> PathBuf {
        self.config.socket_path()
    }

    /// Starts `lohisoftbot run` with the rig's configuration and these further arguments.
    pub fn node(&self, args: &[&str]) -> RunningNode {
        let config = self.path("config.toml");
        let words = ["run", "--config", config.to_str().unwrap()];
        RunningNode::start(words.iter().chain(args), &self.path("said.txt"), &self.path("tmp"))
    }

    /// The same with the home page of every site as a seed.
    pub fn node_with_seeds(&self, args: &[&str]) -> RunningNode {
        let seeds = self.path("seeds.txt");
        self.node(&[&["--seeds", seeds.to_str().unwrap()], args].concat())
    }

    /// Asks the running node by its command line tool.
    pub fn ctl(&self, words: &[&str]) -> Ran {
        let socket = self.config.socket_path();
        run_binary(ctl_binary(), ["--socket", socket.to_str().unwrap()].iter().chain(words))
    }

    /// The same as JSON; the node must not say no.
    #[track_caller]
    pub fn ask(&self, words: &[&str]) -> Value {
        self.ctl(&[&["--json"], words].concat()).expect_code(0).json()
    }

    /// Asks without the start of a process in between; the node must not say no.
    #[track_caller]
    pub fn ask_at_once(&self, command: &Command) -> Value {
        ControlClient::connect(&self.config.socket_path()).unwrap().call(command).unwrap().unwrap()
    }

    /// Waits until the node has started: its socket is there before, but answers no sooner.
    #[track_caller]
    pub fn wait_for_start(&self, node: &mut RunningNode) {
        let socket = self.config.socket_path();
        node.wait_until("the node answers", || {
            ControlClient::connect(&socket).is_ok_and(|mut client| client.call(&Command::Status).is_ok())
        });
    }

    /// Looks into the stopped node's store.
    pub fn dump(&self, words: &[&str]) -> Ran {
        let store = self.data_dir();
        run_binary(dump_binary(), ["--store", store.to_str().unwrap()].iter().chain(words))
    }

    /// All rows of one kind in the stopped node's store.
    #[track_caller]
    pub fn rows(&self, words: &[&str]) -> Vec<BTreeMap<String, Value>> {
        let ran = self.dump(&[&["--format", "jsonl"], words].concat()).expect_code(0);
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until the request log fulfils a condition.
    #[track_caller]
    pub fn wait_for_log(&self, what: &str, condition: impl FnMut(&[LogEntry]) -> bool) {
        let waited = self
            .runtime
            .block_on(async { tokio::time::timeout(MAX_LOG_WAIT, self.web.log().wait_until(condition)).await });
        assert!(waited.is_ok(), "the log never showed {what}; it has {} requests", self.web.log().num_requests());
    }

    /// What the auditor has to say, by the rig's own settings.
    pub fn audit(&self) -> AuditReport {
        self.web.audit(&self.audit_rules())
    }

    /// The rules of that audit.
    pub fn audit_rules(&self) -> AuditRules {
        let identity = Identity::new(&self.config.identity);
        let forms = [UserAgentForm::Contact, UserAgentForm::InfoUrl];
        let user_agents = forms.map(|form| identity.user_agent(form).to_owned()).to_vec();
        let politeness = &self.config.politeness;
        AuditRules::new(politeness.min_delay, self.config.backoff.first, user_agents)
            .with_addresses(politeness.per_address_concurrency as usize, politeness.per_address_delay)
    }

    /// Wants the auditor to find nothing.
    #[track_caller]
    pub fn expect_no_violation(&self) -> AuditReport {
        let report = self.audit();
        assert!(report.is_clean(), "{report}");
        report
    }
}

/// Settings of a node for the loopback, quick enough for tests. Its data lies in `dir`.
pub fn quick_config(dir: &Path) -> Config {
    let mut config = Config::default();
    // Nodes of many tests run at once; those that look at the pages open them at a port of their own.
    config.web.listen = ListenAddress::Off;
    config.network.allow_ranges = vec!["127.0.0.0/8".parse().unwrap()];
    config.network.first_byte_timeout = Duration::from_millis(1500);
    config.network.idle_timeout = Duration::from_millis(1500);
    config.network.total_timeout = Duration::from_secs(6);
    config.politeness.min_delay = Duration::from_millis(120);
    config.politeness.max_adaptive_delay = Duration::from_millis(400);
    config.politeness.park_after = Duration::from_secs(2);
    config.politeness.per_address_delay = Duration::from_millis(60);
    config.backoff.first = Duration::from_millis(500);
    config.store.data_dir = dir.join("data");
    config
}

/// Writes settings as a file.
pub fn write_config(path: &Path, config: &Config) {
    std::fs::write(path, toml::to_string(config).unwrap()).unwrap();
}
