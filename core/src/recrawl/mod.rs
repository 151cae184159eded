//! When a site is crawled again: how long its interval is, and what an operator's wish to come sooner may do.
//!
//! [`interval`] lets each site's interval follow how much of what is stored of it changed; [`order`] says what becomes of `recrawl SITE`.
//! What is deliberately not here: the promise itself. The moment before which no further cycle begins is written to the ledger when a
//! cycle opens ([`crate::ledger::SiteEvent::CycleOpened`]), and nothing in here moves it (P1).

pub mod interval;
pub mod order;
