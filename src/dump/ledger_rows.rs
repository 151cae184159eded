//! What the dump tool shows of the ledger.

use std::collections::VecDeque;
use std::io::Write;

use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerError};
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteEvent};
use lohisoftbot_core::time::whole_millis;
use serde_json::{Value, json};

use super::args::DumpArgs;
use super::output::{Column, column, detail};
use super::{DumpError, rows};
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;

const COLUMNS: &[Column] = &[
    column("seq"),
    column("at"),
    column("kind"),
    column("name"),
    column("ticket"),
    column("url"),
    column("status"),
    column("what"),
    detail("wire_bytes"),
    detail("took_ms"),
    detail("delay_ms"),
    detail("from"),
];

/// Writes the entries that were asked for.
pub fn write(args: &DumpArgs, dir: &DataDir, kinds: &[EntryKind], output: &mut dyn Write) -> Result<(), DumpError> {
    let filter = EntryFilter { site: args.site.clone(), kinds: kinds.to_vec(), ..EntryFilter::default() };
    let entries = LedgerReader::new(&dir.ledger()).stream(filter)?.entries();
    let wanted = entries.filter(|entry| match (&args.prefix, entry) {
        (Some(prefix), Ok(entry)) => url(entry).is_some_and(|url| url.starts_with(prefix.as_str())),
        (None, _) | (_, Err(_)) => true,
    });
    let mut writer = rows(args, COLUMNS, output);
    match args.limit {
        None => {
            for entry in wanted {
                writer.row(values(&entry?))?;
            }
        }
        Some(newest) => {
            for entry in last(wanted, newest)? {
                writer.row(values(&entry))?;
            }
        }
    }
    Ok(writer.finish()?)
}

fn last(
    entries: impl Iterator<Item = Result<LedgerEntry, LedgerError>>,
    count: usize,
) -> Result<VecDeque<LedgerEntry>, LedgerError> {
    let mut newest = VecDeque::new();
    for entry in entries {
        newest.push_back(entry?);
        if newest.len() > count {
            newest.pop_front();
        }
    }
    Ok(newest)
}

fn url(entry: &LedgerEntry) -> Option<&str> {
    match &entry.event {
        LedgerEvent::Site { event: SiteEvent::Ticket { url, .. }, .. } => Some(url.as_str()),
        LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => None,
    }
}

fn values(entry: &LedgerEntry) -> Vec<Value> {
    let mut ticket = Value::Null;
    let mut status = Value::Null;
    let mut source = Value::Null;
    let mut sizes = [Value::Null, Value::Null, Value::Null];
    let (name, what) = match &entry.event {
        LedgerEvent::Excluded { domain, exclusion } => (domain.as_str(), exclusion.reason.clone()),
        LedgerEvent::Included { domain } => (domain.as_str(), String::new()),
        LedgerEvent::Site { site, event } => {
            if let SiteEvent::Ticket { ticket: number, from, .. } = event {
                (ticket, source) = (json!(number), json!(from));
            }
            if let SiteEvent::Outcome { ticket: number, wire_bytes, took, delay, .. } = event {
                ticket = json!(number);
                sizes = [json!(wire_bytes), json!(whole_millis(*took)), json!(whole_millis(*delay))];
                status = json!(event.status());
            }
            (site.as_str(), event.describe())
        }
    };
    let [wire_bytes, took, delay] = sizes;
    vec![
        json!(entry.seq),
        json!(entry.at.to_string()),
        json!(EntryKind::of(&entry.event).word()),
        json!(name),
        ticket,
        json!(url(entry)),
        status,
        json!(what),
        wire_bytes,
        took,
        delay,
        source,
    ]
}
