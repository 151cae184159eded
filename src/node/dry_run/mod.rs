//! `lohisoftbot run --dry-run`: what a run would crawl, in what order and at what cost.
//!
//! It sends nothing, not even a question to a name server, and writes nothing into the data directory: what a stopped node knew is read
//! off a copy of its store. What follows from that is decided in [`lohisoftbot_core::forecast`]. With a running node there it refuses:
//! that node's store cannot be read, and figures without it would be wrong.

mod refused;
mod shown;
mod stored;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::forecast::{RunForecast, RunLimits, SiteOutlook, forecast};
use lohisoftbot_core::identity::IdentityStanding;
use lohisoftbot_core::politeness::Seed;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SeedTaken, take_seed};
use lohisoftbot_core::time::Timestamp;

use self::refused::{RefusedSeed, SeedRules};
use self::stored::{StoredSite, StoredSites};
use super::assemble;
use crate::check::holds_address;
use crate::cli::RunArgs;
use crate::config_file;
use crate::ctl::{Surface, render};
use crate::io::data_dir::DataDir;
use crate::io::host_overrides::HostOverrides;
use crate::seeds_file::{self, SeedsFile};

/// All that a dry run found out.
struct DryRun {
    data_dir: DataDir,
    knows_a_store: bool,
    num_seeds: usize,
    refused: Vec<RefusedSeed>,
    forecast: RunForecast,
    notes: Vec<String>,
    now: Timestamp,
}

/// The whole command; writes to standard output.
pub fn main(args: &RunArgs) -> anyhow::Result<()> {
    let dry_run = look_ahead(args)?;
    let answer = shown::as_json(&dry_run);
    let mut out = std::io::stdout();
    let surface = if out.is_terminal() { Surface::Terminal } else { Surface::Plain };
    let text = if args.json { format!("{answer}\n") } else { render(&shown::for_people(&answer), surface) };
    match out.write_all(text.as_bytes()) {
        // Whoever reads, `head` for one, has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn look_ahead(args: &RunArgs) -> anyhow::Result<DryRun> {
    let config = config_file::load(&args.config, std::env::vars_os())?.config;
    let SeedsFile { seeds, bad_lines } = match &args.seeds {
        Some(path) => seeds_file::read(path)?,
        None => SeedsFile::default(),
    };
    let now = super::AnchoredClock::from_system();
    let now = lohisoftbot_actors::ports::Clock::now(&now);
    let overrides = HostOverrides::new(config.network.resolve.iter())?;
    let stored = StoredSites::read(&DataDir::new(&config.store.data_dir))?;
    let (data_dir, knows_a_store, num_seeds) =
        (DataDir::new(&config.store.data_dir), stored.is_some(), seeds.len() + bad_lines.len());
    let nobody = Exclusions::default();
    let exclusions = stored.as_ref().map_or(&nobody, StoredSites::exclusions);

    let seed_rules = SeedRules { exclusions, overrides: &overrides, allowed: &config.network.allow_ranges };
    let mut refused: Vec<RefusedSeed> = bad_lines.iter().map(RefusedSeed::of_line).collect();
    let mut by_site: BTreeMap<Site, Vec<Seed>> = BTreeMap::new();
    for seed in seeds {
        match seed_rules.refuse(&seed) {
            Some(refusal) => refused.push(refusal),
            None => {
                let of_site = by_site.entry(seed.url.site()).or_default();
                if take_seed(of_site, seed.clone()) == SeedTaken::NoRoom {
                    refused.push(RefusedSeed::over_cap(&seed));
                }
            }
        }
    }

    let (rules, max_body_bytes) = (assemble::site_rules(&config), config.network.max_body_bytes);
    let mut outlooks = Vec::new();
    if let Some(stored) = &stored {
        stored.each(|StoredSite { row, queue, robots }| {
            let seeds = by_site.remove(&row.site).unwrap_or_default();
            outlooks.push(SiteOutlook::of_known(&row, &queue, &robots, &seeds, &rules, max_body_bytes, now));
        })?;
    }
    for (site, seeds) in by_site {
        outlooks.push(SiteOutlook::of_new(site, &seeds, &rules, max_body_bytes, now));
    }
    for outlook in &mut outlooks {
        let host = outlook.site.as_str();
        outlook.address = host.parse().ok().or_else(|| overrides.address_of(host));
    }
    let limits = RunLimits {
        max_live_sites: config.discovery.max_live_sites as usize,
        park_after: config.politeness.park_after,
        per_address_delay: config.politeness.per_address_delay,
    };
    let standing = IdentityStanding::of(&config, holds_address);
    let notes = shown::notes(&config, standing.may_crawl_public().err(), outlooks.len());
    Ok(DryRun { data_dir, knows_a_store, num_seeds, refused, forecast: forecast(outlooks, &limits, now), notes, now })
}
