//! What the ledger says of one URL, and of the wait that its site is in.

use std::net::Ipv4Addr;
use std::time::Duration;

use lohisoftbot_actors::storage::LedgerError;
use lohisoftbot_core::ledger::{EndKind, LedgerEntry, LedgerEvent, RobotsGround, SiteEvent, TicketNumber};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use serde_json::{Value, json};

use crate::node::event_json::millis;

/// One request that was sent for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    pub at: Timestamp,
    pub ticket: TicketNumber,
    pub ground: RobotsGround,
    pub from: Option<Ipv4Addr>,
    pub end: Option<RequestEnd>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEnd {
    pub kind: EndKind,
    pub num_bytes: u64,
    pub took: Duration,
}

/// The answer that made a site wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub at: Timestamp,
    pub url: PageUrl,
    pub end: EndKind,
}

/// What the ledger of a site says of one URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlHistory {
    /// The requests for it, oldest first.
    pub requests: Vec<SentRequest>,
    /// What the newest wait of its site followed from, if it was an answer.
    pub cause: Option<Cause>,
}

impl UrlHistory {
    /// Of `url`, from the entries of its site.
    pub fn read(
        url: &PageUrl,
        entries: impl Iterator<Item = Result<LedgerEntry, LedgerError>>,
    ) -> Result<Self, LedgerError> {
        let mut history = Self::default();
        let (mut open, mut last_end) = (None, None);
        for entry in entries {
            let LedgerEntry { at, event, .. } = entry?;
            let LedgerEvent::Site { event, .. } = event else { continue };
            match event {
                SiteEvent::Ticket { ticket, url: asked, ground, from, kind: _ } => {
                    if asked == *url {
                        history.requests.push(SentRequest { at, ticket, ground, from, end: None });
                    }
                    open = Some((ticket, asked));
                }
                SiteEvent::Outcome { ticket, end, wire_bytes, took, delay: _ } => {
                    let ended = history.requests.last_mut().filter(|request| request.ticket == ticket);
                    if let Some(request) = ended {
                        request.end = Some(RequestEnd { kind: end, num_bytes: wire_bytes, took });
                    }
                    last_end =
                        open.take().filter(|(opened, _)| *opened == ticket).map(|(_, url)| Cause { at, url, end });
                }
                SiteEvent::Wait { .. } => history.cause = last_end.clone().filter(|cause| cause.at == at),
                SiteEvent::CycleOpened { .. }
                | SiteEvent::CycleClosed { .. }
                | SiteEvent::CycleResumed
                | SiteEvent::BarrierStreak(_)
                | SiteEvent::Forgiven { .. }
                | SiteEvent::Delay(_)
                | SiteEvent::RobotsBorrowed { .. }
                | SiteEvent::NextCyclePutOff { .. }
                | SiteEvent::Snapshot(_) => {}
            }
        }
        Ok(history)
    }

    /// The newest request in a sentence; none where there was none.
    pub fn last_outcome(&self) -> Option<String> {
        let request = self.requests.last()?;
        let from = request.from.map_or_else(String::new, |from| format!(" from {from}"));
        let ground = request.ground.describe();
        let ended = match request.end {
            None => "is still under way".to_owned(),
            Some(RequestEnd { kind, num_bytes, took }) => {
                format!("ended after {} ms and {num_bytes} bytes: {}", millis(took), kind.describe())
            }
        };
        Some(format!("The last request for it left at {}{from} ({ground}) and {ended}.", request.at))
    }
}

impl SentRequest {
    /// For machines.
    pub fn to_json(&self) -> Value {
        let end = self.end.map_or_else(|| "under way".to_owned(), |end| end.kind.describe());
        json!({
            "at": self.at.to_string(),
            "ticket": self.ticket,
            "end": end,
            "bytes": self.end.map(|end| end.num_bytes),
            "took_ms": self.end.map(|end| millis(end.took)),
            "from": self.from,
            "ground": self.ground.describe(),
        })
    }
}
