//! Who waits for whose robots.txt: brings a borrower and a lender together, never in a circle.
//!
//! A site waits for one other at most, so the waits are chains; one that would lead back to its beginning is refused, and so no two sites
//! ever wait for each other. A lender must be live: nothing is started, woken or taken up for another site's sake.

use actix::prelude::*;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::politeness::LentRobots;
use lohisoftbot_core::site::Site;

use super::FrontierActor;
use crate::host::LendRobots;

/// The robots.txt of `by` redirects to the one of this origin, of another site. Answered when that site has it, or cannot have it.
#[derive(Debug, Message)]
#[rtype(result = "LentRobots")]
pub struct BorrowRobots {
    /// The site that waits.
    pub by: Site,
    /// What it waits for.
    pub origin: Origin,
}

/// A wait of one site for another's robots.txt.
pub(super) struct Borrowing {
    lender: Site,
    number: u64,
}

impl FrontierActor {
    /// Whether `site` waits, through however many others, for `other`; a site waits for itself.
    fn waits_for(&self, site: &Site, other: &Site) -> bool {
        let mut waiting = Some(site);
        while let Some(current) = waiting {
            if current == other {
                return true;
            }
            waiting = self.borrowings.get(current).map(|borrowing| &borrowing.lender);
        }
        false
    }
}

impl Handler<BorrowRobots> for FrontierActor {
    type Result = ResponseActFuture<Self, LentRobots>;

    fn handle(&mut self, BorrowRobots { by, origin }: BorrowRobots, _: &mut Self::Context) -> Self::Result {
        let lender = origin.site();
        let is_refused = self.exclusions.covers_host(origin.host()) || self.waits_for(&lender, &by);
        let Some(live) = self.live.get(&lender).filter(|_| !is_refused) else {
            tracing::debug!(site = %by, %lender, "robots.txt lies at a site that cannot be asked for it");
            return Box::pin(std::future::ready(LentRobots::Unreachable).into_actor(self));
        };
        let lent = live.address.send(LendRobots(origin));
        self.num_borrowings += 1;
        let number = self.num_borrowings;
        self.borrowings.insert(by.clone(), Borrowing { lender, number });
        Box::pin(lent.into_actor(self).map(move |lent, frontier, _| {
            // The borrower may have died meanwhile, and its successor may wait for another.
            if frontier.borrowings.get(&by).is_some_and(|borrowing| borrowing.number == number) {
                frontier.borrowings.remove(&by);
            }
            lent.unwrap_or(LentRobots::Unreachable)
        }))
    }
}
