//! A plan: the writes of one transaction, gathered before it runs.
//!
//! sled's transactions cannot scan, so a change first reads and plans, seeing its own writes, then commits all at once. What it read
//! still holds at the commit, because the transaction refuses unless the store's change number is the one the plan was read under.

use std::collections::{BTreeMap, BTreeSet};

use lohisoftbot_actors::storage::StoreError;
use lohisoftbot_core::codec::{self, Stored};

use super::state::Counts;
use super::trees::{self, TreeName, Trees};

/// The writes of a plan by tree and key; `None` removes the row.
pub type Writes = BTreeMap<(TreeName, Vec<u8>), Option<Vec<u8>>>;

/// Writes being gathered.
#[derive(Debug)]
pub struct Plan<'a> {
    trees: &'a Trees,
    writes: Writes,
    /// The counts after the plan. Rows are counted here; what is in rows, by who writes them.
    pub counts: Counts,
}

impl<'a> Plan<'a> {
    /// An empty plan on top of what is stored.
    pub fn new(trees: &'a Trees, counts: Counts) -> Self {
        Self { trees, writes: Writes::new(), counts }
    }

    /// The writes and the counts after them.
    pub fn finish(self) -> (Writes, Counts) {
        (self.writes, self.counts)
    }

    /// A row as it will be.
    pub fn get(&self, tree: TreeName, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match self.writes.get(&(tree, key.to_vec())) {
            Some(planned) => Ok(planned.clone()),
            None => Ok(self.trees.get(tree, key)?.map(|bytes| bytes.to_vec())),
        }
    }

    /// A row as it will be, read.
    pub fn value<T: Stored>(&self, tree: TreeName, key: &[u8]) -> Result<Option<T>, StoreError> {
        self.get(tree, key)?.map(|bytes| trees::decode(tree, key, &bytes)).transpose()
    }

    /// The keys that will begin with `prefix`, in order.
    pub fn keys(&self, tree: TreeName, prefix: &[u8]) -> Result<BTreeSet<Vec<u8>>, StoreError> {
        let mut keys = BTreeSet::new();
        for row in self.trees.scan(tree, prefix) {
            keys.insert(row?.0.to_vec());
        }
        let planned = self.writes.range((tree, prefix.to_vec())..);
        for ((_, key), write) in planned.take_while(|((other, key), _)| *other == tree && key.starts_with(prefix)) {
            match write {
                Some(_) => keys.insert(key.clone()),
                None => keys.remove(key),
            };
        }
        Ok(keys)
    }

    /// Writes a row.
    pub fn put(&mut self, tree: TreeName, key: Vec<u8>, bytes: Vec<u8>) -> Result<(), StoreError> {
        match self.get(tree, &key)? {
            Some(same) if same == bytes => return Ok(()),
            Some(_) => {}
            None => self.counts.rows[tree.index()] += 1,
        }
        self.writes.insert((tree, key), Some(bytes));
        Ok(())
    }

    /// Writes a row from its value.
    pub fn put_value<T: Stored>(&mut self, tree: TreeName, key: Vec<u8>, value: &T) -> Result<(), StoreError> {
        let bytes = codec::encode(value).map_err(|source| StoreError::Unstorable { tree: tree.as_str(), source })?;
        self.put(tree, key, bytes)
    }

    /// Removes a row, if it is there.
    pub fn remove(&mut self, tree: TreeName, key: Vec<u8>) -> Result<(), StoreError> {
        if self.get(tree, &key)?.is_some() {
            let rows = &mut self.counts.rows[tree.index()];
            *rows = rows.saturating_sub(1);
            self.writes.insert((tree, key), None);
        }
        Ok(())
    }
}
