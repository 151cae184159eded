//! Opening the store without trust: sled does not always notice that it lost something.
//!
//! A second process is kept out. Snapshots that a crash left half-written go. sled opens under `catch_unwind`; if it calls its files
//! corrupt, its snapshots are moved aside and it is asked once more, for the log is the truth. Every row is read, and the rows are counted
//! against the store's own state and against the sentinel outside of it. What does not agree is refused, with a message that says what to
//! do; no record is ever deleted here.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{BACKUP_ADVICE, FILE_ADVICE, HELD_ADVICE, StoreError};
use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use sled::Db;

use super::sentinel::{Sentinel, SentinelFile};
use super::state::{SCHEMA, STATE_KEY, StoreState};
use super::trees::{self, NUM_TREES, TreeName, Trees};
use crate::io::data_dir::DataDir;
use crate::io::durable::{self, LockAttempt};

/// How often sled writes by itself, in milliseconds. Never off: without it sled 0.34 collects no garbage.
const FLUSH_EVERY_MS: u64 = 500;

/// How the store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Memory for sled's cache of pages, in bytes.
    pub cache_bytes: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20 }
    }
}

/// What opening the store did beside opening it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreOpenReport {
    /// The store was made just now.
    pub created: bool,
    /// Half-written snapshots that were removed.
    pub num_unfinished_snapshots: usize,
    /// Damaged snapshots, where they were moved to.
    pub moved_snapshots: Vec<PathBuf>,
    /// Exclusions whose purge was cut short and is now done.
    pub resumed_purges: Vec<Domain>,
    /// Rows read and counted.
    pub num_rows: u64,
}

/// The store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StoreOpenError {
    /// Another process has it open.
    #[error("the record store {} is held by another process: {HELD_ADVICE}", .0.display())]
    Held(PathBuf),
    /// sled finds its files damaged, or panics over them.
    #[error("the record store {} is damaged: {detail}. Nothing was deleted; {BACKUP_ADVICE}", path.display())]
    Damaged {
        /// Its directory.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// sled opens it, but not all that was stored is there.
    #[error("records are missing from the record store {}: {detail}. Nothing was deleted; {BACKUP_ADVICE}", path.display())]
    RecordsMissing {
        /// Its directory.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// What says how much must be there cannot be used.
    #[error(
        "the sentinel {} of the record store cannot be used: {detail}, so nothing can tell whether the store is whole. Nothing \
         was deleted; {BACKUP_ADVICE}",
        path.display()
    )]
    Sentinel {
        /// The file.
        path: PathBuf,
        /// Why not.
        detail: String,
    },
    /// Written by another program.
    #[error("the record store {} has schema {found}, this program knows {SCHEMA}: use the program that wrote it", path.display())]
    OtherSchema {
        /// Its directory.
        path: PathBuf,
        /// The schema found.
        found: u32,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}; {FILE_ADVICE}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A row does not read, or a write failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An open and verified store, in parts.
#[derive(Debug)]
pub struct OpenedParts {
    /// The trees.
    pub trees: Trees,
    /// The state row.
    pub state: StoreState,
    /// The same as it is stored: in an older form until the next transaction, where an older program wrote it.
    pub state_bytes: Vec<u8>,
    /// All exclusions.
    pub exclusions: Exclusions,
    /// What was done.
    pub report: StoreOpenReport,
}

