//! A typed URL as it may be repeated in an answer, an error or a log: without the user name and password in it.
//!
//! What a person types is often no URL by any standard, and then no parser says where a password ends. So this reads generously: where
//! it cannot be told apart, more is left out than had to be. It decides nothing: whether a URL may be asked is [`super::PageUrl`]'s business.

use std::borrow::Cow;

/// What stands for a user name and a password.
const LEFT_OUT: &str = "***@";

/// `text` with `***` in the place of a user name and password (RFC 3986 §3.2.1), and of what may be meant as such.
pub fn without_userinfo(text: &str) -> Cow<'_, str> {
    let start = start_of_authority(text);
    let rest = &text[start..];
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let Some(end) = end_of_last_at(rest) else { return Cow::Borrowed(text) };
    // `host/@name` has its at-sign in the path. A password with a slash in it looks like that, too, but for its colon.
    if is_host_and_port(authority) && end > authority.len() {
        return Cow::Borrowed(text);
    }
    let end = end_of_last_at(authority).filter(|_| !has_odd_port(authority)).unwrap_or(end);
    Cow::Owned(format!("{}{LEFT_OUT}{}", &text[..start], &rest[end..]))
}

/// Behind the scheme and its slashes, of any kind and number; behind the slashes alone; or at the first letter. A scheme without slashes
/// is as good as a user name, but for the two that the URL parser knows (`https:user@host`) and mail addresses, which are no secret.
fn start_of_authority(text: &str) -> usize {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let after_scheme = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme.trim_start()) => {
            let is_known =
                ["http", "https", "mailto"].iter().any(|known| scheme.trim_start().eq_ignore_ascii_case(known));
            if rest.starts_with(['/', '\\']) || is_known { scheme.len() + 1 } else { 0 }
        }
        Some(_) | None => 0,
    };
    let slashes = &text[after_scheme..];
    after_scheme
        + (slashes.len() - slashes.trim_start_matches(|c: char| matches!(c, '/' | '\\') || c.is_whitespace()).len())
}

/// Behind the last at-sign, written as such or as a percent triplet.
fn end_of_last_at(text: &str) -> Option<usize> {
    let plain = text.rfind('@').map(|at| at + 1);
    plain.max(text.rfind("%40").map(|at| at + 3))
}

/// Whether this is a host, and a port at most: nothing that could be a user name with a password.
fn is_host_and_port(authority: &str) -> bool {
    end_of_last_at(authority).is_none() && !has_odd_port(authority)
}

/// Whether what stands behind the colon is no port. The colons of an IPv6 address stand in brackets.
fn has_odd_port(authority: &str) -> bool {
    let behind_host = authority.rsplit_once(['@', ']']).map_or(authority, |(_, rest)| rest);
    behind_host.split_once(':').is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &str) {
        assert_eq!(without_userinfo(text), wanted, "{text:?}");
        assert_eq!(without_userinfo(wanted), wanted, "a second time");
    }

    #[test]
    fn user_name_and_password_are_left_out_wherever_they_stand() {
        check("https://somebody:secret@a.test/x?y#z", "https://***@a.test/x?y#z");
        check("https://somebody@a.test/", "https://***@a.test/");
        check("https://:secret@a.test/", "https://***@a.test/");
        check("somebody:secret@a.test", "***@a.test");
        check("//somebody:secret@a.test/", "//***@a.test/");
        check("http:\\\\somebody:secret@a.test\\x", "http:\\\\***@a.test\\x");
        check("https:somebody:secret@a.test/", "https:***@a.test/");
        check("https:///somebody:secret@a.test/", "https:///***@a.test/");
        check("ftp://somebody:secret@a.test/", "ftp://***@a.test/");
        check(" https://somebody:secret@a.test/", " https://***@a.test/");
        check("https://somebody:se@cret@a.test:8443/", "https://***@a.test:8443/");
        check("https://somebody:secret@[::1]:80/", "https://***@[::1]:80/");
        check("https://somebody:secret@a.test/@name", "https://***@a.test/@name");
        check("https://***@a.test/", "https://***@a.test/");
    }

    #[test]
    fn password_that_no_parser_would_find_is_left_out_too() {
        check("https://somebody:sec/ret@a.test/", "https://***@a.test/");
        check("https://somebody:sec?ret@a.test/", "https://***@a.test/");
        check("https://somebody:sec#ret@a.test/", "https://***@a.test/");
        check("https://somebody:secret%40a.test/", "https://***@a.test/");
        check("https://somebody:secret@a.test:por/t@x", "https://***@x");
    }

    #[test]
    fn what_is_no_user_name_stays() {
        for text in [
            "",
            "a.test",
            "a.test:8080/x",
            "https://a.test/@somebody",
            "https://a.test:8443/?mail=somebody@b.test",
            "https://[::1]/@somebody",
            "a.test/~x?to=y@z.test",
            "javascript:alert(1)",
            "https://",
            "https://a.test/über",
        ] {
            check(text, text);
        }
        check("mailto:somebody@a.test", "mailto:***@a.test");
    }

    proptest! {
        /// Whatever stands around it, a password that the URL parser finds is not repeated.
        #[test]
        fn no_password_that_the_parser_finds_is_left(text in "(https?:)?[/\\\\]{0,3}[a-z:@/.?#%40]{0,12}Secret[a-z:@/.?#]{0,12}@[a-z.:/]{1,8}") {
            let said = without_userinfo(&text).into_owned();
            if let Ok(url) = ::url::Url::parse(&text) {
                let told = format!("{}{}", url.username(), url.password().unwrap_or_default());
                prop_assert!(!told.contains("Secret") || !said.contains("Secret"), "{text} is told as {said}");
            }
            prop_assert_eq!(without_userinfo(&said).into_owned(), said.clone());
        }
    }
}
