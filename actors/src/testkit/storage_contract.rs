//! What every storage port must do; run on the twin here and on the adapters in the root package.
//!
//! [`check_record_store`] and [`check_ledger`] take a factory of empty stores. [`check_same_as_twin`] drives any store and the twin
//! with the same changes and compares all they can be asked.

mod expiry;
mod ledger;
mod records;
mod samples;
mod twin;
mod unindexed;

pub use ledger::check_ledger;
pub use records::check_record_store;
pub use samples::{
    entry, exclusion, frontier, page, renewal, robots_copy, row, seed, site, stored_link, ticket_event, url,
};
pub use twin::check_same_as_twin;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::memory_storage::{MemoryLedger, MemoryStore};

    #[test]
    fn memory_store_keeps_the_contract() {
        check_record_store(MemoryStore::new);
    }

    #[test]
    fn memory_ledger_keeps_the_contract() {
        check_ledger(|| {
            let ledger = MemoryLedger::new();
            (ledger.clone(), ledger)
        });
    }
}
