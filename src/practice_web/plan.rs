//! What a practice web is asked to be: its seed, its size, its faults, its canary words.

use std::{net::Ipv4Addr, path::PathBuf};

use super::{faults::Faults, freshness::Epochs};

/// Words that a test looks for after a crawl. ASCII letters only, so that every charset and every escape leaves them alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canaries {
    /// Stands in paragraphs of every page, and never in a title, a heading, a link, an attribute or a meta element.
    pub paragraph: String,
    /// Stands in the title of one page, linked from its home page: the control that shows the search for words works.
    pub title: String,
    /// Stands in a paragraph of one page whose body element has `data-fail-point="panic"`.
    pub panic: String,
}

impl Default for Canaries {
    fn default() -> Self {
        Self { paragraph: "zyqvexparagraph".into(), title: "zyqvextitle".into(), panic: "zyqvexpanic".into() }
    }
}

/// What to generate. The same plan gives the same sites; with the same ports it also gives the same bytes, the `Date` and
/// `Retry-After` dates aside.
#[derive(Clone, Debug)]
pub struct PracticePlan {
    /// Seed of every choice.
    pub seed: u64,
    /// How many sites. From 60 on, every robots fault has a site of its own and most sites are plain.
    pub num_sites: usize,
    /// How many of them share one address. The others have one each.
    pub num_shared_address_sites: usize,
    /// Fewest and most ordinary pages a site, the home page included.
    pub pages_per_site: (usize, usize),
    /// The address before the first one used; it must leave room for `num_sites` within 127.0.0.0/8.
    pub base_address: Ipv4Addr,
    /// A fixed port for http; `None` takes one that is free on all addresses.
    pub http_port: Option<u16>,
    /// A fixed port for https; `None` takes one that is free on all addresses.
    pub https_port: Option<u16>,
    /// Which faults to show.
    pub faults: Faults,
    /// Whether pages live on after a first crawl.
    pub epochs: Epochs,
    /// Canary words, if any; the page that makes extraction panic exists only with them.
    pub canaries: Option<Canaries>,
    /// Where to append the request log as JSON lines, if anywhere.
    pub log_file: Option<PathBuf>,
}

impl PracticePlan {
    /// The web of the demo: 64 sites, all faults but the long ones, no canary words.
    pub fn demo(seed: u64) -> Self {
        Self {
            seed,
            num_sites: 64,
            num_shared_address_sites: 6,
            pages_per_site: (12, 60),
            base_address: Ipv4Addr::new(127, 61, 0, 0),
            http_port: None,
            https_port: None,
            faults: Faults::demo(),
            epochs: Epochs::One,
            canaries: None,
            log_file: None,
        }
    }

    /// A small web without faults, for tests that add what they need.
    pub fn small(seed: u64, num_sites: usize) -> Self {
        Self { num_sites, num_shared_address_sites: 0, faults: Faults::none(), ..Self::demo(seed) }
    }
}
