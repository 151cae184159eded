//! From a plan to its sites: names, addresses, kinds of robots.txt, pages with their faults and the links between them.
//!
//! Two passes: first every site gets its pages, then every page gets its links, since links cross sites. Each site draws from a
//! generator of its own, so a change to one site leaves the others as they were.

use std::{collections::HashMap, net::Ipv4Addr};

use fastrand::Rng;

use super::{
    faults::{FaultWeight, PLAIN_ROBOTS, PageFault, RobotsKind, SitemapKind},
    freshness,
    labels::{AnswerKind, ForbiddenBy, Permission, Storage},
    links, odd_pages,
    plan::PracticePlan,
    robots_files::{self, Elsewhere},
    site_plan::{PageHost, PagePlan, PracticeSites, Scheme, SitePlan, Target},
    sitemaps, traps,
    words::{Language, Writer, site_name, slug},
};

/// Half of the pages are smaller than this.
const MEDIAN_PAGE_BYTES: f64 = 40_000.0;
/// Spread of the logarithm of page sizes: about one page in fifty exceeds 200 KB.
const PAGE_SIZE_SIGMA: f64 = 0.8;
const MIN_PAGE_BYTES: f64 = 6_000.0;
const MAX_PAGE_BYTES: f64 = 400_000.0;

impl PracticeSites {
    /// Generates the sites of a plan.
    pub fn generate(plan: PracticePlan) -> Self {
        let mut sites: Vec<SitePlan> = (0..plan.num_sites).map(|index| site_without_links(&plan, index)).collect();
        place_faults(&plan, &mut sites);
        for site in 0..sites.len() {
            send_robots_elsewhere(&mut sites, site);
        }
        for site in &mut sites {
            freshness::add(&plan, site);
            close_if_unreachable(site);
            site.by_path = site.pages.iter().enumerate().map(|(index, page)| (page.path.clone(), index)).collect();
        }
        links::place(&plan, &mut sites);
        let by_name = sites.iter().map(|site| (site.name.clone(), site.index)).collect();
        Self { plan, sites, by_name }
    }
}

