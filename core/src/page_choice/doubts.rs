//! What the answers of a cycle so far say against URLs that still wait: that those like them brought nothing, or that they lie on one more
//! host of many.
//!
//! A URL that nothing but its address and its links speak for may be the next of a list of dead links, of downloads, of redirects; the
//! list shows it by its first answers. So the answers are counted by what is alike ([`discovery::likenesses`]): where [`PATIENCE`] of a
//! kind brought nothing, and fewer than that a page, what is left of the kind is asked behind what has nothing against it. A site's
//! hosts are learnt alike: each costs a robots.txt beside its page, so where [`MAX_FRESH_HOSTS`] were taken up and hold no second page
//! that was wanted, others wait behind the pages of those that answered.
//!
//! What this deliberately does not do: drop anything, or remember anything. It is all read off the entries, and a new cycle asks anew.
//! Invariants: the same queue gives the same doubts; where a crawl starts, and what the store holds, is never doubted; one look at each
//! entry is all that it costs.

use std::collections::HashMap;

use super::{DropReason, EntryRole, EntryStanding, FrontierEntry};
use crate::discovery;

/// Answers of a kind that bring nothing before the rest of the kind waits.
const PATIENCE: u32 = 3;
/// Hosts without a second stored page, beside those where the crawl starts, that are taken up before others wait.
const MAX_FRESH_HOSTS: usize = 3;
/// Stored pages that make a host one of those that are known.
const NUM_PAGES_OF_KNOWN_HOST: u32 = 2;

/// What came of asking for a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Yield {
    /// A page that is stored.
    Page,
    /// Nothing to store.
    Nothing,
}

/// How much speaks against each entry: for each kind of likeness in which others brought nothing, and for a host too many, one.
pub(super) fn doubts(entries: &[FrontierEntry]) -> Vec<u8> {
    let mut tallies: HashMap<(usize, u64), Tally> = HashMap::new();
    for (entry, yielded) in entries.iter().filter_map(|entry| Some((entry, yield_of(entry)?))) {
        for likeness in discovery::likenesses(&entry.url).into_iter().enumerate() {
            tallies.entry(likeness).or_default().note(yielded);
        }
    }
    tallies.retain(|_, tally| tally.is_barren());
    let hosts = Hosts::of(entries);
    let of_entry = |entry: &FrontierEntry| {
        let may_be_doubted = entry.standing == EntryStanding::Queued
            && entry.role == EntryRole::Page
            && entry.depth > 0
            && !entry.has_record;
        if !may_be_doubted {
            return 0;
        }
        let is_barren = |likeness: &(usize, u64)| tallies.contains_key(likeness);
        let num_barren = match tallies.is_empty() {
            true => 0,
            false => discovery::likenesses(&entry.url).into_iter().enumerate().filter(is_barren).count(),
        };
        u8::try_from(num_barren).unwrap_or(u8::MAX).saturating_add(u8::from(hosts.is_one_too_many(entry.url.host())))
    };
    entries.iter().map(of_entry).collect()
}

/// What asking for a URL brought, if its answer says something about others.
fn yield_of(entry: &FrontierEntry) -> Option<Yield> {
    if entry.role != EntryRole::Page {
        return None;
    }
    match &entry.standing {
        EntryStanding::Stored => Some(Yield::Page),
        // It did in an earlier cycle.
        EntryStanding::Queued => entry.has_record.then_some(Yield::Page),
        EntryStanding::SitemapRead { .. } => None,
        EntryStanding::Dropped(reason) => brings_nothing(reason).then_some(Yield::Nothing),
    }
}

/// Whether a URL that was dropped for this reason was asked for in vain. What was never asked tells nothing, nor does a full store.
fn brings_nothing(reason: &DropReason) -> bool {
    match reason {
        DropReason::NotHtml
        | DropReason::Gone
        | DropReason::Barrier(_)
        | DropReason::Noindex
        | DropReason::Redirect { .. }
        | DropReason::Status(_)
        | DropReason::TooManyTries
        | DropReason::ExtractionFailed
        | DropReason::OtherFormat
        | DropReason::MovedForGood { .. } => true,
        DropReason::Robots { .. }
        | DropReason::Excluded
        | DropReason::TooManyOrigins
        | DropReason::RobotsUnreachable
        | DropReason::AddressRefused { .. }
        | DropReason::NoSuchName
        | DropReason::RobotsLogin { .. }
        | DropReason::StoreFull
        | DropReason::NoSitemap
        | DropReason::SitemapsSpent => false,
    }
}

/// What came of URLs that are alike.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    num_pages: u32,
    num_nothing: u32,
}

impl Tally {
    fn note(&mut self, yielded: Yield) {
        match yielded {
            Yield::Page => self.num_pages += 1,
            Yield::Nothing => self.num_nothing += 1,
        }
    }

