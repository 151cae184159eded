//! What an audit can find, each with the promise that it breaks and in words.

use std::time::Duration;

use crate::exclusion::Domain;
use crate::ledger::{TicketNumber, WaitReason};
use crate::time::Timestamp;

/// The promises that a ledger can show broken. DESIGN numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// P1: few requests a site and cycle, and no second budget before the interval is over.
    Budget,
    /// P2: one request at a time, the next after the delay.
    Politeness,
    /// P3: robots.txt is read first, and obeyed.
    Robots,
    /// P4: waits are kept.
    Waits,
    /// P5: no barrier is passed.
    Barriers,
    /// P8: who is excluded is left alone.
    Exclusions,
    /// P14: each request is accounted for before it leaves.
    Account,
}

/// One way to break a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// More page requests than a cycle has.
    OverBudget {
        /// The cycle.
        cycle: u32,
        /// Page requests in it, this one included.
        num_requests: u32,
        /// How many it has.
        budget: u16,
    },
    /// A cycle began before the one before was over.
    CycleTooSoon {
        /// No sooner than this, it was said.
        promised_at: Timestamp,
    },
    /// A cycle is to last shorter than it must.
    IntervalTooShort {
        /// As it began, the next was set for then.
        next_cycle_at: Timestamp,
        /// From one to the next, at least.
        interval: Duration,
    },
    /// A cycle began so soon after the last page request that two budgets stand back to back.
    BudgetsTooClose {
        /// When that request left.
        last_page_at: Timestamp,
        /// What is to pass after it, at least.
        rest: Duration,
    },
    /// A request while no cycle was open.
    OutsideCycle,
    /// A request before the one before had ended.
    TwoAtOnce {
        /// The open one.
        open: TicketNumber,
    },
    /// A request before the delay was over.
    TooSoon {
        /// When the last one ended.
        ended_at: Timestamp,
        /// How long to wait from then.
        delay: Duration,
    },
    /// A page before the robots.txt of its origin was read.
    RobotsUnread,
    /// A page under a robots.txt that was read too long ago.
    RobotsOld {
        /// When it was read.
        read_at: Timestamp,
    },
    /// A page though the robots.txt of its origin asks for a login.
    RobotsLogin {
        /// The status that said so.
        status: u16,
    },
    /// A page under a line that forbids it.
    Disallowed {
        /// Its number.
        line: u32,
        /// The line.
        text: String,
    },
    /// A page as if it were a robots.txt, or the other way round.
    WrongGround,
    /// More origins than a cycle takes up.
    TooManyOrigins {
        /// This one included.
        num_origins: usize,
        /// How many it takes up.
        cap: u16,
    },
    /// A request while the site was to be left alone.
    DuringWait {
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: WaitReason,
    },
    /// A request after a 429 or 5xx that no wait followed.
    BusyWithoutWait {
        /// The status.
        status: u16,
    },
    /// A request to a site that was to be left alone behind a barrier.
    BehindBarrier {
        /// Until when.
        until: Timestamp,
    },
    /// A request to an excluded domain.
    Excluded {
        /// Which.
        domain: Domain,
        /// Since when.
        since: Timestamp,
    },
    /// The end of a request that had no leave.
    OutcomeWithoutTicket {
        /// The number that it names.
        ticket: TicketNumber,
    },
    /// A number that does not follow the one before: a ticket is missing, or was used twice.
    TicketOutOfOrder {
        /// The number.
        got: TicketNumber,
        /// The one that belongs there.
        wanted: TicketNumber,
    },
}

impl Promise {
    /// Its number and what it says.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Budget => {
                "P1: at most 20 page requests a site and cycle, no second budget before the interval is over"
            }
            Self::Politeness => {
                "P2: one request a site at a time, the next no sooner than the delay after the last ended"
            }
            Self::Robots => "P3: robots.txt is read before anything else of its origin, and obeyed",
            Self::Waits => "P4: after 429 and 5xx the whole site is left alone, and Retry-After is never shortened",
            Self::Barriers => "P5: a site behind a login, paywall or bot protection is left alone for a time",
            Self::Exclusions => "P8: an excluded domain is asked nothing",
            Self::Account => "P14: a request leaves only once its ticket is on the disk",
        }
    }

    /// Its number alone.
    pub const fn number(self) -> &'static str {
        match self {
            Self::Budget => "P1",
            Self::Politeness => "P2",
            Self::Robots => "P3",
            Self::Waits => "P4",
            Self::Barriers => "P5",
            Self::Exclusions => "P8",
            Self::Account => "P14",
        }
    }
}

