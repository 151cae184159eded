//! A ledger that is gone, or has lost its end, seen by what the records beside it know, before anything is opened for writing.
//!
//! What the sentinel has not noted yet is seen only once the store is open; [`lohisoftbot_actors::storage::catch_up`] looks at that.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use lohisoftbot_actors::storage::{BACKUP_ADVICE, LedgerError};

use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;
use crate::io::sled_store::{Sentinel, SentinelFile};

/// What is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostLedger {
    /// All of it. A node begins its ledger before its records, so records without one have had one.
    Whole {
        /// The records.
        records: PathBuf,
        /// Where it lay.
        ledger: PathBuf,
    },
    /// Its end.
    End {
        /// Its newest entry.
        ledger: u64,
        /// The newest one that there was for certain.
        seen: u64,
    },
}

/// A node that would have to begin without its ledger.
#[derive(Debug, thiserror::Error)]
pub enum LostLedgerError {
    /// It would forget budgets and waits.
    #[error("{0}. Nothing was changed; {BACKUP_ADVICE}")]
    Lost(LostLedger),
    /// The ledger does not read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl fmt::Display for LostLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { records, ledger } => {
                let (records, ledger) = (records.display(), ledger.display());
                write!(f, "{records} holds records and {ledger} holds no ledger: the ledger is lost")
            }
            Self::End { ledger, seen } => {
                write!(
                    f,
                    "the ledger ends at entry {ledger}, but entry {seen} was written: the ledger has lost its end"
                )
            }
        }
    }
}

/// What is lost of the ledger of `dir`, as far as its other files tell; nothing is changed.
fn find(dir: &DataDir) -> Result<Option<LostLedger>, LedgerError> {
    // Read first, since a running node writes the ledger first.
    let seen = match Sentinel::read(&dir.sentinel()) {
        Ok(SentinelFile::Sound(sentinel)) => sentinel.ledger_seq,
        // Who opens the store says what is wrong with it.
        Ok(SentinelFile::Missing | SentinelFile::Damaged(_)) | Err(_) => 0,
    };
    Ok(match LedgerReader::new(&dir.ledger()).last_seq()? {
        None if holds_files(&dir.records()).map_err(io_error(&dir.records()))? => {
            Some(LostLedger::Whole { records: dir.records(), ledger: dir.ledger() })
        }
        last => shorter_than(seen, last.unwrap_or_default()),
    })
}

/// What an audit of the ledger of `dir` has to say is missing; damage is told in its own place.
pub fn find_beside_damage(dir: &DataDir) -> Result<Option<LostLedger>, LedgerError> {
    beside_damage(find(dir))
}

/// The same of a node that is running and has made entry `seen` durable.
pub fn find_beside_damage_in(reader: &LedgerReader, seen: u64) -> Result<Option<LostLedger>, LedgerError> {
    beside_damage(reader.last_seq().map(|last| shorter_than(seen, last.unwrap_or_default())))
}

fn beside_damage(found: Result<Option<LostLedger>, LedgerError>) -> Result<Option<LostLedger>, LedgerError> {
    match found {
        Err(LedgerError::Damaged { .. }) => Ok(None),
        Ok(_) | Err(_) => found,
    }
}

/// Whether a ledger that ends at `ledger` has lost its end, where entry `seen` was written.
fn shorter_than(seen: u64, ledger: u64) -> Option<LostLedger> {
    (ledger < seen).then_some(LostLedger::End { ledger, seen })
}

/// Refuses a data directory whose ledger is lost.
pub fn refuse(dir: &DataDir) -> Result<(), LostLedgerError> {
    match find(dir)? {
        Some(lost) => Err(LostLedgerError::Lost(lost)),
        None => Ok(()),
    }
}

fn holds_files(dir: &std::path::Path) -> io::Result<bool> {
    match fs::read_dir(dir) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn io_error(path: &std::path::Path) -> impl FnOnce(io::Error) -> LedgerError {
    let path = path.to_owned();
    move |source| LedgerError::Io { action: "list", path, source }
}
