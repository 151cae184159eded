//! How a policy is stored: its lines as the file gave them, with their numbers, and compiled anew when read.
//!
//! Invariant: any policy fits into a stored value ([`crate::codec::MAX_VALUE_BYTES`]), however hostile the file it came
//! from.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::compile::{Ruling, sort_by_precedence, sort_search_rules};
use super::directive;
use super::policy::{RobotsBasis, RobotsGroup, RobotsPolicy, Rule};
use crate::codec::Stored;

impl Stored for RobotsPolicy {
    const VERSION: u8 = 1;
}

/// The stored form.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPolicy {
    basis: RobotsBasis,
    group: RobotsGroup,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
    /// The lines that rule, in the order of the file: how many lines further on than the one before, a blank, the text,
    /// LF.
    lines: String,
}

/// Why stored text makes no policy.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoredPolicyError {
    #[error("a stored robots.txt line lacks its number: {0:?}")]
    NoNumber(String),
    #[error("a stored robots.txt line rules nothing: {0:?}")]
    NoRule(String),
}

impl From<RobotsPolicy> for StoredPolicy {
    fn from(policy: RobotsPolicy) -> Self {
        let mut rules: Vec<&Rule> = policy.rules.iter().chain(&policy.search_rules).collect();
        rules.sort_by_key(|rule| rule.number);
        let mut lines = String::new();
        let mut previous = 0;
        for rule in rules {
            writeln!(lines, "{} {}", rule.number - previous, rule.text).expect("writing to a String never fails");
            previous = rule.number;
        }
        Self {
            basis: policy.basis,
            group: policy.group,
            crawl_delay: policy.crawl_delay,
            sitemaps: policy.sitemaps,
            lines,
        }
    }
}

impl TryFrom<StoredPolicy> for RobotsPolicy {
    type Error = StoredPolicyError;

    fn try_from(stored: StoredPolicy) -> Result<Self, Self::Error> {
        let (mut rules, mut search_rules) = (Vec::new(), Vec::new());
        let mut number: u32 = 0;
        for line in stored.lines.split_terminator('\n') {
            let no_number = || StoredPolicyError::NoNumber(line.to_owned());
            let (step, text) = line.split_once(' ').ok_or_else(no_number)?;
            let step: u32 = step.parse().map_err(|_| no_number())?;
            number = number.checked_add(step).ok_or_else(no_number)?;
            let ruling = directive::read(text).as_ref().and_then(Ruling::of);
            let (rules, effect, pattern) = match ruling.ok_or_else(|| StoredPolicyError::NoRule(line.to_owned()))? {
                Ruling::Access(effect, pattern) => (&mut rules, effect, pattern),
                Ruling::Search(effect, pattern) => (&mut search_rules, effect, pattern),
            };
            rules.push(Rule { number, effect, pattern, text: text.into() });
        }
        sort_by_precedence(&mut rules);
        sort_search_rules(&mut search_rules);
        Ok(Self {
            basis: stored.basis,
            group: stored.group,
            rules,
            search_rules,
            crawl_delay: stored.crawl_delay,
            sitemaps: stored.sitemaps,
        })
    }
}
