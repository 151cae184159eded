//! Why a link, a line of a sitemap or a redirect led to no new place in a queue, and how often each.
//!
//! Counts inform; nothing is decided by them. Invariant: they cost the same memory however many links there were.

use super::TrapKind;
use crate::url::UrlRefusal;

/// Why a URL that a page, a sitemap or a redirect led to was not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkDrop {
    /// The site's queue is full.
    QueueFull,
    /// Its page has more links than are taken of one page.
    TooManyOnPage,
    /// It is part of a trap.
    Trap(TrapKind),
    /// It is longer than a URL may be.
    TooLong,
    /// It is neither http nor https, or no URL at all.
    NotHttp,
    /// Its host is none that can be asked, or it carries a password.
    Unusable,
    /// The page, or the link itself, says nofollow.
    Nofollow,
    /// A line of robots.txt forbids it.
    Robots,
    /// Its domain is excluded.
    Excluded,
    /// Its port or its literal address is one that is never dialled.
    ForbiddenAddress,
    /// It leads to a site on which nobody works now, and only seeds are crawled.
    OtherSite,
    /// It leads to a site that is known and rests: that one starts from its own home page.
    RestingSite,
    /// It leads to a new site, and as many are known as may be.
    TooManySites,
    /// The chain of redirects that leads to it is too long.
    TooManyRedirects,
}

/// How many reasons there are.
pub const NUM_LINK_DROPS: usize = LinkDrop::ALL.len();

impl LinkDrop {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 22] = [
        Self::QueueFull,
        Self::TooManyOnPage,
        Self::Trap(TrapKind::RepeatedSegment),
        Self::Trap(TrapKind::RepeatedSequence),
        Self::Trap(TrapKind::DeepPath),
        Self::Trap(TrapKind::EndlessCalendar),
        Self::Trap(TrapKind::SessionId),
        Self::Trap(TrapKind::ManyParameters),
        Self::Trap(TrapKind::RepeatedParameter),
        Self::Trap(TrapKind::GrowingQuery),
        Self::Trap(TrapKind::CrowdedTemplate),
        Self::TooLong,
        Self::NotHttp,
        Self::Unusable,
        Self::Nofollow,
        Self::Robots,
        Self::Excluded,
        Self::ForbiddenAddress,
        Self::OtherSite,
        Self::RestingSite,
        Self::TooManySites,
        Self::TooManyRedirects,
    ];

    /// Why a URL that is none to ask for was left out.
    pub const fn of_refusal(refusal: UrlRefusal) -> Self {
        match refusal {
            UrlRefusal::TooLong => Self::TooLong,
            UrlRefusal::OtherScheme | UrlRefusal::Unparsable => Self::NotHttp,
            UrlRefusal::NoUsableHost | UrlRefusal::LabelTooLong | UrlRefusal::HostTooLong | UrlRefusal::Credentials => {
                Self::Unusable
            }
        }
    }

    /// Its place in [`Self::ALL`].
    pub fn place(self) -> usize {
        Self::ALL.iter().position(|drop| *drop == self).expect("ALL holds every reason; a test walks over all kinds")
    }

    /// A name for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::TooManyOnPage => "too_many_on_page",
            Self::Trap(kind) => kind.word(),
            Self::TooLong => "url_too_long",
            Self::NotHttp => "not_http",
            Self::Unusable => "unusable_url",
            Self::Nofollow => "nofollow",
            Self::Robots => "robots",
            Self::Excluded => "excluded",
            Self::ForbiddenAddress => "forbidden_port_or_address",
            Self::OtherSite => "other_site",
            Self::RestingSite => "resting_site",
            Self::TooManySites => "too_many_sites",
            Self::TooManyRedirects => "too_many_redirects",
        }
    }
}

/// How often each reason held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDropCounts([u32; NUM_LINK_DROPS]);

impl Default for LinkDropCounts {
    fn default() -> Self {
        Self([0; NUM_LINK_DROPS])
    }
}

impl LinkDropCounts {
    /// Counts one more.
    pub fn count(&mut self, drop: LinkDrop) {
        self.add(drop, 1);
    }

    /// Counts so many more.
    pub fn add(&mut self, drop: LinkDrop, num: usize) {
        let held = &mut self.0[drop.place()];
        *held = held.saturating_add(u32::try_from(num).unwrap_or(u32::MAX));
    }

    /// Counts what `other` counted too.
    pub fn add_all(&mut self, other: &Self) {
        for (held, more) in self.0.iter_mut().zip(other.0) {
            *held = held.saturating_add(more);
        }
    }

    /// How often this reason held.
    pub fn get(&self, drop: LinkDrop) -> u32 {
        self.0[drop.place()]
    }

    /// What was counted since it stood at `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut later = *self;
        for (held, before) in later.0.iter_mut().zip(earlier.0) {
            *held = held.saturating_sub(before);
        }
        later
    }

    /// The reasons that held at all, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (LinkDrop, u32)> {
        LinkDrop::ALL.into_iter().zip(self.0).filter(|(_, num)| *num > 0)
    }
}
