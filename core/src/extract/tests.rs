use super::*;
use crate::response::ResponseHead;

fn page(html: &str) -> ExtractedPage {
    read(html.as_bytes(), &mut || true)
}

fn read(body: &[u8], budget: &mut dyn WorkBudget) -> ExtractedPage {
    let url = Url::parse("https://site.example/dir/page.html").unwrap();
    let head = ResponseHead::new(200).with("Content-Type", "text/html; charset=utf-8");
    let fetched = FetchedPage { url: &url, head: &head, body, cut: false, product_token: "lohisoftbot" };
    extract(fetched, budget)
}

#[track_caller]
fn check_title(html: &str, wanted: Option<&str>) {
    assert_eq!(page(html).title.as_deref(), wanted, "page {html:?}");
}

#[test]
fn title_is_the_first_html_title_with_something_in_it() {
    check_title("<title>One</title><title>Two</title>", Some("One"));
    check_title("<title> \n </title><body><title>Late</title>", Some("Late"));
    check_title("<svg><title>Icon</title></svg><title>Page</title>", Some("Page"));
    check_title("<svg><title>Icon</title></svg>", None);
    check_title("<math><title>Formula</title></math>", None);
    check_title("<template><title>Inert</title></template><noscript><title>No</title></noscript>", None);
    check_title("<script>'<title>x</title>'</script><title>real</title>", Some("real"));
    check_title("<title>a <b>c</b> &amp;lt; &#146;</title>", Some("a <b>c</b> &lt; \u{2019}"));
    check_title("<title/>self-closing is open", Some("self-closing is open"));
    check_title("no markup at all", None);
}

#[test]
fn white_space_is_collapsed_and_the_no_break_space_is_kept() {
    check_title("<title>\n  two \r\n\t words \u{C} here\n</title>", Some("two words here"));
    check_title("<title>10&nbsp;km &nbsp; off</title>", Some("10\u{A0}km \u{A0} off"));
    check_title("<title>&nbsp; &#x2003;</title>", None);
    check_title("<title>zero\u{200B}width</title>", Some("zero\u{200B}width"));
}

#[test]
fn romanian_and_chinese_pass_through_unchanged() {
    let romanian = "Învățătura școlii: ăâîșț ŞŢşţ";
    let chinese = "測試𠮷字：圖書館";
    let page = page(&format!("<title>{romanian}</title><h1>{chinese}</h1><a href=/x>{romanian}{chinese}</a>"));
    assert_eq!(page.title.as_deref(), Some(romanian));
    assert_eq!(page.headings[0].text, chinese);
    assert_eq!(page.links[0].text, format!("{romanian}{chinese}"));
}

#[test]
fn description_prefers_the_plain_name_and_skips_empty_ones() {
    for (html, wanted) in [
        ("<meta name=' DESCRIPTION ' content=' a\n b '>", Some("a b")),
        ("<meta property=og:description content=og><meta name=description content=plain>", Some("plain")),
        ("<meta name=twitter:description content=tw><meta name=og:description content=og>", Some("og")),
        ("<meta name=twitter:description content=tw><meta name=description content='&nbsp; '>", Some("tw")),
        ("<meta name=description content=1><meta name=description content=2>", Some("1")),
        ("<meta http-equiv=description content=x><meta name=dc.description content=x>", None),
        ("<meta property=description content=x>", None),
    ] {
        assert_eq!(page(html).description.as_deref(), wanted, "page {html:?}");
    }
}

#[track_caller]
fn check_headings(html: &str, wanted: &[(u8, &str)]) {
    let found = page(html).headings;
    let found: Vec<_> = found.iter().map(|heading| (heading.level, &*heading.text)).collect();
    assert_eq!(found, wanted, "page {html:?}");
}

