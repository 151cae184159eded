//! Counters of a running node, for progress lines and `status`. They inform; nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

use lohisoftbot_core::discovery::{LinkDrop, LinkDropCounts, NUM_LINK_DROPS};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The counters.
        #[derive(Debug, Default)]
        pub struct NodeStats {
            $($(#[$doc])* pub $name: Counter,)+
            /// Links, lines of sitemaps and redirects that were not taken up, by reason.
            pub dropped_links: DroppedLinks,
        }

        impl NodeStats {
            /// Names and values, for machines.
            pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.get()),)+]
            }
        }
    };
}

/// One counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more.
    pub fn add_one(&self) {
        self.add(1);
    }

    /// So many more.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Sets a level.
    pub fn set(&self, level: u64) {
        self.0.store(level, Ordering::Relaxed);
    }

    /// The value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A counter for each reason to leave a link out.
#[derive(Debug, Default)]
pub struct DroppedLinks([Counter; NUM_LINK_DROPS]);

impl DroppedLinks {
    /// Counts one more.
    pub fn count(&self, drop: LinkDrop) {
        self.0[drop.place()].add_one();
    }

    /// Counts what a site counted.
    pub fn add(&self, counts: &LinkDropCounts) {
        for (drop, num) in counts.iter() {
            self.0[drop.place()].add(num.into());
        }
    }

    /// How often this reason held.
    pub fn get(&self, drop: LinkDrop) -> u64 {
        self.0[drop.place()].get()
    }

    /// The reasons that held at all, with their counts.
    pub fn snapshot(&self) -> Vec<(LinkDrop, u64)> {
        LinkDrop::ALL.into_iter().map(|drop| (drop, self.get(drop))).filter(|(_, num)| *num > 0).collect()
    }
}

counters! {
    /// Requests for robots.txt sent.
    num_robots_requests,
    /// Page requests sent, those for sitemaps included.
    num_page_requests,
    /// Requests for sitemaps sent.
    num_sitemap_requests,
    /// Page records that the store acknowledged.
    num_pages_stored,
    /// Waits that sites asked for or made necessary.
    num_waits,
    /// Bytes received over the wire.
    num_wire_bytes,
    /// Requests that brought no answer.
    num_failures,
    /// Barrier answers.
    num_barriers,
    /// Sites live now.
    num_sites_live,
    /// Sites parked so far (each time counts).
    num_sites_parked,
    /// Cycles finished.
    num_sites_finished,
    /// Pages whose extraction panicked; nothing of them is kept.
    num_extraction_panics,
    /// Actors that died and were replaced.
    num_actor_restarts,
}
