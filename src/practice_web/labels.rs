//! What the generator knows about its own URLs: what may be asked, what comes back, what of it may be kept.
//!
//! Labels are written down while the site is planned, beside the robots.txt that says the same to a robot. Nothing here reads a
//! robots.txt, so the node's rules and these labels can only agree if both are right.

use serde::{Deserialize, Serialize};

use super::faults::{PageFault, RobotsKind, TrapKind};

/// Whether a URL may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// It may.
    Allowed,
    /// It may not, for this reason.
    Forbidden(ForbiddenBy),
}

/// Why a URL may not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ForbiddenBy {
    /// A rule of the site's robots.txt.
    RobotsRule,
    /// The robots.txt cannot be had, or asks for a login: nothing of the site may be asked.
    ClosedSite,
    /// Every link to it says nofollow.
    Nofollow,
    /// The URL is longer than 2,048 bytes.
    TooLong,
    /// Only a barrier leads to it.
    Barrier,
    /// It is only known as the target of another site's robots.txt redirect.
    ForeignHop,
}

/// Which budget a request falls under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestKind {
    /// robots.txt or a hop of it.
    Robots,
    /// Anything else.
    Page,
}

/// Whether a record of the URL may be in the store after a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Storage {
    /// If it was asked and answered, its record is stored.
    Stored,
    /// It is never stored.
    NotStored,
    /// Both can be defended.
    Either,
}

/// What kind of answer a URL gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnswerKind {
    /// The site's robots.txt, or a hop of it.
    Robots(RobotsKind),
    /// 200 with an HTML page.
    Page,
    /// An HTML page whose body asks extraction to panic.
    PanicPage,
    /// A page with a fault.
    Fault(PageFault),
    /// A step of a redirect chain.
    ChainHop,
    /// A login form.
    LoginForm,
    /// A file of the site's sitemap.
    Sitemap,
    /// A page of a trap: HTML like any other, and of no use.
    Trap(TrapKind),
}

/// All that is known about one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLabel {
    /// The site, a registrable name.
    pub site: String,
    /// The URL, with its port.
    pub url: String,
    /// Path and query, as they are asked.
    pub path: String,
    /// Whether it may be asked.
    pub permission: Permission,
    /// Which budget it falls under.
    pub request_kind: RequestKind,
    /// What comes back.
    pub answer: AnswerKind,
    /// Whether it may be kept.
    pub storage: Storage,
    /// The title with its whitespace collapsed; `None` where there is none, or where the charset is a guess.
    pub title: Option<String>,
    /// The meta description, likewise.
    pub description: Option<String>,
    /// h1 to h3 with their level, in order; empty where the charset is a guess.
    pub headings: Vec<(u8, String)>,
    /// The language of the html element.
    pub lang: Option<String>,
}
