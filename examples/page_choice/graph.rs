//! The graph of a site: what can be reached from its seed over links that are followed.
//!
//! A link is followed within its site, where robots.txt allows its target, and where neither it nor its page says nofollow. Nothing here
//! is a request: every page is read that there is, up to a cap.

use std::collections::{HashMap, HashSet};

use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::outcome::{self, Answer, RedirectTarget};
use lohisoftbot_core::robots::{PRODUCT_TOKEN, RobotsPolicy};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::reading::{self, ReadPage};
use crate::served::Served;

/// Most URLs of a site that are looked at.
pub const MAX_URLS: usize = 20_000;
/// When everything is read.
pub const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

/// What a URL gives.
#[derive(Debug)]
pub enum Gives {
    /// A page.
    Page(ReadPage),
    /// A redirect within the site.
    Redirect(PageUrl),
    /// Nothing to keep.
    Nothing,
}

/// One URL.
#[derive(Debug)]
pub struct Node {
    /// The URL.
    pub url: PageUrl,
    /// What it gives.
    pub gives: Gives,
    /// The URLs that it links or redirects to, each once, in order of first appearance.
    pub to: Vec<usize>,
}

/// All URLs, in the order of a breadth-first search; the seed first.
#[derive(Debug)]
pub struct Graph {
    /// The URLs.
    pub nodes: Vec<Node>,
    /// Whether there are more than [`MAX_URLS`].
    pub is_cut: bool,
}

impl Graph {
    /// Reads the site.
    ///
    /// # Errors
    /// It has no seed.
    pub fn of(served: &dyn Served) -> anyhow::Result<Self> {
        let seed = served.seed()?;
        let mut explorer = Explorer { served, robots: HashMap::new(), place_of: HashMap::new(), urls: Vec::new() };
        explorer.place(seed.clone());
        let mut nodes = Vec::new();
        let mut is_cut = false;
        while let Some(url) = explorer.urls.get(nodes.len()).cloned() {
            let gives = explorer.read(&url);
            let targets = match &gives {
                Gives::Page(page) => page.around.links.iter().map(|link| link.url.clone()).collect(),
                Gives::Redirect(target) => vec![target.clone()],
                Gives::Nothing => Vec::new(),
            };
            let mut seen = HashSet::new();
            let mut to = Vec::new();
            for target in targets {
                if target.site() != seed.site() || target == url || !explorer.allows(&target) {
                    continue;
                }
                if explorer.urls.len() >= MAX_URLS && !explorer.place_of.contains_key(&target) {
                    is_cut = true;
                    continue;
                }
                let place = explorer.place(target);
                if seen.insert(place) {
                    to.push(place);
                }
            }
            nodes.push(Node { url, gives, to });
        }
        Ok(Self { nodes, is_cut })
    }

    /// The place of each URL.
    pub fn places(&self) -> HashMap<&PageUrl, usize> {
        self.nodes.iter().enumerate().map(|(place, node)| (&node.url, place)).collect()
    }

    /// Where a URL leads in the end: itself, or the end of its redirects. None where they lead to nothing.
    pub fn end_of(&self, place: usize) -> Option<usize> {
        const MAX_HOPS: usize = 6;
        let mut at = place;
        for _ in 0..MAX_HOPS {
            match self.nodes[at].gives {
                Gives::Page(_) => return Some(at),
                Gives::Redirect(_) => at = *self.nodes[at].to.first()?,
                Gives::Nothing => return None,
            }
        }
        None
    }
}

struct Explorer<'a> {
    served: &'a dyn Served,
    robots: HashMap<Origin, RobotsPolicy>,
    place_of: HashMap<PageUrl, usize>,
    urls: Vec<PageUrl>,
}

impl Explorer<'_> {
    fn place(&mut self, url: PageUrl) -> usize {
        let next = self.urls.len();
        let place = *self.place_of.entry(url.clone()).or_insert(next);
        if place == next {
            self.urls.push(url);
        }
        place
    }

    fn allows(&mut self, url: &PageUrl) -> bool {
        let origin = url.origin();
        let served = self.served;
        let policy = self.robots.entry(origin).or_insert_with_key(|origin| {
            let body = served.answer(&origin.robots_url(), 0).filter(|(head, _)| head.status == 200);
            RobotsPolicy::parse(&body.map(|(_, body)| body).unwrap_or_default(), PRODUCT_TOKEN)
        });
        policy.verdict(url).is_allowed()
    }

    fn read(&self, url: &PageUrl) -> Gives {
        // A fault that passes is no trait of the page: it is asked as if once more.
        let Some((head, body)) = self.served.answer(url, 1) else { return Gives::Nothing };
        match outcome::classify(RequestKind::Page, &head, url, NOW) {
            Answer::Html => reading::read_page(url, &head, &body, NOW).map_or(Gives::Nothing, Gives::Page),
            Answer::Redirect { target: RedirectTarget::To(target), .. } => Gives::Redirect(target),
            Answer::Redirect { target: RedirectTarget::ToItself | RedirectTarget::Unusable, .. }
            | Answer::Sitemap
            | Answer::OtherContent
            | Answer::OtherType
            | Answer::NotModified
            | Answer::Gone
            | Answer::Barrier { .. }
            | Answer::AskOnceMore { .. }
            | Answer::Busy { .. }
            | Answer::Refused { .. } => Gives::Nothing,
        }
    }
}
