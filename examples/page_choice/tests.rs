//! The node's choice on practice webs, and the whole way on a site of a few files: counts, so that no machine is too slow for them.

use super::*;

/// What the choice must reach of the all-knowing crawler's share on each practice site: they have up to two sitemaps, which it asks for and
/// the others do not, and errors.
const FLOOR: f64 = 0.85;

#[test]
fn the_choice_is_no_worse_than_breadth_first_order_on_a_practice_web_and_above_the_floor_on_each_site() {
    let figures = measure_practice(&practice_web(1, 24)).unwrap();
    assert!(figures.len() >= 8 && figures.iter().all(|site| site.requests <= 20 && !site.is_cut), "{figures:#?}");
    for site in &figures {
        assert!(site.ours >= FLOOR * site.greedy, "{site:#?}");
    }
    let sum = |share: fn(&Figures) -> f64| figures.iter().map(|site| share(site) / site.greedy).sum::<f64>();
    let (ours, breadth_first) = (sum(|site| site.ours), sum(|site| site.breadth_first));
    assert!(ours >= breadth_first, "{ours} against {breadth_first} of {}", figures.len());
}

/// A site of files: a home page of two languages, a chapter with sections, a duplicate, a page that robots.txt forbids.
fn site_of_files(root: &std::path::Path) -> DocFolder {
    let page = |path: &str, title: &str, links: &str| {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let html = format!("<html lang=en><title>{title}</title><h1>{title}</h1>{links}");
        fs::write(file, html).unwrap();
    };
    page("index.html", "Home", "<a href=de/a.html>de</a><a href=en/a.html>en</a><a href=closed.html>x</a>");
    page("en/a.html", "A", "<a href=b.html>b</a><a href=copy.html>c</a><a href=../index.html>up</a>");
    page("en/b.html", "B", "<a href=a.html>a</a>");
    page("en/copy.html", "B", "<a href=a.html>a</a>");
    page("de/a.html", "Ah", "<a href=b.html>b</a>");
    page("de/b.html", "Beh", "");
    page("closed.html", "Closed", "");
    let overlay = root.join("overlay");
    fs::create_dir_all(&overlay).unwrap();
    fs::write(overlay.join("robots.txt"), "User-agent: *\nDisallow: /closed\n").unwrap();
    DocFolder { host: "a.test".to_owned(), root: root.to_owned(), overlay }
}

#[test]
fn twins_duplicates_and_forbidden_pages_weigh_nothing_and_are_asked_last_or_never() {
    let folder = tempfile::tempdir().unwrap();
    let site = site_of_files(folder.path());
    let graph = Graph::of(&site).unwrap();
    let paths: Vec<&str> = graph.nodes.iter().map(|node| node.url.path_and_query()).collect();
    assert_eq!(paths, ["/", "/de/a.html", "/en/a.html", "/de/b.html", "/en/b.html", "/en/copy.html", "/index.html"]);
    let weights = Weights::of(&graph);
    // `/index.html` is the home page, `/en/copy.html` is `/en/b.html`.
    assert_eq!(weights.document_of, [0, 1, 2, 3, 4, 4, 0].map(Some));
    assert_eq!(
        weights.of_document.iter().map(|weight| *weight > 0.0).collect::<Vec<_>>(),
        [true, false, true, false, true]
    );
    assert_eq!(weights.num_twins, 2);
    let asked = ours::requests(&site).unwrap();
    let asked: Vec<&str> = asked.iter().map(|url| url.path_and_query()).collect();
    assert_eq!(asked[..2], ["/", "/en/a.html"]);
    assert!(asked.len() == 8 && asked[5..].iter().all(|path| *path != "/en/b.html"), "{asked:?}");
    assert!(asked.iter().all(|path| !path.starts_with("/closed")), "{asked:?}");
}
