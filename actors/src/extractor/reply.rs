//! The answer that a host actor waits for, whatever becomes of what it fetched.
//!
//! Invariant: each reply is told once: by whoever read the thing, or, where it is lost with its message or its extractor, when it is dropped.

use actix::prelude::*;
use lohisoftbot_core::ledger::TicketNumber;

/// What a host actor is told about something that was read.
pub trait ReadingEnd: Message<Result = ()> + Send + 'static {
    /// What it is told where nobody could read what was fetched under `ticket`.
    fn lost(ticket: TicketNumber) -> Self;
}

/// Tells a host actor what became of what it fetched; that it could not be read, where it is dropped untold.
pub struct Reply<M: ReadingEnd> {
    ticket: TicketNumber,
    to: Option<Recipient<M>>,
}

impl<M: ReadingEnd> Reply<M> {
    /// About what was fetched under `ticket`.
    pub fn new(ticket: TicketNumber, to: Recipient<M>) -> Self {
        Self { ticket, to: Some(to) }
    }

    pub(super) fn tell(mut self, end: impl FnOnce(TicketNumber) -> M) {
        self.tell_once(end);
    }

    fn tell_once(&mut self, end: impl FnOnce(TicketNumber) -> M) {
        if let Some(host) = self.to.take() {
            host.do_send(end(self.ticket));
        }
    }
}

impl<M: ReadingEnd> Drop for Reply<M> {
    fn drop(&mut self) {
        self.tell_once(M::lost);
    }
}
