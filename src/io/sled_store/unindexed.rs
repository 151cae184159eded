//! Which sites the search index has to look at again, so that it catches up with the store and is never built anew for it.
//!
//! A mark names a site and the last change that touched its pages or links to them. Marks are made from the writes of a transaction
//! themselves, so none can be forgotten; they go when the index has committed what it read at that very change. The index reads only what is
//! durable, so a crash at any moment leaves either the mark, or an index that has the change: it never knows more than the store.
//!
//! Invariant: a site's entries in an index whose last commit is noted here are what the store has of it, unless the site is marked.

use std::collections::BTreeSet;

use lohisoftbot_actors::storage::{StoreError, UnindexedSite};
use lohisoftbot_core::codec::Stored;
use lohisoftbot_core::key;
use lohisoftbot_core::site::Site;
use serde::{Deserialize, Serialize};

use super::SledStore;
use super::plan::Writes;
use super::state::{Counts, INDEXED_KEY};
use super::trees::{self, TreeName, Trees};

/// A mark: the change that touched the site last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnindexedMark {
    change_seq: u64,
}

impl Stored for UnindexedMark {
    const VERSION: u8 = 1;
}

/// The change number that the last noted commit of the index carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NotedCommit {
    commit_seq: u64,
}

impl Stored for NotedCommit {
    const VERSION: u8 = 1;
}

/// Adds marks for what `writes` touch, which become change `change_seq`.
pub fn mark(trees: &Trees, writes: &mut Writes, counts: &mut Counts, change_seq: u64) -> Result<(), StoreError> {
    let mut touched = BTreeSet::new();
    for (tree, key) in writes.keys() {
        let Some(site) = site_part(key) else { continue };
        match tree {
            TreeName::Pages => {
                touched.insert(site.to_vec());
            }
            // Most links lead to sites of which no page is stored. Should one come, it marks its site itself.
            TreeName::Inlinks if !touched.contains(site) && trees.scan(TreeName::Pages, site).next().is_some() => {
                touched.insert(site.to_vec());
            }
            TreeName::Inlinks
            | TreeName::Meta
            | TreeName::Sites
            | TreeName::Due
            | TreeName::Frontier
            | TreeName::Robots
            | TreeName::Exclusions
            | TreeName::Expiries
            | TreeName::Unindexed => {}
        }
    }
    let mark = encode(&UnindexedMark { change_seq })?;
    for site in touched {
        if trees.get(TreeName::Unindexed, &site)?.is_none() {
            counts.rows[TreeName::Unindexed.index()] += 1;
        }
        writes.insert((TreeName::Unindexed, site), Some(mark.clone()));
    }
    Ok(())
}

/// The part of a key that all rows of its site share.
fn site_part(key: &[u8]) -> Option<&[u8]> {
    let end = key.get(2..)?.iter().position(|byte| *byte == 0)? + 3;
    key.get(..end)
}

fn encode<T: Stored>(value: &T) -> Result<Vec<u8>, StoreError> {
    lohisoftbot_core::codec::encode(value)
        .map_err(|source| StoreError::Unstorable { tree: TreeName::Unindexed.as_str(), source })
}

impl SledStore {
    /// Marks in key order, those behind `after`.
    pub(super) fn marks_after(
        &self,
        after: Option<&Site>,
    ) -> impl Iterator<Item = Result<UnindexedSite, StoreError>> + use<> {
        let from = after.map(trees::behind_site).unwrap_or_default();
        self.trees.scan_from(TreeName::Unindexed, &from).filter_map(|row| {
            let read = |(key, bytes): (sled::IVec, sled::IVec)| {
                let mark: UnindexedMark = trees::decode(TreeName::Unindexed, &key, &bytes)?;
                Ok(trees::site_of_key(&key).map(|site| UnindexedSite { site, change_seq: mark.change_seq }))
            };
            row.and_then(read).transpose()
        })
    }

    /// Sites with stored pages in key order, those behind `after`.
    pub(super) fn page_sites(&self, after: Option<&Site>) -> impl Iterator<Item = Result<Site, StoreError>> + use<> {
        let (trees, mut from) = (self.trees.clone(), after.map(trees::behind_site).unwrap_or_default());
        std::iter::from_fn(move || {
            loop {
                let key = match trees.scan_from(TreeName::Pages, &from).next()? {
                    Ok((key, _)) => key,
                    Err(error) => return Some(Err(error)),
                };
                match trees::site_of_key(&key) {
                    Some(site) => {
                        from = trees::behind_site(&site);
                        return Some(Ok(site));
                    }
                    None => from = [key.as_ref(), &[0]].concat(),
                }
            }
        })
    }

    /// Takes marks away that are still those of these changes, and notes the commit.
    pub(super) fn take_marks(&mut self, done: &[UnindexedSite], commit_seq: u64) -> Result<(), StoreError> {
        let mut plan = self.plan();
        for UnindexedSite { site, change_seq } in done {
            let key = key::site_prefix(site);
            let mark = plan.value::<UnindexedMark>(TreeName::Unindexed, &key)?;
            if mark == Some(UnindexedMark { change_seq: *change_seq }) {
                plan.remove(TreeName::Unindexed, key)?;
            }
        }
        plan.put_value(TreeName::Meta, INDEXED_KEY.to_vec(), &NotedCommit { commit_seq })?;
        let planned = plan.finish();
        self.commit(planned)
    }

    /// The change number that the last noted commit carried.
    pub(super) fn noted_commit(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.trees.value::<NotedCommit>(TreeName::Meta, INDEXED_KEY)?.map(|noted| noted.commit_seq))
    }

    /// No index is known to fit this store any more.
    pub(super) fn forget_commit(&mut self) -> Result<(), StoreError> {
        let mut plan = self.plan();
        plan.remove(TreeName::Meta, INDEXED_KEY.to_vec())?;
        let planned = plan.finish();
        self.commit(planned)
    }
}
