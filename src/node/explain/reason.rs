//! Every reason why a URL was fetched or not, each with a word for machines and a sentence for people.
//!
//! The words never change; a sentence may, and is written so that a site's owner who reads nothing else understands it. The list is
//! closed: a reason without words does not compile, and a test shows one of each.

use lohisoftbot_core::barrier::BarrierKind;
use lohisoftbot_core::config::DiscoveryMode;
use lohisoftbot_core::discovery::TrapKind;
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::{FinishReason, WaitReason};
use lohisoftbot_core::page_choice::DropReason;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::{PageUrl, UrlRefusal};

use super::history::Cause;

/// Why a URL was fetched, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No request can be sent for it.
    Never(UrlRefusal),
    /// Nobody asks at that port.
    PortRefused(u16),
    /// The operator took its domain out.
    Excluded(Domain, Exclusion),
    /// It is a robots.txt.
    RobotsFile,
    /// Its site is not known, and how sites become known.
    SiteUnknown(DiscoveryMode),
    /// Its site is not known, and no more sites are taken up.
    TooManySites {
        /// As many as are.
        max_sites: u32,
    },
    /// It is stored.
    Stored {
        /// As of when.
        fetched_at: Timestamp,
        /// The page that it names as the canonical one, where that is another.
        canonical: Option<PageUrl>,
        /// Only a part of it was read.
        part: Part,
    },
    /// It was stored, and its record is gone.
    RecordGone,
    /// It was read as a sitemap.
    SitemapRead {
        /// URLs of use in it.
        num_urls: u32,
    },
    /// Its request is out.
    UnderWay,
    /// It waits for its turn.
    Queued {
        /// URLs that stand before it.
        num_before: usize,
        /// About when its turn comes.
        about_at: Timestamp,
    },
    /// It waits behind more URLs than the cycle has requests for.
    BehindBudget {
        /// URLs that stand before it.
        num_before: usize,
        /// Requests that are left.
        num_left: u16,
        /// The next cycle.
        next_cycle_at: Timestamp,
    },
    /// The cycle's requests are spent.
    BudgetSpent {
        /// As many as there were.
        budget: u16,
        /// The next cycle.
        next_cycle_at: Timestamp,
    },
    /// The cycle of its site is over, and the next one is due.
    CycleDue {
        /// Since when.
        since: Timestamp,
        /// Whether robots.txt comes first.
        robots: RobotsFirst,
        /// URLs that stand before it in the next cycle.
        num_before: usize,
        /// Requests that a cycle has.
        budget: u16,
    },
    /// The cycle is over for another reason.
    CycleOver {
        /// Why.
        reason: FinishReason,
        /// The next cycle.
        next_cycle_at: Timestamp,
    },
    /// The operator paused the node.
    NodePaused,
    /// The operator paused the site.
    SitePaused,
    /// The site waits.
    SiteWaits {
        /// Why.
        reason: WaitReason,
        /// Until when.
        until: Timestamp,
        /// What made it wait.
        cause: Option<Cause>,
    },
    /// A line of robots.txt that is in force forbids it.
    RobotsForbids {
        /// Its number.
        line: u32,
        /// Its text.
        text: String,
    },
    /// A login stands before its robots.txt.
    RobotsLogin {
        /// The status that said so.
        status: u16,
    },
    /// Its robots.txt cannot be read.
    RobotsUnreachable {
        /// Since when.
        since: Option<Timestamp>,
        /// It is asked for again then.
        retry_at: Timestamp,
    },
    /// Its robots.txt is to be read first.
    RobotsUnread,
    /// It left the queue.
    Dropped(DropReason),
    /// The queue is full.
    QueueFull {
        /// URLs that it holds.
        max_urls: u32,
    },
    /// It looks like part of a site that has no end.
    Trap(TrapKind),
    /// Every link to it says that it is not to be followed.
    Nofollow {
        /// A page with such a link.
        source: PageUrl,
    },
    /// Its site was at rest when the page with a link to it was read.
    RestingSite {
        /// That page.
        source: PageUrl,
        /// The next cycle of its site.
        next_cycle_at: Timestamp,
    },
    /// A link on another site's page leads to it, and nothing of its site was asked for yet when that page was read.
    SiteNotBegun {
        /// That page.
        source: PageUrl,
    },
    /// Nothing that is known leads to it.
    NotLinked,
    /// It was asked for in an earlier cycle, and nothing leads to it now.
    EarlierCycle,
}

/// What a new cycle does about the robots.txt of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsFirst {
    /// It is read before the page is asked for.
    Read,
    /// The copy from before is in force.
    InForce,
}