/// A generator for one purpose of one site.
pub(super) fn rng_for(plan: &PracticePlan, site: usize, purpose: u64) -> Rng {
    // Odd multipliers spread neighbouring sites and purposes over the whole seed space.
    let mixed =
        plan.seed ^ (site as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.wrapping_mul(0xd1b5_4a32_d192_ed03);
    Rng::with_seed(mixed)
}

fn site_without_links(plan: &PracticePlan, index: usize) -> SitePlan {
    let mut rng = rng_for(plan, index, 1);
    let name = site_name(plan.seed, index);
    let robots = robots_kind(plan, index);
    let is_plain = PLAIN_ROBOTS.contains(&robots);
    let main_host = if is_plain && rng.u8(0..100) < 35 { format!("www.{name}") } else { name.clone() };
    let scheme =
        if robots == RobotsKind::WrongCertificate || rng.u8(0..100) < 35 { Scheme::Https } else { Scheme::Http };
    let language = match rng.u8(0..100) {
        0..55 => Language::English,
        55..90 => Language::Romanian,
        _ => Language::Chinese,
    };
    let mut site = SitePlan {
        index,
        main_host,
        address: address(plan, index),
        scheme,
        robots,
        language,
        pages: Vec::new(),
        sitemap: sitemaps::kind_of(plan, index, robots),
        trap: traps::kind_of(plan, index, robots),
        robots_elsewhere: None,
        by_path: HashMap::new(),
        name,
    };
    add_ordinary_pages(plan, &mut site, &mut rng);
    add_special_pages(plan, &mut site, &mut rng);
    site
}

/// Every other site shows a robots fault, until each has been shown or half of the sites are used up.
fn robots_kind(plan: &PracticePlan, index: usize) -> RobotsKind {
    let plain = PLAIN_ROBOTS[(index / 2) % PLAIN_ROBOTS.len()];
    if index.is_multiple_of(2) { plain } else { plan.faults.robots().nth(index / 2).unwrap_or(plain) }
}

/// The sites at the end of the list share one address.
fn address(plan: &PracticePlan, index: usize) -> Ipv4Addr {
    let first_shared = plan.num_sites - plan.num_shared_address_sites.min(plan.num_sites);
    Ipv4Addr::from(u32::from(plan.base_address) + 1 + index.min(first_shared) as u32)
}

fn add_ordinary_pages(plan: &PracticePlan, site: &mut SitePlan, rng: &mut Rng) {
    let (min, max) = plan.pages_per_site;
    let num_pages = rng.usize(min.max(2)..=max.max(min).max(2));
    let most = if sitemaps::is_shown(plan, site) { sitemaps::NUM_PAGES_BESIDE_SITEMAP } else { usize::MAX };
    let most = if site.trap.is_some() { traps::NUM_PAGES_BESIDE_TRAP } else { most };
    let num_pages = num_pages.min(most);
    let num_sections = (num_pages - 1).min(6);
    let has_docs = site.is_plain() && site.index % 8 == 4;
    for number in 0..num_pages {
        let path = match number {
            0 => "/".to_owned(),
            _ if number <= num_sections => format!("/{}/", slug(rng, number)),
            _ => {
                let section = site.pages[1 + rng.usize(0..num_sections)].path.clone();
                match number % 4 {
                    0 => format!("/articles?id={number}"),
                    1 => format!("{section}{}", slug(rng, number)),
                    2 => format!("{section}{}/", slug(rng, number)),
                    _ => format!("{section}{}.html", slug(rng, number)),
                }
            }
        };
        let mut page = html_page(plan, rng, site, path, site.language);
        if has_docs && number > num_sections && number % 5 == 0 {
            page.host = PageHost::Docs;
        }
        site.pages.push(page);
    }
}

/// The paths that the rules are about, one page that nothing but nofollow links lead to, the sitemap, and what the canary words need.
fn add_special_pages(plan: &PracticePlan, site: &mut SitePlan, rng: &mut Rng) {
    for (path, permission) in robots_files::ruled_paths(site.robots) {
        let page = html_page(plan, rng, site, path.to_owned(), site.language);
        site.pages.push(PagePlan { permission, ..page });
    }
    let unfollowed = html_page(plan, rng, site, odd_pages::UNFOLLOWED_PATH.to_owned(), site.language);
    site.pages.push(PagePlan { permission: Permission::Forbidden(ForbiddenBy::Nofollow), ..unfollowed });
    sitemaps::add(plan, site, rng);
    traps::add(plan, site, rng);
    if let (0, Some(canaries)) = (site.index, &plan.canaries) {
        site.pages[1].title = format!("{} {}", canaries.title, site.pages[1].title);
        let mut page = html_page(plan, rng, site, odd_pages::PANIC_PATH.to_owned(), site.language);
        page.canaries.push(canaries.panic.clone());
        site.pages.push(PagePlan { answer: AnswerKind::PanicPage, storage: Storage::Either, ..page });
    }
}

/// A plain page, allowed and stored, without links yet.
pub(super) fn html_page(
    plan: &PracticePlan,
    rng: &mut Rng,
    site: &SitePlan,
    path: String,
    language: Language,
) -> PagePlan {
    let writer = Writer::new(language);
    let site_title = site.name.trim_end_matches(".test").replace('-', " ");
    let num_title_words = rng.usize(2..6);
    let title = writer.phrase(rng, num_title_words);
    let title = match rng.u8(0..10) {
        0 => title,
        1..3 => format!("{title} & {} | {site_title}", writer.phrase(rng, 1)),
        _ => format!("{title} | {site_title}"),
    };
    let description = (rng.u8(0..10) < 8).then(|| {
        let sentences = writer.sentence(rng) + &writer.sentence(rng);
        sentences.trim().to_owned()
    });
    let num_headings = rng.usize(3..12);
    let headings = (0..num_headings)
        .map(|number| {
            let level = if number == 0 { 1 } else { rng.u8(2..=3) };
            let num_words = rng.usize(1..6);
            (level, writer.phrase(rng, num_words))
        })
        .collect();
    PagePlan {
        path,
        host: PageHost::Main,
        language,
        title,
        description,
        headings,
        answer: AnswerKind::Page,
        permission: Permission::Allowed,
        storage: Storage::Stored,
        redirect: None,
        life: None,
        links: Vec::new(),
        target_bytes: page_size(rng),
        text_seed: rng.u64(..),
        canaries: plan.canaries.iter().map(|canaries| canaries.paragraph.clone()).collect(),
    }
}

/// A size from a log-normal distribution, by the Box-Muller transform.
fn page_size(rng: &mut Rng) -> usize {
    let (first, second) = (1.0 - rng.f64(), rng.f64());
    let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    (MEDIAN_PAGE_BYTES * (PAGE_SIZE_SIGMA * normal).exp()).clamp(MIN_PAGE_BYTES, MAX_PAGE_BYTES) as usize
}

/// Gives each fault to the site that has the fewest so far and can bear it. The first site stays free of them.
fn place_faults(plan: &PracticePlan, sites: &mut [SitePlan]) {
    let mut weights: Vec<Vec<FaultWeight>> = vec![Vec::new(); sites.len()];
    for fault in plan.faults.pages() {
        let weight = fault.weight();
        let can_bear = |site: &SitePlan| {
            let needs_plain = weight != FaultWeight::Light;
            let has_rule =
                site.pages.iter().any(|page| page.permission == Permission::Forbidden(ForbiddenBy::RobotsRule));
            let is_first = site.index == 0 && plan.num_sites > 1;
            let needs_rule = fault == PageFault::RedirectToForbidden;
            // Whether the sitemap that nobody names is looked for must not hang on the site's health.
            let may_be_unwell = weight == FaultWeight::Light || site.sitemap != Some(SitemapKind::Unnamed);
            site.is_open()
                && may_be_unwell
                && !is_first
                && site.trap.is_none()
                && (site.is_plain() || !needs_plain)
                && (has_rule || !needs_rule)
        };
        // A site that already has a fault of this weight counts as more laden, so that two of a heavy kind meet only in a tiny web.
        let load = |site: &SitePlan| {
            let same = weight != FaultWeight::Light && weights[site.index].contains(&weight);
            (same, weights[site.index].len(), site.index)
        };
        let chosen = sites.iter().filter(|site| can_bear(site)).min_by_key(|site| load(site)).map(|site| site.index);
        if let Some(index) = chosen {
            weights[index].push(weight);
            let other = next_open_site(sites, index);
            let mut rng = rng_for(plan, index, 2 + fault as u64);
            odd_pages::add(plan, &mut sites[index], fault, other, &mut rng);
        }
    }
}

/// The next site after this one that may be crawled; this one if there is no other.
fn next_open_site(sites: &[SitePlan], index: usize) -> usize {
    (1..sites.len()).map(|step| (index + step) % sites.len()).find(|&other| sites[other].is_open()).unwrap_or(index)
}

fn send_robots_elsewhere(sites: &mut [SitePlan], index: usize) {
    let target = |site, path| Some(Target { site, host: PageHost::Main, path });
    sites[index].robots_elsewhere = match robots_files::elsewhere(sites[index].robots) {
        Elsewhere::Nothing => None,
        Elsewhere::Robots(kinds) => {
            let lender = sites.iter().position(|site| kinds.contains(&site.robots));
            lender.and_then(|lender| target(lender, "/robots.txt".to_owned()))
        }
        Elsewhere::OtherPath => {
            let other = next_open_site(sites, index);
            let path = format!("/policies/robots-of-{}.txt", sites[index].name);
            let mut page = sites[other].pages[0].clone();
            page.path.clone_from(&path);
            page.permission = Permission::Forbidden(ForbiddenBy::ForeignHop);
            page.storage = Storage::NotStored;
            sites[other].pages.push(page);
            target(other, path)
        }
    };
}

fn close_if_unreachable(site: &mut SitePlan) {
    let is_open = site.is_open();
    for page in &mut site.pages {
        if !is_open {
            page.permission = Permission::Forbidden(ForbiddenBy::ClosedSite);
        }
        if page.permission != Permission::Allowed {
            page.storage = Storage::NotStored;
        }
    }
}
