//! The record store on sled 0.34.
//!
//! Invariants:
//! - one writer: a transaction is refused unless the store stands at the change that its plan was read under;
//! - the counts in the state row change with the rows, in the same transaction;
//! - whatever writes a page, or a link to a site with pages, marks the site for the search index, in the same transaction;
//! - what an exclusion covers is never written, whoever asks;
//! - after [`RecordStore::checkpoint`] everything before it survives kill -9 and a power cut, and the sentinel says so.
//!
//! Every error of sled's is passed on: it ends the node.

mod expiry;
mod open;
mod page_change;
mod plan;
mod purge;
mod read;
mod sentinel;
mod site_change;
mod state;
#[cfg(test)]
mod tests;
mod trees;
mod unindexed;
mod verify;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use lohisoftbot_actors::storage::{
    Applied, Checkpoint, DueSite, RecordStore, StoreChange, StoreError, StoreStats, UnindexedSite,
};
use lohisoftbot_core::codec;
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::record::{InlinkRow, PageRecord};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{RobotsCopy, SiteFrontier, SiteRow};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use sled::transaction::{ConflictableTransactionError, TransactionError, Transactional, TransactionalTree};

use self::plan::{Plan, Writes};
use self::state::{Counts, STATE_KEY, StoreState};
use self::trees::{TreeName as Tree, Trees, engine_error};
use crate::io::data_dir::DataDir;
use crate::io::durable;

pub use self::open::{StoreOpenError, StoreOpenReport, StoreOptions};
pub use self::sentinel::{Sentinel, SentinelFile};
pub use self::trees::{TreeName, printable};
pub use self::verify::RowProblem;

/// The store, open.
#[derive(Debug)]
pub struct SledStore {
    dir: DataDir,
    trees: Trees,
    state: StoreState,
    state_bytes: Vec<u8>,
    exclusions: Exclusions,
    /// Change number of the last checkpoint of this run.
    checkpointed: Option<u64>,
    /// Files that sled made for large nodes and that are synced already.
    synced_blobs: BTreeSet<OsString>,
}

impl SledStore {
    /// Opens the store of `dir`, or makes one where there is none; verifies it, and ends purges that a crash cut short.
    pub fn open(dir: &DataDir, options: StoreOptions) -> Result<(Self, StoreOpenReport), StoreOpenError> {
        let parts = open::open(dir, options)?;
        let mut store = Self {
            dir: dir.clone(),
            trees: parts.trees,
            state: parts.state,
            state_bytes: parts.state_bytes,
            exclusions: parts.exclusions,
            checkpointed: None,
            synced_blobs: BTreeSet::new(),
        };
        let mut report = parts.report;
        report.resumed_purges = store.resume_purges()?;
        store.enter_expiries()?;
        if report.created {
            let ledger_seq = store.state.ledger_seq;
            store.checkpoint(ledger_seq)?;
        }
        Ok((store, report))
    }

