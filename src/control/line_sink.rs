//! The lines of a stream, on their way to a peer that may read slowly.
//!
//! One line is written at a time, so a slow peer costs its stream time and the node no memory. A line that must not go out any more can be
//! taken back as long as no byte of it has left ([`LineSink::take_back`]). Invariant: nothing follows a line that was cut.

use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;

use super::message::{ControlError, write_answer, write_event};

/// The peer is gone, or has taken nothing for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer of a stream is gone")]
pub struct Gone;

/// Writes the lines of one stream.
#[derive(Debug)]
pub struct LineSink {
    output: OwnedWriteHalf,
    id: Value,
    patience: Duration,
    line: Vec<u8>,
    num_written: usize,
}

impl LineSink {
    /// Answers the request `id`. A peer that takes nothing for as long as `patience` is gone.
    pub(super) fn new(output: OwnedWriteHalf, id: Value, patience: Duration) -> Self {
        Self { output, id, patience, line: Vec::new(), num_written: 0 }
    }

    /// Writes one event. Dropping the future leaves the line where it is: to be taken back, or cut.
    pub async fn send(&mut self, event: &Value) -> Result<(), Gone> {
        if self.is_in_line() {
            return Err(Gone);
        }
        write_event(&self.id, event, &mut self.line);
        self.num_written = 0;
        self.write_line().await
    }

    /// Takes back a line that was not sent to its end. False if a part of it has left: then the stream can only be cut.
    pub fn take_back(&mut self) -> bool {
        if self.num_written == 0 {
            self.line.clear();
        }
        !self.is_in_line()
    }

    /// Writes the end of the stream, unless it was cut.
    pub(super) async fn end(&mut self, end: &Result<Value, ControlError>, patience: Duration) {
        self.patience = patience;
        if !self.take_back() {
            return;
        }
        self.line = write_answer(&self.id, end).into_bytes();
        self.num_written = 0;
        // A peer that is gone needs no end.
        let _ = self.write_line().await;
    }

    fn is_in_line(&self) -> bool {
        self.num_written < self.line.len()
    }

    async fn write_line(&mut self) -> Result<(), Gone> {
        while self.is_in_line() {
            let written = tokio::time::timeout(self.patience, self.output.write(&self.line[self.num_written..])).await;
            match written {
                Ok(Ok(more)) if more > 0 => self.num_written += more,
                Ok(Ok(_) | Err(_)) | Err(_) => return Err(Gone),
            }
        }
        Ok(())
    }
}
