//! Domains that asked to be left out.
//!
//! An exclusion covers a DNS name and every name below it, whatever the bounds of sites: `example.com` covers
//! `www.example.com`; `github.io` covers every site below it; `blog.example.com` covers a part of a site.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::site::Site;
use crate::time::Timestamp;
use crate::url::without_userinfo;

/// A DNS name in ASCII form, lower case, no trailing dot; or an IPv4 address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Domain(Box<str>);

/// A text is no DNS name. What it repeats of the text has no password in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a domain name: give a name such as example.com, without scheme, port, path or *; all names below it are meant too"
)]
pub struct DomainError {
    text: String,
}

impl Domain {
    /// Reads a name as a person writes it, in every spelling that a URL may have it in: any case, international letters, percent
    /// triplets, full-width letters and dots, odd forms of an address, one trailing dot.
    pub fn parse(text: &str) -> Result<Self, DomainError> {
        let refuse = || DomainError { text: without_userinfo(text).into_owned() };
        match ::url::Host::parse(text.trim()) {
            Ok(::url::Host::Domain(ascii)) => {
                let name = ascii.strip_suffix('.').unwrap_or(&ascii);
                if is_dns_name(name) { Ok(Self(name.into())) } else { Err(refuse()) }
            }
            Ok(::url::Host::Ipv4(address)) => Ok(Self(address.to_string().into())),
            Ok(::url::Host::Ipv6(_)) | Err(_) => Err(refuse()),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `host` is this name or lies below it.
    pub fn covers_host(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        match host.strip_suffix(&*self.0) {
            Some("") => true,
            Some(rest) => rest.ends_with('.'),
            None => false,
        }
    }

    /// Whether every host of `site` is covered.
    pub fn covers_site(&self, site: &Site) -> bool {
        self.covers_host(site.as_str())
    }

    /// Whether it touches `site`: covers it, or is a name below it.
    pub fn touches_site(&self, site: &Site) -> bool {
        self.covers_site(site) || site.contains_host(&self.0)
    }
}

/// Letters, digits, hyphens and underscores in labels that are not empty; so no `*`: a name covers all below it as it is.
fn is_dns_name(ascii: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    ascii.split('.').all(is_label)
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One exclusion as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    /// When it was asked for.
    pub at: Timestamp,
    /// The operator's words.
    pub reason: String,
}

/// All exclusions in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusions(BTreeMap<Domain, Exclusion>);

impl Exclusions {
    /// Puts a domain in; the first reason and time stay when it is in already.
    pub fn insert(&mut self, domain: Domain, exclusion: Exclusion) {
        self.0.entry(domain).or_insert(exclusion);
    }

    /// Takes a domain out; false if it was not in.
    pub fn remove(&mut self, domain: &Domain) -> bool {
        self.0.remove(domain).is_some()
    }

    /// The exclusion that covers `host`, the widest first: one look-up per label.
    pub fn covering(&self, host: &str) -> Option<(&Domain, &Exclusion)> {
        let host = host.strip_suffix('.').unwrap_or(host);
        if self.0.is_empty() {
            return None;
        }
        let starts = std::iter::once(0).chain(host.match_indices('.').map(|(dot, _)| dot + 1));
        let names: Vec<&str> = starts.map(|start| &host[start..]).collect();
        names.into_iter().rev().find_map(|name| self.0.get_key_value(&Domain(name.into())))
    }

    /// Whether `host` is covered.
    pub fn covers_host(&self, host: &str) -> bool {
        self.covering(host).is_some()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Domain, &Exclusion)> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that touch `site`: what its host queue has to know.
    pub fn touching(&self, site: &Site) -> Self {
        Self(self.0.iter().filter(|(d, _)| d.touches_site(site)).map(|(d, e)| (d.clone(), e.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(domain: &str, host: &str, wanted: bool) {
        let domain = Domain::parse(domain).unwrap();
        assert_eq!(domain.covers_host(host), wanted, "{domain} over {host}");
        let mut all = Exclusions::default();
        all.insert(domain.clone(), Exclusion { at: Timestamp::EPOCH, reason: String::new() });
        assert_eq!(all.covers_host(host), wanted, "set with {domain} over {host}");
    }

    #[test]
    fn covers_the_name_and_all_below_it_and_no_other() {
        check("example.com", "example.com", true);
        check("Example.COM.", "www.example.com", true);
        check("example.com", "a.b.example.com.", true);
        check("example.com", "badexample.com", false);
        check("example.com", "com", false);
        check("blog.example.com", "example.com", false);
        check("github.io", "alice.github.io", true);
        check("bücher.example", "www.xn--bcher-kva.example", true);
        check("192.0.2.1", "192.0.2.1", true);
    }

    #[test]
    fn refuses_what_is_no_name() {
        for text in
            ["", ".", "https://example.com/", "example.com:80", "a..b", "[::1]", "exa mple.com", "*.example.com", "*"]
        {
            assert!(Domain::parse(text).is_err(), "{text}");
        }
    }
}