impl Breach {
    /// Which promise it breaks.
    pub const fn promise(&self) -> Promise {
        match self {
            Self::OverBudget { .. }
            | Self::CycleTooSoon { .. }
            | Self::IntervalTooShort { .. }
            | Self::BudgetsTooClose { .. }
            | Self::OutsideCycle => Promise::Budget,
            Self::TwoAtOnce { .. } | Self::TooSoon { .. } => Promise::Politeness,
            Self::RobotsUnread
            | Self::RobotsOld { .. }
            | Self::RobotsLogin { .. }
            | Self::Disallowed { .. }
            | Self::WrongGround
            | Self::TooManyOrigins { .. } => Promise::Robots,
            Self::DuringWait { .. } | Self::BusyWithoutWait { .. } => Promise::Waits,
            Self::BehindBarrier { .. } => Promise::Barriers,
            Self::Excluded { .. } => Promise::Exclusions,
            Self::OutcomeWithoutTicket { .. } | Self::TicketOutOfOrder { .. } => Promise::Account,
        }
    }

    /// A word for machines; it never changes.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OverBudget { .. } => "over_budget",
            Self::CycleTooSoon { .. } => "cycle_too_soon",
            Self::IntervalTooShort { .. } => "interval_too_short",
            Self::BudgetsTooClose { .. } => "budgets_too_close",
            Self::OutsideCycle => "outside_cycle",
            Self::TwoAtOnce { .. } => "two_at_once",
            Self::TooSoon { .. } => "too_soon",
            Self::RobotsUnread => "robots_unread",
            Self::RobotsOld { .. } => "robots_old",
            Self::RobotsLogin { .. } => "robots_login",
            Self::Disallowed { .. } => "disallowed",
            Self::WrongGround => "wrong_ground",
            Self::TooManyOrigins { .. } => "too_many_origins",
            Self::DuringWait { .. } => "during_wait",
            Self::BusyWithoutWait { .. } => "busy_without_wait",
            Self::BehindBarrier { .. } => "behind_barrier",
            Self::Excluded { .. } => "excluded",
            Self::OutcomeWithoutTicket { .. } => "outcome_without_ticket",
            Self::TicketOutOfOrder { .. } => "ticket_out_of_order",
        }
    }

    /// What happened, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::OverBudget { cycle, num_requests, budget } => {
                format!("page request {num_requests} of cycle {cycle}, which has {budget}")
            }
            Self::CycleTooSoon { promised_at } => {
                format!("a new cycle, and with it a new budget, though none was due before {promised_at}")
            }
            Self::IntervalTooShort { next_cycle_at, interval } => {
                format!(
                    "a cycle that lets the next begin at {next_cycle_at}, though it is to last {} s",
                    interval.as_secs()
                )
            }
            Self::BudgetsTooClose { last_page_at, rest } => {
                format!(
                    "a new cycle, and with it a new budget, sooner than {} s after the page request of {last_page_at}",
                    rest.as_secs()
                )
            }
            Self::OutsideCycle => "a request while no cycle was open".to_owned(),
            Self::TwoAtOnce { open } => format!("a request while request {open} to the same site had not ended"),
            Self::TooSoon { ended_at, delay } => {
                format!("a request sooner than {:.3} s after the last one ended at {ended_at}", delay.as_secs_f64())
            }
            Self::RobotsUnread => "a request before the robots.txt of its origin was read".to_owned(),
            Self::RobotsOld { read_at } => format!("a request under a robots.txt that was last read at {read_at}"),
            Self::RobotsLogin { status } => {
                format!("a request though the robots.txt of its origin answered {status}, so a login stands before it")
            }
            Self::Disallowed { line, text } => {
                format!("a request under line {line} of robots.txt, which forbids it: {text}")
            }
            Self::WrongGround => "a page and a robots.txt are not asked on the same ground".to_owned(),
            Self::TooManyOrigins { num_origins, cap } => {
                format!("a request to origin {num_origins} of the cycle, which takes up {cap}")
            }
            Self::DuringWait { until, reason } => {
                format!("a request though the site was to be left alone until {until}: {}", reason.describe())
            }
            Self::BusyWithoutWait { status } => format!("a request after the site answered {status}, without a wait"),
            Self::BehindBarrier { until } => {
                format!("a request though a barrier was met, and the site was to be left alone until {until}")
            }
            Self::Excluded { domain, since } => format!("a request though {domain} is excluded since {since}"),
            Self::OutcomeWithoutTicket { ticket } => format!("the end of request {ticket}, which has no ticket"),
            Self::TicketOutOfOrder { got, wanted } => format!("ticket {got} where ticket {wanted} belongs"),
        }
    }
}
