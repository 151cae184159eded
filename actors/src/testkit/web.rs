//! The web as a test writes it: the twins of the network ports, with a log of every request as the other side saw it.
//!
//! A URL that no script knows is answered 404, so a site without a robots.txt has no rules.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{FetchFailure, ResolveFailure};
use lohisoftbot_core::record::Condition;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::storage_contract::url;
use crate::ports::{Clock, Fetch, FetchOrder, FetchReport, FetchedResponse, Resolve, VettedAddress};

/// How long an answer takes where the script does not say.
pub const USUAL_TOOK: Duration = Duration::from_millis(100);

/// What a server does with a request.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    end: ScriptedEnd,
    took: Duration,
}

#[derive(Clone, Debug)]
enum ScriptedEnd {
    Answer { head: ResponseHead, body: Bytes, cut: bool },
    Failure(FetchFailure),
    Never,
    Panic,
}

impl ScriptedAnswer {
    fn new(end: ScriptedEnd) -> Self {
        Self { end, took: USUAL_TOOK }
    }

    /// A status, without a body.
    pub fn status(status: u16) -> Self {
        Self::answer(ResponseHead::new(status), "")
    }

    /// A head and a body.
    pub fn answer(head: ResponseHead, body: &str) -> Self {
        Self::new(ScriptedEnd::Answer { head, body: Bytes::copy_from_slice(body.as_bytes()), cut: false })
    }

    /// An HTML page.
    pub fn html(body: &str) -> Self {
        Self::answer(ResponseHead::new(200).with("content-type", "text/html; charset=utf-8"), body)
    }

    /// A page with links, each under its own address as text.
    pub fn page_with_links(targets: &[&str]) -> Self {
        let links: String = targets.iter().map(|target| format!("<a href=\"{target}\">{target}</a> ")).collect();
        Self::html(&format!("<!doctype html><title>A page</title><p>{links}</p>"))
    }

    /// A sitemap of these pages.
    pub fn sitemap(pages: &[&str]) -> Self {
        let entries: String = pages.iter().map(|page| format!("<url><loc>{page}</loc></url>")).collect();
        let head = ResponseHead::new(200).with("content-type", "application/xml");
        Self::answer(head, &format!("<?xml version=\"1.0\"?><urlset>{entries}</urlset>"))
    }

    /// A text, such as robots.txt.
    pub fn text(body: &str) -> Self {
        Self::answer(ResponseHead::new(200).with("content-type", "text/plain"), body)
    }

    /// No answer, for this reason.
    pub fn failure(failure: FetchFailure) -> Self {
        Self::new(ScriptedEnd::Failure(failure))
    }

    /// An answer that never comes; only dropping the request ends it.
    pub fn never() -> Self {
        Self::new(ScriptedEnd::Never)
    }

    /// A fault of the port itself.
    pub fn panic() -> Self {
        Self::new(ScriptedEnd::Panic)
    }

    /// Its body breaks off.
    #[must_use]
    pub fn cut_short(mut self) -> Self {
        if let ScriptedEnd::Answer { cut, .. } = &mut self.end {
            *cut = true;
        }
        self
    }

    /// Takes so long.
    #[must_use]
    pub fn after(mut self, took: Duration) -> Self {
        self.took = took;
        self
    }
}

/// How a request ended, on the side of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedEnd {
    /// It is open.
    Open,
    /// It was answered, or failed on the way.
    Ended(Timestamp),
    /// The client closed the connection before the answer.
    Dropped(Timestamp),
}

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// What was asked.
    pub url: PageUrl,
    /// What for.
    pub kind: RequestKind,
    /// By whom.
    pub user_agent: String,
    /// Under which condition.
    pub condition: Option<Condition>,
    /// From where.
    pub source: Option<Ipv4Addr>,
    /// At which address.
    pub address: Ipv4Addr,
    /// When.
    pub started_at: Timestamp,
    /// And until when.
    pub end: LoggedEnd,
}

type Hook = Rc<dyn Fn(&FetchOrder)>;

#[derive(Default)]
struct Inner {
    scripts: HashMap<String, Vec<ScriptedAnswer>>,
    log: Vec<LoggedRequest>,
    hook: Option<Hook>,
    handshakes: HashMap<String, Duration>,
}

/// The twin of the fetch port. Clones share one web.
#[derive(Clone)]
pub struct ScriptedWeb {
    clock: Arc<dyn Clock>,
    inner: Rc<RefCell<Inner>>,
}

