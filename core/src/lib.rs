//! The rules of LohiSoftBot: what may be asked of a site, when, and what is kept of the answer.
//!
//! Everything here is a pure value or a pure function. There is no I/O, no clock and no randomness: `now` is a parameter, a random
//! number is passed in. The carriers (`lohisoftbot-actors`) ask, and do what the returned value says.
//!
//! Invariant: nothing in this crate depends on actix, tokio, awc, sled, the file system or the network.

#![deny(missing_docs)]

pub mod address;
pub mod address_gate;
pub mod audit;
pub mod backoff;
pub mod barrier;
pub mod budget;
pub mod charset;
pub mod codec;
pub mod config;
pub mod content_usage;
pub mod directives;
pub mod discovery;
pub mod exclusion;
pub mod extract;
pub mod forecast;
pub mod http_date;
pub mod identity;
pub mod key;
pub mod language;
pub mod ledger;
pub mod link;
mod older;
pub mod origin;
pub mod outcome;
pub mod page_choice;
pub mod politeness;
pub mod record;
pub mod recrawl;
pub mod response;
pub mod retry_after;
pub mod robots;
pub mod search;
pub mod seed;
pub mod site;
pub mod site_row;
pub mod sitemap;
pub mod time;
pub mod url;
