//! The planned sites: what each one is called, where it listens, which pages it has and what is known about them.
//!
//! A plan holds no bytes of a page; they are made when they are asked for (`page`), always the same from the same plan and ports.

use std::{collections::HashMap, net::Ipv4Addr, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    faults::{PLAIN_ROBOTS, RobotsKind, SitemapKind, TrapKind},
    freshness::PageLife,
    labels::{AnswerKind, Permission, RequestKind, Storage, UrlLabel},
    plan::PracticePlan,
    robots_files,
    words::Language,
};

/// http or https.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// As it stands in a URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The two ports that all addresses of a practice web listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// For http.
    pub http: u16,
    /// For https.
    pub https: u16,
}

impl Ports {
    /// The port of a scheme.
    pub const fn of(self, scheme: Scheme) -> u16 {
        match scheme {
            Scheme::Http => self.http,
            Scheme::Https => self.https,
        }
    }
}

/// Which host of its site a page lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageHost {
    /// The host of the home page.
    Main,
    /// The site's `docs.` host, an origin of its own.
    Docs,
}

/// Where a link or a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Index of the site.
    pub site: usize,
    /// Host within the site.
    pub host: PageHost,
    /// Path and query.
    pub path: String,
}

/// Whether a link asks not to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rel {
    /// No rel.
    Plain,
    /// rel=nofollow.
    Nofollow,
}

/// How a link's address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkForm {
    /// `http://host:port/path`.
    Absolute,
    /// `/path`.
    Path,
    /// Relative to the page where that is possible, else `/path`.
    Relative,
    /// `//host:port/path`.
    SchemeRelative,
    /// `/path#part`.
    Fragment,
}

/// A link on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLink {
    /// Where it leads.
    pub target: Target,
    /// Its text.
    pub text: String,
    /// Whether it may be followed.
    pub rel: Rel,
    /// How it is written; links to another origin are always written in full.
    pub form: LinkForm,
}

/// One planned URL of a site, robots.txt and its hops aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePlan {
    /// Path and query.
    pub path: String,
    /// The host it lies on.
    pub host: PageHost,
    /// The language of its text.
    pub language: Language,
    /// The title.
    pub title: String,
    /// The meta description.
    pub description: Option<String>,
    /// h1 to h3.
    pub headings: Vec<(u8, String)>,
    /// How it answers.
    pub answer: AnswerKind,
    /// Whether it may be asked.
    pub permission: Permission,
    /// Whether it may be kept.
    pub storage: Storage,
    /// Where it redirects to, if it does.
    pub redirect: Option<(u16, Target)>,
    /// What becomes of it, in a web of two epochs.
    pub life: Option<PageLife>,
    /// The links on it, in order.
    pub links: Vec<PlannedLink>,
    /// About how long its HTML is.
    pub target_bytes: usize,
    /// Seed of its text.
    pub text_seed: u64,
    /// Canary words for its paragraphs.
    pub canaries: Vec<String>,
}

/// One planned site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitePlan {
    /// Its place in the list of sites.
    pub index: usize,
    /// Its registrable name, such as `quiet-harbour.test`.
    pub name: String,
    /// The host of its home page: the name, or `www.` and the name.
    pub main_host: String,
    /// Where it listens.
    pub address: Ipv4Addr,
    /// The scheme of its home page.
    pub scheme: Scheme,
    /// How its robots.txt answers.
    pub robots: RobotsKind,
    /// The language of most of its pages.
    pub language: Language,
    /// Its pages, the home page first.
    pub pages: Vec<PagePlan>,
    /// What it has for a sitemap, if it has one.
    pub sitemap: Option<SitemapKind>,
    /// The trap that it has, if it has one.
    pub trap: Option<TrapKind>,
    /// Where its robots.txt redirects to, if to another site.
    pub robots_elsewhere: Option<Target>,
    pub(super) by_path: HashMap<String, usize>,
}

impl SitePlan {
    /// Whether anything but robots.txt may be asked at all.
    pub const fn is_open(&self) -> bool {
        robots_files::is_open(self.robots)
    }

    /// Whether the site's robots.txt is an ordinary one.
    pub fn is_plain(&self) -> bool {
        PLAIN_ROBOTS.contains(&self.robots)
    }

    /// The Crawl-delay that the site's robots.txt asks for.
    pub const fn crawl_delay(&self) -> Option<Duration> {
        robots_files::crawl_delay(self.robots, self.index)
    }

    /// The page at this path and query.
    pub fn page(&self, path: &str) -> Option<&PagePlan> {
        self.by_path.get(path).map(|&index| &self.pages[index])
    }

