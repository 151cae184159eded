//! The storage ports: the ledger that carries the promises, and the store that holds records and state.
//!
//! Both are synchronous: each is owned by one actor on an arbiter of its own, which may block. Each has an adapter in the root
//! package and an in-memory twin in the testkit, and one suite of tests runs on both.

mod advice;
mod catch_up;
mod ledger;
mod links;
mod records;

pub use advice::{BACKUP_ADVICE, FAULT_ADVICE, FILE_ADVICE, HELD_ADVICE};
pub use catch_up::{CatchUpCounts, CatchUpError, catch_up};
pub use ledger::{EntryFilter, EntryKind, LedgerError, LedgerRead, LedgerStore, LineOrigin, SnapshotLines};
pub use links::{AdmittedLinks, MAX_INLINK_ROW_BYTES, admit_links};
pub use records::{
    Applied, Checkpoint, CycleCounts, DueSite, ExclusionCounts, RecordStore, SaveCounts, StandingCounts, StoreChange,
    StoreError, StoreStats, UnindexedSite,
};
