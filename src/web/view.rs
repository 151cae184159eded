//! What the templates show: everything is a ready text, and the addresses of our own pages are made here alone.

use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use lohisoftbot_core::search::{MAX_LINKING_SITES_NAMED, SearchField, SearchResult, Why};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;
use url::form_urlencoded;

use super::dispatch::Asked;
use super::language::PageLanguage;
use super::static_files::{ICON_PATH, STYLE_PATH};
use super::text::{
    MAX_ADDRESS_CHARS, MAX_PHRASE_CHARS, MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, Piece, shown, shown_pieces,
};
use super::words::{self, number, plural};

/// A link to one of our own pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) href: String,
    pub(super) text: String,
}

/// One language of the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LanguageChoice {
    pub(super) tag: &'static str,
    pub(super) name: String,
    pub(super) href: String,
    pub(super) is_current: bool,
}

/// What stands around every page.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) language: PageLanguage,
    /// The language that the address asks for; links keep it.
    pub(super) chosen: Option<PageLanguage>,
    pub(super) title: String,
    /// What stands in the search field.
    pub(super) typed: String,
    /// The site that the search is about.
    pub(super) site: Option<String>,
    pub(super) languages: Vec<LanguageChoice>,
}

impl Frame {
    /// Around a page that has no search.
    pub(super) fn plain(asked: &Asked, title: String) -> Self {
        Self::new(asked, title, "/", &[])
    }

    /// Around a page of results, of which `page` is shown.
    pub(super) fn search(asked: &Asked, title: String, typed: &str, site: Option<&str>, page: u32) -> Self {
        let mut frame = Self::new(asked, title, "/search", &search_pairs(typed, site, page));
        frame.typed = typed.to_owned();
        frame.site = site.map(str::to_owned);
        frame
    }

    fn new(asked: &Asked, title: String, path: &str, pairs: &[(&str, String)]) -> Self {
        let languages = PageLanguage::ALL.map(|language| LanguageChoice {
            tag: language.tag(),
            name: words::say(language, "language-name"),
            href: own_href(path, pairs, Some(language)),
            is_current: language == asked.language,
        });
        Self {
            language: asked.language,
            chosen: asked.chosen,
            title,
            typed: String::new(),
            site: None,
            languages: languages.into(),
        }
    }

    pub(super) fn say(&self, key: &str) -> String {
        words::say(self.language, key)
    }

    pub(super) fn style_path(&self) -> &'static str {
        &STYLE_PATH
    }

    pub(super) fn icon_path(&self) -> &'static str {
        &ICON_PATH
    }

    pub(super) fn home_href(&self) -> String {
        own_href("/", &[], self.chosen)
    }

    pub(super) fn opensearch_href(&self) -> String {
        own_href("/opensearch.xml", &[], self.chosen)
    }

    /// The page that describes the bot has an address a language.
    pub(super) fn bot_href(&self) -> &'static str {
        match self.language {
            PageLanguage::English => "/bot",
            PageLanguage::Romanian => "/bot/ro",
        }
    }

    /// Its part that says how a site is taken out.
    pub(super) fn remove_href(&self) -> String {
        format!("{}#remove", self.bot_href())
    }

    pub(super) fn search_href(&self, typed: &str, site: Option<&str>, page: u32) -> String {
        own_href("/search", &search_pairs(typed, site, page), self.chosen)
    }
}

fn search_pairs(typed: &str, site: Option<&str>, page: u32) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("q", typed.to_owned())];
    pairs.extend(site.map(|site| ("site", site.to_owned())));
    pairs.extend((page > 1).then(|| ("page", page.to_string())));
    pairs
}

fn own_href(path: &str, pairs: &[(&str, String)], language: Option<PageLanguage>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    query.extend_pairs(language.map(|language| ("lang", language.tag())));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// A result as it is shown.
#[derive(Clone, Debug)]
pub(super) struct ResultView {
    pub(super) href: String,
    /// Never empty: a page without a title is called by its address.
    pub(super) title: Vec<Piece>,
    pub(super) plain_title: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) site: String,
    pub(super) snippet: Vec<Piece>,
    pub(super) language_tag: Option<String>,
    pub(super) language_name: Option<String>,
    pub(super) seen_day: String,
    pub(super) seen: String,
    pub(super) more: Option<Link>,
    pub(super) fields: Vec<String>,
    pub(super) links: Option<String>,
    pub(super) linking_sites: Vec<String>,
}

impl ResultView {
    /// None where its address is not one of the web: such a link is never shown.
    pub(super) fn of(result: &SearchResult, frame: &Frame) -> Option<Self> {
        let language = frame.language;
        let href = web_href(&result.url)?;
        let host = shown(result.url.host(), MAX_ADDRESS_CHARS);
        let path = shown_path(&result.url);
        let mut title = shown_pieces(&result.title, MAX_TITLE_CHARS);
        if title.is_empty() {
            title.push(Piece { text: format!("{host} {path}").trim().to_owned(), is_match: false });
        }
        let language_tag = result.language.as_deref().and_then(language_tag);
        let (seen_day, date) = day(language, result.last_seen);
        let site = shown(result.site.as_str(), MAX_ADDRESS_CHARS);
        let more = (frame.site.is_none() && result.num_more_from_site > 0).then(|| Link {
            href: frame.search_href(&frame.typed, Some(result.site.as_str()), 1),
            text: counted(language, "more-from-site", result.num_more_from_site, &site),
        });
        Some(Self {
            href,
            plain_title: title.iter().map(|piece| piece.text.as_str()).collect(),
            title,
            host,
            path,
            snippet: shown_pieces(&result.snippet, MAX_SNIPPET_CHARS),
            language_name: language_tag.as_deref().map(|tag| language_name(language, tag)),
            language_tag,
            seen_day,
            seen: words::say_with(language, "seen", &[("date", date.into())]),
            more,
            fields: result.why.fields.iter().map(|field| field_name(language, *field)).collect(),
            links: linked_by(language, &result.why),
            linking_sites: linking_sites(&result.why),
            site,
        })
    }
}

