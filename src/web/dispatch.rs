//! The one place that every request goes through: what is checked before, which page it is, and what every answer carries.
//!
//! Nothing of an address but the name of its page is logged: the rest could hold a query.

use std::future::Future;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::FutureExt;
use lohisoftbot_core::config::ProxyRange;

use super::client::{client_address, is_trusted};
use super::headers::{Transport, add_safety};
use super::host::HostRule;
use super::language::PageLanguage;
use super::problem::Problem;
use super::rate::{Admission, RateLimiter};
use super::searcher::{SearchUnavailable, Searcher};
use super::static_files::{self, ICON_PATH, STYLE_PATH};
use super::{api, pages, params};

/// Longest path and query of a request, in bytes: a query of 256 bytes, each percent-encoded, with all that stands beside it.
const MAX_TARGET_BYTES: usize = 4096;
/// Longest head of a request without its first line, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Longest time that the index may take; less where `web.request_timeout` is.
pub(super) const MAX_SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// What all requests share.
pub(super) struct Shared {
    pub(super) searcher: Arc<dyn Searcher>,
    pub(super) hosts: HostRule,
    pub(super) proxies: Vec<ProxyRange>,
    pub(super) limiter: RateLimiter,
    pub(super) transport: Transport,
    pub(super) search_timeout: Duration,
    /// Where the operator says what the bot does, and how a site is taken out.
    pub(super) info_url: String,
}

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    Person,
    Program,
}

/// What a request says of itself, as far as the pages need it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) audience: Audience,
    /// The language to answer in.
    pub(super) language: PageLanguage,
    /// The language that the address asks for.
    pub(super) chosen: Option<PageLanguage>,
    /// What stands behind the question mark.
    pub(super) query: String,
    /// Scheme and host that the visitor sees; empty where the host name is not one of ours.
    pub(super) origin: String,
}

/// What lies here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Home,
    Search,
    OpenSearch,
    Robots,
    Style,
    Icon,
    ApiSearch,
    ApiSuggest,
    OpenApi,
    Bot,
}

impl Page {
    fn at(path: &str) -> Option<Self> {
        match path {
            "/" => Some(Self::Home),
            "/search" => Some(Self::Search),
            "/opensearch.xml" => Some(Self::OpenSearch),
            "/robots.txt" => Some(Self::Robots),
            "/api/v1/search" => Some(Self::ApiSearch),
            "/api/v1/suggest" => Some(Self::ApiSuggest),
            "/api/v1/openapi.json" => Some(Self::OpenApi),
            "/bot" | "/bot/ro" => Some(Self::Bot),
            path if path == *STYLE_PATH => Some(Self::Style),
            path if path == *ICON_PATH => Some(Self::Icon),
            _ => None,
        }
    }
}

/// Answers any request.
pub(super) async fn dispatch(request: HttpRequest, shared: web::Data<Shared>) -> HttpResponse {
    let started = Instant::now();
    let page = Page::at(request.path());
    let asked = asked(&request, &shared);
    // What is shared is left whole by any panic, which is a fault of ours and answered as one.
    let answering = AssertUnwindSafe(answer(&request, page, &asked, &shared)).catch_unwind();
    let mut response = answering.await.unwrap_or_else(|_| Problem::Internal.answer(&asked));
    add_safety(response.headers_mut(), shared.transport);
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(page = ?page, status = response.status().as_u16(), elapsed_ms, "request answered");
    response
}

async fn answer(request: &HttpRequest, page: Option<Page>, asked: &Asked, shared: &Shared) -> HttpResponse {
    if let Some(problem) = refusal(request, asked, shared) {
        return problem.answer(asked);
    }
    let Some(page) = page else { return Problem::NotFound.answer(asked) };
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        return Problem::MethodNotAllowed.answer(asked);
    }
    match page {
        Page::Home => pages::home(asked),
        Page::Search => pages::search(asked, shared).await,
        Page::OpenSearch => static_files::opensearch(request, asked),
        Page::Robots => static_files::robots(request),
        Page::Style => static_files::style(request),
        Page::Icon => static_files::icon(request),
        Page::ApiSearch => api::search(asked, shared).await,
        Page::ApiSuggest => api::suggest(asked, shared).await,
        Page::OpenApi => static_files::openapi(request),
        Page::Bot => pages::bot(shared),
    }
}

/// Why the request is not even looked at.
fn refusal(request: &HttpRequest, asked: &Asked, shared: &Shared) -> Option<Problem> {
    if let Admission::Refused(wait) = shared.limiter.admit(client(request, shared), Instant::now()) {
        return Some(Problem::TooManyRequests(wait));
    }
    if request.uri().path_and_query().map_or(0, |target| target.as_str().len()) > MAX_TARGET_BYTES {
        return Some(Problem::TargetTooLong);
    }
    if request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() > MAX_HEAD_BYTES {
        return Some(Problem::HeadTooLarge);
    }
    asked.origin.is_empty().then_some(Problem::WrongHost)
}

fn asked(request: &HttpRequest, shared: &Shared) -> Asked {
    let query = request.query_string().to_owned();
    let chosen = params::first(&query, "lang").and_then(|tag| PageLanguage::of_tag(&tag));
    let accept = header(request, "accept-language").unwrap_or_default();
    let is_call = request.path().starts_with("/api/");
    let origin = header(request, "host").and_then(|host| shared.hosts.accept(host));
    Asked {
        audience: if is_call { Audience::Program } else { Audience::Person },
        language: chosen.unwrap_or_else(|| PageLanguage::negotiate(accept)),
        chosen,
        query,
        origin: origin.map(|host| format!("{}://{host}", scheme(request, shared))).unwrap_or_default(),
    }
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name).and_then(|value| value.to_str().ok())
}

fn peer(request: &HttpRequest) -> IpAddr {
    // A connection that ended already has no peer; then nobody reads the answer.
    request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip())
}

fn client(request: &HttpRequest, shared: &Shared) -> IpAddr {
    let lines: Vec<&str> = request.headers().get_all("x-forwarded-for").filter_map(|line| line.to_str().ok()).collect();
    client_address(peer(request), lines.into_iter(), &shared.proxies)
}

/// The scheme that the visitor sees: a trusted proxy knows it where TLS ends there.
fn scheme(request: &HttpRequest, shared: &Shared) -> &'static str {
    let forwarded = header(request, "x-forwarded-proto").filter(|_| is_trusted(peer(request), &shared.proxies));
    match (shared.transport, forwarded.map(str::trim)) {
        (Transport::Tls, _) => "https",
        (Transport::Plain, Some(scheme)) if scheme.eq_ignore_ascii_case("https") => "https",
        (Transport::Plain, _) => "http",
    }
}

impl Shared {
    /// The answer of the index, or that there was none in time.
    pub(super) async fn in_time<T>(
        &self,
        asking: impl Future<Output = Result<T, SearchUnavailable>>,
    ) -> Result<T, SearchUnavailable> {
        tokio::time::timeout(self.search_timeout, asking).await.unwrap_or(Err(SearchUnavailable::NoAnswer))
    }
}
