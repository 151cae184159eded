//! The sentinel: a small file beside the store that says what it held at its last checkpoint.
//!
//! sled can open a damaged log "fine" with no records in it; only something outside of it can tell. The file is text,
//! for people too: one line of JSON, one line with its CRC-32. It is replaced as a whole at each checkpoint, after the store.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state::StoreState;
use super::trees::TreeName;
use crate::io::durable;

/// What the store held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentinel {
    /// Form of this file.
    pub version: u32,
    /// Which store.
    pub epoch: u64,
    /// Transactions so far; 0 while the store is being created.
    pub change_seq: u64,
    /// Newest ledger entry noted.
    pub ledger_seq: u64,
    /// Rows of each tree.
    pub rows: Vec<TreeRows>,
}

/// Rows of one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRows {
    /// Its name.
    pub tree: String,
    /// Its rows.
    pub rows: u64,
}

const VERSION: u32 = 1;

/// What lies where a sentinel belongs.
#[derive(Debug)]
pub enum SentinelFile {
    /// A sound one.
    Sound(Sentinel),
    /// None.
    Missing,
    /// Bytes that are none; the text says why.
    Damaged(String),
}

impl Sentinel {
    /// The sentinel of a state.
    pub fn of(state: &StoreState) -> Self {
        let counted = TreeName::ALL.into_iter().filter(|tree| *tree != TreeName::Meta);
        let rows = |tree: TreeName| TreeRows { tree: tree.as_str().to_owned(), rows: state.counts.rows[tree.index()] };
        Self {
            version: VERSION,
            epoch: state.epoch,
            change_seq: state.change_seq,
            ledger_seq: state.ledger_seq,
            rows: counted.map(rows).collect(),
        }
    }

    /// Rows of all trees together.
    pub fn num_rows(&self) -> u64 {
        self.rows.iter().map(|tree| tree.rows).sum()
    }

    /// Reads the file at `path`.
    pub fn read(path: &Path) -> io::Result<SentinelFile> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SentinelFile::Missing),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Ok(SentinelFile::Damaged("it is not text".to_owned()));
            }
            Err(error) => return Err(error),
        };
        Ok(Self::parse(&text).map_or_else(SentinelFile::Damaged, SentinelFile::Sound))
    }

    /// Replaces the file at `path`, durably.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let json = serde_json::to_string(self).map_err(io::Error::other)?;
        durable::replace_file(path, format!("{json}\ncrc32 {:08x}\n", crc32fast::hash(json.as_bytes())).as_bytes())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (json, rest) = text.split_once('\n').ok_or("its second line is missing")?;
        if rest.trim_end() != format!("crc32 {:08x}", crc32fast::hash(json.as_bytes())) {
            return Err("its checksum does not match".to_owned());
        }
        let sentinel: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if sentinel.version == VERSION {
            Ok(sentinel)
        } else {
            Err(format!("it has version {}, this program reads {VERSION}", sentinel.version))
        }
    }
}
