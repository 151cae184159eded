//! Which host names the pages answer to.
//!
//! A page on the web can make its own name resolve to 127.0.0.1 and then read what a node there answers (DNS rebinding); the name in the
//! request gives it away. So a node on the loopback takes only names of the loopback and those that the operator names.

use std::net::{IpAddr, SocketAddr};

use lohisoftbot_core::config::is_host_name;

/// The names that are taken.
pub(super) struct HostRule {
    names: Vec<String>,
    listens_to: Listeners,
}

/// Who can reach the listener.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listeners {
    ThisMachine,
    Others,
}

impl HostRule {
    /// For `web.hostnames`, and the address that is listened at.
    pub(super) fn new(hostnames: &[String], listen: SocketAddr) -> Self {
        let names = hostnames.iter().map(|name| name.to_ascii_lowercase()).collect();
        let is_local = listen.ip().to_canonical().is_loopback();
        Self { names, listens_to: if is_local { Listeners::ThisMachine } else { Listeners::Others } }
    }

    /// The `Host` (RFC 9110 §7.2) as it may be put into an address, if it is one that is taken.
    pub(super) fn accept(&self, host: &str) -> Option<String> {
        let host = host.to_ascii_lowercase();
        let (name, port) = split_port(&host)?;
        let literal = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        if literal.is_none() && !is_host_name(name.trim_end_matches('.')) {
            return None;
        }
        let bare = name.trim_end_matches('.');
        let is_local = bare == "localhost" || literal.is_some_and(|address| address.to_canonical().is_loopback());
        let is_named =
            self.names.iter().any(|taken| taken == bare || literal.is_some_and(|ip| taken.parse() == Ok(ip)));
        let is_open = self.names.is_empty() && self.listens_to == Listeners::Others;
        (is_named || is_local || is_open).then(|| match port {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        })
    }
}

/// Name and port; none where the text is no host.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => (&host[..colon], Some(&host[colon + 1..])),
        _ => (host, None),
    };
    let is_literal = name.starts_with('[') && name.ends_with(']');
    if name.is_empty() || (name.contains([':', '[', ']']) && !is_literal) {
        return None;
    }
    match port {
        None => Some((name, None)),
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some((name, Some(digits.parse().ok()?))),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], listen: &str, host: &str, is_taken: bool) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let taken = HostRule::new(&names, listen.parse().unwrap()).accept(host);
        assert_eq!(taken.is_some(), is_taken, "{host:?} at {listen} with {names:?}: {taken:?}");
    }

    #[test]
    fn loopback_takes_its_own_names_alone() {
        for host in [
            "localhost",
            "localhost:8080",
            "LOCALHOST.",
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:8080",
            "[::1]",
        ] {
            check(&[], "127.0.0.1:8080", host, true);
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "192.0.2.1",
            "10.0.0.1:80",
        ] {
            check(&[], "127.0.0.1:8080", host, false);
        }
    }

    #[test]
    fn named_hosts_are_taken_and_no_others() {
        let names = &["search.example.org", "192.0.2.1"];
        for listen in ["127.0.0.1:8080", "0.0.0.0:80"] {
            for host in
                ["search.example.org", "Search.Example.ORG:443", "search.example.org.", "192.0.2.1", "localhost"]
            {
                check(names, listen, host, true);
            }
            for host in ["example.org", "a.search.example.org", "192.0.2.2", "search.example.org.evil.example"] {
                check(names, listen, host, false);
            }
        }
    }

    #[test]
    fn node_that_others_reach_takes_every_well_formed_name_while_none_is_set() {
        for host in ["search.example.org", "192.0.2.1:8080", "[2001:db8::1]:80", "a_b.test"] {
            check(&[], "0.0.0.0:8080", host, true);
        }
        for host in [
            "", ":80", "a b", "a/b", "a\"b", "a@b", "a:b", "a:99999", "a:1:2", "[::1", "::1", "<script>", "a..b", "[a]",
        ] {
            check(&[], "0.0.0.0:8080", host, false);
        }
    }
}
