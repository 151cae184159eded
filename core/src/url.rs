//! URLs the crawler may ask for, in their one canonical form.
//!
//! [`canonical`] says what that form is. [`PageUrl`] is narrower: it is a canonical URL that this crawler can and may ask for. What it
//! deliberately does not do: it makes no decision by robots.txt, exclusion or address; those are asked about a `PageUrl`.
//!
//! Invariants: a `PageUrl` is http or https, has a DNS name or an IPv4 address as its host, carries no fragment and no user info, is
//! ASCII, at most [`MAX_URL_BYTES`] long, and canonicalising it again changes nothing.

mod canonical;
mod parameters;
#[cfg(test)]
mod tests;
mod userinfo;

use std::fmt;

use ::url::{Host, Position, Url};
use serde::{Deserialize, Serialize};

pub use self::canonical::{canonical, canonicalize, resolve};
pub use self::userinfo::without_userinfo;
use crate::origin::{Origin, Scheme};
use crate::site::Site;

/// Longest URL that is asked for or stored, in bytes.
pub const MAX_URL_BYTES: usize = 2048;
/// Longest text that is looked at as a URL, in bytes: room for white space and parameters that the canonical form drops.
pub const MAX_RAW_URL_BYTES: usize = 16 * 1024;
/// Longest DNS name, in bytes (RFC 1035 §2.3.4, without the root's dot).
const MAX_HOST_BYTES: usize = 253;
/// Longest label of a DNS name, in bytes (RFC 1035 §2.3.4).
const MAX_LABEL_BYTES: usize = 63;

/// A URL in canonical crawl form: http or https, a name or IPv4 host, no fragment, no user info.
///
/// Only a `PageUrl` can be fetched or queued; it can be built through [`PageUrl::parse`] and [`PageUrl::from_url`] alone, read back
/// from stored data included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Url")]
pub struct PageUrl(Url);

/// Why a URL cannot be crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// The WHATWG parser gives up on it.
    #[error("is not a valid URL")]
    Unparsable,
    /// Neither http nor https.
    #[error("is neither http nor https")]
    OtherScheme,
    /// The host is no DNS name and no IPv4 address: empty labels, odd characters, or an IPv6 literal (requests never leave over IPv6).
    #[error("has no host name or IPv4 address")]
    NoUsableHost,
    /// A part of the host between two dots is longer than 63 octets (RFC 1035 §2.3.4).
    #[error(
        "has a host with a label (the part between two dots) that is longer than {MAX_LABEL_BYTES} octets, as long as one may be in the \
         DNS (RFC 1035 §2.3.4)"
    )]
    LabelTooLong,
    /// The host is longer than 253 octets (RFC 1035 §2.3.4, without the dot of the root).
    #[error("has a host name longer than {MAX_HOST_BYTES} octets, as long as one may be in the DNS (RFC 1035 §2.3.4)")]
    HostTooLong,
    /// It carries a user name or password. Such a link is dropped, not asked without them: it was made for one person (P5).
    #[error("carries a user name or password")]
    Credentials,
    /// Longer than [`MAX_URL_BYTES`], or [`MAX_RAW_URL_BYTES`] as it came.
    #[error("is longer than 2048 bytes")]
    TooLong,
}

impl PageUrl {
    /// Parses and canonicalises `raw`, against `base` where it is relative.
    pub fn parse(raw: &str, base: Option<&PageUrl>) -> Result<Self, UrlRefusal> {
        if raw.len() > MAX_RAW_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        Self::from_url(resolve(raw, base.map(Self::as_url))?)
    }

    /// Canonicalises an already parsed URL.
    pub fn from_url(url: Url) -> Result<Self, UrlRefusal> {
        if Scheme::of(&url).is_none() {
            return Err(UrlRefusal::OtherScheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::Credentials);
        }
        if url.as_str().len() > MAX_RAW_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        let url = canonicalize(url);
        match url.host() {
            Some(Host::Domain(name)) => check_dns_name(name)?,
            Some(Host::Ipv4(_)) => {}
            Some(Host::Ipv6(_)) | None => return Err(UrlRefusal::NoUsableHost),
        }
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        Ok(Self(url))
    }

    /// The parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// The canonical text, ASCII only.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Host without port, lower case ASCII.
    pub fn host(&self) -> &str {
        self.0.host_str().expect("from_url refuses a URL without host")
    }

    /// Path with query, as it stands in the request line.
    pub fn path_and_query(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> Origin {
        Origin::of(self)
    }

    /// The site it belongs to.
    pub fn site(&self) -> Site {
        Site::of_host(self.host())
    }

    /// Whether this is a home page: path `/`, no query.
    pub fn is_home(&self) -> bool {
        self.0.path() == "/" && self.0.query().is_none()
    }

    /// A 64-bit fingerprint (xxh3 of the canonical text), for sets and keys.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.as_str().as_bytes())
    }
}

impl TryFrom<Url> for PageUrl {
    type Error = UrlRefusal;

    fn try_from(url: Url) -> Result<Self, UrlRefusal> {
        Self::from_url(url)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a host that the URL parser let through can be a name in the DNS. The parser is wider: it takes `a..b` and `a{b}`. The
/// underscore is no letter of a host name (RFC 1123 §2.1), yet sites use it.
fn check_dns_name(host: &str) -> Result<(), UrlRefusal> {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !host.split('.').all(is_label) {
        return Err(UrlRefusal::NoUsableHost);
    }
    if host.split('.').any(|label| label.len() > MAX_LABEL_BYTES) {
        return Err(UrlRefusal::LabelTooLong);
    }
    if host.len() > MAX_HOST_BYTES { Err(UrlRefusal::HostTooLong) } else { Ok(()) }
}
