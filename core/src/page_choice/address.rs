//! What a URL says by itself: which document it names, in which language, below which page it stands, and whether it is a page at all.
//!
//! What this deliberately does not do: decide. Two addresses of one document are a guess until one of them was read, and a guess only ever
//! puts a URL behind others. Invariant: no answer depends on anything but the URL.

use xxhash_rust::xxh3::xxh3_64;

use crate::language::Language;
use crate::url::PageUrl;

/// Names of files that a server sends for their folder.
const INDEX_STEMS: [&str; 3] = ["index", "default", "home"];
/// Endings of files that hold a page.
const PAGE_ENDINGS: [&str; 11] = ["html", "htm", "xhtml", "shtml", "php", "php5", "asp", "aspx", "jsp", "cfm", "cgi"];
/// Parameters that ask for the same page to be printed.
const PRINT_PARAMETERS: [&str; 3] = ["print", "printable", "printview"];
/// Endings of files that hold no page: asking costs a request and brings nothing.
const OTHER_ENDINGS: [&str; 68] = [
    "7z", "apk", "atom", "avi", "bmp", "bz2", "css", "csv", "deb", "dmg", "doc", "docx", "eot", "epub", "exe", "flac",
    "flv", "gif", "gz", "ico", "ics", "iso", "jar", "jpeg", "jpg", "js", "json", "m4a", "m4v", "mjs", "mkv", "mobi",
    "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf", "pdf", "png", "ppt", "pptx",
    "ps", "rar", "rpm", "rss", "rtf", "svg", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wav", "webm", "webp", "woff",
    "woff2", "xls", "xlsx", "zip",
];

/// Shortest beginning of a file's name that can name a page above it.
const MIN_STEM_BYTES: usize = 2;
/// Most pages that may stand above one. A URL of two thousand bytes can be written so that it has as many, and each is looked up by all its
/// bytes.
const MAX_ANCESTORS: usize = 32;

/// A URL taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The same for all addresses of a document: scheme, `www.`, language tag, index file, closing slash and print form aside.
    pub document: u64,
    /// The language that its path names.
    pub language: Option<Language>,
}

impl Address {
    /// Takes a URL apart.
    pub fn of(url: &PageUrl) -> Self {
        let mut language = None;
        let mut is_language = |part: &str| {
            let found = if language.is_none() { Language::of_path_part(part) } else { None };
            language = language.or(found);
            found.is_some()
        };
        let host = url.host();
        let mut key = String::from(host.strip_prefix("www.").unwrap_or(host));
        if let Some(port) = url.as_url().port() {
            key.push_str(&format!(":{port}"));
        }
        let (folders, file) = url.as_url().path().rsplit_once('/').unwrap_or_default();
        for folder in folders.split('/').filter(|folder| !folder.is_empty() && !is_language(folder)) {
            key.push('/');
            key.push_str(folder);
        }
        let file = if is_language(file) { String::new() } else { plain_file(file, &mut is_language) };
        if !file.is_empty() {
            key.push('/');
            key.push_str(&file);
        }
        let query = url.as_url().query().unwrap_or_default();
        for pair in query.split('&').filter(|pair| !pair.is_empty() && !asks_to_print(pair)) {
            key.push('?');
            key.push_str(pair);
        }
        Self { document: xxh3_64(key.as_bytes()), language }
    }
}

/// A file's name without the language between its dots; nothing for an index file.
fn plain_file(file: &str, is_language: &mut impl FnMut(&str) -> bool) -> String {
    let parts: Vec<&str> = file.split('.').collect();
    let is_ending = |part: &str| PAGE_ENDINGS.iter().any(|ending| ending.eq_ignore_ascii_case(part));
    let mut plain: Vec<&str> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        // `index.de.html` and `index.html.de`; `index.pl` is a script and `de.html` may be a page about it.
        let may_be_tag = number > 0 && (number + 1 < parts.len() || is_ending(parts[number - 1]));
        if !(may_be_tag && is_language(part)) {
            plain.push(part);
        }
    }
    match plain[..] {
        [stem, ending] if is_ending(ending) && INDEX_STEMS.iter().any(|index| index.eq_ignore_ascii_case(stem)) => {
            String::new()
        }
        _ => plain.join("."),
    }
}

fn asks_to_print(pair: &str) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    PRINT_PARAMETERS.iter().any(|print| print.eq_ignore_ascii_case(name)) || value.eq_ignore_ascii_case("print")
}

/// Whether the ending of its path says that it is no page.
pub(super) fn is_other_format(url: &PageUrl) -> bool {
    let (_, file) = url.as_url().path().rsplit_once('/').unwrap_or_default();
    let Some((_, ending)) = file.rsplit_once('.') else { return false };
    OTHER_ENDINGS.iter().any(|other| other.eq_ignore_ascii_case(ending))
}

/// Path and stem of a URL, for [`ancestors`]: `/a/b.html` is `/a/b`, `/a/index.html` is `/a`, `/` is nothing.
pub(super) fn stem(url: &PageUrl) -> &str {
    let path = url.as_url().path();
    let (folders, file) = path.rsplit_once('/').unwrap_or_default();
    let Some((name, ending)) = file.rsplit_once('.') else { return path.trim_end_matches('/') };
    let is_page = PAGE_ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending));
    if is_page && INDEX_STEMS.iter().any(|index| index.eq_ignore_ascii_case(name)) {
        folders
    } else if is_page {
        &path[..path.len() - ending.len() - 1]
    } else {
        path
    }
}

