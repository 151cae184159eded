//! The other side of the wire: one fake site with a truth of its own.
//!
//! It knows hosts, origins, pages and moods that change over time, and beside each answer it says what the answer means. It shares no
//! rule with the code under test.

use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::outcome::{FetchFailure, ResolveFailure};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::replies::{PageReply, RobotsMood, RobotsReply, SitemapReply, page_reply, robots_reply, sitemap_reply};
use crate::rng::Rng;
use crate::robots_file::RobotsFile;

/// What kind of site it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// The main origin is always well; hosts beside it may be dead.
    Calm,
    /// Everything happens, and passes.
    Moody,
}

/// How look-ups of a host end.
#[derive(Clone, Debug)]
enum NameMood {
    Found,
    Fails(ResolveFailure),
}

#[derive(Debug)]
struct Host {
    name: String,
    mood: NameMood,
    mood_until: Timestamp,
}

#[derive(Debug)]
pub struct OriginTruth {
    pub origin: Origin,
    pub home: PageUrl,
    pub pages: Vec<PageUrl>,
    pub mood: RobotsMood,
    /// All page requests fail in the same way for a spell.
    pub spell: Option<Spell>,
    mood_until: Timestamp,
}

/// A spell of trouble at an origin.
#[derive(Clone, Copy, Debug)]
pub enum Spell {
    Busy(u16),
    Silent(FetchFailure),
    Barrier(u16),
}

/// One fake site.
pub struct Server {
    pub site: Site,
    pub temper: Temper,
    pub origins: Vec<OriginTruth>,
    hosts: Vec<Host>,
    rng: Rng,
}

impl Server {
    pub fn new(number: u64, rng: &mut Rng) -> Self {
        let temper = if rng.once_in(4) { Temper::Calm } else { Temper::Moody };
        let name = format!("s{number}.test");
        let num_sides = match rng.below(12) {
            0 => 30,
            1..=4 => 0,
            some => some - 4,
        };
        let mut origins = vec![origin_truth(&format!("https://{name}"), 10 + rng.below(25))];
        if rng.once_in(3) {
            origins.push(origin_truth(&format!("http://{name}"), rng.below(8)));
        }
        for side in 0..num_sides {
            let scheme = rng.pick(&["https", "https", "http"]);
            let port = if rng.once_in(6) { ":8443" } else { "" };
            let label = if side == 0 { "www".to_owned() } else { format!("h{side}") };
            origins.push(origin_truth(&format!("{scheme}://{label}.{name}{port}"), 1 + rng.below(6)));
        }
        let mut hosts: Vec<Host> = Vec::new();
        for truth in &origins {
            if !hosts.iter().any(|host| host.name == truth.origin.host()) {
                let name = truth.origin.host().to_owned();
                hosts.push(Host { name, mood: NameMood::Found, mood_until: Timestamp::EPOCH });
            }
        }
        let site = origins[0].origin.site();
        Self { site, temper, origins, hosts, rng: Rng::new(rng.next()) }
    }

    /// The main origin's home page.
    pub fn home(&self) -> &PageUrl {
        &self.origins[0].home
    }

    /// Some page of the site, of any origin.
    pub fn some_page(&self, rng: &mut Rng) -> PageUrl {
        let truth = &self.origins[rng.place(self.origins.len())];
        truth.pages[rng.place(truth.pages.len())].clone()
    }

    /// How a look-up of `host` ends at `now`.
    pub fn resolve(&mut self, host: &str, now: Timestamp) -> Result<(), ResolveFailure> {
        let is_main = host == self.origins[0].origin.host();
        let place =
            self.hosts.iter().position(|known| known.name == host).expect("only hosts of the site are looked up");
        let calm = self.temper == Temper::Calm;
        let entry = &mut self.hosts[place];
        if now >= entry.mood_until {
            let trouble = if is_main && calm { 100 } else { self.rng.below(if calm { 6 } else { 40 }) };
            entry.mood = match trouble {
                0 => NameMood::Fails(ResolveFailure::NoSuchName),
                1 => NameMood::Fails(ResolveFailure::NameServers),
                2 => NameMood::Fails(ResolveFailure::AddressRefused("127.0.0.0/8".to_owned())),
                _ => NameMood::Found,
            };
            entry.mood_until = now.plus(match (calm, trouble) {
                // A dead host stays dead.
                (true, _) => Duration::from_secs(u32::MAX.into()),
                (false, 0..=2) => self.rng.millis(10_000, 4 * 86_400_000),
                (false, _) => self.rng.millis(60_000, 20 * 86_400_000),
            });
        }
        match &entry.mood {
            NameMood::Found => Ok(()),
            NameMood::Fails(failure) => Err(failure.clone()),
        }
    }

