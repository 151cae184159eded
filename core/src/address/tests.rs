use proptest::prelude::*;

use super::*;
use crate::url::PageUrl;

#[track_caller]
fn check(address: &str, expected: Result<(), &str>) {
    let parsed: Ipv4Addr = address.parse().unwrap();
    let in_words =
        |range: &str| format!("{address} is in {range}; a range in network.allow_ranges that holds it would open it");
    let verdict = vet(parsed, &[]).map_err(|refused| refused.to_string());
    assert_eq!(verdict, expected.map_err(in_words), "{address}");
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

/// What becomes of a link before anything is dialled, in a few words: why it is no URL to ask for, or the range, name or port.
fn fate(link: &str) -> String {
    let url = match PageUrl::parse(link, None) {
        Ok(url) => url,
        Err(refusal) => return format!("the URL {refusal}"),
    };
    if port_is_blocked(url.origin().port()) {
        return "a blocked port".to_owned();
    }
    match url.host().parse().map(|address| vet(address, &[])) {
        Ok(Err(AddressRefusal::InRange { range, .. })) => range.name.to_owned(),
        Ok(Err(other)) => panic!("{link}: {other}"),
        Ok(Ok(())) => "dialled".to_owned(),
        Err(_) => match standing_of_name(url.host()) {
            NameStanding::Public => "looked up".to_owned(),
            NameStanding::Loopback => "loopback".to_owned(),
            NameStanding::Reserved(suffix) => suffix.to_string().split(' ').next().unwrap().to_owned(),
        },
    }
}

const NO_HOST: &str = "the URL has no host name or IPv4 address";
const NOT_HTTP: &str = "the URL is neither http nor https";
const NO_URL: &str = "the URL is not a valid URL";

#[test]
fn odd_ways_to_write_an_address_end_in_the_same_refusal() {
    for (host, wanted) in [
        ("127.0.0.1", "loopback"),
        ("127.1", "loopback"),
        ("127.0.1", "loopback"),
        ("127.0.0.9", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0x7f.1", "loopback"),
        ("0x7f.9", "loopback"),
        ("0x7f000001", "loopback"),
        ("0X7F.0.0.1", "loopback"),
        ("0x7f.0x0.0x0.0x1", "loopback"),
        ("0x0000007f.1", "loopback"),
        ("2130706433", "loopback"),
        ("017700000001", "loopback"),
        ("0177.0.0.01", "loopback"),
        ("127.0.0.1.", "loopback"),
        ("2130706433.", "loopback"),
        ("１２７.０.０.１", "loopback"),
        ("①②⑦.⓪.⓪.①", "loopback"),
        ("127。0。0。1", "loopback"),
        ("127．0｡0．1", "loopback"),
        ("127.0.0.\u{ad}1", "loopback"),
        ("12\t7.0.\n0.1", "loopback"),
        ("%31%32%37.0.0.1", "loopback"),
        ("127%2E0%2e0.1", "loopback"),
        ("%30x7f.1", "loopback"),
        ("localhost", "loopback"),
        ("LOCALHOST.", "loopback"),
        ("ⓛocalhost", "loopback"),
        ("www.localhost", "loopback"),
        ("0", "this network"),
        ("0x0", "this network"),
        ("0.0", "this network"),
        ("0x", "this network"),
        ("3232235777", "private"),
        ("0xc0a80101", "private"),
        ("192.168.257", "private"),
        ("10.1", "private"),
        ("012.1.2.3", "private"),
        ("172.16.1", "private"),
        ("0x64.0x40.1", "shared by a carrier"),
        ("0xa9fea9fe", "link-local"),
        ("169.254.43518", "link-local"),
        ("0251.0376.0251.0376", "link-local"),
        ("2852039166", "link-local"),
        ("192.0.0.170", "protocol assignments"),
        ("3221225985", "documentation"),
        ("192.88.99.1", "6to4 relay"),
        ("198.18.1", "benchmarking"),
        ("4294967295", "broadcast"),
        ("0xffffffff", "broadcast"),
        ("240.1", "reserved"),
        ("0xe0.1", "multicast"),
        ("printer.local", ".local"),
        ("metadata.google.internal", ".internal"),
        ("expyuzz4wqqyqhjn.onion.", ".onion"),
        ("router.home.arpa", ".home.arpa"),
        ("x.alt", ".alt"),
        ("x.invalid", ".invalid"),
        // Beyond an IPv4 address they are no host at all.
        ("4294967296", NO_URL),
        ("256.0.0.1", NO_URL),
        ("127.0.0.1.1", NO_URL),
        ("127.0.0.0x100", NO_URL),
        ("127.0.0.09", NO_URL),
        ("127..1", NO_URL),
        // And these pass.
        ("8.8.8.8", "dialled"),
        ("134744072", "dialled"),
        ("www.example.com", "looked up"),
        ("127.0.0.1.example.com", "looked up"),
        ("127.0.0.1.nip.io", "looked up"),
    ] {
        assert_eq!(fate(&format!("http://{host}/")), wanted, "{host}");
        assert_eq!(fate(&format!("https://{host}:8443/robots.txt")), wanted, "{host} with https and a port");
    }
}

#[test]
fn ipv6_hosts_are_no_page_urls_whatever_they_embed() {
    for host in [
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[::FFFF:10.0.0.1]",
        "[::127.0.0.1]",
        "[::a00:1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::80ff:fffe]",
        "[2001:db8::1]",
        "[2001:db8::5efe:7f00:1]",
        "[100::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[2606:4700:4700::1111]",
        "%5b::1%5d",
        "[::1%25lo]",
        "[::ffff:127.0.0.1].",
        "[127.0.0.1]",
    ] {
        let got = fate(&format!("http://{host}/"));
        assert!([NO_HOST, NO_URL].contains(&got.as_str()), "{host}: {got}");
    }
}

#[test]
fn other_schemes_ports_and_credentials_are_refused() {
    for (link, wanted) in [
        ("ftp://example.com/", NOT_HTTP),
        ("file:///etc/passwd", NOT_HTTP),
        ("gopher://127.0.0.1:70/_x", NOT_HTTP),
        ("ws://example.com/", NOT_HTTP),
        ("javascript:alert(1)", NOT_HTTP),
        ("data:text/html,x", NOT_HTTP),
        ("blob:http://example.com/1", NOT_HTTP),
        ("view-source:http://example.com/", NOT_HTTP),
        ("jar:http://example.com/x!/", NOT_HTTP),
        ("mailto:a@example.com", NOT_HTTP),
        ("http://example.com:25/", "a blocked port"),
        ("https://example.com:22/", "a blocked port"),
        ("http://example.com:6000/", "a blocked port"),
        ("http://example.com:06667/", "a blocked port"),
        ("http://example.com:10080/", "a blocked port"),
        ("http://example.com:0/", "a blocked port"),
        ("http://example.com:65536/", NO_URL),
        ("http://127.0.0.1@example.com/", "the URL carries a user name or password"),
        ("http://example.com@127.0.0.1/", "the URL carries a user name or password"),
        ("http://example.com\\@127.0.0.1/", "looked up"),
        ("http:127.0.0.1/", "loopback"),
        ("http:\\\\127.0.0.1\\", "loopback"),
        ("\u{1}http://127.1/", "loopback"),
        ("HTTP://127.1/", "loopback"),
    ] {
        assert_eq!(fate(link), wanted, "{link:?}");
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
fn refusals_say_what_would_open_them() {
    let in_range = vet(Ipv4Addr::new(10, 0, 0, 7), &[]).unwrap_err();
    let NameStanding::Reserved(suffix) = standing_of_name("nas.local") else { panic!("nas.local is public") };
    for (refusal, wanted) in [
        (in_range, "10.0.0.7 is in 10.0.0.0/8 (private); a range in network.allow_ranges that holds it would open it"),
        (
            AddressRefusal::Name(suffix),
            "names in .local (names of the local link, RFC 6762) are not looked up; an address in network.resolve would open it",
        ),
        (AddressRefusal::Port(25), "port 25 is not for the web, and blocked as in browsers; no setting opens it"),
        (AddressRefusal::Ipv6, "IPv6 is not used; no setting opens it"),
    ] {
        assert_eq!(refusal.to_string(), wanted);
    }
}

proptest! {
    /// The standard library's own idea of such addresses is a second opinion; it is narrower than ours.
    #[test]
    fn no_address_passes_that_the_standard_library_knows_as_special(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        let is_special = address.is_unspecified() || address.is_private() || address.is_loopback() || address.is_link_local()
            || address.is_multicast() || address.is_broadcast() || address.is_documentation();
        prop_assert!(!is_special || vet(address, &[]).is_err(), "{address}");
    }

    #[test]
    fn every_way_to_write_an_address_gets_the_same_verdict(bits: u32, style in 0..6) {
        let address = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets();
        let host = match style {
            0 => bits.to_string(),
            1 => format!("{bits:#x}"),
            2 => format!("0{bits:o}"),
            3 => format!("{a:#x}.0{b:o}.{}.", u16::from_be_bytes([c, d])),
            4 => format!("{a}.{}", u32::from_be_bytes([0, b, c, d])),
            _ => format!("{a}%2e{b}%2E{c}。{d}"),
        };
        let wanted = vet(address, &[]).map_or_else(
            |refusal| if let AddressRefusal::InRange { range, .. } = refusal { range.name } else { "another refusal" },
            |()| "dialled",
        );
        prop_assert_eq!(fate(&format!("http://{}/", host)), wanted, "{} for {}", host, address);
    }
}
