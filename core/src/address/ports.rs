//! Ports that no request goes to, whatever the address.

/// Ports that speak another protocol than HTTP: the list of the WHATWG Fetch standard ("bad port"), ascending. A link to one of
/// them would make the node talk to a mail or name server.
const BLOCKED_PORTS: [u16; 82] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
];

/// The one bad port above the others; apart so that the table stays a table.
const BLOCKED_HIGH_PORT: u16 = 10080;

/// Whether no request may go to that port.
pub fn port_is_blocked(port: u16) -> bool {
    port == BLOCKED_HIGH_PORT || BLOCKED_PORTS.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_port_of_the_fetch_standard_is_blocked_and_its_neighbours_are_not() {
        // https://fetch.spec.whatwg.org/#port-blocking, as runs of ports, so that this is not the same table once more.
        let runs = [
            (0, 1),
            (7, 7),
            (9, 9),
            (11, 11),
            (13, 13),
            (15, 15),
            (17, 17),
            (19, 23),
            (25, 25),
            (37, 37),
            (42, 43),
            (53, 53),
            (69, 69),
            (77, 77),
            (79, 79),
            (87, 87),
            (95, 95),
            (101, 104),
            (109, 111),
            (113, 113),
            (115, 115),
            (117, 117),
            (119, 119),
            (123, 123),
            (135, 135),
            (137, 137),
            (139, 139),
            (143, 143),
            (161, 161),
            (179, 179),
            (389, 389),
            (427, 427),
            (465, 465),
            (512, 515),
            (526, 526),
            (530, 532),
            (540, 540),
            (548, 548),
            (554, 554),
            (556, 556),
            (563, 563),
            (587, 587),
            (601, 601),
            (636, 636),
            (989, 990),
            (993, 993),
            (995, 995),
            (1719, 1720),
            (1723, 1723),
            (2049, 2049),
            (3659, 3659),
            (4045, 4045),
            (4190, 4190),
            (5060, 5061),
            (6000, 6000),
            (6566, 6566),
            (6665, 6669),
            (6679, 6679),
            (6697, 6697),
            (10080, 10080),
        ];
        for port in 0..=u16::MAX {
            let wanted = runs.iter().any(|(first, last)| (*first..=*last).contains(&port));
            assert_eq!(port_is_blocked(port), wanted, "{port}");
        }
    }

    #[test]
    fn ports_are_looked_up_in_order() {
        assert!(BLOCKED_PORTS.is_sorted() && BLOCKED_HIGH_PORT > BLOCKED_PORTS[BLOCKED_PORTS.len() - 1]);
    }
}
