//! What a fake site answers, and what each answer means in the site's own words.

use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_core::outcome::FetchFailure;
use lohisoftbot_core::politeness::SitemapEnd;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::status::BodyEnd;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::retry_after;
use crate::rng::Rng;
use crate::robots_file::RobotsFile;
use crate::server::{Server, Spell, Temper};

/// What stands at an origin's robots.txt for a time.
#[derive(Clone, Debug)]
pub enum RobotsMood {
    File(Rc<RobotsFile>),
    /// A 4xx that means: no rules.
    Missing(u16),
    /// 401 or 407.
    Login(u16),
    /// 429, 5xx, or a status that says nothing about rules.
    Busy(u16),
    Silent(FetchFailure),
    /// The body breaks off.
    Cut,
    /// A row of so many redirects on this origin, to a file at its end.
    Chain(u8, Rc<RobotsFile>),
    /// To another origin's robots.txt.
    ToOrigin(usize),
    /// To itself.
    Loop,
    /// To a place where nothing may be asked.
    Away(&'static str),
}

/// What a robots answer means.
#[derive(Clone, Debug)]
pub enum RobotsSaid {
    Rules(Rc<RobotsFile>),
    NoRules,
    Closed,
    Moved(PageUrl),
    /// To another site's own robots.txt.
    Elsewhere(PageUrl),
    Unreadable,
    /// Not a byte was heard.
    NothingThere,
}

/// A robots answer with its meaning.
pub struct RobotsReply {
    pub answer: Result<(ResponseHead, String, BodyEnd), FetchFailure>,
    pub said: RobotsSaid,
    /// When the wait ends that it asked for.
    pub wait_until: Option<Timestamp>,
    /// How long it may be kept.
    pub ttl: Duration,
}

/// What a page answer means for the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSaid {
    /// A page that can be stored.
    Good,
    /// 429 or 5xx.
    Busy,
    Silent,
    Barrier,
    /// A bot protection on top of a 429 or 5xx.
    BusyBarrier,
    Other,
}

/// A page answer with its meaning.
pub struct PageReply {
    pub answer: Result<ResponseHead, FetchFailure>,
    pub said: PageSaid,
    pub links: Vec<PageUrl>,
    pub wait_until: Option<Timestamp>,
}

/// The answer to a request for a sitemap, and what the reading of its body comes to.
pub struct SitemapReply {
    pub reply: PageReply,
    pub end: SitemapEnd,
}

const FAILURES: [FetchFailure; 11] = FetchFailure::ALL;

impl RobotsMood {
    pub fn random(rng: &mut Rng, num_origins: usize) -> Self {
        match rng.below(24) {
            0..=7 => Self::File(Rc::new(RobotsFile::random(rng))),
            8..=11 => Self::Missing(rng.pick(&[404, 404, 403, 410, 400, 418])),
            12 => Self::Login(rng.pick(&[401, 407])),
            13..=15 => Self::Busy(rng.pick(&[429, 500, 503, 502, 304, 600, 399])),
            16 => Self::Silent(rng.pick(&FAILURES)),
            17 => Self::Cut,
            18 | 19 => Self::Chain(1 + rng.below(6) as u8, Rc::new(RobotsFile::random(rng))),
            20 | 21 => Self::ToOrigin(rng.place(num_origins)),
            22 => Self::Loop,
            _ => {
                let robots = "https://elsewhere.test/robots.txt";
                Self::Away(rng.pick(&[robots, robots, "https://elsewhere.test/x", "ftp://a/", ""]))
            }
        }
    }

    /// Never a redirect into the calm part.
    pub fn of_a_side_host(rng: &mut Rng) -> Self {
        match rng.below(5) {
            0 => Self::Busy(503),
            1 => Self::Silent(rng.pick(&FAILURES)),
            2 => Self::Loop,
            3 => Self::Login(401),
            _ => Self::Missing(404),
        }
    }
}

