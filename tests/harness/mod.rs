//! What all tests share: a practice web with a node's settings for it (`rig`), processes that end with their test (`process`), a server
//! on addresses that may not be reached (`plain_server`), and a search for words in everything that is left on the disk (`traces`).

mod plain_server;
mod process;
mod rig;
mod traces;

pub use plain_server::{PlainServer, Visit};
pub use process::{Ran, RunningNode, node_binary, run_binary};
pub use rig::{Rig, quick_config, write_config};
pub use traces::{files_with_trace, holds_trace};
