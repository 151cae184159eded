//! In-memory twins of the storage ports: plain maps, no cleverness, so that they can stand as the yardstick of the adapters.
//!
//! Both know a crash: [`MemoryStore::crash`] and [`MemoryLedger::crash`] forget what was not made durable.

mod unindexed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::key;
use lohisoftbot_core::ledger::{LedgerBook, LedgerEntry, LedgerEvent};
use lohisoftbot_core::record::{InlinkRow, PageRecord, StoredLink, makes_room};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{MAX_PAGES_PER_SITE, RobotsCopy, SiteFrontier, SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::storage::{
    Applied, Checkpoint, CycleCounts, DueSite, EntryFilter, ExclusionCounts, LedgerError, LedgerRead, LedgerStore,
    LineOrigin, RecordStore, SaveCounts, StandingCounts, StoreChange, StoreError, StoreStats, UnindexedSite,
    admit_links,
};

use unindexed::behind;

#[derive(Clone, Debug, Default)]
struct Maps {
    pages: BTreeMap<PageUrl, PageRecord>,
    inlinks: BTreeMap<(Site, PageUrl), InlinkRow>,
    sites: BTreeMap<Site, SiteRow>,
    frontier: BTreeMap<Site, SiteFrontier>,
    robots: BTreeMap<Site, Vec<RobotsCopy>>,
    exclusions: Exclusions,
    change_seq: u64,
    ledger_seq: u64,
    unindexed: BTreeMap<Site, u64>,
    indexed_seq: Option<u64>,
}

/// The twin of the record store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    now: Maps,
    durable: Maps,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Falls back to the last checkpoint, as a process killed now would find it at worst.
    pub fn crash(&mut self) {
        self.now = self.durable.clone();
    }
}

impl Maps {
    fn urls_of(&self, site: &Site) -> Vec<PageUrl> {
        self.pages.keys().filter(|url| url.site() == *site).cloned().collect()
    }

    fn save_page(&mut self, mut record: PageRecord, links: Vec<StoredLink>) -> Applied {
        if let Some((domain, _)) = self.exclusions.covering(record.url.host()) {
            return Applied::RefusedExcluded { domain: domain.clone() };
        }
        let site = record.url.site();
        let mut counts = SaveCounts::default();
        let held = self.urls_of(&site);
        if !held.contains(&record.url) && held.len() >= MAX_PAGES_PER_SITE {
            let Some(going) = makes_room(held.iter().map(|url| &self.pages[url]), record.cycle) else {
                return Applied::RefusedFull;
            };
            let url = going.url.clone();
            self.drop_page(&url);
            counts.evicted = Some(url);
        }
        self.drop_page(&record.url);
        let admitted = admit_links(&record, links, &self.exclusions);
        counts.num_links = admitted.num_kept;
        counts.num_links_excluded = admitted.num_excluded;
        counts.num_links_over_cap = admitted.num_over_cap;
        record.target_sites = admitted.rows.keys().cloned().collect();
        record.canonical =
            record.canonical.filter(|url| url.site() == site && !self.exclusions.covers_host(url.host()));
        for (target, row) in admitted.rows {
            self.inlinks.insert((target, record.url.clone()), row);
        }
        self.pages.insert(record.url.clone(), record);
        self.recount(&site);
        Applied::Saved(counts)
    }

    fn drop_page(&mut self, url: &PageUrl) -> u64 {
        if self.pages.remove(url).is_none() {
            return 0;
        }
        let before: usize = self.inlinks.values().filter(|row| row.source == *url).map(|row| row.links.len()).sum();
        self.inlinks.retain(|(_, source), _| source != url);
        self.recount(&url.site());
        before as u64
    }

    fn recount(&mut self, site: &Site) {
        let num_pages = self.urls_of(site).len() as u16;
        if let Some(row) = self.sites.get_mut(site) {
            row.num_pages = num_pages;
        }
    }

    /// Keeps only the links that `keeps` wants; sees to it that pages name the sites they still link to.
    fn prune_links(&mut self, keeps: impl Fn(&Site, &StoredLink) -> bool) -> CycleCounts {
        let mut counts = CycleCounts::default();
        self.inlinks.retain(|(site, _), row| {
            let before = row.links.len();
            row.links.retain(|link| keeps(site, link));
            counts.num_links += (before - row.links.len()) as u64;
            counts.num_rows += u64::from(row.links.is_empty());
            !row.links.is_empty()
        });
        let named: BTreeSet<&(Site, PageUrl)> = self.inlinks.keys().collect();
        for (url, page) in &mut self.pages {
            page.target_sites.retain(|site| named.contains(&(site.clone(), url.clone())));
        }
        counts
    }

