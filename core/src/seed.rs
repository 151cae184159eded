//! Seeds: where the operator says that a crawl begins, as a URL or as a bare host.
//!
//! A seed without a scheme is taken as https, and remembers that nobody said so: if nothing answers there, http may be
//! tried.

use serde::{Deserialize, Serialize};

use crate::origin::Scheme;
use crate::url::{PageUrl, UrlRefusal};

/// Whether the operator wrote the scheme of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedScheme {
    /// It was written, and no other is tried.
    Written,
    /// It was guessed to be https; if nothing answers, http is tried.
    Guessed,
}

/// A place to begin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seed {
    /// What is asked first; https where the scheme was guessed.
    pub url: PageUrl,
    /// Whether the scheme was written.
    pub scheme: SeedScheme,
}

/// Why a text is no seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedRefusal {
    /// Nothing but white space.
    #[error("is empty")]
    Empty,
    /// White space or a control character inside.
    #[error("has a space or control character inside; write one URL or host a line")]
    NotOneWord,
    /// It begins with a slash, so the host is missing.
    #[error("is a path without a host")]
    PathOnly,
    /// Not a URL that may be crawled.
    #[error(transparent)]
    Url(#[from] UrlRefusal),
}

impl Seed {
    /// Reads `https://example.com/start`, `example.com/start`, `example.com:8080` or `example.com`; white space around
    /// it is dropped.
    pub fn parse(text: &str) -> Result<Self, SeedRefusal> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SeedRefusal::Empty);
        }
        // The URL parser would drop tabs and line ends and encode spaces; here they mean that something else was
        // written.
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(SeedRefusal::NotOneWord);
        }
        // A scheme is what stands before `://`: without the slashes, `example.com:8080` would read as one.
        if has_scheme(text) {
            return Ok(Self { url: PageUrl::parse(text, None)?, scheme: SeedScheme::Written });
        }
        if names_another_scheme(text) {
            return Err(UrlRefusal::OtherScheme.into());
        }
        let host_first = text.strip_prefix("//").unwrap_or(text);
        if host_first.starts_with(['/', '\\', '?', '#']) {
            return Err(SeedRefusal::PathOnly);
        }
        let guessed = format!("{}://{host_first}", Scheme::Https.as_str());
        Ok(Self { url: PageUrl::parse(&guessed, None)?, scheme: SeedScheme::Guessed })
    }

    /// The same place over http, to be tried where nothing answered; none where the scheme was written. A port that was
    /// written stays.
    pub fn http_fallback(&self) -> Option<PageUrl> {
        match self.scheme {
            SeedScheme::Written => None,
            SeedScheme::Guessed => {
                let rest = self.url.as_str().strip_prefix("https://")?;
                PageUrl::parse(&format!("{}://{rest}", Scheme::Http.as_str()), None).ok()
            }
        }
    }
}

/// Whether `text` begins with a scheme and `://` (RFC 3986 §3.1), or with one of ours and slashes of any kind and number: browsers
/// take those too, and `http` is the host of nobody.
fn has_scheme(text: &str) -> bool {
    let is_ours = text.split_once(':').is_some_and(|(scheme, rest)| {
        let of = |wanted: Scheme| scheme.eq_ignore_ascii_case(wanted.as_str());
        (of(Scheme::Http) || of(Scheme::Https)) && rest.starts_with(['/', '\\'])
    });
    is_ours || has_scheme_with_authority(text)
}

/// Schemes that have no slashes behind them and may have an at-sign, which would else read as a user name at a host.
const OPAQUE_SCHEMES: [&str; 13] =
    ["mailto", "tel", "sms", "sip", "sips", "xmpp", "data", "javascript", "cid", "mid", "skype", "urn", "magnet"];

/// Whether `text`, which has no `://`, is a URL of a scheme without a host: `mailto:a@b.example`, `javascript:f()`. It is none where a
/// port stands behind the colon, where the part before it has a dot as a host has, or where it is a user name with a password.
fn names_another_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let port = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let is_digits = port.bytes().all(|b| b.is_ascii_digit());
    if OPAQUE_SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        // A host may have such a name.
        return !is_digits || port.parse::<u16>().is_err();
    }
    let is_ours =
        |scheme: &str| [Scheme::Http, Scheme::Https].iter().any(|ours| scheme.eq_ignore_ascii_case(ours.as_str()));
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-".contains(&b))
        && !is_ours(scheme)
        && !rest.contains('@')
        && !is_digits
}

