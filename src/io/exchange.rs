//! What the stream under awc learns of one request, for the fetch above it to read.
//!
//! awc passes only its own words through; this record passes ours beside it. It lives on one thread, as long as one request.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lohisoftbot_actors::ports::AddressSlot;
use lohisoftbot_core::outcome::FetchFailure;
use tokio::time::{Duration, Instant};

use super::answer_head::AnswerHead;
use super::body_framing::BodyEnd;

/// The record of one request.
#[derive(Debug, Default)]
pub struct Exchange {
    wire_bytes: Cell<u64>,
    failure: Cell<Option<FetchFailure>>,
    head: RefCell<Option<AnswerHead>>,
    body_end: Cell<Option<BodyEnd>>,
    /// Until the request is over. Its connection may outlive it a little, and must not hold its place meanwhile.
    slot: RefCell<Option<AddressSlot>>,
    was_told: Cell<Told>,
    /// Since when the request has been waiting for leave.
    waiting_since: Cell<Option<Instant>>,
    waited: Cell<Duration>,
}

/// What the slot was told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    Left,
    Answered,
}

/// Shared by the stream and the fetch.
pub type SharedExchange = Rc<Exchange>;

impl Exchange {
    /// Of a request that leaves when `slot` lets it.
    pub fn leaving_by(slot: AddressSlot) -> Self {
        Self { slot: RefCell::new(Some(slot)), ..Self::default() }
    }

    /// Waits until the request may leave.
    pub async fn leave(&self) {
        let leave = self.slot.borrow().as_ref().map(AddressSlot::leave);
        if let Some(leave) = leave {
            self.waiting_since.set(Some(Instant::now()));
            leave.await;
            self.waited.set(self.waited());
            self.waiting_since.set(None);
        }
    }

    /// The request was written; only the first time counts.
    pub fn note_left(&self) {
        if self.was_told.get() == Told::Nothing {
            self.was_told.set(Told::Left);
            self.tell(AddressSlot::note_left);
        }
    }

    /// Something of the answer came; only the first time counts.
    pub fn note_answered(&self) {
        if self.was_told.get() == Told::Left {
            self.was_told.set(Told::Answered);
            self.tell(AddressSlot::note_answered);
        }
    }

    fn tell(&self, what: fn(&AddressSlot)) {
        if let Some(slot) = self.slot.borrow().as_ref() {
            what(slot);
        }
    }

    /// The request is over.
    pub fn drop_slot(&self) {
        self.slot.borrow_mut().take();
    }

    /// How long the request has waited for leave until now: not the server's time.
    pub fn waited(&self) -> Duration {
        self.waited.get() + self.waiting_since.get().map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Bytes that came over the wire so far: those of TLS, where there is TLS.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes.get()
    }

    /// More bytes came.
    pub fn add_wire_bytes(&self, num_bytes: usize) {
        self.wire_bytes.set(self.wire_bytes.get() + num_bytes as u64);
    }

    /// Why there is no answer; the first reason stays.
    pub fn fail(&self, failure: FetchFailure) {
        if self.failure.get().is_none() {
            self.failure.set(Some(failure));
        }
    }

    /// The reason noted.
    pub fn failure(&self) -> Option<FetchFailure> {
        self.failure.get()
    }

    /// The head came.
    pub fn set_head(&self, head: AnswerHead) {
        *self.head.borrow_mut() = Some(head);
    }

    /// Takes the head out.
    pub fn take_head(&self) -> Option<AnswerHead> {
        self.head.borrow_mut().take()
    }

    /// The body ended.
    pub fn set_body_end(&self, end: BodyEnd) {
        self.body_end.set(Some(end));
    }

    /// How the body ended; none while it runs.
    pub fn body_end(&self) -> Option<BodyEnd> {
        self.body_end.get()
    }
}
