//! `lohisoftbot run`: reads configuration and seeds, runs a node, and says how it ended.

use std::io::Write;
use std::process::ExitCode;

use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;

use super::dry_run;
use super::progress::{Lines, LogWriter, Progress};
use super::session::{Session, Until, WaitEnd};
use crate::cli::{RunArgs, in_one_line};
use crate::seeds_file::{self, SeedsFile};
use crate::{config_file, telemetry};

/// Most parked sites that are listed at the end.
const MAX_LISTED_PARKED: usize = 50;

/// The whole command. Exit code 0: it ended as asked; 2: it could not begin, or could not go on.
pub fn main(args: &RunArgs) -> ExitCode {
    let done = if args.dry_run { dry_run::main(args) } else { run(args) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody left to tell when standard error is gone.
            let _ = writeln!(std::io::stderr(), "lohisoftbot: {}", in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

fn run(args: &RunArgs) -> anyhow::Result<()> {
    let config = config_file::load(&args.config, std::env::vars_os())?.config;
    let seeds = match &args.seeds {
        Some(path) => seeds_file::read(path)?,
        None => SeedsFile::default(),
    };
    let progress = Progress::new();
    telemetry::init_with_writer(&config.telemetry, LogWriter::beside(&progress))?;
    for line in &seeds.bad_lines {
        progress.say(&format!("{}: {line}", args.seeds.as_deref().unwrap_or(std::path::Path::new("-")).display()));
    }
    let until = if args.until_idle { Until::Idle { max_wait: args.max_wait } } else { Until::Told };
    actix_rt::System::new().block_on(async {
        let mut session = Session::open(&config).await?;
        tracing::info!(
            data_dir = %config.store.data_dir.display(),
            socket = %config.socket_path().display(),
            user_agent = lohisoftbot_core::identity::Identity::new(&config.identity)
                .user_agent(lohisoftbot_core::identity::UserAgentForm::Contact),
            "node started"
        );
        let counts = session.add_seeds(seeds.seeds).await;
        tracing::info!(
            num_new_sites = counts.num_new_sites,
            num_known_sites = counts.num_known_sites,
            num_excluded = counts.num_excluded,
            "seeds taken"
        );
        let watching = progress.watch(session.node().stats(), Lines::OfTheLog);
        let end = session.wait(until).await;
        watching.end();
        let parked = if until == Until::Told { Vec::new() } else { session.parked().await };
        let totals = super::progress::totals(&session.node().stats());
        let now = session.node().now();
        session.close().await;
        match end {
            WaitEnd::Idle => {
                progress.say(&format!("idle: {totals}"));
                list_parked(&progress, &parked, now);
                Ok(())
            }
            WaitEnd::Told => {
                progress.say(&format!("stopped: {totals}"));
                Ok(())
            }
            WaitEnd::Fatal(why) => Err(anyhow::anyhow!("the node could not go on: {why}")),
        }
    })
}

fn list_parked(progress: &Progress, parked: &[SiteRow], now: Timestamp) {
    if parked.is_empty() {
        return;
    }
    progress.say(&format!("{} sites stay parked:", parked.len()));
    for row in parked.iter().take(MAX_LISTED_PARKED) {
        if let SiteStanding::Parked { reason } = row.standing {
            let minutes = row.due_at.since(now).as_secs().div_ceil(60);
            progress.say(&format!("  {} until {} ({minutes} min): {}", row.site, row.due_at, reason.describe()));
        }
    }
    if parked.len() > MAX_LISTED_PARKED {
        progress
            .say(&format!("  and {} more: `lohisoftbot-ctl sites --state parked`", parked.len() - MAX_LISTED_PARKED));
    }
}
