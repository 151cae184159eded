//! robots.txt across sites: a file that redirects to another site's `/robots.txt` is that site's own to ask for.
//!
//! The site whose file redirects is the borrower. It asks nothing itself: it says [`HostAction::BorrowRobots`](super::HostAction) and
//! waits, without a ticket, until [`HostState::on_borrowed`] tells what came of it. The other site is the lender: its own state machine
//! asks for the file under its own delay, waits and exclusions ([`HostState::want_robots`]), once however many sites wait for it, and says
//! what came of it ([`HostState::take_lent`]). The rules count for the borrower's origin too, and for no other (RFC 9309 §2.3.1.2).
//!
//! What this deliberately does not know: which sites are live, and who waits for whom. The carrier answers with
//! [`LentRobots::Unreachable`] where the other site cannot be asked, or waits for the borrower in its turn; in doubt nothing is fetched.
//!
//! Invariant: every origin that was wanted is answered once, at the latest when the site is given up.

use std::time::Duration;

use super::{Arrival, HostState, PolicyCopy};
use crate::ledger::{SiteEvent, WaitReason};
use crate::origin::Origin;
use crate::robots::status::MAX_ROBOTS_HOPS;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// What a site can tell another one of its robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LentRobots {
    /// It was read, within the time that a copy counts.
    Read(Box<PolicyCopy>),
    /// It cannot be read, or not by this site now.
    Unreachable,
}

impl HostState {
    /// The origin of another site whose robots.txt this site waits for.
    pub fn borrows_from(&self) -> Option<Origin> {
        let way = self.robots_way.as_ref()?;
        let current = way.hops.current();
        (!self.site.contains_host(current.host())).then(|| current.origin())
    }

    /// The other site's end of [`HostAction::BorrowRobots`](super::HostAction); for another origin than the one waited for it changes
    /// nothing.
    pub fn on_borrowed(&mut self, from: &Origin, lent: LentRobots, arrival: Arrival) {
        if self.borrows_from().as_ref() != Some(from) {
            return;
        }
        let Some(way) = self.robots_way.take() else { return };
        let own_hops = way.hops.num_hops() as u8;
        match lent {
            LentRobots::Read(copy) if usize::from(own_hops.saturating_add(copy.num_hops)) <= MAX_ROBOTS_HOPS => {
                let num_hops = own_hops + copy.num_hops;
                let (origin, read_at) = (way.origin.clone(), copy.fetched_at);
                self.record(arrival.at, SiteEvent::RobotsBorrowed { origin, lender: from.clone(), read_at });
                self.keep_copy(&way.origin, PolicyCopy { num_hops, kept_at: arrival.at, ..*copy });
                self.stretch_delay(arrival.at);
            }
            LentRobots::Read(_) | LentRobots::Unreachable => {
                self.note_robots_unreachable(&way.origin, None, WaitReason::RobotsUnreachable, arrival);
            }
        }
    }

    /// The last request's delay was recorded before the borrowed file's Crawl-delay was known.
    fn stretch_delay(&mut self, at: Timestamp) {
        let delay = self.delay_after(Duration::ZERO);
        if delay > self.account.delay {
            self.record(at, SiteEvent::Delay(delay));
        }
    }

    /// Another site's robots.txt redirects to the one of `origin`; [`Self::take_lent`] tells what is read there.
    pub fn want_robots(&mut self, origin: Origin, now: Timestamp) {
        // Of this site's own accord alone: another one must not send it to ports and names that nothing of its own leads to.
        let is_own = self.is_own_host(origin.host()) && self.knows_origin(&origin);
        let known = self.robots_of(&origin);
        let copy = known.and_then(|robots| robots.copy.as_ref()).filter(|copy| now < copy.expires_at);
        if let Some(copy) = copy.filter(|_| is_own) {
            let copy = Box::new(copy.clone());
            return self.lent.push((origin, LentRobots::Read(copy)));
        }
        let just_failed = known.is_some_and(|robots| now < robots.retry_at);
        if !is_own || just_failed || !self.may_ask_origin(&origin) {
            return self.lent.push((origin, LentRobots::Unreachable));
        }
        if !self.wanted.contains(&origin) {
            self.wanted.push(origin);
        }
    }

    fn knows_origin(&self, origin: &Origin) -> bool {
        let mut urls =
            self.seeds.iter().map(|seed| &seed.url).chain(self.queue.entries().iter().map(|entry| &entry.url));
        self.robots_of(origin).is_some() || urls.any(|url| url.origin() == *origin)
    }

    /// What became of origins that were wanted, since the last call.
    pub fn take_lent(&mut self) -> Vec<(Origin, LentRobots)> {
        std::mem::take(&mut self.lent)
    }

    /// Where to ask next for another site's sake.
    pub(super) fn wanted_robots_url(&mut self) -> Option<PageUrl> {
        while let Some(origin) = self.wanted.first().cloned() {
            if self.may_ask_origin(&origin) {
                return Some(origin.robots_url());
            }
            self.lend(&origin, LentRobots::Unreachable);
        }
        None
    }

    /// Ends the want of an origin, if it was wanted.
    pub(super) fn lend(&mut self, origin: &Origin, lent: LentRobots) {
        if let Some(place) = self.wanted.iter().position(|wanted| wanted == origin) {
            let origin = self.wanted.remove(place);
            self.lent.push((origin, lent));
        }
    }

    /// Ends the wants of these origins, unread.
    pub(super) fn lend_nothing_of(&mut self, which: impl Fn(&Origin) -> bool) {
        let ended = self.wanted.extract_if(.., |origin| which(origin));
        self.lent.extend(ended.map(|origin| (origin, LentRobots::Unreachable)));
    }
}
