//! Sites to choose pages of, without a network: Debian's documentation out of its folders, and sites of the practice web.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use lohisoftbot::practice_web::answers::{self, PageAsked};
use lohisoftbot::practice_web::freshness::Epoch;
use lohisoftbot::practice_web::labels::RequestKind;
use lohisoftbot::practice_web::page::{CharsetNote, render};
use lohisoftbot::practice_web::robots_files::{self, RobotsAsked};
use lohisoftbot::practice_web::script::{Answer, Step};
use lohisoftbot::practice_web::site_plan::{PageHost, Ports, PracticeSites, SitePlan};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::url::PageUrl;
use serde::Deserialize;

/// The usual ports, so that no URL needs to name one.
const PORTS: Ports = Ports { http: 80, https: 443 };
/// When the practice web answers: its dates are in the answers.
const ANSWERED_AT: Duration = Duration::from_secs(1_800_000_000);

/// A site that answers.
pub trait Served {
    /// What to call it.
    fn name(&self) -> String;
    /// Where its crawl starts.
    fn seed(&self) -> anyhow::Result<PageUrl>;
    /// The answer to a URL of it that was asked so many times before; none where it fails to answer.
    fn answer(&self, url: &PageUrl, num_before: usize) -> Option<(ResponseHead, Vec<u8>)>;
}

/// A folder of pages, served as the real-sites routine lets nginx serve it.
#[derive(Clone, Debug, Deserialize)]
pub struct DocFolder {
    /// The site's name.
    pub host: String,
    /// The folder of its pages.
    pub root: PathBuf,
    /// A folder whose robots.txt is served, if there is one, and whose home page goes before the folder's own.
    pub overlay: PathBuf,
}

impl DocFolder {
    /// What lies at a path, with its media type. A folder without its slash is redirected to, and has no file here.
    fn file_of(&self, path: &str) -> Option<(PathBuf, &'static str)> {
        let relative = path.trim_start_matches('/');
        let overlaid = match path {
            "/" => Some(self.overlay.join("index.html")).filter(|file| file.is_file()),
            "/robots.txt" => return Some((self.overlay.join(relative), "text/plain")),
            _ => None,
        };
        let file = overlaid.unwrap_or_else(|| self.root.join(relative));
        let file = if file.is_dir() && path.ends_with('/') { file.join("index.html") } else { file };
        let ending = file.extension().and_then(|ending| ending.to_str());
        let media_type = match ending {
            Some("html") => "text/html",
            Some("css") => "text/css",
            Some("txt") => "text/plain",
            Some("png") => "image/png",
            Some("svg") => "image/svg+xml",
            Some(_) | None => "application/octet-stream",
        };
        file.is_file().then_some((file, media_type))
    }
}

impl Served for DocFolder {
    fn name(&self) -> String {
        self.host.clone()
    }

    fn seed(&self) -> anyhow::Result<PageUrl> {
        PageUrl::parse(&format!("http://{}/", self.host), None).with_context(|| format!("{} is no host", self.host))
    }

    fn answer(&self, url: &PageUrl, _: usize) -> Option<(ResponseHead, Vec<u8>)> {
        let path = url.as_url().path();
        if url.host() != self.host {
            return None;
        }
        if !path.ends_with('/') && self.root.join(path.trim_start_matches('/')).is_dir() {
            return Some((ResponseHead::new(301).with("Location", format!("{path}/")), Vec::new()));
        }
        match self.file_of(path).and_then(|(file, media_type)| Some((fs::read(file).ok()?, media_type))) {
            Some((bytes, media_type)) => Some((ResponseHead::new(200).with("Content-Type", media_type), bytes)),
            None => Some((ResponseHead::new(404).with("Content-Type", "text/html"), Vec::new())),
        }
    }
}

/// One site of a practice web.
pub struct PracticeSite<'a> {
    pub sites: &'a PracticeSites,
    pub site: &'a SitePlan,
}

impl Served for PracticeSite<'_> {
    fn name(&self) -> String {
        self.site.name.clone()
    }

    fn seed(&self) -> anyhow::Result<PageUrl> {
        let raw = format!("{}/", self.site.origin(PageHost::Main, PORTS));
        PageUrl::parse(&raw, None).with_context(|| raw.clone())
    }

    fn answer(&self, url: &PageUrl, num_before: usize) -> Option<(ResponseHead, Vec<u8>)> {
        let Self { sites, site } = *self;
        let (path, now) = (url.path_and_query(), SystemTime::UNIX_EPOCH + ANSWERED_AT);
        let ours = [PageHost::Main, PageHost::Docs].map(|host| site.host(host));
        if !ours.iter().any(|host| host == url.host()) {
            return None;
        }
        let (answer, page) = match (site.request_kind(path), site.page(path)) {
            (RequestKind::Robots, _) => {
                (robots_files::answer(&RobotsAsked { sites, site, path, num_before, ports: PORTS, now }), None)
            }
            (RequestKind::Page, Some(page)) => {
                let asked = PageAsked {
                    sites,
                    site,
                    page,
                    num_before,
                    epoch: Epoch::First,
                    if_none_match: None,
                    if_modified_since: None,
                    ports: PORTS,
                    now,
                };
                (answers::answer(&asked), Some(page))
            }
            (RequestKind::Page, None) => (answers::not_found(now), None),
        };
        let (head, body) = read(&answer)?;
        // How a body is coded is no question of choice: pages are given as they were before it.
        let is_html = head.first("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        match page.filter(|page| is_html && head.status == 200 && !page.title.is_empty()) {
            Some(page) => {
                let html = render(sites, site, page, PORTS, CharsetNote::Meta("utf-8"));
                let mut plain = ResponseHead::new(200).with("Content-Type", "text/html; charset=utf-8");
                for name in ["x-robots-tag", "robots-tag", "content-usage"] {
                    head.all(name).for_each(|value| plain.push(name, value));
                }
                Some((plain, html.into_bytes()))
            }
            None => Some((head, body)),
        }
    }
}

/// Head and body of an answer; none where it never comes to a whole head.
fn read(answer: &Answer) -> Option<(ResponseHead, Vec<u8>)> {
    let status = answer.status?;
    let mut bytes = Vec::new();
    for step in &answer.steps {
        match step {
            Step::Send(more) if more.starts_with(b"HTTP/1.1 1") => {}
            Step::Send(more) => bytes.extend_from_slice(more),
            Step::Pause(_) => {}
            Step::Endless(more, _) => bytes.extend_from_slice(more),
            Step::Stall | Step::Reset => return None,
        }
    }
    let mut fields = [httparse::EMPTY_HEADER; 300];
    let mut parsed = httparse::Response::new(&mut fields);
    // A head that a strict reader refuses still has its status; its fields say nothing about the choice.
    let length = match parsed.parse(&bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) | Err(_) => return Some((ResponseHead::new(status), Vec::new())),
    };
    let mut head = ResponseHead::new(status);
    parsed.headers.iter().for_each(|field| head.push(field.name, field.value));
    Some((head, bytes.split_off(length)))
}
