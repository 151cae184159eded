//! The origin: scheme, host and port; the unit of robots.txt (RFC 9309 §2.3).
//!
//! Invariants: the host is the one of a [`PageUrl`] (lower case ASCII, no trailing dot), and the port is always a number: two spellings
//! of one origin are equal.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::site::Site;
use crate::url::PageUrl;

/// The two schemes that are crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The scheme of a parsed URL; none for any other than http and https.
    pub fn of(url: &::url::Url) -> Option<Self> {
        match url.scheme() {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }

    /// Its name in a URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port where none is written.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    scheme: Scheme,
    host: Box<str>,
    port: u16,
}

impl Origin {
    /// The origin of a page.
    pub fn of(url: &PageUrl) -> Self {
        let scheme = Scheme::of(url.as_url()).expect("a PageUrl is http or https");
        let port = url.as_url().port().unwrap_or(scheme.default_port());
        Self { scheme, host: url.host().into(), port }
    }

    /// Its scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Its host, lower case ASCII, no port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Its port, the scheme's default where the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The site it belongs to.
    pub fn site(&self) -> Site {
        Site::of_host(&self.host)
    }

    /// `host[:port]` as in the Host header (RFC 9110 §7.2): the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Where its rules lie: `/robots.txt` (RFC 9309 §2.3).
    pub fn robots_url(&self) -> PageUrl {
        self.at("/robots.txt")
    }

    /// Its home page.
    pub fn home(&self) -> PageUrl {
        self.at("/")
    }

    fn at(&self, path: &str) -> PageUrl {
        PageUrl::parse(&format!("{self}{path}"), None).expect("an origin with a path is a page URL")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Origin {
        PageUrl::parse(url, None).unwrap().origin()
    }

    #[test]
    fn spellings_of_one_origin_are_equal() {
        for other in ["HTTP://A.example:80/x?y#z", "http://a.example./", "http://a。example:/b"] {
            assert_eq!(origin("http://a.example/"), origin(other), "{other}");
        }
    }

    #[test]
    fn scheme_host_and_port_each_make_another_origin() {
        for other in ["https://a.example/", "http://www.a.example/", "http://a.example:8080/", "http://a.example:443/"]
        {
            assert_ne!(origin("http://a.example/"), origin(other), "{other}");
        }
    }

    #[test]
    fn rules_and_home_lie_on_the_same_port() {
        for (url, robots, home, authority) in [
            (
                "http://127.0.0.1:8123/a/b?c",
                "http://127.0.0.1:8123/robots.txt",
                "http://127.0.0.1:8123/",
                "127.0.0.1:8123",
            ),
            ("https://a.example/x", "https://a.example/robots.txt", "https://a.example/", "a.example"),
            ("https://a.example:80/x", "https://a.example:80/robots.txt", "https://a.example:80/", "a.example:80"),
        ] {
            assert_eq!(origin(url).robots_url().as_str(), robots, "{url}");
            assert_eq!(origin(url).home().as_str(), home, "{url}");
            assert_eq!(origin(url).authority(), authority, "{url}");
            assert_eq!(origin(url).robots_url().origin(), origin(url), "{url}");
        }
    }
}
