//! A path pattern of an Allow or Disallow line, and the one form in which patterns and paths are compared.
//!
//! RFC 9309 §2.2.2 compares octets after percent-encoding is levelled; §2.2.3 gives `*` and a final `$` their meaning.
//! The common form: triplets of unreserved characters decoded, every other triplet in upper case, every character that
//! may not stand in a URL (and `*` and `$` taken literally) as its triplet. So a literal star can never be mistaken for
//! a wildcard.
//!
//! Invariant: a match takes a number of steps linear in path and pattern. Each literal piece is looked for behind the
//! previous one and taken where it is found first; no choice is ever taken back.

use memchr::memmem;

/// Where a match may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The pattern is a prefix.
    Anywhere,
    /// The pattern ends in `$`.
    AtPathEnd,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Literal pieces in the common form, with a single `*` between.
    pieces: Box<str>,
    end: End,
    num_octets: u32,
}

impl Pattern {
    /// Compiles the value of a line. Nothing for one that matches no path at all: paths begin with `/`, so a pattern
    /// must begin with that or a `*`; an empty one is no pattern (RFC 9309 §2.2.2).
    pub fn compile(value: &str) -> Option<Self> {
        if !value.starts_with(['/', '*']) {
            return None;
        }
        let (body, end) = match value.strip_suffix('$') {
            Some(body) => (body, End::AtPathEnd),
            None => (value, End::Anywhere),
        };
        let mut pieces = String::with_capacity(body.len());
        let mut num_octets = usize::from(end == End::AtPathEnd);
        for (index, literal) in body.split('*').enumerate() {
            if index > 0 {
                num_octets += 1;
                if !pieces.ends_with('*') {
                    pieces.push('*');
                }
            }
            let start = pieces.len();
            push_common_form(literal, &mut pieces);
            // A `$` that means itself is one octet of the line, though three of the common form.
            num_octets += pieces.len() - start - 2 * memchr::memchr_iter(b'$', literal.as_bytes()).count();
        }
        let num_octets = u32::try_from(num_octets).unwrap_or(u32::MAX);
        Some(Self { pieces: pieces.into(), end, num_octets })
    }

    /// How specific it is: the most octets win (RFC 9309 §2.2.2).
    pub fn num_octets(&self) -> u32 {
        self.num_octets
    }

    /// Whether it matches a path in the common form.
    pub fn matches(&self, path: &str) -> bool {
        self.matches_in(path, &mut 0)
    }

    /// The same, adding up the octets that were looked at.
    pub(super) fn matches_in(&self, path: &str, num_steps: &mut usize) -> bool {
        let path = path.as_bytes();
        let (first, mut rest) = match self.pieces.split_once('*') {
            Some((first, rest)) => (first, Some(rest)),
            None => (&*self.pieces, None),
        };
        *num_steps += first.len();
        if !path.starts_with(first.as_bytes()) {
            return false;
        }
        let mut at = first.len();
        while let Some(pieces) = rest {
            let piece;
            (piece, rest) = match pieces.split_once('*') {
                Some((piece, more)) => (piece.as_bytes(), Some(more)),
                None => (pieces.as_bytes(), None),
            };
            *num_steps += piece.len() + 1;
            if rest.is_none() && self.end == End::AtPathEnd {
                return path[at..].ends_with(piece);
            }
            let found = memmem::find(&path[at..], piece);
            *num_steps += found.map_or(path.len() - at, |offset| offset);
            match found {
                Some(offset) => at += offset + piece.len(),
                None => return false,
            }
        }
        match self.end {
            End::Anywhere => true,
            End::AtPathEnd => at == path.len(),
        }
    }
}

/// A path with query in the common form; what a fragment would add is left out.
pub(super) fn common_form(path_and_query: &str) -> String {
    let path = path_and_query.split('#').next().unwrap_or_default();
    let mut out = String::with_capacity(path.len() + 8);
    if !path.starts_with('/') {
        out.push('/');
    }
    push_common_form(path, &mut out);
    out
}

fn push_common_form(text: &str, out: &mut String) {
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest = behind;
                let octet = 16 * hex_value(*high) + hex_value(*low);
                if is_unreserved(octet) { out.push(char::from(octet)) } else { push_triplet(octet, out) }
            }
            _ if is_unreserved(*byte) || b"/?:@!&'()+,;=[]#".contains(byte) => out.push(char::from(*byte)),
            _ => push_triplet(*byte, out),
        }
    }
}

/// RFC 3986 §2.3.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

