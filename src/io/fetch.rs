//! The fetch port over awc: one GET, one client, one connection, closed afterwards.
//!
//! Nothing outlives a fetch but TLS sessions: no pool, no cookies, no credentials, no Referer, no redirects followed, no second try.
//! Which URL may be asked, and what the answer means, is decided elsewhere.
//!
//! Invariants: a request ends within the whole-request time-out, its wait for leave not counted; when the fetch ends, or is dropped, its
//! connection is closed already, and no task is left that holds it. No more of a body is kept than its cap; a body that is not whole is
//! marked as cut, and where nothing at all of it could be used because time ran out, the fetch failed.
//!
//! A sitemap that is a gzip file is unpacked behind all that: the connection is closed and the place at the address given back by then,
//! and the time counts as nobody's response time. It takes `UNPACK_TIMEOUT` at most. The thread that unpacks stops within one piece
//! of the file when the fetch is dropped.

mod request_clock;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use awc::http::header::{
    ACCEPT, ACCEPT_ENCODING, HOST, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT,
};
use awc::{ClientRequest, Connector};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_actors::ports::{Fetch, FetchOrder, FetchReport, FetchedResponse};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::origin::Scheme;
use lohisoftbot_core::outcome::{FetchFailure, wants_body};
use lohisoftbot_core::record::Condition;
use lohisoftbot_core::response::ResponseHead;
use rustls::ClientConfig;
use tokio::time::timeout;

use super::answer_head::{AnswerHead, list_items};
use super::body_framing::BodyEnd;
use super::connector::{PinnedConnector, Route, TlsRoute};
use super::decode::{BodyDecoder, DecodeCaps, Decoded, Flow, gunzip_file};
use super::exchange::{Exchange, SharedExchange};
use super::limits::FetchLimits;
use request_clock::RequestClock;

/// What a page may be. The node keeps HTML alone; the rest is named so that negotiating servers answer at all.
const ACCEPT_VALUE: HeaderValue = HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.1");

/// What a sitemap may be. Servers that negotiate are told that a page is not wanted.
const ACCEPT_SITEMAP: HeaderValue = HeaderValue::from_static("application/xml,text/xml,text/plain,*/*;q=0.5");

/// The codings that `decode` undoes.
const ACCEPT_ENCODING_VALUE: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// Longest wait for the content of a sitemap that is a gzip file, until a thread is free for it included.
const UNPACK_TIMEOUT: Duration = Duration::from_secs(5);

/// The fetch port of one thread.
#[derive(Clone)]
pub struct AwcFetch {
    limits: FetchLimits,
    tls: Arc<ClientConfig>,
}

impl AwcFetch {
    /// With these limits and TLS settings.
    pub fn new(limits: FetchLimits, tls: Arc<ClientConfig>) -> Self {
        Self { limits, tls }
    }
}

impl Fetch for AwcFetch {
    fn fetch(&self, order: FetchOrder) -> LocalBoxFuture<'static, FetchReport> {
        let Self { limits, tls } = self.clone();
        Box::pin(async move {
            let (kind, caps) = (order.kind, caps_of(order.kind, &limits));
            let exchange = Rc::new(Exchange::leaving_by(order.slot.clone()));
            let place = Place(exchange.clone());
            let clock = RequestClock::start(exchange.clone());
            let answer = ask(order, limits, tls, exchange.clone(), &clock).await;
            // The connection is closed. Whatever follows is the node's own work.
            let took = clock.taken();
            drop(place);
            let result = match answer {
                Ok(answer) => Ok(unpacked(kind, answer, caps).await),
                Err(failure) => Err(failure),
            };
            FetchReport { result, wire_bytes: exchange.wire_bytes(), took }
        })
    }
}

/// The request's place at its address, given up with the fetch, be it broken off or not.
struct Place(SharedExchange);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.drop_slot();
    }
}

/// Sends the request and reads the answer. The connection lives in here.
async fn ask(
    order: FetchOrder,
    limits: FetchLimits,
    tls: Arc<ClientConfig>,
    exchange: SharedExchange,
    clock: &RequestClock,
) -> Result<FetchedResponse, FetchFailure> {
    let Some(request) = request_of(&order, &limits, tls, exchange.clone()) else {
        tracing::error!(user_agent = order.user_agent, url = %order.url, "this User-Agent or host cannot be sent");
        return Err(FetchFailure::Unreachable);
    };
    let sending = request.send_body(awc::body::None::new());
    let mut answer = match clock.until(limits.total_timeout, sending).await {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => return Err(exchange.failure().unwrap_or_else(|| failure_without_note(&error))),
        None => return Err(FetchFailure::TotalTimeout),
    };
    let AnswerHead { head, transfer_codings, .. } = exchange.take_head().ok_or(FetchFailure::Malformed)?;
    if !wants_body(order.kind, &head) {
        return Ok(FetchedResponse { head, body: Bytes::new(), cut: false });
    }
    let caps = caps_of(order.kind, &limits);
    let mut decoder = decoder_of(&head, &transfer_codings, caps);
    // A decoder that wants nothing more saves the server the rest of the body.
    let mut flow = decoder.feed(&[]);
    let ran_out = loop {
        if flow == Flow::Stop {
            break None;
        }
        match clock.until(limits.total_timeout, answer.next()).await {
            Some(Some(Ok(bytes))) => flow = decoder.feed(&bytes),
            Some(Some(Err(_)) | None) => break stall_of(&exchange),
            None => break Some(FetchFailure::TotalTimeout),
        }
    };
    if let (Some(failure), true) = (ran_out, decoder.is_empty()) {
        return Err(failure);
    }
    let came_whole = flow == Flow::Continue && exchange.body_end() == Some(BodyEnd::Whole);
    let decoded = decoder.finish();
    Ok(FetchedResponse { head, body: decoded.body, cut: decoded.cut || !came_whole })
}

