//! Which of all faults a practice web shows.

use std::collections::BTreeSet;

use super::{PLAIN_ROBOTS, PageFault, RobotsKind, SitemapKind, TrapKind};

/// Which faults a practice web shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    robots: BTreeSet<RobotsKind>,
    pages: BTreeSet<PageFault>,
    sitemaps: BTreeSet<SitemapKind>,
    traps: BTreeSet<TrapKind>,
}

impl Faults {
    /// Every fault.
    pub fn all() -> Self {
        let robots = RobotsKind::ALL.iter().copied().filter(|kind| !PLAIN_ROBOTS.contains(kind)).collect();
        let sitemaps = SitemapKind::ALL.iter().copied().collect();
        let traps = TrapKind::ALL.iter().copied().collect();
        Self { robots, pages: PageFault::ALL.iter().copied().collect(), sitemaps, traps }
    }

    /// No fault: every site answers plainly.
    pub fn none() -> Self {
        let (robots, pages) = (BTreeSet::new(), BTreeSet::new());
        Self { robots, pages, sitemaps: BTreeSet::new(), traps: BTreeSet::new() }
    }

    /// Every fault but those that last until the asker's own time-out.
    pub fn demo() -> Self {
        Self::all()
            .without_robots(RobotsKind::AlwaysStalled)
            .without_page(PageFault::Stall)
            .without_page(PageFault::Drip)
    }

    /// With sites whose robots.txt answers like this.
    pub fn with_robots(mut self, kind: RobotsKind) -> Self {
        self.robots.insert(kind);
        self
    }

    /// Without sites whose robots.txt answers like this.
    pub fn without_robots(mut self, kind: RobotsKind) -> Self {
        self.robots.remove(&kind);
        self
    }

    /// With pages that answer like this.
    pub fn with_page(mut self, fault: PageFault) -> Self {
        self.pages.insert(fault);
        self
    }

    /// Without pages that answer like this.
    pub fn without_page(mut self, fault: PageFault) -> Self {
        self.pages.remove(&fault);
        self
    }

    /// With a site that has a trap like this.
    pub fn with_trap(mut self, kind: TrapKind) -> Self {
        self.traps.insert(kind);
        self
    }

    /// The kinds of traps, in order.
    pub fn traps(&self) -> impl Iterator<Item = TrapKind> {
        self.traps.iter().copied()
    }

    /// The kinds of robots.txt, in order.
    pub fn robots(&self) -> impl Iterator<Item = RobotsKind> {
        self.robots.iter().copied()
    }

    /// The kinds of sitemaps beside the plain one, in order.
    pub fn sitemaps(&self) -> impl Iterator<Item = SitemapKind> {
        self.sitemaps.iter().copied()
    }

    /// The faults of pages, in order.
    pub fn pages(&self) -> impl Iterator<Item = PageFault> {
        self.pages.iter().copied()
    }
}
