//! Traps, and what looks like them and is none.

use proptest::prelude::*;

use super::*;

/// 2026-11-30, noon.
const NOW: Timestamp = Timestamp::from_secs(1_796_040_000);

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("https://a.test{path}"), None).unwrap()
}

#[track_caller]
fn check(path: &str, wanted: Judgement) {
    assert_eq!(judge(&url(path), NOW), wanted, "{path}");
}

#[track_caller]
fn check_trap(path: &str, kind: TrapKind) {
    check(path, Judgement::Trap(kind));
}

#[track_caller]
fn check_suspect(path: &str, kind: TrapKind) {
    check(path, Judgement::Suspect(kind));
}

/// Which of these links of one page are taken.
#[track_caller]
fn admitted(known: &[&str], from: &str, links: impl IntoIterator<Item = String>) -> (Vec<String>, Vec<TrapKind>) {
    let known: Vec<PageUrl> = known.iter().map(|path| url(path)).collect();
    let mut shape = QueueShape::of(&known, NOW);
    let (mut taken, mut traps) = (Vec::new(), Vec::new());
    for link in links {
        match shape.admit(&url(&link), Some(&url(from))) {
            Ok(()) => taken.push(link),
            Err(kind) => traps.push(kind),
        }
    }
    (taken, traps)
}

#[test]
fn url_that_is_a_trap_by_itself_is_named() {
    use TrapKind::*;
    check_trap("/about/about/about/", RepeatedSegment);
    check_trap("/x/about/about/about/team.html", RepeatedSegment);
    check_trap("/news/a/news/b/news/c/news", RepeatedSegment);
    check_trap("/shop/cart/shop/cart/shop/cart", RepeatedSequence);
    check_trap("/shop/a1/b2/shop/a1/b2/shop/a1/b2/x", RepeatedSequence);
    check_trap(&"/a1/b2/c3".repeat(8), DeepPath);
    check_trap(&(1..=21).map(|number| format!("/p{number}")).collect::<String>(), DeepPath);
    check_trap(&format!("/x{}", "/".repeat(40)), DeepPath);
    check_trap("/calendar/2087/3/", EndlessCalendar);
    check_trap("/2087/03/", EndlessCalendar);
    check_trap("/2087/03/14", EndlessCalendar);
    check_trap("/events/2087-03/list", EndlessCalendar);
    check_trap("/on/2029-01-01", EndlessCalendar);
    check_trap("/list?date=2087-03-14", EndlessCalendar);
    check_trap("/cal.php?month=12&year=2087", EndlessCalendar);
    check_trap("/cal.php?cal_year=2087&cal_month=1&view=day", EndlessCalendar);
    check_trap("/list?tribe-bar-date=2087-03", EndlessCalendar);
    check_trap("/x?a=1&a=1&a=1", RepeatedParameter);
    let many: Vec<String> = (0..17).map(|number| format!("f{number}=1")).collect();
    check_trap(&format!("/x?{}", many.join("&")), ManyParameters);
}

#[test]
fn url_that_may_be_part_of_a_trap_stands_back() {
    use TrapKind::*;
    check_suspect("/a/bb/a/bb", RepeatedSequence);
    check_suspect("/calendar/2026/12/", EndlessCalendar);
    check_suspect("/2019/05/", EndlessCalendar);
    check_suspect("/2019/10", EndlessCalendar);
    check_suspect("/2019-05-17", EndlessCalendar);
    check_suspect("/list?year=2019&month=5", EndlessCalendar);
    check_suspect("/calendar/2028/11/", EndlessCalendar);
    check_suspect("/x?a=1&a=1", RepeatedParameter);
    check_suspect("/x?a=1&b=2&c=3&d=4&e=5&f=6", ManyParameters);
}

