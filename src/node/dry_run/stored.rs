//! What a stopped node knew of its sites, read off a copy of its store that is brought up to its ledger.
//!
//! A store may hold many sites with a thousand URLs each, so the sites are shown one by one and none is kept.

use lohisoftbot_actors::storage::{EntryFilter, RecordStore, catch_up};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::site_row::SiteRow;

use crate::dump::store_copy::{self, CopyError, StoreCopy};
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;
use crate::io::sled_store::SledStore;
use crate::node::lost_ledger;

/// Rows read at once.
const ROWS_AT_ONCE: usize = 1000;

/// The sites of a store, and who is excluded.
#[derive(Debug)]
pub struct StoredSites {
    store: SledStore,
    // Below the store, so that its files go away after it.
    _copy: StoreCopy,
}

/// One site.
#[derive(Debug)]
pub struct StoredSite {
    pub row: SiteRow,
    pub queue: PageQueue,
    pub robots: Vec<OriginRobots>,
}

impl StoredSites {
    /// Reads a data directory without changing it; none where no node has run.
    pub fn read(dir: &DataDir) -> anyhow::Result<Option<Self>> {
        if !dir.records().is_dir() && !dir.ledger().is_dir() {
            return Ok(None);
        }
        let held = match store_copy::hold(dir) {
            Err(CopyError::Running(dir)) => anyhow::bail!(
                "a node is running on {}: what it would do next is in its `status` and `sites`; stop it for a dry run",
                dir.display()
            ),
            held => held?,
        };
        lost_ledger::refuse(dir)?;
        let copy = StoreCopy::take(dir, &held)?;
        let opened = copy.open().map_err(|error| anyhow::anyhow!(copy.in_terms_of_the_original(&error.to_string())));
        let mut store = opened?;
        // As at a node's start: with the snapshots, since a site's last words may be older than the oldest segment that is kept.
        let reader = LedgerReader::new(&dir.ledger());
        let last_seq = reader.verify()?.last_seq;
        let unseen = reader.stream(EntryFilter::since_checkpoint(store.ledger_seq()))?;
        catch_up(&mut store, last_seq, unseen.entries())?;
        // Only now, so that store and ledger are of one moment.
        drop(held);
        Ok(Some(Self { store, _copy: copy }))
    }

    /// Who is excluded.
    pub fn exclusions(&self) -> &Exclusions {
        self.store.exclusions()
    }

    /// Shows each site once.
    pub fn each(&self, mut see: impl FnMut(StoredSite)) -> anyhow::Result<()> {
        let mut after = None;
        loop {
            let rows = self.store.sites_after(after.as_ref(), ROWS_AT_ONCE)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.site.clone());
            for row in rows {
                let queue = self.store.frontier(&row.site)?.into();
                let robots = self.store.robots(&row.site)?.iter().filter_map(OriginRobots::from_stored).collect();
                see(StoredSite { row, queue, robots });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lohisoftbot_actors::storage::{LedgerStore, StoreChange};
    use lohisoftbot_actors::testkit::storage_contract::{exclusion, row};
    use lohisoftbot_core::exclusion::Domain;
    use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteEvent, WaitReason};
    use lohisoftbot_core::site::Site;
    use lohisoftbot_core::site_row::SiteStanding;
    use lohisoftbot_core::time::Timestamp;
    use tempfile::TempDir;

    use super::*;
    use crate::io::durable;
    use crate::io::ledger_files::{LOCK_FILE, LedgerFiles};
    use crate::io::sled_store::StoreOptions;

    const UNTIL: Timestamp = Timestamp::from_secs(9_000_000);

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// Of a store with one site that saw nothing of its ledger, whose first segment, with an exclusion and a wait in it, has expired.
    fn old_store() -> TempDir {
        let dir = TempDir::new().unwrap();
        let data = DataDir::new(dir.path());
        let (mut store, _) = SledStore::open(&data, StoreOptions::default()).unwrap();
        let row = Box::new(row("a.example", SiteStanding::Due, 60));
        store.apply(StoreChange::SaveSite { row, frontier: None, robots: None }).unwrap();
        let (mut ledger, mut book, _) = LedgerFiles::open(&data.ledger(), at(1)).unwrap();
        let wait = SiteEvent::Wait { until: UNTIL, reason: WaitReason::RetryAfter, rung: 0 };
        let events = [
            LedgerEvent::Excluded { domain: Domain::parse("out.example").unwrap(), exclusion: exclusion("asked") },
            LedgerEvent::Site { site: Site::of_host("a.example"), event: wait },
        ];
        for (event, seq) in events.into_iter().zip(1..) {
            let entry = LedgerEntry { seq, at: at(2), event };
            ledger.append(std::slice::from_ref(&entry)).unwrap();
            book.apply(&entry);
        }
        ledger.rotate(at(3), &mut book.snapshot(at(3))).unwrap();
        assert_eq!(ledger.expire(at(3)).unwrap(), 1);
        drop((store, ledger));
        durable::wait_until_free(&data.records().join("db"));
        durable::wait_until_free(&data.ledger().join(LOCK_FILE));
        dir
    }

    #[test]
    fn what_only_a_snapshot_of_the_ledger_says_is_known() {
        let dir = old_store();
        let stored = StoredSites::read(&DataDir::new(dir.path())).unwrap().expect("a node ran there");
        assert!(stored.exclusions().covering("www.out.example").is_some());
        let mut waits = Vec::new();
        stored.each(|site| waits.push((site.row.site.to_string(), site.row.account.not_before()))).unwrap();
        assert_eq!(waits, [("a.example".to_owned(), UNTIL)]);
    }
}
