//! A web server of a few lines on several loopback addresses with one port: it answers by a function, and counts who came where.
//!
//! The practice web is a good citizen of its own plan; this one answers under any host name, and on addresses that nobody may reach.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many ports are tried: each must be free on every address.
const MAX_PORT_ATTEMPTS: usize = 50;
/// Longest wait for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// One connection, with what was asked over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The address that was dialled.
    pub to: Ipv4Addr,
    /// The host of the request without its port; empty where nothing was asked.
    pub host: String,
    /// The path of the request with its query.
    pub path: String,
}

/// From port, host and path to a whole answer, head and body.
pub type AnswerBy = fn(u16, &str, &str) -> String;

/// A running server; dropping it ends it.
pub struct PlainServer {
    port: u16,
    addresses: Vec<Ipv4Addr>,
    visits: Arc<Mutex<Vec<Visit>>>,
    is_to_end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl PlainServer {
    /// Listens on all these addresses.
    pub fn start(addresses: &[Ipv4Addr], answer_by: AnswerBy) -> Self {
        let listeners =
            (0..MAX_PORT_ATTEMPTS).find_map(|_| listen(addresses)).expect("no port is free on all addresses");
        let port = listeners[0].local_addr().unwrap().port();
        let (visits, is_to_end) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let serve = |(listener, to): (TcpListener, Ipv4Addr)| {
            let (visits, is_to_end) = (visits.clone(), is_to_end.clone());
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if is_to_end.load(Ordering::SeqCst) {
                        return;
                    }
                    let Ok(mut stream) = stream else { continue };
                    let (host, path) = read_request(&mut stream).unwrap_or_default();
                    visits.lock().unwrap().push(Visit { to, host: host.clone(), path: path.clone() });
                    // Whoever leaves early misses the answer.
                    let _ = stream.write_all(answer_by(port, &host, &path).as_bytes());
                }
            })
        };
        let threads = listeners.into_iter().zip(addresses.iter().copied()).map(serve).collect();
        Self { port, addresses: addresses.to_vec(), visits, is_to_end, threads }
    }

    /// The port, the same on every address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// All connections so far.
    pub fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap().clone()
    }
}

impl Drop for PlainServer {
    fn drop(&mut self) {
        self.is_to_end.store(true, Ordering::SeqCst);
        for address in &self.addresses {
            // Wakes the thread, so that it sees its end.
            let _ = TcpStream::connect((*address, self.port));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Listeners with one port on all addresses, unless it is taken on one of them.
fn listen(addresses: &[Ipv4Addr]) -> Option<Vec<TcpListener>> {
    let first = TcpListener::bind((addresses[0], 0)).unwrap();
    let port = first.local_addr().unwrap().port();
    let others = addresses[1..].iter().map(|address| TcpListener::bind((*address, port)));
    [Ok(first)].into_iter().chain(others).collect::<Result<_, _>>().ok()
}

/// Host and path of a request; none where its head does not come.
fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    stream.set_read_timeout(Some(HEAD_TIMEOUT)).ok()?;
    let (mut head, mut chunk) = (Vec::new(), [0; 1024]);
    while memchr::memmem::find(&head, b"\r\n\r\n").is_none() {
        let length = stream.read(&mut chunk).ok().filter(|length| *length > 0 && head.len() < MAX_HEAD_BYTES)?;
        head.extend(&chunk[..length]);
    }
    let head = String::from_utf8(head).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let host = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned))?;
    Some((host.split(':').next()?.to_owned(), path))
}
