//! The fields of `search`.

use lohisoftbot_core::search::{DEFAULT_RESULTS_PER_PAGE, MAX_OFFSET, MAX_RESULTS_PER_PAGE, Query, SearchRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Command, bad, site};
use crate::control::message::ControlError;

#[derive(Deserialize)]
pub struct SearchFields {
    query: String,
    site: Option<String>,
    offset: Option<u32>,
    limit: Option<u32>,
}

impl SearchFields {
    pub fn command(self) -> Result<Command, ControlError> {
        let limit = self.limit.unwrap_or(DEFAULT_RESULTS_PER_PAGE);
        if !(1..=MAX_RESULTS_PER_PAGE).contains(&limit) {
            return Err(bad(format!("\"limit\" is {limit}: it is 1 to {MAX_RESULTS_PER_PAGE}")));
        }
        let offset = self.offset.unwrap_or(0);
        if offset > MAX_OFFSET {
            return Err(bad(format!("\"offset\" is {offset}: it is at most {MAX_OFFSET}")));
        }
        let site = self.site.as_deref().map(site).transpose()?;
        Ok(Command::Search(SearchRequest { query: Query::parse(&self.query), site, offset, limit }))
    }
}

/// As it is sent.
pub fn fields(request: &SearchRequest) -> Value {
    json!({
        "query": request.query.typed,
        "site": request.site,
        "offset": request.offset,
        "limit": request.limit,
    })
}
