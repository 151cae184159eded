//! `watch` and `export`: what goes on for as long as somebody reads.
//!
//! Nothing here holds the node up: events wait in a bounded buffer, records are read a site at a time when their turn comes. An export
//! honours exclusions to the byte: once `exclude` is answered no part of a record of that domain leaves, even if half of its line had.

use lohisoftbot_actors::index::ReadStore;
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
            lines.send(&event_json::watched(&told)).await.map_err(|_| cut())?;
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
        let mut excluded = self.excluded.subscribe();
        // What was excluded before this is not in the store any more.
        excluded.mark_unchanged();
        let mut num_sent = 0;
        for record in self.read_store(move |store| store.pages_of(&site)).await? {
            let host = record.url.host();
            let line = record_json(&record);
            // Looked at whenever the peer takes more, and before it does.
            let is_out = excluded.wait_for(|exclusions| exclusions.covers_host(host));
            tokio::select! {
                biased;
                _ = is_out => {
                    if !lines.take_back() {
                        return Err(cut());
                    }
                }
                sent = lines.send(&line) => {
                    sent.map_err(|_| cut())?;
                    num_sent += 1;
                }
            }
        }
        Ok(num_sent)
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
