//! One site under audit: what its entries said so far, and what is wrong with the next one.

use std::time::Duration;

use super::robots::{Files, Sign};
use super::{AuditRules, Breach, Doubt};
use crate::exclusion::{Domain, Exclusions};
use crate::ledger::{EndKind, RequestKind, RobotsGround, SiteAccount, SiteEvent, TicketNumber, WaitReason};
use crate::time::Timestamp;
use crate::url::PageUrl;

/// Barrier answers in a row after which a site is left alone.
const MANY_BARRIERS: u8 = 3;
/// For so long.
const BARRIER_REST: Duration = Duration::from_secs(7 * 86_400);

/// What is found, with the URL it is about.
pub(super) type Found = Vec<(Option<String>, Breach)>;

/// A request that was not seen to end.
#[derive(Clone, Debug)]
struct Open {
    ticket: TicketNumber,
    kind: RequestKind,
    url: PageUrl,
    at: Timestamp,
    /// It was excluded when its ticket was given. A ticket that is given while the exclusion is on its way is revoked, and no request
    /// follows; only its end tells.
    excluded_by: Option<(Domain, Timestamp)>,
}

/// The newest cycle.
#[derive(Clone, Debug)]
struct Cycle {
    number: u32,
    next_at: Timestamp,
    is_open: bool,
    num_page_requests: u32,
    last_page_at: Option<Timestamp>,
    origins: Vec<u64>,
}

/// One site under audit.
#[derive(Clone, Debug)]
pub(super) struct SiteAudit {
    pub(super) num_requests: u32,
    /// Those of the last entry; whoever reads on takes them out.
    pub(super) doubts: Vec<Doubt>,
    /// Of entries before that moment nothing is known.
    pub(super) unseen_before: Option<Timestamp>,
    cycle: Option<Cycle>,
    /// On the heap, since hardly a site has one at any moment.
    open: Option<Box<Open>>,
    last_ticket: Option<TicketNumber>,
    /// When the last request ended, and the delay that the ledger has for it.
    last: Option<(Timestamp, Duration)>,
    /// The delay that the settings now in force would have after it.
    delay_by_settings: Duration,
    last_page_was_home: bool,
    wait: Option<(Timestamp, WaitReason)>,
    busy: Option<u16>,
    rung: u8,
    forgiven_at: Option<Timestamp>,
    behind_barrier_until: Timestamp,
    files: Files,
}

impl SiteAudit {
    /// A site of whose entries before that moment nothing is known.
    pub(super) fn new(unseen_before: Option<Timestamp>) -> Self {
        Self {
            num_requests: 0,
            doubts: Vec::new(),
            unseen_before,
            cycle: None,
            open: None,
            last_ticket: None,
            last: None,
            delay_by_settings: Duration::ZERO,
            last_page_was_home: false,
            wait: None,
            busy: None,
            rung: 0,
            forgiven_at: None,
            behind_barrier_until: Timestamp::EPOCH,
            files: Files::default(),
        }
    }

    /// Entries are missing here: nothing that was said before them counts any more.
    pub(super) fn forget(&mut self) {
        *self = Self { num_requests: self.num_requests, ..Self::new(self.unseen_before) };
    }

    /// The next entry of the site.
    pub(super) fn read(
        &mut self,
        rules: &AuditRules,
        exclusions: &Exclusions,
        at: Timestamp,
        event: &SiteEvent,
        found: &mut Found,
    ) {
        match event {
            SiteEvent::Snapshot(account) => self.begin_with(at, account),
            SiteEvent::CycleOpened { cycle, next_cycle_at } => {
                self.open_cycle(rules, at, *cycle, *next_cycle_at, found);
            }
            SiteEvent::CycleClosed { reason: _ } => self.cycle.iter_mut().for_each(|cycle| cycle.is_open = false),
            SiteEvent::CycleResumed => self.cycle.iter_mut().for_each(|cycle| cycle.is_open = true),
            SiteEvent::Ticket { ticket, kind, url, ground, from: _ } => {
                self.num_requests += 1;
                let mut breaches = Vec::new();
                self.check_ticket(rules, at, *ticket, *kind, url, &mut breaches);
                check_ground(*kind, ground, &mut breaches);
                found.extend(breaches.into_iter().map(|breach| (Some(url.to_string()), breach)));
                let excluded_by =
                    exclusions.covering(url.host()).map(|(domain, exclusion)| (domain.clone(), exclusion.at));
                self.open = Some(Box::new(Open { ticket: *ticket, kind: *kind, url: url.clone(), at, excluded_by }));
            }
            SiteEvent::Outcome { ticket, end, took, delay, .. } => {
                self.close(rules, at, *ticket, *end, *took, *delay, found);
            }
            SiteEvent::Wait { until, reason, rung } => {
                self.busy = None;
                if self.wait.is_none_or(|(longest, _)| longest < *until) {
                    self.wait = Some((*until, *reason));
                }
                self.note_robots_failure(at, *reason, *rung);
            }
            SiteEvent::BarrierStreak(streak) => {
                let at_home = *streak > 0 && self.last_page_was_home;
                if *streak >= MANY_BARRIERS || at_home {
                    self.behind_barrier_until = self.behind_barrier_until.max(at.plus(BARRIER_REST));
                }
            }
            SiteEvent::Forgiven { rung } => {
                self.rung = *rung;
                self.forgiven_at = Some(at);
            }
            SiteEvent::Delay(longer) => {
                self.last = self.last.map(|(ended_at, delay)| (ended_at, delay.max(*longer)));
            }
            SiteEvent::RobotsBorrowed { origin, lender: _, read_at } => self.files.borrowed(origin, *read_at),
            SiteEvent::NextCyclePutOff { next_cycle_at } => {
                self.cycle.iter_mut().for_each(|cycle| cycle.next_at = cycle.next_at.max(*next_cycle_at));
            }
        }
    }

