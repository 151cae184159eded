//! The control socket: how an operator speaks to a running node.
//!
//! A Unix socket (mode 0600, the peer's user checked) that carries JSON lines. Bytes (`frame`), the wire form of
//! requests and answers (`message`), commands (`command`) and connections (`server`, `client`) are apart; what a
//! command does is the business of whoever implements [`NodeControl`]. A peer can cost the node no more than a bounded
//! number of connections and one line each.

pub mod client;
pub mod command;
pub mod frame;
pub mod line_sink;
pub mod message;
pub mod server;
pub mod socket;

pub use client::{ClientError, ControlClient, StreamEnd};
pub use command::{AskedUrl, Command, SiteFilter};
pub use line_sink::{Gone, LineSink};
pub use message::{ControlError, ErrorCode};
pub use server::{NodeControl, serve};
pub use socket::{ControlSocket, SocketError};
