//! The trees of the store and the keys of their rows.
//!
//! | tree | key | value |
//! | --- | --- | --- |
//! | `meta` | a name | state of the store, purges under way |
//! | `sites` | site | `SiteRow` |
//! | `due` | time (8 bytes, big endian), site | nothing |
//! | `frontier` | site, piece number | a piece of a `SiteFrontier` |
//! | `robots` | site, origin, `0x00`, piece number | a piece of a `RobotsCopy` |
//! | `pages` | site, URL | `PageRecord` |
//! | `inlinks` | target site, source URL | `InlinkRow` |
//! | `exclusions` | domain | `Exclusion` |
//! | `expiries` | time (8 bytes, big endian), site, URL | nothing |
//! | `unindexed` | site | `UnindexedMark` |
//!
//! "site" is partition, name and a zero byte, as [`lohisoftbot_core::key`] makes it.

use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::StoreError;
use lohisoftbot_core::codec::{self, Stored};
use lohisoftbot_core::key;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use sled::{Db, IVec, Tree};

/// A tree of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeName {
    /// State of the store itself.
    Meta,
    /// Rows of sites.
    Sites,
    /// Sites by the time they are due.
    Due,
    /// Queues.
    Frontier,
    /// Copies of robots.txt.
    Robots,
    /// Page records.
    Pages,
    /// Links, by target site.
    Inlinks,
    /// Exclusions.
    Exclusions,
    /// Pages by the time from which on they must not be kept.
    Expiries,
    /// Sites that the search index has to look at again.
    Unindexed,
}

/// How many trees there are.
pub const NUM_TREES: usize = 10;

impl TreeName {
    /// All, in the order of [`TreeName::index`].
    pub const ALL: [Self; NUM_TREES] = [
        Self::Meta,
        Self::Sites,
        Self::Due,
        Self::Frontier,
        Self::Robots,
        Self::Pages,
        Self::Inlinks,
        Self::Exclusions,
        Self::Expiries,
        Self::Unindexed,
    ];

    /// Its place in arrays.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name on the disk.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Sites => "sites",
            Self::Due => "due",
            Self::Frontier => "frontier",
            Self::Robots => "robots",
            Self::Pages => "pages",
            Self::Inlinks => "inlinks",
            Self::Exclusions => "exclusions",
            Self::Expiries => "expiries",
            Self::Unindexed => "unindexed",
        }
    }
}

/// The open trees. Every answer of sled may be an error, and each is passed on.
#[derive(Clone, Debug)]
pub struct Trees {
    db: Db,
    trees: [Tree; NUM_TREES],
    path: PathBuf,
}

impl Trees {
    /// Opens all trees of `db`, which lies in `path`.
    pub fn open(db: Db, path: &Path) -> Result<Self, StoreError> {
        let open = |name: TreeName| db.open_tree(name.as_str()).map_err(engine_error(path, "opening a tree"));
        let trees = [
            open(TreeName::Meta)?,
            open(TreeName::Sites)?,
            open(TreeName::Due)?,
            open(TreeName::Frontier)?,
            open(TreeName::Robots)?,
            open(TreeName::Pages)?,
            open(TreeName::Inlinks)?,
            open(TreeName::Exclusions)?,
            open(TreeName::Expiries)?,
            open(TreeName::Unindexed)?,
        ];
        Ok(Self { db, trees, path: path.to_owned() })
    }

    /// The database they lie in.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// The directory they lie in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All, for a transaction over them.
    pub fn all(&self) -> Vec<&Tree> {
        self.trees.iter().collect()
    }

    /// The bytes of a row.
    pub fn get(&self, tree: TreeName, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.trees[tree.index()].get(key).map_err(engine_error(&self.path, "reading a row"))
    }

    /// A row, read.
    pub fn value<T: Stored>(&self, tree: TreeName, key: &[u8]) -> Result<Option<T>, StoreError> {
        self.get(tree, key)?.map(|bytes| decode(tree, key, &bytes)).transpose()
    }

