//! Each rule of the choice, on sites of a few pages.

use std::num::NonZeroU64;

use super::*;
use crate::language::Language;

const MAX_URLS: usize = 1_000;

fn url(path: &str) -> PageUrl {
    let site = PageUrl::parse("https://a.test/", None).unwrap();
    PageUrl::parse(path, Some(&site)).unwrap()
}

fn language(tag: &str) -> Option<Language> {
    Language::of_tag(tag)
}

fn links(paths: &[&str]) -> Vec<LinkedPage> {
    paths.iter().map(|path| LinkedPage { url: url(path), above: None }).collect()
}

/// A queue that starts at the home page.
fn site() -> PageQueue {
    let mut queue = PageQueue::default();
    queue.add(url("/"), 0, 0, MAX_URLS);
    queue
}

/// The page at this path is read, stored, and links to these.
fn read(queue: &mut PageQueue, path: &str, page: PageLinks) {
    queue.add_links(&url(path), page, MAX_URLS);
    queue.count_try(&url(path));
    queue.settle(&url(path), EntryStanding::Stored);
}

fn read_plain(queue: &mut PageQueue, path: &str, paths: &[&str]) {
    read(queue, path, PageLinks { links: links(paths), ..PageLinks::default() });
}

#[track_caller]
fn check_order(queue: &mut PageQueue, wanted: &[&str]) {
    queue.weigh();
    let order = queue.by_choice(|_| false);
    let shown: Vec<&str> =
        order.iter().map(|url| if url.host() == "a.test" { url.path_and_query() } else { url.as_str() }).collect();
    assert_eq!(shown, wanted);
    assert_eq!(queue.best(|_| false).map(|entry| &entry.url), order.first());
}

#[test]
fn what_more_pages_link_to_goes_first() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/a", "/b", "/c"]);
    check_order(&mut queue, &["/a", "/b", "/c"]);
    read_plain(&mut queue, "/a", &["/", "/c"]);
    check_order(&mut queue, &["/c", "/b"]);
}

#[test]
fn a_link_of_a_page_with_few_links_says_more_than_one_of_many() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/few", "/many"]);
    let many: Vec<String> = (0..50).map(|number| format!("/m{number}")).collect();
    read_plain(&mut queue, "/many", &many.iter().map(String::as_str).collect::<Vec<_>>());
    read_plain(&mut queue, "/few", &["/", "/chosen"]);
    queue.weigh();
    assert_eq!(queue.best(|_| false).unwrap().url, url("/chosen"));
}

#[test]
fn what_one_page_alone_leads_to_goes_behind_what_leads_to_that_page() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/chain", "/x", "/y"]);
    read_plain(&mut queue, "/chain", &["/chain/1", "/chain"]);
    check_order(&mut queue, &["/x", "/y", "/chain/1"]);
    // What comes back from further on is no reason to think more of it.
    read_plain(&mut queue, "/chain/1", &["/chain/1/2", "/chain", "/chain/1"]);
    check_order(&mut queue, &["/x", "/y", "/chain/1/2"]);
    // Another page as near to the start is.
    read_plain(&mut queue, "/x", &["/chain/1/2", "/chain"]);
    check_order(&mut queue, &["/chain/1/2", "/y"]);
}

#[test]
fn a_page_that_only_a_sitemap_lists_hands_on_what_it_has() {
    let mut queue = site();
    let many: Vec<String> = (0..200).map(|number| format!("/m{number}/{number}")).collect();
    read_plain(&mut queue, "/", &many.iter().map(String::as_str).collect::<Vec<_>>());
    queue.add_listed([url("/listed")], MAX_URLS);
    read_plain(&mut queue, "/listed", &["/chosen"]);
    queue.weigh();
    assert_eq!(queue.best(|_| false).unwrap().url, url("/chosen"));
}

#[test]
fn a_link_of_a_page_that_many_link_to_says_more() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/hub", "/x", "/y", "/lone"]);
    read_plain(&mut queue, "/x", &["/hub"]);
    read_plain(&mut queue, "/y", &["/hub"]);
    read_plain(&mut queue, "/lone", &["/of-lone"]);
    read_plain(&mut queue, "/hub", &["/of-hub"]);
    check_order(&mut queue, &["/of-hub", "/of-lone"]);
}

#[test]
fn a_page_with_others_below_it_in_an_outline_goes_before_them_and_its_like() {
    let mut queue = site();
    let below = |path: &str| LinkedPage { url: url(path), above: NonZeroU64::new(url("/two").fingerprint()) };
    let outline = [links(&["/one", "/two"]), vec![below("/x"), below("/y")], links(&["/three"])].concat();
    read(&mut queue, "/", PageLinks { links: outline, ..PageLinks::default() });
    check_order(&mut queue, &["/two", "/one", "/x", "/y", "/three"]);
}

