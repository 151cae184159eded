//! Requests and answers as they stand on the wire, one JSON object a line.
//!
//! `{"v":1,"id":1,"command":"exclude","domain":"example.com","reason":"..."}` is answered by
//! `{"v":1,"id":1,"ok":true,"result":{..}}` or `{"v":1,"id":1,"ok":false,"error":{"code":"..","message":".."}}`. The id
//! is the caller's and comes back as it was; a line that has none to read is answered with null.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::command::{Command, quoted};
use super::frame::MAX_RESPONSE_BYTES;

/// The version of the protocol.
pub const VERSION: u64 = 1;

/// What kind of no it is, for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The line is no request, or its fields are not those of the command.
    BadRequest,
    /// A protocol version that this node does not speak.
    UnsupportedVersion,
    /// No command of that name.
    UnknownCommand,
    /// A command that comes with a later version.
    NotInThisVersion,
    /// The request line is too long.
    RequestTooLong,
    /// The answer would be too long: ask for less.
    AnswerTooLong,
    /// Too many connections.
    Busy,
    /// The node does not know that site or URL.
    NotFound,
    /// Understood, and not done.
    Refused,
    /// The node is on its way down.
    Stopping,
    /// The node failed at it; its log says more.
    Internal,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

/// The node says no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// What kind of no.
    pub code: ErrorCode,
    /// Why, and what to do, for people.
    pub message: String,
}

impl ControlError {
    /// An error of one kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Reads a request line: the caller's id, as far as there is one, and the command or what is wrong.
pub fn read_request(line: &[u8]) -> (Value, Result<Command, ControlError>) {
    let bad = |message: String| ControlError::new(ErrorCode::BadRequest, message);
    let RequestFields { mut fields, given_twice } = match serde_json::from_slice(line) {
        Ok(read) => read,
        Err(error) => return (Value::Null, Err(bad(format!("the line is no JSON object: {error}")))),
    };
    // Before anything is read off it: which of the two was meant, nobody can tell, and one of them may be a shutdown (RFC 8259 §4).
    if let Some(key) = given_twice {
        let is_id = key == "id";
        let id = fields.remove("id").filter(|id| !is_id && (id.is_number() || id.is_string())).unwrap_or_default();
        return (id, Err(bad(format!("the key {} is given twice: which is meant?", quoted(&key)))));
    }
    let id = match fields.remove("id") {
        Some(id @ (Value::Number(_) | Value::String(_))) => id,
        Some(_) => return (Value::Null, Err(bad("\"id\" is neither a number nor a text".to_owned()))),
        None => Value::Null,
    };
    let command = match fields.remove("v") {
        Some(version) if version.as_u64() == Some(VERSION) => Command::from_fields(fields),
        Some(version) => Err(ControlError::new(
            ErrorCode::UnsupportedVersion,
            format!("this node speaks version {VERSION} of the protocol, not {version}"),
        )),
        None => Err(bad(format!("\"v\" is missing: the line says which version of the protocol it is, {VERSION}"))),
    };
    (id, command)
}

/// The fields of a request, and the first key that is there twice. A plain map would take the last of two and say nothing.
struct RequestFields {
    fields: Map<String, Value>,
    given_twice: Option<String>,
}

impl<'de> Deserialize<'de> for RequestFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = RequestFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestFields, A::Error> {
        let mut read = RequestFields { fields: Map::new(), given_twice: None };
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if read.fields.contains_key(&key) {
                read.given_twice.get_or_insert(key);
            } else {
                read.fields.insert(key, value);
            }
        }
        Ok(read)
    }
}

/// Writes a request line with its end.
pub fn write_request(id: u64, command: &Command) -> String {
    let mut fields = Map::from_iter([("v".to_owned(), json!(VERSION)), ("id".to_owned(), json!(id))]);
    fields.extend(command.to_fields());
    format!("{}\n", Value::Object(fields))
}