pub fn robots_reply(server: &mut Server, place: usize, url: &PageUrl, at: Timestamp) -> RobotsReply {
    let mood = server.origins[place].mood.clone();
    let ports: Vec<PageUrl> = server.origins.iter().map(|truth| truth.origin.robots_url()).collect();
    let rng = server.rng();
    let own = |path: &str| PageUrl::parse(path, Some(url)).expect("a path of the site");
    let is_start = url.path_and_query() == "/robots.txt";
    let (status, said) = match mood {
        RobotsMood::Chain(hops, file) => {
            let done: u8 = url.path_and_query().strip_prefix("/hop").and_then(|n| n.parse().ok()).unwrap_or(0);
            if done < hops {
                (302, RobotsSaid::Moved(own(&format!("/hop{}", done + 1))))
            } else {
                (200, RobotsSaid::Rules(file))
            }
        }
        // The mood changed while the crawler was on its way.
        _ if !is_start => (404, RobotsSaid::NoRules),
        RobotsMood::File(file) => (200, RobotsSaid::Rules(file)),
        RobotsMood::Missing(status) => (status, RobotsSaid::NoRules),
        RobotsMood::Login(status) => (status, RobotsSaid::Closed),
        RobotsMood::Busy(status) => (status, RobotsSaid::Unreadable),
        RobotsMood::Cut => (206, RobotsSaid::Unreadable),
        RobotsMood::ToOrigin(other) => (301, RobotsSaid::Moved(ports[other].clone())),
        RobotsMood::Loop => (308, RobotsSaid::Moved(url.clone())),
        RobotsMood::Away(location) => {
            let head = ResponseHead::new(307).with("location", location);
            let target = PageUrl::parse(location, None).ok().filter(|target| *target == target.origin().robots_url());
            let said = target.map_or(RobotsSaid::Unreadable, RobotsSaid::Elsewhere);
            return finish(rng, head, String::new(), BodyEnd::Whole, said, at);
        }
        RobotsMood::Silent(failure) => {
            let said = if failure.nothing_answered() { RobotsSaid::NothingThere } else { RobotsSaid::Unreadable };
            return RobotsReply { answer: Err(failure), said, wait_until: None, ttl: Duration::ZERO };
        }
    };
    let mut head = ResponseHead::new(status);
    let mut body = String::new();
    let mut end = BodyEnd::Whole;
    match &said {
        RobotsSaid::Rules(file) => body = file.text(rng),
        RobotsSaid::Moved(target) => head.push("location", target.as_str().as_bytes()),
        RobotsSaid::Unreadable => end = BodyEnd::Cut,
        RobotsSaid::NoRules | RobotsSaid::Closed | RobotsSaid::Elsewhere(_) | RobotsSaid::NothingThere => {}
    }
    finish(rng, head, body, end, said, at)
}

fn finish(
    rng: &mut Rng,
    mut head: ResponseHead,
    body: String,
    end: BodyEnd,
    said: RobotsSaid,
    at: Timestamp,
) -> RobotsReply {
    let wait_until = put_wait(&mut head, rng, at);
    let kept_for = match rng.below(6) {
        0 => Some(rng.below(300)),
        1 => Some(rng.below(100_000)),
        _ => None,
    };
    if let Some(secs) = kept_for {
        head.push("cache-control", format!("public, max-age={secs}").as_bytes());
    }
    let ttl = Duration::from_secs(kept_for.unwrap_or(86_400).clamp(600, 86_400));
    RobotsReply { answer: Ok((head, body, end)), said, wait_until, ttl }
}

