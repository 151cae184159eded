//! What is typed on the command line of the dump tool.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use lohisoftbot_actors::storage::EntryKind;
use lohisoftbot_core::site::Site;

use crate::cli::TypedUrl;

/// Looks into the store of a stopped node. Never changes it.
#[derive(Debug, Parser)]
#[command(name = "lohisoftbot-dump", version, about, max_term_width = 100)]
pub struct DumpArgs {
    /// The node's data directory: the one that holds records/ and ledger/.
    #[arg(long, value_name = "DIR", global = true, default_value = "data")]
    pub store: PathBuf,
    /// Only this site (a host of it will do). For inlinks: links to this site.
    #[arg(long, value_name = "SITE", global = true, value_parser = TypedUrl(parse_site))]
    pub site: Option<Site>,
    /// Only rows whose URL (for sites and exclusions: whose name) begins with this.
    #[arg(long, value_name = "P", global = true)]
    pub prefix: Option<String>,
    /// At most so many rows: the first ones; of the ledger, the newest ones.
    #[arg(long, value_name = "N", global = true)]
    pub limit: Option<usize>,
    /// How rows are written. csv and jsonl have every column, table the most telling ones.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// What to look at.
    #[command(subcommand)]
    pub command: Command,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values (RFC 4180), with a header line.
    Csv,
}

/// What to look at.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The trees of the store, with rows and bytes.
    Trees,
    /// Counts of what is stored.
    Stats,
    /// All that is stored of one page (give its URL) or one site (give its name).
    Get {
        /// A URL, or a site.
        #[arg(value_name = "URL|SITE")]
        what: String,
    },
    /// Records of pages.
    Pages,
    /// Links, with the page they point to and the page they stand on.
    Inlinks,
    /// Sites, and how they stand.
    Sites,
    /// URLs in the queues of sites.
    Frontier,
    /// Domains that are left out.
    Exclusions,
    /// What was asked of whom, and how it ended.
    Ledger {
        /// Only entries of these kinds: cycle, ticket, outcome, wait, barrier, exclusion, inclusion.
        #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = parse_kind)]
        kinds: Vec<EntryKind>,
    },
    /// Holds the ledger against the promises; exit code 1 where one was broken.
    Audit {
        /// The settings that say what was promised; the defaults where none are named.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Reads everything and says whether it is sound.
    Verify,
}

fn parse_site(text: &str) -> Result<Site, String> {
    let address = if text.contains("://") { text.to_owned() } else { format!("http://{text}/") };
    lohisoftbot_core::url::PageUrl::parse(&address, None).map(|url| url.site()).map_err(|error| error.to_string())
}

fn parse_kind(text: &str) -> Result<EntryKind, String> {
    EntryKind::ALL.into_iter().find(|kind| kind.word() == text).ok_or_else(|| {
        let words: Vec<&str> = EntryKind::ALL.into_iter().map(EntryKind::word).collect();
        format!("one of {} is wanted", words.join(", "))
    })
}
