//! `meta http-equiv=refresh` (WHATWG HTML, "shared declarative refresh steps"): after how long, and where to.

use std::time::Duration;

use super::text::is_html_space;

/// What a refresh asks for. Without a target the page reloads itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refresh<'a> {
    pub(super) delay: Duration,
    pub(super) target: Option<&'a str>,
}

/// Reads the `content` of a refresh; none where the standard gives up.
pub(super) fn parse(content: &str) -> Option<Refresh<'_>> {
    let rest = content.trim_start_matches(is_html_space);
    let num_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = rest.split_at(num_digits);
    let seconds = match digits {
        "" if rest.starts_with('.') => 0,
        "" => return None,
        // More seconds than fit are more than anyone waits.
        _ => digits.parse().unwrap_or(u64::from(u32::MAX)),
    };
    let refresh = |target| Some(Refresh { delay: Duration::from_secs(seconds), target });
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if rest.is_empty() {
        return refresh(None);
    }
    if !rest.starts_with(|c| is_html_space(c) || c == ';' || c == ',') {
        return None;
    }
    let rest = rest.trim_start_matches(is_html_space);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start_matches(is_html_space);
    if rest.is_empty() {
        return refresh(None);
    }
    let rest = after_url_and_equals(rest).unwrap_or(rest);
    match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => refresh(rest[1..].split(quote).next()),
        Some(_) | None => refresh(Some(rest)),
    }
}

/// What follows `url =`; none where the text is the URL itself.
fn after_url_and_equals(text: &str) -> Option<&str> {
    let after_word = text.get(..3).filter(|word| word.eq_ignore_ascii_case("url")).map(|_| &text[3..])?;
    let after_equals = after_word.trim_start_matches(is_html_space).strip_prefix('=')?;
    Some(after_equals.trim_start_matches(is_html_space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, wanted: Option<(u64, Option<&str>)>) {
        let wanted = wanted.map(|(seconds, target)| Refresh { delay: Duration::from_secs(seconds), target });
        assert_eq!(parse(content), wanted, "content {content:?}");
    }

    #[test]
    fn reads_delay_and_target_in_every_spelling() {
        check("5", Some((5, None)));
        check("5;", Some((5, None)));
        check(" 1; URL=http://a.example/", Some((1, Some("http://a.example/"))));
        check("3; url='other.html'", Some((3, Some("other.html"))));
        check("3; url=\"a\" b", Some((3, Some("a"))));
        check("3; url='open", Some((3, Some("open"))));
        check("0 url=/", Some((0, Some("/"))));
        check("0,/direct", Some((0, Some("/direct"))));
        check("0; /direct", Some((0, Some("/direct"))));
        check("0;'/quoted'", Some((0, Some("/quoted"))));
        check(".5;url=/x", Some((0, Some("/x"))));
        check("1.75e;url=/x", None);
        check("0; URL =\n/x", Some((0, Some("/x"))));
        check("0; urls/x", Some((0, Some("urls/x"))));
        check("0; url", Some((0, Some("url"))));
    }

    #[test]
    fn gives_up_where_no_delay_stands() {
        for content in ["", "url=/x", "-1;url=/x", "x", "5x", ";url=/x"] {
            check(content, None);
        }
    }
}
