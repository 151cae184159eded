//! Asks the running binaries, and looks at the other side of the wire: the practice web lives in this process and keeps its request
//! log while nodes come and go.
//!
//! Nothing here waits for a clock: a test goes on when the log, an answer of the control socket or the end of a process says so, and
//! only a process that hangs meets a limit. Tests run side by side, each on loopback addresses, ports and folders of its own.
#![allow(clippy::unwrap_used)]

mod account;
mod addresses;
mod commands;
mod control;
mod crash;
mod dry_run;
mod exclusion;
mod explained;
mod freshness;
mod harness;
mod identity;
mod links_mode;
mod one_site;
mod refusals;
mod search;
mod search_page;
mod shared_address;
mod traps;
mod whole_web;
