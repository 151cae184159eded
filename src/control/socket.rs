//! The socket file: who has it, and that nobody else can open it.
//!
//! A lock file beside the socket tells a live node from a dead one: the kernel drops the lock with its process,
//! whatever killed it. Whoever holds the lock may replace the socket that a dead node left behind. The socket gets mode
//! 0600 before it listens, so there is no moment in which another user could connect.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::UnixListener;

/// Connections that may wait to be taken.
const BACKLOG: i32 = 16;

/// Why there is no control socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another node is live on it.
    #[error(
        "another node is running on the control socket {path}: stop it with `lohisoftbot-ctl --socket {path} shutdown`, or set \
         control.socket to another path",
        path = .0.display()
    )]
    Taken(PathBuf),
    /// Something stands in its place that no node made.
    #[error("{} is no socket, so it is left as it is: set control.socket to another path", .0.display())]
    NotASocket(PathBuf),
    /// The system says no.
    #[error(
        "cannot make the control socket {}: {source}; set control.socket to a path in a folder that this user can write to",
        path.display()
    )]
    Io {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A listening control socket. Dropping it takes the file away; the lock file stays, since removing one safely is
/// impossible.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    _lock: File,
}

impl ControlSocket {
    /// Listens at `path`, in the tokio runtime of the caller. The folder has to exist.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let failed = |source: io::Error| SocketError::Io { path: path.to_owned(), source };
        let lock = lock(path).map_err(failed)?.ok_or_else(|| SocketError::Taken(path.to_owned()))?;
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => {
                // A live node whose lock file somebody removed still answers.
                if std::os::unix::net::UnixStream::connect(path).is_ok() {
                    return Err(SocketError::Taken(path.to_owned()));
                }
                std::fs::remove_file(path).map_err(failed)?;
            }
            Ok(_) => return Err(SocketError::NotASocket(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = listen(path).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), _lock: lock })
    }

    /// The listener.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // The file may be gone already; then there is nothing to tidy up.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The lock of the socket at `path`; none if another process has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut lock_path = OsString::from(path);
    lock_path.push(".lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock_path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
    rustix::net::listen(&socket, BACKLOG)?;
    UnixListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn in_runtime<T>(work: impl FnOnce() -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _entered = runtime.enter();
        work()
    }

    #[test]
    fn socket_is_for_its_owner_alone_and_goes_with_the_node() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        in_runtime(|| {
            let socket = ControlSocket::bind(&path).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            drop(socket);
            assert!(!path.exists());
        });
    }

    #[test]
    fn taken_socket_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        in_runtime(|| {
            let first = ControlSocket::bind(&path).unwrap();
            let error = ControlSocket::bind(&path).unwrap_err();
            assert!(matches!(error, SocketError::Taken(_)), "{error}");
            assert!(!error.to_string().contains('\n'));
            assert!(std::os::unix::net::UnixStream::connect(&path).is_ok());
            drop(first);
            ControlSocket::bind(&path).unwrap();
        });
    }

    #[test]
    fn live_socket_whose_lock_file_is_gone_is_still_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        in_runtime(|| {
            let _first = ControlSocket::bind(&path).unwrap();
            std::fs::remove_file(folder.path().join("control.sock.lock")).unwrap();
            assert!(matches!(ControlSocket::bind(&path), Err(SocketError::Taken(_))));
        });
    }

    #[test]
    fn socket_of_a_dead_node_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        in_runtime(|| {
            // A listener that is closed without its file being removed: what a killed process leaves.
            drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
            assert!(path.exists());
            ControlSocket::bind(&path).unwrap();
        });
    }

    #[test]
    fn file_that_is_no_socket_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "keep me").unwrap();
        in_runtime(|| assert!(matches!(ControlSocket::bind(&path), Err(SocketError::NotASocket(_)))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "keep me");
    }

    #[test]
    fn folder_that_is_missing_is_one_clear_line() {
        let error = in_runtime(|| ControlSocket::bind(Path::new("/nonexistent/control.sock"))).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/control.sock") && error.contains("control.socket"), "{error}");
    }
}
