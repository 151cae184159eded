//! The head of an answer as the rules see it: a status and its header fields, values as raw bytes.

use serde::{Deserialize, Serialize};

/// Status code and header fields of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    /// The status code; codes outside 100 to 599 occur in the wild.
    pub status: u16,
    fields: Vec<(Box<str>, Box<[u8]>)>,
}

impl ResponseHead {
    /// A head without fields.
    pub fn new(status: u16) -> Self {
        Self { status, fields: Vec::new() }
    }

    /// Adds a field; the name is lowered, the value kept as it came (RFC 9110 §5.1: names are case-insensitive).
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.fields.push((name.to_ascii_lowercase().into(), value.into()));
    }

    /// The same, for building a head in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.push(name, value.as_ref());
        self
    }

    /// The values of every field of that name (lower case), in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.fields.iter().filter(move |(n, _)| &**n == name).map(|(_, v)| &**v)
    }

    /// The first value of that name (lower case) as text, bytes that are not UTF-8 replaced; trimmed.
    pub fn first(&self, name: &str) -> Option<String> {
        self.all(name).next().map(|v| String::from_utf8_lossy(v).trim().to_owned())
    }

    /// Every field, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(n, v)| (&**n, &**v))
    }
}