    fn exclude(&mut self, domain: &Domain, exclusion: Exclusion) -> ExclusionCounts {
        self.exclusions.insert(domain.clone(), exclusion);
        let mut counts = ExclusionCounts::default();
        let covered: Vec<PageUrl> = self.pages.keys().filter(|url| domain.covers_host(url.host())).cloned().collect();
        for url in covered {
            counts.num_pages += 1;
            counts.num_anchors_from += self.drop_page(&url);
        }
        counts.num_anchors_to = self.prune_links(|_, link| !domain.covers_host(link.target.host())).num_links;
        for page in self.pages.values_mut() {
            page.canonical = page.canonical.take().filter(|url| !domain.covers_host(url.host()));
        }
        let mut only = Exclusions::default();
        only.insert(domain.clone(), Exclusion { at: Timestamp::EPOCH, reason: String::new() });
        for frontier in self.frontier.values_mut() {
            counts.num_frontier_urls += frontier.leave_out_excluded(&only);
        }
        self.frontier.retain(|site, frontier| !domain.covers_site(site) && !frontier.entries.is_empty());
        self.robots.retain(|site, _| !domain.covers_site(site));
        for copies in self.robots.values_mut() {
            copies.retain(|copy| !domain.covers_host(copy.origin.host()));
        }
        let before = self.sites.len();
        self.sites.retain(|site, _| !domain.covers_site(site));
        counts.num_sites = (before - self.sites.len()) as u64;
        for row in self.sites.values_mut() {
            row.seeds.retain(|seed| !domain.covers_host(seed.url.host()));
        }
        counts
    }

    fn save_site(
        &mut self,
        mut row: SiteRow,
        frontier: Option<SiteFrontier>,
        robots: Option<Vec<RobotsCopy>>,
    ) -> Applied {
        let site = row.site.clone();
        if let Some((domain, _)) = self.exclusions.covering(site.as_str()) {
            return Applied::RefusedExcluded { domain: domain.clone() };
        }
        row.seeds.retain(|seed| !self.exclusions.covers_host(seed.url.host()));
        self.sites.insert(site.clone(), row);
        self.recount(&site);
        if let Some(mut frontier) = frontier {
            frontier.leave_out_excluded(&self.exclusions);
            self.frontier.insert(site.clone(), frontier);
        }
        if let Some(mut copies) = robots {
            copies.retain(|copy| !self.exclusions.covers_host(copy.origin.host()));
            copies.sort_by_key(|copy| copy.origin.to_string());
            self.robots.insert(site, copies);
        }
        Applied::Done
    }

    fn due(&self) -> Vec<DueSite> {
        let waits = |row: &&SiteRow| !matches!(row.standing, SiteStanding::Live | SiteStanding::Paused);
        let entry = |row: &SiteRow| DueSite { due_at: row.due_at, site: row.site.clone() };
        let mut due: Vec<DueSite> = self.sites.values().filter(waits).map(entry).collect();
        due.sort_by_key(|due| (due.due_at, key::site_prefix(&due.site)));
        due
    }

    fn expiries(&self) -> Vec<(Timestamp, &PageUrl)> {
        let expiring = self.pages.values().filter_map(|page| Some((page.unavailable_after?, &page.url)));
        let mut expiries: Vec<_> = expiring.collect();
        expiries.sort_by_key(|(at, url)| (*at, key::row(&url.site(), url.as_str().as_bytes())));
        expiries
    }

    fn rows_in_key_order(&self) -> Vec<&SiteRow> {
        let mut rows: Vec<&SiteRow> = self.sites.values().collect();
        rows.sort_by_key(|row| key::site_prefix(&row.site));
        rows
    }
}

impl RecordStore for MemoryStore {
    fn apply(&mut self, change: StoreChange) -> Result<Applied, StoreError> {
        let before = self.now.clone();
        let maps = &mut self.now;
        maps.change_seq += 1;
        let applied = match change {
            StoreChange::SavePage { record, links } => maps.save_page(*record, links),
            StoreChange::RenewPage(renewed) => match maps.pages.get_mut(&renewed.url) {
                None => Applied::Absent,
                Some(page) => {
                    renewed.renewal.apply(page, renewed.at, renewed.cycle);
                    Applied::Done
                }
            },
            StoreChange::RemovePage { url } => {
                if maps.pages.contains_key(&url) {
                    maps.drop_page(&url);
                    Applied::Done
                } else {
                    Applied::Absent
                }
            }
            StoreChange::SaveSite { row, frontier, robots } => maps.save_site(*row, frontier, robots),
            StoreChange::FinishCycle { site } => {
                let taken: BTreeSet<PageUrl> = maps.urls_of(&site).into_iter().collect();
                Applied::Finished(maps.prune_links(|target, link| *target != site || taken.contains(&link.target)))
            }
            StoreChange::Exclude { domain, exclusion } => Applied::Excluded(maps.exclude(&domain, exclusion)),
            StoreChange::Include { domain } => {
                if maps.exclusions.remove(&domain) {
                    Applied::Done
                } else {
                    Applied::Absent
                }
            }
        };
        maps.mark_unindexed(&before);
        Ok(applied)
    }

