//! One adapter a file or folder: each carries out a port of `lohisoftbot-actors` on a real disk or network.

pub mod data_dir;
pub mod durable;
pub mod ledger_files;
pub mod sled_store;
