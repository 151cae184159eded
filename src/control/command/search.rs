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

#[cfg(test)]
pub(super) fn sample() -> SearchRequest {
    let query = Query::parse("școli \"orar nou\" -vechi site:example.com lang:ro");
    SearchRequest { query, site: None, offset: 20, limit: 5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::message::ErrorCode;

    #[test]
    fn bounds_of_a_search_are_told() {
        let ask = |fields: Value| Command::from_fields(fields.as_object().cloned().unwrap_or_default());
        for (field, value) in [("limit", 0), ("limit", 21), ("offset", 1001)] {
            let refused = ask(json!({"command": "search", "query": "x", field: value})).unwrap_err();
            assert!(refused.code == ErrorCode::BadRequest && refused.message.contains(field), "{refused:?}");
        }
        assert!(ask(json!({"command": "search"})).is_err());
        let asked = ask(json!({"command": "search", "query": "x", "site": "www.example.com"}));
        assert!(
            matches!(asked, Ok(Command::Search(request)) if request.site == Some(super::site("example.com").unwrap()))
        );
    }
}
