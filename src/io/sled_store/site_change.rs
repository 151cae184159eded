//! Changes to the state of a site: its row and place among the due, its queue, its copies of robots.txt.
//!
//! Queue and robots.txt lie in pieces of some 4 KiB: sled keeps up to 16 rows in a node and puts a node of more than 128 KiB into a
//! file of its own, which it does not sync. A piece that did not change is not written again.

use lohisoftbot_actors::storage::{Applied, StoreError};
use lohisoftbot_core::codec::{CodecError, Stored};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::key;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{FrontierEntry, RobotsCopy, SiteFrontier, SiteRow};
use serde::{Deserialize, Serialize};

use super::page_change::num_pages;
use super::plan::Plan;
use super::trees::{TreeName, due_key, frontier_key, robots_prefix};

/// Size of a piece.
pub const PIECE_BYTES: usize = 4 << 10;
/// What a queue entry takes beside its URL, at most.
const ENTRY_OVERHEAD_BYTES: usize = 32;

/// A piece of a copy of robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsPiece(pub Vec<u8>);

impl Stored for RobotsPiece {
    const VERSION: u8 = 1;
}

/// Plans the storing of a site's state.
pub fn save_site(
    plan: &mut Plan<'_>,
    exclusions: &Exclusions,
    mut row: SiteRow,
    frontier: Option<SiteFrontier>,
    robots: Option<Vec<RobotsCopy>>,
) -> Result<Applied, StoreError> {
    if let Some((domain, _)) = exclusions.covering(row.site.as_str()) {
        return Ok(Applied::RefusedExcluded { domain: domain.clone() });
    }
    row.seeds.retain(|url| !exclusions.covers_host(url.host()));
    row.num_pages = u16::try_from(num_pages(plan, &row.site)?).unwrap_or(u16::MAX);
    leave_due(plan, &row.site)?;
    *plan.counts.of_standing(row.standing) += 1;
    if let Some(due) = due_key(&row) {
        plan.put(TreeName::Due, due, Vec::new())?;
    }
    plan.put_value(TreeName::Sites, key::site_prefix(&row.site), &row)?;
    if let Some(mut frontier) = frontier {
        frontier.leave_out_excluded(exclusions);
        put_frontier(plan, &row.site, frontier)?;
    }
    if let Some(mut copies) = robots {
        copies.retain(|copy| !exclusions.covers_host(copy.origin.host()));
        put_robots(plan, &row.site, &copies)?;
    }
    Ok(Applied::Done)
}

/// Plans that a site is forgotten: row, queue, robots.txt. Its pages are not touched. Says how many URLs its queue had, and whether
/// it had a row (as 0 or 1).
pub fn forget_site(plan: &mut Plan<'_>, site: &Site) -> Result<(u64, u64), StoreError> {
    let num_urls = read_frontier(plan, site)?.entries.len() as u64;
    put_frontier(plan, site, SiteFrontier::default())?;
    put_robots(plan, site, &[])?;
    let num_rows = leave_due(plan, site)?;
    plan.remove(TreeName::Sites, key::site_prefix(site))?;
    Ok((num_urls, num_rows))
}

/// Plans that what `exclusions` cover of a site goes: seeds, queued URLs, robots.txt. Says how many queued URLs went.
pub fn leave_out_excluded(plan: &mut Plan<'_>, site: &Site, exclusions: &Exclusions) -> Result<u64, StoreError> {
    let row_key = key::site_prefix(site);
    if let Some(mut row) = plan.value::<SiteRow>(TreeName::Sites, &row_key)? {
        row.seeds.retain(|url| !exclusions.covers_host(url.host()));
        plan.put_value(TreeName::Sites, row_key, &row)?;
    }
    let mut copies = read_robots(plan, site)?;
    copies.retain(|copy| !exclusions.covers_host(copy.origin.host()));
    put_robots(plan, site, &copies)?;
    let mut frontier = read_frontier(plan, site)?;
    let num_urls = frontier.leave_out_excluded(exclusions);
    put_frontier(plan, site, frontier)?;
    Ok(num_urls)
}

/// Takes the stored row out of the counts by standing and out of `due`; says whether there was one (as 0 or 1).
fn leave_due(plan: &mut Plan<'_>, site: &Site) -> Result<u64, StoreError> {
    let Some(old) = plan.value::<SiteRow>(TreeName::Sites, &key::site_prefix(site))? else { return Ok(0) };
    let count = plan.counts.of_standing(old.standing);
    *count = count.saturating_sub(1);
    if let Some(due) = due_key(&old) {
        plan.remove(TreeName::Due, due)?;
    }
    Ok(1)
}

fn read_frontier(plan: &Plan<'_>, site: &Site) -> Result<SiteFrontier, StoreError> {
    let mut whole = SiteFrontier::default();
    for key in plan.keys(TreeName::Frontier, &key::site_prefix(site))? {
        whole.entries.extend(plan.value::<SiteFrontier>(TreeName::Frontier, &key)?.into_iter().flat_map(|p| p.entries));
    }
    Ok(whole)
}