#[test]
fn headings_come_in_order_with_their_visible_text() {
    check_headings("<h2>b<h1>a</h2>x<h4>no</h4><H3>c</H3>", &[(2, "b"), (1, "a"), (3, "c")]);
    check_headings("<h1>one<br>two<em>th</em>ree</h1>", &[(1, "one twothree")]);
    check_headings("<h1><div>one</div>two<p>three</p></h1>", &[(1, "one two three")]);
    check_headings(
        "<h1>a<script>x</script><style>y</style><textarea>z</textarea><select><option>o</select>b</h1>",
        &[(1, "ab")],
    );
    check_headings("<h1><svg><title>no</title><text>yes</text></svg></h1>", &[(1, "yes")]);
    check_headings("<h1><img alt=' logo '><img><img alt=text></h1>", &[(1, "logo text")]);
    check_headings("<h1><img alt=unused>text</h1><h2>&nbsp;</h2><h3><img alt=''></h3>", &[(1, "text")]);
    check_headings("<template><h1>inert</h1></template><noscript><h1>no</h1></noscript><!--<h1>c</h1>-->", &[]);
}

#[track_caller]
fn check_links(html: &str, wanted: &[(&str, &str)]) {
    let links = page(html).links;
    let found: Vec<_> = links.iter().map(|link| (link.url.as_str(), &*link.text)).collect();
    assert_eq!(found, wanted, "page {html:?}");
}

#[test]
fn links_are_resolved_against_the_first_base_wherever_it_stands() {
    check_links("<a href=x>t</a>", &[("https://site.example/dir/x", "t")]);
    check_links(
        "<a href=x>t</a><base target=_top><base href=/b/><base href=/c/>",
        &[("https://site.example/b/x", "t")],
    );
    check_links("<base href=data:,x><a href=x>t</a>", &[("https://site.example/dir/x", "t")]);
    check_links("<base href='http://'><a href=x>t</a>", &[("https://site.example/dir/x", "t")]);
    check_links(
        "<base href='mailto:a@b.example'><a href=x>t</a><a href=http://c.example>u</a>",
        &[("http://c.example/", "u")],
    );
}

#[test]
fn only_http_links_count_and_the_fragment_goes() {
    check_links(
        "<a href=mailto:a@b.example>m</a><a href='javascript:x()'>j</a><a href=ftp://f.example/>f</a><a name=n>n</a>\
         <a href='http://a:99999/'>port</a><svg><a href=/s>s</a></svg><a href='/ok#there'>ok</a>",
        &[("https://site.example/ok", "ok")],
    );
}

#[test]
fn link_text_falls_back_to_alt_then_label_then_title() {
    check_links(
        "<a href=/1 aria-label=l title=t>text</a><a href=/2 aria-label=l><img alt=alt></a><a href=/3 aria-label=l title=t></a>\
         <a href=/4 title=t> </a><map><area href=/5 alt=area title=t></map><a href=/6></a>",
        &[
            ("https://site.example/1", "text"),
            ("https://site.example/2", "alt"),
            ("https://site.example/3", "l"),
            ("https://site.example/4", "t"),
            ("https://site.example/5", "area"),
            ("https://site.example/6", ""),
        ],
    );
}

#[test]
fn links_to_one_target_are_merged_and_clones_of_the_parser_do_not_count() {
    check_links(
        "<a href=/x>one</a><a href=/y>y</a><a href='/x#f'>two</a><a href=/x>one</a>",
        &[("https://site.example/x", "one two"), ("https://site.example/y", "y")],
    );
    let cloned = page("<p><a href=/x>first<p>second</a>");
    assert_eq!((cloned.links.len(), cloned.links[0].text.as_str()), (1, "first second"));
    assert_eq!(cloned.link_tally.num_http, 2);
}

