//! `ledger` and `audit`: what was asked of a site, and whether it might be.

use std::collections::VecDeque;

use lohisoftbot_actors::ledger::{DETAILS_KEPT, LastSeq};
use lohisoftbot_actors::storage::{EntryFilter, EntryKind, LedgerError, SnapshotLines};
use lohisoftbot_core::audit::{AuditReport, AuditRules, Auditor, DoubtCount, Finding, Gap, History};
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteEvent, TicketNumber};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use serde_json::{Value, json};

use super::control_api::{Answer, NodeApi, gone};
use super::event_json::{kind_word, line_number, millis, under};
use super::lost_ledger::{self, LostLedger};
use crate::control::command::Since;
use crate::control::{ControlError, ErrorCode};
use crate::io::ledger_files::LedgerReader;

/// Findings that an answer lists one by one.
const MAX_LISTED_FINDINGS: usize = 200;

/// Reads a ledger through an auditor; of one site alone, if it is named. What is damaged or missing of it, and what `lost` says is, makes
/// the report incomplete; what is sound is judged all the same.
pub fn audit_ledger(
    reader: &LedgerReader,
    site: Option<Site>,
    rules: AuditRules,
    lost: Option<LostLedger>,
) -> Result<AuditReport, LedgerError> {
    let history = match reader.begins_with_first_entry() {
        Ok(true) => History::Whole,
        // A damaged beginning is as good as none; reading it tells of the damage.
        Ok(false) | Err(LedgerError::Damaged { .. }) => History::Partial,
        Err(error) => return Err(error),
    };
    let mut auditor = Auditor::new(rules, history);
    if let Some(what) = reader.lost_beginning(DETAILS_KEPT)? {
        auditor.skip(Gap { what });
    }
    let filter = EntryFilter { site, snapshots: SnapshotLines::Include, ..EntryFilter::default() };
    for entry in reader.stream_what_is_left(filter)?.entries() {
        match entry {
            Ok(entry) => auditor.read(&entry),
            Err(LedgerError::Damaged { path, offset, what }) => auditor
                .skip(Gap { what: format!("ledger segment {} is damaged at byte {offset}: {what}", path.display()) }),
            Err(error) => return Err(error),
        }
    }
    if let Some(lost) = lost {
        auditor.skip(Gap { what: lost.to_string() });
    }
    Ok(auditor.finish())
}

/// The lines of a site's ledger: the newest `limit` of those that are wanted, oldest first.
pub struct LedgerPage {
    limit: usize,
    since: Timestamp,
    before: u64,
    lines: VecDeque<Line>,
    has_more: bool,
}

struct Line {
    seq: u64,
    ticket: Option<TicketNumber>,
    fields: Value,
}

impl LedgerPage {
    /// An empty page.
    pub fn new(limit: usize, since: Timestamp, before: Option<u64>) -> Self {
        let before = before.unwrap_or(u64::MAX);
        Self { limit, since, before, lines: VecDeque::new(), has_more: false }
    }

    /// Takes the next entry of the site. A request and its end make one line, wherever the end stands.
    pub fn read(&mut self, entry: &LedgerEntry) {
        if let LedgerEvent::Site { event: SiteEvent::Outcome { ticket, wire_bytes, took, .. }, .. } = &entry.event {
            let open = self.lines.iter_mut().rev().find(|line| line.ticket == Some(*ticket));
            if let Some(Line { fields, .. }) = open {
                fields["outcome"] = json!(entry.event.describe());
                fields["bytes"] = json!(wire_bytes);
                fields["took_ms"] = json!(millis(*took));
            }
            return;
        }
        if entry.seq >= self.before {
            return;
        }
        if entry.at < self.since {
            return;
        }
        if self.lines.len() == self.limit {
            self.lines.pop_front();
            self.has_more = true;
        }
        self.lines.push_back(line(entry));
    }

    /// The lines, and where the page before ends, if there is one.
    pub fn finish(self) -> (Vec<Value>, Option<u64>) {
        let before = self.lines.front().filter(|_| self.has_more).map(|line| line.seq);
        (self.lines.into_iter().map(|line| line.fields).collect(), before)
    }
}

