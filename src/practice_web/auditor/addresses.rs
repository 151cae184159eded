//! The audit of each IP address over all the sites there: how many requests at once, how far apart their starts.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    net::Ipv4Addr,
};

use super::{AuditReport, AuditRules, Violation, ViolationKind, end_us, report::AddressFigures};
use crate::practice_web::{
    log::{LogEntry, micros},
    site_plan::site_name_of_host,
};

/// Adds what the log shows of each address to the report.
pub(super) fn audit_addresses(entries: &[LogEntry], rules: &AuditRules, report: &mut AuditReport) {
    let mut by_address: BTreeMap<Ipv4Addr, Vec<&LogEntry>> = BTreeMap::new();
    for entry in entries {
        by_address.entry(entry.address).or_default().push(entry);
    }
    for (address, mut entries) in by_address {
        entries.sort_by_key(|entry| (entry.start_us, entry.seq));
        let figures = audit_address(&entries, rules, &mut report.violations);
        report.addresses.insert(address, figures);
    }
}

/// `entries` are in the order of their starts.
fn audit_address(entries: &[&LogEntry], rules: &AuditRules, violations: &mut Vec<Violation>) -> AddressFigures {
    let mut figures = AddressFigures::default();
    let owed_us = micros(rules.address_delay.saturating_sub(rules.start_slack));
    let mut open_until: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut last: Option<&LogEntry> = None;
    let mut sites: Vec<&str> = Vec::new();
    for &entry in entries {
        figures.num_requests += 1;
        sites.push(site_name_of_host(&entry.host));
        while open_until.peek().is_some_and(|Reverse(end_us)| *end_us <= entry.start_us) {
            open_until.pop();
        }
        open_until.push(Reverse(end_us(entry, rules).unwrap_or(u64::MAX)));
        figures.max_at_once = figures.max_at_once.max(open_until.len());
        if open_until.len() > rules.max_at_address {
            let detail = format!("{} requests at once to {}", open_until.len(), entry.address);
            violations.push(violation(ViolationKind::TooManyAtAddress, entry, detail));
        }
        if let Some(last) = last {
            let gap_us = entry.start_us - last.start_us;
            figures.min_gap_us = Some(figures.min_gap_us.map_or(gap_us, |least| least.min(gap_us)));
            if gap_us.saturating_add(last.late_us) < owed_us {
                let (gap_ms, address) = (gap_us / 1_000, entry.address);
                let owed_ms = rules.address_delay.as_millis();
                let late_ms = last.late_us / 1_000;
                let detail = format!(
                    "{gap_ms} ms after the last start at {address} ({last_path}), {owed_ms} ms owed, and that one was noted at most {late_ms} ms late",
                    last_path = last.path
                );
                violations.push(violation(ViolationKind::AddressTooSoon, entry, detail));
            }
        }
        last = Some(entry);
    }
    sites.sort_unstable();
    sites.dedup();
    figures.num_sites = sites.len();
    figures
}

fn violation(kind: ViolationKind, entry: &LogEntry, detail: String) -> Violation {
    Violation { kind, site: site_name_of_host(&entry.host).to_owned(), detail, entry: entry.clone() }
}
