//! What a stopped node knew of its sites, read off a copy of its store that is brought up to its ledger.

use lohisoftbot_actors::storage::{EntryFilter, RecordStore, catch_up};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::LedgerEntry;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::OriginRobots;
use lohisoftbot_core::site_row::SiteRow;

use crate::dump::store_copy::{self, CopyError, StoreCopy};
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;

/// Rows read at once.
const ROWS_AT_ONCE: usize = 1000;

/// The sites of a store, and who is excluded.
#[derive(Default)]
pub struct StoredSites {
    pub sites: Vec<StoredSite>,
    pub exclusions: Exclusions,
}

/// One site.
pub struct StoredSite {
    pub row: SiteRow,
    pub queue: PageQueue,
    pub robots: Vec<OriginRobots>,
}

impl StoredSites {
    /// Reads a data directory without changing it; none where no node has run.
    pub fn read(dir: &DataDir) -> anyhow::Result<Option<Self>> {
        if !dir.records().is_dir() && !dir.ledger().is_dir() {
            return Ok(None);
        }
        let held = match store_copy::hold(dir) {
            Err(CopyError::Running(dir)) => anyhow::bail!(
                "a node is running on {}: what it would do next is in its `status` and `sites`; stop it for a dry run",
                dir.display()
            ),
            held => held?,
        };
        // Read before the hold is given up with the copy, so that both are of one moment.
        let reader = LedgerReader::new(&dir.ledger());
        let entries: Vec<LedgerEntry> = reader.stream(EntryFilter::default())?.entries().collect::<Result<_, _>>()?;
        let copy = StoreCopy::take(dir, held)?;
        let opened = copy.open().map_err(|error| anyhow::anyhow!(copy.in_terms_of_the_original(&error.to_string())));
        let mut store = opened?;
        let seen = store.ledger_seq();
        let last_seq = entries.iter().map(|entry| entry.seq).max().unwrap_or(seen).max(seen);
        let unseen = entries.into_iter().filter(|entry| entry.seq > seen);
        catch_up(&mut store, last_seq, unseen.map(Ok::<_, lohisoftbot_actors::storage::StoreError>))?;

        let (mut sites, mut after) = (Vec::new(), None);
        loop {
            let rows = store.sites_after(after.as_ref(), ROWS_AT_ONCE)?;
            let Some(last) = rows.last() else { break };
            after = Some(last.site.clone());
            for row in rows {
                let queue = store.frontier(&row.site)?.into();
                let robots = store.robots(&row.site)?.iter().filter_map(OriginRobots::from_stored).collect();
                sites.push(StoredSite { row, queue, robots });
            }
        }
        Ok(Some(Self { sites, exclusions: store.exclusions().clone() }))
    }
}
