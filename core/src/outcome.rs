//! What one request came to, and what it means for the page and for the site.
//!
//! The way is: [`classify`] makes a closed [`Answer`] of a head, [`consequence`] says what follows from it; a request without an answer
//! has [`consequence_of_failure`]. What is deliberately not here: how many tries there were, how long the ladder's wait is, how many
//! barriers stand in a row. Those are counts, and the site's state machine keeps them.
//!
//! Invariants: every status has one answer; 429 and 5xx always make the site wait (P4), a challenge on top of them included; a body is
//! wanted only where something of it is kept.

mod answer;
mod consequence;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::answer::{Answer, Permanence, RedirectTarget, classify, wants_body};
pub use self::consequence::{
    BarrierWait, PageFate, SiteEffect, TRIES_AFTER_ASK_ONCE_MORE, TRIES_AFTER_BUSY, TRIES_AFTER_FAILURE, consequence,
    consequence_of_failure,
};

/// Why a request brought no usable answer. A value, not an error: sites fail all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FetchFailure {
    /// Nothing listens there.
    ConnectRefused,
    /// No connection within the connect time-out.
    ConnectTimeout,
    /// The network says the address cannot be reached.
    Unreachable,
    /// TLS handshake or certificate refused.
    TlsFailed,
    /// TLS handshake did not end in time.
    TlsTimeout,
    /// No response head in time.
    FirstByteTimeout,
    /// The body stopped coming.
    IdleTimeout,
    /// The whole request took too long.
    TotalTimeout,
    /// The connection ended before a whole head came.
    Reset,
    /// What came is no HTTP answer.
    Malformed,
    /// More head than `network.max_head_bytes` or `network.max_head_lines`.
    HeadTooLarge,
}

impl FetchFailure {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::Unreachable,
        Self::TlsFailed,
        Self::TlsTimeout,
        Self::FirstByteTimeout,
        Self::IdleTimeout,
        Self::TotalTimeout,
        Self::Reset,
        Self::Malformed,
        Self::HeadTooLarge,
    ];

    /// A few plain words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ConnectRefused => "connection refused",
            Self::ConnectTimeout => "no connection in time",
            Self::Unreachable => "network unreachable",
            Self::TlsFailed => "TLS handshake or certificate failed",
            Self::TlsTimeout => "TLS handshake did not end in time",
            Self::FirstByteTimeout => "no answer in time",
            Self::IdleTimeout => "the answer stopped coming",
            Self::TotalTimeout => "the answer took too long",
            Self::Reset => "connection closed before an answer",
            Self::Malformed => "the answer is not HTTP",
            Self::HeadTooLarge => "the answer's header fields are too large",
        }
    }

    /// Whether nothing was heard of the server at all: a guessed scheme may then be tried the other way.
    pub const fn nothing_answered(self) -> bool {
        matches!(self, Self::ConnectRefused | Self::ConnectTimeout | Self::Unreachable | Self::TlsTimeout)
    }
}

/// Why no address could be had for a host. No request was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResolveFailure {
    /// The name does not exist (NXDOMAIN), or has no IPv4 address.
    NoSuchName,
    /// The name servers did not answer, or answered with a failure.
    NameServers,
    /// Every address is in a range that is never dialled; the text names the range.
    AddressRefused(String),
}