#[test]
fn a_merged_link_is_nofollow_only_if_every_one_is() {
    for (rels, wanted) in [
        (&["nofollow"][..], true),
        (&["external UGC"], true),
        (&["sponsored,noopener"], true),
        (&["nofollow", ""], false),
        (&["nofollow", "ugc"], true),
        (&["follow", "nofollowing"], false),
    ] {
        let html: String = rels.iter().map(|rel| format!("<a href=/x rel='{rel}'>t</a>")).collect();
        assert_eq!(page(&html).links[0].nofollow, wanted, "rels {rels:?}");
    }
}

#[test]
fn a_query_is_written_in_the_charset_of_the_page() {
    let url = Url::parse("https://site.example/").unwrap();
    let head = ResponseHead::new(200).with("content-type", "text/html; charset=windows-1251");
    let body = encoding_rs::WINDOWS_1251.encode("<a href='/п?q=я'>x</a>").0;
    let fetched = FetchedPage { url: &url, head: &head, body: &body, cut: false, product_token: "lohisoftbot" };
    assert_eq!(extract(fetched, &mut || true).links[0].url.as_str(), "https://site.example/%D0%BF?q=%FF");
}

#[test]
fn canonical_is_read_in_head_alone() {
    for (html, wanted) in [
        ("<link rel='alternate CANONICAL' href='../c?x=1#f'>", Some("https://site.example/c?x=1")),
        (
            "<link rel=canonical><link rel=canonical href=' '><link rel=canonical href=/2>",
            Some("https://site.example/2"),
        ),
        ("<link rel=canonical href=javascript:x()>", None),
        ("<body><link rel=canonical href=/c>", None),
        ("<noscript><link rel=canonical href=/c></noscript>", None),
        ("<base href=https://cdn.example/><link rel=canonical href=c>", Some("https://cdn.example/c")),
    ] {
        assert_eq!(page(html).canonical.as_ref().map(Url::as_str), wanted, "page {html:?}");
    }
}

#[test]
fn language_is_that_of_the_root_element() {
    for (html, wanted) in [
        ("<html lang=' ro-RO '>", Some("ro-RO")),
        ("<html lang='' xml:lang=sv>", Some("sv")),
        ("<p lang=de>", None),
        ("<html>x<html lang=late>", Some("late")),
    ] {
        assert_eq!(page(html).lang.as_deref(), wanted, "page {html:?}");
    }
}

#[test]
fn directives_of_meta_and_header_add_up() {
    let url = Url::parse("https://site.example/").unwrap();
    let head =
        ResponseHead::new(200).with("x-robots-tag", "lohisoftbot: nosnippet").with("x-robots-tag", "x: noarchive");
    let body = b"<meta name=ROBOTS content=index,nofollow><meta name=' LohiSoftBot ' content=noindex><meta name=x content=none>\
                 <meta property=robots content=noarchive><meta http-equiv=robots content=noarchive>";
    let fetched = FetchedPage { url: &url, head: &head, body, cut: false, product_token: "lohisoftbot" };
    let wanted = Directives { noindex: true, nofollow: true, nosnippet: true, ..Directives::default() };
    assert_eq!(extract(fetched, &mut || true).directives, wanted);
}

#[test]
fn meta_refresh_is_resolved_and_the_first_readable_one_counts() {
    let page =
        page("<meta http-equiv=refresh content=x><meta http-equiv=REFRESH content='3;url=/n'><base href=//b.example/>");
    assert_eq!(page.meta_refresh.unwrap().as_str(), "https://b.example/n");
    assert_eq!(page.meta_refresh_delay, Some(Duration::from_secs(3)));
    assert_eq!(self::page("<meta name=refresh content='3;url=/n'>").meta_refresh, None);
}

#[test]
fn a_known_cut_stays_one() {
    let url = Url::parse("https://site.example/").unwrap();
    let head = ResponseHead::new(200);
    let fetched = FetchedPage { url: &url, head: &head, body: b"<title>Half a ti", cut: true, product_token: "x" };
    let page = extract(fetched, &mut || true);
    assert_eq!((page.title.as_deref(), page.cut), (Some("Half a ti"), true));
}

