//! Keys of stored rows: (partition, site, 0x00, rest), so that a site's rows lie together and a share of the sites is a range.

use crate::site::Site;

/// Number of partitions; a site's partition is xxh3(site) modulo this.
pub const PARTITIONS: u16 = 1024;

/// A 64-bit hash of a site (xxh3 of its name). It is stored, so it never changes.
pub fn site_hash(site: &Site) -> u64 {
    xxhash_rust::xxh3::xxh3_64(site.as_str().as_bytes())
}

/// The partition of a site.
pub fn partition(site: &Site) -> u16 {
    u16::try_from(site_hash(site) % u64::from(PARTITIONS)).expect("less than 1,024")
}

/// The prefix that all rows of `site` share: partition, site, a zero byte.
pub fn site_prefix(site: &Site) -> Vec<u8> {
    let mut key = Vec::with_capacity(site.as_str().len() + 3);
    key.extend_from_slice(&partition(site).to_be_bytes());
    key.extend_from_slice(site.as_str().as_bytes());
    key.push(0);
    key
}

/// The key of one row of `site`.
pub fn row(site: &Site, rest: &[u8]) -> Vec<u8> {
    let mut key = site_prefix(site);
    key.extend_from_slice(rest);
    key
}