/// How much of a page was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Its beginning.
    Cut,
}

impl Reason {
    /// A word for machines; it never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Never(UrlRefusal::OtherScheme) => "scheme_refused",
            Self::Never(UrlRefusal::NoUsableHost | UrlRefusal::LabelTooLong | UrlRefusal::HostTooLong) => {
                "host_refused"
            }
            Self::Never(UrlRefusal::Credentials) => "credentials_refused",
            Self::Never(UrlRefusal::TooLong) => "url_too_long",
            Self::Never(UrlRefusal::Unparsable) => "no_url",
            Self::PortRefused(_) => "port_refused",
            Self::Excluded(..) => "excluded",
            Self::RobotsFile => "robots_file",
            Self::SiteUnknown(DiscoveryMode::Seeds) => "site_not_seeded",
            Self::SiteUnknown(DiscoveryMode::Links) => "site_unknown",
            Self::TooManySites { .. } => "too_many_sites",
            Self::Stored { canonical: Some(_), .. } => "canonical_elsewhere",
            Self::Stored { canonical: None, part: Part::Cut, .. } => "stored_cut",
            Self::Stored { canonical: None, part: Part::Whole, .. } => "stored",
            Self::RecordGone => "record_gone",
            Self::SitemapRead { .. } => "sitemap_read",
            Self::UnderWay => "under_way",
            Self::Queued { .. } => "queued",
            Self::BehindBudget { .. } => "behind_budget",
            Self::BudgetSpent { .. } => "budget_spent",
            Self::CycleDue { .. } => "next_cycle_due",
            Self::CycleOver { reason: FinishReason::QueueEmpty, .. } => "cycle_over",
            Self::CycleOver { reason: FinishReason::BudgetSpent, .. } => "budget_spent",
            Self::CycleOver { reason: FinishReason::NoSuchName, .. } => "no_such_name",
            Self::CycleOver { reason: FinishReason::AddressRefused, .. } => "address_refused",
            Self::CycleOver { reason: FinishReason::Excluded, .. } => "excluded_then",
            Self::NodePaused => "node_paused",
            Self::SitePaused => "site_paused",
            Self::SiteWaits { reason, .. } => wait_code(*reason),
            Self::RobotsForbids { .. } => "robots_line",
            Self::RobotsLogin { .. } => "robots_login",
            Self::RobotsUnreachable { .. } => "robots_unreachable",
            Self::RobotsUnread => "robots_unread",
            Self::Dropped(reason) => drop_code(reason),
            Self::QueueFull { .. } => "queue_full",
            Self::Trap(kind) => kind.word(),
            Self::Nofollow { .. } => "nofollow",
            Self::RestingSite { .. } => "resting_site",
            Self::SiteNotBegun { .. } => "site_not_begun",
            Self::NotLinked => "not_linked",
            Self::EarlierCycle => "earlier_cycle",
        }
    }

    /// One or two sentences for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::Never(refusal) => format!("It is never asked for: it {refusal}."),
            Self::PortRefused(port) => {
                format!("It is never asked for: port {port} belongs to another service than the web.")
            }
            Self::Excluded(domain, Exclusion { at, reason }) => {
                let reason = if reason.is_empty() { "no reason was noted".to_owned() } else { format!("{reason:?}") };
                format!(
                    "It is not asked for any more: {domain} and all names below it were taken out by the operator at {at} ({reason}), \
                     and stay out until the operator takes them back in. Nothing of them is stored."
                )
            }
            Self::RobotsFile => "It is asked for before anything else of its scheme, host and port, and again when the copy has run \
                                 out. It counts in no budget and is no search result."
                .to_owned(),
            Self::SiteUnknown(DiscoveryMode::Seeds) => "It was never asked for: its site is not known to this node, which crawls only the \
                                                        sites that its operator names."
                .to_owned(),
            Self::SiteUnknown(DiscoveryMode::Links) => {
                "It was never asked for: no link on a page that was read has led to its site yet.".to_owned()
            }
            Self::TooManySites { max_sites } => format!(
                "It was never asked for: its site is not known to this node, which already knows {max_sites} sites, as many as it takes \
                 up."
            ),
            Self::Stored { fetched_at, canonical, part } => {
                let part = match part {
                    Part::Whole => "",
                    Part::Cut => " It was read only in part: the answer was too long, or ended before its end.",
                };
                let canonical = canonical.as_ref().map_or_else(String::new, |canonical| {
                    format!(" It names {canonical} as the page to be shown in its place.")
                });
                format!(
                    "It was fetched at {fetched_at}, and of it are stored: address, title, description, headings and the texts of links \
                     to it.{part}{canonical}"
                )
            }
            Self::RecordGone => "It was fetched, and nothing of it is stored now: the date that it set itself (unavailable_after) has \
                                 passed, it made room for another page of its site, or its record is only being written."
                .to_owned(),
            Self::SitemapRead { num_urls } => format!(
                "It was fetched as a sitemap and read for the pages of its site that it lists: {num_urls} were of use. Nothing of a \
                 sitemap is stored."
            ),
            Self::UnderWay => "It is being asked for at this moment.".to_owned(),
            Self::Queued { num_before, about_at } => format!(
                "It was not asked for yet: it waits for its turn behind {num_before} other pages of its site, which comes at about \
                 {about_at} if all goes well."
            ),
            Self::BehindBudget { num_before, num_left, next_cycle_at } => format!(
                "It was not asked for yet, and as things stand it will not be in this cycle: {num_before} other pages of its site stand \
                 before it, and {num_left} requests are left. The next cycle begins no sooner than {next_cycle_at}."
            ),
            Self::BudgetSpent { budget, next_cycle_at } => format!(
                "It is not asked for in this cycle: all {budget} requests that a site has in one cycle are spent on pages that went \
                 before it. The next cycle begins no sooner than {next_cycle_at}."
            ),
            Self::CycleDue { since, robots, num_before, budget } => {
                let robots = match robots {
                    RobotsFirst::Read => " First the robots.txt of its scheme, host and port is read.",
                    RobotsFirst::InForce => "",
                };
                let place = match num_before {
                    0 => "It is the first page to be asked for then.".to_owned(),
                    before if *before < usize::from(*budget) => {
                        format!("{before} other pages of its site stand before it then.")
                    }
                    before => format!(
                        "{before} other pages of its site stand before it then, and a cycle has {budget} requests, so as things stand it \
                         will not be asked for in that one either."
                    ),
                };
                format!(
                    "It was not asked for in the last cycle of its site. The next one is due now, since {since}, and begins as soon as \
                     this node has a place for the site.{robots} {place}"
                )
            }
            Self::CycleOver { reason, next_cycle_at } => format!(
                "It is not asked for in this cycle, which is over: {}. The next begins no sooner than {next_cycle_at}.",
                reason.describe()
            ),
            Self::NodePaused => {
                "It was not asked for yet: the operator has paused all requests until further notice.".to_owned()
            }
            Self::SitePaused => {
                "It was not asked for yet: the operator has paused all requests to its site until further notice.".to_owned()
            }
            Self::SiteWaits { reason, until, cause } => {
                let cause = cause.as_ref().map_or_else(String::new, |Cause { at, url, end }| {
                    format!(" It follows from the request for {url}, which ended at {at}: {}.", end.describe())
                });
                format!(
                    "It was not asked for yet: nothing of its site is asked for until {until}, since {}.{cause}",
                    reason.describe()
                )
            }
            Self::RobotsForbids { line, text } => {
                format!("It is not asked for: line {line} of its site's robots.txt forbids it, {text:?}.")
            }
            Self::RobotsLogin { status } => format!(
                "It is not asked for: the robots.txt of its site answered {status}, so a login stands before everything there."
            ),
            Self::RobotsUnreachable { since, retry_at } => {
                let since = since.map_or_else(String::new, |since| format!(" since {since}"));
                format!(
                    "It is not asked for: the robots.txt of its site cannot be read{since}, and as long as it cannot, everything there \
                     counts as forbidden. It is asked for again no sooner than {retry_at}."
                )
            }
            Self::RobotsUnread => {
                "It was not asked for yet: the robots.txt of its scheme, host and port has to be read before.".to_owned()
            }
            Self::Dropped(reason) => drop_sentence(reason),
            Self::QueueFull { max_urls } => format!(
                "It was not asked for: {max_urls} URLs of its site are known already, as many as are kept, so a link to it found no place."
            ),
            Self::Trap(kind) => format!(
                "It is not asked for: it looks like part of a site that has no end, for {}. Links to such addresses are not followed; one \
                 that the operator gives as a seed is.",
                kind.describe()
            ),
            Self::Nofollow { source } => format!(
                "It was not asked for: links to it, such as the one on {source}, ask not to be followed (nofollow), and no other is \
                 known."
            ),
            Self::RestingSite { source, next_cycle_at } => format!(
                "It was not asked for: it is linked from {source}, but its site was at rest when that page was read, and such a link is \
                 not kept for later. The next cycle of its site starts from its seeds and from what is known of it then, not before \
                 {next_cycle_at}; given as a seed, it is among them."
            ),
            Self::SiteNotBegun { source } => format!(
                "It was not asked for: it is linked from {source}, but nothing of its site was asked for yet when that page was read, and \
                 such a link is not kept for later. Its site starts from its own seeds; given as a seed, it is among them."
            ),
            Self::NotLinked => "It was not asked for: no seed, no sitemap that was read and no link that may be followed on a page that was \
                                read leads to it."
                .to_owned(),
            Self::EarlierCycle => {
                "It was asked for earlier, and nothing that was read since leads to it.".to_owned()
            }
        }
    }
}