    fn checkpoint(&mut self, ledger_seq: u64) -> Result<Checkpoint, StoreError> {
        self.now.ledger_seq = ledger_seq;
        self.durable = self.now.clone();
        Ok(Checkpoint { change_seq: self.now.change_seq, ledger_seq })
    }

    fn ledger_seq(&self) -> u64 {
        self.now.ledger_seq
    }

    fn page(&self, url: &PageUrl) -> Result<Option<PageRecord>, StoreError> {
        Ok(self.now.pages.get(url).cloned())
    }

    fn pages_of(&self, site: &Site) -> Result<Vec<PageRecord>, StoreError> {
        Ok(self.now.pages.values().filter(|page| page.url.site() == *site).cloned().collect())
    }

    fn inlinks_of_site(&self, site: &Site) -> Result<Vec<InlinkRow>, StoreError> {
        Ok(self.now.inlinks.iter().filter(|((target, _), _)| target == site).map(|(_, row)| row.clone()).collect())
    }

    fn site(&self, site: &Site) -> Result<Option<SiteRow>, StoreError> {
        Ok(self.now.sites.get(site).cloned())
    }

    fn frontier(&self, site: &Site) -> Result<SiteFrontier, StoreError> {
        Ok(self.now.frontier.get(site).cloned().unwrap_or_default())
    }

    fn robots(&self, site: &Site) -> Result<Vec<RobotsCopy>, StoreError> {
        Ok(self.now.robots.get(site).cloned().unwrap_or_default())
    }

    fn sites_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<SiteRow>, StoreError> {
        let rows = self.now.rows_in_key_order().into_iter();
        let later = rows.skip_while(|row| after.is_some_and(|a| key::site_prefix(&row.site) <= key::site_prefix(a)));
        Ok(later.take(limit).cloned().collect())
    }

    fn due_until(&self, now: Timestamp, limit: usize) -> Result<Vec<DueSite>, StoreError> {
        Ok(self.now.due().into_iter().take_while(|due| due.due_at <= now).take(limit).collect())
    }

    fn first_due(&self) -> Result<Option<DueSite>, StoreError> {
        Ok(self.now.due().into_iter().next())
    }

    fn expired_until(&self, now: Timestamp, limit: usize) -> Result<Vec<PageUrl>, StoreError> {
        let expired = self.now.expiries().into_iter().take_while(|(at, _)| *at <= now);
        Ok(expired.take(limit).map(|(_, url)| url.clone()).collect())
    }

    fn first_expiry(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.now.expiries().first().map(|(at, _)| *at))
    }

    fn epoch(&self) -> u64 {
        1
    }

    fn some_inlinks_of_site(&self, site: &Site, limit: usize) -> Result<Vec<InlinkRow>, StoreError> {
        let mut rows = self.inlinks_of_site(site)?;
        rows.truncate(limit);
        Ok(rows)
    }

    fn sites_with_pages_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<Site>, StoreError> {
        let sites: BTreeSet<Site> = self.now.pages.keys().map(PageUrl::site).collect();
        Ok(behind(sites, after).take(limit).collect())
    }

    fn unindexed_after(&self, after: Option<&Site>, limit: usize) -> Result<Vec<UnindexedSite>, StoreError> {
        let sites = behind(self.now.unindexed.keys().cloned(), after).take(limit);
        Ok(sites.map(|site| UnindexedSite { change_seq: self.now.unindexed[&site], site }).collect())
    }

    fn num_unindexed(&self) -> u64 {
        self.now.unindexed.len() as u64
    }

    fn note_indexed(&mut self, done: &[UnindexedSite], commit_seq: u64) -> Result<(), StoreError> {
        self.now.change_seq += 1;
        self.now.indexed_seq = Some(commit_seq);
        for UnindexedSite { site, change_seq } in done {
            if self.now.unindexed.get(site) == Some(change_seq) {
                self.now.unindexed.remove(site);
            }
        }
        Ok(())
    }

    fn indexed_seq(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.now.indexed_seq)
    }

    fn forget_index(&mut self) -> Result<(), StoreError> {
        self.now.indexed_seq = None;
        Ok(())
    }

    fn live_sites(&self) -> Result<Vec<Site>, StoreError> {
        let rows = self.now.rows_in_key_order().into_iter();
        Ok(rows.filter(|row| row.standing == SiteStanding::Live).map(|row| row.site.clone()).collect())
    }

    fn exclusions(&self) -> &Exclusions {
        &self.now.exclusions
    }

    fn stats(&self) -> StoreStats {
        let maps = &self.now;
        let mut standing = StandingCounts::default();
        for row in maps.sites.values() {
            *match row.standing {
                SiteStanding::Due => &mut standing.num_due,
                SiteStanding::Live => &mut standing.num_live,
                SiteStanding::Parked { .. } => &mut standing.num_parked,
                SiteStanding::Finished { .. } => &mut standing.num_finished,
                SiteStanding::Paused => &mut standing.num_paused,
            } += 1;
        }
        StoreStats {
            num_sites: maps.sites.len() as u64,
            standing,
            num_pages: maps.pages.len() as u64,
            num_links: maps.inlinks.values().map(|row| row.links.len() as u64).sum(),
            num_inlink_rows: maps.inlinks.len() as u64,
            num_frontier_urls: maps.frontier.values().map(|frontier| frontier.entries.len() as u64).sum(),
            num_exclusions: maps.exclusions.len() as u64,
            change_seq: maps.change_seq,
        }
    }
}

