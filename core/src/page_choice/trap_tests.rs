//! Traps that answer as they like: what a cycle of twenty requests spends on them while honest pages wait, and where they are all there is.

use std::sync::Arc;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::backoff::BackoffPolicy;
use crate::budget::Budget;
use crate::exclusion::Exclusions;
use crate::outcome::{Answer, Permanence, RedirectTarget};
use crate::politeness::{
    Arrival, HostAction, HostState, PageEnd, RobotsEnd, Seed, SeedScheme, SiteRules, StoredAs, Ticket,
};
use crate::record::ContentMark;
use crate::response::ResponseHead;
use crate::robots::status::BodyEnd;
use crate::time::Timestamp;

const NUM_REQUESTS: usize = 20;
/// Pages that the home page links to, as does each of them, beside the trap.
const NUM_HONEST: usize = 15;
/// Links that a page has to what a trap has on each of its levels.
const WIDTHS: [usize; 5] = [1, 2, 5, 20, 90];
const MIN_HONEST_REQUESTS: usize = 12;

/// What a site of a test answers.
enum Reply {
    /// A page with these links.
    Page(Vec<String>),
    Gone,
    /// A file.
    Other,
    /// A redirect.
    To(String),
}

/// How made-up names look.
#[derive(Clone, Copy, Debug)]
enum Naming {
    Hex,
    Letters,
    /// Of different lengths.
    Word,
}

const NAMINGS: [Naming; 3] = [Naming::Hex, Naming::Letters, Naming::Word];

impl Naming {
    /// The name that belongs to a text and a number: the same each time, and like no other.
    fn of(self, text: &str, number: usize) -> String {
        let hash = xxh3_64(format!("{text} {number}").as_bytes());
        let letters = |num: u64| (0..num).map(|at| char::from(b'a' + (hash >> (4 * at)) as u8 % 26)).collect();
        match self {
            Self::Hex => format!("{:010x}", hash >> 24),
            Self::Letters => letters(9),
            Self::Word => letters(4 + hash % 9),
        }
    }
}

const HONEST: [&str; NUM_HONEST] = [
    "/about",
    "/history",
    "/people",
    "/prices",
    "/how-to-find-us",
    "/news/",
    "/news/summer",
    "/news/new-roof",
    "/shop/",
    "/shop/oak-table",
    "/shop/chair",
    "/help/",
    "/help/returns",
    "/help/delivery",
    "/contact",
];

fn honest_links() -> Vec<String> {
    HONEST.iter().map(|&path| path.to_owned()).collect()
}

fn url(raw: &str) -> PageUrl {
    let home = PageUrl::parse("https://a.test/", None).unwrap();
    PageUrl::parse(raw, Some(&home)).unwrap()
}

fn rules() -> SiteRules {
    let day = Duration::from_secs(86_400);
    SiteRules {
        min_delay: Duration::from_secs(5),
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
        max_crawl_delay: day,
        park_after: Duration::from_secs(60),
        backoff: BackoffPolicy::default(),
        budget: Budget::default(),
        max_queued_urls: 1_000,
        recrawl_interval: day * 30,
        min_recrawl_interval: day * 7,
        max_recrawl_interval: day * 90,
        product_token: "LohiSoftBot".to_owned(),
    }
}

/// The page requests of a cycle, in order, of a site that answers so; every robots.txt allows all.
fn requests(reply: &dyn Fn(&PageUrl) -> Reply) -> Vec<PageUrl> {
    let home = url("/");
    let mut state = HostState::new(home.site(), Arc::new(rules()), Exclusions::default());
    state.add_seed(Seed { url: home, scheme: SeedScheme::Written });
    let (mut now, mut asked) = (Timestamp::from_secs(1_800_000_000), Vec::new());
    for _ in 0..10_000 {
        match state.next_action(now) {
            HostAction::FetchRobots(intent) => {
                let ticket = state.open_ticket(intent, now).unwrap();
                let end = RobotsEnd::Answered { head: &ResponseHead::new(404), body: b"", body_end: BodyEnd::Whole };
                state.on_robots(ticket.number, end, arrival(now));
            }
            HostAction::Fetch(intent) => {
                let ticket = state.open_ticket(intent, now).unwrap();
                let of_ticket = reply(&ticket.intent.url);
                answer(&mut state, &ticket, of_ticket, now);
                asked.push(ticket.intent.url);
            }
            HostAction::WaitUntil(until) | HostAction::Park { until, .. } => now = until,
            HostAction::Finish(_) => return asked,
            HostAction::BorrowRobots(_) | HostAction::AwaitOutcome => panic!("nothing of the kind is played here"),
        }
    }
    panic!("a cycle without end");
}

fn arrival(now: Timestamp) -> Arrival {
    Arrival { at: now, took: Duration::from_millis(100), wire_bytes: 1_000, chance: 0.0 }
}

