//! What a queue remembers of the pages that were read: how many links each has, and, at each URL, which of them link to it.
//!
//! A page that was read has a slot, a number below [`NUM_LINK_SLOTS`]; each URL has a bit for each slot. So what is known of a site's links
//! costs four bytes a URL, and still a page that is read once more takes all its former links back. Invariants: no two entries have the
//! same slot; what a bit says counts only while an entry has its slot, and bits of
//! a slot are cleared when it is taken.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::{Added, EntryStanding, PageQueue, weighing};
use crate::language::{Closeness, Language};
use crate::url::PageUrl;

/// Pages of a site whose links are remembered: those of a cycle, and some of the one before.
pub const NUM_LINK_SLOTS: usize = 32;

/// What is remembered of a page that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReading {
    /// Which bit of [`super::FrontierEntry::linked_from`] stands for it.
    pub slot: u8,
    /// URLs of its site that it links to.
    pub num_links: u16,
    /// The language that it says it is in.
    pub language: Option<Language>,
}

/// A link of a page that may be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPage {
    /// Where it leads.
    pub url: PageUrl,
    /// Fingerprint of the target of the link that it stands below in the page's outline, where it does.
    pub above: Option<NonZeroU64>,
}

/// What a page says about the pages around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLinks {
    /// The links to be followed, each target once.
    pub links: Vec<LinkedPage>,
    /// The language that it says it is in.
    pub language: Option<Language>,
    /// The same page in other languages, as it says by `hreflang`.
    pub versions: Vec<(Language, PageUrl)>,
}

impl PageQueue {
    /// Puts in what the page at `of` links to, and remembers that it does; gives how many links found no place.
    pub fn add_links(&mut self, of: &PageUrl, page: PageLinks, max_urls: usize) -> usize {
        let PageLinks { links, language, versions } = page;
        let depth = self.get(of).map_or(0, |entry| entry.depth).saturating_add(1);
        let num_links = u16::try_from(links.len()).unwrap_or(u16::MAX);
        let bit = self.open_slot(of, num_links, language);
        let mut num_without_place = 0;
        for LinkedPage { url, above } in links {
            let fingerprint = url.fingerprint();
            let added = self.add(url, depth, 0, max_urls);
            num_without_place += usize::from(added == Added::NoRoom);
            let is_new = added == Added::New;
            if let Some(&place) = self.places.get(&fingerprint) {
                let entry = &mut self.entries[place];
                entry.linked_from |= bit;
                entry.above = if is_new { above } else { entry.above };
            }
        }
        self.note_versions(of, language, &versions);
        self.is_weighed = false;
        num_without_place
    }

    /// What links to `from` links to where it redirects to.
    pub fn pass_links_on(&mut self, from: &PageUrl, to: &PageUrl) {
        let Some((linked_from, above)) = self.get(from).map(|entry| (entry.linked_from, entry.above)) else { return };
        if let Some(&place) = self.places.get(&to.fingerprint()) {
            let entry = &mut self.entries[place];
            entry.linked_from |= linked_from;
            entry.above = entry.above.or(above);
            self.is_weighed = false;
        }
    }

    /// The bit of the page at `of`, which has these links from now on; no bit where there is no slot for it.
    fn open_slot(&mut self, of: &PageUrl, num_links: u16, language: Option<Language>) -> u32 {
        let Some(&place) = self.places.get(&of.fingerprint()) else { return 0 };
        let slot = match &self.entries[place].reading {
            Some(reading) => Some(reading.slot),
            None => self.free_slot().or_else(|| self.late_slot()),
        };
        let Some(slot) = slot.filter(|slot| usize::from(*slot) < NUM_LINK_SLOTS) else { return 0 };
        let bit = 1_u32 << slot;
        for entry in &mut self.entries {
            entry.linked_from &= !bit;
            entry.reading.take_if(|reading| reading.slot == slot);
        }
        self.entries[place].reading = Some(Box::new(PageReading { slot, num_links, language }));
        bit
    }

    fn free_slot(&self) -> Option<u8> {
        let used = self.entries.iter().filter_map(|entry| entry.reading.as_ref());
        let used = used.fold(0_u32, |used, reading| used | 1_u32.checked_shl(reading.slot.into()).unwrap_or(0));
        u8::try_from(used.trailing_ones()).ok().filter(|slot| usize::from(*slot) < NUM_LINK_SLOTS)
    }

    /// The slot of the page that was found last, of those that were not stored in this cycle: what is found late is worth least.
    fn late_slot(&self) -> Option<u8> {
        let is_past = |standing: &EntryStanding| *standing != EntryStanding::Stored;
        let past = self.entries.iter().rev().filter(|entry| is_past(&entry.standing));
        past.filter_map(|entry| entry.reading.as_ref()).map(|reading| reading.slot).next()
    }

    /// Of a page and its versions, the one in the site's own language stands for all.
    fn note_versions(&mut self, of: &PageUrl, language: Option<Language>, versions: &[(Language, PageUrl)]) {
        let main = weighing::main_language(&self.entries);
        let closeness = |language: Option<Language>| match (language, main) {
            (Some(language), Some(main)) => language.closeness(&main),
            (Some(_), None) | (None, _) => Closeness::Other,
        };
        let of_page = closeness(language);
        for (version, url) in versions.iter().filter(|(version, url)| url != of && language != Some(*version)) {
            // A version that is nearer than the page itself is wanted still.
            let is_nearer = closeness(Some(*version)) > of_page;
            if let Some(&place) = self.places.get(&url.fingerprint()).filter(|_| !is_nearer) {
                self.entries[place].is_other_version = true;
            }
        }
    }
}
