//! In-memory twins of the ports, the suites that twin and adapter must both pass, and a whole node of twins on a clock that a test moves.

pub mod memory_storage;
pub mod storage_contract;

pub mod disk;
pub mod manners;
pub mod node;
pub mod web;
