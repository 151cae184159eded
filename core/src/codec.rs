//! Stored values: one version byte, then bincode 2 with a size limit, all bytes consumed.
//!
//! bincode knows no schema evolution: a changed type is a new version with a reader for the old one.

use bincode::config::{self, Configuration, Fixint, Limit, LittleEndian};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest stored value, in bytes.
pub const MAX_VALUE_BYTES: usize = 1 << 20;

/// A value could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// No byte at all.
    #[error("the value is empty")]
    Empty,
    /// Written by a newer program.
    #[error("the value has version {found}, this program reads up to {known}")]
    UnknownVersion {
        /// Version found.
        found: u8,
        /// Newest version known.
        known: u8,
    },
    /// The bytes do not make a value of this type.
    #[error("the value is damaged: {0}")]
    Damaged(String),
    /// Bytes are left over after the value.
    #[error("the value is damaged: {0} bytes left over")]
    LeftOver(usize),
    /// The value is larger than [`MAX_VALUE_BYTES`].
    #[error("the value is too large to be stored: {0}")]
    TooLarge(String),
}

fn layout() -> Configuration<LittleEndian, Fixint, Limit<MAX_VALUE_BYTES>> {
    config::standard().with_fixed_int_encoding().with_limit::<MAX_VALUE_BYTES>()
}

/// A type that is stored, with the version its current form is written under.
pub trait Stored: Serialize + DeserializeOwned {
    /// Version byte of the current form.
    const VERSION: u8;

    /// Reads the body of an older version; the default knows none.
    fn from_older(version: u8, _body: &[u8]) -> Result<Self, CodecError> {
        Err(CodecError::UnknownVersion { found: version, known: Self::VERSION })
    }
}

/// The bytes of a stored value.
pub fn encode<T: Stored>(value: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = vec![T::VERSION];
    let body = encode_body(value)?;
    if body.len() >= MAX_VALUE_BYTES {
        return Err(CodecError::TooLarge(format!("{} bytes", body.len())));
    }
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// The same without a version byte, for what is compared and not stored.
pub(crate) fn encode_body<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    bincode::serde::encode_to_vec(value, layout()).map_err(|e| CodecError::TooLarge(e.to_string()))
}

/// The value of stored bytes.
pub fn decode<T: Stored>(bytes: &[u8]) -> Result<T, CodecError> {
    let (&version, body) = bytes.split_first().ok_or(CodecError::Empty)?;
    if version == T::VERSION { decode_body(body) } else { T::from_older(version, body) }
}

/// Reads a body without its version byte; for readers of older versions too.
pub fn decode_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, CodecError> {
    let (value, used) =
        bincode::serde::decode_from_slice(body, layout()).map_err(|e| CodecError::Damaged(e.to_string()))?;
    if used == body.len() { Ok(value) } else { Err(CodecError::LeftOver(body.len() - used)) }
}

impl Stored for crate::record::PageRecord {
    const VERSION: u8 = 1;
}

impl Stored for crate::record::InlinkRow {
    const VERSION: u8 = 1;
}

impl Stored for crate::exclusion::Exclusion {
    const VERSION: u8 = 1;
}
