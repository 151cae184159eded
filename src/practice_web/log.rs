//! The request log: what was asked, when, and what was answered. It is kept in memory and, if the plan names a file, appended there as
//! each request starts and ends, so that it outlives whoever asked.
//!
//! Times are chosen so that a polite asker can never look impolite: a request starts when its first byte has come, which is later than
//! it was sent, and ends just before its last byte is handed over, which is earlier than it was read. The exception is a request that its
//! asker gave up: its end is noted when it is noticed, and so later than it was (see `auditor`).

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{
    script::{Backoff, RobotsRole},
    site_plan::Scheme,
};

/// Who ended a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EndedBy {
    /// The answer was sent whole, as planned.
    Server,
    /// The asker left first; the end was seen somewhat later than it was.
    Client,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEnd {
    /// When, in microseconds since the log began.
    pub end_us: u64,
    /// By whom.
    pub ended_by: EndedBy,
    /// Until when the asker was told to wait, in microseconds since the log began.
    pub wait_until_us: Option<u64>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its number, from 0, in the order of the starts.
    pub seq: u64,
    /// When its first byte came, in microseconds since the log began (monotonic clock).
    pub start_us: u64,
    /// The same by the wall clock, in milliseconds since 1970.
    pub start_unix_ms: u64,
    /// How long before `start_us` the byte may have lain in the socket unread: a web that is not given the processor notes it late. In
    /// microseconds, by the web's own pulse.
    #[serde(default)]
    pub late_us: u64,
    /// The address it came to.
    pub address: Ipv4Addr,
    /// Where it came from.
    pub peer: SocketAddr,
    /// With or without TLS.
    pub scheme: Scheme,
    /// The host it named, in lower case and without port.
    pub host: String,
    /// Its method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// All header fields, names in lower case.
    pub fields: Vec<(String, String)>,
    /// The status of the answer, if there is one.
    pub status: Option<u16>,
    /// A few words about the answer.
    pub label: String,
    /// Whether the answer makes the site wait.
    pub backoff: Backoff,
    /// What the answer means for the rules of the origin.
    pub robots_role: RobotsRole,
    /// How it ended; `None` while it has not.
    pub end: Option<RequestEnd>,
}

impl LogEntry {
    /// The value of a header field, its name in lower case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// What was asked, where a Host field says of whom.
    pub fn url(&self) -> Option<String> {
        Some(format!("{}://{}{}", self.scheme.as_str(), self.field("host")?, self.path))
    }

    /// Start, in milliseconds since the log began.
    pub fn start_ms(&self) -> u64 {
        self.start_us / 1_000
    }
}

/// A line of the log file.
#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum LogLine {
    Start(LogEntry),
    End {
        seq: u64,
        #[serde(flatten)]
        end: RequestEnd,
    },
}

/// When the web looked at its sockets last, and when before that, in microseconds since the log began. All that lay there at the earlier
/// moment has been noted by the later one.
#[derive(Default)]
struct Pulse {
    earlier_us: AtomicU64,
    last_us: AtomicU64,
}

/// The log, shared by all connections.
#[derive(Clone)]
pub struct RequestLog {
    shared: Arc<Shared>,
}

struct Shared {
    began: Instant,
    pulse: Pulse,
    entries: Mutex<Entries>,
    num_events: watch::Sender<u64>,
}

struct Entries {
    list: Vec<LogEntry>,
    file: Option<File>,
}

impl RequestLog {
    /// An empty log that appends to `file`, if given.
    pub fn create(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        let entries = Mutex::new(Entries { list: Vec::new(), file });
        Ok(Self {
            shared: Arc::new(Shared {
                began: Instant::now(),
                pulse: Pulse::default(),
                entries,
                num_events: watch::Sender::new(0),
            }),
        })
    }

    /// Reads a log file back. A last line that was cut off by a crash is passed over.
    pub fn read_file(path: &Path) -> io::Result<Vec<LogEntry>> {
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut places = HashMap::new();
        for line in BufReader::new(File::open(path)?).lines() {
            match serde_json::from_str(&line?) {
                Ok(LogLine::Start(entry)) => {
                    places.insert(entry.seq, entries.len());
                    entries.push(entry);
                }
                Ok(LogLine::End { seq, end }) => {
                    if let Some(&place) = places.get(&seq) {
                        entries[place].end = Some(end);
                    }
                }
                Err(error) if error.is_eof() => break,
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }
        Ok(entries)
    }

    /// All requests so far, in the order of their starts.
    pub fn entries(&self) -> Vec<LogEntry> {
        self.lock().list.clone()
    }

    /// How many requests have started.
    pub fn num_requests(&self) -> usize {
        self.lock().list.len()
    }

    /// Returns once the entries fulfil a condition; they are looked at whenever a request starts or ends.
    pub async fn wait_until(&self, mut condition: impl FnMut(&[LogEntry]) -> bool) {
        let mut events = self.shared.num_events.subscribe();
        loop {
            events.borrow_and_update();
            if condition(&self.lock().list) {
                return;
            }
            // The sender lives in `self`, so it cannot be gone.
            if events.changed().await.is_err() {
                return;
            }
        }
    }

    /// The time since the log began.
    pub(super) fn now_us(&self) -> u64 {
        micros(self.shared.began.elapsed())
    }

    /// The web has looked at its sockets again. Called from one task.
    pub(super) fn beat(&self) {
        let pulse = &self.shared.pulse;
        let last_us = pulse.last_us.swap(self.now_us(), Ordering::Relaxed);
        pulse.earlier_us.store(last_us, Ordering::Relaxed);
    }

    /// The time now, and how much earlier what is read now may have come.
    pub(super) fn read_at_us(&self) -> (u64, u64) {
        let now_us = self.now_us();
        (now_us, now_us.saturating_sub(self.shared.pulse.earlier_us.load(Ordering::Relaxed)))
    }

    /// Writes down a start and gives it its number. `entry.seq` is ignored.
    pub(super) fn start(&self, mut entry: LogEntry) -> io::Result<u64> {
        let mut entries = self.lock();
        entry.seq = entries.list.len() as u64;
        let seq = entry.seq;
        entries.append(&LogLine::Start(entry.clone()))?;
        entries.list.push(entry);
        drop(entries);
        self.shared.num_events.send_modify(|num| *num += 1);
        Ok(seq)
    }

    /// Writes down the end of a request.
    pub(super) fn end(&self, seq: u64, end: RequestEnd) -> io::Result<()> {
        let mut entries = self.lock();
        if let Some(entry) = entries.list.get_mut(seq as usize) {
            entry.end = Some(end);
        }
        entries.append(&LogLine::End { seq, end })?;
        drop(entries);
        self.shared.num_events.send_modify(|num| *num += 1);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Entries are pushed whole, so a panic elsewhere cannot leave a half-written one behind.
        self.shared.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn append(&mut self, line: &LogLine) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
        bytes.push(b'\n');
        file.write_all(&bytes)
    }
}

/// Whole microseconds of a span.
pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970.
pub(super) fn unix_ms(now: SystemTime) -> u64 {
    now.duration_since(UNIX_EPOCH).map(|span| micros(span) / 1_000).unwrap_or(0)
}
