//! The commands that the node takes, typed: what reaches the node was read and checked here.

mod account;
mod asked_url;
mod search;

use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::search::SearchRequest;
use lohisoftbot_core::seed::{Seed, SeedScheme};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::url::without_userinfo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::message::{ControlError, ErrorCode};

use account::{LedgerFields, OneSiteFields};
use search::SearchFields;

pub use account::{DEFAULT_LEDGER_LINES, MAX_LEDGER_LINES, Since};
pub use asked_url::AskedUrl;

/// Most sites that one answer lists.
pub const MAX_LISTED_SITES: u32 = 10_000;

/// Sites that an answer lists where the caller names no number.
pub const DEFAULT_LISTED_SITES: u32 = 100;

/// Longest reason of an exclusion that is kept, in bytes.
pub const MAX_REASON_BYTES: usize = 1000;

/// The commands of this version, each with the fields that it takes.
const COMMANDS: [(&str, &[&str]); 18] = [
    ("status", &[]),
    ("seed", &["urls"]),
    ("site", &["site"]),
    ("sites", &["state", "after", "limit"]),
    ("explain", &["url"]),
    ("ledger", &["site", "limit", "since", "before"]),
    ("audit", &["site"]),
    ("watch", &["site"]),
    ("export", &["site"]),
    ("exclude", &["domain", "reason"]),
    ("include", &["domain"]),
    ("exclusions", &[]),
    ("recrawl", &["site"]),
    ("search", &["query", "site", "offset", "limit"]),
    ("reindex", &[]),
    ("pause", &[]),
    ("resume", &[]),
    ("shutdown", &[]),
];

/// Commands that later versions take.
const LATER_COMMANDS: [&str; 2] = ["backup", "reload"];

/// Which sites are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteFilter {
    /// Every known one.
    All,
    /// Those that are crawled now.
    Live,
    /// Those that wait without an actor.
    Parked,
    /// Those whose cycle is over, until the next is due.
    Finished,
}

/// What the operator asks of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// How the node is.
    Status,
    /// Take up these places to begin at.
    Seed {
        /// At least one.
        seeds: Vec<Seed>,
    },
    /// All about one site.
    Site {
        /// Which.
        site: Site,
    },
    /// The known sites, by name.
    Sites {
        /// Which of them.
        filter: SiteFilter,
        /// Only names after this one, for the next page of a list.
        after: Option<Site>,
        /// How many, up to [`MAX_LISTED_SITES`].
        limit: u32,
    },
    /// Why a URL was fetched, or not.
    Explain {
        /// Which.
        asked: AskedUrl,
    },
    /// What was asked of a site, and what happened in between, the newest last.
    Ledger {
        /// Which.
        site: Site,
        /// How many lines, the newest ones, up to [`MAX_LEDGER_LINES`].
        limit: u32,
        /// Only what happened since.
        since: Option<Since>,
        /// Only lines whose number is smaller, for the page before.
        before: Option<u64>,
    },
    /// Hold the ledger against the promises.
    Audit {
        /// Of this site alone.
        site: Option<Site>,
    },
    /// A stream of what happens, until somebody ends it.
    Watch {
        /// At this site alone.
        site: Option<Site>,
    },
    /// A stream of all records.
    Export {
        /// Of this site alone.
        site: Option<Site>,
    },
    /// Take a domain and all below it out.
    Exclude {
        /// Which.
        domain: Domain,
        /// Why, in the operator's words.
        reason: String,
    },
    /// Take an excluded domain back in.
    Include {
        /// Which.
        domain: Domain,
    },
    /// All exclusions in force.
    Exclusions,
    /// Crawl a site before its interval is over, as far as the running interval's budget allows.
    Recrawl {
        /// Which.
        site: Site,
    },
    /// Search the stored pages.
    Search(SearchRequest),
    /// Build the search index anew while the old one serves.
    Reindex,
    /// Send no further request until `resume`.
    Pause,
    /// Go on.
    Resume,
    /// End in order.
    Shutdown,
}

