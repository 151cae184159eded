//! Violations at an address that sites share, planted one by one.

use super::*;

const SHARED: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);

/// Requests for robots.txt, each of another site at the same address: start and end in milliseconds.
fn log_of(times: &[(u64, u64)]) -> Vec<LogEntry> {
    let mut log = Log { entries: Vec::new(), now_us: 0 };
    for (number, (start_ms, end_ms)) in times.iter().enumerate() {
        let entry = log.robots(&format!("site-{number}.test"), RobotsRole::Settles);
        (entry.address, entry.start_us) = (SHARED, start_ms * 1_000);
        entry.end.as_mut().expect("it was given").end_us = end_ms * 1_000;
    }
    log.entries
}

fn address_rules() -> AuditRules {
    let shared = AuditRules { max_at_address: 2, address_delay: Duration::from_millis(200), ..rules() };
    AuditRules { start_slack: Duration::from_millis(30), ..shared }
}

#[track_caller]
fn check_address(entries: &[LogEntry], wanted: &[(ViolationKind, u64)]) -> AuditReport {
    let report = audit(entries, &AuditLabels::default(), &address_rules());
    let found: Vec<(ViolationKind, u64)> =
        report.violations.iter().map(|violation| (violation.kind, violation.entry.seq)).collect();
    assert_eq!(found, wanted, "{report}");
    report
}

#[test]
fn one_too_many_at_an_address_is_counted_whatever_the_sites() {
    let entries = log_of(&[(0, 900), (200, 901), (400, 500), (900, 1_000)]);
    let report = check_address(&entries, &[(ViolationKind::TooManyAtAddress, 2)]);
    let figures = &report.addresses[&SHARED];
    assert_eq!((figures.max_at_once, figures.num_sites, figures.num_requests), (3, 4, 4));
    assert_eq!(report.max_at_address(), 3);
    assert_eq!(report.max_at_once(), 1, "no site saw two");
}

#[test]
fn start_too_soon_after_another_at_the_address_is_counted_beyond_the_slack() {
    let entries = log_of(&[(0, 10), (169, 180), (339, 350), (600, 610)]);
    let report = check_address(&entries, &[(ViolationKind::AddressTooSoon, 1)]);
    assert_eq!(report.addresses[&SHARED].min_gap_us, Some(169_000));
    assert_eq!(report.min_address_gap_us(), Some(169_000));
}

#[test]
fn lateness_of_the_log_itself_is_no_fault_of_whoever_asks() {
    let mut entries = log_of(&[(0, 10), (120, 130), (240, 250), (440, 450)]);
    entries[0].late_us = 50_000;
    entries[1].late_us = 49_000;
    // How late the second of two was noted says nothing: it came later than the gap tells, if anything.
    entries[2].late_us = 500_000;
    check_address(&entries, &[(ViolationKind::AddressTooSoon, 2)]);
}

#[test]
fn two_addresses_have_nothing_to_do_with_each_other() {
    let mut entries = log_of(&[(0, 900), (200, 900), (200, 900), (201, 900)]);
    for entry in &mut entries[2..] {
        entry.address = Ipv4Addr::new(127, 0, 0, entry.seq as u8);
    }
    let report = check_address(&entries, &[]);
    assert_eq!(report.num_shared_addresses(), 1);
}

#[test]
fn request_without_an_end_keeps_its_place_for_good() {
    let mut entries = log_of(&[(0, 10), (200, 210), (400, 410), (600, 610)]);
    for entry in &mut entries[..2] {
        entry.end = None;
    }
    check_address(&entries, &[(ViolationKind::TooManyAtAddress, 2), (ViolationKind::TooManyAtAddress, 3)]);
}

#[test]
fn shared_addresses_are_reported() {
    let text = check_address(&log_of(&[(0, 300), (250, 310)]), &[]).to_string();
    assert!(text.contains("addresses that sites share: 1\n"), "{text}");
    assert!(text.contains("most requests at once at an address: 2\n"), "{text}");
    assert!(text.contains("smallest gap between starts at a shared address: 250 ms\n"), "{text}");
}
