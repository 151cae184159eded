//! A thorough look at every row: each must read, lie under its own key, and agree with the rows it belongs to.

use std::fmt;

use lohisoftbot_actors::storage::{RecordStore, StoreError};
use lohisoftbot_core::exclusion::Exclusion;
use lohisoftbot_core::record::{InlinkRow, PageRecord};
use lohisoftbot_core::site_row::{MAX_PAGES_PER_SITE, SiteFrontier, SiteRow};

use super::SledStore;
use super::site_change::RobotsPiece;
use super::state::Counts;
use super::trees::{self, TreeName, due_key, expiry_key, inlink_key, page_key};

/// Something is wrong with a row, or with a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowProblem {
    /// In which tree.
    pub tree: TreeName,
    /// The row's key, printable; empty for a count.
    pub key: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tree `{}`, key `{}`: {}", self.tree.as_str(), self.key, self.what)
    }
}

impl SledStore {
    /// Reads every row and hands each problem to `report`. An `Err` means that sled itself gave up.
    pub fn verify(&self, report: &mut dyn FnMut(RowProblem)) -> Result<(), StoreError> {
        let mut counts = Counts::default();
        self.verify_pages(report)?;
        self.verify_expiries(report)?;
        self.verify_inlinks(&mut counts, report)?;
        self.verify_sites(&mut counts, report)?;
        self.each::<SiteFrontier>(TreeName::Frontier, report, |_, piece| {
            counts.num_frontier_urls += piece.entries.len() as u64;
            Ok(None)
        })?;
        self.each::<RobotsPiece>(TreeName::Robots, report, |_, _| Ok(None))?;
        self.each::<Exclusion>(TreeName::Exclusions, report, |_, _| Ok(None))?;
        let stored = self.state.counts;
        let mut compare = |tree, what: &str, found: u64, wanted: u64| {
            if found != wanted {
                report(RowProblem {
                    tree,
                    key: String::new(),
                    what: format!("{found} {what} where {wanted} are counted"),
                });
            }
        };
        compare(TreeName::Inlinks, "links", counts.num_links, stored.num_links);
        compare(TreeName::Frontier, "URLs", counts.num_frontier_urls, stored.num_frontier_urls);
        if counts.standing != stored.standing {
            let what = format!("sites stand {:?} where {:?} is counted", counts.standing, stored.standing);
            report(RowProblem { tree: TreeName::Sites, key: String::new(), what });
        }
        Ok(())
    }

    fn verify_pages(&self, report: &mut dyn FnMut(RowProblem)) -> Result<(), StoreError> {
        self.each::<PageRecord>(TreeName::Pages, report, |key, record| {
            if page_key(&record.url) != key {
                return Ok(Some(format!("holds the record of {}", record.url)));
            }
            if self.exclusions.covers_host(record.url.host()) {
                return Ok(Some("its host is excluded".to_owned()));
            }
            if let Some(at) = record.unavailable_after
                && self.trees.get(TreeName::Expiries, &expiry_key(at, key))?.is_none()
            {
                return Ok(Some("expires, but has no place among the expiries".to_owned()));
            }
            for target in &record.target_sites {
                if self.trees.get(TreeName::Inlinks, &inlink_key(target, &record.url))?.is_none() {
                    return Ok(Some(format!("names {target}, but no links to it are stored")));
                }
            }
            Ok(None)
        })
    }

    fn verify_expiries(&self, report: &mut dyn FnMut(RowProblem)) -> Result<(), StoreError> {
        for row in self.trees.scan(TreeName::Expiries, &[]) {
            let key = row?.0;
            if self.expiry_of_key(&key)?.is_none() {
                let what = "no stored page expires then".to_owned();
                report(RowProblem { tree: TreeName::Expiries, key: trees::printable(&key), what });
            }
        }
        Ok(())
    }

    fn verify_inlinks(&self, counts: &mut Counts, report: &mut dyn FnMut(RowProblem)) -> Result<(), StoreError> {
        self.each::<InlinkRow>(TreeName::Inlinks, report, |key, row| {
            counts.num_links += row.links.len() as u64;
            let Some(target) = trees::site_of_key(key) else { return Ok(Some("its key names no site".to_owned())) };
            if inlink_key(&target, &row.source) != key {
                return Ok(Some(format!("holds the links of {}", row.source)));
            }
            if let Some(link) = row.links.iter().find(|link| link.target.site() != target) {
                return Ok(Some(format!("holds a link to {}", link.target)));
            }
            let source: Option<PageRecord> = self.trees.value(TreeName::Pages, &page_key(&row.source))?;
            let named = source.is_some_and(|source| source.target_sites.contains(&target));
            Ok((!named).then(|| "no stored page names these links".to_owned()))
        })
    }

    fn verify_sites(&self, counts: &mut Counts, report: &mut dyn FnMut(RowProblem)) -> Result<(), StoreError> {
        self.each::<SiteRow>(TreeName::Sites, report, |_, row| {
            *counts.of_standing(row.standing) += 1;
            let num_pages = self.pages_of(&row.site)?.len();
            if num_pages != usize::from(row.num_pages) || num_pages > MAX_PAGES_PER_SITE {
                return Ok(Some(format!("counts {} pages, {num_pages} are stored", row.num_pages)));
            }
            let Some(due) = due_key(&row) else { return Ok(None) };
            let is_due = self.trees.get(TreeName::Due, &due)?.is_some();
            Ok((!is_due).then(|| "has no place among the due".to_owned()))
        })
    }

    /// Reads each row of a tree; what does not read is a problem, and so is what `check` finds.
    fn each<T: lohisoftbot_core::codec::Stored>(
        &self,
        tree: TreeName,
        report: &mut dyn FnMut(RowProblem),
        mut check: impl FnMut(&[u8], T) -> Result<Option<String>, StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.trees.scan(tree, &[]) {
            let (key, bytes) = row?;
            let problem = match lohisoftbot_core::codec::decode::<T>(&bytes) {
                Ok(value) => check(&key, value)?,
                Err(error) => Some(error.to_string()),
            };
            if let Some(what) = problem {
                report(RowProblem { tree, key: trees::printable(&key), what });
            }
        }
        Ok(())
    }
}
