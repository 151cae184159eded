//! In-memory twins of the ports, and the suites that twin and adapter must both pass.

pub mod memory_storage;
pub mod storage_contract;
