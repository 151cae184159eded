//! Files that do not change while the node runs: style sheet, icon, the description for browsers, robots.txt and the OpenAPI document.
//!
//! Style sheet and icon have the checksum of what they hold in their name, so that a browser may keep them for good.

use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::dispatch::Asked;
use super::view::Frame;

const STYLE: &str = include_str!("../../templates/style.css");
const ICON: &str = include_str!("../../templates/icon.svg");
const OPENAPI: &str = include_str!("openapi.json");

/// Other crawlers are asked not to walk through pages of results, which never end.
const ROBOTS: &str = "User-agent: *\nDisallow: /search\nDisallow: /api/\n";

const FOR_GOOD: &str = "public, max-age=31536000, immutable";
const FOR_AN_HOUR: &str = "public, max-age=3600";

/// Where the style sheet lies.
pub(super) static STYLE_PATH: LazyLock<String> = LazyLock::new(|| format!("/static/style-{}.css", checksum(STYLE)));
/// Where the icon lies.
pub(super) static ICON_PATH: LazyLock<String> = LazyLock::new(|| format!("/static/icon-{}.svg", checksum(ICON)));

fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// The style sheet.
pub(super) fn style(request: &HttpRequest) -> HttpResponse {
    file(request, STYLE, "text/css; charset=utf-8", FOR_GOOD)
}

/// The icon.
pub(super) fn icon(request: &HttpRequest) -> HttpResponse {
    file(request, ICON, "image/svg+xml", FOR_GOOD)
}

/// robots.txt.
pub(super) fn robots(request: &HttpRequest) -> HttpResponse {
    file(request, ROBOTS, "text/plain; charset=utf-8", FOR_AN_HOUR)
}

/// The OpenAPI document of the API.
pub(super) fn openapi(request: &HttpRequest) -> HttpResponse {
    file(request, OPENAPI, "application/json", FOR_AN_HOUR)
}

/// The description by which a browser takes this search up (OpenSearch 1.1).
pub(super) fn opensearch(request: &HttpRequest, asked: &Asked) -> HttpResponse {
    let frame = Frame::plain(asked, String::new());
    let text = OpenSearch { frame, origin: asked.origin.clone() }.render().expect("its values are plain texts");
    let mut response = file(request, &text, "application/opensearchdescription+xml; charset=utf-8", FOR_AN_HOUR);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-language, host"));
    response
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch {
    frame: Frame,
    origin: String,
}

/// The text, or 304 where the browser has it (RFC 9110 §13.1.2).
fn file(request: &HttpRequest, text: &str, kind: &'static str, kept: &'static str) -> HttpResponse {
    let tag = format!("\"{}\"", checksum(text));
    let known = request.headers().get_all("if-none-match").filter_map(|line| line.to_str().ok());
    let is_known = known
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag);
    let mut response = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((ETAG, tag)).insert_header((CACHE_CONTROL, kept));
    if is_known {
        return response.finish();
    }
    response.insert_header((CONTENT_TYPE, kind)).insert_header((HeaderName::from_static("x-robots-tag"), "noindex"));
    response.body(text.to_owned())
}
