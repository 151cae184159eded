//! The time that a request takes, without the time that it stands at the door.
//!
//! How long a request waits for leave is the node's own doing and no time-out's business: it says nothing of the server.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::io::exchange::SharedExchange;

/// Runs from the start of a fetch, and stands still while its request waits for leave.
pub struct RequestClock {
    began: Instant,
    exchange: SharedExchange,
}

impl RequestClock {
    /// From now on.
    pub fn start(exchange: SharedExchange) -> Self {
        Self { began: Instant::now(), exchange }
    }

    /// What it shows.
    pub fn taken(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.exchange.waited())
    }

    /// What `work` gives; none, and the work is dropped, if the clock shows `limit` before.
    pub async fn until<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            // Asked first, so that work which is ready whenever it is looked at does not go on for ever.
            let left = limit.saturating_sub(self.taken());
            if left.is_zero() {
                return None;
            }
            // Where it errs, the clock may have stood still meanwhile, and there is time left.
            if let Ok(done) = timeout(left, &mut work).await {
                return Some(done);
            }
        }
    }
}
