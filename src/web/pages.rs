//! The pages for people: the search field, and results in every state that a search can be in.

use std::time::Duration;

use actix_web::http::header::{CACHE_CONTROL, HeaderName, LOCATION, RETRY_AFTER, VARY};
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use lohisoftbot_core::search::SearchAnswer;

use super::dispatch::{Asked, Shared};
use super::params::{LAST_PAGE, PageParams, is_site, page_params};
use super::searcher::SearchUnavailable;
use super::view::{Frame, Link, ResultView, html, phrase};
use super::words::{isolated, number, plural, say, say_with};
use super::{MAX_QUERY_BYTES, MAX_REACHABLE_RESULTS, RESULTS_PER_PAGE};

/// When to come back while the index does not answer.
pub(super) const RETRY_UNAVAILABLE: Duration = Duration::from_secs(30);

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    frame: Frame,
}

/// The page of results; what a state does not have is empty.
#[derive(Template)]
#[template(path = "results.html")]
struct Results {
    frame: Frame,
    heading: String,
    sentences: Vec<String>,
    advice: Vec<String>,
    notes: Vec<String>,
    filter: Option<Link>,
    correction: Option<Link>,
    first_page: Option<String>,
    count: String,
    first_number: u32,
    results: Vec<ResultView>,
    previous: Option<String>,
    next: Option<String>,
    page_number: String,
    last_reachable: Option<String>,
}

impl Results {
    fn new(frame: Frame, heading: String) -> Self {
        Self {
            frame,
            heading,
            sentences: Vec::new(),
            advice: Vec::new(),
            notes: Vec::new(),
            filter: None,
            correction: None,
            first_page: None,
            count: String::new(),
            first_number: 1,
            results: Vec::new(),
            previous: None,
            next: None,
            page_number: String::new(),
            last_reachable: None,
        }
    }
}

/// `GET /`
pub(super) fn home(asked: &Asked) -> HttpResponse {
    let frame = Frame::plain(asked, say(asked.language, "home-title"));
    private(html(&mut HttpResponse::Ok(), &Home { frame }))
}

/// `GET /bot`: what the bot does, and how a site is taken out, stands where its User-Agent says.
pub(super) fn bot(shared: &Shared) -> HttpResponse {
    HttpResponse::Found().insert_header((LOCATION, shared.info_url.as_str())).finish()
}

/// `GET /search`
pub(super) async fn search(asked: &Asked, shared: &Shared) -> HttpResponse {
    let params = page_params(&asked.query);
    let language = asked.language;
    let site = params.site.as_deref().filter(|site| is_site(site));
    let heading_of = |key| say_with(language, key, &[("query", isolated(&phrase(&params.typed)).into())]);
    let frame = |title: String| Frame::search(asked, title, &params.typed, site, params.page);

    if params.typed.len() > MAX_QUERY_BYTES {
        // The field takes no more either, and what does not fit is not repeated in every link of the page.
        let heading = say(language, "too-long-heading");
        let kept = params.typed.chars().take(MAX_QUERY_BYTES / 4).collect::<String>();
        let mut page = Results::new(Frame::search(asked, heading.clone(), &kept, site, 1), heading);
        page.sentences.push(say_with(language, "too-long-text", &[("limit", MAX_QUERY_BYTES.into())]));
        return answer(&mut HttpResponse::BadRequest(), &page);
    }
    if params.site.is_some() && site.is_none() {
        let heading = say(language, "bad-site-heading");
        let mut page = Results::new(frame(heading.clone()), heading);
        page.sentences.push(say(language, "bad-site-text"));
        return answer(&mut HttpResponse::BadRequest(), &page);
    }
    if params.typed.is_empty() {
        let heading = say(language, "empty-heading");
        let mut page = Results::new(frame(heading.clone()), heading);
        page.sentences.push(say(language, "empty-text"));
        return answer(&mut HttpResponse::Ok(), &page);
    }
    let offset = (params.page - 1) * RESULTS_PER_PAGE;
    let asking = shared.searcher.search(params.typed.clone(), site.map(str::to_owned), offset, RESULTS_PER_PAGE);
    match shared.in_time(asking).await {
        Ok(found) => {
            let page = found_page(found, frame(heading_of("results-title")), &params);
            answer(&mut HttpResponse::Ok(), &page)
        }
        Err(why) => {
            let heading = say(language, "unavailable-heading");
            let mut page = Results::new(frame(heading.clone()), heading);
            page.sentences.push(unavailable(asked, why));
            let mut response = HttpResponse::ServiceUnavailable();
            response.insert_header((RETRY_AFTER, RETRY_UNAVAILABLE.as_secs().to_string()));
            answer(&mut response, &page)
        }
    }
}

