//! Asks a running node, for the command line and for tests. Blocking: one question, one answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::command::Command;
use super::frame::MAX_RESPONSE_BYTES;
use super::message::{ControlError, StreamLine, read_answer, read_event, write_request};

/// How long an answer may take. An exclusion in a large store is the slowest.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// Why nothing was heard of a node.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No node is there.
    #[error("no node is running on {}: {source}; start one with `lohisoftbot run`, or name its socket with --socket", path.display())]
    NoNode {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the node did not answer: {0}")]
    Broken(#[from] io::Error),
    /// The connection ended before the answer.
    #[error("the node closed the connection without an answer")]
    Closed,
    /// A stream broke off before its end.
    #[error("the stream was cut: what came is not all there is")]
    Cut,
    /// What came is no answer.
    #[error("what listens there is no node of this version: {0}")]
    NotAnAnswer(String),
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The node had no more to say; its last word.
    Whole(Result<Value, ControlError>),
    /// Whoever reads had enough.
    LeftEarly,
}

/// A connection to a node.
#[derive(Debug)]
pub struct ControlClient {
    stream: BufReader<UnixStream>,
    last_id: u64,
}

impl ControlClient {
    /// Connects to the node that listens at `path`.
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        let stream =
            UnixStream::connect(path).map_err(|source| ClientError::NoNode { path: path.to_owned(), source })?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Self { stream: BufReader::new(stream), last_id: 0 })
    }

    /// Asks, and waits for the answer. The outer error means that there was none; the inner one is the node's no.
    pub fn call(&mut self, command: &Command) -> Result<Result<Value, ControlError>, ClientError> {
        self.last_id += 1;
        let sent = self.stream.get_mut().write_all(write_request(self.last_id, command).as_bytes());
        let mut line = Vec::new();
        let cap = MAX_RESPONSE_BYTES as u64 + 1;
        let read = self.stream.by_ref().take(cap).read_until(b'\n', &mut line);
        // A node that is busy says so and closes: its line is read even if ours could not be sent.
        if line.last() != Some(&b'\n') {
            sent?;
            read?;
            return Err(ClientError::Closed);
        }
        read_answer(self.last_id, &line).map_err(ClientError::NotAnAnswer)
    }

    /// Asks, and hands over each line of the stream that answers, until it ends or `take` has had enough.
    pub fn stream(
        mut self,
        command: &Command,
        mut take: impl FnMut(Value) -> ControlFlow<()>,
    ) -> Result<StreamEnd, ClientError> {
        // Hours may pass in which nothing happens.
        self.stream.get_ref().set_read_timeout(None)?;
        self.last_id += 1;
        self.stream.get_mut().write_all(write_request(self.last_id, command).as_bytes())?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let cap = MAX_RESPONSE_BYTES as u64 + 1;
            self.stream.by_ref().take(cap).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Err(ClientError::Cut);
            }
            match read_event(self.last_id, &line).map_err(ClientError::NotAnAnswer)? {
                StreamLine::Event(event) => {
                    if take(event).is_break() {
                        return Ok(StreamEnd::LeftEarly);
                    }
                }
                StreamLine::End(end) => return Ok(StreamEnd::Whole(end)),
            }
        }
    }
}
