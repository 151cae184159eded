//! What is stored of a site between and during its cycles: its standing, its account, its queue.
//!
//! Three parts, stored apart because they change at different rates: the [`SiteRow`] (small, with each outcome), the
//! [`SiteFrontier`] (the queue), and one [`RobotsCopy`] an origin (up to half a megabyte, once a day).
//!
//! Invariant: `account` is the fold of all ledger entries of the site up to `account_seq`, and of none after it; so replaying the
//! ledger from any earlier point gives the same account.

use serde::{Deserialize, Serialize};

use crate::codec::{CodecError, Stored};
use crate::exclusion::Exclusions;
use crate::ledger::{FinishReason, LedgerEntry, LedgerEvent, SiteAccount, WaitReason};
use crate::older;
use crate::origin::Origin;
use crate::page_choice::FrontierEntry;
use crate::politeness::Seed;
use crate::recrawl::interval::ChangeRate;
use crate::site::Site;
use crate::time::Timestamp;

/// Most pages stored of one site (P1).
pub const MAX_PAGES_PER_SITE: usize = 20;

/// How a site stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SiteStanding {
    /// Waits for its turn: for its first cycle, or to be taken up again.
    Due,
    /// A host actor works on it.
    Live,
    /// Waits in mid-cycle, without an actor.
    Parked {
        /// Why.
        reason: WaitReason,
    },
    /// Its cycle is over; it rests until the next.
    Finished {
        /// How the cycle ended.
        reason: FinishReason,
    },
    /// The operator stopped it.
    Paused,
}

impl SiteStanding {
    /// One word for tables and filters.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Live => "live",
            Self::Parked { .. } => "parked",
            Self::Finished { .. } => "finished",
            Self::Paused => "paused",
        }
    }
}

/// The stored row of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRow {
    /// Which.
    pub site: Site,
    /// How it stands.
    pub standing: SiteStanding,
    /// When it is to be taken up next. Without meaning while it is live or paused.
    pub due_at: Timestamp,
    /// When it was first heard of.
    pub first_seen_at: Timestamp,
    /// Where its cycles start.
    pub seeds: Vec<Seed>,
    /// Budget, waits, open ticket.
    pub account: SiteAccount,
    /// Number of the newest ledger entry that `account` holds.
    pub account_seq: u64,
    /// Pages stored of it; kept by the store, whatever a writer puts here.
    pub num_pages: u16,
    /// When its last finished cycle ended.
    pub last_cycle_finished_at: Option<Timestamp>,
    /// How often it changes, as far as its cycles have shown.
    pub change_rate: ChangeRate,
}

/// Most seeds kept of one site.
pub const MAX_SEEDS_PER_SITE: usize = 1000;
/// Most bytes of seed URLs kept of one site: the row is one stored value, and that has a limit.
pub const MAX_SEED_URL_BYTES: usize = 256 << 10;

/// Adds `seed` to the seeds of its site, if it is new and within the caps.
pub fn take_seed(seeds: &mut Vec<Seed>, seed: Seed) -> SeedTaken {
    if seeds.contains(&seed) {
        return SeedTaken::Known;
    }
    let num_bytes: usize = seeds.iter().map(|seed| seed.url.as_str().len()).sum();
    if seeds.len() >= MAX_SEEDS_PER_SITE || num_bytes + seed.url.as_str().len() > MAX_SEED_URL_BYTES {
        return SeedTaken::NoRoom;
    }
    seeds.push(seed);
    SeedTaken::New
}

/// What [`take_seed`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedTaken {
    /// It is new.
    New,
    /// It was known.
    Known,
    /// The site has as many as are kept.
    NoRoom,
}

impl SiteRow {
    /// A site just heard of, due at once.
    pub fn new(site: Site, seeds: Vec<Seed>, now: Timestamp) -> Self {
        Self {
            site,
            standing: SiteStanding::Due,
            due_at: now,
            first_seen_at: now,
            seeds,
            account: SiteAccount::default(),
            account_seq: 0,
            num_pages: 0,
            last_cycle_finished_at: None,
            change_rate: ChangeRate::default(),
        }
    }