/// Formatting elements that differ: of equal ones the standard keeps three.
fn formatting(count: usize) -> String {
    (0..count).map(|n| format!("<b a={n}>")).collect()
}

/// What costs a parser far more than its size.
fn bombs() -> Vec<(&'static str, String)> {
    let attributes: String = (0..50_000).map(|n| format!(" a{n}")).collect();
    vec![
        (
            "formatting elements opened again in each paragraph",
            format!("<p>{}{}", formatting(4000), "<p>x".repeat(4000)),
        ),
        ("a hundred thousand nested divs", "<div>".repeat(100_000)),
        ("fifty thousand nested lists", "<ul><li>".repeat(50_000)),
        ("one tag with fifty thousand attributes", format!("<p{attributes}>")),
        ("nested headings that each hold all the rest", "<h1>deep<div>".repeat(40_000)),
        ("nested links that each hold all the rest", "<a href=/x>deep<object>".repeat(20_000)),
        ("nested templates", "<template>".repeat(100_000)),
        ("unclosed tables", "<table><td>x".repeat(30_000)),
        ("misnested formatting", format!("{}{}", "<a><b><i><u>".repeat(500), "</a></b></i></u><p>".repeat(2000))),
    ]
}

#[test]
fn a_bomb_ends_with_the_budget_and_what_came_before_it_is_kept() {
    for (name, bomb) in bombs() {
        let html = format!("<title>Before</title><h1>Head</h1>{bomb}");
        let mut num_questions = 0;
        let page = read(html.as_bytes(), &mut || {
            num_questions += 1;
            num_questions < 60
        });
        assert!(page.cut, "{name}: not marked as cut");
        assert_eq!(num_questions, 60, "{name}: asked on after a no");
        assert_eq!((page.title.as_deref(), &*page.headings[0].text), (Some("Before"), "Head"), "{name}");
    }
}

#[test]
fn a_base_that_makes_each_link_huge_ends_the_links() {
    let html = format!("<base href='/{}/'>{}", "x".repeat(100_000), "<a href=y>t</a><a href=z>t</a>".repeat(500));
    let page = page(&html);
    assert!(page.cut);
    assert!(page.link_tally.num_http < 100, "{:?}", page.link_tally);
}

#[test]
fn a_budget_that_says_no_at_once_leaves_an_empty_page() {
    let page = read(b"<title>t</title>", &mut || false);
    assert_eq!((page.title, page.cut), (None, true));
}

#[test]
fn attributes_of_formatting_elements_change_nothing_that_is_read() {
    let plain = page(
        "<h1><b>One</b> <font>two</font></h1><svg><font><title>In</title></svg><title>T</title><a href=/x><i>l</i></a>",
    );
    let styled = page(
        "<h1><b id=1>One</b> <font x=1>two</font></h1><svg><font y=1><title>In</title></svg><title>T</title><a href=/x><i id=2>l</i></a>",
    );
    assert_eq!(styled, plain);
    // With one of these, `font` ends the drawing, and the title is the page's.
    for attribute in ["color=red", "FACE=x", "size"] {
        check_title(&format!("<svg><font {attribute}><title>Out</title>"), Some("Out"));
    }
    check_title("<svg><font id=1><title>In</title>", None);
}

#[test]
fn an_ordinary_page_of_the_largest_size_is_read_whole() {
    let paragraph = format!("<p class=x>{}<a href=/y title=z>link</a></p>\n", "word ".repeat(60));
    let html = format!("<title>Long</title>{}", paragraph.repeat((2 << 20) / paragraph.len()));
    let page = read(html.as_bytes(), &mut || true);
    assert_eq!((page.cut, page.links.len()), (false, 1));
}

