//! Name servers and host names as the configuration writes them, and the table of names for test hosts.
//!
//! Which line of the table answers for a host is the business of whoever resolves names.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The port that name servers listen on (RFC 1035 §4.2).
const DNS_PORT: u16 = 53;

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

/// A host name, or `*.` and a name for all names below it, or `*` for every name. Lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern(Box<str>);

/// A text is no host pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host name: write a name such as \"www.test\", \"*.test\" for all names below test, or \"*\" for all names"
)]
pub struct HostPatternError(String);

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        if text == "*" || is_host_name(name) {
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
    /// Adds a line; the later one wins.
    pub fn insert(&mut self, pattern: HostPattern, address: Ipv4Addr) {
        self.0.insert(pattern, address);
    }

    /// All lines, each pattern as text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Ipv4Addr)> {
        self.0.iter().map(|(pattern, address)| (&*pattern.0, *address))
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

pub(super) use as_text;

as_text!(NameServer, HostPattern);

#[cfg(test)]
mod tests {
    use super::*;

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
        for text in ["test", "a.test", "*.test", "*", "x_y.test"] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
        for text in
            ["", "**", "*.", "a.*.test", "a..test", "a.test.", "http://a.test", "a.test:80", "127.0.0.1", "-a.test"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn table_keeps_one_address_a_pattern() {
        let mut table = ResolveTable::default();
        for (pattern, last) in [("*.test", 1), ("*.TEST", 2), ("www.test", 3)] {
            table.insert(pattern.parse().unwrap(), Ipv4Addr::new(127, 0, 0, last));
        }
        let lines: Vec<_> = table.iter().map(|(pattern, address)| (pattern, address.octets()[3])).collect();
        assert_eq!(lines, [("*.test", 2), ("www.test", 3)]);
    }
}
