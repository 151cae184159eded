//! The robots.txt of each kind, and beside it what it permits: the paths that its rules are about, with their labels.
//!
//! The labels are written by hand next to the text. This file never evaluates a rule.

use std::time::{Duration, SystemTime};

use super::{
    faults::RobotsKind,
    labels::{ForbiddenBy, Permission},
    script::{Answer, Head, RobotsRole, Step},
    site_plan::{PageHost, Ports, PracticeSites, SitePlan},
    sitemaps,
};

/// What a robot need not read beyond (RFC 9309 §2.5 asks for 500 KiB at least; the node reads no more).
const PARSE_LIMIT_BYTES: usize = 500 * 1024;
/// How often a site of kind `UnavailableThenFine` answers 503 first.
const NUM_UNAVAILABLE_FIRST: usize = 2;
/// The wait that `LimitedThenFine` tells.
const LIMITED_WAIT: Duration = Duration::from_secs(2);

const HTML_AS_ROBOTS: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>Not found</title></head>\n<body>\n\
    <h1>We could not find that page</h1>\n<p>Please try the <a href=\"/\">home page</a>.</p>\n</body>\n</html>\n";

/// Whether anything but robots.txt may be asked of a site of this kind.
pub const fn is_open(kind: RobotsKind) -> bool {
    match kind {
        RobotsKind::Rules
        | RobotsKind::OwnGroup
        | RobotsKind::Empty
        | RobotsKind::CrawlDelay
        | RobotsKind::ByteOrderMark
        | RobotsKind::CarriageReturns
        | RobotsKind::HtmlPage
        | RobotsKind::NotFound
        | RobotsKind::Gone
        | RobotsKind::Forbidden
        | RobotsKind::TooLarge
        | RobotsKind::OneHop
        | RobotsKind::FiveHops
        | RobotsKind::OtherSitesRobots
        | RobotsKind::LimitedThenFine
        | RobotsKind::UnavailableThenFine => true,
        RobotsKind::DisallowAll
        | RobotsKind::Unauthorized
        | RobotsKind::AlwaysUnavailable
        | RobotsKind::AlwaysReset
        | RobotsKind::AlwaysStalled
        | RobotsKind::SixHops
        | RobotsKind::HopLoop
        | RobotsKind::EachOthersFirst
        | RobotsKind::EachOthersSecond
        | RobotsKind::OtherSitesPath
        | RobotsKind::CutBody
        | RobotsKind::WrongCertificate => false,
    }
}

/// The Crawl-delay of a site of this kind: one or two seconds.
pub const fn crawl_delay(kind: RobotsKind, site_index: usize) -> Option<Duration> {
    if matches!(kind, RobotsKind::CrawlDelay) {
        Some(Duration::from_secs(1 + (site_index as u64 / 2) % 2))
    } else {
        None
    }
}

/// The paths that count as robots.txt on a site of this kind: the file and its hops within the site.
pub fn robots_paths(kind: RobotsKind) -> Vec<String> {
    let num_hops = num_hops(kind);
    std::iter::once("/robots.txt".to_owned()).chain((1..=num_hops).map(hop_path)).collect()
}

/// Whether a path counts as robots.txt on a site of this kind.
pub fn is_robots_path(kind: RobotsKind, path: &str) -> bool {
    robots_paths(kind).iter().any(|robots| robots == path)
}

