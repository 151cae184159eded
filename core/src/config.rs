//! The settings of a node, checked.
