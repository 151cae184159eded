//! `watch` and `export`: what goes on for as long as somebody reads.
//!
//! Nothing here holds the node up: events wait in a bounded buffer, records are read a site at a time when their turn comes. Both honour
//! exclusions to the byte: once `exclude` is answered no part of an event or a record of that domain leaves, even if half of its line had.

use lohisoftbot_actors::events::Watched;
use lohisoftbot_actors::index::ReadStore;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::site::Site;
use serde_json::{Value, json};

use super::control_api::{Answer, NodeApi, gone};
use super::event_json;
use crate::control::{ControlError, ErrorCode, LineSink};

/// Site rows read from the store at once; their pages are read a site at a time.
const SITES_AT_ONCE: usize = 64;

impl NodeApi {
    pub(super) async fn watch(&self, site: Option<Site>, lines: &mut LineSink) -> Answer {
        let watch = self.events.watch(site);
        loop {
            let told = watch.next().await;
            let line = event_json::watched(&told);
            self.send_unless_excluded(&line, lines, |exclusions| match &told {
                Watched::Event(event) => event.is_covered_by(exclusions),
                Watched::Missed(_) => false,
            })
            .await?;
        }
    }

    pub(super) async fn export(&self, site: Option<Site>, lines: &mut LineSink) -> Answer {
        let mut num_records: u64 = 0;
        if let Some(site) = site {
            num_records += self.export_site(site, lines).await?;
            return Ok(json!({"num_records": num_records}));
        }
        let mut after = None;
        loop {
            let from = after.take();
            let sites = self.read_store(move |store| {
                let rows = store.sites_after(from.as_ref(), SITES_AT_ONCE)?;
                Ok(rows.into_iter().map(|row| row.site).collect::<Vec<_>>())
            });
            let sites = sites.await?;
            let Some(last) = sites.last().cloned() else { return Ok(json!({"num_records": num_records})) };
            for site in sites {
                num_records += self.export_site(site, lines).await?;
            }
            after = Some(last);
        }
    }

    /// Sends the records of one site; says how many.
    async fn export_site(&self, site: Site, lines: &mut LineSink) -> Result<u64, ControlError> {
        let mut num_sent = 0;
        for mut record in self.read_store(move |store| store.pages_of(&site)).await? {
            // As the store does it. What is excluded while the line is on its way takes the whole line back.
            record.canonical = record.canonical.filter(|url| !self.excluded.borrow().covers_host(url.host()));
            let line = record_json(&record);
            let names_excluded = |exclusions: &Exclusions| {
                [Some(&record.url), record.canonical.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|url| exclusions.covers_host(url.host()))
            };
            num_sent += u64::from(self.send_unless_excluded(&line, lines, names_excluded).await?);
        }
        Ok(num_sent)
    }

    /// Sends a line, and says whether it went out. One that `is_out` by the exclusions in force, or by one that comes while the peer takes
    /// its time, does not: it is taken back, or cut where a part of it has left.
    async fn send_unless_excluded(
        &self,
        line: &Value,
        lines: &mut LineSink,
        is_out: impl Fn(&Exclusions) -> bool,
    ) -> Result<bool, ControlError> {
        let mut excluded = self.excluded.subscribe();
        tokio::select! {
            // Looked at whenever the peer takes more, and before it does.
            biased;
            _ = excluded.wait_for(is_out) => if lines.take_back() { Ok(false) } else { Err(cut()) },
            sent = lines.send(line) => sent.map(|()| true).map_err(|_| cut()),
        }
    }

    async fn read_store<T: Send + 'static>(
        &self,
        read: impl FnOnce(
            &dyn lohisoftbot_actors::storage::RecordStore,
        ) -> Result<T, lohisoftbot_actors::storage::StoreError>
        + Send
        + 'static,
    ) -> Result<T, ControlError> {
        self.index.send(ReadStore::as_applied(read)).await.map_err(|_| gone())?.map_err(|_| gone())
    }
}

/// Nobody is there to hear it, or a line was cut; the connection ends without an end of the stream.
fn cut() -> ControlError {
    ControlError::new(ErrorCode::Refused, "the stream was cut")
}

/// A record with all that is kept of a page. The sites it links to are left out: they are no business of the page's own domain.
fn record_json(record: &PageRecord) -> Value {
    json!({
        "url": record.url,
        "site": record.url.site(),
        "title": record.title,
        "description": record.description,
        "headings": record.headings.iter().map(|heading| json!({"level": heading.level, "text": heading.text})).collect::<Vec<_>>(),
        "lang": record.lang,
        "canonical": record.canonical,
        "fetched_at": record.fetched_at.to_string(),
        "status": record.status,
        "cycle": record.cycle,
        "etag": record.etag,
        "last_modified": record.last_modified,
        "cut": record.cut,
        "nosnippet": record.nosnippet,
        "unavailable_after": record.unavailable_after.map(|at| at.to_string()),
    })
}
