//! robots.txt as in RFC 9309: reading a file, and answering for a URL with the line that decided.
//!
//! The way of a file: [`status::read_answer`] says what an answer to `/robots.txt` means; [`RobotsPolicy::parse`] keeps
//! of a body the lines that bind one crawler (`lines` cleans them, the `robotstxt` crate reads each of them through
//! `directive`, `compile` picks the groups); [`RobotsPolicy::verdict`] answers for a path. [`status::rules_in_force`]
//! says how long a copy counts.
//!
//! What this deliberately does not do: fetch, remember, or know more than one product token at once. The crate's own
//! matcher is not used: it gets wildcards wrong in the site owner's disfavour and takes seconds on hostile patterns.
//!
//! Invariants: any bytes make a policy, in time linear in their number; a policy answers in time linear in its size and
//! the path's; a verdict names the line of the original file that made it.

#[cfg(test)]
mod bombs;
mod compile;
mod directive;
mod explain;
mod lines;
mod pattern;
mod policy;
pub mod scope;
pub mod status;
mod stored;
#[cfg(test)]
mod tests;

pub use explain::{DecidedBy, Explanation, explain};
pub use lines::MAX_ROBOTS_BYTES;
pub use policy::{
    MAX_LINE_TEXT_BYTES, RobotsBasis, RobotsGroup, RobotsLine, RobotsPolicy, RobotsRefusal, RobotsVerdict,
};

/// The name that groups of a robots.txt call this crawler by (RFC 9309 §2.2.1); compared without regard to case.
pub const PRODUCT_TOKEN: &str = "LohiSoftBot";

/// A Crawl-delay is honoured in full up to this; a longer one counts as this.
pub const MAX_CRAWL_DELAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// Sitemap lines that are kept of one file; the rest is more than a cycle could ask for.
pub const MAX_SITEMAPS: usize = 200;

/// The product token at the start of a name or User-Agent field: letters, `_` and `-` (RFC 9309 §2.2.1). Empty for `*`.
pub fn product_token(name: &str) -> &str {
    let end = name.bytes().position(|b| !(b.is_ascii_alphabetic() || b == b'_' || b == b'-')).unwrap_or(name.len());
    &name[..end]
}
