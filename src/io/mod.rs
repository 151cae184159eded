//! The adapters: one file for each thing of the world that a port stands for.

pub mod answer_head;
pub mod body_framing;
pub mod limits;
