//! Permits bound the work in flight: a count of pages and of body bytes.
//!
//! A permit is taken before the ticket, travels with the page to the extractor and the index, and ends when its record is stored. So
//! no mailbox fills up: what is under way anywhere is at most what was permitted.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The node's permits.
#[derive(Clone, Debug)]
pub struct Permits {
    pages: Arc<Semaphore>,
    body_kib: Arc<Semaphore>,
    body_cap_kib: u32,
}

/// Leave to have one page in flight; given back when dropped.
#[derive(Debug)]
pub struct PagePermit {
    _page: OwnedSemaphorePermit,
    _body: OwnedSemaphorePermit,
}

impl Permits {
    /// At most `num_pages` pages and `total_bytes` of bodies at once, each body counted at its cap of `body_cap_bytes`.
    pub fn new(num_pages: usize, total_bytes: usize, body_cap_bytes: usize) -> Self {
        let body_cap_kib = u32::try_from(body_cap_bytes.div_ceil(1024)).unwrap_or(u32::MAX).max(1);
        let total_kib = (total_bytes / 1024).max(body_cap_kib as usize).min(Semaphore::MAX_PERMITS);
        Self {
            pages: Arc::new(Semaphore::new(num_pages.max(1))),
            body_kib: Arc::new(Semaphore::new(total_kib)),
            body_cap_kib,
        }
    }

    /// Waits for a permit.
    pub async fn acquire(&self) -> PagePermit {
        let page = self.pages.clone().acquire_owned().await.expect("the semaphore is never closed");
        let body = self.body_kib.clone().acquire_many_owned(self.body_cap_kib).await;
        PagePermit { _page: page, _body: body.expect("the semaphore is never closed") }
    }
}
