//! A mebibyte of what costs a parser far more than its size: counted in questions to a budget that never says no, in elements of the tree,
//! and in bytes of what is kept. `cargo xtask bombs` shows the time.

use ::url::Url;

use super::meter::{MAX_TREE_UNITS, Meter};
use super::*;
use crate::response::ResponseHead;

const MIB: usize = 1 << 20;
/// Questions that reading a mebibyte may cost. A page of bare links costs some 2,000 and one of `<` alone 4,400; headings in headings cost
/// all that the walk may, which is 16,384.
const MAX_QUESTIONS_A_MIB: usize = 17_500;
/// Bytes of text and URLs that may be kept of it.
const MAX_KEPT_BYTES: usize = 9 << 20;

/// `start` and then the pieces for 0, 1, 2 and so on.
fn mebibyte(start: &str, piece: impl Fn(usize) -> String) -> String {
    let mut html = start.to_owned();
    let mut number = 0;
    while html.len() < MIB {
        html.push_str(&piece(number));
        number += 1;
    }
    html
}

#[track_caller]
fn check(start: &str, piece: impl Fn(usize) -> String) -> ExtractedPage {
    let html = mebibyte(&format!("<title>Before</title>{start}"), piece);
    let name: String = html.chars().skip(22).take(60).collect();

    let mut always = || true;
    let tree = tree::build(&html, &mut Meter::new(&mut always));
    let num_nodes = tree.document.inclusive_descendants().count();
    // A node takes two units, one with text alone none: and text joins text, so that there is an element between two.
    assert!(num_nodes <= MAX_TREE_UNITS, "{name}: {num_nodes} nodes");

    let url = Url::parse("https://site.example/dir/page.html").unwrap();
    let head = ResponseHead::new(200).with("Content-Type", "text/html; charset=utf-8");
    let body = html.as_bytes();
    let mut num_questions = 0;
    let page = extract(FetchedPage { url: &url, head: &head, body, cut: false, product_token: "x" }, &mut || {
        num_questions += 1;
        true
    });
    assert!(num_questions <= MAX_QUESTIONS_A_MIB, "{name}: {num_questions} questions");
    let texts = page.headings.iter().map(|heading| heading.text.len());
    let links = page.links.iter().map(|link| link.url.as_str().len() + link.text.len());
    let num_bytes: usize = texts.chain(links).sum();
    assert!(num_bytes <= MAX_KEPT_BYTES, "{name}: {num_bytes} bytes");
    assert_eq!(page.title.as_deref(), Some("Before"), "{name}");
    page
}

#[track_caller]
fn check_same(start: &str, repeated: &str) -> ExtractedPage {
    check(start, |_| repeated.to_owned())
}

#[test]
fn nested_elements_end_where_looking_through_them_is_too_much() {
    for repeated in ["<div>", "<ul><li>", "<blockquote>x", "<h1>deep<div>", "<a href=/x>deep<object>", "<table><td>x"] {
        assert!(check_same("", repeated).cut, "{repeated}");
    }
    assert!(check_same("", "<svg><desc>").cut);
    check_same("<select>", "<option>");
    check_same("", "<button>");
}

#[test]
fn nested_templates_are_no_depth() {
    assert!(check_same("", "<template>").cut);
    assert!(check_same("", "<template><table><template>x").cut);
    check_same("", "<template shadowrootmode=open>");
    check_same("", "<p><template shadowrootmode=open><template>x");
}

#[test]
fn attributes_of_one_tag_end_it_and_those_of_many_cost_their_length() {
    assert!(check("<p", |n| format!(" a{n}")).cut);
    assert!(check("<p", |n| format!("/a{n}=''")).cut);
    assert!(check("<p a=b\"c", |n| format!(" a{n}=\"x\"")).cut);
    assert!(!check_same("", "<p a b c d e f g h i j k l m n o p q r s t u v w x y z>").cut);
    assert!(!check_same("<p title='", "some words ").cut);
}

#[test]
fn attributes_are_counted_whatever_stands_before_their_tag() {
    for start in [
        "<!-- <p x=\" --><p",
        "<!-- <p x=\" --><!-- > <p y=' --><p",
        "<script>s = '<p x=\\\"';</script><p",
        "<script><!-- <p x=\" </script><p",
        "<script></scr</script",
        "<style>p { content: '<p x=\"' }</style><p",
        "<title><p x=\"</title><p",
        "<title>never closed</title",
        "<textarea><p x='</textarea><p",
        "<noscript><p x='</noscript><p",
        "<svg><![CDATA[<p x=\" ]]><p",
        "<svg><![CDATA[]]><p",
        "<svg><![CDATA[\0<p x=\" ]]><p",
        "<svg><title><p x=' </title>'><p",
        "<![CDATA[ <p x=\" ><p",
        "<!doctype x '<p x=\"'><p",
        "<? <p x=\" ><p",
        "</ <p x=\" ><p",
        "</><p",
        "<<p",
        "&am<p",
        "&lt<p",
        "<p x=\"<p\"><p",
    ] {
        for filler in [0, 1000, 4000, 5000] {
            let start = format!("{}{start}", "x".repeat(filler));
            assert!(check(&start, |n| format!(" a{n}")).cut, "{start}");
        }
    }
}

#[test]
fn attributes_of_tags_within_a_chunk_are_charged_together() {
    let tag: String = (0..700).map(|n| format!(" a{n}")).collect();
    assert!(check_same("", &format!("<p{tag}>")).cut);
    assert!(check_same("", &format!("</p{tag}>")).cut);
}

#[test]
fn what_looks_like_attributes_in_comments_scripts_and_titles_costs_its_length() {
    for start in
        ["<!-- <p x", "<!-- ", "<script>if (a<b", "<style><p", "<title><p", "<svg><![CDATA[<p", "<?x", "<![CDATA["]
    {
        assert!(!check_same(start, " some words").cut, "{start}");
    }
}

#[test]
fn open_formatting_tags_are_not_multiplied() {
    check("<p>", |n| format!("<b a={n}>"));
    check("<p>", |n| format!("<font color={n} face={n} size={n} x{n}>"));
    check("<p>", |n| if n < 4000 { format!("<b a={n}>") } else { "<p>x".to_owned() });
    check("<p>", |n| if n < 4000 { format!("<i title={n}><tt lang={n}>") } else { "<p>x".to_owned() });
    check_same("", "<a><b><i><u><p></a></b></i></u>");
    check_same("", "<a href=/x><p>x</a>");
    check_same("", "<nobr><p>");
}

#[test]
fn links_entities_and_stray_marks_cost_their_length() {
    assert_eq!(check("", |n| format!("<a href=/{n}>x</a>")).links.len(), 1 << 15);
    for repeated in ["&amp;", "&notit", "<", "</p>", "<!---->", "\0", "</", "<!x>", "<?x>", "x<tr>", "<br>"] {
        check_same("", repeated);
    }
    check_same("<table>", "x<tr>");
}
