//! The actors of LohiSoftBot: they carry out what `lohisoftbot-core` decides, through ports.
//!
//! The way of a page: [`frontier`] starts a [`host`] actor, which asks its state what to do, makes the ticket durable in the [`ledger`],
//! sends the request through a port, and hands the page to an [`extractor`]; that drops the body and sends the record to the [`index`].
//!
//! Invariant: nothing here knows awc, sled, the file system or a socket; the adapters in the root package do.

#![deny(missing_docs)]

pub mod address_gate;
pub mod clock;
pub mod events;
pub mod extractor;
pub mod frontier;
pub mod host;
pub mod index;
pub mod ledger;
pub mod permits;
pub mod ports;
pub mod search;
pub mod stats;
pub mod storage;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;
