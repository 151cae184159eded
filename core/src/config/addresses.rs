//! Addresses and names as the configuration writes them: IPv4 ranges, name servers, and the table of names for test
//! hosts.
//!
//! Nothing here says whether an address may be dialled: that is the business of whoever vets addresses.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The port that name servers listen on (RFC 1035 §4.2).
const DNS_PORT: u16 = 53;

/// A range of IPv4 addresses in CIDR form, such as `127.0.0.0/8`. The bits after the prefix are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ipv4Range {
    first: Ipv4Addr,
    prefix: u8,
}

/// Why a text is no range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// No address with a prefix length.
    #[error(
        "{0:?} is no range of IPv4 addresses: write an address and the length of its prefix, such as \"127.0.0.0/8\""
    )]
    Unreadable(String),
    /// Bits after the prefix are set, so what was meant is unclear.
    #[error(
        "{written:?} has bits set after its prefix: write {meant} for the range, or {single}/32 for that one address"
    )]
    BitsAfterPrefix {
        /// What was written.
        written: String,
        /// The range that the prefix names.
        meant: Ipv4Range,
        /// The address alone.
        single: Ipv4Addr,
    },
}

impl Ipv4Range {
    /// A range from its first address and prefix length, for tables in the code. Bits after the prefix are dropped.
    pub const fn new(first: Ipv4Addr, prefix: u8) -> Self {
        let prefix = if prefix > 32 { 32 } else { prefix };
        Self { first: Ipv4Addr::from_bits(first.to_bits() & mask(prefix)), prefix }
    }

    /// Whether `address` lies in the range.
    pub const fn contains(&self, address: Ipv4Addr) -> bool {
        address.to_bits() & mask(self.prefix) == self.first.to_bits()
    }
}

const fn mask(prefix: u8) -> u32 {
    match u32::MAX.checked_shl(32 - prefix as u32) {
        Some(mask) => mask,
        None => 0,
    }
}

impl FromStr for Ipv4Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let refuse = || RangeError::Unreadable(text.to_owned());
        let (address, prefix) = text.trim().split_once('/').ok_or_else(refuse)?;
        let single: Ipv4Addr = address.parse().map_err(|_| refuse())?;
        let prefix: u8 = prefix.parse().map_err(|_| refuse())?;
        if prefix > 32 {
            return Err(refuse());
        }
        let range = Self::new(single, prefix);
        if range.first != single {
            return Err(RangeError::BitsAfterPrefix { written: text.to_owned(), meant: range, single });
        }
        Ok(range)
    }
}

impl fmt::Display for Ipv4Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

/// A name server: an IPv4 address with an optional port, such as `9.9.9.9` or `127.0.0.1:5353`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameServer(pub SocketAddrV4);

/// A text is no name server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name server: write its IPv4 address, with a port where it is not 53, such as \"9.9.9.9\" or \"127.0.0.1:5353\""
)]
pub struct NameServerError(String);

impl FromStr for NameServer {
    type Err = NameServerError;

    fn from_str(text: &str) -> Result<Self, NameServerError> {
        let text = text.trim();
        let bare = text.parse::<Ipv4Addr>().map(|address| SocketAddrV4::new(address, DNS_PORT));
        bare.or_else(|_| text.parse()).map(Self).map_err(|_| NameServerError(text.to_owned()))
    }
}

impl fmt::Display for NameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A host name, or `*.` and a name for all names below it. Lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern(Box<str>);

/// A text is no host pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no host name: write a name such as \"www.test\", or \"*.test\" for all names below test")]
pub struct HostPatternError(String);

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        if is_host_name(name) {
            Ok(Self(text.to_ascii_lowercase().into()))
        } else {
            Err(HostPatternError(text.to_owned()))
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `name` is a DNS host name in ASCII (RFC 1123 §2.1), without a trailing dot; underscores occur in the wild.
pub fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label) && name.parse::<Ipv4Addr>().is_err()
}

/// Names that are answered from the configuration, before any name server is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResolveTable(BTreeMap<HostPattern, Ipv4Addr>);

