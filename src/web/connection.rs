//! One visitor's connection: TLS or not, a place that it takes up, and deadlines.
//!
//! actix-http bounds how long the head of a request may take to come, but not of one that begins in the same packet as the end of another;
//! and it does not bound how long an answer may take to go. Either would hold a connection for ever. So here:
//!
//! - from the first byte of a request until its answer is gone, twice `request_timeout` may pass, of which the index has one at most;
//! - between two requests, `keep_alive` and one `request_timeout` more;
//! - from the first byte of an answer that does not go at once until all is gone, `request_timeout`.
//!
//! Where actix-http sees the same, it is sooner, and says so with an answer.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use actix_rt::net::{ActixStream, Ready, TcpStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

/// The bytes of a connection.
enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// How long each step of a connection may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a head to come, and for an answer to go.
    pub(super) request_timeout: Duration,
    /// Between two requests.
    pub(super) keep_alive: Duration,
}

/// A connection with its deadlines and its place.
pub(super) struct Connection {
    wire: Wire,
    patience: Patience,
    turn: Turn,
    /// When the turn is over.
    turn_ends: Pin<Box<Sleep>>,
    /// When all that waits to go must be gone; none while nothing waits.
    writing_ends: Option<Pin<Box<Sleep>>>,
    _place: Place,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The visitor may begin a request.
    Idle,
    /// One has begun, and is not answered yet.
    Asking,
    /// Something of its answer has been written.
    Answering,
}

impl Connection {
    /// Over plain TCP.
    pub(super) fn plain(stream: TcpStream, patience: Patience, place: Place) -> Self {
        Self::new(Wire::Plain(stream), patience, place)
    }

    /// Over TLS, the handshake done.
    pub(super) fn tls(stream: TlsStream<TcpStream>, patience: Patience, place: Place) -> Self {
        Self::new(Wire::Tls(Box::new(stream)), patience, place)
    }

    fn new(wire: Wire, patience: Patience, place: Place) -> Self {
        let turn_ends = Box::pin(sleep(patience.keep_alive + patience.request_timeout));
        Self { wire, patience, turn: Turn::Idle, turn_ends, writing_ends: None, _place: place }
    }

    fn wire(&mut self) -> Pin<&mut dyn Both> {
        match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream),
            Wire::Tls(stream) => Pin::new(&mut **stream),
        }
    }

    fn turn_to(&mut self, turn: Turn, span: Duration) {
        self.turn = turn;
        self.turn_ends.as_mut().reset(Instant::now() + span);
    }

    /// The result of a step of writing, or that the time for it is over.
    fn written<T>(&mut self, step: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if step.is_ready() {
            return step;
        }
        let timeout = self.patience.request_timeout;
        let writing_ends = self.writing_ends.get_or_insert_with(|| Box::pin(sleep(timeout)));
        or_late(writing_ends.as_mut(), cx)
    }
}

/// Waits on, unless it is too late.
fn or_late<T>(deadline: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
    match deadline.poll(cx) {
        Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        Poll::Pending => Poll::Pending,
    }
}

/// What both kinds of wire are.
trait Both: AsyncRead + AsyncWrite + Unpin {}
impl Both for TcpStream {}
impl Both for TlsStream<TcpStream> {}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let num_before = into.filled().len();
        let step = self.wire().poll_read(cx, into);
        if step.is_pending() {
            return or_late(self.turn_ends.as_mut(), cx);
        }
        if into.filled().len() > num_before && self.turn == Turn::Idle {
            let span = 2 * self.patience.request_timeout;
            self.turn_to(Turn::Asking, span);
        } else if let Poll::Ready(()) = self.turn_ends.as_mut().poll(cx) {
            // One who always has a byte more would never be waited for.
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        step
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let step = self.wire().poll_write(cx, from);
        if matches!(step, Poll::Ready(Ok(_))) {
            self.turn = Turn::Answering;
        }
        self.written(step, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = self.wire().poll_flush(cx);
        if matches!(step, Poll::Ready(Ok(()))) {
            self.writing_ends = None;
            if self.turn == Turn::Answering {
                let span = self.patience.keep_alive + self.patience.request_timeout;
                self.turn_to(Turn::Idle, span);
            }
        }
        self.written(step, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = self.wire().poll_shutdown(cx);
        self.written(step, cx)
    }
}

impl ActixStream for Connection {
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        match &self.wire {
            Wire::Plain(stream) => ActixStream::poll_read_ready(stream, cx),
            Wire::Tls(stream) => ActixStream::poll_read_ready(stream.get_ref().0, cx),
        }
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        match &self.wire {
            Wire::Plain(stream) => ActixStream::poll_write_ready(stream, cx),
            Wire::Tls(stream) => ActixStream::poll_write_ready(stream.get_ref().0, cx),
        }
    }
}

/// How many connections each address has open.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<HashMap<IpAddr, u32>>>);

impl Places {
    /// A place for one more connection from this address, if it has fewer than `most`.
    pub(super) fn take(&self, address: IpAddr, most: u32) -> Option<Place> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let num = taken.entry(address).or_default();
        if *num >= most {
            return None;
        }
        *num += 1;
        Some(Place { places: self.clone(), address })
    }
}

/// One connection's place, given back when it is dropped.
pub(super) struct Place {
    places: Places,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.address) {
            Some(num) if *num > 1 => *num -= 1,
            Some(_) | None => drop(taken.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_so_many_places_and_gets_them_back() {
        let places = Places::default();
        let (one, two) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = places.take(one, 2).unwrap();
        let second = places.take(one, 2).unwrap();
        assert!(places.take(one, 2).is_none());
        assert!(places.take(two, 2).is_some());
        drop(first);
        let third = places.take(one, 2).unwrap();
        assert!(places.take(one, 2).is_none());
        drop((second, third));
        assert!(places.0.lock().unwrap().is_empty());
    }
}