#[derive(Serialize, Deserialize)]
struct SeedFields {
    urls: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct SiteFields {
    site: String,
}

#[derive(Serialize, Deserialize)]
struct SitesFields {
    state: Option<SiteFilter>,
    after: Option<String>,
    limit: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct UrlFields {
    url: String,
}

#[derive(Serialize, Deserialize)]
struct ExcludeFields {
    domain: String,
    #[serde(default)]
    reason: String,
}

#[derive(Serialize, Deserialize)]
struct DomainFields {
    domain: String,
}

impl Command {
    /// The command of a request's fields, version and id aside.
    pub fn from_fields(mut fields: Map<String, Value>) -> Result<Self, ControlError> {
        let Some(name) = fields.remove("command") else {
            return Err(bad(format!("\"command\" is missing: it is one of {}", known_commands())));
        };
        let Some(name) = name.as_str() else { return Err(bad("\"command\" is no text".to_owned())) };
        let Some((_, known)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
            return Err(no_such_command(name));
        };
        if let Some(unknown) = fields.keys().find(|field| !known.contains(&field.as_str())) {
            return Err(bad(format!("{name} has no field {}: it takes {}", quoted(unknown), list_or_none(known))));
        }
        match name {
            "status" => Ok(Self::Status),
            "seed" => seed(read(name, fields)?),
            "site" => Ok(Self::Site { site: site(&read::<SiteFields>(name, fields)?.site)? }),
            "sites" => sites(read(name, fields)?),
            "explain" => Ok(Self::Explain { asked: AskedUrl::parse(&read::<UrlFields>(name, fields)?.url)? }),
            "ledger" => read::<LedgerFields>(name, fields)?.command(),
            "audit" => Ok(Self::Audit { site: read::<OneSiteFields>(name, fields)?.site()? }),
            "watch" => Ok(Self::Watch { site: read::<OneSiteFields>(name, fields)?.site()? }),
            "export" => Ok(Self::Export { site: read::<OneSiteFields>(name, fields)?.site()? }),
            "exclude" => exclude(read(name, fields)?),
            "include" => Ok(Self::Include { domain: domain(&read::<DomainFields>(name, fields)?.domain)? }),
            "exclusions" => Ok(Self::Exclusions),
            "recrawl" => Ok(Self::Recrawl { site: site(&read::<SiteFields>(name, fields)?.site)? }),
            "search" => read::<SearchFields>(name, fields)?.command(),
            "reindex" => Ok(Self::Reindex),
            "pause" => Ok(Self::Pause),
            "resume" => Ok(Self::Resume),
            "shutdown" => Ok(Self::Shutdown),
            _ => Err(no_such_command(name)),
        }
    }

    /// The fields of a request for it, version and id aside.
    pub fn to_fields(&self) -> Map<String, Value> {
        let fields = match self {
            Self::Status | Self::Exclusions | Self::Reindex | Self::Pause | Self::Resume | Self::Shutdown => json!({}),
            Self::Search(request) => search::fields(request),
            Self::Seed { seeds } => json!({"urls": seeds.iter().map(seed_text).collect::<Vec<_>>()}),
            Self::Site { site } | Self::Recrawl { site } => json!({"site": site.as_str()}),
            Self::Sites { filter, after, limit } => {
                json!({"state": filter, "after": after.as_ref().map(Site::as_str), "limit": limit})
            }
            Self::Explain { asked } => json!({"url": asked.as_str()}),
            Self::Ledger { site, limit, since, before } => account::ledger_fields(site, *limit, *since, *before),
            Self::Audit { site } | Self::Watch { site } | Self::Export { site } => account::one_site(site.as_ref()),
            Self::Exclude { domain, reason } => json!({"domain": domain.as_str(), "reason": reason}),
            Self::Include { domain } => json!({"domain": domain.as_str()}),
        };
        let mut all = Map::from_iter([("command".to_owned(), json!(self.name()))]);
        if let Value::Object(fields) = fields {
            all.extend(fields);
        }
        all
    }

    /// Whether it is answered by a stream of lines.
    pub const fn is_stream(&self) -> bool {
        matches!(self, Self::Watch { .. } | Self::Export { .. })
    }

