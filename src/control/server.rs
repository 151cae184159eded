//! Takes connections and carries commands to the node.
//!
//! A connection is served one request at a time, in order. A peer that says nothing, reads nothing or never ends its
//! line is let go; more than [`MAX_CONNECTIONS`] are told that the node is busy. Commands themselves have no time-out:
//! an exclusion answers when it is done. A stream takes its connection for itself and ends with it: its peer may read slowly, which keeps
//! nobody else waiting, and the node is rid of it when the peer is gone or has taken nothing for ten minutes.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::watch;

use super::command::Command;
use super::frame::{Frame, LineReader, MAX_REQUEST_BYTES};
use super::line_sink::LineSink;
use super::message::{ControlError, ErrorCode, read_request, write_answer};
use super::socket::ControlSocket;

/// Connections that are served at once.
pub const MAX_CONNECTIONS: usize = 32;

/// Connections of them that may be streams: however many read along, there is a place left for a command.
pub const MAX_STREAMS: usize = 16;

/// A connection on which no request comes for so long is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A peer that does not take its answer for so long is let go.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the server waits when the system has no descriptor left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A peer that takes nothing of a stream for so long is let go.
const STREAM_WRITE_TIMEOUT: Duration = Duration::from_secs(600);

/// The same where a stream ends because the node stops: it has had its time, and the node is held up by it.
const STOP_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a peer of a stream that has no more to say is looked after.
const PEER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Does what a command says. The node implements it over its actors.
pub trait NodeControl {
    /// Does it, and answers when it is done.
    fn call(&self, command: Command) -> LocalBoxFuture<'static, Result<Value, ControlError>>;

    /// Does what a command says that is answered by a stream: line by line, and then its end.
    fn stream<'a>(
        &'a self,
        command: Command,
        lines: &'a mut LineSink,
    ) -> LocalBoxFuture<'a, Result<Value, ControlError>>;
}

/// Serves until `stop` is done, then lets open requests finish. Runs on the arbiter (or `LocalSet`) of the caller.
///
/// The answer to `shutdown` has been sent when this returns, if the node signals `stop` from within that command.
pub async fn serve(socket: ControlSocket, node: Rc<dyn NodeControl>, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    let (num_open, num_streams) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = socket.listener().accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let slot = Slot::take(&num_open, MAX_CONNECTIONS);
                let served = connection(stream, slot, num_streams.clone(), node.clone(), stopped.clone());
                tokio::task::spawn_local(served);
            }
            Err(error) => {
                tracing::warn!(%error, "control socket cannot take a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(socket);
    drop(stopped);
    // Each connection holds a receiver until its request is answered.
    stopping.send_replace(true);
    stopping.closed().await;
}

/// One of the places for connections, or for streams; taken and given back in pairs.
struct Slot(Rc<Cell<usize>>);

impl Slot {
    fn take(num_open: &Rc<Cell<usize>>, most: usize) -> Option<Self> {
        if num_open.get() >= most {
            return None;
        }
        num_open.set(num_open.get() + 1);
        Some(Self(num_open.clone()))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

async fn connection(
    stream: UnixStream,
    slot: Option<Slot>,
    num_streams: Rc<Cell<usize>>,
    node: Rc<dyn NodeControl>,
    mut stopped: watch::Receiver<bool>,
) {
    let Some(_slot) = slot else {
        let error = ControlError::new(ErrorCode::Busy, format!("{MAX_CONNECTIONS} connections are open: close one"));
        return at_once(&stream, &error);
    };
    match stream.peer_cred() {
        Ok(peer) if may_command(peer.uid(), rustix::process::geteuid().as_raw()) => {}
        Ok(peer) => return tracing::warn!(uid = peer.uid(), "control connection of another user refused"),
        Err(error) => return tracing::warn!(%error, "control connection of an unknown user refused"),
    }
    let (input, mut output) = stream.into_split();
    let mut lines = LineReader::new(input);
    loop {
        let frame = tokio::select! {
            // Once the node stops, no further request is begun, not even one that has come already.
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return,
            frame = tokio::time::timeout(IDLE_TIMEOUT, lines.next()) => frame,
        };
        let (id, answer) = match frame {
            Ok(Ok(Frame::Line(line))) => match read_request(&line) {
                (id, Ok(command)) => {
                    tracing::debug!(command = command.name(), "control command");
                    if !command.is_stream() {
                        (id, node.call(command).await)
                    } else if let Some(_place) = Slot::take(&num_streams, MAX_STREAMS) {
                        let sink = LineSink::new(output, id, STREAM_WRITE_TIMEOUT);
                        return stream_to(sink, &*node, command, lines, stopped).await;
                    } else {
                        let message = format!("{MAX_STREAMS} streams are open: close one");
                        (id, Err(ControlError::new(ErrorCode::Busy, message)))
                    }
                }
                (id, Err(error)) => (id, Err(error)),
            },
            Ok(Ok(Frame::TooLong)) => {
                let message = format!("the line is longer than {MAX_REQUEST_BYTES} bytes");
                let error = ControlError::new(ErrorCode::RequestTooLong, message);
                write(&mut output, &write_answer(&Value::Null, &Err(error))).await;
                return;
            }
            Ok(Ok(Frame::End) | Err(_)) | Err(_) => return,
        };
        if !write(&mut output, &write_answer(&id, &answer)).await {
            return;
        }
    }
}

/// Streams to a peer until the stream ends, the peer is gone, or the node stops.
async fn stream_to(
    mut sink: LineSink,
    node: &dyn NodeControl,
    command: Command,
    lines: LineReader<OwnedReadHalf>,
    mut stopped: watch::Receiver<bool>,
) {
    let (end, patience) = tokio::select! {
        biased;
        _ = stopped.wait_for(|stopped| *stopped) => {
            (Err(ControlError::new(ErrorCode::Stopping, "the node is on its way down")), STOP_WRITE_TIMEOUT)
        }
        () = peer_gone(lines) => return,
        end = node.stream(command, &mut sink) => (end, WRITE_TIMEOUT),
    };
    sink.end(&end, patience).await;
}

/// Ends when the peer has closed its side for reading. That it has no more to say itself is no end.
async fn peer_gone(mut lines: LineReader<OwnedReadHalf>) {
    while let Ok(Frame::Line(_)) = lines.next().await {}
    loop {
        match lines.stream().as_ref().ready(Interest::WRITABLE).await {
            Ok(ready) if !ready.is_write_closed() => tokio::time::sleep(PEER_CHECK_INTERVAL).await,
            Ok(_) | Err(_) => return,
        }
    }
}

/// Whether a process of user `peer` may command a node of user `own`: the same user may, and root, who could anyway.
fn may_command(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

/// Writes an error into the socket's buffer without waiting: a peer that has no place is given no time.
fn at_once(stream: &UnixStream, error: &ControlError) {
    let line = write_answer(&Value::Null, &Err(error.clone()));
    if let Err(error) = stream.try_write(line.as_bytes()) {
        tracing::debug!(%error, "control peer was gone before it was told that the node is busy");
    }
}

/// Whether the whole line was taken in time.
async fn write(output: &mut (impl AsyncWrite + Unpin), line: &str) -> bool {
    matches!(tokio::time::timeout(WRITE_TIMEOUT, output.write_all(line.as_bytes())).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests;