    /// A snapshot stands for what expired; to who has read that, it tells nothing new.
    fn begin_with(&mut self, at: Timestamp, account: &SiteAccount) {
        if self.cycle.is_some() || self.last_ticket.is_some() {
            return;
        }
        self.cycle = (account.cycle > 0).then(|| Cycle {
            number: account.cycle,
            next_at: account.next_cycle_at,
            is_open: account.cycle_closed.is_none(),
            num_page_requests: account.num_page_requests.into(),
            last_page_at: None,
            origins: account.robots_origins.clone(),
        });
        self.open = account.open.as_ref().map(|open| {
            let (ticket, kind, url) = (open.ticket, open.kind, open.url.clone());
            Box::new(Open { ticket, kind, url, at, excluded_by: None })
        });
        self.last_ticket = Some(account.last_ticket);
        self.last = account.last_ended_at.map(|ended_at| (ended_at, account.delay));
        self.wait = account.wait.map(|wait| (wait.until, wait.reason));
        self.rung = account.rung;
        if account.rung > 0 {
            self.files.begin_in_trouble(at);
        }
    }

    /// A wait may tell that a robots.txt could not be read: by its reason, or by its rung, since a file that was read takes the site no
    /// rung up, and where it was on one, one down.
    fn note_robots_failure(&mut self, at: Timestamp, reason: WaitReason, rung: u8) {
        let stays_up = rung == self.rung && rung > 0 && self.forgiven_at != Some(at);
        let is_named = matches!(reason, WaitReason::RobotsUnreachable | WaitReason::NameServers);
        let went_up = rung > self.rung || stays_up;
        self.rung = rung;
        let last_ended_at = self.last.map(|(ended_at, _)| ended_at);
        if is_named {
            self.files.unreachable(at, last_ended_at, Sign::Named);
        } else if went_up {
            self.files.unreachable(at, last_ended_at, Sign::Rung);
        }
    }

    fn open_cycle(&mut self, rules: &AuditRules, at: Timestamp, number: u32, next_at: Timestamp, found: &mut Found) {
        if let Some(before) = &self.cycle {
            if at < before.next_at {
                found.push((None, Breach::CycleTooSoon { promised_at: before.next_at }));
            }
            if let Some(last_page_at) = before.last_page_at {
                let rest = rules.promise.shortest_interval;
                if at < last_page_at.plus(rest) {
                    found.push((None, Breach::BudgetsTooClose { last_page_at, rest }));
                } else if at < last_page_at.plus(rules.settings.shortest_interval) {
                    self.doubts.push(Doubt::Interval);
                }
            }
            if number != before.number.wrapping_add(1) {
                // The account was let go of when nothing in it had to be kept; it counts from 1 again.
                self.last_ticket = None;
            }
        }
        let span = next_at.since(at);
        if span < rules.promise.shortest_interval {
            let interval = rules.promise.shortest_interval;
            found.push((None, Breach::IntervalTooShort { next_cycle_at: next_at, interval }));
        } else if span < rules.settings.shortest_interval {
            self.doubts.push(Doubt::Interval);
        }
        self.cycle = Some(Cycle {
            number,
            next_at,
            is_open: true,
            num_page_requests: 0,
            last_page_at: None,
            origins: Vec::new(),
        });
    }