    /// The name of one of the site's hosts.
    pub fn host(&self, host: PageHost) -> String {
        match host {
            PageHost::Main => self.main_host.clone(),
            PageHost::Docs => format!("docs.{}", self.name),
        }
    }

    /// Scheme, host and port of one of the site's hosts.
    pub fn origin(&self, host: PageHost, ports: Ports) -> String {
        format!("{}://{}:{}", self.scheme.as_str(), self.host(host), ports.of(self.scheme))
    }

    /// Which budget a path falls under.
    pub fn request_kind(&self, path: &str) -> RequestKind {
        if robots_files::is_robots_path(self.robots, path) { RequestKind::Robots } else { RequestKind::Page }
    }

    /// How many records a crawl with this many page requests would keep at the least, if it asks every odd page first.
    pub fn num_storable(&self, budget: usize) -> usize {
        let allowed = || self.pages.iter().filter(|page| page.permission == Permission::Allowed);
        let stored = allowed().filter(|page| page.storage == Storage::Stored).count();
        let odd = allowed().count() - stored;
        stored.min(budget.saturating_sub(odd))
    }
}

/// All sites of one practice web.
#[derive(Clone, Debug)]
pub struct PracticeSites {
    pub(super) plan: PracticePlan,
    pub(super) sites: Vec<SitePlan>,
    pub(super) by_name: HashMap<String, usize>,
}

impl PracticeSites {
    /// The plan they came from.
    pub fn plan(&self) -> &PracticePlan {
        &self.plan
    }

    /// The sites, in order.
    pub fn sites(&self) -> &[SitePlan] {
        &self.sites
    }

    /// The site that a host belongs to: the last two labels of the host are its name.
    pub fn site_of_host(&self, host: &str) -> Option<&SitePlan> {
        self.by_name.get(site_name_of_host(host)).map(|&index| &self.sites[index])
    }

    /// The absolute URL of a target.
    pub fn url(&self, target: &Target, ports: Ports) -> String {
        format!("{}{}", self.sites[target.site].origin(target.host, ports), target.path)
    }

    /// The labels of every planned URL, robots.txt of each origin included.
    pub fn labels(&self, ports: Ports) -> Vec<UrlLabel> {
        let mut labels = Vec::new();
        for site in &self.sites {
            for path in robots_files::robots_paths(site.robots) {
                labels.push(robots_label(site, &path, ports));
            }
            labels.extend(site.pages.iter().map(|page| page_label(site, page, ports)));
        }
        labels
    }

    /// How many records a crawl of all sites keeps at the least (see [`SitePlan::num_storable`]).
    pub fn num_storable(&self, budget: usize) -> usize {
        self.sites.iter().filter(|site| site.is_open()).map(|site| site.num_storable(budget)).sum()
    }
}

/// The registrable name of a practice host: its last two labels, without a trailing dot.
pub fn site_name_of_host(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    match host.rmatch_indices('.').nth(1) {
        Some((dot, _)) => &host[dot + 1..],
        None => host,
    }
}

fn robots_label(site: &SitePlan, path: &str, ports: Ports) -> UrlLabel {
    UrlLabel {
        site: site.name.clone(),
        url: format!("{}{path}", site.origin(PageHost::Main, ports)),
        path: path.to_owned(),
        permission: Permission::Allowed,
        request_kind: RequestKind::Robots,
        answer: AnswerKind::Robots(site.robots),
        storage: Storage::NotStored,
        title: None,
        description: None,
        headings: Vec::new(),
        lang: None,
    }
}

fn page_label(site: &SitePlan, page: &PagePlan, ports: Ports) -> UrlLabel {
    let certain = page.text_is_certain();
    UrlLabel {
        site: site.name.clone(),
        url: format!("{}{}", site.origin(page.host, ports), page.path),
        path: page.path.clone(),
        permission: page.permission,
        request_kind: RequestKind::Page,
        answer: page.answer,
        storage: page.storage,
        title: certain.then(|| page.title.clone()),
        description: if certain { page.description.clone() } else { None },
        headings: if certain { page.headings.clone() } else { Vec::new() },
        lang: certain.then(|| page.language.tag().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_host_is_its_last_two_labels() {
        for (host, wanted) in [
            ("quiet-harbour.test", "quiet-harbour.test"),
            ("www.quiet-harbour.test", "quiet-harbour.test"),
            ("a.b.quiet-harbour.test.", "quiet-harbour.test"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(site_name_of_host(host), wanted, "host {host}");
        }
    }
}
