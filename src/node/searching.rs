//! Searching by the control socket: answers as a person or a program reads them. What was asked is never logged.

use lohisoftbot_actors::search::{Reindex, Search, SearchUnavailable, ViewSearch};
use lohisoftbot_core::search::{MarkedText, SearchRequest, SearchResult};
use serde_json::{Value, json};

use super::control_api::{Answer, NodeApi, gone};
use crate::control::{ControlError, ErrorCode};

impl NodeApi {
    pub(super) async fn search(&self, request: SearchRequest) -> Answer {
        let search = self.search.as_ref().ok_or(SearchUnavailable::Disabled).map_err(unavailable)?;
        let answer = search.send(Search(request)).await.map_err(|_| gone())?.map_err(unavailable)?;
        Ok(json!({
            "num_results": answer.num_results,
            "has_more": answer.has_more,
            "correction": answer.correction,
            "passed_over": answer.passed_over,
            "results": answer.results.iter().map(line).collect::<Vec<_>>(),
        }))
    }

    pub(super) async fn reindex(&self) -> Answer {
        let search = self.search.as_ref().ok_or(SearchUnavailable::Disabled).map_err(unavailable)?;
        tracing::info!("a new search index is asked for on the control socket");
        let stats = search.send(Reindex).await.map_err(|_| gone())?.map_err(unavailable)?;
        Ok(json!({"reindexed": true, "num_pages": stats.num_pages, "num_bytes": stats.num_bytes}))
    }

    /// How the index is, and how many sites changed that it does not have yet.
    pub(super) async fn search_status(&self, num_unindexed: u64) -> Answer {
        let Some(search) = &self.search else { return Ok(json!({"state": "disabled"})) };
        let status = search.send(ViewSearch).await.map_err(|_| gone())?;
        Ok(json!({
            "state": status.state,
            "num_pages": status.index.num_pages,
            "num_bytes": status.index.num_bytes,
            "num_sites_to_index": num_unindexed,
        }))
    }
}

fn line(result: &SearchResult) -> Value {
    let text = |pieces: &[MarkedText]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
    json!({
        "url": result.url,
        "title": text(&result.title),
        "snippet": text(&result.snippet),
        "language": result.language,
        "last_seen": result.last_seen.to_string(),
        "matched_in": result.why.fields,
        "linking_sites": result.why.num_linking_sites,
        "more_from_site": result.num_more_from_site,
    })
}

fn unavailable(error: SearchUnavailable) -> ControlError {
    ControlError::new(ErrorCode::Refused, error.to_string())
}
