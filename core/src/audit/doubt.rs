//! What an audit cannot tell: settings that may have been laxer then, and entries that are missing.

use crate::site::Site;
use crate::time::Timestamp;

/// What keeps the promise and would not keep the settings now in force. Which ones were in force then, no entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The delay that the ledger has for a request was kept, and is shorter than it would be now.
    Delay,
    /// More page requests in a cycle than one has now.
    PageRequests,
    /// More origins in a cycle than one takes up now.
    Origins,
    /// A cycle that lasts shorter than one does now.
    Interval,
}

/// Of one kind of doubt, how many there are, and the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtCount {
    /// Which kind.
    pub doubt: Doubt,
    /// How many.
    pub num: u64,
    /// Number of the first entry that shows it.
    pub first_seq: u64,
    /// When that was.
    pub first_at: Timestamp,
    /// At which site.
    pub first_site: Site,
}

/// All doubts of an audit, counted by kind in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubts(Vec<DoubtCount>);

/// A place where the ledger is not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What is missing and where, in a sentence for people.
    pub what: String,
}

impl Gap {
    /// A word for machines; it never changes.
    pub const CODE: &'static str = "ledger_incomplete";
}

impl Doubt {
    /// The settings that it is about.
    pub const fn settings(self) -> &'static str {
        match self {
            Self::Delay => "politeness.min_delay, politeness.response_time_factor and politeness.max_adaptive_delay",
            Self::PageRequests => "budget.page_requests",
            Self::Origins => "the number of origins of a cycle",
            Self::Interval => "recrawl.min_interval",
        }
    }

    /// A word for machines; it never changes.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Delay => "shorter_delay_than_now",
            Self::PageRequests => "more_requests_than_now",
            Self::Origins => "more_origins_than_now",
            Self::Interval => "shorter_interval_than_now",
        }
    }

    /// Of how many things it was true, in words.
    const fn subject(self) -> &'static str {
        match self {
            Self::Delay => "requests came sooner after the one before",
            Self::PageRequests => "page requests are more in a cycle",
            Self::Origins => "requests went to more origins in a cycle",
            Self::Interval => "cycles are followed by the next sooner",
        }
    }
}

impl DoubtCount {
    /// One sentence for people.
    pub fn describe(&self) -> String {
        let Self { doubt, num, first_at, first_site, .. } = self;
        format!(
            "{num} {} than the settings now in force would have it ({}), the first at {first_at} of {first_site}: the ledger does not say \
             what was set then, the promise was kept, and so this is no violation",
            doubt.subject(),
            doubt.settings(),
        )
    }
}

impl Doubts {
    /// One more.
    pub(super) fn note(&mut self, doubt: Doubt, seq: u64, at: Timestamp, site: &Site) {
        match self.0.iter_mut().find(|count| count.doubt == doubt) {
            Some(count) => count.num += 1,
            None => {
                let count = DoubtCount { doubt, num: 1, first_seq: seq, first_at: at, first_site: site.clone() };
                self.0.push(count);
            }
        }
    }

    /// Each kind that was met.
    pub fn counts(&self) -> &[DoubtCount] {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