impl ResolveTable {
    /// The address of `host`: its own line, else the line of the nearest `*.` above it.
    pub fn lookup(&self, host: &str) -> Option<Ipv4Addr> {
        if self.0.is_empty() {
            return None;
        }
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if let Some(address) = self.0.get(&HostPattern(host.as_str().into())) {
            return Some(*address);
        }
        host.match_indices('.')
            .find_map(|(dot, _)| self.0.get(&HostPattern(format!("*{}", &host[dot..]).into())))
            .copied()
    }

    /// Adds a line; the later one wins.
    pub fn insert(&mut self, pattern: HostPattern, address: Ipv4Addr) {
        self.0.insert(pattern, address);
    }

    /// All lines.
    pub fn iter(&self) -> impl Iterator<Item = (&HostPattern, Ipv4Addr)> {
        self.0.iter().map(|(pattern, address)| (pattern, *address))
    }
}

/// These are read and written as the text that `FromStr` and `Display` agree on.
macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )+};
}

as_text!(Ipv4Range, NameServer, HostPattern);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_range(range: &str, address: &str, wanted: bool) {
        let parsed: Ipv4Range = range.parse().unwrap();
        assert_eq!(parsed.contains(address.parse().unwrap()), wanted, "{range} over {address}");
        assert_eq!(parsed.to_string(), range);
    }

    #[test]
    fn range_covers_what_shares_its_prefix() {
        check_range("127.0.0.0/8", "127.255.3.1", true);
        check_range("127.0.0.0/8", "128.0.0.0", false);
        check_range("10.1.2.3/32", "10.1.2.3", true);
        check_range("10.1.2.3/32", "10.1.2.2", false);
        check_range("0.0.0.0/0", "255.255.255.255", true);
        check_range("192.168.128.0/17", "192.168.127.255", false);
    }

    #[test]
    fn range_that_is_unclear_is_refused() {
        for text in ["", "127.0.0.1", "127.0.0.0/33", "127.0.0.0/-1", "127.0.0.0/8/8", "::1/128", "a/8"] {
            assert!(matches!(text.parse::<Ipv4Range>(), Err(RangeError::Unreadable(_))), "{text}");
        }
        let error = "127.0.0.1/8".parse::<Ipv4Range>().unwrap_err().to_string();
        assert!(error.contains("127.0.0.0/8") && error.contains("127.0.0.1/32"), "{error}");
    }

    #[test]
    fn name_server_has_port_53_where_none_is_written() {
        assert_eq!("9.9.9.9".parse::<NameServer>().unwrap().to_string(), "9.9.9.9:53");
        assert_eq!("127.0.0.1:5353".parse::<NameServer>().unwrap().to_string(), "127.0.0.1:5353");
        for text in ["", "dns.example", "[::1]:53", "9.9.9.9:", "9.9.9.9:99999"] {
            assert!(text.parse::<NameServer>().is_err(), "{text}");
        }
    }

    #[test]
    fn host_pattern_is_a_name_or_all_names_below_one() {
        for text in ["test", "a.test", "*.test", "x_y.test"] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
        for text in
            ["", "*", "*.", "a.*.test", "a..test", "a.test.", "http://a.test", "a.test:80", "127.0.0.1", "-a.test"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn table_answers_with_the_nearest_line() {
        let mut table = ResolveTable::default();
        for (pattern, last) in [("*.test", 1), ("*.b.test", 2), ("www.b.test", 3)] {
            table.insert(pattern.parse().unwrap(), Ipv4Addr::new(127, 0, 0, last));
        }
        for (host, wanted) in [
            ("a.test", Some(1)),
            ("A.TEST.", Some(1)),
            ("b.test", Some(1)),
            ("x.y.b.test", Some(2)),
            ("www.b.test", Some(3)),
            ("test", None),
            ("atest", None),
            ("", None),
        ] {
            assert_eq!(table.lookup(host).map(|a| a.octets()[3]), wanted, "{host}");
        }
    }
}
