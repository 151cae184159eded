//! What was typed: the options and subcommands of `lohisoftbot-ctl`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use lohisoftbot_core::search::{DEFAULT_RESULTS_PER_PAGE, MAX_OFFSET, MAX_RESULTS_PER_PAGE, Query, SearchRequest};
use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::site::Site;

use crate::control::command::{
    DEFAULT_LEDGER_LINES, DEFAULT_LISTED_SITES, MAX_LEDGER_LINES, MAX_LISTED_SITES, Since, domain, quoted, site,
};
use crate::control::{AskedUrl, Command, ControlError, ErrorCode, SiteFilter};

/// Ask a running LohiSoftBot node. Exit code 0: done; 1: the node said no; 2: it could not be asked.
#[derive(Clone, Debug, Parser)]
#[command(name = "lohisoftbot-ctl", version, about)]
pub struct Args {
    /// The control socket of the node [default: that of the configuration]
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// The configuration that names the socket [default: config.toml, where there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the answer as one line of JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// What to ask.
    #[command(subcommand)]
    pub question: Question,
}

/// One subcommand for each command of the node.
#[derive(Clone, Debug, Subcommand)]
pub enum Question {
    /// How the node is
    Status,
    /// Take up sites to crawl, each given as URL or host
    Seed {
        /// URLs or hosts
        #[arg(required = true, value_name = "URL")]
        urls: Vec<String>,
    },
    /// All about one site
    Site {
        /// A host name or URL of the site
        site: String,
    },
    /// The known sites, in the order of the store
    Sites {
        /// Only those in this state
        #[arg(long, value_enum, default_value_t = StateArg::All)]
        state: StateArg,
        /// Only those after this one: the next page of a list
        #[arg(long, value_name = "SITE")]
        after: Option<String>,
        /// How many
        #[arg(long, default_value_t = DEFAULT_LISTED_SITES, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LISTED_SITES)))]
        limit: u32,
    },
    /// Why a URL was fetched, or not
    Explain {
        /// The URL
        url: String,
    },
    /// What was asked of a site and how it ended, with the waits in between; the newest last
    Ledger {
        /// A host name or URL of the site
        site: String,
        /// How many lines, the newest ones
        #[arg(long, default_value_t = DEFAULT_LEDGER_LINES, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LEDGER_LINES)))]
        limit: u32,
        /// Only since then: a moment (2026-11-30) or a span back from now (7d)
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only lines whose number (seq) is smaller: the page before
        #[arg(long, value_name = "SEQ")]
        before: Option<u64>,
    },
    /// Hold the whole ledger against the promises; exit code 1 where one was broken
    Audit {
        /// Of this site alone
        #[arg(long)]
        site: Option<String>,
    },
    /// Write what happens as JSON lines, as it happens, until interrupted
    Watch {
        /// At this site alone
        #[arg(long)]
        site: Option<String>,
    },
    /// Write all records as JSON lines; the last line is their count
    Export {
        /// Of this site alone
        #[arg(long)]
        site: Option<String>,
    },
    /// Take a domain and all below it out: no request, no record, no link is left when this returns
    Exclude {
        /// The domain
        domain: String,
        /// Why, in your words; it is kept with the exclusion
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Take an excluded domain back in
    Include {
        /// The domain
        domain: String,
    },
    /// All domains that are excluded
    Exclusions,
    /// Crawl a finished site before its interval is over, with the page requests that the interval still holds
    Recrawl {
        /// A host name or URL of the site
        site: String,
    },
    /// Search the stored pages, as the search page does
    Search {
        /// Words; "phrases", -without, site:, lang: and intitle: are understood
        #[arg(required = true, value_name = "WORDS")]
        words: Vec<String>,
        /// Only pages of this site, all that match
        #[arg(long)]
        site: Option<String>,
        /// How many results to pass over
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_OFFSET)))]
        offset: u32,
        /// How many results
        #[arg(long, default_value_t = DEFAULT_RESULTS_PER_PAGE, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RESULTS_PER_PAGE)))]
        limit: u32,
    },
    /// Build the search index anew from the store while the old one serves; returns when it does
    Reindex,
    /// Send no further request until `resume`
    Pause,
    /// Go on after `pause`
    Resume,
    /// End the node in order
    Shutdown,
}

/// The states that sites can be listed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateArg {
    /// Every known site
    All,
    /// Crawled now
    Live,
    /// Waiting for a time
    Parked,
    /// Done until the next cycle is due
    Finished,
}

impl Question {
    /// The command to send; what was typed is checked before the node is asked.
    pub fn to_command(&self) -> Result<Command, ControlError> {
        let seed = |text: &String| {
            let refused = |refusal| ControlError::new(ErrorCode::BadRequest, format!("{} {refusal}", quoted(text)));
            Seed::parse(text).map_err(refused)
        };
        Ok(match self {
            Self::Status => Command::Status,
            Self::Seed { urls } => Command::Seed { seeds: urls.iter().map(seed).collect::<Result<_, _>>()? },
            Self::Site { site: text } => Command::Site { site: site(text)? },
            Self::Sites { state, after, limit } => {
                Command::Sites { filter: state.filter(), after: after.as_deref().map(site).transpose()?, limit: *limit }
            }
            Self::Explain { url } => Command::Explain { asked: AskedUrl::parse(url)? },
            Self::Ledger { site: text, limit, since, before } => Command::Ledger {
                site: site(text)?,
                limit: *limit,
                since: since.as_deref().map(Since::parse).transpose()?,
                before: *before,
            },
            Self::Audit { site } => Command::Audit { site: some_site(site)? },
            Self::Watch { site } => Command::Watch { site: some_site(site)? },
            Self::Export { site } => Command::Export { site: some_site(site)? },
            Self::Exclude { domain: text, reason } => {
                Command::Exclude { domain: domain(text)?, reason: reason.clone() }
            }
            Self::Include { domain: text } => Command::Include { domain: domain(text)? },
            Self::Exclusions => Command::Exclusions,
            Self::Recrawl { site: text } => Command::Recrawl { site: site(text)? },
            Self::Search { words, site, offset, limit } => Command::Search(SearchRequest {
                query: Query::parse(&words.join(" ")),
                site: some_site(site)?,
                offset: *offset,
                limit: *limit,
            }),
            Self::Reindex => Command::Reindex,
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
            Self::Shutdown => Command::Shutdown,
        })
    }
}

fn some_site(text: &Option<String>) -> Result<Option<Site>, ControlError> {
    text.as_deref().map(site).transpose()
}

impl StateArg {
    fn filter(self) -> SiteFilter {
        match self {
            Self::All => SiteFilter::All,
            Self::Live => SiteFilter::Live,
            Self::Parked => SiteFilter::Parked,
            Self::Finished => SiteFilter::Finished,
        }
    }
}