#[test]
fn honest_look_alikes_are_taken_for_pages() {
    for path in [
        "/",
        "/2019/05/my-article",
        "/2019/05/17/my-article.html",
        "/2019-05-17-my-article",
        "/2087/3/",
        "/2087/3/reply",
        "/parts/2345-12",
        "/2345-12-widget",
        "/1848/03/revolution",
        "/12345678",
        "/2087",
        "/archive/2019",
        "/en/en/",
        "/docs/docs/api",
        "/a/b/a",
        "/x/1/1/1/1",
        "/11/11/11",
        "/pool/main/l/l/l/libl",
        "/1/2/1/2/1/2",
        "/t/t/t",
        "/docs/api/java.base/java/util/concurrent/atomic/package/tree.html",
        "/list?page=3&sort=asc",
        "/index.php?option=com_content&view=article&id=5&Itemid=53",
        "/viewtopic.php?f=2&t=345&start=20",
        "/shop?color[]=red&color[]=blue",
        "/x?part=2345-12",
        "/x?sid=1234",
        "/search?y=2087",
        "/a%20b/c%20d",
    ] {
        check(path, Judgement::Clear);
    }
    // Years of the Thai calendar.
    check_suspect("/events/2569/11/", TrapKind::EndlessCalendar);
    check_suspect("/list?year=2560&month=2", TrapKind::EndlessCalendar);
    check("/2569/11/my-article", Judgement::Clear);
}

#[test]
fn calendar_is_cut_off_where_its_dates_lie_ahead() {
    let months =
        |range: std::ops::Range<u32>| range.map(|month| format!("/calendar/{}/{}/", 2026 + month / 12, month % 12 + 1));
    // From November 2026 on.
    let (taken, traps) = admitted(&["/"], "/", months(10..22));
    assert_eq!(taken.len(), MAX_CALENDAR_PAGES);
    assert_eq!(traps, vec![TrapKind::EndlessCalendar; 8]);
    // The same calendar backwards, once a month ahead is known.
    let (taken, traps) =
        admitted(&["/calendar/2026/11/", "/calendar/2026/12/"], "/", (1..9).map(|m| format!("/calendar/2025/{m}/")));
    assert_eq!((taken.len(), traps.len()), (2, 6));
    let (taken, _) = admitted(&[], "/", (1..=28).map(|day| format!("/day?date=2026-12-{day:02}")));
    assert_eq!(taken.len(), MAX_CALENDAR_PAGES);
}

#[test]
fn archive_of_a_blog_keeps_its_articles() {
    let posts = (0..300).map(|number| format!("/{}/{:02}/post-{number}", 2016 + number / 30, number % 12 + 1));
    let (taken, traps) = admitted(&["/"], "/", posts);
    assert_eq!((taken.len(), traps.len()), (300, 0));
    let (taken, traps) = admitted(&["/"], "/", (1..=28).map(|day| format!("/comics/2019-05-{day:02}")));
    assert_eq!((taken.len(), traps.len()), (MAX_DATES_OF_TEMPLATE, 8));
    // Threads of a forum whose numbers could be years.
    let (taken, _) = admitted(&["/"], "/", (0..100).map(|number| format!("/thread/{}/{}", 2000 + number, number % 12)));
    assert_eq!(taken.len(), 100);
}

#[test]
fn page_comes_in_under_one_session_id_only() {
    let id = |number: usize| format!("{:032x}", 0x1234_5678_9abc_def0_u128 * (number as u128 + 7));
    for (form, plain) in [
        ("/item?osCsid={id}", "/item"),
        ("/item?a=1&session_id={id}", "/item?a=1"),
        ("/item;sid={id}", "/item"),
        ("/(S({id}))/item", "/item"),
        ("/item?s={id}&x", "/item?x"),
        ("/item?ASPSESSIONIDQAB={id}", "/item"),
    ] {
        let under = |number| form.replace("{id}", &id(number));
        let (taken, traps) = admitted(&["/"], "/", (0..5).map(under));
        assert_eq!((taken, traps), (vec![under(0)], vec![TrapKind::SessionId; 4]), "{form}");
        let (taken, _) = admitted(&[plain], "/", (0..5).map(under));
        assert!(taken.is_empty(), "{form} beside {plain}: {taken:?}");
        let (taken, _) = admitted(&["/other"], "/", [under(1)]);
        assert_eq!(taken.len(), 1, "{form}");
    }
    for other in
        ["/item?s=blue-shoes", "/item?session=12", "/item?sid=tablets-and-phones-for-all", "/item(1)", "/item;v=1"]
    {
        let (taken, traps) = admitted(&["/item"], "/", [other.to_owned()]);
        assert_eq!((taken.len(), traps.len()), (1, 0), "{other}");
    }
}

