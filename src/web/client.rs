//! Whose request it is: the peer of the connection, or, where that is a trusted proxy, whom the proxy asks for.
//!
//! Anyone can send `X-Forwarded-For`; so only addresses that trusted proxies added count, read from the right, up to the first
//! that no trusted proxy stands at. `Forwarded` (RFC 7239) is not read.

use std::net::{IpAddr, SocketAddr};

use lohisoftbot_core::config::ProxyRange;

/// Most hops of a forwarded list that are read, from the right.
const MAX_HOPS: usize = 16;

/// The address of the client. `forwarded` is each line of `X-Forwarded-For`, in order.
pub(super) fn client_address<'a>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[ProxyRange],
) -> IpAddr {
    let mut address = peer.to_canonical();
    for hop in forwarded.rev().flat_map(|line| line.rsplit(',')).take(MAX_HOPS) {
        if !is_trusted(address, trusted) {
            break;
        }
        // What is no address was not written by a proxy that does its work: the proxy itself is then the client.
        let Some(next) = parse_hop(hop.trim()) else { break };
        address = next;
    }
    address
}

/// Whether it is a proxy that is believed.
pub(super) fn is_trusted(address: IpAddr, trusted: &[ProxyRange]) -> bool {
    trusted.iter().any(|range| range.contains(address))
}

/// An address as proxies write it, with or without a port.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop.parse::<IpAddr>().ok();
    let address = bare.or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()));
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    address.or_else(bracketed).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], wanted: &str) {
        let trusted: Vec<ProxyRange> = ["127.0.0.1", "10.0.0.0/8", "::1"].map(|text| text.parse().unwrap()).into();
        let client = client_address(peer.parse().unwrap(), forwarded.iter().copied(), &trusted);
        assert_eq!(client.to_string(), wanted, "{peer} for {forwarded:?}");
    }

    #[test]
    fn stranger_is_not_believed() {
        check("203.0.113.9", &[], "203.0.113.9");
        check("203.0.113.9", &["192.0.2.1"], "203.0.113.9");
        check("203.0.113.9", &["192.0.2.1, 127.0.0.1"], "203.0.113.9");
        check("11.0.0.1", &["192.0.2.1"], "11.0.0.1");
    }

    #[test]
    fn proxy_is_believed_about_the_last_address_that_is_no_proxy() {
        check("127.0.0.1", &["192.0.2.1"], "192.0.2.1");
        check("127.0.0.1", &["198.51.100.7, 192.0.2.1"], "192.0.2.1");
        check("127.0.0.1", &["198.51.100.7", "192.0.2.1"], "192.0.2.1");
        check("127.0.0.1", &["198.51.100.7, 192.0.2.1, 10.1.2.3"], "192.0.2.1");
        check("127.0.0.1", &["192.0.2.1", "10.1.2.3", "10.9.9.9"], "192.0.2.1");
        check("10.0.0.1", &["10.0.0.2,10.0.0.3"], "10.0.0.2");
        check("::1", &["2001:db8::5"], "2001:db8::5");
        check("::ffff:127.0.0.1", &["192.0.2.1"], "192.0.2.1");
    }

    #[test]
    fn addresses_are_read_with_port_and_brackets() {
        check("127.0.0.1", &["192.0.2.1:4711"], "192.0.2.1");
        check("127.0.0.1", &["[2001:db8::5]:4711"], "2001:db8::5");
        check("127.0.0.1", &["[2001:db8::5]"], "2001:db8::5");
        check("127.0.0.1", &["::ffff:192.0.2.1"], "192.0.2.1");
    }

    #[test]
    fn rubbish_leaves_the_proxy_as_the_client() {
        for rubbish in ["", "unknown", "_hidden", "1.2.3", "192.0.2.1;", "\"192.0.2.1\"", "192.0.2.1 192.0.2.2"] {
            check("127.0.0.1", &[rubbish], "127.0.0.1");
        }
        check("127.0.0.1", &["192.0.2.1, unknown"], "127.0.0.1");
        check("127.0.0.1", &["unknown, 192.0.2.1"], "192.0.2.1");
    }

    #[test]
    fn endless_list_is_read_to_a_bound() {
        check("127.0.0.1", &[&format!("192.0.2.1{}", ",10.0.0.1".repeat(100_000))], "10.0.0.1");
    }
}
