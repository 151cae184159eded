//! Reads nginx's access log and counts what a polite crawler must not have done. The judge is the server's own record of what came in.
//!
//! Knows nothing of the node's code: budget, delay and User-Agent forms are numbers and texts of its own, as the promises are made in public.
//! Times are nginx's, in whole milliseconds, so a gap may be misread by a few; [`Rules::tolerance_ms`] says how many.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;

/// One request as the server saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The site that answered, by its configured name.
    pub site: String,
    /// The host that was asked for.
    pub host: String,
    /// When its first byte was read, in ms since the epoch.
    pub started_ms: u64,
    /// When its answer had been handed over, in ms since the epoch.
    pub ended_ms: u64,
    /// The method.
    pub method: String,
    /// Path and query as they were sent.
    pub path: String,
    /// The status it was answered with.
    pub status: u16,
    /// The User-Agent field, empty where there was none.
    pub agent: String,
    /// Cookie, Authorization and Referer together: all must be empty.
    pub baggage: String,
}

impl Request {
    fn is_robots(&self) -> bool {
        self.path == "/robots.txt"
    }
}

/// A line of the log as it is written: texts, since nginx writes `-` or nothing where a value is missing.
#[derive(Deserialize)]
struct Line {
    site: String,
    host: String,
    ended: String,
    took: String,
    method: String,
    path: String,
    status: String,
    agent: String,
    cookie: String,
    authorization: String,
    referer: String,
}

/// Reads a whole log, oldest start first.
///
/// # Errors
/// A line is not of our format.
pub fn parse(log: &str) -> Result<Vec<Request>> {
    let lines = log.lines().enumerate();
    let read =
        |(index, line)| parse_line(line).with_context(|| format!("line {} of the access log: {line}", index + 1));
    let mut requests = lines.map(read).collect::<Result<Vec<_>>>()?;
    requests.sort_by_key(|request| (request.started_ms, request.ended_ms));
    Ok(requests)
}

fn parse_line(line: &str) -> Result<Request> {
    let line: Line = serde_json::from_str(line)?;
    let ended_ms = milliseconds(&line.ended).context("end")?;
    let took_ms = milliseconds(&line.took).context("duration")?;
    Ok(Request {
        site: line.site,
        host: line.host,
        started_ms: ended_ms.saturating_sub(took_ms),
        ended_ms,
        method: line.method,
        path: line.path,
        status: line.status.parse().context("status")?,
        agent: line.agent,
        baggage: [line.cookie, line.authorization, line.referer].concat(),
    })
}

/// `1700000000.123` in ms. nginx always writes three digits after the point.
fn milliseconds(text: &str) -> Result<u64> {
    let (seconds, fraction) = text.split_once('.').context("no point")?;
    let seconds: u64 = seconds.parse()?;
    let fraction: u64 = fraction.parse()?;
    Ok(seconds * 1_000 + fraction)
}

/// What the log is held against.
pub struct Rules {
    /// Most page requests a site, robots.txt aside (P1).
    pub max_page_requests: usize,
    /// Shortest time from the end of one request to the start of the next (P2).
    pub min_gap_ms: u64,
    /// How much of that a log in whole milliseconds may lose.
    pub tolerance_ms: u64,
    /// The User-Agent fields of which a site must see exactly one (P9).
    pub agents: &'static [&'static str],
    /// Path prefixes that a site's robots.txt forbids (P3).
    pub forbidden: Vec<(String, String)>,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// More page requests than the budget.
    OverBudget { site: String, num_requests: usize },
    /// A page was asked before robots.txt.
    BeforeRobots { site: String, path: String },
    /// A path was asked that robots.txt forbids.
    Forbidden { site: String, path: String },
    /// A request began before the one before it had ended.
    TwoAtOnce { site: String, path: String },
    /// A request began sooner after the end of the one before it than the delay.
    GapTooShort { site: String, path: String, gap_ms: u64 },
    /// The User-Agent is none of the published ones.
    StrangeAgent { site: String, agent: String },
    /// A site saw both published forms.
    TwoAgents { site: String },
    /// Not a plain GET: another method, or a cookie, a credential or a Referer came with it.
    NotPlain { site: String, path: String },
    /// A site was asked for under a name that is not its own.
    WrongHost { site: String, host: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverBudget { site, num_requests } => write!(f, "{site}: {num_requests} page requests"),
            Self::BeforeRobots { site, path } => write!(f, "{site}: {path} asked before robots.txt"),
            Self::Forbidden { site, path } => write!(f, "{site}: {path} is forbidden by robots.txt"),
            Self::TwoAtOnce { site, path } => write!(f, "{site}: {path} asked while another request was open"),
            Self::GapTooShort { site, path, gap_ms } => {
                write!(f, "{site}: {path} asked {gap_ms} ms after the last answer")
            }
            Self::StrangeAgent { site, agent } => write!(f, "{site}: User-Agent {agent:?}"),
            Self::TwoAgents { site } => write!(f, "{site}: saw two forms of the User-Agent"),
            Self::NotPlain { site, path } => write!(f, "{site}: {path} asked with more than a plain GET"),
            Self::WrongHost { site, host } => write!(f, "{site}: asked for as {host}"),
        }
    }
}

