use ::url::Url;
use proptest::prelude::*;

use super::*;

fn at() -> Url {
    Url::parse("https://a.example/dir/sitemap.xml").unwrap()
}

/// A file that is all there and has no Content-Type.
pub(super) fn whole<'a>(bytes: &'a [u8], at: &'a Url) -> SitemapFile<'a> {
    SitemapFile { at, content_type: None, bytes, cut: false }
}

fn read_all(bytes: &[u8]) -> SitemapReading {
    read(whole(bytes, &at()), &SitemapLimits::default(), &mut || true)
}

fn shown(reading: &SitemapReading) -> (Vec<&str>, Vec<&str>) {
    let urls = reading.urls.iter().map(|listed| listed.url.as_str()).collect();
    (urls, reading.sitemaps.iter().map(Url::as_str).collect())
}

#[track_caller]
fn check_bytes(bytes: &[u8], kind: SitemapKind, urls: &[&str]) {
    let reading = read_all(bytes);
    let input = String::from_utf8_lossy(bytes);
    assert_eq!((reading.kind, shown(&reading).0), (kind, urls.to_vec()), "{input:?}");
}

#[track_caller]
fn check(text: &str, kind: SitemapKind, urls: &[&str]) {
    check_bytes(text.as_bytes(), kind, urls);
}

/// The entries inside a `urlset` give these URLs.
#[track_caller]
fn check_entries(entries: &str, urls: &[&str]) {
    check(&format!("<urlset>{entries}</urlset>"), SitemapKind::UrlSet, urls);
}

#[track_caller]
fn check_nothing(text: &str, why: NoSitemap) {
    check(text, SitemapKind::Nothing(why), &[]);
}

const A: &str = "https://a.example/a";
const B: &str = "https://a.example/b";
const TWO: &str = "<urlset><url><loc>https://a.example/a</loc></url><url><loc>https://a.example/b</loc></url></urlset>";

