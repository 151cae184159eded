//! The links of all pages: navigation, children, neighbours, other sites. Every allowed page is reachable from its home page.

use fastrand::Rng;

use super::{
    faults::PageFault,
    freshness,
    generate::rng_for,
    labels::{AnswerKind, ForbiddenBy, Permission},
    odd_pages,
    plan::PracticePlan,
    site_plan::{LinkForm, PageHost, PagePlan, PlannedLink, Rel, SitePlan, Target},
    sitemaps, traps,
    words::Writer,
};

/// The first pages after the home page are its sections and stand in every navigation.
const NUM_SECTIONS: usize = 6;
/// On how many sections, beside the home page, the odd pages are linked, so that a crawl of 20 pages meets them.
const NUM_SECTIONS_WITH_ODD: usize = 3;

/// What a page is to the link graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Linked from every page.
    Section,
    /// Linked from one other page, at least.
    Ordinary,
    /// Linked from the home page and some sections.
    Odd,
    /// Linked with nofollow only.
    Unfollowed,
    /// Linked from nowhere, or from one page that adds the link itself.
    Hidden,
}

/// Gives every page of every site its links.
pub(super) fn place(plan: &PracticePlan, sites: &mut [SitePlan]) {
    let all_links: Vec<Vec<Vec<PlannedLink>>> = sites.iter().map(|site| links_of_site(plan, sites, site)).collect();
    for (site, links) in sites.iter_mut().zip(all_links) {
        for (page, links) in site.pages.iter_mut().zip(links) {
            page.links = links;
        }
    }
}

fn links_of_site(plan: &PracticePlan, sites: &[SitePlan], site: &SitePlan) -> Vec<Vec<PlannedLink>> {
    let mut rng = rng_for(plan, site.index, 0x11);
    let places: Vec<Place> = (0..site.pages.len()).map(|index| place_of(site, index)).collect();
    let of = |wanted: Place| (0..places.len()).filter(move |&index| places_are(site, index, wanted));
    let (sections, ordinary): (Vec<usize>, Vec<usize>) = (of(Place::Section).collect(), of(Place::Ordinary).collect());
    let mut links: Vec<Vec<PlannedLink>> = vec![Vec::new(); site.pages.len()];
    let parents = parents(&sections, &ordinary, &mut rng);
    for (index, page) in site.pages.iter().enumerate() {
        let mut draft = Draft { page, rng: &mut rng, links: &mut links[index] };
        draft.add(sites, site, 0, Rel::Plain);
        sections.iter().for_each(|&section| draft.add(sites, site, section, Rel::Plain));
        if index <= NUM_SECTIONS_WITH_ODD {
            of(Place::Odd).for_each(|odd| draft.add(sites, site, odd, Rel::Plain));
        }
        if index == 0 {
            of(Place::Unfollowed).for_each(|page| draft.add(sites, site, page, Rel::Nofollow));
        }
        parents
            .iter()
            .filter(|(_, parent)| *parent == index)
            .for_each(|&(child, _)| draft.add(sites, site, child, Rel::Plain));
        if !ordinary.is_empty() {
            for _ in 0..draft.rng.usize(1..5) {
                let neighbour = ordinary[draft.rng.usize(0..ordinary.len())];
                draft.add(sites, site, neighbour, Rel::Plain);
            }
        }
        for _ in 0..draft.rng.usize(0..4) {
            draft.add_elsewhere(sites);
        }
        for path in traps::links_on(site, index) {
            // What is beyond the last planned page is not linked to.
            if let Some(&trap) = site.by_path.get(&path) {
                draft.add(sites, site, trap, Rel::Plain);
            }
        }
        if page.answer == AnswerKind::Fault(PageFault::NofollowMeta)
            && let Some(&behind) = site.by_path.get(odd_pages::BEHIND_NOFOLLOW_PATH)
        {
            draft.add(sites, site, behind, Rel::Plain);
        }
    }
    links
}

