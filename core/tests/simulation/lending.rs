//! robots.txt across sites: plays the other site, as lender and as borrower.

use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::politeness::{LentRobots, PolicyCopy};
use lohisoftbot_core::robots::RobotsPolicy;
use lohisoftbot_core::time::Timestamp;

use crate::carrier::{Carrier, Stage};
use crate::checker::{LentFile, Watched};
use crate::robots_file::RobotsFile;
use crate::trace;

impl Carrier {
    /// The other site answers: mostly soon, now and then after days; with its file, read a while ago, or with nothing.
    pub fn borrowed(&mut self, origin: &Origin) {
        self.stage = Stage::Idle;
        self.now = self.now.plus(match self.rng.below(10) {
            0 => self.rng.millis(0, 2 * 86_400_000),
            1..=3 => self.rng.millis(0, 60_000),
            _ => Duration::ZERO,
        });
        let lent = (!self.rng.once_in(3)).then(|| self.lent_file());
        trace::note(|| format!("{} borrowed from {origin}: {lent:?}", self.now));
        let told = match &lent {
            None => LentRobots::Unreachable,
            Some(LentFile { file, read_at, ttl, num_hops }) => {
                let text = file.text(&mut self.rng);
                let policy = RobotsPolicy::parse(text.as_bytes(), &self.rules.product_token);
                let (fetched_at, expires_at) = (*read_at, read_at.plus(*ttl));
                LentRobots::Read(Box::new(PolicyCopy {
                    policy,
                    fetched_at,
                    expires_at,
                    num_hops: *num_hops as u8,
                    kept_at: fetched_at,
                }))
            }
        };
        self.checker.borrowed(lent.as_ref(), self.now);
        let arrival = self.arrival(Duration::ZERO);
        self.state.on_borrowed(origin, told, arrival);
    }

    fn lent_file(&mut self) -> LentFile {
        let ttl = self.rng.millis(600_000, 86_400_000);
        let age = Duration::from_millis(self.rng.below(ttl.as_millis() as u64));
        let read_at = Timestamp::from_millis(self.now.as_millis() - age.as_millis() as u64);
        LentFile { file: Rc::new(RobotsFile::random(&mut self.rng)), read_at, ttl, num_hops: self.rng.place(7) }
    }

    /// Another site's robots.txt redirects to one of this site.
    pub fn be_wanted(&mut self) {
        let origin = self.server.some_page(&mut self.rng).origin();
        trace::note(|| format!("{} wanted: {origin}", self.now));
        self.wanted.push(origin.clone());
        self.state.want_robots(origin, self.now);
    }

    /// A site that is given up has told all who wait for it.
    pub fn nobody_is_left_waiting(&mut self) -> Watched {
        self.take_lent()?;
        if self.wanted.is_empty() { Ok(()) } else { Err(format!("others still wait for {:?}", self.wanted)) }
    }

    /// Every answer is one that was waited for, and says what is known.
    pub fn take_lent(&mut self) -> Watched {
        for (origin, lent) in self.state.take_lent() {
            let num_waiting = self.wanted.len();
            self.wanted.retain(|wanted| *wanted != origin);
            if self.wanted.len() == num_waiting {
                return Err(format!("nobody waits for {origin}"));
            }
            let read_at = match &lent {
                LentRobots::Read(copy) => Some(copy.fetched_at),
                LentRobots::Unreachable => None,
            };
            trace::note(|| format!("{} lent {origin} as read at {read_at:?}", self.now));
            self.checker.lent(&origin, read_at, self.now)?;
        }
        Ok(())
    }
}