/// The stems of the pages that may stand above one with this stem, the nearest first: `/a/chapter-one` is above `/a/chapter-one-two` and
/// above `/a/chapter-one/two`, then come `/a/chapter`, `/a` and the home page. No more than the nearest [`MAX_ANCESTORS`].
pub(super) fn ancestors(stem: &str) -> impl Iterator<Item = &str> {
    let bytes = stem.as_bytes();
    let nearest_first = (0..bytes.len()).rev().filter_map(move |end| {
        let next = bytes[end];
        let last = end.checked_sub(1).map(|before| bytes[before]);
        // A word of a name ends at what is no letter or digit, and where letters and digits meet: `ch04` is above `ch04s01`.
        let is_word_end = match last {
            None => true,
            Some(last) => {
                last.is_ascii_alphanumeric()
                    && (!next.is_ascii_alphanumeric() || last.is_ascii_digit() != next.is_ascii_digit())
            }
        };
        let name_bytes = || stem[..end].rsplit('/').next().map_or(0, str::len);
        (is_word_end && (next == b'/' || name_bytes() >= MIN_STEM_BYTES)).then(|| &stem[..end])
    });
    nearest_first.take(MAX_ANCESTORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("https://www.a.test{path}"), None).unwrap()
    }

    #[track_caller]
    fn check(one: &str, other: &str, language: Option<&str>) {
        let address = Address::of(&url(one));
        assert_eq!(address.document, Address::of(&url(other)).document, "{one} and {other}");
        assert_eq!(address.language, language.and_then(Language::of_tag), "{one}");
    }

    #[test]
    fn addresses_of_one_document_are_known_as_such() {
        check("/index.html", "/", None);
        check("/a/Index.PHP", "/a/", None);
        check("/a", "/a/", None);
        check("/de/", "/", Some("de"));
        check("/de", "/en/", Some("de"));
        check("/pt-br/a/b.html", "/zh_CN/a/b.html", Some("pt-br"));
        check("/docs/fr/x", "/docs/ro/x", Some("fr"));
        check("/a/index.de.html", "/a/index.html.en", Some("de"));
        check("/a/b.ro.html", "/a/b.html", Some("ro"));
        check("/a?print=1", "/a", None);
        check("/a?id=3&view=print", "/a?id=3", None);
        let plain = PageUrl::parse("http://a.test/x/", None).unwrap();
        assert_eq!(Address::of(&plain), Address::of(&url("/x")));
    }

    #[test]
    fn other_documents_are_told_apart() {
        for (one, other) in [
            ("/a", "/b"),
            ("/a.html", "/a.php"),
            ("/a?id=3", "/a?id=4"),
            ("/a?id=3", "/a"),
            ("/it/en/x", "/en/x"),
            ("/a.pl", "/a.cs"),
            ("/de.html", "/en.html"),
            ("/js/", "/"),
            ("/index.pdf", "/"),
        ] {
            assert_ne!(Address::of(&url(one)).document, Address::of(&url(other)).document, "{one} and {other}");
        }
        let other_port = PageUrl::parse("https://a.test:8443/", None).unwrap();
        assert_ne!(Address::of(&other_port).document, Address::of(&url("/")).document);
    }

    #[test]
    fn files_that_are_no_pages_are_told_by_their_ending() {
        for (path, wanted) in [
            ("/a.PDF", true),
            ("/a.tar.gz", true),
            ("/a.html", false),
            ("/a.html?x=y.pdf", false),
            ("/zip", false),
            ("/", false),
        ] {
            assert_eq!(is_other_format(&url(path)), wanted, "{path}");
        }
        assert!(OTHER_ENDINGS.is_sorted());
    }

    #[track_caller]
    fn check_ancestors(path: &str, wanted: &[&str]) {
        assert_eq!(ancestors(stem(&url(path))).collect::<Vec<_>>(), wanted, "{path}");
    }

    #[test]
    fn pages_above_another_are_those_whose_names_it_begins_with() {
        check_ancestors("/", &[]);
        check_ancestors("/index.html", &[]);
        check_ancestors("/news/", &[""]);
        check_ancestors("/a/index.html", &[""]);
        check_ancestors("/book/ch04s01.html", &["/book/ch04s", "/book/ch04", "/book/ch", "/book", ""]);
        check_ancestors("/run-config-client.html", &["/run-config", "/run", ""]);
        check_ancestors("/a/b", &["/a", ""]);
        check_ancestors("/x--y", &[""]);
    }

    #[test]
    fn url_of_a_thousand_words_has_its_nearest_ancestors_alone() {
        let long = format!("/{}", "a1".repeat(1_000));
        assert_eq!(ancestors(&long).count(), MAX_ANCESTORS);
        assert_eq!(ancestors(&long).next(), Some(&long[..long.len() - 1]));
        let deep = "/a".repeat(100);
        assert_eq!(ancestors(&deep).count(), MAX_ANCESTORS);
    }
}