    fn plan(&self) -> Plan<'_> {
        Plan::new(&self.trees, self.state.counts)
    }

    /// Applies the writes of a plan in one transaction over all trees. A plan without writes changes nothing.
    fn commit(&mut self, (mut writes, mut counts): (Writes, Counts)) -> Result<(), StoreError> {
        if writes.is_empty() {
            return Ok(());
        }
        unindexed::mark(&self.trees, &mut writes, &mut counts, self.state.change_seq + 1)?;
        self.commit_state(&writes, StoreState { counts, change_seq: self.state.change_seq + 1, ..self.state.clone() })
    }

    fn commit_state(&mut self, writes: &Writes, next: StoreState) -> Result<(), StoreError> {
        let next_bytes = encode_state(&next)?;
        let known = &self.state_bytes;
        let trees = self.trees.all();
        let committed = trees.as_slice().transaction(|views: &Vec<TransactionalTree>| {
            let meta = &views[Tree::Meta.index()];
            let stored = meta.get(STATE_KEY)?;
            if stored.as_deref() != Some(known.as_slice()) {
                let found = stored.map(|bytes| bytes.to_vec()).unwrap_or_default();
                return Err(ConflictableTransactionError::Abort(found));
            }
            for ((tree, key), write) in writes {
                match write {
                    Some(bytes) => views[tree.index()].insert(key.as_slice(), bytes.as_slice())?,
                    None => views[tree.index()].remove(key.as_slice())?,
                };
            }
            meta.insert(STATE_KEY, next_bytes.as_slice())?;
            Ok(())
        });
        match committed {
            Ok(()) => {
                self.state = next;
                self.state_bytes = next_bytes;
                Ok(())
            }
            Err(TransactionError::Abort(found)) => Err(StoreError::ForeignWriter {
                wanted: self.state.change_seq,
                found: codec::decode::<StoreState>(&found).map_or(0, |state| state.change_seq),
            }),
            Err(TransactionError::Storage(error)) => Err(engine_error(self.trees.path(), "writing")(error)),
        }
    }

    /// Plans with `change` and commits what it planned.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Plan<'_>, &Exclusions) -> Result<Applied, StoreError>,
    ) -> Result<Applied, StoreError> {
        let mut plan = Plan::new(&self.trees, self.state.counts);
        let applied = change(&mut plan, &self.exclusions)?;
        let planned = plan.finish();
        self.commit(planned)?;
        Ok(applied)
    }

    /// sled's flush hands bytes to the kernel; only an fsync brings them onto the disk.
    fn sync_files(&mut self) -> Result<(), StoreError> {
        let log = self.trees.path().join("db");
        sync_file(&log)?;
        let blobs = self.trees.path().join("blobs");
        let listing = fs::read_dir(&blobs).map_err(file_error("list", &blobs))?;
        let mut present = BTreeSet::new();
        for entry in listing {
            present.insert(entry.map_err(file_error("list", &blobs))?.file_name());
        }
        let new: Vec<&OsString> = present.difference(&self.synced_blobs).collect();
        for name in &new {
            let blob = blobs.join(name);
            match sync_file(&blob) {
                // sled's own collector removed it meanwhile.
                Err(StoreError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                synced => synced?,
            }
        }
        if !new.is_empty() {
            durable::sync_dir(&blobs).map_err(file_error("sync", &blobs))?;
        }
        self.synced_blobs = present;
        Ok(())
    }
}

impl RecordStore for SledStore {
    fn apply(&mut self, change: StoreChange) -> Result<Applied, StoreError> {
        match change {
            StoreChange::SavePage { record, links } => {
                self.change(|plan, exclusions| page_change::save_page(plan, exclusions, *record, links))
            }
            StoreChange::RenewPage(renewed) => self.change(|plan, _| page_change::renew_page(plan, &renewed)),
            StoreChange::RemovePage { url } => self.change(|plan, _| {
                Ok(if page_change::remove_page(plan, &url)?.is_some() { Applied::Done } else { Applied::Absent })
            }),
            StoreChange::SaveSite { row, frontier, robots } => {
                self.change(|plan, exclusions| site_change::save_site(plan, exclusions, *row, frontier, robots))
            }
            StoreChange::FinishCycle { site } => self.finish_cycle(&site).map(Applied::Finished),
            StoreChange::Exclude { domain, exclusion } => self.exclude(&domain, exclusion).map(Applied::Excluded),
            StoreChange::Include { domain } => Ok(if self.include(&domain)? { Applied::Done } else { Applied::Absent }),
        }
    }

    fn checkpoint(&mut self, ledger_seq: u64) -> Result<Checkpoint, StoreError> {
        if self.checkpointed == Some(self.state.change_seq) && self.state.ledger_seq == ledger_seq {
            return Ok(Checkpoint { change_seq: self.state.change_seq, ledger_seq });
        }
        let next = StoreState { ledger_seq, change_seq: self.state.change_seq + 1, ..self.state.clone() };
        self.commit_state(&Writes::new(), next)?;
        self.trees.db().flush().map_err(engine_error(self.trees.path(), "flushing"))?;
        self.sync_files()?;
        // After the store: the sentinel must never promise what is not on the disk.
        let sentinel = self.dir.sentinel();
        Sentinel::of(&self.state).write(&sentinel).map_err(file_error("write", &sentinel))?;
        self.checkpointed = Some(self.state.change_seq);
        Ok(Checkpoint { change_seq: self.state.change_seq, ledger_seq })
    }

