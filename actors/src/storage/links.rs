//! From the links of a page to the rows they are stored in: one row a target site, nothing excluded, nothing oversized.

use std::collections::BTreeMap;

use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::record::{InlinkRow, PageRecord, StoredLink};
use lohisoftbot_core::site::Site;

/// Largest row of links from one page to one site, in bytes of URLs and texts; later links are left out. Keeps hostile pages from
/// making rows that the store would have to put into files of their own.
pub const MAX_INLINK_ROW_BYTES: usize = 32 << 10;

/// The links of a page as they go into the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmittedLinks {
    /// One row a target site.
    pub rows: BTreeMap<Site, InlinkRow>,
    /// Links stored.
    pub num_kept: u64,
    /// Links left out because their target is excluded.
    pub num_excluded: u64,
    /// Links left out because their row is full.
    pub num_over_cap: u64,
}

/// Sorts the links of `record` into rows by target site; leaves out excluded targets and what is over the cap.
pub fn admit_links(record: &PageRecord, links: Vec<StoredLink>, exclusions: &Exclusions) -> AdmittedLinks {
    let mut admitted = AdmittedLinks::default();
    let mut row_bytes: BTreeMap<Site, usize> = BTreeMap::new();
    for link in links {
        if exclusions.covers_host(link.target.host()) {
            admitted.num_excluded += 1;
            continue;
        }
        let site = link.target.site();
        let bytes = row_bytes.entry(site.clone()).or_default();
        let with_link = *bytes + link.target.as_str().len() + link.text.len();
        if with_link > MAX_INLINK_ROW_BYTES {
            admitted.num_over_cap += 1;
            continue;
        }
        *bytes = with_link;
        admitted.num_kept += 1;
        let empty = || InlinkRow { source: record.url.clone(), fetched_at: record.fetched_at, links: Vec::new() };
        admitted.rows.entry(site).or_insert_with(empty).links.push(link);
    }
    admitted
}