pub fn page_reply(server: &mut Server, place: usize, url: &PageUrl, at: Timestamp) -> PageReply {
    let calm = server.temper == Temper::Calm;
    let spell = server.origins[place].spell;
    let links = links_of(server, place, url);
    let some_page = {
        let mut rng = server.rng().clone();
        server.some_page(&mut rng)
    };
    let rng = server.rng();
    let roll = if calm { 0 } else { rng.below(40) };
    let mut answered = |status: u16, said, fields: &[(&str, &str)]| {
        let mut head = ResponseHead::new(status);
        for (name, value) in fields {
            head.push(name, value.as_bytes());
        }
        let wait_until = put_wait(&mut head, rng, at);
        PageReply { answer: Ok(head), said, links: Vec::new(), wait_until }
    };
    let silent =
        |failure| PageReply { answer: Err(failure), said: PageSaid::Silent, links: Vec::new(), wait_until: None };
    match (spell, roll) {
        (Some(Spell::Busy(status)), 4..) => answered(status, PageSaid::Busy, &[]),
        (Some(Spell::Silent(failure)), 4..) => silent(failure),
        (Some(Spell::Barrier(status)), 4..) => {
            let said = if status == 503 { PageSaid::BusyBarrier } else { PageSaid::Barrier };
            answered(status, said, &[("cf-mitigated", "challenge")])
        }
        (_, 26) => answered([404, 410][at.as_millis() as usize % 2], PageSaid::Other, &[]),
        (_, 27) => answered(429, PageSaid::Busy, &[]),
        (_, 28) => answered(503, PageSaid::Busy, &[]),
        (_, 29) => silent(FAILURES[at.as_millis() as usize % FAILURES.len()]),
        (_, 30) => answered([401, 402, 403, 451][at.as_millis() as usize % 4], PageSaid::Barrier, &[]),
        (_, 31) => answered(302, PageSaid::Barrier, &[("location", "/login?next=x")]),
        (_, 32..=34) => answered(301, PageSaid::Other, &[("location", some_page.as_str())]),
        (_, 35) => answered(302, PageSaid::Other, &[("location", "https://elsewhere.test/")]),
        (_, 36) => answered([408, 421, 425][at.as_millis() as usize % 3], PageSaid::Other, &[]),
        (_, 37) => answered([400, 413, 305, 418][at.as_millis() as usize % 4], PageSaid::Other, &[]),
        (_, 38) => answered(200, PageSaid::Other, &[("content-type", "application/pdf")]),
        (_, 39) => answered(304, PageSaid::Other, &[]),
        (Some(_) | None, _) => PageReply { links, ..answered(200, PageSaid::Good, &[("content-type", "text/html")]) },
    }
}

/// Like a page, but that any 200 is good: what the bytes are is told by what was read of them.
pub fn sitemap_reply(server: &mut Server, place: usize, url: &PageUrl, at: Timestamp) -> SitemapReply {
    let mut reply = page_reply(server, place, url, at);
    if reply.answer.as_ref().is_ok_and(|head| head.status == 200) && reply.said == PageSaid::Other {
        reply.said = PageSaid::Good;
    }
    let pages = server.origins[place].pages.clone();
    let rng = server.rng();
    let here = |path: &str| PageUrl::parse(path, Some(url)).expect("a path of the site");
    let end = match rng.below(8) {
        0 => SitemapEnd::NoSitemap,
        1 => SitemapEnd::Failed,
        _ => {
            let linked = pages.into_iter().take(3);
            let unlinked = (0..rng.below(60)).map(|number| here(&format!("/s/{number}")));
            let foreign = here("https://elsewhere.test/");
            let number = rng.below(1000);
            let sitemaps =
                vec![here(&format!("/sitemaps/{number}.xml")), here("https://elsewhere.test/map.xml"), url.clone()];
            SitemapEnd::Read { pages: linked.chain([foreign]).chain(unlinked).collect(), sitemaps }
        }
    };
    SitemapReply { reply, end }
}

/// The home page links to all pages of its origin and to the other origins' home pages; a page to its neighbours.
fn links_of(server: &Server, place: usize, url: &PageUrl) -> Vec<PageUrl> {
    let truth = &server.origins[place];
    if url.is_home() {
        let others = server.origins.iter().map(|other| other.home.clone());
        return truth.pages.iter().cloned().chain(others).collect();
    }
    let from = url.fingerprint() as usize % truth.pages.len();
    truth.pages[from..].iter().take(3).cloned().collect()
}

/// Sometimes puts a Retry-After on the head; gives its end where the status is one that it means something for.
fn put_wait(head: &mut ResponseHead, rng: &mut Rng, at: Timestamp) -> Option<Timestamp> {
    let often = matches!(head.status, 429 | 503);
    if !rng.once_in(if often { 2 } else { 12 }) {
        return None;
    }
    let until = retry_after::put_on(head, rng, at);
    until.filter(|_| !matches!(head.status, 200..=299 | 304 | 404 | 410))
}