#[test]
fn few_combinations_of_filters_are_taken() {
    let singles = ["/shop?color=red", "/shop?color=blue", "/shop?size=s", "/shop?size=m", "/shop?brand=x"];
    let pairs = ["red", "blue"]
        .into_iter()
        .flat_map(|color| ["size=s", "size=m", "brand=x"].map(|more| format!("/shop?color={color}&{more}")));
    let (taken, traps) = admitted(&singles, "/shop", pairs);
    assert_eq!((taken.len(), traps), (MAX_GROWN_QUERIES, vec![TrapKind::GrowingQuery; 2]));
    // The same filters in every order.
    let orders =
        ["/s?a=1&b=2&c=3", "/s?b=2&a=1&c=3", "/s?c=3&b=2&a=1", "/s?a=1&c=3&b=2", "/s?b=2&c=3&a=1", "/s?c=3&a=1&b=2"];
    let (taken, _) = admitted(&["/s"], "/", orders.map(str::to_owned));
    assert_eq!(taken.len(), 1 + MAX_GROWN_QUERIES);
    // By the linking page alone: its query grows by one more filter.
    let grown = (0..9).map(|number| format!("/f?a=1&b=2&c={number}"));
    let (taken, traps) = admitted(&[], "/f?a=1&b=2", grown);
    assert_eq!((taken.len(), traps.len()), (MAX_GROWN_QUERIES, 5));
}

#[test]
fn pages_that_are_told_apart_by_their_query_are_taken() {
    let articles = (0..150).map(|id| format!("/index.php?option=com_content&view=article&id={id}"));
    let (taken, traps) = admitted(&["/index.php?option=com_content&view=category"], "/", articles);
    assert_eq!((taken.len(), traps.len()), (150, 0));
    let (taken, traps) =
        admitted(&["/topic?id=7"], "/topic?id=7", (1..60).map(|page| format!("/topic?id=7&page={page}")));
    assert_eq!((taken.len(), traps.len()), (59, 0));
    let details = (0..50).map(|id| format!("/i.php?cat=3&id={id}"));
    assert_eq!(admitted(&["/i.php?cat=3"], "/i.php?cat=3", details).1, []);
}

#[test]
fn one_path_has_so_many_queries_and_no_more() {
    let (taken, traps) = admitted(&["/"], "/", (0..1000).map(|id| format!("/item/{id}?v={id}")));
    assert_eq!((taken.len(), traps.len()), (MAX_QUERIES_OF_TEMPLATE, 1000 - MAX_QUERIES_OF_TEMPLATE));
    let (taken, _) = admitted(&["/"], "/", (0..1000).map(|id| format!("/item/{id}")));
    assert_eq!(taken.len(), 1000, "a path without a query is a page");
}

#[test]
fn every_reason_has_a_place_and_a_name_of_its_own() {
    for kind in TrapKind::ALL {
        assert_eq!(LinkDrop::ALL[LinkDrop::Trap(kind).place()], LinkDrop::Trap(kind));
    }
    let names: std::collections::BTreeSet<&str> = LinkDrop::ALL.iter().map(|drop| drop.word()).collect();
    assert_eq!(names.len(), NUM_LINK_DROPS);
    let mut counts = LinkDropCounts::default();
    counts.count(LinkDrop::QueueFull);
    let earlier = counts;
    counts.add(LinkDrop::QueueFull, 2);
    counts.count(LinkDrop::Robots);
    let fresh: Vec<_> = counts.since(&earlier).iter().collect();
    assert_eq!(fresh, [(LinkDrop::QueueFull, 2), (LinkDrop::Robots, 1)]);
}

proptest! {
    #[test]
    fn any_url_is_judged_without_a_panic(path in "[a-c0-9/;=()&?_-]{0,60}", query in "[a-c0-9=&-]{0,60}") {
        if let Ok(url) = PageUrl::parse(&format!("https://a.test/{path}?{query}"), None) {
            judge(&url, NOW);
            let mut shape = QueueShape::of([&url], NOW);
            let _ = shape.admit(&url, Some(&url));
        }
    }

    #[test]
    fn any_text_in_a_path_is_judged_without_a_panic(path in "\\PC{0,40}") {
        if let Ok(url) = PageUrl::parse(&format!("https://a.test/{path}"), None) {
            judge(&url, NOW);
            let _ = QueueShape::of([&url], NOW).admit(&url, None);
        }
    }
}