/// A page's links as they grow.
struct Draft<'a> {
    page: &'a PagePlan,
    rng: &'a mut Rng,
    links: &'a mut Vec<PlannedLink>,
}

impl Draft<'_> {
    fn add(&mut self, sites: &[SitePlan], site: &SitePlan, index: usize, rel: Rel) {
        let target = target_of(&sites[site.index], index);
        let form = match self.rng.u8(0..10) {
            0..5 => LinkForm::Path,
            5..7 => LinkForm::Relative,
            7 => LinkForm::SchemeRelative,
            8 => LinkForm::Fragment,
            _ => LinkForm::Absolute,
        };
        let form = if target.host == self.page.host { form } else { LinkForm::Absolute };
        let text = self.text();
        self.links.push(PlannedLink { target, text, rel, form });
    }

    /// A link to the home page or an ordinary page of some site.
    fn add_elsewhere(&mut self, sites: &[SitePlan]) {
        let other = &sites[self.rng.usize(0..sites.len())];
        let candidates: Vec<usize> = (1..other.pages.len())
            .filter(|&index| places_are(other, index, Place::Ordinary) || places_are(other, index, Place::Section))
            .collect();
        let index =
            if self.rng.bool() || candidates.is_empty() { 0 } else { candidates[self.rng.usize(0..candidates.len())] };
        let rel = if self.rng.u8(0..10) < 2 { Rel::Nofollow } else { Rel::Plain };
        let text = self.text();
        self.links.push(PlannedLink { target: target_of(other, index), text, rel, form: LinkForm::Absolute });
    }

    fn text(&mut self) -> String {
        let num_words = self.rng.usize(1..5);
        Writer::new(self.page.language).phrase(self.rng, num_words)
    }
}

fn target_of(site: &SitePlan, index: usize) -> Target {
    let page: &PagePlan = &site.pages[index];
    Target { site: site.index, host: page.host, path: page.path.clone() }
}

fn places_are(site: &SitePlan, index: usize, wanted: Place) -> bool {
    place_of(site, index) == wanted
}

fn place_of(site: &SitePlan, index: usize) -> Place {
    let page = &site.pages[index];
    let is_landing = page.path.starts_with("/landing/")
        || page.path.starts_with(sitemaps::LISTED_PREFIX)
        || traps::links_itself(site, page);
    match (page.answer, page.permission) {
        _ if index == 0 || is_landing || freshness::is_new(page) || page.path == odd_pages::BEHIND_NOFOLLOW_PATH => {
            Place::Hidden
        }
        (_, Permission::Forbidden(ForbiddenBy::ForeignHop | ForbiddenBy::Barrier)) => Place::Hidden,
        (_, Permission::Forbidden(ForbiddenBy::Nofollow)) => Place::Unfollowed,
        _ if page.path == odd_pages::UNFOLLOWED_PATH => Place::Unfollowed,
        (
            AnswerKind::LoginForm
            | AnswerKind::ChainHop
            | AnswerKind::Sitemap
            | AnswerKind::Trap(_)
            | AnswerKind::Robots(_),
            _,
        ) => Place::Hidden,
        (AnswerKind::Fault(_) | AnswerKind::PanicPage, _) => Place::Odd,
        (AnswerKind::Page, Permission::Forbidden(ForbiddenBy::RobotsRule)) => Place::Odd,
        (
            AnswerKind::Page,
            Permission::Forbidden(ForbiddenBy::TooLong | ForbiddenBy::ClosedSite) | Permission::Allowed,
        ) => {
            let is_section = index <= NUM_SECTIONS && page.host == PageHost::Main;
            if is_section { Place::Section } else { Place::Ordinary }
        }
    }
}

/// Each ordinary page gets a parent that comes before it, so that all of them hang on the sections.
fn parents(sections: &[usize], ordinary: &[usize], rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut known = if sections.is_empty() { vec![0] } else { sections.to_vec() };
    let mut pairs = Vec::new();
    for &page in ordinary {
        pairs.push((page, known[rng.usize(0..known.len())]));
        known.push(page);
    }
    pairs
}
