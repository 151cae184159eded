//! File operations that outlast a power cut, and the lock that keeps a second process out.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;

/// Makes the names in a directory durable: a new or renamed file is lost with the power until its directory is synced.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// The directory a path lies in; `.` for a bare name.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a directory and its parents, durably.
pub fn create_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir)?;
    sync_dir(dir)?;
    sync_dir(parent_of(dir))
}

/// Replaces a file as a whole: a reader, or a start after a power cut, finds the old bytes or the new ones.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_dir(parent_of(path))
}

/// Whether a lock could be had.
#[derive(Debug)]
pub enum LockAttempt {
    /// It is ours until the file is dropped.
    Ours(File),
    /// Another process has it.
    Held,
}

/// Tries to take the lock file at `path` for this process alone, creating it where it is missing.
pub fn try_lock(path: &Path) -> io::Result<LockAttempt> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    attempt(file.try_lock(), file)
}

/// Tries to take the existing file at `path` shared: keeps an owner from starting, changes nothing on the disk.
pub fn try_lock_shared(path: &Path) -> io::Result<LockAttempt> {
    let file = File::open(path)?;
    attempt(file.try_lock_shared(), file)
}

/// Waits until nobody holds the file at `path`, if there is one. A thread of sled's that is ending, or a child that another test is just
/// starting, may hold on to it a moment longer than its owner.
#[cfg(test)]
pub fn wait_until_free(path: &Path) {
    if let Ok(file) = File::open(path) {
        file.lock_shared().unwrap();
    }
}

fn attempt(taken: Result<(), TryLockError>, file: File) -> io::Result<LockAttempt> {
    match taken {
        Ok(()) => Ok(LockAttempt::Ours(file)),
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Held),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