    /// Its name on the wire and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Seed { .. } => "seed",
            Self::Site { .. } => "site",
            Self::Sites { .. } => "sites",
            Self::Explain { .. } => "explain",
            Self::Ledger { .. } => "ledger",
            Self::Audit { .. } => "audit",
            Self::Watch { .. } => "watch",
            Self::Export { .. } => "export",
            Self::Exclude { .. } => "exclude",
            Self::Include { .. } => "include",
            Self::Exclusions => "exclusions",
            Self::Recrawl { .. } => "recrawl",
            Self::Search(_) => "search",
            Self::Reindex => "reindex",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Shutdown => "shutdown",
        }
    }
}

/// The site that a host name, an address or a URL belongs to.
pub fn site(text: &str) -> Result<Site, ControlError> {
    match Domain::parse(text) {
        Ok(domain) => Ok(Site::of_host(domain.as_str())),
        Err(error) => match Seed::parse(text) {
            Ok(seed) if text.contains('/') => Ok(seed.url.site()),
            Ok(_) | Err(_) => Err(bad(error.to_string())),
        },
    }
}

/// A domain to exclude or include.
pub fn domain(text: &str) -> Result<Domain, ControlError> {
    Domain::parse(text).map_err(|error| bad(error.to_string()))
}

fn seed(fields: SeedFields) -> Result<Command, ControlError> {
    if fields.urls.is_empty() {
        return Err(bad("\"urls\" is empty: name at least one URL or host".to_owned()));
    }
    let read = |text: &String| Seed::parse(text).map_err(|refusal| bad(format!("{} {refusal}", quoted(text))));
    Ok(Command::Seed { seeds: fields.urls.iter().map(read).collect::<Result<_, _>>()? })
}

/// A seed as it was written: its scheme only where it had one.
fn seed_text(seed: &Seed) -> &str {
    match seed.scheme {
        SeedScheme::Guessed => seed.url.as_str().trim_start_matches("https://"),
        SeedScheme::Written => seed.url.as_str(),
    }
}

fn sites(fields: SitesFields) -> Result<Command, ControlError> {
    let limit = fields.limit.unwrap_or(DEFAULT_LISTED_SITES);
    if !(1..=MAX_LISTED_SITES).contains(&limit) {
        return Err(bad(format!("\"limit\" is {limit}: name a number from 1 to {MAX_LISTED_SITES}")));
    }
    let after = fields.after.as_deref().map(site).transpose()?;
    Ok(Command::Sites { filter: fields.state.unwrap_or(SiteFilter::All), after, limit })
}

fn exclude(fields: ExcludeFields) -> Result<Command, ControlError> {
    if fields.reason.len() > MAX_REASON_BYTES {
        return Err(bad(format!("the reason is longer than {MAX_REASON_BYTES} bytes: write a shorter one")));
    }
    Ok(Command::Exclude { domain: domain(&fields.domain)?, reason: fields.reason })
}

fn read<T: DeserializeOwned>(name: &str, fields: Map<String, Value>) -> Result<T, ControlError> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| bad(format!("{name}: {error}")))
}

fn no_such_command(name: &str) -> ControlError {
    if LATER_COMMANDS.contains(&name) {
        let message = format!("{name} is not in this version; it takes {}", known_commands());
        return ControlError::new(ErrorCode::NotInThisVersion, message);
    }
    ControlError::new(
        ErrorCode::UnknownCommand,
        format!("there is no command {}; there are {}", quoted(name), known_commands()),
    )
}

fn known_commands() -> String {
    COMMANDS.map(|(name, _)| name).join(", ")
}

fn list_or_none(fields: &[&str]) -> String {
    if fields.is_empty() { "none".to_owned() } else { fields.join(", ") }
}

/// Foreign text in a message: without a password, escaped, and cut.
pub fn quoted(text: &str) -> String {
    format!("{:?}", without_userinfo(text).chars().take(80).collect::<String>())
}

fn bad(message: String) -> ControlError {
    ControlError::new(ErrorCode::BadRequest, message)
}

#[cfg(test)]
mod tests;
