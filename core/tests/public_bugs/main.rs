//! Symptoms that users of other crawlers reported in public, shown not to be ours.
//!
//! Each row names where it was reported, as `owner/repo#number`; input and wanted behaviour are in our own words. What needs a whole
//! node stands in the tests of the actors, under the same name.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod page;
mod robots;
mod sitemap;
mod urls;
