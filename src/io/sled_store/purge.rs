//! Taking a domain out of the store, and the end of a cycle: changes that may touch many rows, in batches of bounded size.
//!
//! An exclusion is in force with its first transaction, which also leaves a mark; the mark goes with the last one. A mark found when
//! the store is opened means that a crash cut a purge short: it is run again, which finds what is left.

use std::collections::BTreeSet;

use lohisoftbot_actors::storage::{CycleCounts, ExclusionCounts, StoreError};
use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::key;
use lohisoftbot_core::record::StoredLink;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::SledStore;
use super::page_change::{prune_row, records_of, remove_page};
use super::site_change::{forget_site, leave_out_excluded};
use super::state::PURGE_PREFIX;
use super::trees::{self, TreeName, page_key};

/// Rows of links looked at in one transaction.
const BATCH_ROWS: usize = 256;

impl SledStore {
    /// Puts an exclusion in force and removes all that it covers.
    pub(super) fn exclude(&mut self, domain: &Domain, exclusion: Exclusion) -> Result<ExclusionCounts, StoreError> {
        let mark = [PURGE_PREFIX, domain.as_str().as_bytes()].concat();
        let mut plan = self.plan();
        let key = domain.as_str().as_bytes().to_vec();
        // The first reason and time stay, as in `Exclusions::insert`.
        if plan.get(TreeName::Exclusions, &key)?.is_none() {
            plan.put_value(TreeName::Exclusions, key, &exclusion)?;
        }
        plan.put(TreeName::Meta, mark, Vec::new())?;
        let planned = plan.finish();
        self.commit(planned)?;
        self.exclusions.insert(domain.clone(), exclusion);
        self.purge(domain)
    }

    /// Takes an exclusion out of force; false if there was none.
    pub(super) fn include(&mut self, domain: &Domain) -> Result<bool, StoreError> {
        let mut plan = self.plan();
        plan.remove(TreeName::Exclusions, domain.as_str().as_bytes().to_vec())?;
        let planned = plan.finish();
        self.commit(planned)?;
        Ok(self.exclusions.remove(domain))
    }

    /// Ends the purges that a crash cut short; says which.
    pub(super) fn resume_purges(&mut self) -> Result<Vec<Domain>, StoreError> {
        let mut resumed = Vec::new();
        for row in self.trees.scan(TreeName::Meta, PURGE_PREFIX).collect::<Vec<_>>() {
            let key = row?.0;
            let name = std::str::from_utf8(&key[PURGE_PREFIX.len()..]).unwrap_or_default();
            // A mark is written from a domain, so it reads as one; a mark that does not is no purge of ours.
            if let Ok(domain) = Domain::parse(name) {
                self.purge(&domain)?;
                resumed.push(domain);
            }
        }
        Ok(resumed)
    }

    /// Drops links to pages of `site` that are not stored.
    pub(super) fn finish_cycle(&mut self, site: &Site) -> Result<CycleCounts, StoreError> {
        let taken: BTreeSet<PageUrl> = records_of(&self.plan(), site)?.into_iter().map(|record| record.url).collect();
        self.prune_site(site, |link| taken.contains(&link.target))
    }

    fn purge(&mut self, domain: &Domain) -> Result<ExclusionCounts, StoreError> {
        let sites = self.touched_sites(domain)?;
        let mut counts = ExclusionCounts::default();
        // Pages first: a link from a page of the domain to another one of it counts as one from the domain.
        for site in &sites {
            counts.add(self.purge_state_of(site, domain)?);
        }
        for site in &sites {
            counts.num_anchors_to += self.prune_site(site, |link| !domain.covers_host(link.target.host()))?.num_links;
        }
        let mut plan = self.plan();
        plan.remove(TreeName::Meta, [PURGE_PREFIX, domain.as_str().as_bytes()].concat())?;
        let planned = plan.finish();
        self.commit(planned)?;
        Ok(counts)
    }

    fn purge_state_of(&mut self, site: &Site, domain: &Domain) -> Result<ExclusionCounts, StoreError> {
        let mut counts = ExclusionCounts::default();
        let mut plan = self.plan();
        for mut record in records_of(&plan, site)? {
            if domain.covers_host(record.url.host()) {
                counts.num_pages += 1;
                counts.num_anchors_from += remove_page(&mut plan, &record.url)?.unwrap_or_default();
            } else if record.canonical.as_ref().is_some_and(|url| domain.covers_host(url.host())) {
                record.canonical = None;
                plan.put_value(TreeName::Pages, page_key(&record.url), &record)?;
            }
        }
        if domain.covers_site(site) {
            (counts.num_frontier_urls, counts.num_sites) = forget_site(&mut plan, site)?;
        } else {
            counts.num_frontier_urls = leave_out_excluded(&mut plan, site, &only(domain))?;
        }
        let planned = plan.finish();
        self.commit(planned)?;
        Ok(counts)
    }

    /// Keeps of the links to `site` only those that `keeps` wants, a batch of rows at a time.
    fn prune_site(&mut self, site: &Site, keeps: impl Fn(&StoredLink) -> bool) -> Result<CycleCounts, StoreError> {
        let mut counts = CycleCounts::default();
        let prefix = key::site_prefix(site);
        let mut from = prefix.clone();
        loop {
            let mut keys = Vec::with_capacity(BATCH_ROWS);
            for row in self.trees.scan_from(TreeName::Inlinks, &from).take(BATCH_ROWS) {
                let key = row?.0;
                if !key.starts_with(&prefix) {
                    break;
                }
                keys.push(key);
            }
            let Some(last) = keys.last() else { return Ok(counts) };
            from = [last.as_ref(), &[0]].concat();
            let mut plan = self.plan();
            for key in &keys {
                let pruned = prune_row(&mut plan, site, key, &keeps)?;
                counts.num_links += pruned.num_links;
                counts.num_rows += pruned.num_rows;
            }
            let planned = plan.finish();
            self.commit(planned)?;
        }
    }

    /// The sites that a domain covers or lies in. Most domains lie in one; only a public suffix covers many, found by their keys.
    fn touched_sites(&self, domain: &Domain) -> Result<Vec<Site>, StoreError> {
        let own = Site::of_host(domain.as_str());
        if Site::of_host(&format!("x.{domain}")) == own {
            return Ok(vec![own]);
        }
        let mut sites = BTreeSet::from([own]);
        for tree in [TreeName::Sites, TreeName::Frontier, TreeName::Robots, TreeName::Pages, TreeName::Inlinks] {
            let mut from = Vec::new();
            while let Some(row) = self.trees.scan_from(tree, &from).next() {
                let key = row?.0;
                let Some(site) = trees::site_of_key(&key) else {
                    from = [key.as_ref(), &[0]].concat();
                    continue;
                };
                from = trees::behind_site(&site).max([key.as_ref(), &[0]].concat());
                if domain.covers_site(&site) {
                    sites.insert(site);
                }
            }
        }
        Ok(sites.into_iter().collect())
    }
}

/// A list with this one domain on it.
fn only(domain: &Domain) -> Exclusions {
    let mut exclusions = Exclusions::default();
    exclusions.insert(domain.clone(), Exclusion { at: Timestamp::EPOCH, reason: String::new() });
    exclusions
}