/// Opens the store of `dir`, or makes one where there is none.
pub fn open(dir: &DataDir, options: StoreOptions) -> Result<OpenedParts, StoreOpenError> {
    let path = dir.records();
    let mut report = StoreOpenReport::default();
    let sentinel = prepare(dir, &path, &mut report)?;
    let db = open_sled(&path, options, &mut report)?;
    let trees = Trees::open(db, &path)?;
    let found = guarded(&path, || read_state(&trees, &path, &sentinel))?;
    let state = match found {
        Some(state) => state,
        // The sentinel says that the store was just being created.
        None => create_state(&trees, sentinel.epoch)?,
    };
    guarded(&path, || count_rows(&trees, &path, &state, &mut report))?;
    let mut exclusions = Exclusions::default();
    for row in trees.values::<Exclusion>(TreeName::Exclusions, &[]) {
        let (key, exclusion) = row?;
        let name = std::str::from_utf8(&key).unwrap_or_default();
        let domain = Domain::parse(name)
            .map_err(|error| StoreOpenError::Damaged { path: path.clone(), detail: error.to_string() })?;
        exclusions.insert(domain, exclusion);
    }
    let state_bytes = trees.get(TreeName::Meta, STATE_KEY)?.map(|bytes| bytes.to_vec()).unwrap_or_default();
    Ok(OpenedParts { trees, state, state_bytes, exclusions, report })
}

/// Looks at the files before sled does; returns the sentinel, a new one for a new store.
fn prepare(dir: &DataDir, path: &Path, report: &mut StoreOpenReport) -> Result<Sentinel, StoreOpenError> {
    let sentinel_path = dir.sentinel();
    let found = Sentinel::read(&sentinel_path).map_err(file_error("read", &sentinel_path))?;
    let has_files = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(file_error("read", path)(error)),
    };
    let unusable = |detail: String| StoreOpenError::Sentinel { path: sentinel_path.clone(), detail };
    let sentinel = match found {
        SentinelFile::Sound(sentinel) => sentinel,
        SentinelFile::Damaged(detail) => return Err(unusable(detail)),
        SentinelFile::Missing if has_files => return Err(unusable("it is missing".to_owned())),
        SentinelFile::Missing => {
            // The sentinel comes first, so that a crash in between is told from a store that lost everything.
            durable::create_dir(dir.root()).map_err(file_error("create", dir.root()))?;
            let sentinel = Sentinel::of(&StoreState::new(fastrand::u64(..)));
            sentinel.write(&sentinel_path).map_err(file_error("write", &sentinel_path))?;
            sentinel
        }
    };
    if !has_files && sentinel.change_seq > 0 {
        let detail = format!("it held {} rows and is empty", sentinel.num_rows());
        return Err(StoreOpenError::RecordsMissing { path: path.to_owned(), detail });
    }
    if has_files {
        remove_unfinished_snapshots(path, report)?;
    } else {
        report.created = true;
        durable::create_dir(path).map_err(file_error("create", path))?;
    }
    Ok(sentinel)
}

/// A `snap.*.generating` that a crash left makes every later open fail. Only removed while no other process has the store.
fn remove_unfinished_snapshots(path: &Path, report: &mut StoreOpenReport) -> Result<(), StoreOpenError> {
    let log = path.join("db");
    let _lock = match durable::try_lock_shared(&log) {
        Ok(LockAttempt::Held) => return Err(StoreOpenError::Held(path.to_owned())),
        Ok(LockAttempt::Ours(lock)) => Some(lock),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(file_error("open", &log)(error)),
    };
    for snapshot in snapshots(path)? {
        if snapshot.extension().is_some_and(|extension| extension == "generating") {
            fs::remove_file(&snapshot).map_err(file_error("remove", &snapshot))?;
            report.num_unfinished_snapshots += 1;
        }
    }
    Ok(())
}

fn snapshots(path: &Path) -> Result<Vec<PathBuf>, StoreOpenError> {
    let entries = fs::read_dir(path).map_err(file_error("read", path))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(file_error("read", path))?;
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn open_sled(path: &Path, options: StoreOptions, report: &mut StoreOpenReport) -> Result<Db, StoreOpenError> {
    let config = || {
        sled::Config::new().path(path).cache_capacity(options.cache_bytes).flush_every_ms(Some(FLUSH_EVERY_MS)).open()
    };
    let attempt = || panic::catch_unwind(AssertUnwindSafe(config));
    let mut result = attempt();
    if let Ok(Err(sled::Error::Corruption { .. })) = &result {
        for snapshot in snapshots(path)? {
            let name = snapshot.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let aside = path.join(format!("aside.{name}"));
            fs::rename(&snapshot, &aside).map_err(file_error("move aside", &snapshot))?;
            report.moved_snapshots.push(aside);
        }
        result = attempt();
    }
    let damaged = |detail: String| StoreOpenError::Damaged { path: path.to_owned(), detail };
    match result {
        Ok(Ok(db)) => Ok(db),
        // sled has no kind of its own for this.
        Ok(Err(sled::Error::Io(error))) if error.to_string().contains("could not acquire lock") => {
            Err(StoreOpenError::Held(path.to_owned()))
        }
        Ok(Err(sled::Error::Io(source))) => Err(file_error("open the record store", path)(source)),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_panic) => Err(damaged("sled panics over its files".to_owned())),
    }
}

