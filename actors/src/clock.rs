//! The node's clock: the wall clock once, then the monotonic clock.
//!
//! Invariant: `now` never jumps and never runs back, so a correction of the wall clock makes no wait end in a burst.

use lohisoftbot_core::time::Timestamp;
use tokio::time::Instant;

use crate::ports::Clock;

/// Counts on from an anchor with tokio's clock, which a test may pause.
#[derive(Clone, Debug)]
pub struct AnchoredClock {
    anchor: Timestamp,
    started: Instant,
}

impl AnchoredClock {
    /// A clock that shows `wall` now.
    pub fn anchored_at(wall: Timestamp) -> Self {
        Self { anchor: wall, started: Instant::now() }
    }

    /// A clock anchored on the system's wall clock.
    pub fn from_system() -> Self {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self::anchored_at(Timestamp::from_millis(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl Clock for AnchoredClock {
    fn now(&self) -> Timestamp {
        self.anchor.plus(self.started.elapsed())
    }
}
