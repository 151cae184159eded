//! Removing stored pages at the moment when their `unavailable_after` passes (P7), whether or not their site is crawled then.
//!
//! One timer, set for the first page to expire; each look removes a batch, and flushes with what else is gathered. The start looks at
//! once, so that a time that passed while the node was down is made up for.
//!
//! The site's queue is not told: it may be in a live host actor's hands, and goes on to say that the page was fetched and has a record.
//! Nothing depends on that record being there: a page that turns out forbidden, gone or redirected is removed by a change that answers
//! [`Applied::Absent`] where there is none, a renewal answers the same, and the next cycle opens every URL again.

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::{IndexActor, Pending, Urgency};
use crate::events::{NodeEvent, Removal};
use crate::storage::{Applied, RecordStore, StoreChange, StoreError};

/// Pages removed before other messages get their turn.
const EXPIRY_BATCH: usize = 64;
/// The store is asked for expired pages at least this often while any page in it expires at all: some say a date centuries off, which is more
/// than a timer holds.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// When the store is looked through next.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    /// The timer, and what it is set for.
    timer: Option<(Timestamp, SpawnHandle)>,
    /// The node is ending: a timer would keep the actor alive.
    is_over: bool,
}

/// Look for expired pages.
#[derive(Message)]
#[rtype(result = "()")]
struct Tick;

/// What a look for expired pages found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    removed: Vec<PageUrl>,
    /// When the first of those that are left expires.
    next: Option<Timestamp>,
}

impl IndexActor {
    /// Removes a batch of pages whose time has passed, and sets the timer for those that are left.
    pub(super) fn give_up_expired(&mut self, ctx: &mut Context<Self>) {
        let now = self.clock.now();
        // None means that the store has failed and the node is ending.
        let Some(Look { removed, next }) = self.run(|store| remove_expired(store, now)) else { return };
        let num_removed = removed.len();
        if num_removed > 0 {
            tracing::debug!(num_removed, "removed pages whose unavailable_after has passed");
            let events = self.events.clone();
            let answer = Box::new(move || {
                for url in removed {
                    events.tell(&NodeEvent::PageRemoved { url, why: Removal::Expired, at: now });
                }
            });
            self.gather(Pending { permit: None, answer }, Urgency::WithOthers, ctx);
        }
        match next {
            // A page that is due and stays was not removable; asking again at once would be a busy loop.
            Some(at) if at <= now && num_removed == 0 => self.wake_at(now.plus(LONGEST_SLEEP), ctx),
            Some(at) => self.wake_at(at, ctx),
            None => {}
        }
    }

    /// A page was stored that expires at `at`.
    pub(super) fn note_expiry(&mut self, at: Timestamp, ctx: &mut Context<Self>) {
        if self.expiry.timer.is_none_or(|(known, _)| at < known) {
            self.wake_at(at, ctx);
        }
    }

    /// The node is ending: what expires from now on is removed at the next start.
    pub(super) fn end_expiry(&mut self, ctx: &mut Context<Self>) {
        self.expiry.is_over = true;
        self.cancel_timer(ctx);
    }

    fn wake_at(&mut self, at: Timestamp, ctx: &mut Context<Self>) {
        self.cancel_timer(ctx);
        if self.expiry.is_over {
            return;
        }
        let now = self.clock.now();
        let at = at.min(now.plus(LONGEST_SLEEP));
        self.expiry.timer = Some((at, ctx.notify_later(Tick, at.since(now))));
    }

    fn cancel_timer(&mut self, ctx: &mut Context<Self>) {
        if let Some((_, timer)) = self.expiry.timer.take() {
            ctx.cancel_future(timer);
        }
    }
}

/// Through the same change as any removal, so that links and counts go with the record.
fn remove_expired(store: &mut dyn RecordStore, now: Timestamp) -> Result<Look, StoreError> {
    let mut removed = Vec::new();
    for url in store.expired_until(now, EXPIRY_BATCH)? {
        if store.apply(StoreChange::RemovePage { url: url.clone() })? == Applied::Done {
            removed.push(url);
        }
    }
    Ok(Look { removed, next: store.first_expiry()? })
}

impl Handler<Tick> for IndexActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        self.expiry.timer = None;
        self.give_up_expired(ctx);
    }
}