    fn is_barren(&self) -> bool {
        self.num_nothing >= PATIENCE && self.num_nothing > self.num_pages
    }
}

/// The hosts of a site, and how far each is known.
struct Hosts<'a> {
    by_name: HashMap<&'a str, Host>,
    num_fresh: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// The crawl starts there.
    is_start: bool,
    /// Something of it was asked, its robots.txt at least.
    was_taken_up: bool,
    num_pages: u32,
}

impl<'a> Hosts<'a> {
    fn of(entries: &'a [FrontierEntry]) -> Self {
        let mut by_name: HashMap<&str, Host> = HashMap::new();
        for entry in entries {
            let host = by_name.entry(entry.url.host()).or_default();
            host.is_start |= entry.depth == 0;
            host.was_taken_up |= entry.has_record || was_looked_at(&entry.standing);
            host.num_pages += u32::from(yield_of(entry) == Some(Yield::Page));
        }
        let is_fresh = |host: &&Host| !host.is_start && host.was_taken_up && host.num_pages < NUM_PAGES_OF_KNOWN_HOST;
        let num_fresh = by_name.values().filter(is_fresh).count();
        Self { by_name, num_fresh }
    }

    fn is_one_too_many(&self, name: &str) -> bool {
        let is_new = self.by_name.get(name).is_some_and(|host| !host.is_start && !host.was_taken_up);
        is_new && self.num_fresh >= MAX_FRESH_HOSTS
    }
}