fn put_frontier(plan: &mut Plan<'_>, site: &Site, frontier: SiteFrontier) -> Result<(), StoreError> {
    let mut old = plan.keys(TreeName::Frontier, &key::site_prefix(site))?;
    for (piece, number) in frontier_pieces(frontier.entries).into_iter().zip(0_u16..) {
        let key = frontier_key(site, number);
        let stored = if old.remove(&key) { plan.get(TreeName::Frontier, &key)? } else { None };
        let num_urls = piece.entries.len() as u64;
        let bytes = lohisoftbot_core::codec::encode(&piece)
            .map_err(|source| StoreError::Unstorable { tree: TreeName::Frontier.as_str(), source })?;
        if stored.as_ref() == Some(&bytes) {
            continue;
        }
        let num_before = num_urls_in(&key, stored.as_deref())?;
        plan.counts.num_frontier_urls = plan.counts.num_frontier_urls.saturating_sub(num_before) + num_urls;
        plan.put(TreeName::Frontier, key, bytes)?;
    }
    for key in old {
        let stored = plan.get(TreeName::Frontier, &key)?;
        let num_before = num_urls_in(&key, stored.as_deref())?;
        plan.counts.num_frontier_urls = plan.counts.num_frontier_urls.saturating_sub(num_before);
        plan.remove(TreeName::Frontier, key)?;
    }
    Ok(())
}

fn num_urls_in(key: &[u8], stored: Option<&[u8]>) -> Result<u64, StoreError> {
    let piece = stored.map(|bytes| super::trees::decode::<SiteFrontier>(TreeName::Frontier, key, bytes)).transpose()?;
    Ok(piece.map_or(0, |piece| piece.entries.len() as u64))
}

fn frontier_pieces(entries: Vec<FrontierEntry>) -> Vec<SiteFrontier> {
    let mut pieces: Vec<SiteFrontier> = Vec::new();
    let mut room = 0;
    for entry in entries {
        let size = entry.url.as_str().len() + ENTRY_OVERHEAD_BYTES;
        if size > room || pieces.is_empty() {
            pieces.push(SiteFrontier::default());
            room = PIECE_BYTES;
        }
        room = room.saturating_sub(size);
        pieces.last_mut().expect("a piece was begun above").entries.push(entry);
    }
    pieces
}

fn read_robots(plan: &Plan<'_>, site: &Site) -> Result<Vec<RobotsCopy>, StoreError> {
    let mut pieces = Vec::new();
    for key in plan.keys(TreeName::Robots, &key::site_prefix(site))? {
        pieces.extend(plan.value::<RobotsPiece>(TreeName::Robots, &key)?.map(|piece| (key, piece)));
    }
    join_robots(pieces)
}

/// Puts pieces, in key order, together again.
pub fn join_robots<K: AsRef<[u8]>>(pieces: Vec<(K, RobotsPiece)>) -> Result<Vec<RobotsCopy>, StoreError> {
    let mut copies: Vec<RobotsCopy> = Vec::new();
    for (key, RobotsPiece(mut bytes)) in pieces {
        let key = key.as_ref();
        let origin = robots_origin(key).ok_or_else(|| StoreError::Row {
            tree: TreeName::Robots.as_str(),
            key: super::trees::printable(key),
            source: CodecError::Damaged("the key names no origin".to_owned()),
        })?;
        match copies.last_mut().filter(|copy| copy.origin == origin) {
            Some(copy) => copy.bytes.append(&mut bytes),
            None => copies.push(RobotsCopy { origin, bytes }),
        }
    }
    Ok(copies)
}

fn robots_origin(key: &[u8]) -> Option<lohisoftbot_core::origin::Origin> {
    let text = super::trees::rest_of_key(key.get(..key.len().checked_sub(3)?)?)?;
    Some(lohisoftbot_core::url::PageUrl::parse(text, None).ok()?.origin())
}

fn put_robots(plan: &mut Plan<'_>, site: &Site, copies: &[RobotsCopy]) -> Result<(), StoreError> {
    let mut old = plan.keys(TreeName::Robots, &key::site_prefix(site))?;
    for copy in copies {
        let prefix = robots_prefix(site, &copy.origin);
        // An empty file is a copy too: it allows everything.
        let num_pieces = copy.bytes.len().div_ceil(PIECE_BYTES).max(1);
        for number in 0..num_pieces {
            let number_bytes = u16::try_from(number).map_err(|_| StoreError::Unstorable {
                tree: TreeName::Robots.as_str(),
                source: CodecError::TooLarge(format!("{} bytes of robots.txt", copy.bytes.len())),
            })?;
            let key = [prefix.as_slice(), &number_bytes.to_be_bytes()].concat();
            old.remove(&key);
            let end = copy.bytes.len().min((number + 1) * PIECE_BYTES);
            plan.put_value(TreeName::Robots, key, &RobotsPiece(copy.bytes[number * PIECE_BYTES..end].to_vec()))?;
        }
    }
    old.into_iter().try_for_each(|key| plan.remove(TreeName::Robots, key))
}