fn push_triplet(octet: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(octet >> 4)]));
    out.push(char::from(DIGITS[usize::from(octet & 15)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, wanted: bool) {
        let matched = Pattern::compile(pattern).is_some_and(|p| p.matches(&common_form(path)));
        assert_eq!(matched, wanted, "pattern {pattern:?}, path {path:?}");
    }

    #[test]
    fn rfc9309_2_2_2_patterns_are_prefixes() {
        for (pattern, path, wanted) in [
            ("/", "/", true),
            ("/", "/any?x", true),
            ("/fish", "/fish", true),
            ("/fish", "/fish/salmon.html", true),
            ("/fish", "/fishheads?id=1", true),
            ("/fish", "/Fish.asp", false),
            ("/fish", "/catfish", false),
            ("/fish/", "/fish", false),
            ("fish/", "/fish/", false),
            ("", "/", false),
            ("$", "/", false),
            ("/a?b", "/a?b=c", true),
        ] {
            check(pattern, path, wanted);
        }
    }

    #[test]
    fn rfc9309_2_2_3_star_and_dollar() {
        for (pattern, path, wanted) in [
            ("*", "/x", true),
            ("/*.php", "/folder/file.php?x", true),
            ("/*.php$", "/file.php", true),
            ("/*.php$", "/file.php?x", false),
            ("/*.php$", "/file.php/x.php", true),
            ("/*/feed/", "/a/b/feed/", true),
            ("/*/*/edit", "/a/b/edit", true),
            ("/*.pdf$", "/a.pdf/b.pdf", true),
            ("/fish*.php", "/fishheads/catfish.php?p", true),
            ("/fish*.php", "/Fish.PHP", false),
            ("/x***y", "/xay", true),
            ("/$", "/", true),
            ("/$", "/a", false),
            ("/a$b", "/a$b", true),
            ("/a$b$", "/a$bc", false),
            ("/a*$", "/abc", true),
            ("*$", "/abc", true),
            ("/ab*ba$", "/aba", false),
            ("/file-with-a-%2A.html", "/file-with-a-*.html", true),
            ("/file-with-a-%2A.html", "/file-with-a-x.html", false),
            ("/foo-%24", "/foo-$", true),
            ("/foo-%24", "/foo-", false),
        ] {
            check(pattern, path, wanted);
        }
    }

    #[test]
    fn rfc9309_2_2_2_percent_encoding_is_levelled_on_both_sides() {
        for (pattern, path, wanted) in [
            ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", true),
            ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
            ("/foo/bar/baz", "/foo/bar/%62%61%7a", true),
            ("/a<d.html", "/a%3Cd.html", true),
            ("/a%3cd.html", "/a%3Cd.html", true),
            ("/%7ejoe/", "/~joe/", true),
            ("/a%2fb", "/a/b", false),
            ("/a/b", "/a%2Fb", false),
            ("/a%2Fb", "/a%2fb", true),
            ("/?q=a%26b", "/?q=a&b", false),
            ("/100%/x", "/100%/x", true),
            ("/100%25/x", "/100%/x", true),
            ("/a%4G", "/a%254G", true),
            ("/a%G4", "/a%25G4", true),
            ("/a%4G", "/a@", false),
            ("/a b|c", "/a%20b%7Cc", true),
        ] {
            check(pattern, path, wanted);
        }
    }

    #[test]
    fn octets_are_counted_as_the_line_gives_them() {
        for (pattern, wanted) in
            [("/", 1), ("/p", 2), ("/*", 2), ("/a$b", 4), ("/x***y$", 7), ("/\u{e9}", 7), ("/%2A", 4)]
        {
            assert_eq!(Pattern::compile(pattern).unwrap().num_octets(), wanted, "{pattern}");
        }
    }

    /// Steps, not time: a matcher that goes back takes some 10^20 of them here.
    #[test]
    fn hostile_patterns_take_steps_linear_in_path_and_pattern() {
        let path = "/".to_owned() + &"a".repeat(2047);
        for pattern in [
            "*a".repeat(50) + "b",
            "*a".repeat(1000) + "$",
            "*a".repeat(4000) + "b$",
            "/".to_owned() + &"*".repeat(2000) + "b",
            "*aaaaaaaaaaaaaaaaaaaaaab".repeat(60),
        ] {
            let compiled = Pattern::compile(&pattern).unwrap();
            let mut num_steps = 0;
            compiled.matches_in(&path, &mut num_steps);
            assert!(num_steps <= 2 * (path.len() + pattern.len()), "{num_steps} steps for {pattern:.20}");
        }
    }

    #[test]
    fn every_octet_that_is_looked_at_is_a_step() {
        for (pattern, path, wanted) in
            [("/a", "/b", 2), ("/a*b*c", "/aXbYc", 2 + (2 + 1) + (2 + 1)), ("/a*zz", "/aXY", 2 + 3 + 2)]
        {
            let mut num_steps = 0;
            Pattern::compile(pattern).unwrap().matches_in(path, &mut num_steps);
            assert_eq!(num_steps, wanted, "{pattern} in {path}");
        }
    }

    /// The definition, tried out in every way: for short inputs only.
    fn naive(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            b"$" => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skip| naive(rest, &path[skip..])),
            [first, rest @ ..] => path.first() == Some(first) && naive(rest, &path[1..]),
        }
    }

    proptest::proptest! {
        #[test]
        fn matching_agrees_with_the_definition(pattern in "[/*][ab/*]{0,9}[$]?", path in "/[ab/]{0,11}") {
            let compiled = Pattern::compile(&pattern).unwrap();
            proptest::prop_assert_eq!(compiled.matches(&path), naive(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn the_common_form_is_its_own_common_form(path in "\\PC{0,40}") {
            let once = common_form(&path);
            proptest::prop_assert_eq!(common_form(&once), once.clone());
            proptest::prop_assert!(once.is_ascii());
        }
    }
}