    fn check_ticket(
        &mut self,
        rules: &AuditRules,
        at: Timestamp,
        ticket: TicketNumber,
        kind: RequestKind,
        url: &PageUrl,
        breaches: &mut Vec<Breach>,
    ) {
        if let Some(open) = &self.open {
            breaches.push(Breach::TwoAtOnce { open: open.ticket });
        }
        let follows = |last: TicketNumber| last.wrapping_add(1);
        if let Some(wanted) = self.last_ticket.map(follows).filter(|wanted| *wanted != ticket) {
            breaches.push(Breach::TicketOutOfOrder { got: ticket, wanted });
        }
        self.last_ticket = Some(ticket);
        if let Some((ended_at, delay)) = self.last {
            if at < ended_at.plus(delay) {
                breaches.push(Breach::TooSoon { ended_at, delay });
            } else if at < ended_at.plus(self.delay_by_settings) {
                self.doubts.push(Doubt::Delay);
            }
        }
        if at < self.behind_barrier_until {
            breaches.push(Breach::BehindBarrier { until: self.behind_barrier_until });
        } else if let Some((until, reason)) = self.wait.filter(|(until, _)| at < *until) {
            breaches.push(Breach::DuringWait { until, reason });
        }
        if let Some(status) = self.busy.take() {
            breaches.push(Breach::BusyWithoutWait { status });
        }
        self.count(rules, at, kind, url, breaches);
        match kind {
            RequestKind::Robots => {}
            RequestKind::Page | RequestKind::Sitemap => breaches.extend(self.files.judge(url, at, self.unseen_before)),
        }
    }

    /// What the cycle has room for.
    fn count(
        &mut self,
        rules: &AuditRules,
        at: Timestamp,
        kind: RequestKind,
        url: &PageUrl,
        breaches: &mut Vec<Breach>,
    ) {
        let Some(cycle) = self.cycle.as_mut().filter(|cycle| cycle.is_open) else {
            if self.cycle.is_some() || self.unseen_before.is_none() {
                breaches.push(Breach::OutsideCycle);
            }
            return;
        };
        let origin = url.origin().home().fingerprint();
        if !cycle.origins.contains(&origin) {
            cycle.origins.push(origin);
            let num_origins = cycle.origins.len();
            if num_origins > usize::from(rules.promise.origins) {
                breaches.push(Breach::TooManyOrigins { num_origins, cap: rules.promise.origins });
            } else if num_origins > usize::from(rules.settings.origins) {
                self.doubts.push(Doubt::Origins);
            }
        }
        match kind {
            RequestKind::Robots => {}
            RequestKind::Page | RequestKind::Sitemap => {
                cycle.last_page_at = Some(at);
                cycle.num_page_requests += 1;
                let (number, num_requests, budget) =
                    (cycle.number, cycle.num_page_requests, rules.promise.page_requests);
                if num_requests > u32::from(budget) {
                    breaches.push(Breach::OverBudget { cycle: number, num_requests, budget });
                } else if num_requests > u32::from(rules.settings.page_requests) {
                    self.doubts.push(Doubt::PageRequests);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one event")]
    fn close(
        &mut self,
        rules: &AuditRules,
        at: Timestamp,
        ticket: TicketNumber,
        end: EndKind,
        took: Duration,
        delay: Duration,
        found: &mut Found,
    ) {
        self.last = Some((at, delay.max(rules.promise.delay_after(took))));
        self.delay_by_settings = rules.settings.delay_after(took);
        let Some(open) = self.open.take_if(|open| open.ticket == ticket).map(|open| *open) else {
            // Its ticket may stand among what expired.
            if self.last_ticket.is_some() || self.unseen_before.is_none() {
                found.push((None, Breach::OutcomeWithoutTicket { ticket }));
            }
            return;
        };
        match (open.excluded_by, end) {
            // Revoked before it left, or cut off before it could be.
            (Some(_), EndKind::Abandoned | EndKind::Lost) | (None, _) => {}
            (Some((domain, since)), EndKind::Answered(_) | EndKind::Failed(_)) => {
                found.push((Some(open.url.to_string()), Breach::Excluded { domain, since }));
            }
        }
        match open.kind {
            RequestKind::Robots => self.files.ended(&open.url, open.at, at, end),
            RequestKind::Page | RequestKind::Sitemap => {
                self.files.other_ended();
                self.last_page_was_home = open.url.is_home();
            }
        }
        self.busy = match end {
            EndKind::Answered(status) if status == 429 || (500..=599).contains(&status) => Some(status),
            EndKind::Answered(_) | EndKind::Failed(_) | EndKind::Lost | EndKind::Abandoned => None,
        };
    }
}

/// A robots.txt needs no leave; anything else has none from a line that forbids it.
fn check_ground(kind: RequestKind, ground: &RobotsGround, breaches: &mut Vec<Breach>) {
    match (kind, ground) {
        (RequestKind::Robots, RobotsGround::RobotsFile) => {}
        (RequestKind::Robots, RobotsGround::NoRule | RobotsGround::Line { .. })
        | (RequestKind::Page | RequestKind::Sitemap, RobotsGround::RobotsFile) => breaches.push(Breach::WrongGround),
        (RequestKind::Page | RequestKind::Sitemap, RobotsGround::NoRule) => {}
        (RequestKind::Page | RequestKind::Sitemap, RobotsGround::Line { number, text }) => {
            // However it is misspelt: robots.txt is read with its usual slips.
            let forbids = text.trim_start().get(..2).is_some_and(|start| start.eq_ignore_ascii_case("di"));
            if forbids {
                breaches.push(Breach::Disallowed { line: *number, text: text.clone() });
            }
        }
    }
}
