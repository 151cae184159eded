//! What the dump tool shows of the ledger.

use std::collections::VecDeque;
use std::io::Write;

use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerError};
use lohisoftbot_core::ledger::{EndKind, LedgerEntry, LedgerEvent, SiteEvent};
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
    let mut sizes = [Value::Null, Value::Null, Value::Null];
    let (name, what) = match &entry.event {
        LedgerEvent::Excluded { domain, exclusion } => (domain.as_str(), exclusion.reason.clone()),
        LedgerEvent::Included { domain } => (domain.as_str(), String::new()),
        LedgerEvent::Site { site, event } => {
            let what = match event {
                SiteEvent::CycleOpened { cycle, next_cycle_at } => {
                    format!("cycle {cycle} opened, the next not before {next_cycle_at}")
                }
                SiteEvent::CycleClosed { reason } => format!("cycle closed: {}", reason.describe()),
                SiteEvent::Delay(delay) => {
                    format!("the delay is {} s, as the robots.txt asks that this site's redirects to", delay.as_secs())
                }
                SiteEvent::CycleResumed => "cycle resumed: new URLs came while budget was left".to_owned(),
                SiteEvent::Ticket { ticket: number, kind, url: _, ground } => {
                    ticket = json!(number);
                    format!("{kind:?}, {}", ground.describe())
                }
                SiteEvent::Outcome { ticket: number, end, wire_bytes, took, delay } => {
                    ticket = json!(number);
                    let millis =
                        |span: &std::time::Duration| json!(u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
                    sizes = [json!(wire_bytes), millis(took), millis(delay)];
                    if let EndKind::Answered(code) = end {
                        status = json!(code);
                    }
                    end.describe()
                }
                SiteEvent::Wait { until, reason, rung } => format!("until {until}, rung {rung}: {}", reason.describe()),
                SiteEvent::BarrierStreak(streak) => format!("{streak} barrier answers in a row"),
                SiteEvent::Forgiven { rung } => format!("down to rung {rung}"),
                SiteEvent::Snapshot(account) => {
                    format!("cycle {}, {} requests", account.cycle, account.num_page_requests)
                }
            };
            (site.as_str(), what)
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
    ]
}
