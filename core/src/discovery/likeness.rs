//! Which URLs are alike: what the answer of one says about others that were not asked yet.
//!
//! Dead links, redirects and downloads come in lists, and a list has its addresses from one hand: they stand in one folder, or are written
//! alike, however random each is. What is alike here is a guess by the address alone; what follows from it is said in
//! [`crate::page_choice`]. Invariants: no URL is alike to one of another host; it costs time linear in the URL and no memory.

use xxhash_rust::xxh3::Xxh3;

use crate::url::PageUrl;

/// How many kinds of likeness there are.
pub const NUM_LIKENESSES: usize = 3;

/// Longest ending of a file's name that is taken for one, in bytes.
const MAX_ENDING_BYTES: usize = 5;

const LOWER: u8 = 1;
const UPPER: u8 = 1 << 1;
const DIGIT: u8 = 1 << 2;
/// Letters and digits in one word, as in what a machine made up.
const MIXED: u8 = 1 << 3;
const HYPHEN: u8 = 1 << 4;
const UNDERSCORE: u8 = 1 << 5;
const OTHER: u8 = 1 << 6;

/// A fingerprint for each kind of likeness; two URLs are alike in a kind where they have the same one there.
///
/// In this order: they stand in the same folder; each part of their paths is made of the same kinds of characters; the same, and the
/// last part is as long. In all three they have the same ending and the same names of parameters.
pub fn likenesses(url: &PageUrl) -> [u64; NUM_LIKENESSES] {
    let path = url.as_url().path().trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if is_ending(ending) => (stem, ending),
        Some(_) | None => (name, ""),
    };
    let mut shared = Xxh3::new();
    shared.update(url.host().as_bytes());
    for name in parameter_names(url).chain([ending]) {
        shared.update(name.as_bytes());
        shared.update(b"\0");
    }
    let mut by_folder = shared.clone();
    by_folder.update(folder.as_bytes());
    let mut by_form = shared;
    let form = |part: &str| [b'/', kinds_of_characters(part)];
    for part in folder.split('/').chain([stem]) {
        by_form.update(&form(part));
    }
    let mut by_length = by_form.clone();
    by_length.update(&stem.len().to_le_bytes());
    // What is alike in one kind is not by chance alike in another.
    [by_folder, by_form, by_length].map(|hasher| hasher.digest())
}

fn is_ending(part: &str) -> bool {
    (1..=MAX_ENDING_BYTES).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn parameter_names(url: &PageUrl) -> impl Iterator<Item = &str> {
    let parameters = url.as_url().query().unwrap_or_default().split('&');
    parameters.map(|parameter| parameter.split_once('=').map_or(parameter, |(name, _)| name))
}

/// The kinds of characters that a part of a path holds, a bit for each.
fn kinds_of_characters(part: &str) -> u8 {
    let (mut all, mut word) = (0, 0);
    for byte in part.bytes() {
        let kind = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'-' => HYPHEN,
            b'_' => UNDERSCORE,
            _ => OTHER,
        };
        word = if kind < MIXED { word | kind } else { 0 };
        let is_mixed = word & DIGIT != 0 && word != DIGIT;
        all |= kind | if is_mixed { MIXED } else { 0 };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(raw: &str) -> PageUrl {
        let site = PageUrl::parse("https://a.test/", None).unwrap();
        PageUrl::parse(raw, Some(&site)).unwrap()
    }

    /// In which kinds two URLs are alike: folder, form, form and length.
    #[track_caller]
    fn check(one: &str, other: &str, wanted: [bool; NUM_LIKENESSES]) {
        let (of_one, of_other) = (likenesses(&url(one)), likenesses(&url(other)));
        let seen: Vec<bool> = of_one.iter().zip(&of_other).map(|(one, other)| one == other).collect();
        assert_eq!(seen, wanted, "{one} and {other}");
    }

    #[test]
    fn urls_of_one_list_are_alike() {
        check("/old/1", "/old/2", [true, true, true]);
        check("/old/9", "/old/10", [true, true, false]);
        check("/old/9/", "/old/8", [true, true, true]);
        check("/old/first-post", "/old/second-long-post", [true, true, false]);
        check("/go?to=x", "/go?to=abc", [true, true, true]);
        check("/a3f/k9x", "/b7q/0zz", [false, true, true]);
        check("/a3f.html", "/77b.html", [true, true, true]);
        check("/x.y z", "/x.y z w", [true, true, false]);
    }

    #[test]
    fn urls_of_different_makes_are_not() {
        check("/about", "/a8f3k", [true, false, false]);
        check("/about", "/About", [true, false, false]);
        check("/about", "/about-us", [true, false, false]);
        check("/about", "/about_us", [true, false, false]);
        check("/news/one", "/old/two", [false, true, true]);
        check("/one", "/old/two", [false, false, false]);
        check("/one.html", "/two.php", [false, false, false]);
        check("/one", "/two?page=2", [false, false, false]);
        check("/one?page=2", "/one?id=2", [false, false, false]);
        check("/one", "https://b.a.test/two", [false, false, false]);
        check("/v-1", "/v1x", [true, false, false]);
        check("/v-1", "/v1", [true, false, false]);
    }

    #[test]
    fn home_page_and_urls_without_a_name_are_alike_to_themselves() {
        check("/", "/", [true, true, true]);
        check("/", "/?a=1", [false, false, false]);
        check("/", "/about", [true, false, false]);
    }
}
