//! The section `[web]`: where the public pages listen, how much one client may ask, and whom a forwarded address is believed from.
//!
//! Nothing here opens a socket or reads a certificate; that is the business of the root package.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::addresses::as_text;
use super::quantity::span;

/// Where the public pages listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// Nowhere: the node has no public pages.
    Off,
    /// At this address; port 0 takes any that is free.
    At(SocketAddr),
}

/// A text is no address to listen at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address to listen at: write an IP address and a port, such as \"127.0.0.1:8080\", or \"off\"")]
pub struct ListenAddressError(String);

impl FromStr for ListenAddress {
    type Err = ListenAddressError;

    fn from_str(text: &str) -> Result<Self, ListenAddressError> {
        match text {
            "off" => Ok(Self::Off),
            _ => text.parse().map(Self::At).map_err(|_| ListenAddressError(text.to_owned())),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::At(address) => write!(f, "{address}"),
        }
    }
}

/// A block of IPv4 or IPv6 addresses that reverse proxies ask from, written `10.0.0.0/8` or `::1`.
///
/// Invariant: no bit behind the prefix is set, and no address is an IPv4 one in the guise of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProxyRange {
    first: IpAddr,
    prefix_bits: u8,
}

/// A text is no block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no range of addresses: write an address such as \"127.0.0.1\" or \"::1\", or its first one with a prefix length, such as \"10.0.0.0/8\""
)]
pub struct ProxyRangeError(String);

impl ProxyRange {
    /// Whether the address lies in it; an IPv4 address in IPv6 form counts as the IPv4 address.
    pub fn contains(self, address: IpAddr) -> bool {
        first_of(address.to_canonical(), self.prefix_bits) == Some(self.first)
    }
}

/// The first address of the block of this size that holds `address`; none where there is no block of that size.
fn first_of(address: IpAddr, prefix_bits: u8) -> Option<IpAddr> {
    let prefix_bits = u32::from(prefix_bits);
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(u32::BITS.checked_sub(prefix_bits)?).unwrap_or(0);
            Some(IpAddr::V4((v4.to_bits() & mask).into()))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(u128::BITS.checked_sub(prefix_bits)?).unwrap_or(0);
            Some(IpAddr::V6((v6.to_bits() & mask).into()))
        }
    }
}

impl FromStr for ProxyRange {
    type Err = ProxyRangeError;

    fn from_str(text: &str) -> Result<Self, ProxyRangeError> {
        let refusal = || ProxyRangeError(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| refusal())?;
        let whole = if first.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match prefix {
            None => whole,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().map_err(|_| refusal())?,
            Some(_) => return Err(refusal()),
        };
        if first.to_canonical() != first || first_of(first, prefix_bits) != Some(first) {
            return Err(refusal());
        }
        Ok(Self { first, prefix_bits })
    }
}

impl fmt::Display for ProxyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.first.is_ipv4() { 32 } else { 128 };
        match self.prefix_bits == whole {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}/{}", self.first, self.prefix_bits),
        }
    }
}

as_text!(ListenAddress, ProxyRange);

/// The public pages of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebSettings {
    /// Where they listen.
    pub listen: ListenAddress,
    /// Host names that they are reached by; requests for another are refused. Where there is none and they listen on the loopback,
    /// only the loopback's own names are taken.
    pub hostnames: Vec<String>,
    /// Addresses of reverse proxies, which are believed about whom they ask for.
    pub trusted_proxies: Vec<ProxyRange>,
    /// PEM file of the certificate and its chain; plain HTTP where it is empty.
    pub tls_certificate: PathBuf,
    /// PEM file of the certificate's private key.
    pub tls_key: PathBuf,
    /// Most connections at once; further ones wait.
    pub max_connections: u32,
    /// Longest time for a TLS handshake, for the head of a request to come, for the index to answer, and for an answer to be taken.
    #[serde(with = "span")]
    pub request_timeout: Duration,
    /// How long a connection stays open without a request.
    #[serde(with = "span")]
    pub keep_alive: Duration,
    /// Requests that one client may make in a minute for as long as it likes.
    pub requests_per_minute: u32,
    /// Requests that one client may make at once.
    pub request_burst: u32,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            listen: ListenAddress::At(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080)),
            hostnames: Vec::new(),
            trusted_proxies: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            max_connections: 512,
            request_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            requests_per_minute: 120,
            request_burst: 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_address_is_an_address_with_a_port_or_off() {
        for text in ["off", "127.0.0.1:8080", "0.0.0.0:0", "[::1]:8080"] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), text);
        }
        for text in ["", "127.0.0.1", "localhost:8080", ":8080", "8080", "127.0.0.1:99999", "OFF"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn proxy_range_is_written_in_one_way_only() {
        for text in ["127.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::/0"] {
            assert_eq!(text.parse::<ProxyRange>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "::/129",
            "fd00::1/8",
            "a/8",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "::ffff:10.0.0.1",
        ] {
            assert!(text.parse::<ProxyRange>().is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check_contains(range: &str, address: &str, wanted: bool) {
        let contains = range.parse::<ProxyRange>().unwrap().contains(address.parse().unwrap());
        assert_eq!(contains, wanted, "{address} in {range}");
    }

    #[test]
    fn proxy_range_holds_the_addresses_with_its_prefix() {
        check_contains("10.0.0.0/8", "10.255.1.2", true);
        check_contains("10.0.0.0/8", "11.0.0.0", false);
        check_contains("10.0.0.0/8", "::ffff:10.0.0.1", true);
        check_contains("10.0.0.0/8", "::10.0.0.1", false);
        check_contains("127.0.0.1", "127.0.0.1", true);
        check_contains("127.0.0.1", "127.0.0.2", false);
        check_contains("fd00::/8", "fdff::1", true);
        check_contains("fd00::/8", "fe00::1", false);
        check_contains("0.0.0.0/0", "203.0.113.9", true);
        check_contains("0.0.0.0/0", "::1", false);
        check_contains("::/0", "203.0.113.9", false);
        check_contains("fd00::/64", "10.0.0.1", false);
    }
}
