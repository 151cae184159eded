//! The sitemaps of the sites: where they lie, what they list, and the pages that nothing else makes known.
//!
//! Sites with the ordinary rules name theirs in robots.txt; without faults each of them has a plain one. The one kind that nobody names
//! stands on a site with an empty robots.txt.

use fastrand::Rng;

use super::{
    answers::PageAsked,
    encode,
    faults::{RobotsKind, SitemapKind},
    generate::html_page,
    labels::{AnswerKind, Permission, Storage},
    plan::PracticePlan,
    script::{Answer, Head},
    site_plan::{PageHost, PagePlan, SitePlan},
};

/// Where pages lie that only a sitemap lists.
pub const LISTED_PREFIX: &str = "/listed/";
/// Where a robot may look for a sitemap that nobody names, whether or not there is one.
pub const USUAL_PATH: &str = "/sitemap.xml";
/// Ordinary pages of a site that shows a kind of sitemap: few, so that requests are left for what only the sitemap lists.
pub(super) const NUM_PAGES_BESIDE_SITEMAP: usize = 4;
/// The site whose sitemap nobody names: the first with an empty robots.txt.
pub(super) const UNNAMED_SITE: usize = 6;
/// How many pages of a site only its sitemap lists.
const NUM_LISTED_ONLY: usize = 2;
/// How many pages a sitemap lists of those that are linked to.
const NUM_LISTED_LINKED: usize = 10;
/// Indexes of the chain that exist; each lists the next.
const CHAIN_LENGTH: usize = 4;
/// What the bomb is inflated to.
const BOMB_BYTES: usize = 64 << 20;

