//! Reading the store in bulk: whole trees or one site's part, row by row, for dumps, exports and rebuilds.

use lohisoftbot_actors::storage::{DueSite, StoreError};
use lohisoftbot_core::key;
use lohisoftbot_core::page_choice::FrontierEntry;
use lohisoftbot_core::record::{InlinkRow, PageRecord};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteFrontier, SiteRow};
use sled::IVec;

use super::SledStore;
use super::trees::{self, TreeName};

impl SledStore {
    /// Page records, of one site or of all, in key order.
    pub fn pages(&self, site: Option<&Site>) -> impl Iterator<Item = Result<PageRecord, StoreError>> + use<> {
        self.trees.values(TreeName::Pages, &prefix(site)).map(|row| row.map(|(_, record)| record))
    }

    /// Rows of links with their target site, of one target site or of all, in key order.
    pub fn inlink_rows(
        &self,
        site: Option<&Site>,
    ) -> impl Iterator<Item = Result<(Site, InlinkRow), StoreError>> + use<> {
        with_site(self.trees.values(TreeName::Inlinks, &prefix(site)))
    }

    /// Rows of sites, of one or of all, in key order.
    pub fn site_rows(&self, site: Option<&Site>) -> impl Iterator<Item = Result<SiteRow, StoreError>> + use<> {
        self.trees.values(TreeName::Sites, &prefix(site)).map(|row| row.map(|(_, row)| row))
    }

    /// Rows of sites in key order, those behind `after`.
    pub(super) fn site_rows_after(
        &self,
        after: Option<&Site>,
    ) -> impl Iterator<Item = Result<SiteRow, StoreError>> + use<> {
        let from = after.map(trees::behind_site).unwrap_or_default();
        self.trees.scan_from(TreeName::Sites, &from).map(|row| {
            let (key, bytes) = row?;
            trees::decode(TreeName::Sites, &key, &bytes)
        })
    }

    /// Queue entries with their site, of one site or of all.
    pub fn frontier_entries(
        &self,
        site: Option<&Site>,
    ) -> impl Iterator<Item = Result<(Site, FrontierEntry), StoreError>> + use<> {
        with_site::<SiteFrontier>(self.trees.values(TreeName::Frontier, &prefix(site))).flat_map(|piece| {
            let (error, entries, site) = match piece {
                Ok((site, piece)) => (None, piece.entries, Some(site)),
                Err(error) => (Some(Err(error)), Vec::new(), None),
            };
            let entries = entries.into_iter().filter_map(move |entry| Some(Ok((site.clone()?, entry))));
            error.into_iter().chain(entries)
        })
    }

    /// Sites in the order they are due; live and paused ones are not among them.
    pub fn due_sites(&self) -> impl Iterator<Item = Result<DueSite, StoreError>> + use<> {
        // Live sites stand behind all others.
        self.trees.scan(TreeName::Due, &[]).map_while(|row| {
            row.map(|(key, _)| trees::parse_due_key(&key).map(|(due_at, site)| DueSite { due_at, site })).transpose()
        })
    }

    /// Keys and bytes of a tree, those whose key begins with `prefix`.
    pub fn raw_rows(
        &self,
        tree: TreeName,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> + use<> {
        self.trees.scan(tree, prefix)
    }

    /// Rows of a tree, as counted with each change; for `meta`, which is not counted, as it is.
    pub fn num_rows(&self, tree: TreeName) -> Result<u64, StoreError> {
        if tree != TreeName::Meta {
            return Ok(self.state.counts.rows[tree.index()]);
        }
        self.trees.scan(tree, &[]).try_fold(0, |count, row| row.map(|_| count + 1))
    }
}

fn prefix(site: Option<&Site>) -> Vec<u8> {
    site.map(key::site_prefix).unwrap_or_default()
}

fn with_site<T>(
    rows: impl Iterator<Item = Result<(IVec, T), StoreError>>,
) -> impl Iterator<Item = Result<(Site, T), StoreError>> {
    rows.filter_map(|row| row.map(|(key, value)| Some((trees::site_of_key(&key)?, value))).transpose())
}
