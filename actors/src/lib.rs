//! The actors of LohiSoftBot: they carry out what `lohisoftbot-core` decides, through ports.
//!
//! Invariant: nothing here knows awc, sled, the file system or a socket; the adapters in the root package do.

#![deny(missing_docs)]

pub mod ports;
pub mod storage;
pub mod testkit;
