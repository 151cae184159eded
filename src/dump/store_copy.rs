//! A private copy of the record store, so that opening it changes nothing but the copy.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::io::data_dir::DataDir;
use crate::io::durable::{self, LockAttempt};
use crate::io::ledger_files::LOCK_FILE;
use crate::io::sled_store::{SledStore, StoreOpenError, StoreOptions};

/// The records cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A node has the store open.
    #[error(
        "a running node holds {}: ask it (`lohisoftbot-ctl export` gives its records), or stop it first (`lohisoftbot-ctl shutdown`)",
        .0.display()
    )]
    Running(PathBuf),
    /// There are no records.
    #[error("{} holds no records/: it is not the data directory of a node, or its records are lost", .0.display())]
    NoRecords(PathBuf),
    /// The file system refused.
    #[error("cannot {action} {}: {source}{hint}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
        /// What may help.
        hint: &'static str,
    },
}

/// A store that no node can open for writing while this is held.
#[derive(Debug)]
pub struct HeldStore {
    _locks: Vec<File>,
}

/// Keeps a node from starting on `dir`; changes nothing in it.
pub fn hold(dir: &DataDir) -> Result<HeldStore, CopyError> {
    let mut locks = Vec::new();
    for path in [dir.records().join("db"), dir.ledger().join(LOCK_FILE)] {
        match durable::try_lock_shared(&path) {
            Ok(LockAttempt::Ours(lock)) => locks.push(lock),
            Ok(LockAttempt::Held) => return Err(CopyError::Running(dir.root().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(CopyError::File { action: "lock", path, source, hint: "" }),
        }
    }
    Ok(HeldStore { _locks: locks })
}

/// A copy of a store. It goes away when dropped.
#[derive(Debug)]
pub struct StoreCopy {
    original: PathBuf,
    copy: TempDir,
}

impl StoreCopy {
    /// Copies the records of `dir` and their sentinel into the directory for temporary files.
    pub fn take(dir: &DataDir, _held: &HeldStore) -> Result<Self, CopyError> {
        if !dir.records().is_dir() {
            return Err(CopyError::NoRecords(dir.root().to_owned()));
        }
        let hint = " (copies go where TMPDIR says)";
        let copy = tempfile::Builder::new().prefix("lohisoftbot-dump-").tempdir().map_err(|source| {
            CopyError::File { action: "make a directory in", path: std::env::temp_dir(), source, hint }
        })?;
        let target = DataDir::new(copy.path());
        let failed = |source| CopyError::File { action: "copy", path: dir.records(), source, hint };
        copy_tree(&dir.records(), &target.records()).map_err(failed)?;
        match fs::copy(dir.sentinel(), target.sentinel()) {
            Ok(_) => {}
            // The open rules say what is to be said about that.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(Self { original: dir.root().to_owned(), copy })
    }

    /// Opens the copy.
    pub fn open(&self) -> Result<SledStore, StoreOpenError> {
        SledStore::open(&DataDir::new(self.copy.path()), StoreOptions::default()).map(|(store, _)| store)
    }

    /// A message about the copy, made one about the store it is of.
    pub fn in_terms_of_the_original(&self, message: &str) -> String {
        message.replace(&self.copy.path().display().to_string(), &self.original.display().to_string())
    }
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
