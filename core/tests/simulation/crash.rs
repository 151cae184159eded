//! What goes wrong on the crawler's own side: crashes that lose what was not durable, exclusions in mid-request, sleeps that end too
//! early or too late, and ends of requests that nobody waits for any more.

use std::time::Duration;

use lohisoftbot_core::exclusion::{Domain, Exclusion, Exclusions};
use lohisoftbot_core::ledger::SiteAccount;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::{FoundUrl, HostAction, HostState, OriginRobots, Seed, SeedScheme};
use lohisoftbot_core::recrawl::interval::ChangeRate;
use lohisoftbot_core::site_row::{RobotsCopy, SiteFrontier, SiteRow};
use lohisoftbot_core::time::Timestamp;

use crate::carrier::{Carrier, Stage};
use crate::checker::{Survivors, Watched};
use crate::server::Temper;
use crate::trace;

/// What the store had of the site at some moment, its account left out: that is the ledger's.
#[derive(Clone, Debug)]
pub struct Snapshot {
    seeds: Vec<Seed>,
    queue: SiteFrontier,
    robots: Vec<RobotsCopy>,
    change_rate: ChangeRate,
}

impl Carrier {
    /// Now and then something happens that the crawler did not ask for. True if it did.
    pub fn mishap(&mut self) -> Result<bool, String> {
        let calm = self.server.temper == Temper::Calm;
        match self.rng.below(2000) {
            0..=39 => self.stale_end()?,
            40..=79 => self.look_twice()?,
            150..=157 => self.be_wanted(),
            _ if calm => return Ok(false),
            80..=92 => self.crash(),
            93..=97 => self.change_exclusions()?,
            98..=107 => {
                let url = self.server.some_page(&mut self.rng);
                let scheme = if self.rng.once_in(2) { SeedScheme::Guessed } else { SeedScheme::Written };
                self.add_seed(Seed { url, scheme });
            }
            108..=147 => {
                let url = self.server.some_page(&mut self.rng);
                self.state.on_links([FoundUrl { url, depth: 1, num_hops: 0 }], self.now);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The clock stands still: the same question has the same answer.
    fn look_twice(&mut self) -> Watched {
        let first = self.state.next_action(self.now);
        // A cycle that took longer than the interval ends, and the next one begins.
        let next_is_due = matches!(first, HostAction::Finish(_)) && self.state.account().next_cycle_at <= self.now;
        let second = self.state.next_action(self.now);
        if first == second || next_is_due {
            Ok(())
        } else {
            Err(format!("{first:?}, and at the same moment {second:?}"))
        }
    }

    /// Until woken: at the right moment, too early or too late; sometimes as a site that gave up its actor.
    pub fn sleep(&mut self, until: Option<Timestamp>) -> Watched {
        self.take_events()?;
        let until = until.unwrap_or_else(|| self.now.plus(self.rng.millis(1, 3 * 86_400_000)));
        let span = until.since(self.now).as_millis() as u64;
        let wakes_at = match self.rng.below(16) {
            0 => self.now.plus(Duration::from_millis(self.rng.below(span + 1))),
            1 => self.now.plus(Duration::from_millis(span.saturating_sub(1))),
            2 => until.plus(self.rng.millis(0, 7_200_000)),
            3 if self.rng.once_in(8) => until.plus(self.rng.millis(0, 60 * 86_400_000)),
            _ => until,
        };
        if span > 60_000 && self.rng.once_in(3) {
            // Retired: all is stored and acknowledged before the actor goes.
            self.make_durable(self.pending.len());
            let everything = self.snapshot();
            self.now = wakes_at;
            self.start_from(everything, 0);
        }
        self.now = wakes_at;
        Ok(())
    }

    pub fn take_snapshot(&mut self) {
        let snapshot = self.snapshot();
        if self.snapshots.len() == 3 {
            self.snapshots.pop_front();
        }
        self.snapshots.push_back(snapshot);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            seeds: self.state.seeds().to_vec(),
            queue: self.state.queue().to_stored(),
            robots: self.state.robots().iter().filter_map(OriginRobots::to_stored).collect(),
            change_rate: self.state.change_rate(),
        }
    }

    /// kill -9: the ledger keeps a part of what was on its way, the store an older picture or nothing at all.
    fn crash(&mut self) {
        self.num_crashes += 1;
        let num = if self.rng.once_in(2) { 0 } else { self.rng.place(self.pending.len() + 1) };
        self.make_durable(num);
        let num_lost = self.pending.len();
        self.pending.clear();
        let store_lost = self.rng.once_in(12);
        let snapshot = if store_lost || self.snapshots.is_empty() {
            Snapshot {
                seeds: vec![self.first_seed.clone()],
                queue: SiteFrontier::default(),
                robots: Vec::new(),
                change_rate: ChangeRate::default(),
            }
        } else {
            self.snapshots[self.rng.place(self.snapshots.len())].clone()
        };
        self.now = self.now.plus(match self.rng.below(4) {
            0 => Duration::ZERO,
            1 | 2 => self.rng.millis(0, 60_000),
            _ => self.rng.millis(0, 3 * 86_400_000),
        });
        if store_lost {
            self.shelf.retain(|_| false);
        }
        // The segments before the last snapshot of the ledger are gone, and with them what need not be kept.
        if store_lost && !self.durable.must_be_kept(self.now) {
            self.durable = SiteAccount::default();
        }
        trace::note(|| format!("{} CRASH, {num_lost} events lost, store lost: {store_lost}", self.now));
        self.stage = Stage::Idle;
        self.ledger.begin_anew(self.now, &self.durable);
        self.start_from(snapshot, num_lost);
    }

    /// A site at rest is taken up again, with another queue.
    pub fn start_over_with(&mut self, queue: PageQueue) {
        let snapshot = Snapshot { queue: queue.to_stored(), ..self.snapshot() };
        self.start_from(snapshot, 0);
    }

    /// Whether the crawler may count a request that never left.
    pub fn has_crashed(&self) -> bool {
        self.num_crashes > 0
    }

    fn start_from(&mut self, snapshot: Snapshot, num_lost: usize) {
        let mut row = SiteRow::new(self.server.site.clone(), snapshot.seeds, self.now);
        row.account = self.durable.clone();
        row.change_rate = snapshot.change_rate;
        self.account = self.durable.clone();
        let robots: Vec<_> = snapshot.robots.iter().filter_map(OriginRobots::from_stored).collect();
        let mut queue = PageQueue::from(snapshot.queue);
        queue.note_records(self.shelf.all(), row.account.cycle);
        let open = row.account.open.is_some();
        self.wanted.clear();
        self.state = HostState::restore(row, queue, robots, self.rules.clone(), self.exclusions.clone(), self.now);
        let guessed = |seed: &&Seed| seed.scheme == SeedScheme::Guessed;
        let survivors = Survivors {
            num_events: self.num_durable,
            cycle: self.durable.cycle,
            account_expired: self.durable == SiteAccount::default(),
            open,
            robots: self
                .state
                .robots()
                .iter()
                .map(|robots| {
                    let read_at = robots.copy.as_ref().map(|copy| copy.fetched_at);
                    (robots.origin.clone(), read_at, robots.unreachable_since)
                })
                .collect(),
            guesses: self.state.seeds().iter().filter(guessed).map(|seed| seed.url.origin()).collect(),
        };
        trace::note(|| format!("{} restarted ({num_lost} lost), open ticket: {open}", self.now));
        self.checker.restarted(&survivors, self.now);
    }

    /// A domain goes out or comes back in.
    fn change_exclusions(&mut self) -> Watched {
        self.take_events()?;
        let host = self.server.some_page(&mut self.rng).host().to_owned();
        let domain = if self.rng.once_in(6) { self.server.site.as_str().to_owned() } else { host };
        if self.rng.once_in(2) {
            self.excluded.clear();
        } else if !self.excluded.contains(&domain) {
            self.excluded.push(domain);
        }
        trace::note(|| format!("{} excluded: {:?}", self.now, self.excluded));
        self.exclusions = Exclusions::default();
        let domain_of = |name: &String| Domain::parse(name).expect("hosts of the site are names");
        let domains: Vec<Domain> = self.excluded.iter().map(domain_of).collect();
        for domain in domains.clone() {
            self.exclusions.insert(domain, Exclusion { at: self.now, reason: String::new() });
        }
        // The ledger has them before anyone is told, and what was written before is on the disk then.
        self.make_durable(self.pending.len());
        self.ledger.exclude(self.now, domains);
        let open_is_out = self.state.open_host().is_some_and(|host| self.exclusions.covers_host(host));
        self.checker.exclude(self.excluded.clone());
        self.state.on_exclusions(self.exclusions.clone());
        self.shelf.retain(|url| !self.exclusions.covers_host(url.host()));
        if let Stage::InFlight(ticket) = self.stage.clone()
            && open_is_out
        {
            self.abandon(ticket.number);
        }
        Ok(())
    }
}