#[test]
fn a_page_whose_address_others_begin_with_goes_before_them() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/ch1s1.html", "/ch1s2.html", "/ch1.html", "/other.html"]);
    check_order(&mut queue, &["/ch1.html", "/ch1s1.html", "/ch1s2.html", "/other.html"]);
    let mut queue = site();
    read_plain(&mut queue, "/", &["/b/", "/news?page=2", "/news?page=3", "/news"]);
    check_order(&mut queue, &["/news", "/b/", "/news?page=2", "/news?page=3"]);
}

#[test]
fn where_links_say_nothing_the_plain_and_the_shallow_go_first() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/x?a=1", "/p/q/r", "/s"]);
    check_order(&mut queue, &["/s", "/p/q/r", "/x?a=1"]);
}

#[test]
fn a_home_page_that_was_not_where_the_crawl_began_is_thought_much_of() {
    let mut queue = PageQueue::default();
    queue.add(url("/deep/seed"), 0, 0, MAX_URLS);
    read_plain(&mut queue, "/deep/seed", &["/a/1", "/b/2", "/"]);
    check_order(&mut queue, &["/", "/a/1", "/b/2"]);
}

#[test]
fn files_that_are_no_pages_go_behind_pages_however_many_link_to_them() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/a.pdf", "/a", "/b"]);
    read_plain(&mut queue, "/a", &["/a.pdf"]);
    queue.add_listed([url("/listed")], MAX_URLS);
    check_order(&mut queue, &["/b", "/listed", "/a.pdf"]);
}

#[test]
fn another_address_of_a_page_that_was_taken_goes_last() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/index.html", "http://www.a.test/", "/a/", "/b"]);
    read_plain(&mut queue, "/a/", &["/a", "/a?print=1", "/index.html"]);
    check_order(&mut queue, &["/b", "/index.html", "http://www.a.test/", "/a", "/a?print=1"]);
}

#[test]
fn both_addresses_of_a_page_wait_alike_until_one_was_taken() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/a/index.html", "/a/", "/b/"]);
    check_order(&mut queue, &["/a/", "/b/", "/a/index.html"]);
    read_plain(&mut queue, "/b/", &["/a/index.html"]);
    check_order(&mut queue, &["/a/index.html", "/a/"]);
    queue.settle(&url("/a/index.html"), EntryStanding::Dropped(DropReason::Gone));
    check_order(&mut queue, &["/a/"]);
}

#[test]
fn the_home_pages_language_goes_first_and_the_others_last() {
    let mut queue = site();
    let home = PageLinks {
        links: links(&["/de/", "/ro/", "/en/", "/de/x", "/fr/y"]),
        language: language("ro-RO"),
        versions: Vec::new(),
    };
    read(&mut queue, "/", home);
    // That French is a language here, nothing proves yet.
    check_order(&mut queue, &["/ro/", "/fr/y", "/de/", "/en/", "/de/x"]);
    read_plain(&mut queue, "/ro/", &["/ro/y", "/en/z"]);
    check_order(&mut queue, &["/ro/y", "/de/", "/en/", "/de/x", "/fr/y", "/en/z"]);
}

#[test]
fn where_the_home_page_names_no_language_the_first_that_is_taken_stays() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/de/", "/en/"]);
    check_order(&mut queue, &["/de/", "/en/"]);
    read_plain(&mut queue, "/de/", &["/en/a", "/de/b"]);
    check_order(&mut queue, &["/de/b", "/en/", "/en/a"]);
}

#[test]
fn the_nearest_region_stands_for_a_language_that_the_site_does_not_have_as_such() {
    let mut queue = site();
    let home = PageLinks { links: links(&["/de-DE/", "/en-US/"]), language: language("en"), versions: Vec::new() };
    read(&mut queue, "/", home);
    check_order(&mut queue, &["/en-US/", "/de-DE/"]);
}

#[test]
fn files_with_a_language_in_their_name_are_versions_too() {
    let mut queue = site();
    let home = PageLinks {
        links: links(&["/a.de.html", "/a.html", "/a.en.html", "/b.de.html", "/c"]),
        language: language("en"),
        versions: Vec::new(),
    };
    read(&mut queue, "/", home);
    check_order(&mut queue, &["/a.html", "/a.en.html", "/c", "/a.de.html", "/b.de.html"]);
}