/// The paths that a site's rules are about, with what they permit.
pub fn ruled_paths(kind: RobotsKind) -> Vec<(&'static str, Permission)> {
    const NO: Permission = Permission::Forbidden(ForbiddenBy::RobotsRule);
    const YES: Permission = Permission::Allowed;
    match kind {
        RobotsKind::Rules => vec![
            ("/private/ledger", NO),
            ("/private/open/notes", YES),
            ("/Private/ledger", YES),
            ("/news/item.print", NO),
            ("/news/item.print.html", YES),
            ("/search?q=bread", NO),
            ("/searching", YES),
            ("/x/draft/y/edit", NO),
            ("/tmpfiles", NO),
            ("/caf%C3%A9-menu", NO),
        ],
        RobotsKind::OwnGroup => vec![("/no-lohisoft/page", NO), ("/open/page?session=1", NO), ("/open/page", YES)],
        RobotsKind::CrawlDelay
        | RobotsKind::ByteOrderMark
        | RobotsKind::CarriageReturns
        | RobotsKind::OneHop
        | RobotsKind::FiveHops
        | RobotsKind::OtherSitesRobots
        | RobotsKind::LimitedThenFine
        | RobotsKind::UnavailableThenFine => vec![("/private/ledger", NO), ("/privately", YES)],
        RobotsKind::TooLarge => vec![("/private/ledger", NO), ("/late/page", YES)],
        RobotsKind::Empty
        | RobotsKind::HtmlPage
        | RobotsKind::NotFound
        | RobotsKind::Gone
        | RobotsKind::Forbidden
        | RobotsKind::DisallowAll
        | RobotsKind::Unauthorized
        | RobotsKind::AlwaysUnavailable
        | RobotsKind::AlwaysReset
        | RobotsKind::AlwaysStalled
        | RobotsKind::SixHops
        | RobotsKind::HopLoop
        | RobotsKind::EachOthersFirst
        | RobotsKind::EachOthersSecond
        | RobotsKind::OtherSitesPath
        | RobotsKind::CutBody
        | RobotsKind::WrongCertificate => Vec::new(),
    }
}

/// What a site of this kind needs of another one for its robots.txt.
pub enum Elsewhere {
    /// Nothing.
    Nothing,
    /// The robots.txt of a site of one of these kinds.
    Robots(&'static [RobotsKind]),
    /// Some other path of a site that is open.
    OtherPath,
}

/// Where a site of this kind sends the askers of its robots.txt.
pub const fn elsewhere(kind: RobotsKind) -> Elsewhere {
    match kind {
        RobotsKind::OtherSitesRobots => {
            // Both have the rules of `ruled_paths` and nothing else.
            Elsewhere::Robots(&[RobotsKind::ByteOrderMark, RobotsKind::CarriageReturns])
        }
        RobotsKind::EachOthersFirst => Elsewhere::Robots(&[RobotsKind::EachOthersSecond]),
        RobotsKind::EachOthersSecond => Elsewhere::Robots(&[RobotsKind::EachOthersFirst]),
        RobotsKind::OtherSitesPath => Elsewhere::OtherPath,
        RobotsKind::Rules
        | RobotsKind::OwnGroup
        | RobotsKind::Empty
        | RobotsKind::CrawlDelay
        | RobotsKind::ByteOrderMark
        | RobotsKind::CarriageReturns
        | RobotsKind::HtmlPage
        | RobotsKind::NotFound
        | RobotsKind::Gone
        | RobotsKind::Forbidden
        | RobotsKind::TooLarge
        | RobotsKind::OneHop
        | RobotsKind::FiveHops
        | RobotsKind::LimitedThenFine
        | RobotsKind::UnavailableThenFine
        | RobotsKind::DisallowAll
        | RobotsKind::Unauthorized
        | RobotsKind::AlwaysUnavailable
        | RobotsKind::AlwaysReset
        | RobotsKind::AlwaysStalled
        | RobotsKind::SixHops
        | RobotsKind::HopLoop
        | RobotsKind::CutBody
        | RobotsKind::WrongCertificate => Elsewhere::Nothing,
    }
}

/// One asking of robots.txt or of a hop of it.
pub struct RobotsAsked<'a> {
    /// All sites.
    pub sites: &'a PracticeSites,
    /// The site asked.
    pub site: &'a SitePlan,
    /// The path asked.
    pub path: &'a str,
    /// How often this path was asked of this origin before.
    pub num_before: usize,
    /// The ports of the web.
    pub ports: Ports,
    /// For the Date field.
    pub now: SystemTime,
}