    /// Whether the site is taken up before its next cycle is due: then a closed one goes on, if [`SiteAccount::may_resume`].
    pub fn comes_before_next_cycle(&self, now: Timestamp) -> bool {
        let next_cycle_at = self.account.next_cycle_at;
        match self.standing {
            SiteStanding::Live => now < next_cycle_at,
            SiteStanding::Due | SiteStanding::Parked { .. } | SiteStanding::Finished { .. } => {
                self.due_at.max(now) < next_cycle_at
            }
            SiteStanding::Paused => false,
        }
    }

    /// Folds a ledger entry into the account, if it is one of this site that is not in it yet.
    pub fn replay(&mut self, entry: &LedgerEntry) -> Replayed {
        match &entry.event {
            LedgerEvent::Site { site, event } if *site == self.site && entry.seq > self.account_seq => {
                self.account.apply(entry.at, event);
                self.account_seq = entry.seq;
                Replayed::Folded
            }
            LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => Replayed::NotMine,
        }
    }
}

/// What [`SiteRow::replay`] did with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It is in the account now.
    Folded,
    /// It is of another site, or was in already.
    NotMine,
}

/// What is kept of one origin's robots.txt, in the form that the politeness rules keep it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsCopy {
    /// Whose.
    pub origin: Origin,
    /// Opaque to the store.
    pub bytes: Vec<u8>,
}

/// The URLs of one site's queue, as they are stored; [`crate::page_choice::PageQueue`] is the live form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFrontier {
    /// In the order they were found.
    pub entries: Vec<FrontierEntry>,
}

impl SiteFrontier {
    /// Takes out every URL on an excluded host; says how many.
    pub fn leave_out_excluded(&mut self, exclusions: &Exclusions) -> u64 {
        let before = self.entries.len();
        self.entries.retain(|entry| !exclusions.covers_host(entry.url.host()));
        (before - self.entries.len()) as u64
    }
}

impl Stored for SiteRow {
    const VERSION: u8 = 3;

    fn from_older(version: u8, body: &[u8]) -> Result<Self, CodecError> {
        older::site_row(version, body)
    }
}

impl Stored for SiteFrontier {
    const VERSION: u8 = 3;

    fn from_older(version: u8, body: &[u8]) -> Result<Self, CodecError> {
        older::site_frontier(version, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::SiteEvent;

    #[test]
    fn seeds_of_a_site_are_capped_in_number_and_in_bytes() {
        let seed = |path: &str| Seed::parse(&format!("https://a.test/{path}")).unwrap();
        let mut seeds = Vec::new();
        for number in 0..MAX_SEEDS_PER_SITE {
            assert_eq!(take_seed(&mut seeds, seed(&number.to_string())), SeedTaken::New);
        }
        assert_eq!(take_seed(&mut seeds, seed("0")), SeedTaken::Known);
        assert_eq!(take_seed(&mut seeds, seed("more")), SeedTaken::NoRoom);
        let mut long = Vec::new();
        for number in 0..MAX_SEEDS_PER_SITE {
            take_seed(&mut long, seed(&format!("{}{number}", "x".repeat(2000))));
        }
        assert!(long.len() < MAX_SEEDS_PER_SITE);
        let mut row = SiteRow::new(Site::of_host("a.test"), long, Timestamp::EPOCH);
        assert!(crate::codec::encode(&row).is_ok());
        row.seeds = seeds;
        assert!(crate::codec::encode(&row).is_ok());
    }

    #[test]
    fn replay_folds_each_entry_once_and_only_its_own() {
        let site = Site::of_host("example.com");
        let mut row = SiteRow::new(site.clone(), Vec::new(), Timestamp::EPOCH);
        let opened = |seq, site: &Site| LedgerEntry {
            seq,
            at: Timestamp::from_secs(seq),
            event: LedgerEvent::Site {
                site: site.clone(),
                event: SiteEvent::CycleOpened { cycle: 7, next_cycle_at: Timestamp::from_secs(9) },
            },
        };
        assert_eq!(row.replay(&opened(3, &Site::of_host("example.org"))), Replayed::NotMine);
        assert_eq!(row.account.cycle, 0);
        assert_eq!(row.replay(&opened(3, &site)), Replayed::Folded);
        assert_eq!((row.account.cycle, row.account_seq), (7, 3));
        assert_eq!(row.replay(&opened(3, &site)), Replayed::NotMine);
        assert_eq!(row.replay(&opened(2, &site)), Replayed::NotMine);
    }
}