#[test]
fn a_folder_that_only_looks_like_a_language_is_a_folder() {
    let mut queue = site();
    let home = PageLinks { links: links(&["/it/", "/hr/", "/a"]), language: language("en"), versions: Vec::new() };
    read(&mut queue, "/", home.clone());
    // Two of them at one place prove each other: that is how a choice of languages looks.
    check_order(&mut queue, &["/a", "/it/", "/hr/"]);
    let mut queue = site();
    read(&mut queue, "/", PageLinks { links: links(&["/it/helpdesk", "/it/", "/zoo"]), ..home });
    check_order(&mut queue, &["/it/", "/zoo", "/it/helpdesk"]);
    // Its page is in English, as it says: no proof.
    let helpdesk = || links(&["/it/helpdesk"]);
    read(&mut queue, "/it/", PageLinks { links: helpdesk(), language: language("en"), versions: Vec::new() });
    queue.weigh();
    assert_eq!(queue.best(|_| false).unwrap().url, url("/it/helpdesk"));
    // The same, if it says that it is Italian.
    read(&mut queue, "/it/", PageLinks { links: helpdesk(), language: language("it"), versions: Vec::new() });
    queue.weigh();
    assert_eq!(queue.best(|_| false).unwrap().url, url("/zoo"));
}

#[test]
fn versions_that_a_page_names_go_last_whatever_their_paths() {
    let mut queue = site();
    let versions = [("en", "/"), ("de", "/startseite"), ("fr", "/accueil")];
    let home = PageLinks {
        links: links(&["/startseite", "/accueil", "/a"]),
        language: language("en"),
        versions: versions.iter().map(|(tag, path)| (language(tag).unwrap(), url(path))).collect(),
    };
    read(&mut queue, "/", home);
    check_order(&mut queue, &["/a", "/startseite", "/accueil"]);
}

#[test]
fn a_version_in_the_sites_own_language_is_wanted_still() {
    let mut queue = site();
    read(
        &mut queue,
        "/",
        PageLinks { links: links(&["/mehr", "/more", "/x"]), language: language("en"), versions: Vec::new() },
    );
    let german = PageLinks {
        links: links(&["/more", "/plus"]),
        language: language("de"),
        versions: vec![(language("en").unwrap(), url("/more")), (language("fr").unwrap(), url("/plus"))],
    };
    read(&mut queue, "/mehr", german);
    check_order(&mut queue, &["/more", "/x", "/plus"]);
}

#[test]
fn what_links_to_a_redirect_links_to_its_target() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/old", "/b", "/c"]);
    read_plain(&mut queue, "/b", &["/old"]);
    queue.add(url("/new"), 1, 1, MAX_URLS);
    queue.pass_links_on(&url("/old"), &url("/new"));
    queue.settle(&url("/old"), EntryStanding::Dropped(DropReason::MovedForGood { target: url("/new") }));
    check_order(&mut queue, &["/new", "/c"]);
}

#[test]
fn a_page_that_is_read_again_takes_its_former_links_back() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/a", "/b"]);
    read_plain(&mut queue, "/", &["/c", "/b"]);
    let from = |path: &str| queue.get(&url(path)).unwrap().linked_from;
    assert_eq!([from("/a"), from("/b"), from("/c")], [0, 1, 1]);
    assert_eq!(queue.get(&url("/")).unwrap().reading.as_ref().unwrap().num_links, 2);
}

#[test]
fn slots_are_never_shared_however_many_pages_are_read() {
    let mut queue = site();
    for number in 0..100 {
        let (own, next) = (format!("/{number}"), format!("/{}", number + 1));
        queue.add(url(&own), 1, 0, MAX_URLS);
        queue.add_links(&url(&own), PageLinks { links: links(&[&next]), ..PageLinks::default() }, MAX_URLS);
        queue.weigh();
        let mut slots: Vec<u8> =
            queue.entries().iter().filter_map(|entry| entry.reading.as_ref()).map(|reading| reading.slot).collect();
        let num_readings = slots.len();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), num_readings);
        assert!(num_readings <= NUM_LINK_SLOTS && queue.get(&url(&own)).unwrap().reading.is_some());
    }
}

#[test]
fn a_queue_that_is_stored_and_read_chooses_alike() {
    let mut queue = site();
    read_plain(&mut queue, "/", &["/de/", "/a", "/a/b", "/c.pdf", "/en/"]);
    read_plain(&mut queue, "/a", &["/a/b", "/c.pdf"]);
    queue.weigh();
    let mut again = PageQueue::from(queue.to_stored());
    again.weigh();
    assert_eq!(again.by_choice(|_| false), queue.by_choice(|_| false));
    again.reopen();
    again.weigh();
    assert_eq!(again.best(|_| false).unwrap().url, url("/"));
}

#[test]
fn a_full_queue_of_pages_that_all_link_to_each_other_is_weighed() {
    let mut queue = site();
    let paths: Vec<String> = (0..MAX_URLS).map(|number| format!("/p/{number}/q-{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for read in 0..40 {
        queue.add_links(&url(paths[read]), PageLinks { links: links(&paths), ..PageLinks::default() }, MAX_URLS);
        read_plain(&mut queue, "/", &paths);
    }
    queue.weigh();
    assert_eq!(queue.entries().len(), MAX_URLS);
    assert!(queue.weights.iter().all(|weight| weight.rank.is_finite() && weight.rank > 0.0));
}
