//! Where the robots.txt of a URL lies, and which URLs a robots.txt is for: scheme, host and port (RFC 9309 §2.3).

use url::{Origin, Url};

/// Where the rules for this URL lie; nothing for a scheme without hosts.
pub fn robots_url(url: &Url) -> Option<Url> {
    match url.origin() {
        origin @ Origin::Tuple(..) => Url::parse(&origin.ascii_serialization()).ok()?.join("/robots.txt").ok(),
        Origin::Opaque(_) => None,
    }
}

/// Whether what lies at `robots_at` are the rules for `url`: a file elsewhere than at `/robots.txt` rules nothing.
pub fn governs(robots_at: &Url, url: &Url) -> bool {
    robots_at.path() == "/robots.txt" && robots_at.query().is_none() && robots_at.origin() == url.origin()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(raw: &str) -> Url {
        Url::parse(raw).unwrap()
    }

    #[track_caller]
    fn check_governs(robots_at: &str, page: &str, wanted: bool) {
        assert_eq!(governs(&url(robots_at), &url(page)), wanted, "{robots_at} for {page}");
    }

    #[test]
    fn rfc9309_2_3_a_file_is_for_its_scheme_host_and_port() {
        for (page, wanted) in [
            ("http://user:pw@example.com:80/path;p?q#f", "http://example.com/robots.txt"),
            ("https://EXAMPLE.com:8443", "https://example.com:8443/robots.txt"),
            ("http://www.m\u{fc}nich.com/", "http://www.xn--mnich-kva.com/robots.txt"),
        ] {
            assert_eq!(robots_url(&url(page)).unwrap().as_str(), wanted);
            check_governs(wanted, page, true);
        }
        assert_eq!(robots_url(&url("data:,x")), None);
    }

    #[test]
    fn a_file_is_for_no_other_origin_and_counts_nowhere_else() {
        for (robots_at, page) in [
            ("https://example.com/robots.txt", "http://example.com/x"),
            ("https://example.com/robots.txt", "https://www.example.com/x"),
            ("https://example.com/robots.txt", "https://example.com:8443/x"),
            ("https://example.com/sub/robots.txt", "https://example.com/sub/x"),
            ("https://example.com/Robots.txt", "https://example.com/x"),
        ] {
            check_governs(robots_at, page, false);
        }
        check_governs("https://example.com:443/robots.txt", "https://example.com/x", true);
    }
}
