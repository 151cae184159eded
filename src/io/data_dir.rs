//! Where the parts of a node's data directory lie.
//!
//! ```text
//! DIR/records/           the record store (sled)
//! DIR/records.sentinel   what the store held at its last checkpoint
//! DIR/search/            the search index, derived from the store
//! DIR/ledger/            the ledger's segments and its lock
//! ```

use std::path::{Path, PathBuf};

/// A node's data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

/// A path that is no data directory of a node.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Nothing is there.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// Something else is there.
    #[error("{} is not the data directory of a node: it has neither records/ nor ledger/", .0.display())]
    NotAStore(PathBuf),
}

impl DataDir {
    /// The directory at `root`, whether it exists or not.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory of a node that has run before.
    pub fn existing(root: impl Into<PathBuf>) -> Result<Self, DataDirError> {
        let dir = Self::new(root);
        if !dir.root.exists() {
            return Err(DataDirError::Missing(dir.root));
        }
        if dir.records().is_dir() || dir.ledger().is_dir() { Ok(dir) } else { Err(DataDirError::NotAStore(dir.root)) }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The record store's directory.
    pub fn records(&self) -> PathBuf {
        self.root.join("records")
    }

    /// The sentinel beside the record store.
    pub fn sentinel(&self) -> PathBuf {
        self.root.join("records.sentinel")
    }

    /// The search index's directory.
    pub fn search(&self) -> PathBuf {
        self.root.join("search")
    }

    /// The ledger's directory.
    pub fn ledger(&self) -> PathBuf {
        self.root.join("ledger")
    }
}
