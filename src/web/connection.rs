//! One visitor's connection: TLS or not, a place that it takes up, and a deadline for taking an answer.
//!
//! actix-http bounds how long a head may take to come, and not how long an answer may take to go. A visitor who takes none would hold
//! its connection for ever; so from the first byte that does not go at once, all that is to go has `request_timeout`.

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
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

/// The bytes of a connection.
enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection with its deadline and its place.
pub(super) struct Connection {
    wire: Wire,
    timeout: Duration,
    /// Runs while something waits to go.
    deadline: Option<Pin<Box<Sleep>>>,
    _place: Place,
}

impl Connection {
    /// Over plain TCP.
    pub(super) fn plain(stream: TcpStream, timeout: Duration, place: Place) -> Self {
        Self { wire: Wire::Plain(stream), timeout, deadline: None, _place: place }
    }

    /// Over TLS, the handshake done.
    pub(super) fn tls(stream: TlsStream<TcpStream>, timeout: Duration, place: Place) -> Self {
        Self { wire: Wire::Tls(Box::new(stream)), timeout, deadline: None, _place: place }
    }

    fn wire(&mut self) -> Pin<&mut dyn Both> {
        match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream),
            Wire::Tls(stream) => Pin::new(&mut **stream),
        }
    }

    /// The result of a step of writing, or that the time for it is over.
    fn bounded<T>(&mut self, step: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if step.is_ready() {
            return step;
        }
        let timeout = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(timeout)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// What both kinds of wire are.
trait Both: AsyncRead + AsyncWrite + Unpin {}
impl Both for TcpStream {}
impl Both for TlsStream<TcpStream> {}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_read(cx, into)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let step = self.wire().poll_write(cx, from);
        self.bounded(step, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = self.wire().poll_flush(cx);
        if matches!(step, Poll::Ready(Ok(()))) {
            // All is gone: the next answer has its own time.
            self.deadline = None;
        }
        self.bounded(step, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let step = self.wire().poll_shutdown(cx);
        self.bounded(step, cx)
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