fn unavailable(asked: &Asked, why: SearchUnavailable) -> String {
    match why {
        SearchUnavailable::Starting => say(asked.language, "unavailable-starting"),
        SearchUnavailable::NoAnswer => say(asked.language, "unavailable-no-answer"),
    }
}

fn found_page(found: SearchAnswer, frame: Frame, params: &PageParams) -> Results {
    let language = frame.language;
    let heading_of = |key| say_with(language, key, &[("query", isolated(&phrase(&params.typed)).into())]);
    let heading = match (found.results.is_empty(), params.page) {
        (false, _) => heading_of("results-heading"),
        (true, 1) => heading_of("none-heading"),
        (true, _) => heading_of("past-end-heading"),
    };
    let link = |page| frame.search_href(&params.typed, frame.site.as_deref(), page);
    let mut page = Results::new(frame.clone(), heading);
    page.filter = frame.site.as_ref().map(|site| Link {
        href: frame.search_href(&params.typed, None, 1),
        text: say_with(language, "only-from-site", &[("site", isolated(&phrase(site)).into())]),
    });
    page.correction = found
        .correction
        .as_ref()
        .filter(|text| text.len() <= MAX_QUERY_BYTES)
        .map(|text| Link { href: frame.search_href(text, frame.site.as_deref(), 1), text: phrase(text) });
    page.notes = found.passed_over.iter().map(|note| phrase(note)).collect();
    if found.results.is_empty() {
        if params.page == 1 {
            page.advice = advice(&frame);
        } else {
            page.sentences.push(say(language, "past-end-text"));
            page.first_page = Some(link(1));
        }
        return page;
    }
    page.results = found.results.iter().filter_map(|result| ResultView::of(result, &frame)).collect();
    page.first_number = (params.page - 1) * RESULTS_PER_PAGE + 1;
    page.count = count(&frame, &found, page.first_number);
    page.page_number = say_with(language, "page-number", &[("page", params.page.to_string().into())]);
    page.previous = (params.page > 1).then(|| link(params.page - 1));
    if found.has_more && params.page < LAST_PAGE {
        page.next = Some(link(params.page + 1));
    } else if found.has_more {
        let limit = number(language, MAX_REACHABLE_RESULTS.into());
        page.last_reachable = Some(say_with(language, "last-reachable", &[("limit", limit.into())]));
    }
    page
}

/// How many pages were found, and which of them are shown.
fn count(frame: &Frame, found: &SearchAnswer, first_number: u32) -> String {
    let language = frame.language;
    let num = found.num_results;
    let counted = [("count", plural(language, num).into()), ("shown", number(language, num).into())];
    let all = say_with(language, "results-count", &counted);
    let first = u64::from(first_number);
    let last = first + found.results.len() as u64 - 1;
    let range =
        [("shown", all.into()), ("first", number(language, first).into()), ("last", number(language, last).into())];
    say_with(language, "results-range", &range)
}

fn advice(frame: &Frame) -> Vec<String> {
    ["none-advice-spelling", "none-advice-fewer", "none-advice-operators", "none-advice-metadata"]
        .map(|key| frame.say(key))
        .into()
}

fn answer(response: &mut HttpResponseBuilder, page: &Results) -> HttpResponse {
    response.insert_header((HeaderName::from_static("x-robots-tag"), "noindex, nofollow"));
    private(html(response, page))
}

/// What one visitor is shown is nobody else's: no cache in between keeps it.
fn private(mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, actix_web::http::header::HeaderValue::from_static("private, no-cache"));
    headers.insert(VARY, actix_web::http::header::HeaderValue::from_static("accept-language"));
    response
}
