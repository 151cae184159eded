//! What is a barrier and what only looks like one.

mod heads;
mod look_alikes;
mod pages;
mod table;

use super::BarrierKind;
use crate::extract::{ExtractedPage, FetchedPage, extract};
use crate::response::ResponseHead;

/// What is read off a page at this address.
fn read_at(url: &str, html: &str) -> ExtractedPage {
    let url = ::url::Url::parse(url).unwrap();
    let head = ResponseHead::new(200).with("content-type", "text/html; charset=utf-8");
    let page = FetchedPage { url: &url, head: &head, body: html.as_bytes(), cut: false, product_token: "lohisoftbot" };
    extract(page, &mut || true)
}

#[track_caller]
fn check(html: &str, wanted: Option<BarrierKind>) {
    check_at("https://site.example/news/page.html", html, wanted);
}

#[track_caller]
fn check_at(url: &str, html: &str, wanted: Option<BarrierKind>) {
    assert_eq!(read_at(url, html).barrier, wanted, "{url} {html}");
}

/// A few hundred words of text, as an article has them.
fn article() -> String {
    let sentence = "The mill by the river was built twice, since the first one burnt down before the harvest was in. ";
    format!("<p>{}</p>\n", sentence.repeat(4)).repeat(12)
}