/// Writes an answer line with its end; one that is too long becomes an error that says so.
pub fn write_answer(id: &Value, answer: &Result<Value, ControlError>) -> String {
    let line = match answer {
        Ok(result) => json!({"v": VERSION, "id": id, "ok": true, "result": result}),
        Err(error) => json!({"v": VERSION, "id": id, "ok": false, "error": error}),
    };
    let line = format!("{line}\n");
    if line.len() <= MAX_RESPONSE_BYTES {
        return line;
    }
    let error = ControlError::new(
        ErrorCode::AnswerTooLong,
        format!(
            "the answer would be {} bytes long, {MAX_RESPONSE_BYTES} at most are sent: ask for less with a limit",
            line.len()
        ),
    );
    format!("{}\n", json!({"v": VERSION, "id": id, "ok": false, "error": error}))
}

/// Writes one line of a stream with its end, into a buffer that is used again.
pub fn write_event(id: &Value, event: &Value, line: &mut Vec<u8>) {
    line.clear();
    line.extend_from_slice(json!({"v": VERSION, "id": id, "event": event}).to_string().as_bytes());
    line.push(b'\n');
}

/// Reads a line of the stream that answers the request `id`: an event, or the answer that ends it.
pub fn read_event(id: u64, line: &[u8]) -> Result<StreamLine, String> {
    #[derive(Deserialize)]
    struct Event {
        id: Value,
        event: Value,
    }
    match serde_json::from_slice::<Event>(line) {
        Ok(event) if event.id == json!(id) => Ok(StreamLine::Event(event.event)),
        Ok(_) | Err(_) => read_answer(id, line).map(StreamLine::End),
    }
}

/// A line of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamLine {
    /// One of many.
    Event(Value),
    /// The last one. A stream without it was cut.
    End(Result<Value, ControlError>),
}