/// A word for each wait.
fn wait_code(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::Backoff => "backoff",
        WaitReason::RetryAfter => "retry_after",
        WaitReason::Unreachable => "no_answer",
        WaitReason::RobotsUnreachable => "robots_unreachable",
        WaitReason::NoSuchName => "no_such_name",
        WaitReason::NameServers => "name_servers",
        WaitReason::CrawlDelay => "crawl_delay",
        WaitReason::Barrier => "barrier_wait",
        WaitReason::SlowAnswers => "slow_answers",
    }
}

/// A word for each way out of the queue.
fn drop_code(reason: &DropReason) -> &'static str {
    match reason {
        DropReason::Robots { text, .. } if is_usage_line(text) => "robots_usage",
        DropReason::Robots { .. } => "robots_line",
        DropReason::RobotsLogin { .. } => "robots_login",
        DropReason::RobotsUnreachable => "robots_unreachable",
        DropReason::Excluded => "excluded_then",
        DropReason::TooManyOrigins => "too_many_origins",
        DropReason::NotHtml => "not_html",
        DropReason::OtherFormat => "other_format",
        DropReason::Gone => "gone",
        DropReason::Barrier(_) => "barrier",
        DropReason::Noindex => "noindex",
        DropReason::Redirect { target: Some(_) } => "redirect",
        DropReason::Redirect { target: None } => "redirect_nowhere",
        DropReason::MovedForGood { .. } => "moved",
        DropReason::Status(_) => "status",
        DropReason::TooManyTries => "too_many_tries",
        DropReason::ExtractionFailed => "extraction_failed",
        DropReason::AddressRefused { .. } => "address_refused",
        DropReason::NoSuchName => "no_such_name",
        DropReason::StoreFull => "store_full",
        DropReason::NoSitemap => "no_sitemap",
        DropReason::SitemapsSpent => "sitemaps_spent",
    }
}

