//! What outlasts a node in memory: its ledger and its store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent};
use lohisoftbot_core::record::{InlinkRow, PageRecord};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{RobotsCopy, SiteFrontier, SiteRow};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::memory_storage::{MemoryLedger, MemoryStore};
use crate::storage::{
    Applied, Checkpoint, DueSite, LedgerError, LedgerStore, RecordStore, StoreChange, StoreError, StoreStats,
    UnindexedSite,
};

/// Ledger and store of a node that is not running, or of one that is.
#[derive(Clone, Default)]
pub struct TestDisk {
    /// The ledger; can be read at any time.
    pub ledger: MemoryLedger,
    store: Arc<Mutex<Option<MemoryStore>>>,
    is_ledger_broken: Arc<AtomicBool>,
}

impl TestDisk {
    /// An empty disk.
    pub fn new() -> Self {
        let disk = Self::default();
        disk.put_back(MemoryStore::new());
        disk
    }

    /// From now on the ledger cannot be synced.
    pub fn break_ledger(&self) {
        self.is_ledger_broken.store(true, Ordering::SeqCst);
    }

    /// Forgets what was not durable when the process died.
    pub fn crash(&self) {
        self.ledger.crash();
        let mut store = self.take();
        store.crash();
        self.put_back(store);
    }

    /// Looks at the store of a node that has ended.
    pub fn look<T>(&self, look: impl FnOnce(&MemoryStore) -> T) -> T {
        let store = self.take();
        let seen = look(&store);
        self.put_back(store);
        seen
    }

    /// Whether no node holds the store.
    pub fn is_free(&self) -> bool {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the store out; panics while a node holds it.
    pub(super) fn take(&self) -> MemoryStore {
        let held = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.expect("the store is held by a node that still runs")
    }

    fn put_back(&self, store: MemoryStore) {
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(store);
    }

    pub(super) fn lend(&self, store: MemoryStore) -> LentStore {
        LentStore { store, disk: self.clone() }
    }

    pub(super) fn ledger_writer(&self) -> BreakableLedger {
        BreakableLedger { ledger: self.ledger.clone(), is_broken: self.is_ledger_broken.clone() }
    }
}

/// A ledger that stops working when the test says so.
pub(super) struct BreakableLedger {
    ledger: MemoryLedger,
    is_broken: Arc<AtomicBool>,
}

impl LedgerStore for BreakableLedger {
    fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), LedgerError> {
        self.ledger.append(entries)
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        if self.is_broken.load(Ordering::SeqCst) {
            let source = std::io::Error::other("the test says so");
            return Err(LedgerError::Io { action: "sync", path: "ledger".into(), source });
        }
        self.ledger.sync()
    }

    fn wants_rotation(&self, now: Timestamp) -> bool {
        self.ledger.wants_rotation(now)
    }

    fn rotate(&mut self, at: Timestamp, snapshot: &mut dyn Iterator<Item = LedgerEvent>) -> Result<(), LedgerError> {
        self.ledger.rotate(at, snapshot)
    }

    fn expire(&mut self, older_than: Timestamp) -> Result<usize, LedgerError> {
        self.ledger.expire(older_than)
    }
}

/// A store that goes back to its disk when its node ends.
pub(super) struct LentStore {
    store: MemoryStore,
    disk: TestDisk,
}

impl Drop for LentStore {
    fn drop(&mut self) {
        self.disk.put_back(std::mem::take(&mut self.store));
    }
}

impl RecordStore for LentStore {
    fn apply(&mut self, change: StoreChange) -> Result<Applied, StoreError> {
        self.store.apply(change)
    }

    fn checkpoint(&mut self, ledger_seq: u64) -> Result<Checkpoint, StoreError> {
        self.store.checkpoint(ledger_seq)
    }

    fn ledger_seq(&self) -> u64 {
        self.store.ledger_seq()
    }

    fn page(&self, url: &PageUrl) -> Result<Option<PageRecord>, StoreError> {
        self.store.page(url)
    }

    fn pages_of(&self, site: &Site) -> Result<Vec<PageRecord>, StoreError> {
        self.store.pages_of(site)
    }

    fn inlinks_of_site(&self, site: &Site) -> Result<Vec<InlinkRow>, StoreError> {
        self.store.inlinks_of_site(site)
    }

    fn site(&self, site: &Site) -> Result<Option<SiteRow>, StoreError> {
        self.store.site(site)
    }

    fn frontier(&self, site: &Site) -> Result<SiteFrontier, StoreError> {
        self.store.frontier(site)
    }

    fn robots(&self, site: &Site) -> Result<Vec<RobotsCopy>, StoreError> {
        self.store.robots(site)
    }

    fn sites_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<SiteRow>, StoreError> {
        self.store.sites_after(after, limit)
    }

    fn due_until(&self, now: Timestamp, limit: usize) -> Result<Vec<DueSite>, StoreError> {
        self.store.due_until(now, limit)
    }

    fn first_due(&self) -> Result<Option<DueSite>, StoreError> {
        self.store.first_due()
    }

    fn expired_until(&self, now: Timestamp, limit: usize) -> Result<Vec<PageUrl>, StoreError> {
        self.store.expired_until(now, limit)
    }

    fn first_expiry(&self) -> Result<Option<Timestamp>, StoreError> {
        self.store.first_expiry()
    }

    fn epoch(&self) -> u64 {
        self.store.epoch()
    }

    fn some_inlinks_of_site(&self, site: &Site, limit: usize) -> Result<Vec<InlinkRow>, StoreError> {
        self.store.some_inlinks_of_site(site, limit)
    }

    fn sites_with_pages_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<Site>, StoreError> {
        self.store.sites_with_pages_after(after, limit)
    }

    fn unindexed_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<UnindexedSite>, StoreError> {
        self.store.unindexed_after(after, limit)
    }

    fn num_unindexed(&self) -> u64 {
        self.store.num_unindexed()
    }

    fn note_indexed(&mut self, done: &[UnindexedSite], commit_seq: u64) -> Result<(), StoreError> {
        self.store.note_indexed(done, commit_seq)
    }

    fn indexed_seq(&self) -> Result<Option<u64>, StoreError> {
        self.store.indexed_seq()
    }

    fn forget_index(&mut self) -> Result<(), StoreError> {
        self.store.forget_index()
    }

    fn live_sites(&self) -> Result<Vec<Site>, StoreError> {
        self.store.live_sites()
    }

    fn exclusions(&self) -> &Exclusions {
        self.store.exclusions()
    }

    fn stats(&self) -> StoreStats {
        self.store.stats()
    }
}