/// Reads an answer line to the request `id`; the error is a text that says why the line is no answer to it.
pub fn read_answer(id: u64, line: &[u8]) -> Result<Result<Value, ControlError>, String> {
    #[derive(Deserialize)]
    struct Answer {
        id: Value,
        ok: bool,
        result: Option<Value>,
        error: Option<ControlError>,
    }
    let answer: Answer =
        serde_json::from_slice(line).map_err(|error| format!("no answer of this protocol: {error}"))?;
    // An error without an id is about the connection or a line that could not be read: it is for whoever asked.
    match (answer.ok, answer.result, answer.error) {
        (false, _, Some(error)) if answer.id == json!(id) || answer.id.is_null() => Ok(Err(error)),
        (true, Some(result), _) if answer.id == json!(id) => Ok(Ok(result)),
        _ => Err("no answer to this request".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_refused(line: &str, id: Value, code: ErrorCode, words: &[&str]) {
        let (got_id, command) = read_request(line.as_bytes());
        let error = command.expect_err(line);
        assert_eq!((got_id, error.code), (id, code), "{line}: {error}");
        for word in words {
            assert!(error.message.contains(word), "{word:?} is missing in {error}");
        }
    }

    #[test]
    fn request_reads_back_as_it_was_written() {
        let (id, command) = read_request(write_request(7, &Command::Status).trim_end().as_bytes());
        assert_eq!((id, command), (json!(7), Ok(Command::Status)));
    }

    #[test]
    fn line_that_is_no_request_is_refused_with_what_is_missing() {
        use ErrorCode::*;
        for line in ["", "x", "{", "\u{0}", "{\"v\":1,}", "{v:1}"] {
            check_refused(line, Value::Null, BadRequest, &["no JSON object"]);
        }
        for line in ["[]", "null", "1", "true", "\"status\"", "[{\"v\":1,\"id\":1,\"command\":\"status\"}]"] {
            check_refused(line, Value::Null, BadRequest, &["no JSON object", "expected an object"]);
        }
        let good = r#"{"v":1,"id":1,"command":"status"}"#;
        for behind in ["{}", good, " x", "]", ",", "\u{0}"] {
            check_refused(&format!("{good}{behind}"), Value::Null, BadRequest, &["trailing characters"]);
        }
        assert_eq!(read_request(format!(" {good} \t").as_bytes()), (json!(1), Ok(Command::Status)));
        check_refused(r#"{"id":1,"command":"status"}"#, json!(1), BadRequest, &["\"v\" is missing"]);
        check_refused(r#"{"v":2,"id":1,"command":"status"}"#, json!(1), UnsupportedVersion, &["version 1", "not 2"]);
        check_refused(r#"{"v":"1","id":1,"command":"status"}"#, json!(1), UnsupportedVersion, &[]);
        check_refused(r#"{"v":1,"id":[1],"command":"status"}"#, Value::Null, BadRequest, &["\"id\""]);
        check_refused(r#"{"v":1,"id":"a"}"#, json!("a"), BadRequest, &["\"command\" is missing"]);
    }

    #[test]
    fn key_that_is_given_twice_is_refused_and_named() {
        use ErrorCode::BadRequest;
        let twice = |key: &str| format!("the key \"{key}\" is given twice");
        for (line, id, key) in [
            (r#"{"v":1,"id":1,"command":"status","command":"shutdown"}"#, json!(1), "command"),
            (r#"{"v":1,"id":1,"command":"status","command":"status"}"#, json!(1), "command"),
            (r#"{"v":1,"id":1,"comm\u0061nd":"status","command":"shutdown"}"#, json!(1), "command"),
            (r#"{"v":2,"v":1,"id":1,"command":"status"}"#, json!(1), "v"),
            (r#"{"v":1,"id":1,"id":2,"command":"status"}"#, Value::Null, "id"),
            (r#"{"v":1,"id":"a","command":"exclude","domain":"a.test","domain":"b.test"}"#, json!("a"), "domain"),
            (r#"{"v":1,"id":1,"command":"status","x":{},"x":[]}"#, json!(1), "x"),
            (r#"{"command":"status","command":"pause"}"#, Value::Null, "command"),
        ] {
            check_refused(line, id, BadRequest, &[&twice(key)]);
        }
    }

    #[test]
    fn deeply_nested_line_is_refused_and_does_not_exhaust_the_stack() {
        let line = format!("{{\"v\":1,\"id\":1,\"command\":\"status\",\"x\":{}", "[".repeat(60_000));
        check_refused(&line, Value::Null, ErrorCode::BadRequest, &["recursion"]);
    }

    #[test]
    fn answers_read_back_for_their_request_only() {
        let good = write_answer(&json!(3), &Ok(json!({"a": 1})));
        assert_eq!(read_answer(3, good.as_bytes()), Ok(Ok(json!({"a": 1}))));
        assert!(read_answer(4, good.as_bytes()).is_err());
        let error = ControlError::new(ErrorCode::Busy, "later");
        assert_eq!(read_answer(3, write_answer(&Value::Null, &Err(error.clone())).as_bytes()), Ok(Err(error)));
        assert!(read_answer(3, b"{\"id\":3,\"ok\":true}").is_err());
        assert!(read_answer(3, b"hello").is_err());
    }

    #[test]
    fn stream_is_events_and_an_end() {
        let mut line = Vec::new();
        write_event(&json!(3), &json!({"event": "stored"}), &mut line);
        assert_eq!(read_event(3, &line), Ok(StreamLine::Event(json!({"event": "stored"}))));
        assert!(read_event(4, &line).is_err(), "of another request");
        let end = write_answer(&json!(3), &Ok(json!({"num_records": 2})));
        assert_eq!(read_event(3, end.as_bytes()), Ok(StreamLine::End(Ok(json!({"num_records": 2})))));
        assert!(read_event(3, b"{\"v\":1,\"id\":3,\"ev").is_err());
    }

    #[test]
    fn code_of_a_later_version_is_understood_as_an_error() {
        let line = br#"{"v":1,"id":3,"ok":false,"error":{"code":"brand_new","message":"m"}}"#;
        assert_eq!(read_answer(3, line), Ok(Err(ControlError::new(ErrorCode::Other, "m"))));
    }

    #[test]
    fn answer_that_is_too_long_says_so_instead() {
        let line = write_answer(&json!(3), &Ok(json!("x".repeat(MAX_RESPONSE_BYTES))));
        let Ok(Err(error)) = read_answer(3, line.as_bytes()) else { panic!("{} bytes were sent", line.len()) };
        assert_eq!(error.code, ErrorCode::AnswerTooLong);
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_request(&line);
            let _ = read_answer(1, &line);
        }
    }
}