/// A line that speaks of the use of content, which may be read by whoever does not search.
fn is_usage_line(text: &str) -> bool {
    text.trim_start().get(..13).is_some_and(|start| start.eq_ignore_ascii_case("content-usage"))
}

fn drop_sentence(reason: &DropReason) -> String {
    let why = reason.describe();
    match reason {
        DropReason::Robots { line, text } if is_usage_line(text) => format!(
            "It is not asked for: line {line} of its site's robots.txt keeps it out of search, {text:?}, and this crawler reads for search \
             alone."
        ),
        DropReason::Robots { line, text } => {
            format!("It is not asked for: line {line} of its site's robots.txt forbids it, {text:?}.")
        }
        DropReason::RobotsLogin { .. }
        | DropReason::RobotsUnreachable
        | DropReason::Excluded
        | DropReason::TooManyOrigins
        | DropReason::AddressRefused { .. }
        | DropReason::NoSuchName
        | DropReason::SitemapsSpent => format!("It is not asked for: {why}."),
        DropReason::Barrier(BarrierKind::Forbidden | BarrierKind::Challenge) => format!(
            "It was asked for, and not let in: {why}. Nothing of that answer is stored, and no second try is made in another guise."
        ),
        DropReason::Barrier(_) => format!("It was asked for, and nothing of it is stored: {why}."),
        DropReason::Noindex => {
            "It was asked for, and nothing of it is stored: it asks not to be indexed (noindex or none), in a robots \
                                meta element of the page or in the X-Robots-Tag field of its answer."
                .to_owned()
        }
        DropReason::Redirect { target: Some(target) } | DropReason::MovedForGood { target } => format!(
            "It was asked for, and nothing is stored under this address: {why}. What is there is asked for under the same rules as any \
             other page: see `explain {target}`."
        ),
        DropReason::NotHtml
        | DropReason::OtherFormat
        | DropReason::Gone
        | DropReason::Redirect { target: None }
        | DropReason::Status(_)
        | DropReason::TooManyTries
        | DropReason::ExtractionFailed
        | DropReason::StoreFull
        | DropReason::NoSitemap => format!("It was asked for, and nothing of it is stored: {why}."),
    }
}

#[cfg(test)]
mod tests;
