//! The pages as a visitor meets them: real sockets on the loopback, before an index that answers as it is told.

mod calls;
mod clients;
mod fake;
mod hostile;
mod logged;
mod rig;
mod states;
mod transport;
