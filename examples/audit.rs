//! Crawls a practice web with every fault, stalls included, and prints what the auditor says of it as one line of JSON.
//! `cargo xtask audit` runs it for several seeds and numbers of threads.
//!
//! `audit SEED THREADS SITES`. Exit code: 0 when the crawl came to its end, whatever the verdict; 2 when it did not.
//! Delays are short, so that a web of two hundred sites takes a minute; the rules are the same.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use lohisoftbot::node::session::{Session, Until, WaitEnd};
use lohisoftbot::practice_web::PracticeWeb;
use lohisoftbot::practice_web::auditor::AuditRules;
use lohisoftbot::practice_web::faults::{FaultWeight, Faults, PageFault, RobotsKind};
use lohisoftbot::practice_web::labels::AnswerKind;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::{Config, HostPattern};
use lohisoftbot_core::identity::{Identity, UserAgentForm};
use lohisoftbot_core::seed::Seed;
use serde_json::{Value, json};

const MIN_DELAY: Duration = Duration::from_millis(120);
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// Waits that end sooner are waited for.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Violations that are told in full.
const NUM_TOLD: usize = 10;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [seed, threads, sites] = numbers[..] else {
        eprintln!("usage: audit SEED THREADS SITES");
        return ExitCode::from(2);
    };
    match actix_rt::System::new().block_on(audit(seed, threads, sites)) {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("audit: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn audit(seed: u64, threads: u64, sites: u64) -> anyhow::Result<Value> {
    let dir = tempfile::tempdir().context("cannot create a folder")?;
    let plan = PracticePlan {
        num_sites: usize::try_from(sites)?,
        pages_per_site: (4, 26),
        faults: Faults::all(),
        ..PracticePlan::demo(seed)
    };
    let web = PracticeWeb::start(PracticeWeb::generate(plan)).await?;
    ensure!(has_all_faults(&web), "{sites} sites are too few for every fault");
    let config = config(&web, dir.path(), u32::try_from(threads)?)?;
    let mut session = Session::open(&config).await?;
    session.add_seeds(web.seeds().iter().filter_map(|raw| Seed::parse(raw).ok()).collect()).await;
    let end = session.wait(Until::Idle { max_wait: MAX_WAIT }).await;
    session.close().await;
    let identity = Identity::new(&config.identity);
    let forms = [UserAgentForm::Contact, UserAgentForm::InfoUrl];
    let user_agents = forms.map(|form| identity.user_agent(form).to_owned()).to_vec();
    let verdict = web.audit(&AuditRules::new(MIN_DELAY, FIRST_BACKOFF, user_agents));
    web.shutdown().await;
    ensure!(end == WaitEnd::Idle, "the crawl ended with {end:?}");
    let told: Vec<String> = verdict
        .violations
        .iter()
        .take(NUM_TOLD)
        .map(|violation| format!("{}: {}: {}", violation.site, violation.kind.describe(), violation.detail))
        .collect();
    Ok(json!({
        "sites": verdict.num_sites(),
        "requests": verdict.num_requests,
        "waits": verdict.num_waits,
        "honoured": verdict.num_waits_honoured,
        "violations": verdict.violations.len(),
        "told": told,
    }))
}

/// Every kind of robots.txt, and every answer that makes a site wait.
fn has_all_faults(web: &PracticeWeb) -> bool {
    let robots: BTreeSet<RobotsKind> = web.sites().sites().iter().map(|site| site.robots).collect();
    let pages = || web.sites().sites().iter().flat_map(|site| &site.pages);
    let mut waits = PageFault::ALL.iter().filter(|fault| fault.weight() == FaultWeight::Heavy);
    robots.len() == RobotsKind::ALL.len()
        && waits.all(|fault| pages().any(|page| page.answer == AnswerKind::Fault(*fault)))
}

fn config(web: &PracticeWeb, dir: &Path, threads: u32) -> anyhow::Result<Config> {
    let mut config = Config::default();
    let ca_path = dir.join("practice-ca.pem");
    std::fs::write(&ca_path, web.ca_pem()).with_context(|| format!("cannot write {}", ca_path.display()))?;
    config.network.allow_ranges = vec!["127.0.0.0/8".parse().expect("a constant range parses")];
    config.network.extra_roots = vec![ca_path];
    for (pattern, address) in web.resolve_table() {
        config.network.resolve.insert(pattern.parse::<HostPattern>()?, address);
    }
    // Long enough that a busy machine does not look like a server that is silent: of a request that the node gives up, the log sees the
    // end only when the web gets its turn.
    config.network.first_byte_timeout = Duration::from_secs(5);
    config.network.idle_timeout = Duration::from_secs(5);
    config.network.total_timeout = Duration::from_secs(12);
    config.network.host_threads = threads;
    config.politeness.min_delay = MIN_DELAY;
    config.politeness.max_adaptive_delay = Duration::from_millis(400);
    config.politeness.park_after = Duration::from_secs(2);
    config.backoff.first = FIRST_BACKOFF;
    config.store.data_dir = dir.join("data");
    Ok(config)
}