fn has_scheme_with_authority(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, scheme: SeedScheme) {
        let seed = Seed::parse(text).unwrap_or_else(|refusal| panic!("{text:?} {refusal}"));
        assert_eq!((seed.url.as_str(), seed.scheme), (url, scheme), "{text:?}");
    }

    #[track_caller]
    fn check_refused(text: &str, wanted: SeedRefusal) {
        assert_eq!(Seed::parse(text), Err(wanted), "{text:?}");
    }

    #[test]
    fn scheme_is_guessed_where_none_is_written() {
        check("example.com", "https://example.com/", SeedScheme::Guessed);
        check("  Example.COM/start?q=1\t", "https://example.com/start?q=1", SeedScheme::Guessed);
        check("//example.com/a", "https://example.com/a", SeedScheme::Guessed);
        check("example.com:8080", "https://example.com:8080/", SeedScheme::Guessed);
        check("127.0.0.1:8080/x", "https://127.0.0.1:8080/x", SeedScheme::Guessed);
        check(
            "example.com/?to=http://other.example/",
            "https://example.com/?to=http://other.example/",
            SeedScheme::Guessed,
        );
        check("https://example.com", "https://example.com/", SeedScheme::Written);
        check("HTTP://example.com:80/a", "http://example.com/a", SeedScheme::Written);
        check("http:\\\\example.com\\a", "http://example.com/a", SeedScheme::Written);
        check("https:/example.com", "https://example.com/", SeedScheme::Written);
        check("http:8080", "https://http:8080/", SeedScheme::Guessed);
        check("data:8080/x", "https://data:8080/x", SeedScheme::Guessed);
        check("localhost:8080", "https://localhost:8080/", SeedScheme::Guessed);
    }

    #[test]
    fn what_is_no_place_to_crawl_is_refused() {
        check_refused("", SeedRefusal::Empty);
        check_refused(" \u{a0} ", SeedRefusal::Empty);
        check_refused("not a url", SeedRefusal::NotOneWord);
        check_refused("exam\u{7}ple.com", SeedRefusal::NotOneWord);
        check_refused("/etc/passwd", SeedRefusal::PathOnly);
        check_refused("///a", SeedRefusal::PathOnly);
        check_refused("?q=1", SeedRefusal::PathOnly);
        check_refused("ftp://example.com/", SeedRefusal::Url(UrlRefusal::OtherScheme));
        for text in [
            "mailto:someone@example.com",
            "MAILTO:someone@example.com?subject=x",
            "javascript:alert(1)",
            "tel:+4930123",
            "sip:a:b@example.com",
            "urn:isbn:123",
            "magnet:?xt=1",
            "foo+bar:baz",
        ] {
            check_refused(text, SeedRefusal::Url(UrlRefusal::OtherScheme));
        }
        for text in ["someone:word@example.com", "someone@example.com", "http:someone:word@example.com/"] {
            check_refused(text, SeedRefusal::Url(UrlRefusal::Credentials));
        }
        check_refused("example.com:port", SeedRefusal::Url(UrlRefusal::Unparsable));
        check_refused("http://", SeedRefusal::Url(UrlRefusal::Unparsable));
        check_refused("https://user:word@example.com/", SeedRefusal::Url(UrlRefusal::Credentials));
        check_refused("[::1]", SeedRefusal::Url(UrlRefusal::NoUsableHost));
        check_refused(&format!("example.com/{}", "a".repeat(3000)), SeedRefusal::Url(UrlRefusal::TooLong));
        check_refused(&format!("{}.example.com", "a".repeat(64)), SeedRefusal::Url(UrlRefusal::LabelTooLong));
        check_refused(&"abc.".repeat(64), SeedRefusal::Url(UrlRefusal::HostTooLong));
        check_refused("a..example.com", SeedRefusal::Url(UrlRefusal::NoUsableHost));
    }

    #[test]
    fn only_a_guessed_scheme_falls_back_to_http() {
        let fallback = |text| Seed::parse(text).unwrap().http_fallback().map(|url| url.to_string());
        assert_eq!(fallback("example.com/a?b"), Some("http://example.com/a?b".to_owned()));
        assert_eq!(fallback("example.com:8080"), Some("http://example.com:8080/".to_owned()));
        assert_eq!(fallback("https://example.com/"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,40}") {
            let _ = Seed::parse(&text);
        }
    }
}