/// The answer to robots.txt or to a hop of it.
pub fn answer(asked: &RobotsAsked<'_>) -> Answer {
    let simple = "User-agent: *\nDisallow: /private/\n";
    match asked.site.robots {
        RobotsKind::Rules => rules(asked, ordinary_rules(asked).as_bytes()),
        RobotsKind::OwnGroup => rules(asked, OWN_GROUP.as_bytes()),
        RobotsKind::Empty => rules(asked, b""),
        RobotsKind::CrawlDelay => {
            let seconds = asked.site.crawl_delay().unwrap_or_default().as_secs();
            rules(asked, format!("User-agent: *\nCrawl-delay: {seconds}\nDisallow: /private/\n").as_bytes())
        }
        RobotsKind::ByteOrderMark => rules(asked, format!("\u{feff}{simple}").as_bytes()),
        RobotsKind::CarriageReturns => rules(asked, simple.replace('\n', "\r").as_bytes()),
        RobotsKind::HtmlPage => {
            head(200, asked).with("Content-Type", "text/html").answer("HTML page", HTML_AS_ROBOTS.as_bytes()).settles()
        }
        RobotsKind::NotFound => head(404, asked).answer("404", b"no such file\n").settles(),
        RobotsKind::Gone => head(410, asked).answer("410", b"gone\n").settles(),
        RobotsKind::Forbidden => head(403, asked).answer("403", b"forbidden\n").settles(),
        RobotsKind::TooLarge => rules(asked, &too_large()),
        RobotsKind::OneHop | RobotsKind::FiveHops | RobotsKind::SixHops | RobotsKind::HopLoop => hops(asked, simple),
        RobotsKind::LimitedThenFine if asked.num_before == 0 => head(429, asked)
            .with("Retry-After", &LIMITED_WAIT.as_secs().to_string())
            .answer("429", b"slow down\n")
            .with_backoff()
            .with_wait(LIMITED_WAIT)
            .as_robots(RobotsRole::Unreachable),
        RobotsKind::UnavailableThenFine if asked.num_before < NUM_UNAVAILABLE_FIRST => unavailable(asked),
        RobotsKind::LimitedThenFine | RobotsKind::UnavailableThenFine => rules(asked, simple.as_bytes()),
        RobotsKind::DisallowAll => rules(asked, b"User-agent: *\nDisallow: /\n"),
        RobotsKind::Unauthorized => {
            let head = head(401, asked).with("WWW-Authenticate", "Basic realm=\"staff\"");
            head.answer("401", b"who are you?\n").settles()
        }
        RobotsKind::AlwaysUnavailable => unavailable(asked),
        RobotsKind::AlwaysReset => Answer::without_status("reset", Step::Reset).as_robots(RobotsRole::Unreachable),
        RobotsKind::AlwaysStalled => Answer::without_status("stall", Step::Stall).as_robots(RobotsRole::Unreachable),
        RobotsKind::OtherSitesRobots => match location(asked) {
            Some(location) => redirect(asked, &location, RobotsRole::Hop),
            // In a web without a site to borrow from it has the rules itself.
            None => rules(asked, simple.as_bytes()),
        },
        RobotsKind::EachOthersFirst | RobotsKind::EachOthersSecond | RobotsKind::OtherSitesPath => {
            // A tiny web may have no target; what it answers then is as unreachable.
            let location = location(asked).unwrap_or_else(|| asked.path.to_owned());
            redirect(asked, &location, RobotsRole::Unreachable)
        }
        RobotsKind::CutBody => {
            let mut bytes = head(200, asked).with("Content-Type", "text/plain").with("Content-Length", "4000").bytes();
            bytes.extend_from_slice(b"User-agent: *\nAllow: /\n");
            Answer::of_steps(200, "cut body", vec![Step::Send(bytes)]).with_backoff().as_robots(RobotsRole::Unreachable)
        }
        RobotsKind::WrongCertificate => Answer::without_status("reset", Step::Reset).as_robots(RobotsRole::Unreachable),
    }
}

