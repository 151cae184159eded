//! How a dry run is told: one JSON value, and the same as tables for people.

use std::time::Duration;

use lohisoftbot_core::config::{Config, DiscoveryMode};
use lohisoftbot_core::forecast::{Rest, SiteForecast, SiteOutlook};
use lohisoftbot_core::identity::IdentityRefusal;
use lohisoftbot_core::time::Timestamp;
use serde_json::{Value, json};

use super::DryRun;

/// Sites that are listed for people; machines get all.
const MAX_LISTED: usize = 200;
/// Bytes of a mebibyte.
const MIB: f64 = (1 << 20) as f64;

/// The whole answer.
pub fn as_json(dry_run: &DryRun) -> Value {
    let (forecast, now) = (&dry_run.forecast, dry_run.now);
    let (likely, most) = forecast.page_requests;
    json!({
        "dry_run": true,
        "data_dir": dry_run.data_dir.root().display().to_string(),
        "known_from": if dry_run.knows_a_store { "a copy of the stopped node's store" } else { "nothing: no node has run there" },
        "totals": {
            "seeds": dry_run.num_seeds,
            "seeds_refused": dry_run.refused.len(),
            "sites": forecast.sites.len(),
            "sites_resting": forecast.resting.len(),
            "page_requests_likely": likely,
            "page_requests_at_most": most,
            "robots_requests": forecast.robots_requests,
            "mebibytes_at_most": rounded(forecast.max_body_bytes as f64 / MIB),
            "hours_by_likely_requests": hours(forecast.ends_at.0.since(now)),
            "hours_by_most_requests": hours(forecast.ends_at.1.since(now)),
            "shared_addresses": forecast.num_shared_addresses,
        },
        "sites": forecast.sites.iter().enumerate().map(|(place, site)| line(place, site, now)).collect::<Vec<_>>(),
        "resting": forecast.resting.iter().map(resting_line).collect::<Vec<_>>(),
        "refused": dry_run.refused,
        "notes": dry_run.notes,
    })
}

/// The same with lists that a person reads to their end.
pub fn for_people(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let mut left_out = Vec::new();
    for list in ["sites", "resting", "refused"] {
        if let Some(lines) = answer[list].as_array_mut()
            && lines.len() > MAX_LISTED
        {
            left_out.push(format!("{} more {list} are left out here; --json lists them", lines.len() - MAX_LISTED));
            lines.truncate(MAX_LISTED);
        }
    }
    if let Some(sites) = answer["sites"].as_array_mut() {
        sites.iter_mut().for_each(shorten);
    }
    if let Some(notes) = answer["notes"].as_array_mut() {
        notes.extend(left_out.into_iter().map(Value::String));
        for note in notes {
            *note = json!({ "note": note });
        }
    }
    answer
}

/// The columns under names that leave room for the others.
fn shorten(site: &mut Value) {
    const SHORT: [(&str, &str); 7] = [
        ("starts_in_seconds", "starts in s"),
        ("page_requests_likely", "pages likely"),
        ("page_requests_at_most", "at most"),
        ("robots_requests", "robots.txt"),
        ("delay_seconds", "delay s"),
        ("hours_by_likely_requests", "hours"),
        ("mebibytes_at_most", "MiB at most"),
    ];
    if let Value::Object(fields) = site.take() {
        let name_of = |name: &str| SHORT.iter().find(|(long, _)| *long == name).map(|(_, short)| (*short).to_owned());
        let shown = fields.into_iter().filter(|(name, _)| name != "hours_by_most_requests");
        *site = Value::Object(shown.map(|(name, value)| (name_of(&name).unwrap_or(name), value)).collect());
    }
}

/// What the figures do not say.
pub fn notes(config: &Config, refusal: Option<IdentityRefusal>, num_sites: usize) -> Vec<String> {
    let mut notes = vec![
        "times are the least that so many requests take: slow answers, failures and waits that servers ask for come on top"
            .to_owned(),
        "robots.txt is counted once for each origin that is known; redirects of it, and origins found later (20 a site at most), come on top"
            .to_owned(),
    ];
    match config.discovery.mode {
        DiscoveryMode::Seeds => {}
        DiscoveryMode::Links => {
            let room = (config.discovery.max_sites as usize).saturating_sub(num_sites);
            notes.push(format!(
                "sites that links lead to come on top: discovery.mode is links, with room for {room} more"
            ));
        }
    }
    if let Some(refusal) = refusal {
        notes.push(format!("only the opened ranges would be crawled: {refusal}"));
    }
    notes
}

fn line(place: usize, site: &SiteForecast, now: Timestamp) -> Value {
    let SiteForecast { outlook, starts_at, ends_at, .. } = site;
    json!({
        "order": place + 1,
        "site": outlook.site,
        "known": outlook.is_known,
        "seeds": outlook.num_seeds,
        "starts_in_seconds": starts_at.since(now).as_secs(),
        "page_requests_likely": outlook.likely_page_requests,
        "page_requests_at_most": outlook.max_page_requests,
        "robots_requests": outlook.robots_requests,
        "delay_seconds": outlook.delay.as_secs_f64(),
        "hours_by_likely_requests": hours(ends_at.since(*starts_at)),
        "hours_by_most_requests": hours(outlook.least_span(u64::from(outlook.max_page_requests) + outlook.robots_requests as u64)),
        "mebibytes_at_most": rounded(outlook.max_body_bytes as f64 / MIB),
    })
}

fn resting_line(outlook: &SiteOutlook) -> Value {
    let (until, why) = match outlook.rest {
        Some(Rest::Paused) => (None, "paused by the operator"),
        Some(Rest::UntilNextCycle(reason)) => (Some(outlook.due_at.to_string()), reason.describe()),
        None => (None, "due"),
    };
    json!({"site": outlook.site, "seeds": outlook.num_seeds, "until": until, "why": why})
}

fn hours(span: Duration) -> f64 {
    (span.as_secs_f64() / 3.6).round() / 1000.0
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
