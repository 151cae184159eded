//! The node: binaries, wiring and adapters around the actors and the rules.

pub mod check;
pub mod cli;
pub mod config_file;
pub mod control;
pub mod ctl;
pub mod io;
pub mod seeds_file;
pub mod telemetry;
