//! The contract of the record store.

use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{FinishReason, WaitReason};
use lohisoftbot_core::record::{PageRecord, StoredLink};
use lohisoftbot_core::site_row::{MAX_PAGES_PER_SITE, RobotsCopy, SiteFrontier, SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;

use super::expiry::check_expiry;
use super::samples::{exclusion, frontier, page, renewal, robots_copy, row, seed, site, stored_link, url};
use super::unindexed::check_unindexed;
use crate::storage::{
    Applied, CycleCounts, ExclusionCounts, MAX_INLINK_ROW_BYTES, RecordStore, SaveCounts, StoreChange,
};

/// Checks a store; `empty` makes an empty one.
pub fn check_record_store<S: RecordStore>(empty: impl Fn() -> S) {
    saves_a_page_with_its_links(&mut empty());
    keeps_a_canonical_url_of_the_same_site_alone(&mut empty());
    a_recrawl_replaces_the_links(&mut empty());
    renews_and_removes_pages(&mut empty());
    never_keeps_more_than_twenty_pages(&mut empty());
    caps_the_row_of_one_target_site(&mut empty());
    saves_the_parts_of_a_site(&mut empty());
    orders_the_due(&mut empty());
    the_end_of_a_cycle_drops_links_to_pages_not_taken(&mut empty());
    an_excluded_domain_leaves_nothing(&mut empty());
    a_part_of_a_site_can_be_excluded(&mut empty());
    a_public_suffix_can_be_excluded(&mut empty());
    nothing_late_slips_in(&mut empty());
    an_included_domain_is_welcome_again(&mut empty());
    notes_the_ledger_number(&mut empty());
    check_unindexed(&empty);
    check_expiry(empty);
}

#[track_caller]
pub(super) fn apply(store: &mut impl RecordStore, change: StoreChange) -> Applied {
    store.apply(change).expect("the store takes a change")
}

#[track_caller]
pub(super) fn save(store: &mut impl RecordStore, record: PageRecord, links: Vec<StoredLink>) -> Applied {
    apply(store, StoreChange::SavePage { record: Box::new(record), links })
}

#[track_caller]
pub(super) fn save_row(
    store: &mut impl RecordStore,
    row: SiteRow,
    frontier: Option<SiteFrontier>,
    robots: Option<Vec<RobotsCopy>>,
) -> Applied {
    apply(store, StoreChange::SaveSite { row: Box::new(row), frontier, robots })
}

#[track_caller]
pub(super) fn exclude(store: &mut impl RecordStore, name: &str) -> ExclusionCounts {
    let domain = Domain::parse(name).expect("a name");
    match apply(store, StoreChange::Exclude { domain, exclusion: exclusion("asked by mail") }) {
        Applied::Excluded(counts) => counts,
        other => panic!("excluding {name} gave {other:?}"),
    }
}

pub(super) fn anchors(store: &impl RecordStore, address: &str) -> Vec<String> {
    let rows = store.inlinks_of(&url(address)).expect("reads");
    rows.into_iter().flat_map(|row| row.links).map(|link| link.text).collect()
}

fn saves_a_page_with_its_links(store: &mut impl RecordStore) {
    let links = vec![
        stored_link("http://b.example/", "to b"),
        stored_link("http://a.example/2", "to two"),
        stored_link("http://b.example/x", "to x"),
    ];
    let saved = save(store, page("http://a.example/", 1), links);
    assert_eq!(saved, Applied::Saved(SaveCounts { num_links: 3, ..SaveCounts::default() }));
    let stored = store.page(&url("http://a.example/")).expect("reads").expect("is stored");
    assert_eq!(stored.target_sites, [site("a.example"), site("b.example")]);
    assert_eq!(PageRecord { target_sites: Vec::new(), ..stored }, page("http://a.example/", 1));
    assert_eq!(anchors(store, "http://b.example/x"), ["to x"]);
    assert_eq!(store.inlinks_of_site(&site("b.example")).expect("reads").len(), 1, "one row a source and site");
    let stats = store.stats();
    assert_eq!((stats.num_pages, stats.num_links, stats.num_inlink_rows), (1, 3, 2));
}

fn keeps_a_canonical_url_of_the_same_site_alone(store: &mut impl RecordStore) {
    for (canonical, kept) in [("http://www.a.example/c", true), ("http://b.example/c", false)] {
        let mut record = page("http://a.example/", 1);
        record.canonical = Some(url(canonical));
        save(store, record, Vec::new());
        let stored = store.page(&url("http://a.example/")).expect("reads").expect("is stored");
        assert_eq!(stored.canonical.is_some(), kept, "{canonical}");
    }
}

fn a_recrawl_replaces_the_links(store: &mut impl RecordStore) {
    let first = vec![stored_link("http://b.example/", "old"), stored_link("http://c.example/", "old")];
    save(store, page("http://a.example/", 1), first);
    save(store, page("http://a.example/", 2), vec![stored_link("http://c.example/", "new")]);
    assert_eq!(anchors(store, "http://b.example/"), [] as [&str; 0]);
    assert_eq!(anchors(store, "http://c.example/"), ["new"]);
    assert_eq!((store.stats().num_pages, store.stats().num_links), (1, 1));
}

fn renews_and_removes_pages(store: &mut impl RecordStore) {
    let here = url("http://a.example/");
    let renew = renewal("http://a.example/", 9, 3, &[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]);
    assert_eq!(apply(store, renew.clone()), Applied::Absent);
    save_row(store, row("a.example", SiteStanding::Live, 0), None, None);
    save(store, page("http://a.example/", 1), vec![stored_link("http://b.example/", "b")]);
    assert_eq!(apply(store, renew), Applied::Done);
    let renewed = store.page(&here).expect("reads").expect("is stored");
    assert_eq!((renewed.fetched_at, renewed.cycle, renewed.target_sites.len()), (Timestamp::from_secs(9), 3, 1));
    assert_eq!(renewed.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_eq!(anchors(store, "http://b.example/"), ["b"], "its links stay");
    assert_eq!(store.site(&site("a.example")).expect("reads").expect("is stored").num_pages, 1);

    assert_eq!(apply(store, StoreChange::RemovePage { url: here.clone() }), Applied::Done);
    assert_eq!(apply(store, StoreChange::RemovePage { url: here.clone() }), Applied::Absent);
    assert_eq!(store.page(&here).expect("reads"), None);
    assert_eq!(anchors(store, "http://b.example/"), [] as [&str; 0]);
    assert_eq!(store.site(&site("a.example")).expect("reads").expect("is stored").num_pages, 0);
}

fn never_keeps_more_than_twenty_pages(store: &mut impl RecordStore) {
    let address = |number: usize| format!("http://www.a.example/{number:02}");
    for number in 0..MAX_PAGES_PER_SITE {
        let cycle = if number == 7 { 1 } else { 2 };
        let saved = save(store, page(&address(number), cycle), vec![stored_link("http://b.example/", "b")]);
        assert!(matches!(saved, Applied::Saved(_)), "page {number}: {saved:?}");
    }
    let of_old_cycle = save(store, page("http://a.example/older", 1), Vec::new());
    assert_eq!(of_old_cycle, Applied::RefusedFull);
    let evicting = save(store, page("http://a.example/new", 2), Vec::new());
    assert_eq!(evicting, Applied::Saved(SaveCounts { evicted: Some(url(&address(7))), ..SaveCounts::default() }));
    assert_eq!(save(store, page("http://a.example/newer", 2), Vec::new()), Applied::RefusedFull);
    let again = save(store, page(&address(3), 2), Vec::new());
    assert!(matches!(again, Applied::Saved(SaveCounts { evicted: None, .. })), "a page that is stored is no new one");
    assert_eq!(store.pages_of(&site("a.example")).expect("reads").len(), MAX_PAGES_PER_SITE);
    assert_eq!(store.stats().num_pages, MAX_PAGES_PER_SITE as u64);
    assert_eq!(anchors(store, "http://b.example/").len(), MAX_PAGES_PER_SITE - 2, "the evicted page's links are gone");
}

fn caps_the_row_of_one_target_site(store: &mut impl RecordStore) {
    let long = "x".repeat(MAX_INLINK_ROW_BYTES / 4);
    let mut links: Vec<StoredLink> =
        (0..8).map(|number| stored_link(&format!("http://b.example/{number}"), &long)).collect();
    links.push(stored_link("http://c.example/", "c"));
    let Applied::Saved(counts) = save(store, page("http://a.example/", 1), links) else { panic!("refused") };
    assert_eq!((counts.num_links, counts.num_links_over_cap), (4, 5));
    assert_eq!(anchors(store, "http://c.example/"), ["c"], "the cap is one row's");
    assert_eq!(store.stats().num_links, 4);
}

fn saves_the_parts_of_a_site(store: &mut impl RecordStore) {
    let here = site("a.example");
    let addresses: Vec<String> = (0..1000).map(|number| format!("http://a.example/{number}/{:0>90}", 7)).collect();
    let queue = frontier(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    let copies = vec![robots_copy("http://a.example/", 300_000), robots_copy("http://a.example:8080/", 0)];
    save_row(store, row("a.example", SiteStanding::Live, 4), Some(queue.clone()), Some(copies.clone()));
    assert_eq!(store.frontier(&here).expect("reads"), queue);
    assert_eq!(store.robots(&here).expect("reads"), copies);
    assert_eq!(store.stats().num_frontier_urls, 1000);

    save_row(store, row("a.example", SiteStanding::Due, 5), None, None);
    assert_eq!(store.frontier(&here).expect("reads"), queue, "a part not named stays");
    assert_eq!(store.robots(&here).expect("reads"), copies);
    let fewer = frontier(&["http://a.example/one"]);
    save_row(store, row("a.example", SiteStanding::Due, 5), Some(fewer.clone()), Some(copies[1..].to_vec()));
    assert_eq!(store.frontier(&here).expect("reads"), fewer);
    assert_eq!(store.robots(&here).expect("reads"), copies[1..]);
    assert_eq!((store.stats().num_sites, store.stats().num_frontier_urls), (1, 1));
}

fn orders_the_due(store: &mut impl RecordStore) {
    let parked = SiteStanding::Parked { reason: WaitReason::RetryAfter };
    save_row(store, row("late.example", SiteStanding::Due, 30), None, None);
    save_row(store, row("early.example", parked, 10), None, None);
    save_row(store, row("mid.example", SiteStanding::Finished { reason: FinishReason::BudgetSpent }, 20), None, None);
    save_row(store, row("live.example", SiteStanding::Live, 1), None, None);
    save_row(store, row("paused.example", SiteStanding::Paused, 1), None, None);
    let due = |store: &mut _, secs, limit| -> Vec<String> {
        let found = RecordStore::due_until(store, Timestamp::from_secs(secs), limit).expect("reads");
        found.into_iter().map(|due| due.site.to_string()).collect()
    };
    assert_eq!(due(store, 9, 9), [] as [&str; 0]);
    assert_eq!(due(store, 20, 9), ["early.example", "mid.example"]);
    assert_eq!(due(store, 99, 2), ["early.example", "mid.example"]);
    assert_eq!(due(store, u64::MAX, 9), ["early.example", "mid.example", "late.example"]);
    assert_eq!(store.first_due().expect("reads").expect("one is due").site, site("early.example"));
    assert_eq!(store.live_sites().expect("reads"), [site("live.example")]);

    save_row(store, row("early.example", SiteStanding::Live, 10), None, None);
    save_row(store, row("live.example", parked, 15), None, None);
    assert_eq!(due(store, 20, 9), ["live.example", "mid.example"], "the old place among the due is given up");
    assert_eq!(store.live_sites().expect("reads"), [site("early.example")]);
    let standing = store.stats().standing;
    let counts = (standing.num_due, standing.num_live, standing.num_parked, standing.num_finished, standing.num_paused);
    assert_eq!(counts, (1, 1, 1, 1, 1));
    let first_three = store.sites_after(None, 3).expect("reads");
    let rest = store.sites_after(first_three.last().map(|row| &row.site), 3).expect("reads");
    assert_eq!((first_three.len(), rest.len()), (3, 2), "rows come page by page");
}

fn the_end_of_a_cycle_drops_links_to_pages_not_taken(store: &mut impl RecordStore) {
    save(
        store,
        page("http://a.example/", 1),
        vec![
            stored_link("http://b.example/taken", "taken"),
            stored_link("http://b.example/not", "not"),
            stored_link("http://c.example/not", "other site"),
        ],
    );
    save(store, page("http://d.example/", 1), vec![stored_link("http://b.example/not", "not either")]);
    save(store, page("http://b.example/taken", 1), Vec::new());
    let finished = apply(store, StoreChange::FinishCycle { site: site("b.example") });
    assert_eq!(finished, Applied::Finished(CycleCounts { num_links: 2, num_rows: 1 }));
    assert_eq!(anchors(store, "http://b.example/taken"), ["taken"]);
    assert_eq!(anchors(store, "http://b.example/not"), [] as [&str; 0]);
    assert_eq!(anchors(store, "http://c.example/not"), ["other site"]);
    let source = store.page(&url("http://d.example/")).expect("reads").expect("is stored");
    assert_eq!(source.target_sites, [], "a page names only sites it has rows with");
    assert_eq!((store.stats().num_links, store.stats().num_inlink_rows), (2, 2));
}

fn an_excluded_domain_leaves_nothing(store: &mut impl RecordStore) {
    save_row(store, row("out.example", SiteStanding::Live, 0), Some(frontier(&["http://out.example/q"])), None);
    save_row(store, row("in.example", SiteStanding::Due, 0), Some(frontier(&["http://in.example/q"])), None);
    save(
        store,
        page("http://www.out.example/", 1),
        vec![stored_link("http://www.out.example/2", "own"), stored_link("http://in.example/", "from")],
    );
    save(
        store,
        page("http://in.example/", 1),
        vec![stored_link("http://out.example/", "to"), stored_link("http://in.example/2", "stays")],
    );
    save(store, page("http://notout.example/", 1), vec![stored_link("http://in.example/", "stays")]);
    let wanted =
        ExclusionCounts { num_sites: 1, num_frontier_urls: 1, num_pages: 1, num_anchors_from: 2, num_anchors_to: 1 };
    assert_eq!(exclude(store, "out.example"), wanted);
    let gone = site("out.example");
    assert_eq!(store.site(&gone).expect("reads"), None);
    assert_eq!(store.pages_of(&gone).expect("reads"), []);
    assert_eq!(store.inlinks_of_site(&gone).expect("reads"), []);
    assert_eq!(store.frontier(&gone).expect("reads"), SiteFrontier::default());
    assert_eq!(store.live_sites().expect("reads"), []);
    assert_eq!(anchors(store, "http://in.example/"), ["stays"]);
    let other = store.page(&url("http://in.example/")).expect("reads").expect("stays");
    assert_eq!(other.target_sites, [site("in.example")], "not even its name stays");
    let stats = store.stats();
    assert_eq!((stats.num_sites, stats.num_pages, stats.num_links, stats.num_exclusions), (1, 2, 2, 1));
    assert_eq!(exclude(store, "out.example"), ExclusionCounts::default(), "a second time finds nothing");
}

fn a_part_of_a_site_can_be_excluded(store: &mut impl RecordStore) {
    let mut both = row("a.example", SiteStanding::Due, 0);
    both.seeds.push(seed("http://blog.a.example/"));
    let queue = frontier(&["http://a.example/q", "http://blog.a.example/q", "http://x.blog.a.example/q"]);
    let copies = vec![robots_copy("http://a.example/", 5), robots_copy("http://blog.a.example/", 5)];
    save_row(store, both, Some(queue), Some(copies.clone()));
    let mut main_page = page("http://a.example/", 1);
    main_page.canonical = Some(url("http://blog.a.example/main"));
    save(
        store,
        main_page,
        vec![stored_link("http://blog.a.example/", "to blog"), stored_link("http://a.example/2", "to two")],
    );
    save(store, page("http://blog.a.example/", 1), vec![stored_link("http://a.example/", "to main")]);
    let wanted =
        ExclusionCounts { num_sites: 0, num_frontier_urls: 2, num_pages: 1, num_anchors_from: 1, num_anchors_to: 1 };
    assert_eq!(exclude(store, "blog.a.example"), wanted);
    let here = site("a.example");
    let kept = store.site(&here).expect("reads").expect("the site stays");
    assert_eq!((kept.seeds, kept.num_pages), (vec![seed("http://a.example/")], 1));
    assert_eq!(store.frontier(&here).expect("reads"), frontier(&["http://a.example/q"]));
    assert_eq!(store.robots(&here).expect("reads"), copies[..1]);
    assert_eq!(store.page(&url("http://a.example/")).expect("reads").expect("stays").canonical, None);
    assert_eq!(anchors(store, "http://a.example/2"), ["to two"]);
    assert_eq!(anchors(store, "http://blog.a.example/"), [] as [&str; 0]);
}

fn a_public_suffix_can_be_excluded(store: &mut impl RecordStore) {
    for host in ["alice.github.io", "bob.github.io", "github.io.example"] {
        let address = format!("http://{host}/");
        save_row(store, row(host, SiteStanding::Due, 0), Some(frontier(&[&address])), None);
        save(store, page(&address, 1), vec![stored_link("http://carol.github.io/", "to carol")]);
    }
    let wanted =
        ExclusionCounts { num_sites: 2, num_frontier_urls: 2, num_pages: 2, num_anchors_from: 2, num_anchors_to: 1 };
    assert_eq!(exclude(store, "github.io"), wanted);
    assert_eq!(store.stats().num_sites, 1);
    assert_eq!((store.stats().num_links, store.stats().num_inlink_rows), (0, 0));
}

fn nothing_late_slips_in(store: &mut impl RecordStore) {
    exclude(store, "out.example");
    let domain = Domain::parse("out.example").expect("a name");
    let refused = Applied::RefusedExcluded { domain };
    assert_eq!(save(store, page("http://www.out.example/", 1), Vec::new()), refused);
    assert_eq!(save_row(store, row("out.example", SiteStanding::Due, 0), None, None), refused);
    let late = vec![stored_link("http://out.example/", "late"), stored_link("http://b.example/", "b")];
    let Applied::Saved(counts) = save(store, page("http://a.example/", 1), late) else { panic!("refused") };
    assert_eq!((counts.num_links, counts.num_links_excluded), (1, 1));
    exclude(store, "blog.a.example");
    let queue = frontier(&["http://a.example/q", "http://blog.a.example/q"]);
    save_row(store, row("a.example", SiteStanding::Due, 0), Some(queue), None);
    assert_eq!(store.frontier(&site("a.example")).expect("reads"), frontier(&["http://a.example/q"]));
    assert_eq!(store.stats().num_sites, 1);
}

fn an_included_domain_is_welcome_again(store: &mut impl RecordStore) {
    let include = StoreChange::Include { domain: Domain::parse("a.example").expect("a name") };
    assert_eq!(apply(store, include.clone()), Applied::Absent);
    exclude(store, "a.example");
    assert!(store.exclusions().covers_host("www.a.example"));
    assert_eq!(apply(store, include), Applied::Done);
    assert!(store.exclusions().is_empty());
    assert!(matches!(save(store, page("http://a.example/", 1), Vec::new()), Applied::Saved(_)));
    assert_eq!((store.stats().num_exclusions, store.stats().num_pages), (0, 1));
}

fn notes_the_ledger_number(store: &mut impl RecordStore) {
    assert_eq!(store.ledger_seq(), 0);
    save(store, page("http://a.example/", 1), Vec::new());
    let first = store.checkpoint(41).expect("checkpoints");
    assert_eq!((store.ledger_seq(), first.ledger_seq), (41, 41));
    let second = store.checkpoint(42).expect("checkpoints");
    assert_eq!(store.ledger_seq(), 42);
    assert!(second.change_seq >= first.change_seq);
    save(store, page("http://a.example/2", 1), Vec::new());
    assert!(store.checkpoint(42).expect("checkpoints").change_seq > second.change_seq);
}
