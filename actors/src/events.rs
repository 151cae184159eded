//! What happens in the node, told to whoever watches.
//!
//! An [`EventHub`] takes events from the actors that own what happened, each only once it is durable, and hands them to every [`Watch`].
//! It deliberately keeps nobody waiting: a watcher that reads too slowly misses events, and is told how many at the place where they are
//! missing. Without a watcher an event costs one look at a counter.
//!
//! Invariants: a watcher holds at most [`MAX_EVENTS_WAITING`] events; events of one actor come in the order in which they happened; an
//! event of the store or the ledger says what a crash cannot take back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent, SiteEvent, WaitReason};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use tokio::sync::Notify;

/// Events that wait for one slow watcher.
pub const MAX_EVENTS_WAITING: usize = 2048;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// An entry of the ledger is on the disk.
    Recorded(Arc<LedgerEntry>),
    /// The record of a page is on the disk.
    PageStored {
        /// Which.
        url: PageUrl,
        /// When the store acknowledged it.
        at: Timestamp,
    },
    /// That a record is gone is on the disk.
    PageRemoved {
        /// Of which page.
        url: PageUrl,
        /// Why.
        why: Removal,
        /// When the store acknowledged it.
        at: Timestamp,
    },
    /// A site waits without an actor; its row is stored.
    SiteParked {
        /// Which.
        site: Site,
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: WaitReason,
        /// When.
        at: Timestamp,
    },
    /// A site became known; its row is stored.
    SiteFound {
        /// Which.
        site: Site,
        /// How.
        by: FoundBy,
        /// When.
        at: Timestamp,
    },
}

/// Why a record went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The page must not be kept, or is no more.
    Withdrawn,
    /// It made room for a page of a newer cycle.
    MadeRoom,
    /// Its `unavailable_after` has passed.
    Expired,
}

/// How a site became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// It was given as a seed.
    Seed,
    /// A link of another site led to it.
    Link,
}

impl Removal {
    /// In words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Withdrawn => "it must not be kept, or is no more",
            Self::MadeRoom => "it made room for a page of a newer cycle",
            Self::Expired => "its unavailable_after has passed",
        }
    }
}

impl FoundBy {
    /// One word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Link => "link",
        }
    }
}

impl NodeEvent {
    /// The host that it is about, as closely as it says; none for what the operator did to the exclusions.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Recorded(entry) => match &entry.event {
                LedgerEvent::Site { event: SiteEvent::Ticket { url, .. }, .. } => Some(url.host()),
                LedgerEvent::Site { event: SiteEvent::RobotsBorrowed { origin, .. }, .. } => Some(origin.host()),
                LedgerEvent::Site { site, .. } => Some(site.as_str()),
                LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => None,
            },
            Self::PageStored { url, .. } | Self::PageRemoved { url, .. } => Some(url.host()),
            Self::SiteParked { site, .. } | Self::SiteFound { site, .. } => Some(site.as_str()),
        }
    }

    /// Whether it must not be told while `exclusions` are in force: it is about one of them, or names one. That a domain was excluded
    /// or taken back in is told all the same.
    pub fn is_covered_by(&self, exclusions: &Exclusions) -> bool {
        let lender = match self {
            Self::Recorded(entry) => match &entry.event {
                LedgerEvent::Site { event: SiteEvent::RobotsBorrowed { lender, .. }, .. } => Some(lender.host()),
                LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => None,
            },
            Self::PageStored { .. } | Self::PageRemoved { .. } | Self::SiteParked { .. } | Self::SiteFound { .. } => {
                None
            }
        };
        self.host().into_iter().chain(lender).any(|host| exclusions.covers_host(host))
    }

    /// Whether it is about `wanted`.
    fn is_about(&self, wanted: &Site) -> bool {
        match self {
            Self::Recorded(entry) => match &entry.event {
                LedgerEvent::Site { site, .. } => site == wanted,
                LedgerEvent::Excluded { domain, .. } | LedgerEvent::Included { domain } => domain.touches_site(wanted),
            },
            Self::PageStored { url, .. } | Self::PageRemoved { url, .. } => wanted.contains_host(url.host()),
            Self::SiteParked { site, .. } | Self::SiteFound { site, .. } => site == wanted,
        }
    }
}

/// What comes next for a watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// This happened.
    Event(NodeEvent),
    /// So many events are missing here: they came faster than they were read.
    Missed(u64),
}

/// Takes events, and hands them on.
#[derive(Clone, Debug, Default)]
pub struct EventHub(Arc<Watchers>);

#[derive(Debug, Default)]
struct Watchers {
    num: AtomicUsize,
    all: Mutex<Vec<Arc<Watcher>>>,
}

#[derive(Debug)]
struct Watcher {
    site: Option<Site>,
    waiting: Mutex<VecDeque<Watched>>,
    has_more: Notify,
}

/// One watcher's end; it watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    hub: EventHub,
    watcher: Arc<Watcher>,
}