    fn ledger_seq(&self) -> u64 {
        self.state.ledger_seq
    }

    fn page(&self, url: &PageUrl) -> Result<Option<PageRecord>, StoreError> {
        self.trees.value(Tree::Pages, &trees::page_key(url))
    }

    fn pages_of(&self, site: &Site) -> Result<Vec<PageRecord>, StoreError> {
        self.pages(Some(site)).collect()
    }

    fn inlinks_of_site(&self, site: &Site) -> Result<Vec<InlinkRow>, StoreError> {
        self.inlink_rows(Some(site)).map(|row| row.map(|(_, row)| row)).collect()
    }

    fn site(&self, site: &Site) -> Result<Option<SiteRow>, StoreError> {
        self.trees.value(Tree::Sites, &lohisoftbot_core::key::site_prefix(site))
    }

    fn frontier(&self, site: &Site) -> Result<SiteFrontier, StoreError> {
        let entries: Result<_, _> = self.frontier_entries(Some(site)).map(|entry| entry.map(|(_, e)| e)).collect();
        Ok(SiteFrontier { entries: entries? })
    }

    fn robots(&self, site: &Site) -> Result<Vec<RobotsCopy>, StoreError> {
        let prefix = lohisoftbot_core::key::site_prefix(site);
        site_change::join_robots(self.trees.values(Tree::Robots, &prefix).collect::<Result<_, _>>()?)
    }

    fn sites_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<SiteRow>, StoreError> {
        self.site_rows_after(after).take(limit).collect()
    }

    fn due_until(&self, now: Timestamp, limit: usize) -> Result<Vec<DueSite>, StoreError> {
        self.due_sites().take_while(|due| due.as_ref().map_or(true, |due| due.due_at <= now)).take(limit).collect()
    }

    fn first_due(&self) -> Result<Option<DueSite>, StoreError> {
        self.due_sites().next().transpose()
    }

    fn expired_until(&self, now: Timestamp, limit: usize) -> Result<Vec<PageUrl>, StoreError> {
        let expiries = self.expiries().take_while(|row| row.as_ref().map_or(true, |(at, _)| *at <= now));
        expiries.map(|row| row.map(|(_, url)| url)).take(limit).collect()
    }

    fn epoch(&self) -> u64 {
        self.state.epoch
    }

    fn some_inlinks_of_site(&self, site: &Site, limit: usize) -> Result<Vec<InlinkRow>, StoreError> {
        self.inlink_rows(Some(site)).take(limit).map(|row| row.map(|(_, row)| row)).collect()
    }

    fn sites_with_pages_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<Site>, StoreError> {
        self.page_sites(after).take(limit).collect()
    }

    fn unindexed_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<UnindexedSite>, StoreError> {
        self.marks_after(after).take(limit).collect()
    }

    fn num_unindexed(&self) -> u64 {
        self.state.counts.rows[Tree::Unindexed.index()]
    }

    fn note_indexed(&mut self, done: &[UnindexedSite], commit_seq: u64) -> Result<(), StoreError> {
        self.take_marks(done, commit_seq)
    }

    fn indexed_seq(&self) -> Result<Option<u64>, StoreError> {
        self.noted_commit()
    }

    fn forget_index(&mut self) -> Result<(), StoreError> {
        self.forget_commit()
    }

    fn first_expiry(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.expiries().next().transpose()?.map(|(at, _)| at))
    }

    fn live_sites(&self) -> Result<Vec<Site>, StoreError> {
        let rows = self.trees.scan(Tree::Due, &trees::live_prefix());
        rows.filter_map(|row| row.map(|(key, _)| trees::site_of_key(&key[8..])).transpose()).collect()
    }

    fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    fn stats(&self) -> StoreStats {
        self.state.stats()
    }
}

fn encode_state(state: &StoreState) -> Result<Vec<u8>, StoreError> {
    codec::encode(state).map_err(|source| StoreError::Unstorable { tree: Tree::Meta.as_str(), source })
}

fn sync_file(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(file_error("sync", path))
}

fn file_error(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::File { action, path, source }
}
