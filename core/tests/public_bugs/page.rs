//! Reading pages: titles, texts, charsets, directives, links.

use lohisoftbot_core::extract::{ExtractedPage, FetchedPage, extract, is_other_format};
use lohisoftbot_core::ledger::RequestKind;
use lohisoftbot_core::outcome::{Answer, classify, wants_body};
use lohisoftbot_core::record::{PageRecord, StoredPage};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

const AT: &str = "http://h.test/dir/page?old=1";

fn read_answer(fields: &[(&str, &str)], body: &[u8]) -> (ExtractedPage, StoredPage) {
    let url = PageUrl::parse(AT, None).unwrap();
    let head = fields.iter().fold(ResponseHead::new(200), |head, (name, value)| head.with(name, value));
    let page = FetchedPage { url: url.as_url(), head: &head, body, cut: false, product_token: "lohisoftbot" };
    let extracted = extract(page, &mut || true);
    let stored = PageRecord::of_extracted(&extracted, &url, &head, 1, Timestamp::from_secs(1_800_000_000));
    (extracted, stored)
}

fn read(html: &str) -> (ExtractedPage, StoredPage) {
    read_answer(&[("content-type", "text/html; charset=utf-8")], html.as_bytes())
}

#[track_caller]
fn check_title(report: &str, html: &str, wanted: Option<&str>) {
    assert_eq!(read(html).1.record.title.as_deref(), wanted, "{report}: {html}");
}

#[test]
fn the_title_is_the_first_of_the_page_itself() {
    check_title("defunkt/jquery-pjax#616", "<title>First</title><p>x<title>Last</title>", Some("First"));
    check_title(
        "progval/Limnoria#1147",
        "<svg><title>a</title></svg><title>P</title><svg><title>b</title></svg>",
        Some("P"),
    );
    check_title("commoncrawl/ia-web-commons#36", "<body><svg><title>icon</title></svg><p><title>T</title>", Some("T"));
    check_title("elizaOS/eliza#28471", "<title>&nbsp;</title><p>x", None);
}

#[track_caller]
fn check_decoded(
    report: &str,
    content_type: &str,
    declared: &str,
    encoding: &'static encoding_rs::Encoding,
    text: &str,
) {
    let html = format!(
        "<!doctype html>{declared}<title>{text}</title><meta name=description content='{text}'><h1>{text}</h1>"
    );
    let record = read_answer(&[("content-type", content_type)], &encoding.encode(&html).0).1.record;
    assert_eq!(record.title.as_deref(), Some(text), "{report}");
    assert_eq!(record.description.as_deref(), Some(text), "{report}: title and description are decoded alike");
    assert_eq!(record.headings[0].text, text, "{report}");
}

#[test]
fn texts_are_decoded_by_what_is_declared() {
    use encoding_rs::{GBK, ISO_2022_JP, ISO_8859_15, UTF_8, WINDOWS_1251};
    check_decoded("zolrath/obsidian-auto-link-title#133", "text/html", "<meta charset=gbk>", GBK, "图书馆测试");
    check_decoded("vgmdb/tracker#367", "text/html", "<meta charset=ISO-2022-JP>", ISO_2022_JP, "日本語の題名");
    check_decoded("sissbruecker/linkding#148", "text/html", "<meta charset=utf-8>", UTF_8, "Kürbis");
    check_decoded("shaarli/Shaarli#1992", "text/html; charset=iso-8859-15", "", ISO_8859_15, "5 € für Œuvres");
    let cyrillic = "<meta http-equiv=content-type content='text/html; charset=windows-1251'>";
    let header = "text/html; charset=windows-1251";
    check_decoded("apache/stormcrawler#438", header, cyrillic, WINDOWS_1251, "Мир");
}

#[test]
fn a_byte_order_mark_beats_the_header() {
    let body = "\u{feff}<title>Kürbis</title>";
    let record = read_answer(&[("content-type", "text/html; charset=cp1251")], body.as_bytes()).1.record;
    assert_eq!(record.title.as_deref(), Some("Kürbis"), "scrapy/w3lib#189");
}

#[test]
fn the_description_is_the_one_that_the_page_declares() {
    for (report, html) in [
        (
            "jaimeiniesta/metainspector#181",
            "<meta property=og:description content=declared><p><script>var a = 'a long text inside of a script';</script></p>",
        ),
        (
            "microlinkhq/metascraper#282",
            "<div class=description>some div</div><meta property=og:description content=declared>",
        ),
    ] {
        assert_eq!(read(html).1.record.description.as_deref(), Some("declared"), "{report}");
    }
}

#[test]
fn noindex_counts_wherever_it_is_said_and_nowhere_else() {
    for (report, fields, html, noindex) in [
        ("crawler-commons/crawler-commons#566", &[][..], "<meta name='robots'content='noindex'>", true),
        ("cicirello/generate-sitemap#87", &[], "<META NAME=\"ROBOTS\" CONTENT=\"NOINDEX\">", true),
        ("Norconex/crawler#60", &[], "<!-- <meta name=robots content=noindex> -->", false),
        ("sjdirect/abot#20", &[("x-robots-tag", "noindex")], "", true),
        ("spatie/robots-txt#69", &[("x-robots-tag", "noindex"), ("x-robots-tag", "lohisoftbot: nofollow")], "", true),
    ] {
        let directives = read_answer(fields, html.as_bytes()).0.directives;
        assert_eq!(directives.noindex, noindex, "{report}");
        assert_eq!(directives.nofollow, fields.len() == 2, "{report}: both fields count");
    }
}

