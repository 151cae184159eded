//! The stream between awc and the connection.
//!
//! awc believes heads that no browser would, ends cut bodies as if they were whole, and loses those that end with the connection.
//! So it is shown a status line and a body that ends where the stream ends, and nothing else: this stream reads the head itself
//! (`answer_head`), takes the body out of its framing (`body_framing`), keeps the time-outs of both, and writes down in the
//! [`Exchange`](super::exchange::Exchange) what it saw. Decoding is not done here.
//!
//! Invariants: awc gets no byte before a whole final head is written down; when awc sees the end, the way the body ended is
//! written down too; nothing is read from the connection after the body's end.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_rt::net::{ActixStream, Ready};
use lohisoftbot_core::outcome::FetchFailure;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::answer_head::{HeadCaps, HeadFault, read_head};
use super::body_framing::{BodyEnd, BodyReader};
use super::exchange::SharedExchange;
use super::limits::FetchLimits;
use super::request_head;

/// 1xx heads that are read over before the final one.
pub const MAX_INTERIM_HEADS: u8 = 8;

/// Size of one read from the connection.
const READ_BYTES: usize = 16 * 1024;

/// A head this long surely begins like one; from here on it is read again only when a line end came, so that a head which drips in
/// costs no more than one that comes whole.
const HEAD_START_BYTES: usize = 256;

/// A connection as awc sees it.
pub struct HeadFilter<Io> {
    io: Io,
    exchange: SharedExchange,
    request: Request,
    answer: Answer,
    /// Bytes for awc that it has not taken yet.
    pending: Vec<u8>,
    num_taken: usize,
    /// Ends the wait for the head, then each silence inside the body.
    timer: Pin<Box<Sleep>>,
    limits: FetchLimits,
}

/// What of the request has been passed on.
enum Request {
    /// awc has not written its head to the end.
    Gathering(Vec<u8>),
    /// The head as it is sent, and how much of it is.
    Sending { head: Vec<u8>, num_sent: usize },
}

/// What of the answer has come.
enum Answer {
    Head { received: Vec<u8>, num_interim: u8, left: HeadCaps },
    Body(BodyReader),
    Over,
}

impl<Io> HeadFilter<Io> {
    /// Around a connection that is ready for the request. The wait for the head begins now.
    pub fn new(io: Io, exchange: SharedExchange, limits: FetchLimits) -> Self {
        let left = HeadCaps { bytes: limits.max_head_bytes, lines: limits.max_head_lines };
        Self {
            io,
            exchange,
            request: Request::Gathering(Vec::new()),
            answer: Answer::Head { received: Vec::new(), num_interim: 0, left },
            pending: Vec::new(),
            num_taken: 0,
            timer: Box::pin(sleep(limits.first_byte_timeout)),
            limits,
        }
    }

    fn give_pending(&mut self, buf: &mut ReadBuf<'_>) {
        let length = buf.remaining().min(self.pending.len() - self.num_taken);
        buf.put_slice(&self.pending[self.num_taken..self.num_taken + length]);
        self.num_taken += length;
        if self.num_taken == self.pending.len() {
            self.pending.clear();
            self.num_taken = 0;
        }
    }

    /// Bytes came.
    fn receive(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.exchange.note_answered();
        match &mut self.answer {
            Answer::Head { received, .. } => {
                let tells_nothing_new = received.len() > HEAD_START_BYTES && memchr::memchr(b'\n', bytes).is_none();
                received.extend_from_slice(bytes);
                if tells_nothing_new && received.len() <= self.limits.max_head_bytes {
                    return Ok(());
                }
                self.read_heads()
            }
            Answer::Body(_) => {
                self.read_body(bytes);
                Ok(())
            }
            Answer::Over => Ok(()),
        }
    }

    /// Reads as many heads as came whole; the final one opens the body.
    fn read_heads(&mut self) -> io::Result<()> {
        while let Answer::Head { received, num_interim, left } = &mut self.answer {
            let head = match read_head(received, *left) {
                Ok(Some(head)) => head,
                Ok(None) => return Ok(()),
                Err(HeadFault::Malformed) => return Err(self.fail(FetchFailure::Malformed)),
                Err(HeadFault::TooLarge) => return Err(self.fail(FetchFailure::HeadTooLarge)),
            };
            let rest = received.split_off(head.num_bytes);
            if head.is_interim() {
                if *num_interim == MAX_INTERIM_HEADS {
                    return Err(self.fail(FetchFailure::Malformed));
                }
                *num_interim += 1;
                *left = HeadCaps { bytes: left.bytes - head.num_bytes, lines: left.lines - head.num_lines };
                *received = rest;
                continue;
            }
            // HTTP/1.0 without a length is the one form of a body that ends with the stream which awc reads.
            self.pending.extend_from_slice(format!("HTTP/1.0 {} -\r\n\r\n", head.head.status).as_bytes());
            self.answer = Answer::Body(BodyReader::new(head.framing));
            self.exchange.set_head(head);
            self.read_body(&rest);
        }
        Ok(())
    }

