//! Searching: the port of the index.

mod port;

pub use port::{IndexStanding, IndexStats, SearchIndex, SearchIndexError, SearchReader};
