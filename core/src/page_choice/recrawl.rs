//! The queue in a later cycle, and in one that an operator wants to go on: what has a record, and what is asked again.

use super::{EntryStanding, FrontierEntry, PageQueue};
use crate::record::StoredCopy;
use crate::time::Timestamp;
use crate::url::PageUrl;

impl PageQueue {
    /// Says what the store holds of a page now.
    pub fn note_copy(&mut self, url: &PageUrl, copy: Option<&StoredCopy>) {
        if let Some(&place) = self.places.get(&url.fingerprint()) {
            self.entries[place].has_record = copy.is_some();
        }
    }

    /// Up to `limit` pages that are done with in this cycle may be asked once more: those with the oldest records first, then those
    /// without one, as found. Gives how many. `asked_at` says when a record was last found right.
    pub fn reopen_oldest(&mut self, limit: u16, asked_at: impl Fn(&PageUrl) -> Option<Timestamp>) -> u16 {
        let is_done =
            |entry: &FrontierEntry| !entry.role.is_sitemap() && !matches!(entry.standing, EntryStanding::Queued);
        let mut done: Vec<_> = self.entries.iter_mut().filter(|entry| is_done(entry)).collect();
        // The sort keeps the order of equals: as found.
        done.sort_by_cached_key(|entry| {
            let asked_at = asked_at(&entry.url);
            (asked_at.is_none(), asked_at)
        });
        let mut num_reopened = 0;
        for entry in done.into_iter().take(limit.into()) {
            entry.standing = EntryStanding::Queued;
            entry.num_tries = 0;
            num_reopened += 1;
        }
        num_reopened
    }
}
