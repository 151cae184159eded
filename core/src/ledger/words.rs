//! Events of the ledger in words, for tables and streams.

use super::{EndKind, LedgerEvent, SiteEvent};

impl SiteEvent {
    /// What happened, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::CycleOpened { cycle, next_cycle_at } => {
                format!("cycle {cycle} opened, the next not before {next_cycle_at}")
            }
            Self::NextCyclePutOff { next_cycle_at } => {
                format!("a page request puts the next cycle off: not before {next_cycle_at}")
            }
            Self::CycleClosed { reason } => format!("cycle closed: {}", reason.describe()),
            Self::CycleResumed => "cycle resumed: new URLs came while budget was left".to_owned(),
            Self::Delay(delay) => {
                format!("the delay is {} s, as the robots.txt asks that this site's redirects to", delay.as_secs())
            }
            Self::RobotsBorrowed { origin, lender, read_at } => {
                format!("the robots.txt of {origin} is that of {lender}, read at {read_at}")
            }
            Self::Ticket { kind, ground, .. } => format!("{kind:?}, {}", ground.describe()),
            Self::Outcome { end, .. } => end.describe(),
            Self::Wait { until, reason, rung } => format!("until {until}, rung {rung}: {}", reason.describe()),
            Self::BarrierStreak(0) => "an answer that is no barrier: none in a row".to_owned(),
            Self::BarrierStreak(1) => "1 barrier answer in a row".to_owned(),
            Self::BarrierStreak(streak) => format!("{streak} barrier answers in a row"),
            Self::Forgiven { rung } => format!("down to rung {rung}"),
            Self::Snapshot(account) => format!("cycle {}, {} requests", account.cycle, account.num_page_requests),
        }
    }

    /// The status that it tells of, if it tells of one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Outcome { end: EndKind::Answered(status), .. } => Some(*status),
            Self::Outcome { end: EndKind::Failed(_) | EndKind::Lost | EndKind::Abandoned, .. }
            | Self::CycleOpened { .. }
            | Self::Ticket { .. }
            | Self::Wait { .. }
            | Self::BarrierStreak(_)
            | Self::Forgiven { .. }
            | Self::CycleClosed { .. }
            | Self::CycleResumed
            | Self::Snapshot(_)
            | Self::Delay(_)
            | Self::RobotsBorrowed { .. }
            | Self::NextCyclePutOff { .. } => None,
        }
    }
}

impl LedgerEvent {
    /// What happened, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::Site { event, .. } => event.describe(),
            Self::Excluded { domain, exclusion } => format!("{domain} is excluded: {}", exclusion.reason),
            Self::Included { domain } => format!("{domain} is taken back in"),
        }
    }
}
