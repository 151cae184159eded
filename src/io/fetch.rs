//! The fetch port over awc: one GET, one client, one connection, closed afterwards.
//!
//! Nothing outlives a fetch but TLS sessions: no pool, no cookies, no credentials, no Referer, no redirects followed, no second try.
//! Which URL may be asked, and what the answer means, is decided elsewhere.
//!
//! Invariants: a fetch ends within the whole-request time-out; no more of a body is kept than its cap; a body that is not whole is
//! marked as cut, and where nothing at all of it could be used because time ran out, the fetch failed.

use std::rc::Rc;
use std::sync::Arc;

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
use lohisoftbot_core::response::ResponseHead;
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

use super::answer_head::{AnswerHead, list_items};
use super::body_framing::BodyEnd;
use super::connector::{PinnedConnector, Route, TlsRoute};
use super::decode::{BodyDecoder, DecodeCaps, Decoded, Flow, gunzip_file};
use super::exchange::{Exchange, SharedExchange};
use super::limits::FetchLimits;

/// What a page may be. The node keeps HTML alone; the rest is named so that negotiating servers answer at all.
const ACCEPT_VALUE: HeaderValue = HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.1");

/// What a sitemap may be. Servers that negotiate are told that a page is not wanted.
const ACCEPT_SITEMAP: HeaderValue = HeaderValue::from_static("application/xml,text/xml,text/plain,*/*;q=0.5");

/// The codings that `decode` undoes.
const ACCEPT_ENCODING_VALUE: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

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
            let started = Instant::now();
            let exchange = Rc::new(Exchange::leaving_by(order.slot.clone()));
            let _place = Place(exchange.clone());
            let result = run(&order, limits, tls, exchange.clone(), started).await;
            let took = started.elapsed().saturating_sub(exchange.waited());
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

async fn run(
    order: &FetchOrder,
    limits: FetchLimits,
    tls: Arc<ClientConfig>,
    exchange: SharedExchange,
    started: Instant,
) -> Result<FetchedResponse, FetchFailure> {
    let deadline = started + limits.total_timeout;
    let Some(request) = request_of(order, &limits, tls, exchange.clone()) else {
        tracing::error!(user_agent = order.user_agent, url = %order.url, "this User-Agent or host cannot be sent");
        return Err(FetchFailure::Unreachable);
    };
    let mut answer = match timeout_at(deadline, request.send_body(awc::body::None::new())).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(exchange.failure().unwrap_or_else(|| failure_without_note(&error))),
        Err(_) => return Err(FetchFailure::TotalTimeout),
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
        match timeout_at(deadline, answer.next()).await {
            Ok(Some(Ok(bytes))) => flow = decoder.feed(&bytes),
            Ok(Some(Err(_)) | None) => break stall_of(&exchange),
            Err(_) => break Some(FetchFailure::TotalTimeout),
        }
    };
    if let (Some(failure), true) = (ran_out, decoder.is_empty()) {
        return Err(failure);
    }
    let came_whole = flow == Flow::Continue && exchange.body_end() == Some(BodyEnd::Whole);
    let decoded = unpacked(order.kind, decoder.finish(), caps).await;
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
    // awc's own time-outs lie behind ours, so that ours name the phase.
    let client = awc::Client::builder()
        .connector(Connector::new().timeout(limits.total_timeout * 2).connector(connector))
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

/// The fields of the request. Validators that cannot be sent are left out; a request that could not say where it goes or who asks
/// (P9) is none at all.
fn fields_of(order: &FetchOrder) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let from_text = |text: &str| HeaderValue::from_bytes(text.as_bytes()).ok();
    let mut fields = vec![
        (HOST, from_text(&order.url.origin().authority())?),
        (USER_AGENT, from_text(&order.user_agent)?),
        (ACCEPT, accept_of(order.kind)),
        (ACCEPT_ENCODING, ACCEPT_ENCODING_VALUE),
    ];
    let etag = (IF_NONE_MATCH, order.etag.as_deref().and_then(from_text));
    let last_modified = (IF_MODIFIED_SINCE, order.last_modified.as_deref().and_then(from_text));
    fields.extend([etag, last_modified].into_iter().filter_map(|(name, value)| Some((name, value?))));
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

/// The body as it is to be read: of a sitemap that is a gzip file, what is in that file. Inflating ten megabytes takes long enough to be
/// done beside the thread that owns the timers.
async fn unpacked(kind: RequestKind, decoded: Decoded, caps: DecodeCaps) -> Decoded {
    match kind {
        RequestKind::Robots | RequestKind::Page => decoded,
        RequestKind::Sitemap => {
            let Decoded { body, cut } = decoded;
            let inflating = tokio::task::spawn_blocking(move || gunzip_file(body, caps));
            // An inflater that panics has inflated nothing.
            let file = inflating.await.unwrap_or(Decoded { body: Bytes::new(), cut: true });
            Decoded { cut: file.cut || cut, ..file }
        }
    }
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
mod leaving;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod secure;
#[cfg(test)]
mod sitemaps;
#[cfg(test)]
mod test_server;
