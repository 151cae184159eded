//! The search page before an index of a few made-up pages, to look at: `cargo run --example search_page -- 127.0.0.1:8080`.
//!
//! `farm` finds pages, `festvial` is misspelt, `evil` finds a hostile title, `many` fills pages, `asleep` finds the index unavailable,
//! and everything else finds nothing.

use std::sync::Arc;

use anyhow::Context;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use lohisoftbot::web::{PublicSite, SearchUnavailable, Searcher};
use lohisoftbot_core::config::WebSettings;
use lohisoftbot_core::search::{MarkedText, SearchAnswer, SearchField, SearchResult, Why};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

fn main() -> anyhow::Result<()> {
    let listen = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let settings = WebSettings { listen: listen.parse()?, requests_per_minute: 6000, ..WebSettings::default() };
    actix_rt::System::new().block_on(async {
        let bound = PublicSite::bind(&settings, "https://bot.example/about", Arc::new(MadeUp))?
            .context("an address is needed, not \"off\"")?;
        println!("{}", bound.url());
        Ok(bound.serve().await?)
    })
}

struct MadeUp;

impl Searcher for MadeUp {
    fn search(
        &self,
        typed: String,
        site: Option<String>,
        offset: u32,
        limit: u32,
    ) -> LocalBoxFuture<'_, Result<SearchAnswer, SearchUnavailable>> {
        async move { answer(&typed, site.as_deref(), offset, limit) }.boxed_local()
    }

    fn suggest(&self, prefix: String, limit: u32) -> LocalBoxFuture<'_, Result<Vec<String>, SearchUnavailable>> {
        let all = ["farm", "farm shop", "festival"].map(str::to_owned);
        let found = all.into_iter().filter(|word| word.starts_with(&prefix)).take(limit as usize).collect();
        async move { Ok(found) }.boxed_local()
    }
}

fn answer(typed: &str, site: Option<&str>, offset: u32, limit: u32) -> Result<SearchAnswer, SearchUnavailable> {
    let pages = match typed {
        "asleep" => return Err(SearchUnavailable::Starting),
        "festvial" => return Ok(SearchAnswer { correction: Some("festival".to_owned()), ..SearchAnswer::default() }),
        "farm" => farm(),
        "evil" => evil(),
        "many" => (1..=57)
            .map(|number| {
                page(&format!("https://many.test/{number}"), &format!("Page *{number}*"), "One of *many*", "en")
            })
            .collect(),
        _ => Vec::new(),
    };
    let pages: Vec<SearchResult> =
        pages.into_iter().filter(|page| site.is_none_or(|site| page.site.as_str() == site)).collect();
    let num_results = pages.len() as u64;
    let results: Vec<_> = pages.into_iter().skip(offset as usize).take(limit as usize).collect();
    let has_more = num_results > u64::from(offset) + results.len() as u64;
    let passed_over =
        if typed == "farm" { vec!["a minus sign alone stands for nothing".to_owned()] } else { Vec::new() };
    Ok(SearchAnswer { results, num_results, has_more, correction: None, passed_over })
}

fn farm() -> Vec<SearchResult> {
    vec![
        page(
            "https://www.bluefield.test/",
            "Bluefield *Farm*: vegetables from the hill",
            "The *farm* above the river sells what it grows, from April to November. Come and pick your own.",
            "en",
        ),
        page(
            "https://www.bluefield.test/shop/boxes.html?week=49",
            "Boxes of the week",
            "What the *farm* has this week",
            "en",
        ),
        page(
            "https://ferma-din-deal.test/despre-noi/%C8%99coala",
            "Școala *fermei*",
            "Copiii învață la *fermă* cum crește ceea ce mâncăm.",
            "ro",
        ),
        page("http://hof.test/", "*Farm* auf Deutsch: Hofladen", "", "de"),
        page("https://xn--mgbh0fb.test/", "مزرعة *farm* في الوادي", "نبيع ما نزرع", "ar"),
    ]
}

fn evil() -> Vec<SearchResult> {
    vec![
        page(
            "https://evil.test/",
            "</a><script>document.body.remove()</script><img src=x onerror=alert(1)>",
            "<b>*bold*</b> & \"quoted\"",
            "en",
        ),
        page("https://evil.test/turned", "\u{202e}txt.exe *fdp.ecioVni*", "\u{2067}\u{200f}back and forth", "he"),
        page("https://evil.test/long", &"long ".repeat(2000), &"x".repeat(10_000), "en"),
    ]
}

/// A page; what stands between asterisks is what was looked for.
fn page(url: &str, title: &str, snippet: &str, language: &str) -> SearchResult {
    let url = PageUrl::parse(url, None).expect("the addresses above are addresses");
    let marked = |text: &str| {
        let piece = |(at, text): (usize, &str)| MarkedText { text: text.to_owned(), is_match: at % 2 == 1 };
        text.split('*').enumerate().map(piece).collect()
    };
    SearchResult {
        site: url.site(),
        url,
        title: marked(title),
        snippet: marked(snippet),
        language: Some(language.to_owned()),
        last_seen: Timestamp::from_secs(1_796_058_309),
        num_more_from_site: 2,
        why: Why {
            fields: vec![SearchField::Title, SearchField::Anchors, SearchField::UrlWords],
            linking_sites: ["market.test", "village.test"].map(Site::of_host).into(),
            num_linking_sites: 21,
        },
    }
}
