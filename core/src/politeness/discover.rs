//! Which of the URLs that pages, sitemaps and redirects lead to are taken into the queue, and the count of those that are not.
//!
//! What is a trap is said in [`crate::discovery`]; here it meets what the queue holds. What robots.txt forbids, and what lies at an address
//! that is never dialled, does take a place: there its reason stands, for `explain`; it is counted when it leaves. Invariant: a URL that is
//! in the queue is never judged again, so a seed, and what was taken once, stays.

use super::{FoundUrl, HostState};
use crate::discovery::{self, Judgement, LinkDrop, LinkDropCounts, QueueShape};
use crate::ledger::TicketNumber;
use crate::page_choice::{Added, FrontierEntry, PageLinks};
use crate::time::Timestamp;
use crate::url::PageUrl;

impl HostState {
    /// Takes links of this site into the queue, from wherever they come; those of other sites and excluded ones are left out.
    pub fn on_links(&mut self, found: impl IntoIterator<Item = FoundUrl>, now: Timestamp) {
        let mut shape = None;
        for link in found {
            if self.takes_up(&link.url, None, &mut shape, now)
                && self.queue.add(link.url, link.depth, link.num_hops, self.rules.max_queued_urls) == Added::NoRoom
            {
                self.dropped_links.count(LinkDrop::QueueFull);
            }
        }
    }

    /// The page of `ticket` was read, and says this about the pages around it; of a ticket that is not the open one, nothing is taken.
    /// Called before its outcome.
    pub fn on_page_links(&mut self, ticket: TicketNumber, mut page: PageLinks, now: Timestamp) {
        let Some(open) = self.account.open.as_ref().filter(|open| open.ticket == ticket) else { return };
        let from = open.url.clone();
        let mut shape = None;
        page.links.retain(|link| self.takes_up(&link.url, Some(&from), &mut shape, now));
        let num_without_place = self.queue.add_links(&from, page, self.rules.max_queued_urls);
        self.dropped_links.add(LinkDrop::QueueFull, num_without_place);
    }

    /// Counts URLs that were left out before they came here.
    pub fn note_dropped_links(&mut self, dropped: &LinkDropCounts) {
        self.dropped_links.add_all(dropped);
    }

    pub(super) fn count_dropped_link(&mut self, drop: LinkDrop) {
        self.dropped_links.count(drop);
    }

    /// How many URLs were not taken up since the site went live, by reason.
    pub fn dropped_links(&self) -> &LinkDropCounts {
        &self.dropped_links
    }

    /// Whether a URL may have a place in the queue if there is one; what is against it is counted. `shape` is made when a URL first asks
    /// for it: most pages have none that does.
    fn takes_up(
        &mut self,
        url: &PageUrl,
        from: Option<&PageUrl>,
        shape: &mut Option<QueueShape>,
        now: Timestamp,
    ) -> bool {
        if !self.site.contains_host(url.host()) {
            return false;
        }
        if self.queue.get(url).is_some() {
            return true;
        }
        self.may_take_up(url, from, shape, now).map_err(|drop| self.dropped_links.count(drop)).is_ok()
    }

    fn may_take_up(
        &self,
        url: &PageUrl,
        from: Option<&PageUrl>,
        shape: &mut Option<QueueShape>,
        now: Timestamp,
    ) -> Result<(), LinkDrop> {
        self.may_stand_in_queue(url, now)?;
        if !QueueShape::concerns(url) {
            return Ok(());
        }
        let of_queue = || QueueShape::of(self.queue.entries().iter().map(|entry| &entry.url), now);
        shape.get_or_insert_with(of_queue).admit(url, from).map_err(LinkDrop::Trap)
    }

    /// What the URL alone says against it.
    fn may_stand_in_queue(&self, url: &PageUrl, now: Timestamp) -> Result<(), LinkDrop> {
        if self.exclusions.covers_host(url.host()) {
            return Err(LinkDrop::Excluded);
        }
        match discovery::judge(url, now) {
            Judgement::Clear | Judgement::Suspect(_) => Ok(()),
            Judgement::Trap(kind) => Err(LinkDrop::Trap(kind)),
        }
    }

    /// Those of the pages that a sitemap lists which may be queued. They are judged alone: what a site lists, it lists with an end.
    pub(super) fn listed_to_take_up(&mut self, listed: Vec<PageUrl>, now: Timestamp) -> Vec<PageUrl> {
        let mut kept = Vec::with_capacity(listed.len());
        for url in listed.into_iter().filter(|url| self.site.contains_host(url.host())) {
            match self.may_stand_in_queue(&url, now) {
                Ok(()) => kept.push(url),
                Err(drop) => self.dropped_links.count(drop),
            }
        }
        kept
    }

    /// Counts those that found no place in the queue.
    pub(super) fn count_without_place(&mut self, listed: &[PageUrl]) {
        let num = listed.iter().filter(|url| self.queue.get(url).is_none()).count();
        self.dropped_links.add(LinkDrop::QueueFull, num);
    }

    /// Whether a URL that waits is to be asked for last, since it looks like part of a trap. Where a crawl starts is never one.
    pub fn looks_like_a_trap(entry: &FrontierEntry, now: Timestamp) -> bool {
        entry.depth > 0 && !entry.role.is_sitemap() && discovery::is_suspect(&entry.url, now)
    }
}
