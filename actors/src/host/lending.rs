//! robots.txt across sites, carried: a borrower waits for another site's answer, a lender gives one.
//!
//! Borrower and lender know each other through the frontier alone, which sees who waits for whom and refuses a wait that would close a
//! circle. A borrower holds no permit and no slot while it waits; a lender that gives its site up lets its borrowers go unanswered, which
//! they take as unreachable.

use actix::prelude::*;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::politeness::{Arrival, LentRobots};
use tokio::sync::oneshot;

use super::{HostActor, Step};
use crate::frontier::BorrowRobots;

/// Another site's robots.txt redirects to this origin's: ask for it as your own, and tell what was read.
#[derive(Debug, Message)]
#[rtype(result = "LentRobots")]
pub struct LendRobots(pub Origin);

/// What the other site's robots.txt came to.
#[derive(Message)]
#[rtype(result = "()")]
struct RobotsBorrowed(Origin, LentRobots);

/// A site that waits for the robots.txt of one of this site's origins.
pub(super) type Borrower = (Origin, oneshot::Sender<LentRobots>);

impl HostActor {
    pub(super) fn borrow(&mut self, origin: Origin, ctx: &mut Context<Self>) {
        self.step = Step::Borrowing;
        let asked = self.frontier.send(BorrowRobots { by: self.state.site().clone(), origin: origin.clone() });
        let me = ctx.address();
        actix_rt::spawn(async move {
            let lent = asked.await.unwrap_or(LentRobots::Unreachable);
            me.do_send(RobotsBorrowed(origin, lent));
        });
    }

    pub(super) fn answer_borrowers(&mut self) {
        for (origin, lent) in self.state.take_lent() {
            for (_, borrower) in self.borrowers.extract_if(.., |(wanted, _)| *wanted == origin) {
                // Whoever asked may be gone.
                let _ = borrower.send(lent.clone());
            }
        }
    }
}

impl Handler<LendRobots> for HostActor {
    type Result = ResponseFuture<LentRobots>;

    fn handle(&mut self, LendRobots(origin): LendRobots, ctx: &mut Self::Context) -> Self::Result {
        let (borrower, lent) = oneshot::channel();
        if self.stop_as.is_none() && !matches!(self.step, Step::Retiring(_)) {
            self.borrowers.push((origin.clone(), borrower));
            let now = self.now();
            self.state.want_robots(origin, now);
            self.answer_borrowers();
            self.proceed(ctx);
        }
        Box::pin(async move { lent.await.unwrap_or(LentRobots::Unreachable) })
    }
}

impl Handler<RobotsBorrowed> for HostActor {
    type Result = ();

    fn handle(&mut self, RobotsBorrowed(origin, lent): RobotsBorrowed, ctx: &mut Self::Context) {
        if !matches!(self.step, Step::Borrowing) {
            return;
        }
        let arrival =
            Arrival { at: self.now(), took: std::time::Duration::ZERO, wire_bytes: 0, chance: self.rng.f64() };
        self.state.on_borrowed(&origin, lent, arrival);
        self.robots_changed = true;
        self.settle(ctx);
    }
}
