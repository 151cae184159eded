//! Which of the URLs that pages, sitemaps and redirects lead to are taken into the queue, and the count of those that are not.
//!
//! What is a trap is said in [`crate::discovery`]; here it meets what the queue holds. What robots.txt forbids, and what lies at an address
//! that is never dialled, does take a place: there its reason stands, for `explain`; it is counted when it leaves. Invariant: a URL that is
//! in the queue is never judged again, so a seed, and what was taken once, stays.

use super::{FoundUrl, HostState};
use crate::discovery::{self, Judgement, LinkDrop, LinkDropCounts, QueueShape};
use crate::page_choice::{Added, FrontierEntry};
use crate::time::Timestamp;
use crate::url::PageUrl;

impl HostState {
    /// Takes links of this site into the queue, from wherever they come; those of other sites and excluded ones are left out.
    pub fn on_links(&mut self, found: impl IntoIterator<Item = FoundUrl>, now: Timestamp) {
        self.take_up(found, None, now);
    }

    /// The same for the links on the page whose request is open.
    pub fn on_page_links(&mut self, found: impl IntoIterator<Item = FoundUrl>, now: Timestamp) {
        let page = self.account.open.as_ref().map(|open| open.url.clone());
        self.take_up(found, page.as_ref(), now);
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

    fn take_up(&mut self, found: impl IntoIterator<Item = FoundUrl>, from: Option<&PageUrl>, now: Timestamp) {
        // Made when a link first asks for it: most pages have none that does.
        let mut shape = None;
        for link in found {
            if !self.site.contains_host(link.url.host()) {
                continue;
            }
            if self.queue.get(&link.url).is_none()
                && let Err(drop) = self.may_take_up(&link.url, from, &mut shape, now)
            {
                self.dropped_links.count(drop);
                continue;
            }
            match self.queue.add(link.url, link.depth, link.num_hops, self.rules.max_queued_urls) {
                Added::New | Added::Known => {}
                Added::NoRoom => self.dropped_links.count(LinkDrop::QueueFull),
            }
        }
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
    pub(super) fn looks_like_a_trap(entry: &FrontierEntry, now: Timestamp) -> bool {
        entry.depth > 0 && !entry.role.is_sitemap() && discovery::is_suspect(&entry.url, now)
    }
}
