//! `network.resolve`: hosts whose address the configuration gives, so that tests and trials need no name server.
//!
//! A pattern is a host name, or `*.` before one, which stands for every name below it but not for itself; `*` alone is any host.
//! Invariant: which pattern applies does not depend on the order they were written in. An exact name wins, then the longest
//! pattern.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The patterns with their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostOverrides {
    exact: BTreeMap<String, Ipv4Addr>,
    /// By what follows the star, dot included; empty for the star alone.
    below: BTreeMap<String, Ipv4Addr>,
}

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// Neither a name nor a star before one.
    #[error("network.resolve: {0:?} is not a host name, nor `*.` before one, nor `*`")]
    Pattern(String),
    /// Two ways to write one pattern.
    #[error("network.resolve: {0:?} is given twice")]
    Twice(String),
}

impl HostOverrides {
    /// Reads the patterns of a configuration.
    pub fn new<'a>(patterns: impl IntoIterator<Item = (&'a str, Ipv4Addr)>) -> Result<Self, OverrideError> {
        let mut overrides = Self::default();
        for (pattern, address) in patterns {
            let name = normal_form(pattern);
            let (map, key) = match name.strip_prefix('*') {
                None => (&mut overrides.exact, name.as_str()),
                Some(rest) => (&mut overrides.below, rest),
            };
            let is_star_alone = key.is_empty() && name == "*";
            let bare = if name.starts_with('*') { key.strip_prefix('.').unwrap_or_default() } else { key };
            if !is_star_alone && !is_host_name(bare) {
                return Err(OverrideError::Pattern(pattern.to_owned()));
            }
            if map.insert(key.to_owned(), address).is_some() {
                return Err(OverrideError::Twice(pattern.to_owned()));
            }
        }
        Ok(overrides)
    }

    /// The address given for a host.
    pub fn address_of(&self, host: &str) -> Option<Ipv4Addr> {
        let host = normal_form(host);
        if let Some(address) = self.exact.get(&host) {
            return Some(*address);
        }
        let suffixes = host.match_indices('.').map(|(at, _)| &host[at..]);
        suffixes.chain([""]).find_map(|suffix| self.below.get(suffix)).copied()
    }
}

/// Lower case, without the dot that ends an absolute name.
fn normal_form(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn is_host_name(name: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, 0, 0, last)
    }

    #[test]
    fn the_most_specific_pattern_wins_in_any_order() {
        let mut patterns =
            [("*.test", 1), ("a.test", 2), ("*.a.test", 3), ("X.B.A.Test.", 4), ("single", 5), ("*.b.a.test", 6)];
        for _ in 0..patterns.len() {
            patterns.rotate_left(1);
            let overrides = HostOverrides::new(patterns.map(|(pattern, last)| (pattern, address(last)))).unwrap();
            for (host, expected) in [
                ("a.test", Some(2)),
                ("A.TEST", Some(2)),
                ("a.test.", Some(2)),
                ("b.test", Some(1)),
                ("c.b.test", Some(1)),
                ("b.a.test", Some(3)),
                ("x.b.a.test", Some(4)),
                ("y.b.a.test", Some(6)),
                ("z.y.b.a.test", Some(6)),
                ("test", None),
                ("atest", None),
                ("single", Some(5)),
                ("x.single", None),
                ("example.com", None),
                ("", None),
            ] {
                assert_eq!(overrides.address_of(host), expected.map(address), "{host}");
            }
        }
    }

    #[test]
    fn a_star_alone_is_any_host_that_nothing_else_names() {
        let overrides = HostOverrides::new([("*", address(1)), ("*.test", address(2))]).unwrap();
        for (host, last) in [("example.com", 1), ("single", 1), ("test", 1), ("a.test", 2)] {
            assert_eq!(overrides.address_of(host), Some(address(last)), "{host}");
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        for pattern in ["", ".", "a.*.test", "*a.test", "a..test", "**", "*.*.test", "a test", "a.test:80", "[::1]"] {
            let error = HostOverrides::new([(pattern, address(1))]).unwrap_err();
            assert_eq!(error, OverrideError::Pattern(pattern.to_owned()), "{pattern:?}");
        }
        let twice = HostOverrides::new([("a.test", address(1)), ("A.test.", address(2))]);
        assert_eq!(twice, Err(OverrideError::Twice("A.test.".to_owned())));
    }
}
