//! A name server to practise on: it gives scripted answers over UDP on the loopback, and notes down every question.
//!
//! The answers of a name are played in order, one a question, and the last one stays; so a name can point somewhere else at the second
//! look-up, as an attacker's does. It keeps no zones, follows no alias and does not speak TCP: what it says is what the script says,
//! sound or not. A name that the script does not know does not exist.
//!
//! Invariant: a question is in the log before its answer is sent.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use hickory_resolver::proto::rr::{Name, RData, Record};

/// How often the thread looks whether it is to end.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Longest question that is read, in bytes: larger than any that a resolver sends.
const MAX_QUESTION_BYTES: usize = 4096;

/// What is said to one question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These records in the answer section; none is the answer of a name that exists without an address.
    Records(Vec<Answer>),
    /// A response code without records.
    Code(ResponseCode),
    /// Nothing at all.
    Silence,
    /// An answer that says it did not fit, to be asked for over TCP.
    Truncated,
    /// A sound answer with its last bytes missing.
    CutShort(Vec<Answer>),
    /// The id of the question, and then bytes that mean nothing.
    Garbage,
    /// A sound answer to another question than the one asked.
    OfAnotherName(Vec<Answer>),
}

/// A record of an answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whose record it is; that of the question where there is none.
    pub owner: Option<&'static str>,
    /// How long it may be kept, in seconds.
    pub ttl: u32,
    /// What it says.
    pub points_to: PointsTo,
}

/// What a record says.
#[derive(Clone, Debug)]
pub enum PointsTo {
    /// An A or AAAA record.
    Address(IpAddr),
    /// A CNAME record.
    Name(&'static str),
}

impl Answer {
    /// An address of the name that was asked for, not to be kept.
    pub fn address(address: impl Into<IpAddr>) -> Self {
        Self { owner: None, ttl: 0, points_to: PointsTo::Address(address.into()) }
    }

    /// Another name for the one that was asked for, not to be kept.
    pub fn alias(target: &'static str) -> Self {
        Self { owner: None, ttl: 0, points_to: PointsTo::Name(target) }
    }

    /// The same for another name.
    pub fn owned_by(self, owner: &'static str) -> Self {
        Self { owner: Some(owner), ..self }
    }

    /// The same with a time to live.
    pub fn kept_for(self, ttl: u32) -> Self {
        Self { ttl, ..self }
    }

    fn record(&self, asked: &Name) -> Option<Record> {
        let owner = match self.owner {
            None => asked.clone(),
            Some(owner) => Name::from_utf8(owner).ok()?,
        };
        let data = match self.points_to {
            PointsTo::Address(IpAddr::V4(address)) => RData::A(A(address)),
            PointsTo::Address(IpAddr::V6(address)) => RData::AAAA(AAAA(address)),
            PointsTo::Name(target) => RData::CNAME(CNAME(Name::from_utf8(target).ok()?)),
        };
        Some(Record::from_rdata(owner, self.ttl, data))
    }
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name, lower case, without the root's dot.
    pub name: String,
    /// The record type, such as `A`.
    pub kind: String,
}

/// A running name server; dropping it ends it.
#[derive(Debug)]
pub struct PracticeNameServer {
    address: SocketAddrV4,
    asked: Arc<Mutex<Vec<Question>>>,
    is_to_end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PracticeNameServer {
    /// Starts one on a free port of 127.0.0.1, with the replies of each name in the order of the questions.
    pub fn start(script: impl IntoIterator<Item = (&'static str, Vec<Reply>)>) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_read_timeout(Some(STOP_CHECK_INTERVAL))?;
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, socket.local_addr()?.port());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let is_to_end = Arc::new(AtomicBool::new(false));
        let script: BTreeMap<_, _> = script.into_iter().map(|(name, replies)| (name.to_owned(), replies)).collect();
        let (log, end) = (asked.clone(), is_to_end.clone());
        let thread = std::thread::Builder::new().name("practice-names".to_owned()).spawn(move || {
            let mut buffer = vec![0; MAX_QUESTION_BYTES];
            while !end.load(Ordering::Relaxed) {
                // A time-out is the moment to look whether this is the end; a peer that has gone is nobody's loss.
                let Ok((length, peer)) = socket.recv_from(&mut buffer) else { continue };
                if let Some(reply) = answer(&buffer[..length], &script, &log) {
                    let _ = socket.send_to(&reply, peer);
                }
            }
        })?;
        Ok(Self { address, asked, is_to_end, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// All questions so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a name was asked for.
    pub fn num_asked(&self, name: &str) -> usize {
        self.asked().iter().filter(|question| question.name == name).count()
    }
}

impl Drop for PracticeNameServer {
    fn drop(&mut self) {
        self.is_to_end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has no way to fail but a panic, which was printed.
            let _ = thread.join();
        }
    }
}

/// Notes the question down and makes the answer; none where there is to be silence.
fn answer(bytes: &[u8], script: &BTreeMap<String, Vec<Reply>>, log: &Mutex<Vec<Question>>) -> Option<Vec<u8>> {
    let question = Message::from_vec(bytes).ok()?;
    let query = question.queries.first()?.clone();
    // Not as text of the library's, which escapes what is no host name.
    let labels: Vec<_> = query.name().iter().map(|label| String::from_utf8_lossy(label).to_lowercase()).collect();
    let name = labels.join(".");
    let mut asked = log.lock().unwrap_or_else(PoisonError::into_inner);
    let num_before = asked.iter().filter(|earlier| earlier.name == name).count();
    asked.push(Question { name: name.clone(), kind: query.query_type().to_string() });
    drop(asked);

    let no_such_name = Reply::Code(ResponseCode::NXDomain);
    let reply = match script.get(&name) {
        None => &no_such_name,
        Some(replies) => replies.get(num_before).or(replies.last())?,
    };
    let mut message = question.clone();
    message.metadata.message_type = MessageType::Response;
    message.metadata.recursion_available = true;
    message.additionals.clear();
    let add = |message: &mut Message, answers: &[Answer]| {
        let records: Vec<_> = answers.iter().filter_map(|answer| answer.record(query.name())).collect();
        message.add_answers(records);
    };
    match reply {
        Reply::Silence => return None,
        Reply::Code(code) => message.metadata.response_code = *code,
        Reply::Truncated => message.metadata.truncation = true,
        Reply::Records(answers) => add(&mut message, answers),
        Reply::OfAnotherName(answers) => {
            message.queries[0].set_name(Name::from_utf8("another.example.").ok()?);
            add(&mut message, answers);
        }
        Reply::CutShort(answers) => {
            add(&mut message, answers);
            let mut bytes = message.to_vec().ok()?;
            bytes.truncate(bytes.len() - 3);
            return Some(bytes);
        }
        Reply::Garbage => {
            let mut bytes = bytes[..2].to_vec();
            bytes.extend([0xff; 40]);
            return Some(bytes);
        }
    }
    message.to_vec().ok()
}
