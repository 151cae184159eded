//! Brings a store up to the ledger at start: what the ledger has and the store's rows have not is folded into them.

use std::collections::BTreeMap;

use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{Replayed, SiteRow};

use super::advice::BACKUP_ADVICE;
use super::{LedgerError, RecordStore, StoreChange, StoreError};

/// Rows read at once.
const ROWS_AT_ONCE: usize = 1000;

/// What a catch-up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CatchUpCounts {
    /// Entries folded into a site's account.
    pub num_entries: u64,
    /// Sites whose row changed.
    pub num_sites: u64,
    /// Sites that had no row.
    pub num_new_sites: u64,
    /// Exclusions and inclusions applied.
    pub num_rules: u64,
    /// Number of the newest entry seen, or of the store's checkpoint where that is newer.
    pub last_seq: u64,
}

/// Why a catch-up failed.
#[derive(Debug, thiserror::Error)]
pub enum CatchUpError {
    /// Of the ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store has seen entries that the ledger no longer has.
    #[error(
        "the ledger ends at entry {ledger}, but the store has seen entry {store}: the ledger has lost its end. Nothing was \
         deleted; {BACKUP_ADVICE}"
    )]
    LedgerBehind {
        /// Newest entry of the ledger.
        ledger: u64,
        /// Newest entry that the store has seen.
        store: u64,
    },
}

/// Folds `entries` (those after [`RecordStore::ledger_seq`], snapshots included) into the store's rows. `ledger_last_seq` is the
/// newest entry of the whole ledger. A site without a row gets one, due at once: its account tells it to wait if it must.
pub fn catch_up<E>(
    store: &mut dyn RecordStore,
    ledger_last_seq: u64,
    entries: impl Iterator<Item = Result<LedgerEntry, E>>,
) -> Result<CatchUpCounts, CatchUpError>
where
    CatchUpError: From<E>,
{
    let seen = store.ledger_seq();
    if ledger_last_seq < seen {
        return Err(CatchUpError::LedgerBehind { ledger: ledger_last_seq, store: seen });
    }
    refuse_rows_ahead(store, ledger_last_seq)?;
    let mut counts = CatchUpCounts { last_seq: seen, ..CatchUpCounts::default() };
    let mut rows: BTreeMap<Site, SiteRow> = BTreeMap::new();
    // Only the last word on a domain counts, so an exclusion that was taken back removes nothing again.
    let mut rules: BTreeMap<Domain, StoreChange> = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        counts.last_seq = counts.last_seq.max(entry.seq);
        match &entry.event {
            LedgerEvent::Site { site, .. } => {
                if !rows.contains_key(site) {
                    let stored = store.site(site)?;
                    counts.num_new_sites += u64::from(stored.is_none());
                    let row = stored.unwrap_or_else(|| SiteRow::new(site.clone(), Vec::new(), entry.at));
                    rows.insert(site.clone(), row);
                }
                let row = rows.get_mut(site).expect("put in just above");
                counts.num_entries += u64::from(row.replay(&entry) == Replayed::Folded);
            }
            LedgerEvent::Excluded { domain, exclusion } => {
                let change = StoreChange::Exclude { domain: domain.clone(), exclusion: exclusion.clone() };
                rules.insert(domain.clone(), change);
            }
            LedgerEvent::Included { domain } => {
                rules.insert(domain.clone(), StoreChange::Include { domain: domain.clone() });
            }
        }
    }
    for change in rules.into_values() {
        store.apply(change)?;
        counts.num_rules += 1;
    }
    for row in rows.into_values() {
        store.apply(StoreChange::SaveSite { row: Box::new(row), frontier: None, robots: None })?;
        counts.num_sites += 1;
    }
    Ok(counts)
}

/// A row that holds more of the ledger than there is shows that the ledger has lost its end, even where no checkpoint says so.
fn refuse_rows_ahead(store: &dyn RecordStore, ledger: u64) -> Result<(), CatchUpError> {
    let mut after = None;
    loop {
        let rows = store.sites_after(after.as_ref(), ROWS_AT_ONCE)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.site.clone());
        if let Some(ahead) = rows.iter().map(|row| row.account_seq).filter(|seq| *seq > ledger).max() {
            return Err(CatchUpError::LedgerBehind { ledger, store: ahead });
        }
    }
}
