//! Who the crawler says it is.
