//! The site's state machine.
