//! In-memory twins of the ports, the suites that twin and adapter must both pass, and a whole node of twins on a clock that a test moves.

pub mod memory_storage;
pub mod storage_contract;

#[cfg(feature = "testkit")]
pub mod disk;
#[cfg(feature = "testkit")]
pub mod manners;
#[cfg(feature = "testkit")]
pub mod node;
#[cfg(feature = "testkit")]
pub mod web;