#[test]
fn an_empty_heading_hides_none() {
    let headings = read("<h1></h1><h2>x</h2>").1.record.headings;
    let found: Vec<_> = headings.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
    assert_eq!(found, [(2, "x")], "adbar/trafilatura#400");
}

#[track_caller]
fn check_links(report: &str, html: &str, wanted: &[&str]) {
    let links = read(html).1.links;
    let found: Vec<&str> = links.iter().map(|link| link.target.as_str()).collect();
    assert_eq!(found, wanted, "{report}: {html}");
}

#[test]
fn links_lead_where_a_browser_would_go() {
    check_links("scrapy/scrapy#838", "<a href=\" http://x.test/\">x</a>", &["http://x.test/"]);
    check_links("scrapy/scrapy#2772", "<a href=\"\nhttp://x.test/\n\">x</a>", &["http://x.test/"]);
    check_links("Norconex/crawler#28", "<a href=\"?&amp;p=2\">x</a>", &["http://h.test/dir/page?&p=2"]);
    check_links("Norconex/crawler#188", "<base href=http://b.test/c/><a href=x>x</a>", &["http://b.test/c/x"]);
    check_links(
        "Norconex/crawler#312",
        "<base href=myself.html><a href=x>x</a><a href='?q'>x</a>",
        &["http://h.test/dir/x", "http://h.test/dir/myself.html?q"],
    );
}

#[test]
fn links_that_no_crawler_may_follow_are_none() {
    check_links("Arachni/arachni#730", "<a href=mailto:x@y.test>x</a>", &[]);
    check_links("marty1885/tlgs#3", "<a href='javascript:f()'>x</a><a href='news:comp.misc'>x</a>", &[]);
    check_links(
        "firecrawl/firecrawl#2591",
        "<a href=https://a:b@host.test/>x</a><a href=https://a@host.test/>x</a>",
        &[],
    );
}

/// Each round follows the link of the page before, as a crawler would: the address stays the same, so the loop is none.
#[test]
fn an_ampersand_is_decoded_once() {
    let page = "<a href=\"?&amp;p=2\">next</a>";
    let (first, again) = (read(page).1.links[0].target.clone(), read(page).1.links[0].target.clone());
    assert_eq!(first, again, "Norconex/crawler#28");
    assert_eq!(PageUrl::parse("?&p=2", Some(&first)).as_ref(), Ok(&first));
}

#[test]
fn quotes_of_a_refresh_are_no_part_of_its_target() {
    for content in ["0;url='http://x.test/'", "0; URL = \"http://x.test/\"", "0;http://x.test/"] {
        let html = format!("<meta http-equiv=refresh content='{}'>", content.replace('\'', "&#39;"));
        let target = read(&html).0.meta_refresh;
        assert_eq!(
            target.as_ref().map(url::Url::as_str),
            Some("http://x.test/"),
            "apache/stormcrawler#1020: {content}"
        );
    }
}

#[test]
fn of_two_canonical_links_the_first_counts_and_the_page_is_kept() {
    let html = "<head><link rel=canonical href=/one><link rel=canonical href=/two><title>t</title></head>";
    let (extracted, stored) = read(html);
    assert!(extracted.directives.allows_storing(Timestamp::from_secs(1_800_000_000)), "codelibs/fess#1440");
    assert_eq!(stored.record.canonical.as_ref().map(PageUrl::as_str), Some("http://h.test/one"), "codelibs/fess#1440");
}

#[test]
fn archives_and_documents_under_a_wrong_type_are_no_pages() {
    for body in [&b"PK\x03\x04\x14\0<title>x</title>"[..], b"%PDF-1.7\n<title>x</title>"] {
        let head = ResponseHead::new(200).with("content-type", "text/html");
        assert!(wants_body(RequestKind::Page, &head), "its type alone does not say so");
        assert!(is_other_format(body), "us/crw#485");
    }
}

#[test]
fn the_body_of_an_archive_is_not_read() {
    let head =
        ResponseHead::new(200).with("content-type", "application/java-archive").with("content-length", "52428800");
    assert!(!wants_body(RequestKind::Page, &head), "yasserg/crawler4j#163");
    let url = PageUrl::parse(AT, None).unwrap();
    assert_eq!(classify(RequestKind::Page, &head, &url, Timestamp::EPOCH), Answer::OtherType, "yasserg/crawler4j#163");
}

#[test]
fn a_bot_protection_is_a_barrier_and_never_a_page() {
    let head = ResponseHead::new(403).with("content-type", "text/html").with("cf-mitigated", "challenge");
    let url = PageUrl::parse(AT, None).unwrap();
    assert!(
        matches!(classify(RequestKind::Page, &head, &url, Timestamp::EPOCH), Answer::Barrier { .. }),
        "linkwarden/linkwarden#961"
    );
    assert!(!wants_body(RequestKind::Page, &head), "linkwarden/linkwarden#961");
}
