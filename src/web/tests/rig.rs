//! Runs the pages on a port of their own and speaks HTTP to them, byte by byte.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lohisoftbot_core::config::{ListenAddress, WebSettings};

use crate::web::{PublicSite, Searcher, StopHandle};

/// Longest wait for anything here; a test that meets it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What the operator says of the bot.
pub const INFO_URL: &str = "https://bot.example/about";

/// Running pages; dropping them stops them.
pub struct Rig {
    pub address: SocketAddr,
    pub url: String,
    stop: Option<StopHandle>,
    thread: Option<JoinHandle<()>>,
}

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Settings that listen on a free port and let tests ask as much as they like.
pub fn settings() -> WebSettings {
    WebSettings {
        listen: ListenAddress::At(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)),
        requests_per_minute: 1_000_000,
        request_burst: 1_000_000,
        ..WebSettings::default()
    }
}

impl Rig {
    pub fn start(settings: WebSettings, searcher: Arc<dyn Searcher>) -> Self {
        let (send, receive) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_rt::System::new().block_on(async move {
                let bound = PublicSite::bind(&settings, INFO_URL, searcher).unwrap().unwrap();
                send.send((bound.address(), bound.url(), bound.handle())).unwrap();
                bound.serve().await.unwrap();
            });
        });
        let (address, url, stop) = receive.recv_timeout(PATIENCE).unwrap();
        Self { address, url, stop: Some(stop), thread: Some(thread) }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these bytes on a connection of their own and reads until it ends.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // The server may have answered and hung up before it has read all.
        let _ = stream.write_all(request.as_bytes());
        read_to_end(&mut stream)
    }

    pub fn ask(&self, method: &str, target: &str, lines: &[&str]) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
        if !lines.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
            request += "host: localhost\r\n";
        }
        for line in lines {
            request = request + line + "\r\n";
        }
        self.raw(&(request + "\r\n"))
    }

    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[])
    }

    /// Asks until there is an answer: with a short time-out, a busy machine may need more than one try.
    pub fn still_answers(&self) {
        let started = Instant::now();
        while self.get("/").status != 200 {
            assert!(started.elapsed() < PATIENCE, "no answer any more");
        }
    }

    /// Stops the pages and waits until they are gone.
    pub fn stop(&mut self) {
        let Some(stop) = self.stop.take() else { return };
        actix_rt::System::new().block_on(stop.stop());
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop();
    }
}

pub fn read_to_end(stream: &mut impl Read) -> Answer {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    #[track_caller]
    pub fn has(&self, wanted: &str) -> &Self {
        assert!(self.body.contains(wanted), "no {wanted:?} in {} {}", self.status, self.body);
        self
    }

    #[track_caller]
    pub fn has_not(&self, unwanted: &str) -> &Self {
        assert!(!self.body.contains(unwanted), "{unwanted:?} in {} {}", self.status, self.body);
        self
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
