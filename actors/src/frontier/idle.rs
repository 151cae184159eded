//! When nothing is left to do, and when nothing is left running.

use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::site_row::SiteStanding;
use tokio::sync::oneshot;

use super::FrontierActor;
use crate::host::StopHost;

/// Answered when nothing is live and no wait ends within `max_wait`.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct WhenIdle {
    /// Waits that end sooner are waited for.
    pub max_wait: Duration,
}

/// Stop every host actor; answered when none is left and every row is stored.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StopAll;

impl FrontierActor {
    /// Tells those who wait for the end of all work, or of the node.
    pub(super) fn answer_waiters(&mut self) {
        if !self.live.is_empty() || self.is_loading || self.num_changes > 0 {
            return;
        }
        for waiter in self.stop_waiters.drain(..) {
            // Whoever waited may be gone.
            let _ = waiter.send(());
        }
        let next_wait = self.next_due.map(|due| due.since(self.clock.now()));
        let (idle, busy) = std::mem::take(&mut self.idle_waiters)
            .into_iter()
            .partition(|(max_wait, _)| self.is_stopping || next_wait.is_none_or(|wait| wait > *max_wait));
        self.idle_waiters = busy;
        for (_, waiter) in idle {
            let _ = waiter.send(());
        }
    }
}

impl Handler<WhenIdle> for FrontierActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, WhenIdle { max_wait }: WhenIdle, _: &mut Self::Context) -> Self::Result {
        let (idle, is_idle) = oneshot::channel();
        self.idle_waiters.push((max_wait, idle));
        self.answer_waiters();
        Box::pin(async move {
            // An error means that the frontier is gone; then nothing is live either.
            let _ = is_idle.await;
        })
    }
}

impl Handler<StopAll> for FrontierActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: StopAll, ctx: &mut Self::Context) -> Self::Result {
        self.is_stopping = true;
        self.cancel_timer(ctx);
        for live in self.live.values() {
            live.address.do_send(StopHost(SiteStanding::Due));
        }
        let (stopped, is_stopped) = oneshot::channel();
        self.stop_waiters.push(stopped);
        self.answer_waiters();
        Box::pin(async move {
            let _ = is_stopped.await;
        })
    }
}
