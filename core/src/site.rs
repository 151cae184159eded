//! The site: the unit of budget, delay, backoff and ownership.
//!
//! A site is the registrable domain by the Public Suffix List, its private section included; for an IPv4 address or a single-label
//! name it is that host. A host that is itself a public suffix is its own site.
//!
//! What it deliberately does not do: read what a person typed. International letters, odd forms of addresses and percent-encoded hosts
//! are made plain by the URL parser, so a site comes from a [`crate::url::PageUrl`].

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// A registrable domain, an IPv4 address or a single-label host: always lower case, in its ASCII (punycode) form, no trailing dot.
///
/// The private field is the invariant: a `Site` is made from a normalised host only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site(Box<str>);

impl Site {
    /// The site that a host belongs to. `host` is what the URL parser made of it: lower case, punycode; one trailing dot is dropped.
    pub fn of_host(host: &str) -> Self {
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.parse::<Ipv4Addr>().is_ok() {
            return Self(host.into());
        }
        let registrable = psl::domain_str(host).unwrap_or(host);
        Self(registrable.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `host` lies in this site.
    pub fn contains_host(&self, host: &str) -> bool {
        Self::of_host(host) == *self
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::PageUrl;

    #[track_caller]
    fn check(host: &str, wanted: &str) {
        assert_eq!(Site::of_host(host).as_str(), wanted, "host {host}");
    }

    #[test]
    fn is_the_registrable_domain() {
        check("www.example.com", "example.com");
        check("a.b.example.co.uk", "example.co.uk");
        check("example.com.", "example.com");
        check("a.quiet.test", "quiet.test");
    }

    #[test]
    fn counts_the_private_section_of_the_list() {
        check("alice.github.io", "alice.github.io");
        check("x.alice.github.io", "alice.github.io");
        check("shop.myshopify.com", "shop.myshopify.com");
    }

    #[test]
    fn knows_wildcard_and_exception_rules() {
        check("a.b.c.ck", "b.c.ck");
        check("a.www.ck", "www.ck");
        check("x.city.kawasaki.jp", "city.kawasaki.jp");
    }

    #[test]
    fn knows_international_suffixes_in_ascii_form() {
        check("xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai");
        check("www.a.xn--55qx5d.cn", "a.xn--55qx5d.cn");
        check("www.a.xn--55qx5d.xn--j6w193g", "a.xn--55qx5d.xn--j6w193g");
    }

    #[test]
    fn is_the_host_itself_for_addresses_labels_and_suffixes() {
        check("127.0.0.1", "127.0.0.1");
        check("localhost", "localhost");
        check("co.uk", "co.uk");
        check("github.io", "github.io");
    }

    #[test]
    fn is_one_for_every_spelling_of_a_host() {
        for (raw, wanted) in [
            ("http://WWW.Exämple.com./", "xn--exmple-cua.com"),
            ("http://www.ex%C3%A4mple。com", "xn--exmple-cua.com"),
            ("http://0300.0250.0.1", "192.168.0.1"),
            ("http://%30%78%63%30%2e%30%32%35%30.01/", "192.168.0.1"),
            ("http://a.公司.cn/", "a.xn--55qx5d.cn"),
        ] {
            assert_eq!(PageUrl::parse(raw, None).unwrap().site().as_str(), wanted, "{raw}");
        }
    }
}