fn answer(state: &mut HostState, ticket: &Ticket, reply: Reply, now: Timestamp) {
    let end = match reply {
        Reply::Page(links) => {
            let linked = |link: &String| PageUrl::parse(link, Some(&ticket.intent.url)).unwrap();
            let links = links.iter().map(|link| LinkedPage { url: linked(link), above: None }).collect();
            state.on_page_links(ticket.number, PageLinks { links, ..PageLinks::default() }, now);
            PageEnd::Page { status: 200, stored: StoredAs::Record(ContentMark(1)) }
        }
        Reply::Gone => PageEnd::Answered { status: 404, answer: Answer::Gone },
        Reply::Other => PageEnd::Answered { status: 200, answer: Answer::OtherType },
        Reply::To(target) => {
            let target = RedirectTarget::To(url(&target));
            let answer = Answer::Redirect { target, permanence: Permanence::Temporary, retry_after: None };
            PageEnd::Answered { status: 302, answer }
        }
    };
    state.on_outcome(ticket.number, end, arrival(now));
}

/// A part of a site: the links to it from the home page, and what it answers.
struct Trap {
    links: Vec<String>,
    reply: Box<dyn Fn(&PageUrl) -> Reply>,
}

/// Where the honest pages have links to.
#[derive(Clone, Copy, Debug)]
enum HonestLinks {
    Nowhere,
    Home,
    AllOthers,
    /// As every page of the site has in its menu, the trap's links included.
    AllAndTrap,
}

#[track_caller]
fn check(words: &str, trap: &Trap) {
    for honest_links_to in [HonestLinks::Nowhere, HonestLinks::Home, HonestLinks::AllOthers, HonestLinks::AllAndTrap] {
        let reply = |url: &PageUrl| {
            let is_main = url.host() == "a.test";
            match url.path_and_query() {
                "/" if is_main => Reply::Page([trap.links.clone(), honest_links()].concat()),
                path if is_main && HONEST.contains(&path) => Reply::Page(match honest_links_to {
                    HonestLinks::Nowhere => Vec::new(),
                    HonestLinks::Home => vec!["/".to_owned()],
                    HonestLinks::AllOthers => [vec!["/".to_owned()], honest_links()].concat(),
                    HonestLinks::AllAndTrap => [vec!["/".to_owned()], trap.links.clone(), honest_links()].concat(),
                }),
                _ => (trap.reply)(url),
            }
        };
        let asked = requests(&reply);
        let is_honest = |url: &&PageUrl| url.host() == "a.test" && HONEST.contains(&url.path_and_query());
        let num_honest = asked.iter().filter(is_honest).count();
        let shown: Vec<&str> = asked.iter().map(|url| url.as_str()).collect();
        assert!(asked.len() == NUM_REQUESTS, "{words}, {honest_links_to:?}: {shown:#?}");
        assert!(num_honest >= MIN_HONEST_REQUESTS, "{words}, {honest_links_to:?}: {num_honest} of {shown:#?}");
    }
    let alone = |url: &PageUrl| match url.as_str() {
        "https://a.test/" => Reply::Page(trap.links.clone()),
        _ => (trap.reply)(url),
    };
    assert_eq!(requests(&alone).len(), NUM_REQUESTS, "{words}, alone");
}

#[test]
fn directories_that_go_ever_deeper_wait_behind_what_the_home_page_links_to() {
    for (naming, width) in NAMINGS.into_iter().flat_map(|naming| WIDTHS.map(|width| (naming, width))) {
        for num_entrances in [1, 3] {
            let below = move |path: &str| (0..width).map(|at| format!("{path}{}/", naming.of(path, at))).collect();
            let links = (0..num_entrances).map(|at| format!("/{}/", naming.of("entrance", at))).collect();
            let reply = Box::new(move |url: &PageUrl| Reply::Page(below(url.path_and_query())));
            check(&format!("{naming:?}, {width} wide, {num_entrances} entrances"), &Trap { links, reply });
        }
    }
}

#[test]
fn directories_that_link_home_and_up_wait_likewise() {
    for width in WIDTHS {
        let reply = move |url: &PageUrl| {
            let path = url.path_and_query();
            let below = (0..width).map(|at| format!("{path}{}/", Naming::Hex.of(path, at)));
            Reply::Page(below.chain(["/".to_owned(), "../".to_owned(), "/trap/".to_owned()]).collect())
        };
        check(&format!("{width} wide"), &Trap { links: vec!["/trap/".to_owned()], reply: Box::new(reply) });
    }
}

