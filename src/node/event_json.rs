//! What happens, as JSON: one object for each event, with a word of its kind that never changes.

use lohisoftbot_actors::events::{NodeEvent, Watched};
use lohisoftbot_actors::storage::EntryKind;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, RequestKind, RobotsGround, SiteEvent};
use serde_json::{Map, Value, json};

pub use lohisoftbot_core::time::whole_millis as millis;

/// What a watcher is told.
pub fn watched(told: &Watched) -> Value {
    match told {
        Watched::Missed(num_events) => json!({"event": "missed", "missed": num_events}),
        Watched::Event(NodeEvent::Recorded(entry)) => recorded(entry),
        Watched::Event(NodeEvent::PageStored { url, at }) => {
            json!({"event": "stored", "at": at.to_string(), "site": url.site(), "url": url})
        }
        Watched::Event(NodeEvent::PageRemoved { url, why, at }) => json!({
            "event": "removed", "at": at.to_string(), "site": url.site(), "url": url, "what": why.describe(),
        }),
        Watched::Event(NodeEvent::SiteParked { site, until, reason, at }) => json!({
            "event": "parked", "at": at.to_string(), "site": site, "until": until.to_string(), "what": reason.describe(),
        }),
        Watched::Event(NodeEvent::SiteFound { site, by, at }) => {
            json!({"event": "site_found", "at": at.to_string(), "site": site, "by": by.word()})
        }
    }
}

/// An entry of the ledger.
fn recorded(entry: &LedgerEntry) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put("event", json!(event_word(&entry.event)));
    put("at", json!(entry.at.to_string()));
    put("seq", json!(entry.seq));
    match &entry.event {
        LedgerEvent::Site { site, event } => {
            put("site", json!(site));
            match event {
                SiteEvent::Ticket { ticket, kind, url, ground, from } => {
                    put("ticket", json!(ticket));
                    put("url", json!(url));
                    put("kind", json!(kind_word(*kind)));
                    put("robots_line", json!(line_number(ground)));
                    put("under", json!(under(ground)));
                    put("from", json!(from));
                }
                SiteEvent::Outcome { ticket, wire_bytes, took, delay, end: _ } => {
                    put("ticket", json!(ticket));
                    put("status", json!(event.status()));
                    put("bytes", json!(wire_bytes));
                    put("took_ms", json!(millis(*took)));
                    put("delay_ms", json!(millis(*delay)));
                }
                SiteEvent::Wait { until, .. } => put("until", json!(until.to_string())),
                SiteEvent::CycleOpened { .. }
                | SiteEvent::CycleClosed { .. }
                | SiteEvent::CycleResumed
                | SiteEvent::BarrierStreak(_)
                | SiteEvent::Forgiven { .. }
                | SiteEvent::Snapshot(_)
                | SiteEvent::Delay(_)
                | SiteEvent::RobotsBorrowed { .. }
                | SiteEvent::NextCyclePutOff { .. } => {}
            }
        }
        LedgerEvent::Excluded { domain, .. } | LedgerEvent::Included { domain } => put("domain", json!(domain)),
    }
    put("what", json!(entry.event.describe()));
    Value::Object(fields)
}

/// The word of an entry's kind; a cycle's begin and end have one each.
fn event_word(event: &LedgerEvent) -> &'static str {
    match event {
        LedgerEvent::Site { event: SiteEvent::CycleOpened { .. }, .. } => "cycle_start",
        LedgerEvent::Site { event: SiteEvent::CycleClosed { .. }, .. } => "cycle_end",
        LedgerEvent::Site { event: SiteEvent::CycleResumed, .. } => "cycle_resumed",
        LedgerEvent::Site { event: SiteEvent::Outcome { .. }, .. } => "answer",
        LedgerEvent::Site { event: SiteEvent::Forgiven { .. }, .. } => "forgiven",
        LedgerEvent::Site { event: SiteEvent::Delay(_), .. } => "delay",
        LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => {
            EntryKind::of(event).word()
        }
    }
}

/// What a request is for, in a word.
pub fn kind_word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Robots => "robots",
        RequestKind::Page => "page",
        RequestKind::Sitemap => "sitemap",
    }
}

/// The number of the robots.txt line that allowed a request, if one did.
pub fn line_number(ground: &RobotsGround) -> Option<u32> {
    match ground {
        RobotsGround::Line { number, .. } => Some(*number),
        RobotsGround::RobotsFile | RobotsGround::NoRule => None,
    }
}

/// The text of that line, or why there is none.
pub fn under(ground: &RobotsGround) -> String {
    match ground {
        RobotsGround::Line { text, .. } => text.clone(),
        RobotsGround::RobotsFile | RobotsGround::NoRule => ground.describe(),
    }
}