    fn read_body(&mut self, bytes: &[u8]) {
        if let Answer::Body(reader) = &mut self.answer {
            reader.feed(bytes, &mut self.pending);
            if let Some(end) = reader.end() {
                self.end_body(end);
            } else {
                self.timer.as_mut().reset(Instant::now() + self.limits.idle_timeout);
            }
        }
    }

    fn end_body(&mut self, end: BodyEnd) {
        self.exchange.set_body_end(end);
        self.answer = Answer::Over;
    }

    /// The server closed the connection.
    fn receive_close(&mut self, close: Close) -> io::Result<()> {
        match (&self.answer, close) {
            (Answer::Head { .. }, _) => Err(self.fail(FetchFailure::Reset)),
            (Answer::Body(reader), Close::InOrder) => {
                let end = reader.end_at_close();
                self.end_body(end);
                Ok(())
            }
            // RFC 9112 §9.8: without the closing alert of TLS, a body that runs until the close may be cut.
            (Answer::Body(_), Close::Broken) => {
                self.end_body(BodyEnd::Truncated);
                Ok(())
            }
            (Answer::Over, _) => Ok(()),
        }
    }

    /// Nothing came for too long.
    fn receive_silence(&mut self) -> io::Result<()> {
        match self.answer {
            Answer::Head { .. } => Err(self.fail(FetchFailure::FirstByteTimeout)),
            Answer::Body(_) => {
                self.end_body(BodyEnd::Stalled);
                Ok(())
            }
            Answer::Over => Ok(()),
        }
    }

    fn fail(&self, failure: FetchFailure) -> io::Error {
        self.exchange.fail(failure);
        io::Error::other(failure.describe())
    }
}

/// How a connection ended.
#[derive(Clone, Copy)]
enum Close {
    InOrder,
    Broken,
}

impl<Io: AsyncRead + Unpin> AsyncRead for HeadFilter<Io> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.pending.is_empty() {
                this.give_pending(buf);
                return Poll::Ready(Ok(()));
            }
            if matches!(this.answer, Answer::Over) {
                return Poll::Ready(Ok(()));
            }
            let mut bytes = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut bytes);
            match Pin::new(&mut this.io).poll_read(cx, &mut read) {
                Poll::Ready(Ok(())) if read.filled().is_empty() => this.receive_close(Close::InOrder)?,
                Poll::Ready(Ok(())) => this.receive(read.filled())?,
                Poll::Ready(Err(_)) => this.receive_close(Close::Broken)?,
                Poll::Pending => {
                    ready!(this.timer.as_mut().poll(cx));
                    this.receive_silence()?;
                }
            }
        }
    }
}

impl<Io: AsyncWrite + Unpin> HeadFilter<Io> {
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Request::Sending { head, num_sent } = &mut self.request {
            if *num_sent == head.len() {
                break;
            }
            *num_sent += match ready!(Pin::new(&mut self.io).poll_write(cx, &head[*num_sent..])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(num_written) => num_written,
                Err(error) => return Poll::Ready(Err(error)),
            };
        }
        ready!(Pin::new(&mut self.io).poll_flush(cx))?;
        if matches!(self.request, Request::Sending { .. }) {
            self.exchange.note_left();
        }
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for HeadFilter<Io> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match &mut this.request {
            Request::Gathering(written) => {
                written.extend_from_slice(bytes);
                if written.ends_with(b"\r\n\r\n") {
                    this.request = Request::Sending { head: request_head::tidy(written), num_sent: 0 };
                }
                Poll::Ready(Ok(bytes.len()))
            }
            // A GET has no body, so nothing may follow its head.
            Request::Sending { .. } => Poll::Ready(Err(io::ErrorKind::InvalidInput.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.get_mut().poll_send(cx)) {
            // A server may answer and close without reading; what it said is still worth reading.
            Err(error) if is_gone(&error) => Poll::Ready(Ok(())),
            result => Poll::Ready(result),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected)
}

impl<Io> fmt::Debug for HeadFilter<Io> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadFilter").finish_non_exhaustive()
    }
}

/// awc asks for this bound and never calls it.
impl<Io: AsyncRead + AsyncWrite + Unpin> ActixStream for HeadFilter<Io> {
    fn poll_read_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        Poll::Ready(Ok(Ready::READABLE))
    }

    fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        Poll::Ready(Ok(Ready::WRITABLE))
    }
}

#[cfg(test)]
mod tests;