proptest::proptest! {
    #[test]
    fn extraction_never_panics_on_any_bytes(body in proptest::collection::vec(proptest::num::u8::ANY, 0..2000)) {
        read(&body, &mut || true);
    }

    #[test]
    fn extraction_never_panics_on_tag_soup_and_any_budget(
        soup in "(<(/)?(a href=/x|b|p|table|td|svg|math|title|h1|select|template|script|form|frameset|annotation-xml encoding=text/html|base href=y|meta charset=x|head|html lang=q|body|i|object)>|&nbsp;|é|\\x00| ){0,60}",
        questions in 0usize..20,
    ) {
        let mut left = questions;
        read(soup.as_bytes(), &mut || {
            left = left.saturating_sub(1);
            left > 0
        });
    }

    #[test]
    fn no_text_keeps_white_space_at_its_ends_or_in_runs(text in "[ \t\n\u{C}a-c\u{A0}é<>&;]{0,60}") {
        let page = page(&format!("<title>{text}</title><h1>{text}</h1>"));
        for kept in page.title.iter().chain(page.headings.iter().map(|heading| &heading.text)) {
            proptest::prop_assert_eq!(text::collapsed(kept), Some(kept.clone()));
        }
    }
}

#[track_caller]
fn check_outline(html: &str, wanted: &[(&str, Option<&str>)]) {
    let page = page(html);
    let path = |place: usize| page.links[place].url.path().trim_start_matches('/');
    let found: Vec<_> = page.links.iter().map(|link| (link.url.path(), link.above.map(path))).collect();
    let found: Vec<_> = found.iter().map(|(path, above)| (path.trim_start_matches('/'), *above)).collect();
    assert_eq!(found, wanted, "page {html:?}");
}

#[test]
fn a_link_in_a_list_inside_a_list_stands_below_the_last_link_of_the_outer_one() {
    check_outline(
        "<ul><li><a href=/a>A</a><ul><li><a href=/b>B</a><li><a href=/c>C</a></ul><li><a href=/d>D</a></ul><a href=/e>E</a>",
        &[("a", None), ("b", Some("a")), ("c", Some("a")), ("d", None), ("e", None)],
    );
    check_outline(
        "<dl><dt><a href=/1>1</a><dd><dl><dt><a href=/2>2</a><dd><ol><li><a href=/3>3</a></ol></dl></dl>",
        &[("1", None), ("2", Some("1")), ("3", Some("2"))],
    );
    // An outer list without a link says nothing, and nor does a link to the same page.
    check_outline("<ul><li>Text<ul><li><a href=/a>A</a></ul></ul>", &[("a", None)]);
    check_outline("<ul><li><a href=/a#x>A</a><ul><li><a href=/a#y>B</a></ul></ul>", &[("a", None)]);
    // What stands in the open first stands below nothing there, but does below its chapter.
    check_outline(
        "<p><a href=/b>B</a></p><ul><li><a href=/a>A</a><ul><li><a href=/b>B</a></ul></ul>",
        &[("b", Some("a")), ("a", None)],
    );
}

#[test]
fn lists_in_any_depth_and_out_of_order_are_read() {
    let deep = "<ul><li><a href=/x>X</a>".repeat(200) + "<a href=/y>Y</a>" + &"</ul>".repeat(300) + "<a href=/z>Z</a>";
    let page = page(&deep);
    let last = page.links.last().unwrap();
    assert_eq!((last.url.path(), last.above), ("/z", None));
}

#[test]
fn versions_are_the_alternates_of_the_head_that_name_a_language() {
    let html = "<head><link rel=alternate hreflang=de href=de.html><link rel='ALTERNATE nofollow' hreflang=x-default href=/>\
                <link rel=alternate href=feed.rss><link hreflang=fr href=fr.html><link rel=alternate hreflang=it href=' '>\
                </head><body><link rel=alternate hreflang=ro href=ro.html>";
    let versions = page(html).versions;
    let found: Vec<_> = versions.iter().map(|(tag, url)| (tag.as_str(), url.path())).collect();
    assert_eq!(found, [("de", "/dir/de.html"), ("x-default", "/")]);
}