fn linked_by(language: PageLanguage, why: &Why) -> Option<String> {
    (why.num_linking_sites > 0).then(|| counted(language, "why-links", why.num_linking_sites, ""))
}

fn linking_sites(why: &Why) -> Vec<String> {
    why.linking_sites.iter().take(MAX_LINKING_SITES_NAMED).map(|site| shown(site.as_str(), MAX_ADDRESS_CHARS)).collect()
}

fn counted(language: PageLanguage, key: &str, count: u64, site: &str) -> String {
    let values =
        [("count", plural(language, count).into()), ("shown", number(language, count).into()), ("site", site.into())];
    words::say_with(language, key, &values)
}

fn field_name(language: PageLanguage, field: SearchField) -> String {
    let key = match field {
        SearchField::Title => "field-title",
        SearchField::Description => "field-description",
        SearchField::Headings => "field-headings",
        SearchField::Anchors => "field-anchors",
        SearchField::UrlWords => "field-url-words",
        SearchField::Site => "field-site",
    };
    words::say(language, key)
}

/// The address as it is, if a browser opens it as a page: `PageUrl` holds no other, and a link is worth a second look.
fn web_href(url: &PageUrl) -> Option<String> {
    let is_web = matches!(url.as_url().scheme(), "http" | "https");
    is_web.then(|| url.as_str().to_owned())
}

/// The path as people read it: ` › docs › Über uns`.
fn shown_path(url: &PageUrl) -> String {
    let path: String = url
        .as_url()
        .path()
        .split('/')
        .filter(|part| !part.is_empty())
        .fold(String::new(), |path, part| path + "› " + &decoded(part) + " ");
    shown(&path, MAX_ADDRESS_CHARS)
}

/// The text behind its percent-encoding, where that is text (RFC 3986 §2.1).
fn decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8(plain).unwrap_or_else(|_| part.to_owned())
}

/// The tag, if it is one that may stand in a `lang` attribute (RFC 5646 §2.1).
fn language_tag(tag: &str) -> Option<String> {
    let primary = tag.split('-').next().unwrap_or(tag);
    let is_tag = tag.len() <= 35
        && (2..=3).contains(&primary.len())
        && primary.bytes().all(|b| b.is_ascii_alphabetic())
        && tag.split('-').all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()));
    is_tag.then(|| tag.to_ascii_lowercase())
}

fn language_name(language: PageLanguage, tag: &str) -> String {
    let primary = tag.split('-').next().unwrap_or(tag).to_owned();
    words::say_with(language, "language-of-page", &[("code", primary.into())])
}

/// The day in UTC, for machines and as it is said.
fn day(language: PageLanguage, at: Timestamp) -> (String, String) {
    let day = at.to_string().split('T').next().unwrap_or_default().to_owned();
    let mut parts = day.split('-').map(|part| part.parse::<u64>().unwrap_or_default());
    let (year, month, of_month) = (parts.next(), parts.next(), parts.next());
    let said = words::say_with(
        language,
        "date",
        &[
            ("day", of_month.unwrap_or_default().to_string().into()),
            ("month", month.unwrap_or_default().into()),
            ("year", year.unwrap_or_default().to_string().into()),
        ],
    );
    (day, said)
}

/// A stranger's phrase for a sentence of ours.
pub(super) fn phrase(text: &str) -> String {
    shown(text, MAX_PHRASE_CHARS)
}

/// The page as an answer.
pub(super) fn html(response: &mut HttpResponseBuilder, page: &impl Template) -> HttpResponse {
    let text = page.render().expect("the values of a page are plain texts, and writing to a string does not fail");
    response.insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_shown_as_people_read_it() {
        for (url, wanted) in [
            ("https://a.test/", ""),
            ("https://a.test/docs/a.html?x=1", "› docs › a.html"),
            ("https://a.test/despre/%C8%99tiri", "› despre › știri"),
            ("https://a.test/%FF/%4", "› %FF › %4"),
            ("https://a.test/%E2%80%AEmoc.live", "› moc.live"),
            ("https://a.test/a%0Ab", "› a b"),
        ] {
            assert_eq!(shown_path(&PageUrl::parse(url, None).unwrap()), wanted, "{url}");
        }
    }

    #[test]
    fn only_tags_of_languages_reach_an_attribute() {
        for tag in ["ro", "en-GB", "zh-Hans-CN", "gsw"] {
            assert_eq!(language_tag(tag), Some(tag.to_ascii_lowercase()));
        }
        for tag in ["", "r", "english", "en-", "en--gb", "en\"", "e1", "ro onclick", &"en-aaaaaaaa".repeat(4)] {
            assert_eq!(language_tag(tag), None, "{tag}");
        }
    }

    #[test]
    fn day_is_said_in_words_and_for_machines() {
        let at = Timestamp::from_millis(1_796_058_309_123);
        assert_eq!(day(PageLanguage::English, at), ("2026-11-30".to_owned(), "30 November 2026".to_owned()));
        assert_eq!(day(PageLanguage::Romanian, at).1, "30 noiembrie 2026");
    }

    #[test]
    fn language_is_named_in_the_language_of_the_page() {
        assert_eq!(language_name(PageLanguage::English, "ro-md"), "Romanian");
        assert_eq!(language_name(PageLanguage::Romanian, "de"), "germană");
        assert_eq!(language_name(PageLanguage::Romanian, "tlh"), "tlh");
    }
}
