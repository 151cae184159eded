//! The fields of the commands that account for what was asked: `ledger`, `audit`, and the streams `watch` and `export`.

use std::time::Duration;

use lohisoftbot_core::config::{parse_span, show_span};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::sitemap::parse_moment;
use lohisoftbot_core::time::{Timestamp, whole_millis};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Command, bad, quoted, site};
use crate::control::ControlError;

/// Most lines of a ledger that one answer has.
pub const MAX_LEDGER_LINES: u32 = 10_000;

/// Lines that an answer has where the caller names no number.
pub const DEFAULT_LEDGER_LINES: u32 = 100;

/// From when on something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From this moment.
    At(Timestamp),
    /// From so long before now.
    Ago(Duration),
}

impl Since {
    /// Reads a moment (`2026-11-30`, `2026-11-30T17:05:09Z`) or a span (`2h`, `7d`).
    pub fn parse(text: &str) -> Result<Self, ControlError> {
        if let Ok(span) = parse_span(text) {
            return Ok(Self::Ago(span));
        }
        let words = "is neither a moment such as 2026-11-30 or 2026-11-30T17:05:09Z nor a span such as 2h or 7d";
        parse_moment(text).map(Self::At).ok_or_else(|| bad(format!("{} {words}", quoted(text))))
    }

    /// As a moment.
    pub fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(span) => Timestamp::from_millis(now.as_millis().saturating_sub(whole_millis(span))),
        }
    }

    fn to_text(self) -> String {
        match self {
            Self::At(at) => at.to_string(),
            Self::Ago(span) => show_span(span),
        }
    }
}

/// Of `ledger`.
#[derive(Serialize, Deserialize)]
pub(super) struct LedgerFields {
    site: String,
    limit: Option<u32>,
    since: Option<String>,
    before: Option<u64>,
}

/// Of the commands that may be told of one site alone.
#[derive(Serialize, Deserialize)]
pub(super) struct OneSiteFields {
    site: Option<String>,
}

impl LedgerFields {
    pub(super) fn command(self) -> Result<Command, ControlError> {
        let limit = self.limit.unwrap_or(DEFAULT_LEDGER_LINES);
        if !(1..=MAX_LEDGER_LINES).contains(&limit) {
            return Err(bad(format!("\"limit\" is {limit}: name a number from 1 to {MAX_LEDGER_LINES}")));
        }
        let since = self.since.as_deref().map(Since::parse).transpose()?;
        Ok(Command::Ledger { site: site(&self.site)?, limit, since, before: self.before })
    }
}

impl OneSiteFields {
    pub(super) fn site(self) -> Result<Option<Site>, ControlError> {
        self.site.as_deref().map(site).transpose()
    }
}

/// The fields of `ledger`.
pub(super) fn ledger_fields(site: &Site, limit: u32, since: Option<Since>, before: Option<u64>) -> Value {
    json!({"site": site.as_str(), "limit": limit, "since": since.map(Since::to_text), "before": before})
}

/// The fields of a command that may be told of one site alone.
pub(super) fn one_site(site: Option<&Site>) -> Value {
    json!({"site": site.map(Site::as_str)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Option<Since>) {
        assert_eq!(Since::parse(text).ok(), wanted, "{text}");
    }

    #[test]
    fn moments_and_spans_are_told_apart() {
        check("2h", Some(Since::Ago(Duration::from_secs(7200))));
        check("2026-11-30", Some(Since::At(Timestamp::from_secs(1_795_996_800))));
        check("2026-11-30T17:05:09Z", Some(Since::At(Timestamp::from_secs(1_796_058_309))));
        check("1796058309", None);
        check("yesterday", None);
        check("", None);
    }

    #[test]
    fn since_reads_back_as_it_was_written() {
        for since in [Since::At(Timestamp::from_millis(1_796_058_309_123)), Since::Ago(Duration::from_secs(90))] {
            assert_eq!(Since::parse(&since.to_text()), Ok(since));
        }
    }
}
