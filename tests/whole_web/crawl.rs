//! The crawl that all tests of `whole_web` look at. It is made once, by whichever of them comes first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use lohisoftbot::control::Command;
use lohisoftbot::practice_web::auditor::AuditReport;
use lohisoftbot::practice_web::faults::{Faults, RobotsKind, SitemapKind};
use lohisoftbot::practice_web::labels::{AnswerKind, UrlLabel};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::plan::{Canaries, PracticePlan};
use lohisoftbot_core::config::LogLevel;
use rustix::process::Signal;
use serde_json::Value;

use super::explained::{self, Explained};
use crate::harness::{Rig, files_with_trace, holds_trace};

/// Three times what every fault needs; half of the sites have an odd robots.txt until each kind was shown.
pub const NUM_SITES: usize = 210;

/// The words that are looked for: the one of a title, which is kept, then those of paragraphs, which are not.
pub const CANARIES: [&str; 3] = ["hjbrunkeltasovy", "qzwkuvortemplix", "wvyquzdrombafel"];

/// What one site was planned to be.
pub struct Planned {
    pub name: String,
    pub robots: RobotsKind,
    pub is_open: bool,
    pub sitemap: Option<SitemapKind>,
}

/// All that is left of the crawl.
pub struct Crawl {
    pub plans: Vec<Planned>,
    pub labels: Vec<UrlLabel>,
    pub entries: Vec<LogEntry>,
    pub report: AuditReport,
    pub pages: Vec<BTreeMap<String, Value>>,
    pub sites: Vec<BTreeMap<String, Value>>,
    /// Where each of [`CANARIES`] was found: files, or the name of what is no file.
    pub traces: BTreeMap<&'static str, Vec<PathBuf>>,
    pub records_dir: PathBuf,
    /// Everything the node said, at level trace.
    pub said: String,
    /// What the node says of its own ledger.
    pub ledger_audit: Value,
    /// Requests in the log when it was asked.
    pub num_logged: usize,
    /// What it says of one URL of each kind.
    pub explained: Vec<Explained>,
    /// Everything it answered on its control socket.
    pub answers: String,
}

/// The crawl.
pub fn crawl() -> &'static Crawl {
    static CRAWL: LazyLock<Crawl> = LazyLock::new(make);
    &CRAWL
}

fn make() -> Crawl {
    let [title, paragraph, panic] = CANARIES.map(str::to_owned);
    let plan = PracticePlan {
        num_sites: NUM_SITES,
        pages_per_site: (4, 26),
        base_address: [127, 72, 0, 0].into(),
        faults: Faults::all(),
        canaries: Some(Canaries { paragraph, title, panic }),
        ..PracticePlan::demo(72)
    };
    let rig = Rig::start(plan, |config| {
        config.telemetry.level = LogLevel::Trace;
        // So many sites at the usual pace of tests would leave no processor to the tests beside.
        config.politeness.min_delay = Duration::from_millis(300);
        config.politeness.max_adaptive_delay = Duration::from_secs(1);
        // A web that answers two hundred sites and is not scheduled for a moment notes two starts as one.
        config.politeness.per_address_delay = Duration::from_millis(200);
        // Nor may a machine that is busy for a moment look like two hundred servers that are silent.
        config.network.first_byte_timeout = Duration::from_secs(4);
        config.network.idle_timeout = Duration::from_secs(4);
        config.network.total_timeout = Duration::from_secs(8);
    });
    let mut node = rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]);
    rig.wait_for_log("the end of the page that makes its reading panic", |entries| {
        entries.iter().any(|entry| entry.path == "/fail-point/" && entry.end.is_some())
    });
    let mut answers = all_answers(&rig);
    node.expect_end(0);
    let (pages, sites) = (rig.rows(&["pages"]), rig.rows(&["sites"]));
    rig.dump(&["verify"]).expect_code(0);

    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    answers += &all_answers(&rig);
    // What is sent while the node answers may be in the one and not yet in the other.
    let num_logged = rig.web().log().num_requests();
    let ledger_audit = rig.ask_at_once(&Command::Audit { site: None });
    let explained = explained::one_of_each(&rig);
    node.signal(Signal::TERM);
    node.expect_end(0);
    let config = rig.path("config.toml");
    rig.dump(&["audit", "--config", config.to_str().unwrap()]).expect_code(0);

    let said = node.said();
    let traces = CANARIES.map(|word| {
        let mut found = files_with_trace(&rig.path(""), word);
        if holds_trace(answers.as_bytes(), word) {
            found.push("answers of the control socket".into());
        }
        (word, found)
    });
    let plans = rig.web().sites().sites().iter();
    let planned = |site: &lohisoftbot::practice_web::site_plan::SitePlan| Planned {
        name: site.name.clone(),
        robots: site.robots,
        is_open: site.is_open(),
        sitemap: site.sitemap,
    };
    Crawl {
        plans: plans.map(planned).collect(),
        labels: rig.web().labels(),
        entries: rig.web().log().entries(),
        report: rig.audit(),
        pages,
        sites,
        traces: traces.into(),
        records_dir: rig.data_dir().join("records"),
        said,
        ledger_audit,
        num_logged,
        explained,
        answers,
    }
}

/// Asks about everything there is.
fn all_answers(rig: &Rig) -> String {
    let mut answers = String::new();
    let mut ask = |words: &[&str]| answers += &rig.ctl(words).stdout;
    for words in [&["status"][..], &["sites", "--limit", "1000"], &["exclusions"]] {
        ask(words);
        ask(&[&["--json"], words].concat());
    }
    for site in rig.web().sites().sites() {
        ask(&["--json", "site", &site.name]);
    }
    for label in rig.web().labels() {
        if matches!(label.answer, AnswerKind::PanicPage | AnswerKind::Fault(_)) {
            ask(&["--json", "explain", &label.url]);
        }
    }
    answers
}
