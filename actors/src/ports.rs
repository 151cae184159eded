//! The ports: what actors need of the world. Each has an adapter in the root package and an in-memory twin in the testkit.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{FetchFailure, ResolveFailure};
use lohisoftbot_core::record::Condition;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

/// Tells the time. Within one run it never jumps and never runs back.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// An address that was vetted and may be dialled. Only a [`Resolve`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VettedAddress(SocketAddrV4);

impl VettedAddress {
    /// For resolvers, after vetting.
    pub fn new_vetted(address: SocketAddrV4) -> Self {
        Self(address)
    }

    /// The address to dial.
    pub fn socket_addr(self) -> SocketAddrV4 {
        self.0
    }
}

/// Turns a host and port into an address that may be dialled; literal addresses are vetted too.
pub trait Resolve {
    /// Resolves over IPv4 only, within the DNS time-out.
    fn resolve(&self, host: &str, port: u16) -> LocalBoxFuture<'static, Result<VettedAddress, ResolveFailure>>;
}

/// One request to send.
#[derive(Clone, Debug)]
pub struct FetchOrder {
    /// What to ask.
    pub url: PageUrl,
    /// What it is for: sets how much body is read.
    pub kind: RequestKind,
    /// Where to connect.
    pub address: VettedAddress,
    /// Which of the node's addresses to leave from; the system's choice where none is configured.
    pub source: Option<Ipv4Addr>,
    /// The User-Agent field, whole.
    pub user_agent: String,
    /// Under which condition the page is wanted, where a record of it is stored.
    pub condition: Option<Condition>,
    /// Its place at the address: says when the request may leave, is told when it did, and is held until its connection is closed.
    pub slot: AddressSlot,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct FetchedResponse {
    /// Status and fields, cleaned.
    pub head: ResponseHead,
    /// The body after its transfer and content codings, up to the cap; empty where the head says that it is not wanted.
    pub body: Bytes,
    /// The body is incomplete: over the cap, cut short, or not decodable to its end.
    pub cut: bool,
}

/// How a request ended.
#[derive(Clone, Debug)]
pub struct FetchReport {
    /// The answer, or why there is none.
    pub result: Result<FetchedResponse, FetchFailure>,
    /// Bytes received over the wire, head included.
    pub wire_bytes: u64,
    /// From the start of the connection to the end of the answer, without the wait for leave to depart and without any unpacking.
    pub took: Duration,
}

/// Sends one request, when its slot lets it leave. Never follows a redirect, never keeps a cookie, never asks twice.
pub trait Fetch {
    /// Sends it. From the first packet to the last byte it takes no longer than the whole-request time-out, the wait for leave not
    /// counted. When the future ends or is dropped, the connection is closed already.
    ///
    /// A sitemap that is a file in a file is unpacked before the future ends, by another thread and within seconds: behind the close of
    /// the connection and the end of the slot, and no part of [`FetchReport::took`].
    fn fetch(&self, order: FetchOrder) -> LocalBoxFuture<'static, FetchReport>;
}

/// Builds the fetch and resolve ports of one arbiter: clients are bound to their thread.
pub trait NetworkFactory: Send + Sync + 'static {
    /// The fetch port of the calling thread.
    fn fetcher(&self) -> Rc<dyn Fetch>;
    /// The resolver of the calling thread.
    fn resolver(&self) -> Rc<dyn Resolve>;
}

/// What stands behind an [`AddressSlot`].
pub trait HeldSlot: Send + Sync + 'static {
    /// Waits until the request may leave.
    fn leave(&self) -> BoxFuture<'static, ()>;
    /// Its first bytes are on their way.
    fn note_left(&self);
    /// The first of an answer came, so the request has arrived.
    fn note_answered(&self);
}

/// A place among the requests that one address may have at once; given back when its last clone is dropped.
#[derive(Clone)]
pub struct AddressSlot(Arc<dyn HeldSlot>);

impl AddressSlot {
    /// A slot that gives `held` back when it is dropped.
    pub fn holding(held: impl HeldSlot) -> Self {
        Self(Arc::new(held))
    }

    /// A slot at an address that nobody watches.
    pub fn open() -> Self {
        Self::holding(OpenSlot)
    }

    /// Waits until the request may leave: the connection is up by then, and the request follows at once.
    pub fn leave(&self) -> BoxFuture<'static, ()> {
        self.0.leave()
    }

    /// The request is on its way; the next one to the address keeps its distance from here.
    pub fn note_left(&self) {
        self.0.note_left();
    }

    /// The first of an answer came: the request has arrived, and the next one need not reckon with its being late.
    pub fn note_answered(&self) {
        self.0.note_answered();
    }
}

impl fmt::Debug for AddressSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressSlot").finish_non_exhaustive()
    }
}

struct OpenSlot;

impl HeldSlot for OpenSlot {
    fn leave(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn note_left(&self) {}

    fn note_answered(&self) {}
}

/// Says when a request may go to an address that other sites share. Its place in the way of a request is before the permit.
pub trait AddressGate {
    /// Waits for a slot. Dropping the future gives the turn up.
    fn slot(&self, address: VettedAddress) -> LocalBoxFuture<'static, AddressSlot>;
}

/// Leaves every address open: for tests that look at sites alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAddressGate;

impl AddressGate for OpenAddressGate {
    fn slot(&self, _address: VettedAddress) -> LocalBoxFuture<'static, AddressSlot> {
        Box::pin(std::future::ready(AddressSlot::open()))
    }
}

/// Whether this node owns a partition of the sites. One node owns them all.
pub trait Placement: Send + Sync {
    /// Whether `partition` is this node's, now.
    fn is_mine(&self, partition: u16) -> bool;
}

/// One node: every partition is its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholePlacement;

impl Placement for WholePlacement {
    fn is_mine(&self, _partition: u16) -> bool {
        true
    }
}

/// A gate that each request passes. Locally it is open, unless the operator paused the node.
pub trait FetchGate: Send + Sync {
    /// Waits until requests may be sent.
    fn pass(&self) -> BoxFuture<'static, ()>;
}

/// The local gate: open, or shut by `pause`.
#[derive(Debug)]
pub struct LocalGate(tokio::sync::watch::Sender<GateState>);

/// Whether requests may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// They may.
    Open,
    /// None may start; those under way go on.
    Shut,
}

impl Default for LocalGate {
    fn default() -> Self {
        Self(tokio::sync::watch::Sender::new(GateState::Open))
    }
}

impl LocalGate {
    /// Opens or shuts it.
    pub fn set(&self, state: GateState) {
        self.0.send_replace(state);
    }

    /// Whether it is open.
    pub fn state(&self) -> GateState {
        *self.0.borrow()
    }
}

impl FetchGate for LocalGate {
    fn pass(&self) -> BoxFuture<'static, ()> {
        let mut watched = self.0.subscribe();
        Box::pin(async move {
            // An error means that the node is going down: then nothing passes.
            if watched.wait_for(|state| *state == GateState::Open).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
