//! Crawls a practice web with every fault, stalls and barriers included, and prints what the auditor says of it, and what became of the
//! barriers and of what only looks like one, as one line of JSON. `cargo xtask audit` runs it for several seeds and numbers of threads.
//!
//! `audit SEED THREADS SITES SHARED`, of which the last is how many of the sites share one address. Exit code: 0 when the crawl came to its
//! end, whatever the verdict; 2 when it did not. Delays are short, the one at a shared address aside; the rules are the same.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use lohisoftbot::io::data_dir::DataDir;
use lohisoftbot::io::sled_store::{SledStore, StoreOptions};
use lohisoftbot::node::session::{Session, Until, WaitEnd};
use lohisoftbot::practice_web::PracticeWeb;
use lohisoftbot::practice_web::auditor::AuditRules;
use lohisoftbot::practice_web::faults::{FaultWeight, Faults, LOOK_ALIKES, PageFault, RobotsKind};
use lohisoftbot::practice_web::labels::{AnswerKind, UrlLabel};
use lohisoftbot::practice_web::log::LogEntry;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::{Config, HostPattern, ListenAddress};
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
    let [seed, threads, sites, shared] = numbers[..] else {
        eprintln!("usage: audit SEED THREADS SITES SHARED");
        return ExitCode::from(2);
    };
    match actix_rt::System::new().block_on(audit(seed, threads, sites, shared)) {
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

async fn audit(seed: u64, threads: u64, sites: u64, shared: u64) -> anyhow::Result<Value> {
    let dir = tempfile::tempdir().context("cannot create a folder")?;
    let plan = PracticePlan {
        num_sites: usize::try_from(sites)?,
        num_shared_address_sites: usize::try_from(shared)?,
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
    let kept = Kept::of(&web, &config)?;
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
        "at_shared_address": verdict.addresses.values().map(|address| address.num_sites).max(),
        "max_at_once_there": verdict.addresses.values().map(|address| address.max_at_once).max(),
        "barriers_asked": kept.num_barriers_asked,
        "barriers_stored": kept.barriers_stored,
        "look_alikes_asked": kept.num_look_alikes_asked,
        "look_alikes_lost": kept.look_alikes_lost,
        "violations": verdict.violations.len(),
        "told": told,
    }))
}

/// What became of pages that are barriers, and of those that only look like one.
struct Kept {
    num_barriers_asked: usize,
    barriers_stored: Vec<String>,
    num_look_alikes_asked: usize,
    look_alikes_lost: Vec<String>,
}

impl Kept {
    /// By the labels of the web, its request log, and the store of the node that is closed now.
    fn of(web: &PracticeWeb, config: &Config) -> anyhow::Result<Self> {
        let (store, _) = SledStore::open(&DataDir::new(&config.store.data_dir), StoreOptions::default())?;
        let stored: BTreeSet<String> =
            store.pages(None).map(|page| page.map(|page| page.url.as_str().to_owned())).collect::<Result<_, _>>()?;
        let asked: BTreeSet<String> = web.log().entries().iter().filter_map(LogEntry::url).collect();
        let is_asked = |label: &&UrlLabel| asked.contains(&label.url);
        let labels = web.labels();
        let of_fault = |is_wanted: fn(PageFault) -> bool| {
            let is_it = move |label: &&UrlLabel| matches!(label.answer, AnswerKind::Fault(fault) if is_wanted(fault));
            labels.iter().filter(is_it).filter(is_asked).map(|label| label.url.clone()).collect::<Vec<_>>()
        };
        let barriers = of_fault(|fault| fault.weight() == FaultWeight::Barrier);
        let look_alikes = of_fault(|fault| LOOK_ALIKES.contains(&fault));
        Ok(Self {
            num_barriers_asked: barriers.len(),
            barriers_stored: barriers.into_iter().filter(|url| stored.contains(url)).collect(),
            num_look_alikes_asked: look_alikes.len(),
            look_alikes_lost: look_alikes.into_iter().filter(|url| !stored.contains(url)).collect(),
        })
    }
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
    config.web.listen = ListenAddress::Off;
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
