//! What is generated: enough of everything, all of it reachable, and the same from the same seed.

use super::{
    faults::{SitemapKind, TrapKind},
    site_plan::{PagePlan, SitePlan},
    sitemaps::LISTED_PREFIX,
    *,
};

#[test]
fn same_seed_gives_same_sites_and_another_seed_others() {
    let sites = |seed| PracticeSites::generate(PracticePlan::demo(seed));
    assert_eq!(sites(1).sites(), sites(1).sites());
    assert_ne!(sites(1).sites(), sites(2).sites());
}

#[test]
fn demo_web_has_enough_sites_and_pages_within_the_budget() {
    for seed in 0..20 {
        let sites = PracticeSites::generate(PracticePlan::demo(seed));
        assert!(sites.sites().len() >= 60);
        assert!(sites.num_storable(20) >= 600, "seed {seed}: {}", sites.num_storable(20));
    }
}

#[test]
fn full_web_shows_every_fault_and_every_kind_of_robots() {
    let sites = PracticeSites::generate(PracticePlan { faults: Faults::all(), ..PracticePlan::demo(3) });
    let kinds: BTreeSet<RobotsKind> = sites.sites().iter().map(|site| site.robots).collect();
    assert_eq!(kinds.len(), RobotsKind::ALL.len());
    let pages = || sites.sites().iter().flat_map(|site| &site.pages);
    for fault in PageFault::ALL {
        assert_eq!(pages().filter(|page| page.answer == AnswerKind::Fault(*fault)).count(), 1, "{fault:?}");
    }
    for kind in SitemapKind::ALL {
        let shown = sites.sites().iter().filter(|site| site.sitemap == Some(*kind));
        let num_listed =
            |site: &SitePlan| site.pages.iter().filter(|page| page.path.starts_with(LISTED_PREFIX)).count();
        let best = shown.map(num_listed).max();
        assert_eq!(best, Some(if kind.is_readable() { 2 } else { 0 }), "{kind:?}");
    }
    for kind in TrapKind::ALL {
        let shown: Vec<_> = sites.sites().iter().filter(|site| site.trap == Some(*kind)).collect();
        let num_trap_pages = pages().filter(|page| page.answer == AnswerKind::Trap(*kind)).count();
        assert!(shown.len() == 1 && num_trap_pages >= 20, "{kind:?}: {num_trap_pages} pages");
    }
    let shared: BTreeSet<Ipv4Addr> = sites.sites()[58..].iter().map(|site| site.address).collect();
    let all: BTreeSet<Ipv4Addr> = sites.sites().iter().map(|site| site.address).collect();
    assert_eq!((shared.len(), all.len()), (1, 59));
}

#[test]
fn every_page_that_may_be_kept_is_reachable_from_its_home_page() {
    let sites = PracticeSites::generate(PracticePlan { faults: Faults::all(), ..PracticePlan::demo(9) });
    for site in sites.sites().iter().filter(|site| site.is_open()) {
        let mut reached = BTreeSet::from(["/"]);
        let mut queue = vec!["/"];
        while let Some(page) = queue.pop().and_then(|path| site.page(path)) {
            let followed = page.links.iter().filter(|link| {
                link.target.site == site.index
                    && link.rel == Rel::Plain
                    && page.answer != AnswerKind::Fault(PageFault::NofollowMeta)
            });
            let redirected = page.redirect.iter().map(|(_, target)| target).filter(|target| target.site == site.index);
            for target in followed.map(|link| &link.target).chain(redirected) {
                let may = site.page(&target.path).is_some_and(|page| page.permission == Permission::Allowed);
                if may && reached.insert(&target.path) {
                    queue.push(&target.path);
                }
            }
        }
        let is_linked = |page: &&PagePlan| !page.path.starts_with(LISTED_PREFIX);
        for page in site.pages.iter().filter(|page| page.storage == Storage::Stored).filter(is_linked) {
            assert!(reached.contains(page.path.as_str()), "{} {}", site.name, page.path);
        }
    }
}

#[test]
fn page_sizes_look_like_real_ones() {
    let sites = PracticeSites::generate(PracticePlan::demo(4));
    let mut sizes: Vec<usize> = Vec::new();
    for site in sites.sites() {
        // A trap is made of many small pages.
        let pages = site.pages.iter().filter(|page| !matches!(page.answer, AnswerKind::Trap(_)));
        sizes.extend(pages.map(|page| page.target_bytes));
    }
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!((34_000..46_000).contains(&median), "median {median}");
    assert!(sizes[sizes.len() - 1] > 200_000);
}

#[test]
fn rendered_page_has_its_size_its_metadata_and_its_canary_in_paragraphs_only() {
    let plan = PracticePlan { canaries: Some(Canaries::default()), ..PracticePlan::small(11, 4) };
    let sites = PracticeSites::generate(plan);
    let ports = Ports { http: 8_000, https: 8_001 };
    let canaries = Canaries::default();
    let mut num_titles = 0;
    for site in sites.sites() {
        for page in &site.pages {
            let html = page::render(&sites, site, page, ports, page::CharsetNote::Meta("utf-8"));
            assert!(html.len() < page.target_bytes * 2 + 20_000, "{} of {}", html.len(), page.target_bytes);
            let outside: String = html.lines().filter(|line| !line.starts_with("<p>")).collect::<Vec<_>>().join("\n");
            assert_eq!(html.matches(&canaries.paragraph).count(), 2);
            assert!(!outside.contains(&canaries.paragraph) && !outside.contains(&canaries.panic));
            num_titles += usize::from(outside.contains(&format!("<title>{}", canaries.title)))
                + usize::from(outside.contains(&format!("<title>\n    {}", canaries.title)));
            let is_panic = page.answer == AnswerKind::PanicPage;
            assert_eq!(html.contains("data-fail-point=\"panic\""), is_panic);
            assert_eq!(html.matches(&canaries.panic).count(), if is_panic { 2 } else { 0 });
        }
    }
    assert_eq!(num_titles, 1);
}