fn stall_of(exchange: &Exchange) -> Option<FetchFailure> {
    match exchange.body_end() {
        Some(BodyEnd::Stalled) => Some(FetchFailure::IdleTimeout),
        Some(BodyEnd::Whole | BodyEnd::Truncated) | None => None,
    }
}

/// What an error of awc means where the stream noted nothing: the stream is the first to see any fault of the server, so this is
/// a request that could not be written.
fn failure_without_note(error: &awc::error::SendRequestError) -> FetchFailure {
    tracing::warn!(%error, "request failed without a noted reason");
    FetchFailure::Reset
}

fn request_of(
    order: &FetchOrder,
    limits: &FetchLimits,
    tls: Arc<ClientConfig>,
    exchange: SharedExchange,
) -> Option<ClientRequest> {
    let origin = order.url.origin();
    let tls = match origin.scheme() {
        Scheme::Http => None,
        Scheme::Https => Some(TlsRoute { config: tls, host: origin.host().to_owned() }),
    };
    let address = order.address.socket_addr();
    let route = Route { address, source: order.source, tls };
    let connector = PinnedConnector::new(route, limits.clone(), exchange);
    // awc's own time-outs are off: ours name the phase, and the wait for leave, which awc takes for a part of connecting, has none.
    let client = awc::Client::builder()
        .connector(Connector::new().timeout(Duration::MAX).connector(connector))
        .disable_timeout()
        .disable_redirects()
        .no_default_headers()
        .finish();
    // The authority is not sent: Host says which site is meant, and an address is a valid URI authority where odd names are not.
    let target = format!("http://{address}{}", order.url.path_and_query());
    let mut request = client.get(target).camel_case().force_close();
    for (name, value) in fields_of(order)? {
        request = request.insert_header((name, value));
    }
    Some(request)
}

/// The fields of the request. A condition that cannot be sent is left out; a request that could not say where it goes or who asks
/// (P9) is none at all.
fn fields_of(order: &FetchOrder) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let from_text = |text: &str| HeaderValue::from_bytes(text.as_bytes()).ok();
    let mut fields = vec![
        (HOST, from_text(&order.url.origin().authority())?),
        (USER_AGENT, from_text(&order.user_agent)?),
        (ACCEPT, accept_of(order.kind)),
        (ACCEPT_ENCODING, ACCEPT_ENCODING_VALUE),
    ];
    let condition = order.condition.as_ref().map(|condition| match condition {
        Condition::NoneMatch(etag) => (IF_NONE_MATCH, etag),
        Condition::ModifiedSince(date) => (IF_MODIFIED_SINCE, date),
    });
    fields.extend(condition.and_then(|(name, value)| Some((name, from_text(value)?))));
    Some(fields)
}

fn accept_of(kind: RequestKind) -> HeaderValue {
    match kind {
        RequestKind::Robots | RequestKind::Page => ACCEPT_VALUE,
        RequestKind::Sitemap => ACCEPT_SITEMAP,
    }
}

fn caps_of(kind: RequestKind, limits: &FetchLimits) -> DecodeCaps {
    let bytes = match kind {
        RequestKind::Robots => limits.max_robots_bytes,
        RequestKind::Page => limits.max_body_bytes,
        RequestKind::Sitemap => limits.max_sitemap_bytes,
    };
    DecodeCaps { bytes, ratio: limits.max_ratio }
}

/// The answer as it is to be read: of a sitemap that is a gzip file, with what is in that file. Inflating ten megabytes takes long enough
/// to be done beside the thread that owns the timers.
async fn unpacked(kind: RequestKind, answer: FetchedResponse, caps: DecodeCaps) -> FetchedResponse {
    match kind {
        RequestKind::Robots | RequestKind::Page => return answer,
        RequestKind::Sitemap if answer.body.is_empty() => return answer,
        RequestKind::Sitemap => {}
    }
    let FetchedResponse { head, body, cut } = answer;
    // Dropped with this future, which tells the thread that nobody wants the rest.
    let wish = Arc::new(());
    let wished = Arc::downgrade(&wish);
    let inflating = tokio::task::spawn_blocking(move || gunzip_file(body, caps, || wished.strong_count() > 0));
    let file = match timeout(UNPACK_TIMEOUT, inflating).await {
        Ok(Ok(file)) => file,
        // An inflater that panics or is late has inflated nothing.
        Ok(Err(_)) | Err(_) => Decoded { body: Bytes::new(), cut: true },
    };
    drop(wish);
    FetchedResponse { head, body: file.body, cut: cut || file.cut }
}

fn decoder_of(head: &ResponseHead, transfer_codings: &[String], caps: DecodeCaps) -> BodyDecoder {
    let content_codings: Vec<String> = head.all("content-encoding").flat_map(list_items).collect();
    // Transfer codings are applied after content codings (RFC 9112 §7), so they come last.
    let codings = content_codings.iter().chain(transfer_codings).map(String::as_str);
    BodyDecoder::new(codings, caps)
}

#[cfg(test)]
mod bad_servers;
#[cfg(test)]
mod closing;
#[cfg(test)]
mod leaving;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod secure;
#[cfg(test)]
mod sitemaps;
#[cfg(test)]
mod test_server;
