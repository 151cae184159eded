//! The API for programs: the same search as JSON. `openapi.json` describes it, and a test holds the two together.

use actix_web::http::header::{CACHE_CONTROL, RETRY_AFTER};
use actix_web::{HttpResponse, HttpResponseBuilder};
use lohisoftbot_core::search::{MarkedText, SearchAnswer, SearchField, SearchResult};
use serde::Serialize;

use super::dispatch::{Asked, Shared};
use super::pages::RETRY_UNAVAILABLE;
use super::params::{CallParams, ParamProblem, search_call, suggest_call};
use super::problem::json_error;
use super::searcher::SearchUnavailable;

/// `GET /api/v1/search`
pub(super) async fn search(asked: &Asked, shared: &Shared) -> HttpResponse {
    let call = match search_call(&asked.query) {
        Ok(call) => call,
        Err(problem) => return refused(&problem),
    };
    let asking = shared.searcher.search(call.typed.clone(), call.site.clone(), call.offset, call.limit);
    match shared.in_time(asking).await {
        Ok(found) => private(&mut HttpResponse::Ok()).json(Found::of(&call, &found)),
        Err(why) => unavailable(why),
    }
}

/// `GET /api/v1/suggest`
pub(super) async fn suggest(asked: &Asked, shared: &Shared) -> HttpResponse {
    let (prefix, limit) = match suggest_call(&asked.query) {
        Ok(call) => call,
        Err(problem) => return refused(&problem),
    };
    match shared.in_time(shared.searcher.suggest(prefix.clone(), limit)).await {
        Ok(suggestions) => private(&mut HttpResponse::Ok()).json(Suggested { query: prefix, suggestions }),
        Err(why) => unavailable(why),
    }
}

fn refused(problem: &ParamProblem) -> HttpResponse {
    json_error(private(&mut HttpResponse::BadRequest()), problem.code, &problem.message)
}

fn unavailable(why: SearchUnavailable) -> HttpResponse {
    let mut response = HttpResponse::ServiceUnavailable();
    response.insert_header((RETRY_AFTER, RETRY_UNAVAILABLE.as_secs().to_string()));
    json_error(private(&mut response), "unavailable", &why.to_string())
}

fn private(response: &mut HttpResponseBuilder) -> &mut HttpResponseBuilder {
    response.insert_header((CACHE_CONTROL, "private, no-cache"))
}

#[derive(Serialize)]
struct Suggested {
    query: String,
    suggestions: Vec<String>,
}

#[derive(Serialize)]
struct Found<'a> {
    query: &'a str,
    site: Option<&'a str>,
    offset: u32,
    limit: u32,
    num_results: u64,
    has_more: bool,
    correction: Option<&'a str>,
    passed_over: &'a [String],
    results: Vec<FoundPage<'a>>,
}

#[derive(Serialize)]
struct FoundPage<'a> {
    url: &'a str,
    site: &'a str,
    title: Vec<FoundText<'a>>,
    snippet: Vec<FoundText<'a>>,
    language: Option<&'a str>,
    last_seen: String,
    num_more_from_site: u64,
    why: FoundWhy<'a>,
}

#[derive(Serialize)]
struct FoundText<'a> {
    text: &'a str,
    is_match: bool,
}

#[derive(Serialize)]
struct FoundWhy<'a> {
    fields: Vec<&'static str>,
    linking_sites: Vec<&'a str>,
    num_linking_sites: u64,
}

impl<'a> Found<'a> {
    fn of(call: &'a CallParams, found: &'a SearchAnswer) -> Self {
        Self {
            query: &call.typed,
            site: call.site.as_deref(),
            offset: call.offset,
            limit: call.limit,
            num_results: found.num_results,
            has_more: found.has_more,
            correction: found.correction.as_deref(),
            passed_over: &found.passed_over,
            results: found.results.iter().map(FoundPage::of).collect(),
        }
    }
}

impl<'a> FoundPage<'a> {
    fn of(result: &'a SearchResult) -> Self {
        Self {
            url: result.url.as_str(),
            site: result.site.as_str(),
            title: pieces(&result.title),
            snippet: pieces(&result.snippet),
            language: result.language.as_deref(),
            last_seen: result.last_seen.to_string(),
            num_more_from_site: result.num_more_from_site,
            why: FoundWhy {
                fields: result.why.fields.iter().map(|field| field_name(*field)).collect(),
                linking_sites: result.why.linking_sites.iter().map(|site| site.as_str()).collect(),
                num_linking_sites: result.why.num_linking_sites,
            },
        }
    }
}

fn pieces(pieces: &[MarkedText]) -> Vec<FoundText<'_>> {
    pieces.iter().map(|piece| FoundText { text: &piece.text, is_match: piece.is_match }).collect()
}

/// The names of the API, which stay whatever ours become.
fn field_name(field: SearchField) -> &'static str {
    match field {
        SearchField::Title => "title",
        SearchField::Description => "description",
        SearchField::Headings => "headings",
        SearchField::Anchors => "anchors",
        SearchField::UrlWords => "url_words",
        SearchField::Site => "site",
    }
}
