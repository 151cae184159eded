//! The adapters: each carries out a port of `lohisoftbot-actors` on a real disk or network; one idea a file or folder.

pub mod answer_head;
pub mod answer_memory;
pub mod body_framing;
pub mod connector;
pub mod data_dir;
pub mod decode;
pub mod durable;
pub mod exchange;
pub mod fetch;
pub mod head_filter;
pub mod host_overrides;
pub mod ledger_files;
pub mod limits;
pub mod network;
pub mod request_head;
pub mod resolver;
pub mod search_index;
pub mod sled_store;
pub mod tls;
