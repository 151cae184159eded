//! Names that are no business of the public DNS: they are never sent to a name server.
//!
//! To ask for one of them would tell a stranger's name server about a link into somebody's own network, and an answer would come from
//! whoever made it up. What the configuration itself says about a name (`network.resolve`) comes before any of this.
//!
//! Invariant: a name is told by its last labels, in any case, with or without the root's dot.

use std::fmt;

/// What a host name is to the resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStanding {
    /// A name like any other: the name servers are asked.
    Public,
    /// `localhost` or a name below it: 127.0.0.1 without a look-up (RFC 6761 §6.3), to be vetted like any address.
    Loopback,
    /// A name outside the public DNS: refused without a look-up.
    Reserved(ReservedSuffix),
}

/// A suffix that is kept out of the public DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedSuffix {
    labels: &'static str,
    purpose: &'static str,
}

impl fmt::Display for ReservedSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{} ({})", self.labels, self.purpose)
    }
}

/// From the special-use names registry (RFC 6761): those that software like this must not or should not look up. `test` and `example`
/// are not among them: applications treat these like other names (RFC 6761 §6.2, §6.5).
const RESERVED: [ReservedSuffix; 6] = [
    reserved("onion", "the Tor network, RFC 7686"),
    reserved("local", "names of the local link, RFC 6762"),
    reserved("internal", "private networks, reserved by ICANN"),
    reserved("home.arpa", "home networks, RFC 8375"),
    reserved("alt", "names outside the DNS, RFC 9476"),
    reserved("invalid", "names that never exist, RFC 6761"),
];

const fn reserved(labels: &'static str, purpose: &'static str) -> ReservedSuffix {
    ReservedSuffix { labels, purpose }
}

/// What a host name is to the resolver. The host may end in the root's dot.
pub fn standing_of_name(host: &str) -> NameStanding {
    let host = host.strip_suffix('.').unwrap_or(host);
    if lies_in(host, "localhost") {
        return NameStanding::Loopback;
    }
    match RESERVED.iter().find(|suffix| lies_in(host, suffix.labels)) {
        Some(suffix) => NameStanding::Reserved(*suffix),
        None => NameStanding::Public,
    }
}

/// Whether the name is `zone` or lies below it.
fn lies_in(name: &str, zone: &str) -> bool {
    let Some(at) = name.len().checked_sub(zone.len()) else { return false };
    let (below, last) = name.as_bytes().split_at(at);
    last.eq_ignore_ascii_case(zone.as_bytes()) && below.last().is_none_or(|byte| *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, wanted: &str) {
        let got = match standing_of_name(host) {
            NameStanding::Public => "public".to_owned(),
            NameStanding::Loopback => "loopback".to_owned(),
            NameStanding::Reserved(suffix) => suffix.to_string(),
        };
        assert_eq!(got, wanted, "{host}");
    }

    #[test]
    fn names_outside_the_public_dns_are_told_by_their_last_labels() {
        for host in ["localhost", "LocalHost", "localhost.", "foo.localhost", "a.b.LOCALHOST."] {
            check(host, "loopback");
        }
        for (host, wanted) in [
            ("expyuzz4wqqyqhjn.onion", ".onion (the Tor network, RFC 7686)"),
            ("www.x.ONION.", ".onion (the Tor network, RFC 7686)"),
            ("onion", ".onion (the Tor network, RFC 7686)"),
            ("printer.local", ".local (names of the local link, RFC 6762)"),
            ("metadata.google.internal", ".internal (private networks, reserved by ICANN)"),
            ("nas.home.arpa", ".home.arpa (home networks, RFC 8375)"),
            ("x.alt", ".alt (names outside the DNS, RFC 9476)"),
            ("a.invalid", ".invalid (names that never exist, RFC 6761)"),
        ] {
            check(host, wanted);
        }
    }

    #[test]
    fn names_that_only_look_like_those_are_public() {
        for host in [
            "localhost.example.com",
            "mylocalhost",
            "localhost2",
            "onion.example.com",
            "redonion",
            "a.redonion",
            "local.example.com",
            "internal.example.com",
            "arpa",
            "myhome.arpa",
            "1.0.0.127.in-addr.arpa",
            "shop.test",
            "www.example",
            "single",
            "онион",
            "",
            ".",
        ] {
            check(host, "public");
        }
    }
}
