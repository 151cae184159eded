//! Ledgers for the tests of the audit, told event by event.

use super::*;

/// A ledger in the making: a clock that each event moves on, and numbers for tickets.
#[derive(Clone, Default)]
pub(super) struct Story {
    pub(super) entries: Vec<LedgerEntry>,
    pub(super) now: u64,
    pub(super) ticket: TicketNumber,
}

impl Story {
    /// A cycle has begun, and the robots.txt of a.test was read.
    pub(super) fn begun() -> Self {
        let mut story = Self::default();
        story.cycle(1);
        story.robots("https://a.test/robots.txt", 200);
        story
    }

    pub(super) fn at(&self) -> Timestamp {
        START.plus(Duration::from_millis(self.now))
    }

    pub(super) fn pass(&mut self, span: Duration) -> &mut Self {
        self.now += span.as_millis() as u64;
        self
    }

    pub(super) fn event(&mut self, event: SiteEvent) -> &mut Self {
        self.any(LedgerEvent::Site { site: site(), event })
    }

    pub(super) fn any(&mut self, event: LedgerEvent) -> &mut Self {
        let (seq, at) = (self.entries.len() as u64 + 1, self.at());
        self.entries.push(LedgerEntry { seq, at, event });
        self
    }

    pub(super) fn cycle(&mut self, cycle: u32) -> &mut Self {
        let next_cycle_at = self.at().plus(30 * DAY);
        self.event(SiteEvent::CycleOpened { cycle, next_cycle_at })
    }

    pub(super) fn ticket(&mut self, kind: RequestKind, address: &str, ground: RobotsGround) -> &mut Self {
        self.ticket += 1;
        self.event(SiteEvent::Ticket { ticket: self.ticket, kind, url: url(address), ground, from: None })
    }

    pub(super) fn end(&mut self, end: EndKind) -> &mut Self {
        self.event(SiteEvent::Outcome {
            ticket: self.ticket,
            end,
            wire_bytes: 1,
            took: Duration::from_millis(100),
            delay: DELAY,
        })
    }

    /// A request that takes a tenth of a second, and the delay after it.
    pub(super) fn request(
        &mut self,
        kind: RequestKind,
        address: &str,
        ground: RobotsGround,
        end: EndKind,
    ) -> &mut Self {
        self.ticket(kind, address, ground).pass(Duration::from_millis(100)).end(end).pass(DELAY)
    }

    pub(super) fn robots(&mut self, address: &str, status: u16) -> &mut Self {
        self.request(RequestKind::Robots, address, RobotsGround::RobotsFile, EndKind::Answered(status))
    }

    pub(super) fn page_answered(&mut self, address: &str, status: u16) -> &mut Self {
        self.request(RequestKind::Page, address, RobotsGround::NoRule, EndKind::Answered(status))
    }

    pub(super) fn page(&mut self, address: &str) -> &mut Self {
        self.page_answered(address, 200)
    }

    pub(super) fn wait(&mut self, span: Duration, reason: WaitReason) -> &mut Self {
        let until = self.at().plus(span);
        self.event(SiteEvent::Wait { until, reason, rung: 1 })
    }

    pub(super) fn exclude(&mut self, name: &str) -> &mut Self {
        let (domain, at) = (Domain::parse(name).unwrap(), self.at());
        self.any(LedgerEvent::Excluded { domain, exclusion: Exclusion { at, reason: "by mail".to_owned() } })
    }

    pub(super) fn report(&self, history: History) -> AuditReport {
        self.report_by(rules(), history)
    }

    pub(super) fn report_by(&self, rules: AuditRules, history: History) -> AuditReport {
        let mut auditor = Auditor::new(rules, history);
        self.entries.iter().for_each(|entry| auditor.read(entry));
        auditor.finish()
    }
}
