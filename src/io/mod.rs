//! The adapters: one file for each thing of the world that a port stands for.

pub mod answer_head;
pub mod body_framing;
pub mod connector;
pub mod decode;
pub mod exchange;
pub mod fetch;
pub mod head_filter;
pub mod host_overrides;
pub mod limits;
pub mod network;
pub mod request_head;
pub mod resolver;
pub mod tls;
