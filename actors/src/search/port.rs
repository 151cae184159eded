//! The port of the search index.
//!
//! An index is derived from the store and can be built anew at any time. It is written by one actor, and read from any thread meanwhile.

use std::path::PathBuf;
use std::sync::Arc;

use lohisoftbot_core::search::{SearchAnswer, SearchRequest, SiteDocuments};

/// Up to where an index has a store: what its last commit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IndexStanding {
    /// Which store ([`crate::storage::RecordStore::epoch`]).
    pub epoch: u64,
    /// The store's change number when the last of what was committed was read.
    pub commit_seq: u64,
}

/// What an index comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexStats {
    /// Pages in it.
    pub num_pages: u64,
    /// Its size on the disk.
    pub num_bytes: u64,
}

/// Writes the index. Nothing is seen by readers before it is committed; what was not committed is gone after a crash.
pub trait SearchIndex: Send {
    /// What the last commit carried; none if there was none, or if it was of another form.
    fn standing(&self) -> Option<IndexStanding>;

    /// Replaces all that the index has of a site, in the serving index and in one that is being built.
    fn replace(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError>;

    /// Makes what was replaced durable, and seen by every search that begins from now on.
    fn commit(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError>;

    /// Begins an empty index beside the serving one; one that was being built is dropped.
    fn begin_rebuild(&mut self) -> Result<(), SearchIndexError>;

    /// Replaces a site in the index that is being built alone.
    fn rebuild(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError>;

    /// Commits the index that is being built, and lets it serve in the place of the other, which is removed.
    fn finish_rebuild(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError>;

    /// Reads what is committed, now and later.
    fn reader(&self) -> Arc<dyn SearchReader>;

    /// What the serving index comes to.
    fn stats(&self) -> IndexStats;
}

/// Reads the index; from any thread, also while it is written.
pub trait SearchReader: Send + Sync {
    /// Answers a request. Takes milliseconds, so it does not belong on an arbiter that owns timers.
    fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, SearchIndexError>;

    /// Up to `limit` ways in which what was typed may go on, the most common first.
    fn suggest(&self, typed: &str, limit: u32) -> Result<Vec<String>, SearchIndexError>;
}

/// The search index failed. The node goes on without it: nothing but searching depends on it.
#[derive(Debug, thiserror::Error)]
#[error("the search index {} failed while {doing}: {detail}. Free space on that disk and start again; it is built anew where it is damaged", path.display())]
pub struct SearchIndexError {
    /// Its directory.
    pub path: PathBuf,
    /// What was being done.
    pub doing: &'static str,
    /// The engine's words.
    pub detail: String,
}