/// A list that somebody panicked over is as good as before: nothing is done to it but pushes and pops.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EventHub {
    /// Whether anyone would hear of an event.
    pub fn is_watched(&self) -> bool {
        self.0.num.load(Ordering::Acquire) > 0
    }

    /// Tells an event to all who watch.
    pub fn tell(&self, event: &NodeEvent) {
        if !self.is_watched() {
            return;
        }
        for watcher in lock(&self.0.all).iter() {
            if watcher.site.as_ref().is_none_or(|site| event.is_about(site)) {
                watcher.take(event);
            }
        }
    }

    /// Watches from now on: everything, or what is about one site.
    pub fn watch(&self, site: Option<Site>) -> Watch {
        let watcher = Arc::new(Watcher { site, waiting: Mutex::default(), has_more: Notify::new() });
        lock(&self.0.all).push(watcher.clone());
        self.0.num.fetch_add(1, Ordering::AcqRel);
        Watch { hub: self.clone(), watcher }
    }
}

impl Watcher {
    fn take(&self, event: &NodeEvent) {
        let mut waiting = lock(&self.waiting);
        let has_room = waiting.len() < MAX_EVENTS_WAITING;
        if has_room {
            waiting.push_back(Watched::Event(event.clone()));
        } else if let Some(Watched::Missed(num_missed)) = waiting.back_mut() {
            *num_missed += 1;
        } else {
            waiting.push_back(Watched::Missed(1));
        }
        drop(waiting);
        self.has_more.notify_one();
    }
}

impl Watch {
    /// The next event. Dropping the future loses none.
    pub async fn next(&self) -> Watched {
        loop {
            if let Some(next) = lock(&self.watcher.waiting).pop_front() {
                return next;
            }
            self.watcher.has_more.notified().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.hub.0.all).retain(|watcher| !Arc::ptr_eq(watcher, &self.watcher));
        self.hub.0.num.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use lohisoftbot_core::exclusion::{Domain, Exclusion};

    use super::*;

    fn stored(number: usize) -> NodeEvent {
        let url = PageUrl::parse(&format!("https://a.test/{number}"), None).expect("it is a URL");
        NodeEvent::PageStored { url, at: Timestamp::EPOCH }
    }

    fn next(watch: &Watch) -> Option<Watched> {
        watch.next().now_or_never()
    }

    #[test]
    fn what_is_about_an_excluded_host_or_names_one_is_covered_and_the_exclusion_itself_is_not() {
        let domain = Domain::parse("out.test").expect("it is a domain");
        let why = Exclusion { at: Timestamp::EPOCH, reason: String::new() };
        let mut exclusions = Exclusions::default();
        exclusions.insert(domain.clone(), why.clone());
        let url = |text: &str| PageUrl::parse(text, None).expect("it is a URL");
        let at = Timestamp::EPOCH;
        let recorded = |event| NodeEvent::Recorded(Arc::new(LedgerEntry { seq: 1, at, event }));
        let of_site = |name: &str, event| recorded(LedgerEvent::Site { site: Site::of_host(name), event });
        let borrowed = |from: &str| SiteEvent::RobotsBorrowed {
            origin: url("http://in.test/").origin(),
            lender: url(from).origin(),
            read_at: at,
        };
        for (event, wanted) in [
            (NodeEvent::PageStored { url: url("http://www.out.test/"), at }, true),
            (NodeEvent::PageStored { url: url("http://in.test/"), at }, false),
            (NodeEvent::SiteFound { site: Site::of_host("out.test"), by: FoundBy::Link, at }, true),
            (of_site("out.test", SiteEvent::CycleResumed), true),
            (of_site("in.test", SiteEvent::CycleResumed), false),
            (of_site("in.test", borrowed("http://out.test/")), true),
            (of_site("in.test", borrowed("http://in.test/")), false),
            (recorded(LedgerEvent::Excluded { domain: domain.clone(), exclusion: why.clone() }), false),
            (recorded(LedgerEvent::Included { domain: domain.clone() }), false),
        ] {
            assert_eq!(event.is_covered_by(&exclusions), wanted, "{event:?}");
        }
    }

    #[test]
    fn watcher_hears_what_happens_from_its_first_moment_to_its_last() {
        let hub = EventHub::default();
        hub.tell(&stored(0));
        assert!(!hub.is_watched());
        let watch = hub.watch(None);
        hub.tell(&stored(1));
        hub.tell(&stored(2));
        assert_eq!(next(&watch), Some(Watched::Event(stored(1))));
        assert_eq!(next(&watch), Some(Watched::Event(stored(2))));
        assert_eq!(next(&watch), None);
        drop(watch);
        assert!(!hub.is_watched());
    }

    #[test]
    fn watcher_of_one_site_hears_of_no_other() {
        let hub = EventHub::default();
        let (own, other) = (hub.watch(Some(Site::of_host("a.test"))), hub.watch(Some(Site::of_host("b.test"))));
        hub.tell(&stored(1));
        assert_eq!(next(&own), Some(Watched::Event(stored(1))));
        assert_eq!(next(&other), None);
    }

    #[test]
    fn slow_watcher_misses_events_is_told_how_many_where_they_are_missing_and_hears_on() {
        let hub = EventHub::default();
        let watch = hub.watch(None);
        for number in 0..MAX_EVENTS_WAITING + 7 {
            hub.tell(&stored(number));
        }
        assert_eq!(next(&watch), Some(Watched::Event(stored(0))));
        assert_eq!(next(&watch), Some(Watched::Event(stored(1))));
        hub.tell(&stored(9_999));
        for number in 2..MAX_EVENTS_WAITING {
            assert_eq!(next(&watch), Some(Watched::Event(stored(number))));
        }
        assert_eq!(next(&watch), Some(Watched::Missed(7)));
        assert_eq!(next(&watch), Some(Watched::Event(stored(9_999))));
        assert_eq!(next(&watch), None);
    }
}
