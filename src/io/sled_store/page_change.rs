//! Changes to pages and their links.
//!
//! Invariant: there is a row of links from page P to site T exactly when P is stored and names T among its `target_sites`; so a
//! page is removed without a scan. And P lies in `expiries`, once, exactly when P is stored and has an `unavailable_after`.

use lohisoftbot_actors::storage::{Applied, CycleCounts, SaveCounts, StoreError, admit_links};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::key;
use lohisoftbot_core::politeness::PageRenewal;
use lohisoftbot_core::record::{InlinkRow, PageRecord, StoredLink, makes_room};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{MAX_PAGES_PER_SITE, SiteRow};
use lohisoftbot_core::url::PageUrl;

use super::plan::Plan;
use super::trees::{TreeName, expiry_key, inlink_key, page_key};

/// Plans the storing of a page.
pub fn save_page(
    plan: &mut Plan<'_>,
    exclusions: &Exclusions,
    mut record: PageRecord,
    links: Vec<StoredLink>,
) -> Result<Applied, StoreError> {
    if let Some((domain, _)) = exclusions.covering(record.url.host()) {
        return Ok(Applied::RefusedExcluded { domain: domain.clone() });
    }
    let site = record.url.site();
    let page = page_key(&record.url);
    let mut counts = SaveCounts::default();
    if plan.get(TreeName::Pages, &page)?.is_some() {
        drop_page(plan, &record.url)?;
    } else if num_pages(plan, &site)? >= MAX_PAGES_PER_SITE {
        let stored = records_of(plan, &site)?;
        let Some(going) = makes_room(&stored, record.cycle) else { return Ok(Applied::RefusedFull) };
        drop_page(plan, &going.url)?;
        counts.evicted = Some(going.url.clone());
    }
    let admitted = admit_links(&record, links, exclusions);
    counts.num_links = admitted.num_kept;
    counts.num_links_excluded = admitted.num_excluded;
    counts.num_links_over_cap = admitted.num_over_cap;
    record.target_sites = admitted.rows.keys().cloned().collect();
    // Never to another site: then an exclusion finds every mention of a domain without a scan.
    record.canonical = record.canonical.filter(|url| url.site() == site && !exclusions.covers_host(url.host()));
    for (target, row) in admitted.rows {
        plan.put_value(TreeName::Inlinks, inlink_key(&target, &record.url), &row)?;
    }
    plan.counts.num_links += admitted.num_kept;
    if let Some(at) = record.unavailable_after {
        plan.put(TreeName::Expiries, expiry_key(at, &page), Vec::new())?;
    }
    plan.put_value(TreeName::Pages, page, &record)?;
    note_num_pages(plan, &site)?;
    Ok(Applied::Saved(counts))
}

/// Plans the renewal of a page that is unchanged.
pub fn renew_page(plan: &mut Plan<'_>, renewed: &PageRenewal) -> Result<Applied, StoreError> {
    let key = page_key(&renewed.url);
    let Some(mut record) = plan.value::<PageRecord>(TreeName::Pages, &key)? else { return Ok(Applied::Absent) };
    if let Some(at) = record.unavailable_after {
        plan.remove(TreeName::Expiries, expiry_key(at, &key))?;
    }
    renewed.renewal.apply(&mut record, renewed.at, renewed.cycle);
    if let Some(at) = record.unavailable_after {
        plan.put(TreeName::Expiries, expiry_key(at, &key), Vec::new())?;
    }
    plan.put_value(TreeName::Pages, key, &record)?;
    Ok(Applied::Done)
}

/// Plans the removal of a page and of its links; none if it is not stored, else how many links went.
pub fn remove_page(plan: &mut Plan<'_>, url: &PageUrl) -> Result<Option<u64>, StoreError> {
    let removed = drop_page(plan, url)?;
    note_num_pages(plan, &url.site())?;
    Ok(removed)
}

fn drop_page(plan: &mut Plan<'_>, url: &PageUrl) -> Result<Option<u64>, StoreError> {
    let key = page_key(url);
    let Some(record) = plan.value::<PageRecord>(TreeName::Pages, &key)? else { return Ok(None) };
    let mut num_links = 0;
    for target in &record.target_sites {
        let row_key = inlink_key(target, url);
        if let Some(row) = plan.value::<InlinkRow>(TreeName::Inlinks, &row_key)? {
            num_links += row.links.len() as u64;
            plan.remove(TreeName::Inlinks, row_key)?;
        }
    }
    plan.counts.num_links = plan.counts.num_links.saturating_sub(num_links);
    if let Some(at) = record.unavailable_after {
        plan.remove(TreeName::Expiries, expiry_key(at, &key))?;
    }
    plan.remove(TreeName::Pages, key)?;
    Ok(Some(num_links))
}

/// Plans that of the row `key` of links to `target` only those stay that `keeps` wants; a page left without links to the site no
/// longer names it.
pub fn prune_row(
    plan: &mut Plan<'_>,
    target: &Site,
    key: &[u8],
    keeps: impl Fn(&StoredLink) -> bool,
) -> Result<CycleCounts, StoreError> {
    let Some(mut row) = plan.value::<InlinkRow>(TreeName::Inlinks, key)? else { return Ok(CycleCounts::default()) };
    let before = row.links.len();
    row.links.retain(keeps);
    let num_links = (before - row.links.len()) as u64;
    plan.counts.num_links = plan.counts.num_links.saturating_sub(num_links);
    if num_links == 0 {
        return Ok(CycleCounts::default());
    }
    if !row.links.is_empty() {
        plan.put_value(TreeName::Inlinks, key.to_vec(), &row)?;
        return Ok(CycleCounts { num_links, num_rows: 0 });
    }
    plan.remove(TreeName::Inlinks, key.to_vec())?;
    let source_key = page_key(&row.source);
    if let Some(mut source) = plan.value::<PageRecord>(TreeName::Pages, &source_key)? {
        source.target_sites.retain(|site| site != target);
        plan.put_value(TreeName::Pages, source_key, &source)?;
    }
    Ok(CycleCounts { num_links, num_rows: 1 })
}

/// How many pages of a site there will be.
pub fn num_pages(plan: &Plan<'_>, site: &Site) -> Result<usize, StoreError> {
    Ok(plan.keys(TreeName::Pages, &key::site_prefix(site))?.len())
}

/// The records of a site as they will be.
pub fn records_of(plan: &Plan<'_>, site: &Site) -> Result<Vec<PageRecord>, StoreError> {
    let mut records = Vec::new();
    for key in plan.keys(TreeName::Pages, &key::site_prefix(site))? {
        records.extend(plan.value::<PageRecord>(TreeName::Pages, &key)?);
    }
    Ok(records)
}

fn note_num_pages(plan: &mut Plan<'_>, site: &Site) -> Result<(), StoreError> {
    let row_key = key::site_prefix(site);
    if let Some(mut row) = plan.value::<SiteRow>(TreeName::Sites, &row_key)? {
        row.num_pages = u16::try_from(num_pages(plan, site)?).unwrap_or(u16::MAX);
        plan.put_value(TreeName::Sites, row_key, &row)?;
    }
    Ok(())
}
