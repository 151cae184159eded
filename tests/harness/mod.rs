//! What all tests share: a practice web with a node's settings for it (`rig`), processes that end with their test (`process`), and a
//! search for words in everything that is left on the disk (`traces`).

mod process;
mod rig;

pub use process::{Ran, RunningNode, ctl_binary, node_binary, run_binary};
pub use rig::{Rig, quick_config, write_config};