#[test]
fn directories_that_link_to_those_beside_them_and_levels_that_link_to_the_whole_next_one_wait_likewise() {
    for width in WIDTHS {
        let beside = move |url: &PageUrl| {
            let path = url.path_and_query();
            let above = path.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above);
            let names = |of: &str| (0..width).map(|at| format!("{of}{}/", Naming::Hex.of(of, at))).collect::<Vec<_>>();
            let beside = if above.is_empty() { Vec::new() } else { names(&format!("{above}/")) };
            Reply::Page([names(path), beside].concat())
        };
        check(&format!("{width} beside"), &Trap { links: vec!["/trap/".to_owned()], reply: Box::new(beside) });
        let next_level = move |url: &PageUrl| {
            let level = url.path_and_query().split('/').nth(2).and_then(|level| level.parse().ok()).unwrap_or(0);
            let name = |at: usize| Naming::Hex.of(&format!("level {}", level + 1), at);
            Reply::Page((0..width).map(|at| format!("/level/{}/{}", level + 1, name(at))).collect())
        };
        check(&format!("{width} a level"), &Trap { links: vec!["/level/0/x".to_owned()], reply: Box::new(next_level) });
    }
}

#[test]
fn redirects_to_ever_new_names_wait_once_a_few_brought_nothing() {
    // In the home page's own folder, words like those of the honest pages would not be told from them.
    let in_root = [(Naming::Hex, "/"), (Naming::Letters, "/")];
    for (naming, folder) in NAMINGS.into_iter().map(|naming| (naming, "/go/")).chain(in_root) {
        let names = move |of: &str| (0..60).map(|at| format!("{folder}{}", naming.of(of, at))).collect();
        // To a page with more such links, and to one more redirect.
        let page = move |url: &PageUrl| match url.path_and_query().starts_with("/page") {
            true => Reply::Page(names(url.as_str())),
            false => Reply::To(format!("/page/{}", naming.of(url.as_str(), 0))),
        };
        check(&format!("{naming:?} in {folder}, to pages"), &Trap { links: names("home"), reply: Box::new(page) });
        let onward = move |url: &PageUrl| Reply::To(format!("{folder}{}", naming.of(url.as_str(), 0)));
        check(&format!("{naming:?} in {folder}, onward"), &Trap { links: names("home"), reply: Box::new(onward) });
    }
}

#[test]
fn endless_hosts_wait_behind_the_pages_of_hosts_that_answered() {
    for (naming, width) in NAMINGS.into_iter().flat_map(|naming| [1, 30].map(|width| (naming, width))) {
        for path in ["/", "/welcome"] {
            let host = move |of: &str, at: usize| format!("https://h{}.a.test{path}", naming.of(of, at));
            let page = move |url: &PageUrl| {
                let more = (0..width).map(|at| host(url.as_str(), at));
                Reply::Page(more.chain(["https://a.test/".to_owned()]).collect())
            };
            let links = (0..30).map(|at| host("home", at)).collect();
            check(&format!("{naming:?}, {width} wide, {path}"), &Trap { links, reply: Box::new(page) });
        }
    }
}

#[test]
fn rings_of_redirects_and_redirects_to_the_home_page_wait_once_a_few_were_met() {
    for folder in ["/ring/", "/"] {
        let links: Vec<String> = (0..60).map(|ring| format!("{folder}r{ring}x0")).collect();
        let next = move |url: &PageUrl| {
            let (ring, step) = url.path_and_query().rsplit_once('x').unwrap();
            Reply::To(format!("{ring}x{}", (step.parse::<u32>().unwrap() + 1) % 4))
        };
        check(&format!("rings in {folder}"), &Trap { links: links.clone(), reply: Box::new(next) });
        let home = |_: &PageUrl| Reply::To("/".to_owned());
        check(&format!("home from {folder}"), &Trap { links, reply: Box::new(home) });
    }
}

#[test]
fn long_lists_of_dead_pages_wait_once_a_few_brought_nothing() {
    for words in ["gone", "files", "sent home"] {
        let reply = move || match words {
            "gone" => Reply::Gone,
            "files" => Reply::Other,
            _ => Reply::To("/".to_owned()),
        };
        let named = |path: &'static str| NAMINGS.map(|naming| (naming, path));
        let in_folders = ["/old/", "/old/page-", "/download?file="].into_iter().flat_map(named);
        for (naming, path) in in_folders.chain([(Naming::Hex, "/")]) {
            let links = (0..100).map(|at| format!("{path}{}", naming.of("dead", at))).collect();
            check(&format!("{words}, {naming:?} in {path}"), &Trap { links, reply: Box::new(move |_| reply()) });
        }
    }
}

#[test]
fn dead_pages_of_one_folder_leave_the_requests_for_the_others() {
    // Two of three pages of the archive are gone; its others come, and so does all else.
    let links: Vec<String> = (0..90).map(|at| format!("/archive/{at}")).collect();
    let reply = |url: &PageUrl| match url.path_and_query().rsplit('/').next().unwrap().parse::<u32>() {
        Ok(at) if at % 3 > 0 => Reply::Gone,
        Ok(_) | Err(_) => Reply::Page(vec!["/".to_owned()]),
    };
    check("archive", &Trap { links, reply: Box::new(reply) });
}