fn line(entry: &LedgerEntry) -> Line {
    let (mut ticket, mut url, mut number, mut ground, mut from) =
        (None, Value::Null, Value::Null, Value::Null, Value::Null);
    let mut outcome = entry.event.describe();
    let mut what = EntryKind::of(&entry.event).word();
    if let LedgerEvent::Site {
        event: SiteEvent::Ticket { ticket: given, kind, url: asked, ground: under_line, from: source },
        ..
    } = &entry.event
    {
        (ticket, what) = (Some(*given), kind_word(*kind));
        (url, number, ground, from) =
            (json!(asked), json!(line_number(under_line)), json!(under(under_line)), json!(source));
        outcome = "under way".to_owned();
    }
    let fields = json!({
        "at": entry.at.to_string(),
        "what": what,
        "url": url,
        "robots_line": number,
        "under": ground,
        "outcome": outcome,
        "bytes": null,
        "took_ms": null,
        "from": from,
        "ticket": ticket,
        "seq": entry.seq,
    });
    Line { seq: entry.seq, ticket, fields }
}

impl NodeApi {
    pub(super) async fn ledger(&self, site: Site, limit: u32, since: Option<Since>, before: Option<u64>) -> Answer {
        let since = since.map_or(Timestamp::EPOCH, |since| since.moment(self.clock.now()));
        let (reader, wanted) = (self.ledger_reader.clone(), site.clone());
        let read = move || {
            let mut page = LedgerPage::new(limit as usize, since, before);
            for entry in reader.of_site(&wanted)? {
                page.read(&entry?);
            }
            Ok::<_, LedgerError>(page.finish())
        };
        let (lines, more) = self.in_background(read).await?;
        Ok(json!({
            "site": site,
            "user_agent": self.identity.user_agent_for(&site),
            "older_lines_with_before": more,
            "lines": lines,
        }))
    }

    pub(super) async fn audit(&self, site: Option<Site>) -> Answer {
        // It reads all of the ledger: two at once would only take each other's turns at the disk.
        let Ok(_turn) = self.auditing.try_acquire() else {
            return Err(ControlError::new(ErrorCode::Busy, "an audit is under way; ask again when it is done"));
        };
        let (reader, rules) = (self.ledger_reader.clone(), self.audit_rules.clone());
        let seen = self.ledger.send(LastSeq).await.map_err(|_| gone())?;
        let audit = move || {
            let lost = lost_ledger::find_beside_damage_in(&reader, seen)?;
            audit_ledger(&reader, site, rules, lost)
        };
        let report = self.in_background(audit).await?;
        Ok(audit_answer(&report))
    }

    /// Reads the ledger on a thread that may block. A node that stops waits for no such read: it ends it.
    pub(super) async fn in_background<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, ControlError> {
        let mut told = self.teller.subscribe();
        let read = tokio::select! {
            biased;
            _ = told.wait_for(|is_told| *is_told) => {
                self.ledger_reader.stop();
                return Err(ControlError::new(ErrorCode::Stopping, "the node is on its way down"));
            }
            read = tokio::task::spawn_blocking(read) => read.map_err(|_| gone())?,
        };
        read.map_err(|error| ControlError::new(ErrorCode::Internal, format!("the ledger cannot be read: {error}")))
    }
}

/// A finding, field by field, in reading order.
pub fn finding_fields(finding: &Finding) -> [(&'static str, Value); 7] {
    let breach = &finding.breach;
    [
        ("promise", json!(breach.promise().number())),
        ("finding", json!(breach.code())),
        ("at", json!(finding.at.to_string())),
        ("site", json!(finding.site)),
        ("url", json!(finding.url)),
        ("what", json!(breach.describe())),
        ("seq", json!(finding.seq)),
    ]
}

/// A place where the ledger is not whole, in the fields of a finding: of no promise's own, at no site.
pub fn gap_fields(gap: &Gap) -> [(&'static str, Value); 7] {
    [
        ("promise", Value::Null),
        ("finding", json!(Gap::CODE)),
        ("at", Value::Null),
        ("site", Value::Null),
        ("url", Value::Null),
        ("what", json!(gap.what)),
        ("seq", Value::Null),
    ]
}

/// A report as an answer.
pub fn audit_answer(report: &AuditReport) -> Value {
    let named = |fields: [(&str, Value); 7]| {
        Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let gaps = report.gaps.iter().map(|gap| named(gap_fields(gap)));
    let findings = report.findings.iter().take(MAX_LISTED_FINDINGS).map(|finding| named(finding_fields(finding)));
    let num_left_out = report.num_violations.saturating_sub(report.findings.len().min(MAX_LISTED_FINDINGS) as u64);
    json!({
        "summary": report.summary(),
        "num_requests": report.num_requests,
        "num_sites": report.num_sites,
        "num_entries": report.num_entries,
        "num_violations": report.num_violations,
        "num_findings_left_out": num_left_out,
        "num_gaps": report.gaps.len(),
        "not_judged_by_todays_settings": report.doubts.counts().iter().map(DoubtCount::describe).collect::<Vec<_>>(),
        "findings": gaps.chain(findings).collect::<Vec<_>>(),
    })
}
