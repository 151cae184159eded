//! Which hosts, IPv4 addresses and ports are never dialled.
//!
//! A page can name any host, and a name server can answer with any address; so before a connection is made, the address is held
//! against the ranges that are no part of the public web. This module decides about a host, an address or a port that is already
//! known: it does not resolve names, and it does not look at IPv6 (a request never leaves over it, and [`crate::url::PageUrl`]
//! refuses such hosts, those that embed an IPv4 address included).
//!
//! Invariant: an address inside a special-purpose range passes only where the configuration opened a range that holds it.

mod names;
mod ports;
mod range;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

pub use self::names::{NameStanding, ReservedSuffix, standing_of_name};
pub use self::ports::port_is_blocked;
pub use self::range::{Ipv4Range, RangeError};

/// Why nothing is asked of a host, in words for the operator: what was found, and which setting would open it, if any.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    /// The address is in a range that is no part of the public web.
    #[error("{address} is in {range}; a range in network.allow_ranges that holds it would open it")]
    InRange {
        /// The address, literal or from a name server.
        address: Ipv4Addr,
        /// The range.
        range: RefusedRange,
    },
    /// The name is none of the public DNS; it was not looked up.
    #[error("names in {0} are not looked up; an address in network.resolve would open it")]
    Name(ReservedSuffix),
    /// The port is another protocol's.
    #[error("port {0} is not for the web, and blocked as in browsers; no setting opens it")]
    Port(u16),
    /// The host is an IPv6 address.
    #[error("IPv6 is not used; no setting opens it")]
    Ipv6,
}

/// A special-purpose range that an address was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{range} ({name})")]
pub struct RefusedRange {
    /// The range.
    pub range: Ipv4Range,
    /// What it is for, in a few words.
    pub name: &'static str,
}

/// The IANA IPv4 special-purpose registry (RFC 6890) with multicast (RFC 5771), but for the blocks that the registry marks as
/// reachable from everywhere. 192.0.0.0/24 is refused whole: its two reachable addresses serve no pages.
const SPECIAL_PURPOSE: [RefusedRange; 16] = [
    refused([0, 0, 0, 0], 8, "this network"),
    refused([10, 0, 0, 0], 8, "private"),
    refused([100, 64, 0, 0], 10, "shared by a carrier"),
    refused([127, 0, 0, 0], 8, "loopback"),
    refused([169, 254, 0, 0], 16, "link-local"),
    refused([172, 16, 0, 0], 12, "private"),
    refused([192, 0, 0, 0], 24, "protocol assignments"),
    refused([192, 0, 2, 0], 24, "documentation"),
    refused([192, 88, 99, 0], 24, "6to4 relay"),
    refused([192, 168, 0, 0], 16, "private"),
    refused([198, 18, 0, 0], 15, "benchmarking"),
    refused([198, 51, 100, 0], 24, "documentation"),
    refused([203, 0, 113, 0], 24, "documentation"),
    refused([224, 0, 0, 0], 4, "multicast"),
    refused([255, 255, 255, 255], 32, "broadcast"),
    refused([240, 0, 0, 0], 4, "reserved"),
];

const fn refused(first: [u8; 4], prefix_bits: u8, name: &'static str) -> RefusedRange {
    RefusedRange { range: Ipv4Range::literal(first, prefix_bits), name }
}

/// Whether the address may be dialled: it is public, or lies in a range that the configuration opened.
pub fn vet(address: Ipv4Addr, allowed: &[Ipv4Range]) -> Result<(), AddressRefusal> {
    if allowed.iter().any(|range| range.contains(address)) {
        return Ok(());
    }
    match SPECIAL_PURPOSE.iter().find(|special| special.range.contains(address)) {
        Some(special) => Err(AddressRefusal::InRange { address, range: *special }),
        None => Ok(()),
    }
}