/// Everything in the log that breaks a rule, site by site.
pub fn audit(requests: &[Request], rules: &Rules) -> Vec<Violation> {
    let mut by_site: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in requests {
        by_site.entry(&request.site).or_default().push(request);
    }
    by_site.into_iter().flat_map(|(site, requests)| audit_site(site, &requests, rules)).collect()
}

fn audit_site(site: &str, requests: &[&Request], rules: &Rules) -> Vec<Violation> {
    let mut violations = Vec::new();
    let name = || site.to_owned();
    let num_requests = num_page_requests(requests.iter().copied());
    if num_requests > rules.max_page_requests {
        violations.push(Violation::OverBudget { site: name(), num_requests });
    }
    if let Some(first) = requests.first()
        && !first.is_robots()
    {
        violations.push(Violation::BeforeRobots { site: name(), path: first.path.clone() });
    }
    for pair in requests.windows(2) {
        let [before, after] = pair else { continue };
        let path = after.path.clone();
        match after.started_ms.checked_sub(before.ended_ms) {
            None => violations.push(Violation::TwoAtOnce { site: name(), path }),
            Some(gap_ms) if gap_ms + rules.tolerance_ms < rules.min_gap_ms => {
                violations.push(Violation::GapTooShort { site: name(), path, gap_ms });
            }
            Some(_) => {}
        }
    }
    for request in requests {
        violations.extend(audit_request(request, rules));
    }
    let known = rules.agents.iter().filter(|agent| requests.iter().any(|request| request.agent == **agent));
    if known.count() > 1 {
        violations.push(Violation::TwoAgents { site: name() });
    }
    violations
}

/// What one request breaks by itself.
fn audit_request(request: &Request, rules: &Rules) -> Vec<Violation> {
    let mut violations = Vec::new();
    let (site, path) = (request.site.clone(), request.path.clone());
    if !rules.agents.contains(&request.agent.as_str()) {
        violations.push(Violation::StrangeAgent { site: site.clone(), agent: request.agent.clone() });
    }
    if request.host != request.site {
        violations.push(Violation::WrongHost { site: site.clone(), host: request.host.clone() });
    }
    if rules.forbidden.iter().any(|(of, prefix)| *of == site && path.starts_with(prefix.as_str())) {
        violations.push(Violation::Forbidden { site: site.clone(), path: path.clone() });
    }
    if request.method != "GET" || !request.baggage.is_empty() {
        violations.push(Violation::NotPlain { site, path });
    }
    violations
}

/// How many of these cost budget.
pub fn num_page_requests<'a>(requests: impl Iterator<Item = &'a Request>) -> usize {
    requests.filter(|request| !request.is_robots()).count()
}

/// The shortest time between the end of one request to a site and the start of the next, in ms.
pub fn smallest_gap_ms(requests: &[&Request]) -> Option<u64> {
    requests.windows(2).map(|pair| pair[1].started_ms.saturating_sub(pair[0].ended_ms)).min()
}

#[cfg(test)]
#[path = "access_log_tests.rs"]
mod tests;