impl SitemapKind {
    /// Where it lies, and its further files.
    fn paths(self) -> Vec<String> {
        let paths: &[&str] = match self {
            Self::UrlSet | Self::Foreign | Self::ListsForbidden | Self::Unnamed => &[USUAL_PATH],
            Self::Index => &["/sitemap-index.xml", "/sitemaps/pages.xml.gz"],
            Self::Text => &["/sitemap.txt"],
            Self::Feed => &["/feed.rss"],
            Self::Bomb => &["/sitemap.xml.gz"],
            Self::Html => &["/sitemap.html"],
            Self::Chain => return (0..CHAIN_LENGTH).map(chain_path).collect(),
        };
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Whether a robot learns of pages by it.
    pub const fn is_readable(self) -> bool {
        match self {
            Self::UrlSet
            | Self::Index
            | Self::Text
            | Self::Feed
            | Self::Foreign
            | Self::ListsForbidden
            | Self::Unnamed => true,
            Self::Bomb | Self::Chain | Self::Html => false,
        }
    }
}

/// Which kind a site shows: of those that the plan asks for, each has one site; other sites with the ordinary rules have a plain one.
pub(super) fn kind_of(plan: &PracticePlan, index: usize, robots: RobotsKind) -> Option<SitemapKind> {
    if robots == RobotsKind::Rules {
        shown_at(plan, index).or(Some(SitemapKind::UrlSet))
    } else if index == UNNAMED_SITE {
        plan.faults.sitemaps().find(|kind| *kind == SitemapKind::Unnamed)
    } else {
        None
    }
}

/// The kind that this site is there to show. Every fourth site has the ordinary rules.
fn shown_at(plan: &PracticePlan, index: usize) -> Option<SitemapKind> {
    let is_named = |kind: &SitemapKind| *kind != SitemapKind::Unnamed;
    if index.is_multiple_of(4) { plan.faults.sitemaps().filter(is_named).nth(index / 4) } else { None }
}

/// Whether the site is there to show its kind of sitemap, so is to have few other pages.
pub(super) fn is_shown(plan: &PracticePlan, site: &SitePlan) -> bool {
    site.sitemap == Some(SitemapKind::Unnamed) || (site.sitemap.is_some() && shown_at(plan, site.index).is_some())
}

/// Adds the files of the site's sitemap, and the pages that only it lists.
pub(super) fn add(plan: &PracticePlan, site: &mut SitePlan, rng: &mut Rng) {
    let Some(kind) = site.sitemap else { return };
    for path in kind.paths() {
        let file = html_page(plan, rng, site, path, site.language);
        site.pages.push(PagePlan { answer: AnswerKind::Sitemap, storage: Storage::NotStored, ..file });
    }
    if kind.is_readable() && is_shown(plan, site) {
        for number in 0..NUM_LISTED_ONLY {
            let page = html_page(plan, rng, site, format!("{LISTED_PREFIX}{number}.html"), site.language);
            site.pages.push(page);
        }
    }
}

/// The path that robots.txt names, if it names one.
pub(super) fn named_path(site: &SitePlan) -> Option<String> {
    site.sitemap.filter(|kind| *kind != SitemapKind::Unnamed).and_then(|kind| kind.paths().into_iter().next())
}

/// The answer to one of the site's sitemap files.
pub(super) fn answer(asked: &PageAsked<'_>) -> Answer {
    let Some(kind) = asked.site.sitemap else { return super::answers::not_found(asked.now) };
    let origin = asked.site.origin(PageHost::Main, asked.ports);
    let (content_type, body) = match kind {
        SitemapKind::UrlSet | SitemapKind::Unnamed => ("application/xml", urlset(&listed(asked)).into_bytes()),
        SitemapKind::Foreign => {
            let others = asked.sites.sites().iter().filter(|site| site.index != asked.site.index).take(3);
            let others =
                others.map(|site| format!("{}/from-a-foreign-sitemap", site.origin(PageHost::Main, asked.ports)));
            ("text/xml", urlset(&others.chain(listed(asked)).collect::<Vec<_>>()).into_bytes())
        }
        SitemapKind::ListsForbidden => {
            let forbidden = format!("{origin}/private/ledger");
            ("application/xml", urlset(&[vec![forbidden], listed(asked)].concat()).into_bytes())
        }
        SitemapKind::Index if asked.page.path.ends_with(".gz") => {
            ("application/gzip", encode::gzip(urlset(&listed(asked)).as_bytes()))
        }
        SitemapKind::Index => ("application/xml", index(&format!("{origin}/sitemaps/pages.xml.gz")).into_bytes()),
        SitemapKind::Text => ("text/plain", listed(asked).join("\n").into_bytes()),
        SitemapKind::Feed => {
            let items: String =
                listed(asked).iter().map(|url| format!("<item><link>{}</link></item>\n", escaped(url))).collect();
            let feed = format!("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel>\n{items}</channel></rss>\n");
            ("application/rss+xml", feed.into_bytes())
        }
        SitemapKind::Bomb => ("application/gzip", encode::gzip_bomb(b"<urlset>", BOMB_BYTES)),
        SitemapKind::Chain => {
            let place = (0..CHAIN_LENGTH).position(|number| chain_path(number) == asked.page.path).unwrap_or(0);
            ("application/xml", index(&format!("{origin}{}", chain_path(place + 1))).into_bytes())
        }
        SitemapKind::Html => {
            ("text/html", b"<!DOCTYPE html>\n<title>Site map</title><p><a href=\"/\">Home</a></p>\n".to_vec())
        }
    };
    Head::new(200, asked.now).with("Content-Type", content_type).answer(&format!("sitemap {kind:?}"), &body)
}

fn chain_path(number: usize) -> String {
    format!("/sitemaps/{number}.xml")
}

/// Some of the pages that are linked to, and those that are not.
fn listed(asked: &PageAsked<'_>) -> Vec<String> {
    let origin = asked.site.origin(PageHost::Main, asked.ports);
    let may_be_listed = |page: &&PagePlan| {
        let is_own = page.answer == AnswerKind::Page && page.host == PageHost::Main;
        // What lies at the end of a chain that is too long must stay out of reach.
        is_own && page.permission == Permission::Allowed && page.storage == Storage::Stored
    };
    let (only_listed, linked): (Vec<&PagePlan>, Vec<_>) =
        asked.site.pages.iter().filter(may_be_listed).partition(|page| page.path.starts_with(LISTED_PREFIX));
    let linked = linked.into_iter().take(NUM_LISTED_LINKED);
    linked.chain(only_listed).map(|page| format!("{origin}{}", page.path)).collect()
}

fn escaped(url: &str) -> String {
    url.replace('&', "&amp;")
}

fn urlset(urls: &[String]) -> String {
    let entries: String = urls.iter().map(|url| format!("<url><loc>{}</loc></url>\n", escaped(url))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
    )
}

fn index(child: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <sitemap><loc>{child}</loc></sitemap>\n</sitemapindex>\n"
    )
}