#[derive(Debug, Default)]
struct Segment {
    began: Timestamp,
    lines: Vec<(LineOrigin, LedgerEntry)>,
}

#[derive(Debug, Default)]
struct Segments {
    durable: Vec<Segment>,
    waiting: Vec<LedgerEntry>,
    last_seq: u64,
}

/// The twin of the ledger. Clones share one ledger, so that a clone can be the reader.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger(Arc<Mutex<Segments>>);

impl MemoryLedger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what was not synced.
    pub fn crash(&self) {
        let mut segments = self.lock();
        segments.waiting.clear();
        let durable = segments.durable.iter().flat_map(|segment| &segment.lines);
        segments.last_seq = durable.map(|(_, line)| line.seq).max().unwrap_or(0);
    }

    /// What a start would find: the newest segment, folded.
    pub fn book(&self) -> LedgerBook {
        let mut book = LedgerBook::default();
        if let Some(newest) = self.lock().durable.last() {
            newest.lines.iter().for_each(|(_, line)| book.apply(line));
        }
        book
    }

    fn lock(&self) -> MutexGuard<'_, Segments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LedgerStore for MemoryLedger {
    fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), LedgerError> {
        let mut segments = self.lock();
        for entry in entries {
            if entry.seq != segments.last_seq + 1 {
                return Err(LedgerError::OutOfOrder { last: segments.last_seq, got: entry.seq });
            }
            segments.last_seq = entry.seq;
            segments.waiting.push(entry.clone());
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        let mut segments = self.lock();
        if segments.durable.is_empty() {
            segments.durable.push(Segment::default());
        }
        let waiting = std::mem::take(&mut segments.waiting).into_iter().map(|entry| (LineOrigin::Entry, entry));
        segments.durable.last_mut().expect("put in just above").lines.extend(waiting);
        Ok(())
    }

    fn wants_rotation(&self, now: Timestamp) -> bool {
        let day = |at: Timestamp| at.as_secs() / 86_400;
        self.lock().durable.last().is_some_and(|newest| day(now) > day(newest.began))
    }

    fn rotate(&mut self, at: Timestamp, snapshot: &mut dyn Iterator<Item = LedgerEvent>) -> Result<(), LedgerError> {
        self.sync()?;
        let mut segments = self.lock();
        let seq = segments.last_seq;
        let lines = snapshot.map(|event| (LineOrigin::Snapshot, LedgerEntry { seq, at, event })).collect();
        segments.durable.push(Segment { began: at, lines });
        Ok(())
    }

    fn expire(&mut self, older_than: Timestamp) -> Result<usize, LedgerError> {
        let mut segments = self.lock();
        let num_expired = segments.durable.iter().skip(1).take_while(|next| next.began <= older_than).count();
        segments.durable.drain(..num_expired);
        Ok(num_expired)
    }
}

impl LedgerRead for MemoryLedger {
    fn entries(&self, filter: &EntryFilter) -> Result<Vec<LedgerEntry>, LedgerError> {
        let segments = self.lock();
        let lines = segments.durable.iter().flat_map(|segment| &segment.lines);
        let mut wanted: Vec<LedgerEntry> =
            lines.filter(|(origin, line)| filter.wants(*origin, line)).map(|(_, line)| line.clone()).collect();
        if let Some(newest) = filter.newest {
            wanted.drain(..wanted.len().saturating_sub(newest));
        }
        Ok(wanted)
    }
}