#[test]
fn a_sitemap_is_read_under_any_namespace_and_prefix() {
    for declared in ["", r#" xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#, r#" xmlns="urn:x""#, r#" xmlns="""#]
    {
        check(&TWO.replace("<urlset", &format!("<urlset{declared}")), SitemapKind::UrlSet, &[A, B]);
    }
    let prefixed = TWO.replace("</", "</sm:").replace('<', "<sm:").replace("<sm:/sm:", "</sm:");
    check(&prefixed, SitemapKind::UrlSet, &[A, B]);
    check(&TWO.to_uppercase().replace("HTTPS://A.EXAMPLE/A", A), SitemapKind::UrlSet, &[A, "https://a.example/B"]);
}

#[test]
fn what_stands_before_the_markup_is_skipped() {
    for before in [
        "\n  \t",
        "\u{feff}",
        "\n\u{feff}\u{feff}",
        "<?xml version='1.0'?><?xml-stylesheet href='s'?><!DOCTYPE urlset>",
        "<!-- made by hand -->",
        "Warning: something on line 3\n<?xml version='1.0'?>",
        "<br />\n<b>Warning</b>: something on line <b>3</b><br />\n",
    ] {
        check(&format!("{before}{TWO}"), SitemapKind::UrlSet, &[A, B]);
    }
}

#[test]
fn loc_is_the_text_in_it_however_it_is_written() {
    check_entries("<url><loc>\n   https://a.example/a\n</loc></url>", &[A]);
    check_entries("<url><loc>\u{a0}\u{2003}https://a.example/a\u{200b}\u{feff}</loc></url>", &[A]);
    check_entries("<url><loc><![CDATA[ https://a.example/a ]]></loc></url>", &[A]);
    check_entries("<url><loc>https://a.example/<![CDATA[?x=1&y=2]]></loc></url>", &["https://a.example/?x=1&y=2"]);
    check_entries("<url><loc>https://a.<!-- x -->example/a</loc></url>", &[A]);
    check_entries("<url><loc><url><![CDATA[https://a.example/a]]></url></loc></url>", &[A]);
    check_entries("<url><loc><b>https://a.example/a</b></loc></url><url><loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc><loc>https://a.example/a</loc></loc></url><url><loc>/b</loc></url>", &[A, B]);
    check_entries(
        "<url><loc>https://b&#xfc;cher.example/\u{fc}</loc></url>",
        &["https://xn--bcher-kva.example/%C3%BC"],
    );
}

#[test]
fn ampersands_are_resolved_or_taken_as_they_stand() {
    let wanted = ["https://a.example/?x=1&y=2"];
    check_entries("<url><loc>/?x=1&amp;y=2</loc></url>", &wanted);
    check_entries("<url><loc>/?x=1&#38;y=2</loc></url>", &wanted);
    check_entries("<url><loc>/?x=1&y=2</loc></url>", &wanted);
    check_entries("<url><loc>/?&x=1&</loc></url><url><loc>/b</loc></url>", &["https://a.example/?&x=1&", B]);
    check_entries("<url><loc>/?x=1&y=2;z</loc></url>", &["https://a.example/?x=1&y=2;z"]);
}

#[test]
fn a_loc_with_an_entity_that_only_the_file_declares_is_none() {
    check_entries("<url><loc>https://a.example/&f;</loc></url><url><loc>/b</loc></url>", &[B]);
    check_entries("<url><loc>https://a.example/&#0;</loc></url><url><loc>/b</loc></url>", &[B]);
}

#[test]
fn entries_without_a_usable_loc_are_none() {
    check_entries("<url><lastmod>2024-01-01</lastmod></url><url><loc>/a</loc></url><url><loc/></url>", &[A]);
    check_entries("<url><loc> </loc></url><url></url><url/>", &[]);
    check_entries("<url><loc>ftp://a.example/</loc></url><url><loc>mailto:x@a.example</loc></url>", &[]);
    check_entries("<url><loc>http://</loc></url><url><loc>javascript:alert(1)</loc></url>", &[]);
    check_entries("<loc>/a</loc>", &[]);
    let long = "x".repeat(3000);
    check_entries(&format!("<url><loc>https://a.example/{long}</loc></url><url><loc>/b</loc></url>"), &[B]);
    let longer = "x".repeat(40_000);
    check_entries(&format!("<url><loc>https://a.example/{longer}</loc></url><url><loc>/b</loc></url>"), &[B]);
}

#[test]
fn a_relative_loc_is_resolved_against_the_sitemap() {
    check_entries(
        "<url><loc>/a</loc></url><url><loc>b</loc></url><url><loc>//a.example/c</loc></url>",
        &[A, "https://a.example/dir/b", "https://a.example/c"],
    );
}

#[test]
fn the_list_is_what_the_file_says_with_doubles_and_other_hosts() {
    check_entries(
        "<url><loc>/a</loc></url><url><loc>http://127.0.0.1/x</loc></url><url><loc>/a</loc></url>",
        &[A, "http://127.0.0.1/x", A],
    );
}

#[test]
fn images_videos_news_and_alternates_are_no_pages() {
    check_entries(
        "<url><image:image><image:loc>https://c.example/i.jpg</image:loc></image:image><loc>/a</loc>\
         <video:video><video:content_loc>https://c.example/v.mp4</video:content_loc></video:video>\
         <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"/de\"/><xhtml:link href=\"/fr\">\
         <news:news><news:title>t</news:title><loc>/n</loc></news:news></url><url><loc>/b</loc></url>",
        &[A, B],
    );
    check_entries("<url><image:loc>/i</image:loc><image><loc>/j</loc></image><loc>/a</loc></url>", &[A]);
}

#[test]
fn tags_that_are_not_closed_end_where_the_next_begins() {
    check_entries("<url><loc>/a</loc><url><loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc>/a<url><loc>/b", &[A, B]);
    check_entries("<url><loc>/a</url><url><loc>/b</url>", &[A, B]);
    check_entries("<url><loc>/a<lastmod>2024</url><url><priority>1<loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc>/a</loc><loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc>/a</loc></url></url></url><url><loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc>/a</loc><image:image></url><url><loc>/b</loc></url>", &[A, B]);
    let index = "<sitemapindex><sitemap><loc>/a</loc><sitemap><loc>/b</loc></sitemap></sitemapindex>";
    let reading = read_all(index.as_bytes());
    assert_eq!((reading.kind, shown(&reading)), (SitemapKind::Index, (vec![], vec![A, B])));
}

#[test]
fn of_a_file_that_breaks_off_the_whole_entries_count() {
    for (text, wanted) in [
        ("<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url><url><loc>/c", vec![A, B]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b</lo", vec![A, B]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b</loc><las", vec![A, B]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b</loc><!-- ", vec![A, B]),
        ("<urlset><url><loc>/a</loc></url><url><loc><![CDATA[/b", vec![A]),
    ] {
        let reading = read_all(text.as_bytes());
        assert_eq!((shown(&reading).0, reading.cut), (wanted, true), "{text:?}");
    }
    assert!(!read_all(TWO.as_bytes()).cut);
}

#[test]
fn of_a_list_that_is_cut_the_last_line_counts_only_with_its_end() {
    for (text, wanted) in [
        ("https://a.example/a\nhttps://a.example/b", vec![A]),
        ("https://a.example/a\r\nhttps://a.example/b\r", vec![A, B]),
        ("https://a.example/a\nhttps://a.example/b\n", vec![A, B]),
        ("https://a.example/a\nhttps://a.example/b\nhtt", vec![A, B]),
        ("https://a.example/a", vec![]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b", vec![A]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b<", vec![A, B]),
    ] {
        let at = at();
        let file = SitemapFile { cut: true, ..whole(text.as_bytes(), &at) };
        let reading = read(file, &SitemapLimits::default(), &mut || true);
        assert_eq!((shown(&reading).0, reading.cut), (wanted, true), "{text:?}");
    }
    let limits =
        SitemapLimits { max_bytes: "https://a.example/a\nhttps://a.example/b".len(), ..SitemapLimits::default() };
    let reading = read(whole(b"https://a.example/a\nhttps://a.example/b2\n", &at()), &limits, &mut || true);
    assert_eq!((shown(&reading).0, reading.cut), (vec![A], true), "the cap on bytes cuts as well");
}

#[test]
fn faults_in_the_markup_are_read_past() {
    check_entries("<url><loc>/a</loc></url><!foo><url><loc>/b</loc></url>", &[A, B]);
    check_entries("<url><loc>/a</loc></url><![cdata[x]]><url><loc>/b</loc></url>", &[A, B]);
    check_entries("<url x=\"1><loc>/a</loc></url><url><loc>/b</loc></url>", &[B]);
    check_entries("<url><loc>/a</loc></url><><!DOCTYPE><url><loc>/b</loc></url>", &[A, B]);
}

#[test]
fn pages_that_are_no_sitemaps_give_nothing() {
    check_nothing("", NoSitemap::Empty);
    check_nothing(" \r\n\u{feff} ", NoSitemap::Empty);
    check_nothing("<!doctype html><title>404</title>", NoSitemap::Html);
    check_nothing("<!DOCTYPE html><html><body><a href=\"https://a.example/a\">Home</a></body></html>", NoSitemap::Html);
    check_nothing("Error\n<html><body><rss><channel><item><link>/a</link></item>", NoSitemap::Html);
    check_nothing("this is a bogus sitemap", NoSitemap::Unknown);
    check_nothing("User-agent: *\nDisallow: /\nSitemap: https://a.example/s.xml", NoSitemap::Unknown);
    check_nothing("{\"urls\": [\"https://a.example/a\"]}", NoSitemap::Unknown);
    check_nothing("<root><url><loc>/a</loc></url></root>", NoSitemap::Unknown);
    check_bytes(b"\x1f\x8b\x08\0", SitemapKind::Nothing(NoSitemap::Compressed), &[]);
    check_bytes(b"%PDF-1.4\n\xff\xff<</Length 3>>", SitemapKind::Nothing(NoSitemap::Unknown), &[]);
    check("<urlset></urlset>", SitemapKind::UrlSet, &[]);
}

#[test]
fn a_text_lists_one_url_a_line() {
    check("https://a.example/a\nhttps://a.example/b", SitemapKind::Text, &[A, B]);
    check("\u{feff}https://a.example/a\r\rhttps://a.example/b\r\n\n", SitemapKind::Text, &[A, B]);
    check("# all pages\n  https://a.example/a \n/relative\nftp://a.example/\n", SitemapKind::Text, &[A]);
    check("https://a.example/a\t2024-01-01\nHTTPS://A.example/b<x", SitemapKind::Text, &[A, "https://a.example/b%3Cx"]);
}

#[test]
fn items_of_rss_are_pages_and_its_channel_is_none() {
    check(
        "<rss><channel><link>/blog</link><image><link>/img</link></image>\
         <item><title>x</title><link>/a</link><guid>https://a.example/guid</guid></item>\
         <item><guid isPermaLink=\"true\">https://a.example/b</guid></item>\
         <item><guid isPermaLink=\"false\">https://a.example/no</guid></item>\
         <item><guid>4711</guid></item><item><guid>tag:a.example,2017:x</guid></item>\
         <item><atom:link rel=\"self\" href=\"/self\"/><link>\n</link><guid>https://a.example/c</guid></item>\
         <item><source url=\"/s\"><link>/s</link></source><link>/d</link></item></channel></rss>",
        SitemapKind::Rss,
        &[A, B, "https://a.example/c", "https://a.example/d"],
    );
    check(
        "<rdf:RDF><channel><link>/</link><items><rdf:Seq><rdf:li resource=\"/a\"/></rdf:Seq></items></channel>\
         <image><link>/i</link><url>/u</url></image><item rdf:about=\"/a\"><link>/a</link></item></rdf:RDF>",
        SitemapKind::Rss,
        &[A],
    );
}

#[test]
fn entries_of_atom_are_pages_by_their_alternate_link() {
    check(
        "<feed><link href=\"/\"/><link rel=\"self\" href=\"/feed\"/>\
         <entry><link rel=\"self\" href=\"/e/1\"/><link rel=\"alternate\" href=\"/a\"/><link href=\"/also\"/></entry>\
         <entry><id>https://a.example/id</id><link rel=\"enclosure\" href=\"/x.mp3\"/><link href='/b?x=1&amp;y=2'/>\
         <source><link href=\"/source\"/></source><content type=\"xhtml\"><div><link href=\"/c\"/></div></content></entry>\
         <entry><id>https://a.example/none</id></entry></feed>",
        SitemapKind::Atom,
        &[A, "https://a.example/b?x=1&y=2"],
    );
    check("<a:feed><a:entry><a:link href=\"/a\"/></a:entry></a:feed>", SitemapKind::Atom, &[A]);
}

#[track_caller]
fn check_lastmod(text: &str, wanted: Option<&str>) {
    let reading = read_all(text.as_bytes());
    let got = reading.urls[0].lastmod.map(|at| at.to_string());
    assert_eq!(got.as_deref(), wanted, "{text:?}");
}

#[test]
fn times_of_change_come_from_each_formats_own_fields() {
    let january = Some("2024-01-02T00:00:00.000Z");
    check_lastmod("<urlset><url><lastmod> 2024-01-02 </lastmod><loc>/a</loc></url></urlset>", january);
    check_lastmod("<urlset><url><loc>/a</loc><lastmod><![CDATA[2024-01-02]]></lastmod></url></urlset>", january);
    check_lastmod("<urlset><url><loc>/a</loc><lastmod>soon</lastmod></url></urlset>", None);
    check_lastmod("<urlset><url><loc>/a</loc><news:lastmod>2024-01-02</news:lastmod></url></urlset>", None);
    check_lastmod("<rss><item><link>/a</link><pubDate>2 Jan 2024 00:00:00 GMT</pubDate></item></rss>", january);
    check_lastmod("<rss><item><link>/a</link><dc:date>2024-01-02</dc:date></item></rss>", january);
    let both = "<published>2023-01-01</published><updated>2024-01-02</updated><issued>2022-01-01</issued>";
    check_lastmod(&format!("<feed><entry><link href=\"/a\"/>{both}</entry></feed>"), january);
    check_lastmod("<feed><entry><link href=\"/a\"/><published>2024-01-02</published></entry></feed>", january);
}

#[test]
fn the_charset_is_the_declared_one_or_what_the_bytes_look_like() {
    let wanted = ["https://a.example/%C3%A9"];
    let text = |declared: &str| format!("{declared}<urlset><url><loc>/\u{e9}</loc></url></urlset>");
    let latin = |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    check_bytes(text("").as_bytes(), SitemapKind::UrlSet, &wanted);
    check_bytes(&latin(&text("")), SitemapKind::UrlSet, &wanted);
    check_bytes(&latin(&text("\n<?xml version='1.0' encoding='ISO-8859-1'?>")), SitemapKind::UrlSet, &wanted);
    check_bytes(text("<?xml version='1.0' encoding=\"utf-16\"?>").as_bytes(), SitemapKind::UrlSet, &wanted);
    let wide: Vec<u16> = text("").encode_utf16().collect();
    let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    check_bytes(&little, SitemapKind::UrlSet, &wanted);
    check_bytes(&big, SitemapKind::UrlSet, &wanted);
    check_bytes(&[b"\xff\xfe".as_slice(), &little].concat(), SitemapKind::UrlSet, &wanted);

    let bytes = latin(&text(""));
    let (at, content_type) = (at(), Some("text/xml; charset=iso-8859-5"));
    let file = SitemapFile { content_type, ..whole(&bytes, &at) };
    let header = read(file, &SitemapLimits::default(), &mut || true);
    assert_eq!(shown(&header).0, ["https://a.example/%D1%89"]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    #[test]
    fn any_row_of_markup_is_read_without_a_panic_and_within_its_caps(
        parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..40),
    ) {
        let limits = SitemapLimits { max_bytes: 300, max_urls: 3, max_url_bytes: 100, max_sitemaps: 2, max_depth: 4 };
        let reading = read(whole(parts.concat().as_bytes(), &at()), &limits, &mut || true);
        prop_assert!(reading.urls.len() <= 3 && reading.sitemaps.len() <= 2);
        prop_assert!(reading.urls.iter().map(|listed| listed.url.as_str().len()).sum::<usize>() <= 100);
    }
}

const PARTS: &[&str] = &[
    "<urlset>",
    "<sitemapindex>",
    "<rss>",
    "<feed>",
    "<url>",
    "</url>",
    "<sitemap>",
    "</sitemap>",
    "<item>",
    "<entry>",
    "<loc>",
    "</loc>",
    "<lastmod>",
    "</lastmod>",
    "<link>",
    "<link href='/a' rel=alternate>",
    "<guid>",
    "</guid>",
    "<x:y>",
    "</x:y>",
    "<x/>",
    "https://a.example/a",
    "/b",
    "2024-01-01",
    " ",
    "&amp;",
    "&",
    ";",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!",
    "<?",
    "?>",
    "\"",
    "'",
    "<",
    ">",
    "\u{feff}",
    "<html>",
    "<!DOCTYPE",
    "[",
    "]",
];