fn location(asked: &RobotsAsked<'_>) -> Option<String> {
    asked.site.robots_elsewhere.as_ref().map(|target| asked.sites.url(target, asked.ports))
}

impl Answer {
    fn settles(self) -> Self {
        self.as_robots(RobotsRole::Settles)
    }
}

const OWN_GROUP: &str = "# Most robots are not wanted here.\nUser-agent: *\nDisallow: /\n\nUser-agent: lohisoftbot\n\
    Disallow: /no-lohisoft/\n\nUser-agent: otherbot\nDisallow: /\n\n# The same robot again: the two groups are one.\n\
    User-agent: LohiSoftBot\nDisallow: /*?session=\nAllow: /\n";

fn ordinary_rules(asked: &RobotsAsked<'_>) -> String {
    let origin = asked.site.origin(PageHost::Main, asked.ports);
    let sitemap =
        sitemaps::named_path(asked.site).map(|path| format!("\nSitemap: {origin}{path}\n")).unwrap_or_default();
    format!(
        "# {name}\nUser-agent: otherbot\nUser-agent: anotherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n\
         Allow: /private/open/\nDisallow: /*.print$\nDisallow: /search?\nDisallow: /*/draft/*/edit\nDisallow: /tmp\n\
         Disallow: /caf%C3%A9\nNoise: value\n{sitemap}",
        name = asked.site.name
    )
}

/// One rule before the bound of what is read, then comments, then one rule beyond it.
fn too_large() -> Vec<u8> {
    let mut bytes = b"User-agent: *\nDisallow: /private/\n".to_vec();
    while bytes.len() < PARSE_LIMIT_BYTES {
        bytes.extend_from_slice(b"# This line is here to be read over, like the thousands that follow it.\n");
    }
    bytes.extend_from_slice(b"Disallow: /late/\n");
    bytes
}

fn num_hops(kind: RobotsKind) -> usize {
    const HOPS: [(RobotsKind, usize); 4] =
        [(RobotsKind::OneHop, 1), (RobotsKind::HopLoop, 1), (RobotsKind::FiveHops, 5), (RobotsKind::SixHops, 6)];
    HOPS.iter().find(|(with_hops, _)| *with_hops == kind).map_or(0, |(_, num)| *num)
}

fn hop_path(number: usize) -> String {
    format!("/hop-{number}/robots.txt")
}

fn hops(asked: &RobotsAsked<'_>, text: &str) -> Answer {
    let paths = robots_paths(asked.site.robots);
    let place = paths.iter().position(|path| path == asked.path).unwrap_or(0);
    match paths.get(place + 1) {
        Some(next) => redirect(asked, next, RobotsRole::Hop),
        None if asked.site.robots == RobotsKind::HopLoop => redirect(asked, "/robots.txt", RobotsRole::Hop),
        None => rules(asked, text.as_bytes()),
    }
}

fn head(status: u16, asked: &RobotsAsked<'_>) -> Head {
    Head::new(status, asked.now)
}

fn rules(asked: &RobotsAsked<'_>, text: &[u8]) -> Answer {
    head(200, asked).with("Content-Type", "text/plain; charset=utf-8").answer("rules", text).settles()
}

fn redirect(asked: &RobotsAsked<'_>, location: &str, role: RobotsRole) -> Answer {
    head(301, asked).with("Location", location).answer("redirect", b"").as_robots(role)
}

fn unavailable(asked: &RobotsAsked<'_>) -> Answer {
    head(503, asked).answer("503", b"back soon\n").with_backoff().as_robots(RobotsRole::Unreachable)
}