    /// Whether look-ups of `host` found it when they were last made.
    pub fn is_found(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.name == host && matches!(known.mood, NameMood::Found))
    }

    /// The answer to a robots request that ends at `at`.
    pub fn answer_robots(&mut self, url: &PageUrl, at: Timestamp) -> RobotsReply {
        let place = self.place_of(&url.origin());
        self.change_moods(place, at);
        robots_reply(self, place, url, at)
    }

    /// The answer to a page request that ends at `at`.
    pub fn answer_page(&mut self, url: &PageUrl, at: Timestamp) -> PageReply {
        let place = self.place_of(&url.origin());
        self.change_moods(place, at);
        page_reply(self, place, url, at)
    }

    /// The answer to a request for a sitemap that ends at `at`.
    pub fn answer_sitemap(&mut self, url: &PageUrl, at: Timestamp) -> SitemapReply {
        let place = self.place_of(&url.origin());
        self.change_moods(place, at);
        sitemap_reply(self, place, url, at)
    }

    /// How long an answer takes.
    pub fn time_to_answer(&mut self) -> Duration {
        match self.rng.below(30) {
            0 => self.rng.millis(5_000, 60_000),
            1 => Duration::ZERO,
            _ => self.rng.millis(20, 2_000),
        }
    }

    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// Where an origin stands in the list; http beside https comes in when it is asked for the first time.
    fn place_of(&mut self, origin: &Origin) -> usize {
        let place = self.origins.iter().position(|truth| truth.origin == *origin);
        place.unwrap_or_else(|| {
            self.origins.push(origin_truth(&origin.to_string(), 2));
            self.origins.len() - 1
        })
    }

    fn change_moods(&mut self, place: usize, now: Timestamp) {
        if now < self.origins[place].mood_until {
            return;
        }
        let calm = self.temper == Temper::Calm;
        let mood = match (calm, place) {
            (true, 0) => RobotsMood::File(Rc::new(RobotsFile::mild(&mut self.rng))),
            (true, _) => RobotsMood::of_a_side_host(&mut self.rng),
            (false, _) => RobotsMood::random(&mut self.rng, self.origins.len()),
        };
        let lasts = match self.rng.below(4) {
            0 => self.rng.millis(60_000, 7_200_000),
            1 => self.rng.millis(3_600_000, 50 * 86_400_000),
            _ => self.rng.millis(3_600_000, 5 * 86_400_000),
        };
        let spell = match self.rng.below(if calm { 1000 } else { 24 }) {
            0 | 1 => Some(Spell::Busy(self.rng.pick(&[429, 500, 503, 503, 599, 999]))),
            2 => Some(Spell::Silent(self.rng.pick(&[
                FetchFailure::Reset,
                FetchFailure::FirstByteTimeout,
                FetchFailure::ConnectRefused,
            ]))),
            3 => Some(Spell::Barrier(self.rng.pick(&[401, 403, 451, 503]))),
            _ => None,
        };
        let truth = &mut self.origins[place];
        truth.mood = mood;
        truth.spell = if calm { None } else { spell };
        truth.mood_until = if calm { Timestamp::from_millis(u64::MAX) } else { now.plus(lasts) };
    }
}

fn origin_truth(origin: &str, num_pages: u64) -> OriginTruth {
    let parse = |raw: &str| PageUrl::parse(raw, None).expect("made up by hand");
    let home = parse(&format!("{origin}/"));
    let mut pages = vec![home.clone()];
    for page in 0..num_pages {
        let path = match page % 5 {
            0 => format!("/a/{page}"),
            1 => format!("/b/{page}/deep"),
            2 => format!("/c?id={page}"),
            3 => format!("/d/x{page}.html"),
            _ => format!("/e{page}"),
        };
        pages.push(parse(&format!("{origin}{path}")));
    }
    let nothing_yet = RobotsMood::Missing(404);
    OriginTruth { origin: home.origin(), home, pages, mood: nothing_yet, spell: None, mood_until: Timestamp::EPOCH }
}
