//! `lohisoftbot demo`: a practice web on this machine and a node on it, with delays short enough to watch.
//!
//! Nothing leaves the loopback. The verdict at the end is the practice web's: it judges by its own request log.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use lohisoftbot_actors::index::ReadStore;
use lohisoftbot_core::config::{Config, HostPattern, ListenAddress, LogLevel};
use lohisoftbot_core::identity::{Identity, UserAgentForm};
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::seed::Seed;

use crate::cli::{DemoArgs, in_one_line};
use crate::node::progress::{Lines, LogWriter, Progress};
use crate::node::session::{Session, Until, WaitEnd};
use crate::practice_web::PracticeWeb;
use crate::practice_web::auditor::AuditRules;
use crate::practice_web::plan::PracticePlan;
use crate::telemetry;

/// The demo's delay; the shipped configuration says 5 s.
const MIN_DELAY: Duration = Duration::from_millis(300);
/// The demo's first wait after a 429 or 5xx; the shipped configuration says 60 s.
const FIRST_BACKOFF: Duration = Duration::from_secs(2);
/// The demo ends when no wait ends within this time.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Records shown at the end.
const NUM_SHOWN_RECORDS: usize = 3;

/// The whole command. Exit code 0: crawled, no violation; 1: the auditor found one; 2: it could not begin or go on.
pub fn main(args: &DemoArgs) -> ExitCode {
    match actix_rt::System::new().block_on(demo(args)) {
        Ok(code) => code.into(),
        Err(error) => {
            // There is nobody left to tell when standard error is gone.
            let _ = writeln!(std::io::stderr(), "lohisoftbot demo: {}", in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

async fn demo(args: &DemoArgs) -> anyhow::Result<u8> {
    let progress = Progress::new();
    // A folder that nobody else has or had: a store that is there already would leave nothing to crawl.
    let dir = tempfile::Builder::new().prefix("lohisoftbot-demo-").tempdir().context("cannot create a folder")?.keep();
    let plan = PracticePlan { num_sites: args.sites as usize, ..PracticePlan::demo(args.seed) };
    let web = PracticeWeb::start(PracticeWeb::generate(plan)).await?;
    let config = config(&web, &dir)?;
    telemetry::init_with_writer(&config.telemetry, LogWriter::beside(&progress))?;
    progress.say(&format!(
        "A practice web of {} sites runs on 127.0.0.0/8, ports {} and {}; the node keeps its data in {}.",
        args.sites,
        web.ports().http,
        web.ports().https,
        dir.display()
    ));
    let mut session = Session::open(&config).await?;
    let seeds: Vec<Seed> = web.seeds().iter().filter_map(|raw| Seed::parse(raw).ok()).collect();
    session.add_seeds(seeds).await;
    let watching = progress.watch(session.node().stats(), Lines::Plain);
    let mut end = session.wait(Until::Idle { max_wait: MAX_WAIT }).await;
    watching.end();
    let num_violations = report(&session, &web, &config, &dir, args).await?;
    if end == WaitEnd::Idle && !args.until_idle {
        progress.say("\nThe node stays, for you to look at. Ctrl-C ends it.");
        end = session.wait(Until::Told).await;
    }
    session.close().await;
    web.shutdown().await;
    match end {
        WaitEnd::Fatal(why) => anyhow::bail!("the node could not go on: {why}"),
        WaitEnd::Idle | WaitEnd::Told => Ok(u8::from(num_violations > 0)),
    }
}

/// As shipped where that is free, else at any free port: a demo should not fail for what else runs on the machine.
fn search_page_address(shipped: ListenAddress) -> ListenAddress {
    match shipped {
        ListenAddress::At(address) if TcpListener::bind(address).is_err() => {
            ListenAddress::At(SocketAddr::new(address.ip(), 0))
        }
        ListenAddress::At(_) | ListenAddress::Off => shipped,
    }
}

/// The shipped configuration, turned to the practice web and made quicker.
fn config(web: &PracticeWeb, dir: &Path) -> anyhow::Result<Config> {
    let mut config = Config::default();
    config.web.listen = search_page_address(config.web.listen);
    let ca_path = dir.join("practice-ca.pem");
    std::fs::write(&ca_path, web.ca_pem()).with_context(|| format!("cannot write {}", ca_path.display()))?;
    let loopback = "127.0.0.0/8".parse().expect("a constant range parses");
    config.network.allow_ranges = vec![loopback];
    config.network.extra_roots = vec![ca_path];
    for (pattern, address) in web.resolve_table() {
        config.network.resolve.insert(pattern.parse::<HostPattern>()?, address);
    }
    config.network.first_byte_timeout = Duration::from_secs(3);
    config.network.idle_timeout = Duration::from_secs(3);
    config.network.total_timeout = Duration::from_secs(8);
    config.politeness.min_delay = MIN_DELAY;
    config.politeness.max_adaptive_delay = Duration::from_secs(3);
    config.politeness.park_after = Duration::from_secs(5);
    config.backoff.first = FIRST_BACKOFF;
    config.store.data_dir = dir.join("data");
    config.telemetry.level = LogLevel::Warn;
    Ok(config)
}

/// Prints what came of it; gives the number of violations.
async fn report(
    session: &Session,
    web: &PracticeWeb,
    config: &Config,
    dir: &Path,
    args: &DemoArgs,
) -> anyhow::Result<usize> {
    let identity = Identity::new(&config.identity);
    let user_agents = [UserAgentForm::Contact, UserAgentForm::InfoUrl].map(|form| identity.user_agent(form).to_owned());
    let politeness = &config.politeness;
    let rules = AuditRules::new(MIN_DELAY, FIRST_BACKOFF, user_agents.to_vec())
        .with_addresses(politeness.per_address_concurrency as usize, politeness.per_address_delay);
    let verdict = web.audit(&rules);
    let stats = session.node().stats();
    let parked = session.parked().await;
    let records = session.node().sample_records(NUM_SHOWN_RECORDS).await;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nWhat the node did")?;
    writeln!(out, "  sites            {}", web.sites().sites().len())?;
    writeln!(out, "  pages kept       {}", stats.num_pages_stored.get())?;
    writeln!(
        out,
        "  requests         {} pages, {} robots.txt",
        stats.num_page_requests.get(),
        stats.num_robots_requests.get()
    )?;
    writeln!(out, "  waits honoured   {}", stats.num_waits.get())?;
    writeln!(out, "  still waiting    {} sites", parked.len())?;
    writeln!(out, "\nThree of the stored records")?;
    for record in &records {
        show_record(&mut out, record)?;
    }
    let socket = config.socket_path();
    writeln!(out, "\nLook further")?;
    if !args.until_idle {
        if let Some(url) = session.search_page() {
            writeln!(out, "  the search page: {url}")?;
        }
        writeln!(out, "  cargo run --release --bin lohisoftbot-ctl -- --socket {} sites", socket.display())?;
        if let Some(record) = records.first() {
            writeln!(
                out,
                "  cargo run --release --bin lohisoftbot-ctl -- --socket {} explain '{}'",
                socket.display(),
                record.url
            )?;
        }
        writeln!(out, "  after it has ended:")?;
    }
    writeln!(
        out,
        "  cargo run --release --bin lohisoftbot-dump -- --store {} pages --limit 20",
        dir.join("data").display()
    )?;
    writeln!(out, "\nWhat the practice web's auditor saw in its own request log")?;
    writeln!(out, "{verdict}")?;
    out.flush()?;
    Ok(verdict.violations.len())
}

fn show_record(out: &mut impl Write, record: &PageRecord) -> std::io::Result<()> {
    writeln!(out, "  {}", record.url)?;
    writeln!(out, "    title        {}", record.title.as_deref().unwrap_or("-"))?;
    writeln!(out, "    description  {}", record.description.as_deref().unwrap_or("-"))?;
    let headings: Vec<String> =
        record.headings.iter().take(4).map(|heading| format!("h{} {}", heading.level, heading.text)).collect();
    writeln!(out, "    headings     {}", headings.join(" | "))
}

impl crate::node::Node {
    /// A few stored records that have a title, a description and headings, of different sites.
    pub async fn sample_records(&self, num_records: usize) -> Vec<PageRecord> {
        let read = ReadStore::flushed(move |store| {
            let mut records = Vec::new();
            for row in store.sites_after(None, 1000)? {
                let pages = store.pages_of(&row.site)?;
                let is_full =
                    |page: &PageRecord| page.title.is_some() && page.description.is_some() && !page.headings.is_empty();
                records.extend(pages.into_iter().find(is_full));
                if records.len() == num_records {
                    break;
                }
            }
            Ok(records)
        });
        match self.index.send(read).await {
            Ok(Ok(records)) => records,
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }
}
