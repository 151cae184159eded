//! URLs the crawler may ask for, in their one canonical form.

use std::fmt;

use ::url::Url;
use serde::{Deserialize, Serialize};

use crate::origin::{Origin, Scheme};
use crate::site::Site;

/// Longest URL that is asked for or stored, in bytes.
pub const MAX_URL_BYTES: usize = 2048;

/// A URL in canonical crawl form: http or https, a name or IPv4 host, no fragment, no user info.
///
/// Only a `PageUrl` can be fetched or queued; it can be built through [`PageUrl::parse`] and [`PageUrl::from_url`] alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// The host is missing, or an IPv6 literal (requests never leave over IPv6).
    #[error("has no host name or IPv4 address")]
    NoUsableHost,
    /// It carries a user name or password.
    #[error("carries a user name or password")]
    Credentials,
    /// Longer than [`MAX_URL_BYTES`].
    #[error("is longer than 2048 bytes")]
    TooLong,
}

impl PageUrl {
    /// Parses and canonicalises `raw`, against `base` where it is relative.
    pub fn parse(raw: &str, base: Option<&PageUrl>) -> Result<Self, UrlRefusal> {
        let parsed = Url::options().base_url(base.map(|b| &b.0)).parse(raw).map_err(|_| UrlRefusal::Unparsable)?;
        Self::from_url(parsed)
    }

    /// Canonicalises an already parsed URL.
    pub fn from_url(mut url: Url) -> Result<Self, UrlRefusal> {
        if Scheme::of(&url).is_none() {
            return Err(UrlRefusal::OtherScheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::Credentials);
        }
        match url.host() {
            Some(::url::Host::Domain(name)) if !name.trim_end_matches('.').is_empty() => {}
            Some(::url::Host::Ipv4(_)) => {}
            _ => return Err(UrlRefusal::NoUsableHost),
        }
        url.set_fragment(None);
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
        &self.0[::url::Position::BeforePath..::url::Position::AfterQuery]
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

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
