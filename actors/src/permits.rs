//! Permits bound the work in flight: a count of pages and of body bytes.
//!
//! A permit is taken before the ticket, travels with the page to the extractor and the index, and ends when its record is stored. So
//! no mailbox fills up: what is under way anywhere is at most what was permitted.

use std::sync::Arc;

use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::sitemap::MAX_SITEMAP_BYTES;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The node's permits.
#[derive(Clone, Debug)]
pub struct Permits {
    pages: Arc<Semaphore>,
    body_kib: Arc<Semaphore>,
    body_cap_kib: u32,
    sitemap_cap_kib: u32,
}

/// What one sitemap is counted at: the file, and once more what it is inflated to or the URLs that it lists.
const SITEMAP_KIB: usize = 2 * MAX_SITEMAP_BYTES / 1024;

/// Leave to have one page in flight; given back when dropped.
#[derive(Debug)]
pub struct PagePermit {
    _page: OwnedSemaphorePermit,
    _body: OwnedSemaphorePermit,
}

impl Permits {
    /// At most `num_pages` pages and `total_bytes` of bodies at once, each body counted at its cap of `body_cap_bytes`. A sitemap
    /// counts for more, and for all there is where that is less.
    pub fn new(num_pages: usize, total_bytes: usize, body_cap_bytes: usize) -> Self {
        let body_cap_kib = u32::try_from(body_cap_bytes.div_ceil(1024)).unwrap_or(u32::MAX).max(1);
        let total_kib = (total_bytes / 1024).max(body_cap_kib as usize).min(Semaphore::MAX_PERMITS);
        Self {
            pages: Arc::new(Semaphore::new(num_pages.max(1))),
            body_kib: Arc::new(Semaphore::new(total_kib)),
            body_cap_kib,
            sitemap_cap_kib: u32::try_from(SITEMAP_KIB.min(total_kib)).unwrap_or(u32::MAX),
        }
    }

    /// Waits for a permit to send a request of this kind.
    pub async fn acquire(&self, kind: RequestKind) -> PagePermit {
        let num_kib = match kind {
            RequestKind::Robots | RequestKind::Page => self.body_cap_kib,
            RequestKind::Sitemap => self.sitemap_cap_kib.max(self.body_cap_kib),
        };
        let page = self.pages.clone().acquire_owned().await.expect("the semaphore is never closed");
        let body = self.body_kib.clone().acquire_many_owned(num_kib).await;
        PagePermit { _page: page, _body: body.expect("the semaphore is never closed") }
    }
}
