//! An answer as a script: what is sent, when, and what the answer means for the one who asked. Made by `answers` and
//! `robots_files`, played by `server`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One step of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These bytes.
    Send(Vec<u8>),
    /// Silence.
    Pause(Duration),
    /// These bytes again and again, with this pause between, until the asker leaves or the server's cap is reached.
    Endless(Vec<u8>, Duration),
    /// Silence until the asker leaves.
    Stall,
    /// The connection is reset instead of closed.
    Reset,
}

/// Whether an answer makes the site wait by itself (429, 5xx, time-out, reset, malformed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Backoff {
    /// It does not.
    None,
    /// It does.
    Site,
}

/// What an answer means for the rules of its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RobotsRole {
    /// No robots.txt.
    NotRobots,
    /// A redirect on the way to the rules.
    Hop,
    /// The rules are known by it.
    Settles,
    /// The rules cannot be had by it.
    Unreachable,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status sent, if any.
    pub status: Option<u16>,
    /// A few words for the log.
    pub label: String,
    /// What is sent.
    pub steps: Vec<Step>,
    /// The wait that is told to the asker.
    pub retry_after: Option<Duration>,
    /// Whether the site wants to be left alone after it.
    pub backoff: Backoff,
    /// What it means for the rules.
    pub robots_role: RobotsRole,
}

/// A response head under construction.
#[derive(Clone, Debug)]
pub struct Head {
    status: u16,
    fields: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// A head with this status, the date and `Connection: close`.
    pub fn new(status: u16, now: std::time::SystemTime) -> Self {
        Self { status, fields: Vec::new() }
            .with("Date", &httpdate::fmt_http_date(now))
            .with("Server", "practice")
            .with("Connection", "close")
    }

    /// With one more field.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.as_bytes().to_vec()));
        self
    }

    /// The bytes of the head, the empty line included.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.fields {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    /// An answer of this head and a body with its true length.
    pub fn answer(self, label: &str, body: &[u8]) -> Answer {
        let status = self.status;
        let head = self.with("Content-Length", &body.len().to_string());
        let mut bytes = head.bytes();
        bytes.extend_from_slice(body);
        Answer::of_steps(status, label, vec![Step::Send(bytes)])
    }
}

impl Answer {
    /// An answer of these steps that asks for no wait and is no robots.txt.
    pub fn of_steps(status: u16, label: &str, steps: Vec<Step>) -> Self {
        Self {
            status: Some(status),
            label: label.to_owned(),
            steps,
            retry_after: None,
            backoff: Backoff::None,
            robots_role: RobotsRole::NotRobots,
        }
    }

    /// No HTTP answer at all: it makes the site wait.
    pub fn without_status(label: &str, step: Step) -> Self {
        Self { status: None, backoff: Backoff::Site, ..Self::of_steps(0, label, vec![step]) }
    }

    /// The same, making the site wait.
    pub fn with_backoff(self) -> Self {
        Self { backoff: Backoff::Site, ..self }
    }

    /// The same, telling to wait.
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    /// The same as an answer to robots.txt.
    pub fn as_robots(self, robots_role: RobotsRole) -> Self {
        Self { robots_role, ..self }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        410 => "Gone",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        // The reason phrase means nothing to a client (RFC 9112 §4), so an unnamed status has none.
        _ => "",
    }
}