/// Whether the site was asked anything before a URL came to stand so.
fn was_looked_at(standing: &EntryStanding) -> bool {
    match standing {
        EntryStanding::Queued
        | EntryStanding::Dropped(
            DropReason::Excluded
            | DropReason::TooManyOrigins
            | DropReason::AddressRefused { .. }
            | DropReason::StoreFull
            | DropReason::SitemapsSpent,
        ) => false,
        EntryStanding::Stored | EntryStanding::SitemapRead { .. } | EntryStanding::Dropped(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::PageUrl;

    fn url(raw: &str) -> PageUrl {
        let home = PageUrl::parse("https://a.test/", None).unwrap();
        PageUrl::parse(raw, Some(&home)).unwrap()
    }

    fn entry(raw: &str, standing: EntryStanding) -> FrontierEntry {
        FrontierEntry { standing, num_inlinks: 1, ..FrontierEntry::new(url(raw), 1) }
    }

    const GONE: EntryStanding = EntryStanding::Dropped(DropReason::Gone);

    /// The home page, these, and one that waits: how much it is doubted.
    #[track_caller]
    fn check(settled: &[(&str, EntryStanding)], waiting: &str, wanted: u8) {
        let home = FrontierEntry { depth: 0, ..entry("/", EntryStanding::Stored) };
        let mut entries = vec![home];
        entries.extend(settled.iter().map(|(raw, standing)| entry(raw, standing.clone())));
        entries.push(entry(waiting, EntryStanding::Queued));
        assert_eq!(doubts(&entries).last(), Some(&wanted), "{waiting} beside {settled:?}");
        // What is settled is doubted no more.
        assert!(doubts(&entries).iter().rev().skip(1).all(|doubts| *doubts == 0));
    }

    #[test]
    fn rest_of_a_kind_is_doubted_once_three_brought_nothing_and_fewer_a_page() {
        let gone = |num: usize| (0..num).map(|_| ("/old/1", GONE));
        let pages = |num: usize| (0..num).map(|_| ("/old/2", EntryStanding::Stored));
        for (num_gone, num_pages, wanted) in [(2, 0, 0), (3, 0, 3), (3, 2, 3), (3, 3, 0), (4, 3, 3), (9, 9, 0)] {
            check(&gone(num_gone).chain(pages(num_pages)).collect::<Vec<_>>(), "/old/3", wanted);
        }
    }

    #[test]
    fn the_more_alike_the_more_doubted() {
        let settled: Vec<_> = ["/old/1", "/old/2", "/old/3"].map(|raw| (raw, GONE)).to_vec();
        for (waiting, wanted) in
            [("/old/4", 3), ("/old/44", 2), ("/old/x", 1), ("/new/4", 2), ("/new/x", 0), ("https://b.a.test/old/4", 0)]
        {
            check(&settled, waiting, wanted);
        }
    }

    #[test]
    fn only_what_was_asked_in_vain_tells_of_others() {
        let target = || url("/elsewhere");
        for (reason, tells) in [
            (DropReason::Gone, true),
            (DropReason::NotHtml, true),
            (DropReason::Barrier(crate::barrier::BarrierKind::Forbidden), true),
            (DropReason::Noindex, true),
            (DropReason::Redirect { target: None }, true),
            (DropReason::MovedForGood { target: target() }, true),
            (DropReason::Status(418), true),
            (DropReason::TooManyTries, true),
            (DropReason::ExtractionFailed, true),
            (DropReason::OtherFormat, true),
            (DropReason::Robots { line: 1, text: String::new() }, false),
            (DropReason::Excluded, false),
            (DropReason::TooManyOrigins, false),
            (DropReason::RobotsUnreachable, false),
            (DropReason::NoSuchName, false),
            (DropReason::AddressRefused { why: String::new() }, false),
            (DropReason::RobotsLogin { status: 401 }, false),
            (DropReason::StoreFull, false),
            (DropReason::NoSitemap, false),
            (DropReason::SitemapsSpent, false),
        ] {
            let settled = vec![("/old/1", EntryStanding::Dropped(reason)); 3];
            check(&settled, "/old/3", if tells { 3 } else { 0 });
        }
        check(&vec![("/old/1", EntryStanding::SitemapRead { num_urls: 0 }); 3], "/old/3", 0);
    }

    #[test]
    fn seeds_sitemaps_and_what_the_store_holds_are_not_doubted_nor_do_sitemaps_tell() {
        let gone = || vec![entry("/old/1", GONE), entry("/old/2", GONE), entry("/old/3", GONE)];
        let waiting = || entry("/old/4", EntryStanding::Queued);
        let doubts_of = |waiting: FrontierEntry| doubts(&[gone(), vec![waiting]].concat())[3];
        assert_eq!(doubts_of(waiting()), 3);
        assert_eq!(doubts_of(FrontierEntry { depth: 0, ..waiting() }), 0);
        assert_eq!(doubts_of(FrontierEntry { has_record: true, ..waiting() }), 0);
        assert_eq!(doubts_of(FrontierEntry { role: EntryRole::GuessedSitemap, ..waiting() }), 0);
        let of_sitemaps = gone().into_iter().map(|entry| FrontierEntry { role: EntryRole::GuessedSitemap, ..entry });
        assert_eq!(doubts(&of_sitemaps.chain([waiting()]).collect::<Vec<_>>())[3], 0);
    }

    #[test]
    fn pages_of_an_earlier_cycle_speak_for_their_kind() {
        let known = FrontierEntry { has_record: true, ..entry("/old/0", EntryStanding::Queued) };
        let gone = ["/old/1", "/old/2", "/old/3"].map(|raw| entry(raw, GONE));
        let entries = [vec![known; 3], gone.to_vec(), vec![entry("/old/4", EntryStanding::Queued)]].concat();
        assert_eq!(doubts(&entries).last(), Some(&0));
    }

    const PAGE: EntryStanding = EntryStanding::Stored;

    #[test]
    fn a_fourth_new_host_waits_until_one_of_three_has_a_second_page() {
        let new = "https://x.a.test/";
        let (one, two) = (("https://one.a.test/", PAGE), ("https://two.a.test/p", PAGE));
        check(&[one.clone(), two.clone()], new, 0);
        for third in [PAGE, GONE, EntryStanding::Dropped(DropReason::NoSuchName)] {
            let settled = vec![one.clone(), two.clone(), ("https://three.a.test/", third)];
            check(&settled, new, 1);
            check(&settled, "https://one.a.test/more", 0);
            check(&settled, "/more", 0);
            check(&[settled, vec![("https://one.a.test/more", PAGE)]].concat(), new, 0);
        }
        // Of the third, nothing was ever asked.
        for reason in [
            DropReason::Excluded,
            DropReason::TooManyOrigins,
            DropReason::StoreFull,
            DropReason::SitemapsSpent,
            DropReason::AddressRefused { why: String::new() },
        ] {
            let third = ("https://three.a.test/", EntryStanding::Dropped(reason));
            check(&[one.clone(), two.clone(), third], new, 0);
        }
    }

    #[test]
    fn hosts_where_the_crawl_starts_are_not_new_and_records_make_a_host_known() {
        let hosts = || ["one", "two", "three"].map(|name| entry(&format!("https://{name}.a.test/"), PAGE)).to_vec();
        let waiting = || vec![entry("https://x.a.test/p", EntryStanding::Queued)];
        let doubts_of = |entries: Vec<Vec<FrontierEntry>>| doubts(&entries.concat()).last().copied();
        assert_eq!(doubts_of(vec![hosts(), waiting()]), Some(1));
        let start = FrontierEntry { depth: 0, ..entry("https://x.a.test/", EntryStanding::Queued) };
        assert_eq!(doubts_of(vec![hosts(), vec![start], waiting()]), Some(0));
        let held = FrontierEntry { has_record: true, ..entry("https://x.a.test/held", EntryStanding::Queued) };
        assert_eq!(doubts_of(vec![hosts(), vec![held], waiting()]), Some(0));
        let starts = hosts().into_iter().map(|entry| FrontierEntry { depth: 0, ..entry }).collect();
        assert_eq!(doubts_of(vec![starts, waiting()]), Some(0));
    }
}