impl ScriptedWeb {
    /// A web without any page.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, inner: Rc::default() }
    }

    /// What `address` answers: each in turn, the last one again and again.
    pub fn on(&self, address: &str, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        let mut answers: Vec<ScriptedAnswer> = answers.into_iter().collect();
        answers.reverse();
        self.inner.borrow_mut().scripts.insert(url(address).to_string(), answers);
    }

    /// A site whose home page links to `num_pages - 1` others.
    pub fn site(&self, host: &str, num_pages: usize) {
        let paths: Vec<String> = (1..num_pages).map(|number| format!("/page-{number}")).collect();
        let links: Vec<&str> = paths.iter().map(String::as_str).collect();
        self.on(&format!("http://{host}/"), [ScriptedAnswer::page_with_links(&links)]);
        for path in &paths {
            self.on(&format!("http://{host}{path}"), [ScriptedAnswer::page_with_links(&["/"])]);
        }
    }

    /// Calls `hook` with each request before it is answered.
    pub fn watch(&self, hook: impl Fn(&FetchOrder) + 'static) {
        self.inner.borrow_mut().hook = Some(Rc::new(hook));
    }

    /// A connection to `host` takes so long before its request can leave.
    pub fn set_handshake(&self, host: &str, took: Duration) {
        self.inner.borrow_mut().handshakes.insert(host.to_owned(), took);
    }

    /// Every request so far.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.inner.borrow().log.clone()
    }

    /// The paths asked of a host as pages so far: neither robots.txt nor sitemaps.
    pub fn pages_asked(&self, host: &str) -> Vec<String> {
        self.asked(RequestKind::Page, host)
    }

    /// The paths asked of a host for this so far.
    pub fn asked(&self, kind: RequestKind, host: &str) -> Vec<String> {
        let is_wanted = |request: &&LoggedRequest| request.kind == kind && request.url.host() == host;
        self.inner
            .borrow()
            .log
            .iter()
            .filter(is_wanted)
            .map(|request| request.url.path_and_query().to_owned())
            .collect()
    }

    fn next_answer(&self, order: &FetchOrder) -> ScriptedAnswer {
        let mut inner = self.inner.borrow_mut();
        let Some(answers) = inner.scripts.get_mut(order.url.as_str()) else { return ScriptedAnswer::status(404) };
        let last = answers.last().cloned().unwrap_or_else(|| ScriptedAnswer::status(404));
        if answers.len() > 1 {
            answers.pop();
        }
        last
    }

    fn begin(&self, order: &FetchOrder) -> OpenConnection {
        let mut inner = self.inner.borrow_mut();
        inner.log.push(LoggedRequest {
            url: order.url.clone(),
            kind: order.kind,
            user_agent: order.user_agent.clone(),
            condition: order.condition.clone(),
            source: order.source,
            address: *order.address.socket_addr().ip(),
            started_at: self.clock.now(),
            end: LoggedEnd::Open,
        });
        OpenConnection { web: self.clone(), place: inner.log.len() - 1, end: LoggedEnd::Dropped }
    }
}

/// Logs its end when it is dropped.
struct OpenConnection {
    web: ScriptedWeb,
    place: usize,
    end: fn(Timestamp) -> LoggedEnd,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let now = self.web.clock.now();
        self.web.inner.borrow_mut().log[self.place].end = (self.end)(now);
    }
}

impl Fetch for ScriptedWeb {
    fn fetch(&self, order: FetchOrder) -> LocalBoxFuture<'static, FetchReport> {
        let web = self.clone();
        Box::pin(async move {
            let handshake = web.inner.borrow().handshakes.get(order.url.host()).copied();
            if let Some(handshake) = handshake {
                tokio::time::sleep(handshake).await;
            }
            order.slot.leave().await;
            order.slot.note_left();
            let hook = web.inner.borrow().hook.clone();
            if let Some(hook) = hook {
                hook(&order);
            }
            let mut connection = web.begin(&order);
            let ScriptedAnswer { end, took } = web.next_answer(&order);
            tokio::time::sleep(took).await;
            let (result, wire_bytes) = match end {
                ScriptedEnd::Answer { head, body, cut } => {
                    let wire_bytes = body.len() as u64;
                    (Ok(FetchedResponse { head, body, cut }), wire_bytes)
                }
                ScriptedEnd::Failure(failure) => (Err(failure), 0),
                ScriptedEnd::Never => std::future::pending().await,
                ScriptedEnd::Panic => panic!("the script says so"),
            };
            connection.end = LoggedEnd::Ended;
            order.slot.note_answered();
            FetchReport { result, wire_bytes, took }
        })
    }
}

/// The twin of the resolver: every name is that of the loopback address, unless the test says otherwise. Clones share one table.
#[derive(Clone, Default)]
pub struct TableResolver(Rc<RefCell<HashMap<String, Result<Ipv4Addr, ResolveFailure>>>>);

impl TableResolver {
    /// `host` cannot be resolved.
    pub fn fail(&self, host: &str, failure: ResolveFailure) {
        self.0.borrow_mut().insert(host.to_owned(), Err(failure));
    }

    /// `host` is at this address.
    pub fn place(&self, host: &str, address: Ipv4Addr) {
        self.0.borrow_mut().insert(host.to_owned(), Ok(address));
    }
}

impl Resolve for TableResolver {
    fn resolve(&self, host: &str, port: u16) -> LocalBoxFuture<'static, Result<VettedAddress, ResolveFailure>> {
        let found = self.0.borrow().get(host).cloned().unwrap_or(Ok(Ipv4Addr::LOCALHOST));
        let vetted = found.map(|address| VettedAddress::new_vetted(SocketAddrV4::new(address, port)));
        Box::pin(std::future::ready(vetted))
    }
}
