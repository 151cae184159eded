//! Which language a page is shown in: what the link says, else what the browser asks for (RFC 9110 §12.5.4), else English.

/// A language that the pages are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLanguage {
    /// English.
    English,
    /// Romanian.
    Romanian,
}

/// Most ranges of an `Accept-Language` that are looked at.
const MAX_RANGES: usize = 32;

impl PageLanguage {
    /// All of them, the one that is shown when nothing else decides first.
    pub const ALL: [Self; 2] = [Self::English, Self::Romanian];

    /// Its tag (RFC 5646).
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Romanian => "ro",
        }
    }

    /// The language with this tag.
    pub fn of_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(tag))
    }

    /// The language that an `Accept-Language` prefers among ours.
    pub fn negotiate(accept: &str) -> Self {
        let ranges: Vec<Range> = accept.split(',').take(MAX_RANGES).filter_map(Range::parse).collect();
        let mut best = (Self::English, Wish::NONE);
        for language in Self::ALL {
            let wish = language.wish(&ranges);
            if wish.is_above(best.1) {
                best = (language, wish);
            }
        }
        best.0
    }

    /// How much the ranges want this language: the ranges that name it count before `*`.
    fn wish(self, ranges: &[Range]) -> Wish {
        let wish_of = |matches: &dyn Fn(&Range) -> bool| {
            ranges
                .iter()
                .enumerate()
                .filter(|(_, range)| matches(range))
                .map(|(position, range)| Wish { quality: range.quality, position })
                .reduce(|best, next| if next.is_above(best) { next } else { best })
        };
        wish_of(&|range| range.names(self)).or_else(|| wish_of(&|range| range.tag == "*")).unwrap_or(Wish::NONE)
    }
}

/// A quality, and where it stood: of two equal ones the first is meant.
#[derive(Clone, Copy)]
struct Wish {
    /// In thousandths; 0 is "not this".
    quality: u16,
    position: usize,
}

impl Wish {
    const NONE: Self = Self { quality: 0, position: usize::MAX };

    fn is_above(self, other: Self) -> bool {
        self.quality > other.quality
            || (self.quality == other.quality && self.quality > 0 && self.position < other.position)
    }
}

/// A language range with its weight.
struct Range<'a> {
    tag: &'a str,
    quality: u16,
}

impl<'a> Range<'a> {
    /// None where the element is malformed: it then says nothing, and the others still do.
    fn parse(element: &'a str) -> Option<Self> {
        let mut parts = element.split(';').map(str::trim);
        let tag = parts.next().filter(|tag| !tag.is_empty())?;
        let quality = match parts.next() {
            None => 1000,
            Some(weight) => {
                let (name, value) = weight.split_once('=')?;
                if !name.trim().eq_ignore_ascii_case("q") {
                    return None;
                }
                thousandths(value.trim())?
            }
        };
        Some(Self { tag, quality })
    }

    /// Whether it names the language, with or without a region. `mo` was the tag of Romanian in Moldova until 2008.
    fn names(&self, language: PageLanguage) -> bool {
        let primary = self.tag.split('-').next().unwrap_or(self.tag);
        primary.eq_ignore_ascii_case(language.tag())
            || (language == PageLanguage::Romanian && primary.eq_ignore_ascii_case("mo"))
    }
}

/// `0`, `1`, `0.8`, `1.000` in thousandths (RFC 9110 §12.4.2).
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part: u16 = format!("{decimals:0<3}").parse().ok()?;
    match (whole, part) {
        ("0", part) => Some(part),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, wanted: &str) {
        assert_eq!(PageLanguage::negotiate(accept).tag(), wanted, "{accept:?}");
    }

    #[test]
    fn highest_quality_wins() {
        check("ro", "ro");
        check("en", "en");
        check("RO", "ro");
        check("ro-RO,ro;q=0.9,en-US;q=0.8,en;q=0.7", "ro");
        check("en-US,en;q=0.9,ro;q=0.8", "en");
        check("en;q=0.8, ro;q=0.9", "ro");
        check("en;q=0.80,ro;q=0.801", "ro");
        check("de,fr;q=0.9,ro;q=0.1", "ro");
        check("mo", "ro");
        check("ro-MD", "ro");
        check("en ; q = 0.1 , ro ; q = 0.2", "ro");
    }

    #[test]
    fn first_of_equals_wins() {
        check("ro,en", "ro");
        check("en,ro", "en");
        check("ro;q=0.5,en;q=0.5", "ro");
        check("en;q=0.5,ro;q=0.5", "en");
    }

    #[test]
    fn quality_zero_and_star_are_heeded() {
        check("en;q=0,*", "ro");
        check("en;q=0,ro;q=0", "en");
        check("*", "en");
        check("*;q=0.1,ro;q=0.5", "ro");
        check("ro;q=0.3,*;q=0.5", "en");
        check("ro;q=0,*;q=0.5", "en");
        check("en-GB;q=0,*;q=0.2", "ro");
    }

    #[test]
    fn what_says_nothing_gives_english() {
        for accept in
            ["", ",", ";q=1", "de", "roman", "ron", "ro;q=2", "ro;q=0.1234", "ro;q=-1", "ro;q=x", "ro;x=1", "ro;q"]
        {
            check(accept, "en");
        }
        check(&format!("{}ro", "de,".repeat(40)), "en");
    }

    #[test]
    fn broken_elements_leave_the_others_standing() {
        check("en;q=7,ro;q=0.2", "ro");
        check(",,ro,", "ro");
    }
}
