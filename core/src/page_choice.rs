//! Which URL of a site's queue is asked for next.
