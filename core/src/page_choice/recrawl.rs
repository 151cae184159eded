//! The queue in a later cycle, and in one that an operator wants to go on: what has a record, and what is asked again.

use super::{EntryStanding, FrontierEntry, PageQueue};
use crate::record::StoredCopy;
use crate::time::Timestamp;
use crate::url::PageUrl;

impl PageQueue {
    /// Says which pages the store holds, and in which cycle each was last found right; `cycle` is the newest one.
    ///
    /// A record is durable a moment before the queue that tells of it, and a store can be restored: so a stored page that the queue does not
    /// know joins it, even where it is full. Else nobody would ever ask for it again, nor remove it when it is gone.
    pub fn note_records<'a>(&mut self, stored: impl IntoIterator<Item = (&'a PageUrl, u32)>, cycle: u32) {
        self.entries.iter_mut().for_each(|entry| entry.has_record = false);
        for (url, found_right_in) in stored {
            let is_new = self.get(url).is_none();
            if is_new {
                self.push(FrontierEntry { num_inlinks: 1, ..FrontierEntry::new(url.clone(), 1) });
            }
            let Some(&place) = self.places.get(&url.fingerprint()) else { continue };
            self.entries[place].has_record = true;
            if is_new && found_right_in >= cycle {
                self.entries[place].standing = EntryStanding::Stored;
            }
        }
        self.is_weighed = false;
    }

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
        self.is_weighed = false;
        num_reopened
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_choice::DropReason;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("https://a.test{path}"), None).unwrap()
    }

    #[test]
    fn stored_page_that_the_queue_lost_joins_it_and_is_asked_in_the_next_cycle() {
        let mut queue = PageQueue::default();
        queue.add(url("/"), 0, 0, 1);
        queue.settle(&url("/"), EntryStanding::Stored);
        let (now, before) = (url("/now"), url("/before"));
        queue.note_records([(&now, 2), (&before, 1)], 2);
        let seen: Vec<_> = queue.entries().iter().map(|entry| (entry.has_record, entry.standing.clone())).collect();
        let stored = EntryStanding::Stored;
        assert_eq!(seen, [(false, stored.clone()), (true, stored), (true, EntryStanding::Queued)]);
        queue.reopen();
        assert_eq!(queue.num_queued(), 3);
    }

    #[test]
    fn what_is_known_of_a_page_stays_where_its_record_is_noted() {
        let mut queue = PageQueue::default();
        queue.add(url("/x"), 3, 0, 9);
        queue.settle(&url("/x"), EntryStanding::Dropped(DropReason::TooManyTries));
        queue.note_records([(&url("/x"), 2)], 2);
        let entry = queue.get(&url("/x")).unwrap();
        assert_eq!((entry.depth, entry.num_inlinks, entry.has_record), (3, 1, true));
        assert_eq!(entry.standing, EntryStanding::Dropped(DropReason::TooManyTries));
        queue.note_copy(&url("/x"), None);
        assert!(!queue.get(&url("/x")).unwrap().has_record);
    }
}