/// Runs a read under `catch_unwind`: sled may panic where it should say `Corruption`.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, StoreOpenError>) -> Result<T, StoreOpenError> {
    match panic::catch_unwind(AssertUnwindSafe(read)) {
        Ok(Err(StoreOpenError::Store(StoreError::Engine { path, detail, .. }))) => {
            Err(StoreOpenError::Damaged { path, detail })
        }
        Ok(result) => result,
        Err(_panic) => {
            Err(StoreOpenError::Damaged { path: path.to_owned(), detail: "sled panics over its files".to_owned() })
        }
    }
}

fn read_state(trees: &Trees, path: &Path, sentinel: &Sentinel) -> Result<Option<StoreState>, StoreOpenError> {
    let missing = |detail: String| StoreOpenError::RecordsMissing { path: path.to_owned(), detail };
    let Some(state) = trees.value::<StoreState>(TreeName::Meta, STATE_KEY)? else {
        if sentinel.change_seq == 0 {
            return Ok(None);
        }
        return Err(missing(format!("it held {} rows and opens with none", sentinel.num_rows())));
    };
    if state.schema != SCHEMA {
        return Err(StoreOpenError::OtherSchema { path: path.to_owned(), found: state.schema });
    }
    if state.epoch != sentinel.epoch {
        return Err(missing("the sentinel beside it is that of another store".to_owned()));
    }
    if state.change_seq < sentinel.change_seq {
        let (now, then) = (state.change_seq, sentinel.change_seq);
        return Err(missing(format!("it ends at change {now}, and change {then} was made durable")));
    }
    Ok(Some(state))
}

fn create_state(trees: &Trees, epoch: u64) -> Result<StoreState, StoreOpenError> {
    let state = StoreState::new(epoch);
    let mut plan = super::plan::Plan::new(trees, state.counts);
    plan.put_value(TreeName::Meta, STATE_KEY.to_vec(), &state)?;
    let (writes, _) = plan.finish();
    for ((_, key), bytes) in writes {
        let written = trees.all()[TreeName::Meta.index()].insert(key, bytes.unwrap_or_default());
        written.map_err(trees::engine_error(trees.path(), "creating the store"))?;
    }
    Ok(state)
}

/// Reads every row: damage that sled meets only when it reads is met here, not in mid-crawl.
fn count_rows(
    trees: &Trees,
    path: &Path,
    state: &StoreState,
    report: &mut StoreOpenReport,
) -> Result<(), StoreOpenError> {
    let mut found = [0_u64; NUM_TREES];
    for tree in TreeName::ALL.into_iter().filter(|tree| *tree != TreeName::Meta) {
        for row in trees.scan(tree, &[]) {
            row?;
            found[tree.index()] += 1;
        }
        let wanted = state.counts.rows[tree.index()];
        if found[tree.index()] != wanted {
            let (tree, found) = (tree.as_str(), found[tree.index()]);
            let detail = format!("tree `{tree}` has {found} rows where {wanted} were stored");
            return Err(StoreOpenError::RecordsMissing { path: path.to_owned(), detail });
        }
    }
    report.num_rows = found.iter().sum();
    Ok(())
}

fn file_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreOpenError {
    let path = path.to_owned();
    move |source| StoreOpenError::File { action, path, source }
}