    /// Rows in key order whose key begins with `prefix`.
    pub fn scan(
        &self,
        tree: TreeName,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> + use<> {
        let path = self.path.clone();
        self.trees[tree.index()].scan_prefix(prefix).map(move |row| row.map_err(engine_error(&path, "scanning a tree")))
    }

    /// Rows in key order whose key is at least `from`.
    pub fn scan_from(
        &self,
        tree: TreeName,
        from: &[u8],
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> + use<> {
        let path = self.path.clone();
        let rows = self.trees[tree.index()].range(from.to_vec()..);
        rows.map(move |row| row.map_err(engine_error(&path, "scanning a tree")))
    }

    /// Rows under `prefix`, read.
    pub fn values<T: Stored>(
        &self,
        tree: TreeName,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<(IVec, T), StoreError>> + use<T> {
        self.scan(tree, prefix).map(move |row| {
            let (key, bytes) = row?;
            let value = decode(tree, &key, &bytes)?;
            Ok((key, value))
        })
    }
}

/// Reads a row; the error names the tree and the key.
pub fn decode<T: Stored>(tree: TreeName, key: &[u8], bytes: &[u8]) -> Result<T, StoreError> {
    codec::decode(bytes).map_err(|source| StoreError::Row { tree: tree.as_str(), key: printable(key), source })
}

/// Makes an error of sled's while `doing`.
pub fn engine_error(path: &Path, doing: &'static str) -> impl Fn(sled::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Engine { path: path.clone(), doing, detail: error.to_string() }
}

/// A key for people: what is not printable is escaped.
pub fn printable(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}

/// The key of a page.
pub fn page_key(url: &PageUrl) -> Vec<u8> {
    key::row(&url.site(), url.as_str().as_bytes())
}

/// The key of the links from `source` to `target`.
pub fn inlink_key(target: &Site, source: &PageUrl) -> Vec<u8> {
    key::row(target, source.as_str().as_bytes())
}

/// The key of a piece of a queue.
pub fn frontier_key(site: &Site, piece: u16) -> Vec<u8> {
    key::row(site, &piece.to_be_bytes())
}

/// What the keys of all pieces of an origin's robots.txt begin with.
pub fn robots_prefix(site: &Site, origin: &Origin) -> Vec<u8> {
    key::row(site, format!("{origin}\0").as_bytes())
}

/// The time that live sites stand at in `due`: after all others, so that they are never due and yet found.
const LIVE_AT: u64 = u64::MAX;

/// The place of a site among the due; none while it is paused.
pub fn due_key(row: &SiteRow) -> Option<Vec<u8>> {
    let at = match row.standing {
        SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. } => {
            row.due_at.as_millis().min(LIVE_AT - 1)
        }
        SiteStanding::Live => LIVE_AT,
        SiteStanding::Paused => return None,
    };
    let mut due = at.to_be_bytes().to_vec();
    due.extend_from_slice(&key::site_prefix(&row.site));
    Some(due)
}

/// What the keys of live sites in `due` begin with.
pub fn live_prefix() -> [u8; 8] {
    LIVE_AT.to_be_bytes()
}

/// What a key in `due` says; none for a live site's, or for bytes that are no such key.
pub fn parse_due_key(key: &[u8]) -> Option<(Timestamp, Site)> {
    let (at, rest) = key.split_first_chunk::<8>()?;
    let at = u64::from_be_bytes(*at);
    Some((Timestamp::from_millis(at), site_of_key(rest)?)).filter(|_| at != LIVE_AT)
}

/// The place in `expiries` of the page with this key.
pub fn expiry_key(at: Timestamp, page_key: &[u8]) -> Vec<u8> {
    [&at.as_millis().to_be_bytes(), page_key].concat()
}

/// What a key in `expiries` says: a time, and the key of a page. None for bytes that are no such key.
pub fn parse_expiry_key(key: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (at, page_key) = key.split_first_chunk::<8>()?;
    Some((Timestamp::from_millis(u64::from_be_bytes(*at)), page_key))
}

/// The site that a row belongs to, by its key.
pub fn site_of_key(key: &[u8]) -> Option<Site> {
    let name = key.get(2..)?.split(|byte| *byte == 0).next()?;
    Some(Site::of_host(std::str::from_utf8(name).ok()?)).filter(|site| !site.as_str().is_empty())
}

/// The smallest key behind all rows of the site whose row has `key`.
pub fn behind_site(site: &Site) -> Vec<u8> {
    let mut behind = key::site_prefix(site);
    if let Some(last) = behind.last_mut() {
        *last = 1;
    }
    behind
}

/// What follows the site in a key, as text.
pub fn rest_of_key(key: &[u8]) -> Option<&str> {
    let end = key.get(2..)?.iter().position(|byte| *byte == 0)? + 3;
    std::str::from_utf8(key.get(end..)?).ok()
}
