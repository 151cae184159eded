//! Pages by the time from which on they must not be kept (`unavailable_after`).
//!
//! Rows come and go with the records, in the same transactions (see `page_change`). The record decides all the same: a row without a record
//! that says so is passed over when it comes up, and `verify` tells of it.

use lohisoftbot_actors::storage::StoreError;
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::SledStore;
use super::plan::Writes;
use super::state::StoreState;
use super::trees::{self, TreeName, expiry_key, parse_expiry_key};

/// Records looked at in one transaction.
const BATCH_ROWS: usize = 256;

impl SledStore {
    /// Stored pages that expire and when, the first to expire first.
    pub(super) fn expiries(&self) -> impl Iterator<Item = Result<(Timestamp, PageUrl), StoreError>> {
        let rows = self.trees.scan(TreeName::Expiries, &[]);
        rows.filter_map(|row| row.and_then(|(key, _)| self.expiry_of_key(&key)).transpose())
    }

    /// What a row in `expiries` says, if the record that it stands for is stored and says the same.
    pub(super) fn expiry_of_key(&self, key: &[u8]) -> Result<Option<(Timestamp, PageUrl)>, StoreError> {
        let Some((at, page_key)) = parse_expiry_key(key) else { return Ok(None) };
        let record = self.trees.value::<PageRecord>(TreeName::Pages, page_key)?;
        Ok(record.filter(|record| record.unavailable_after == Some(at)).map(|record| (at, record.url)))
    }

    /// Enters the pages of a store that was written before there was such a tree: once, in batches. After a crash in between it is done
    /// again from the start, for only the last transaction says that all are in.
    pub(super) fn enter_expiries(&mut self) -> Result<(), StoreError> {
        if self.state.expiries_entered {
            return Ok(());
        }
        let mut from = Vec::new();
        loop {
            let mut plan = self.plan();
            let mut last = None;
            for row in self.trees.scan_from(TreeName::Pages, &from).take(BATCH_ROWS) {
                let (key, bytes) = row?;
                let record: PageRecord = trees::decode(TreeName::Pages, &key, &bytes)?;
                if let Some(at) = record.unavailable_after {
                    plan.put(TreeName::Expiries, expiry_key(at, &key), Vec::new())?;
                }
                last = Some(key);
            }
            let Some(last) = last else { break };
            from = [last.as_ref(), &[0]].concat();
            let planned = plan.finish();
            self.commit(planned)?;
        }
        let change_seq = self.state.change_seq + 1;
        self.commit_state(&Writes::new(), StoreState { expiries_entered: true, change_seq, ..self.state.clone() })
    }
}
