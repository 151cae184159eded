//! Which IPv4 addresses and ports are never dialled.
//!
//! A page can name any host, and a name server can answer with any address; so before a connection is made, the address is held
//! against the ranges that are no part of the public web. This module decides about an address that is already known: it does
//! not resolve names, and it does not look at IPv6 (a request never leaves over it, and [`crate::url::PageUrl`] refuses such hosts).
//!
//! Invariant: an address inside a special-purpose range passes only where the configuration opened a range that holds it.

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
    const fn literal(first: [u8; 4], prefix_bits: u8) -> Self {
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
pub fn vet(address: Ipv4Addr, allowed: &[Ipv4Range]) -> Result<(), RefusedRange> {
    if allowed.iter().any(|range| range.contains(address)) {
        return Ok(());
    }
    match SPECIAL_PURPOSE.iter().find(|special| special.range.contains(address)) {
        Some(special) => Err(*special),
        None => Ok(()),
    }
}

/// Ports that speak another protocol than HTTP: the list of the WHATWG Fetch standard ("bad port"), ascending. A link to one of
/// them would make the node talk to a mail or name server.
const BLOCKED_PORTS: [u16; 82] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
];

/// The one bad port above the others; apart so that the table stays a table.
const BLOCKED_HIGH_PORT: u16 = 10080;

/// Whether no request may go to that port.
pub fn port_is_blocked(port: u16) -> bool {
    port == BLOCKED_HIGH_PORT || BLOCKED_PORTS.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::PageUrl;

    #[track_caller]
    fn check(address: &str, expected: Result<(), &str>) {
        let parsed: Ipv4Addr = address.parse().unwrap();
        let verdict = vet(parsed, &[]).map_err(|refused| refused.to_string());
        assert_eq!(verdict, expected.map_err(str::to_owned), "{address}");
    }

    #[test]
    fn every_special_purpose_range_is_refused_by_name_and_its_neighbours_pass() {
        for (first, last, name) in [
            ("0.0.0.0", "0.255.255.255", "0.0.0.0/8 (this network)"),
            ("10.0.0.0", "10.255.255.255", "10.0.0.0/8 (private)"),
            ("100.64.0.0", "100.127.255.255", "100.64.0.0/10 (shared by a carrier)"),
            ("127.0.0.0", "127.255.255.255", "127.0.0.0/8 (loopback)"),
            ("169.254.0.0", "169.254.255.255", "169.254.0.0/16 (link-local)"),
            ("169.254.169.254", "169.254.169.254", "169.254.0.0/16 (link-local)"),
            ("172.16.0.0", "172.31.255.255", "172.16.0.0/12 (private)"),
            ("192.0.0.0", "192.0.0.255", "192.0.0.0/24 (protocol assignments)"),
            ("192.0.2.0", "192.0.2.255", "192.0.2.0/24 (documentation)"),
            ("192.88.99.0", "192.88.99.255", "192.88.99.0/24 (6to4 relay)"),
            ("192.168.0.0", "192.168.255.255", "192.168.0.0/16 (private)"),
            ("198.18.0.0", "198.19.255.255", "198.18.0.0/15 (benchmarking)"),
            ("198.51.100.0", "198.51.100.255", "198.51.100.0/24 (documentation)"),
            ("203.0.113.0", "203.0.113.255", "203.0.113.0/24 (documentation)"),
            ("224.0.0.0", "239.255.255.255", "224.0.0.0/4 (multicast)"),
            ("240.0.0.0", "255.255.255.254", "240.0.0.0/4 (reserved)"),
            ("255.255.255.255", "255.255.255.255", "255.255.255.255/32 (broadcast)"),
        ] {
            check(first, Err(name));
            check(last, Err(name));
        }
        for public in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "93.184.216.34",
        ] {
            check(public, Ok(()));
        }
    }

    #[test]
    fn odd_ways_to_write_an_address_end_in_the_same_refusal() {
        for (host, name) in [
            ("127.0.0.1", "loopback"),
            ("127.1", "loopback"),
            ("127.0.1", "loopback"),
            ("0x7f.1", "loopback"),
            ("0x7f000001", "loopback"),
            ("0X7F.0.0.1", "loopback"),
            ("2130706433", "loopback"),
            ("017700000001", "loopback"),
            ("0177.0.0.01", "loopback"),
            ("127.0.0.1.", "loopback"),
            ("１２７.０.０.１", "loopback"),
            ("①②⑦.⓪.⓪.①", "loopback"),
            ("127。0。0。1", "loopback"),
            ("%31%32%37.0.0.1", "loopback"),
            ("%30x7f.1", "loopback"),
            ("0", "this network"),
            ("0x0", "this network"),
            ("0.0", "this network"),
            ("3232235777", "private"),
            ("0xc0a80101", "private"),
            ("192.168.257", "private"),
            ("10.1", "private"),
            ("012.1.2.3", "private"),
            ("0xa9fea9fe", "link-local"),
            ("169.254.43518", "link-local"),
            ("0251.0376.0251.0376", "link-local"),
            ("4294967295", "broadcast"),
            ("0xffffffff", "broadcast"),
            ("0xe0.1", "multicast"),
        ] {
            let url = PageUrl::parse(&format!("http://{host}/"), None).unwrap_or_else(|e| panic!("{host}: {e}"));
            let address: Ipv4Addr = url.host().parse().unwrap_or_else(|_| panic!("{host} became {}", url.host()));
            assert_eq!(vet(address, &[]).unwrap_err().name, name, "{host} became {address}");
        }
    }

    #[test]
    fn hosts_that_embed_an_address_in_ipv6_are_no_page_urls() {
        for host in
            ["[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]"]
        {
            assert!(PageUrl::parse(&format!("http://{host}/"), None).is_err(), "{host}");
        }
    }

    #[test]
    fn an_opened_range_lets_its_own_addresses_pass_and_no_others() {
        let allowed = ["127.1.0.0/16".parse().unwrap(), "10.0.0.7".parse().unwrap()];
        for (address, passes) in [
            ("127.1.0.0", true),
            ("127.1.255.255", true),
            ("127.2.0.0", false),
            ("127.0.0.1", false),
            ("10.0.0.7", true),
            ("10.0.0.8", false),
            ("8.8.8.8", true),
        ] {
            assert_eq!(vet(address.parse().unwrap(), &allowed).is_ok(), passes, "{address}");
        }
    }

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

    #[test]
    fn ports_of_other_protocols_are_blocked_and_web_ports_are_not() {
        assert!(BLOCKED_PORTS.is_sorted());
        for port in [0, 1, 21, 22, 25, 53, 110, 143, 465, 587, 993, 6000, 6667, 6697, 10080] {
            assert!(port_is_blocked(port), "{port}");
        }
        for port in [80, 81, 443, 3000, 8000, 8080, 8443, 9000, 32768, 65535] {
            assert!(!port_is_blocked(port), "{port}");
        }
    }
}
