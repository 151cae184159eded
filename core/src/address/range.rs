//! Blocks of IPv4 addresses as the configuration writes them.
//!
//! Invariant: no bit behind the prefix is set, so a range is written in one way only.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A block of IPv4 addresses, written `192.0.2.0/24`; a single address stands for itself alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ipv4Range {
    first: Ipv4Addr,
    prefix_bits: u8,
}

/// Why a text is no range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The part before the slash is no IPv4 address.
    #[error("{0:?} is not an IPv4 address")]
    Address(String),
    /// The part after the slash is no number from 0 to 32.
    #[error("{0:?} is not a prefix length from 0 to 32")]
    Prefix(String),
    /// Bits behind the prefix are set, so it is unclear which range is meant.
    #[error("{written} is not the first address of its range; write {meant}")]
    HostBits {
        /// What was written.
        written: String,
        /// The range that holds it.
        meant: Ipv4Range,
    },
}

impl Ipv4Range {
    pub(super) const fn literal(first: [u8; 4], prefix_bits: u8) -> Self {
        Self { first: Ipv4Addr::new(first[0], first[1], first[2], first[3]), prefix_bits }
    }

    /// The range of one address.
    pub const fn single(address: Ipv4Addr) -> Self {
        Self { first: address, prefix_bits: 32 }
    }

    /// Whether the address lies in it.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask() == self.first.to_bits()
    }

    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(self.prefix_bits)).unwrap_or(0)
    }
}

impl FromStr for Ipv4Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let (address, prefix) = text.split_once('/').unwrap_or((text, "32"));
        let first: Ipv4Addr = address.parse().map_err(|_| RangeError::Address(address.to_owned()))?;
        let prefix_bits = prefix
            .parse::<u8>()
            .ok()
            .filter(|bits| *bits <= 32 && prefix.bytes().all(|b| b.is_ascii_digit()))
            .ok_or_else(|| RangeError::Prefix(prefix.to_owned()))?;
        let range = Self { first, prefix_bits };
        let masked = Ipv4Addr::from_bits(first.to_bits() & range.mask());
        if masked == first {
            Ok(range)
        } else {
            Err(RangeError::HostBits { written: text.to_owned(), meant: Self { first: masked, prefix_bits } })
        }
    }
}

impl fmt::Display for Ipv4Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix_bits)
    }
}

impl TryFrom<String> for Ipv4Range {
    type Error = RangeError;

    fn try_from(text: String) -> Result<Self, RangeError> {
        text.parse()
    }
}

impl From<Ipv4Range> for String {
    fn from(range: Ipv4Range) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_strictly_and_written_back_in_one_form() {
        for (text, expected) in [
            ("127.0.0.0/8", Ok("127.0.0.0/8")),
            ("0.0.0.0/0", Ok("0.0.0.0/0")),
            ("10.0.0.7", Ok("10.0.0.7/32")),
            ("10.0.0.7/32", Ok("10.0.0.7/32")),
            ("127.0.0.1/8", Err("127.0.0.1/8 is not the first address of its range; write 127.0.0.0/8")),
            ("127.0.0.0/33", Err("\"33\" is not a prefix length from 0 to 32")),
            ("127.0.0.0/+8", Err("\"+8\" is not a prefix length from 0 to 32")),
            ("127.0.0.0/", Err("\"\" is not a prefix length from 0 to 32")),
            ("127.0.0/8", Err("\"127.0.0\" is not an IPv4 address")),
            ("::1/128", Err("\"::1\" is not an IPv4 address")),
            ("", Err("\"\" is not an IPv4 address")),
        ] {
            let got = text.parse::<Ipv4Range>().map(|r| r.to_string()).map_err(|e| e.to_string());
            assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
        assert!("0.0.0.0/0".parse::<Ipv4Range>().unwrap().contains(Ipv4Addr::new(8, 8, 8, 8)));
    }
}
