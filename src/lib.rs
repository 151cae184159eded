//! The node: binaries, wiring and adapters around the actors and the rules.

pub mod check;
pub mod cli;
pub mod config_file;
pub mod control;
pub mod ctl;
pub mod demo;
pub mod dump;
pub mod inspect;
pub mod io;
pub mod node;
pub mod practice_web;
pub mod seeds_file;
pub mod telemetry;
pub mod web;
