use super::*;

/// What a query comes to, in one line.
fn shown(query: &Query) -> String {
    let term = |sign: &str, term: &Term| {
        let place = if term.place == TermPlace::Title { "title:" } else { "" };
        format!("{sign}{place}{}", term.words.join("+"))
    };
    let mut parts: Vec<String> = query.wanted.iter().map(|wanted| term("", wanted)).collect();
    parts.extend(query.unwanted.iter().map(|unwanted| term("-", unwanted)));
    parts.extend(query.hosts.iter().map(|host| format!("@{host}")));
    parts.extend(query.language.map(|language| format!("%{language}")));
    parts.join(" ")
}

#[track_caller]
fn check(typed: &str, wanted: &str, notes: &[PassedOver]) {
    let query = Query::parse(typed);
    assert_eq!(shown(&query), wanted, "{typed:?}");
    assert_eq!(query.passed_over, notes, "{typed:?}");
    assert_eq!(query.notes().len(), notes.len());
}

#[test]
fn words_and_phrases_are_wanted_or_not() {
    check("rust crawler", "rust crawler", &[]);
    check("  Școală \t națională ", "Școală națională", &[]);
    check("\"polite crawler\" rust", "polite+crawler rust", &[]);
    check("rust -ruby -\"java script\"", "rust -ruby -java+script", &[]);
    check("„actele necesare” permis", "actele+necesare permis", &[]);
    check("e-mail debian.org", "e mail debian org", &[]);
    check("a\"b c\"d", "a b+c d", &[]);
    check("rust - ruby", "rust ruby", &[]);
    check("rust -e-mail", "rust -e+mail", &[]);
    check("rust --ruby", "rust -ruby", &[]);
    check("東京 天気", "東+京 天+気", &[]);
    check("Rust rust RUST", "Rust", &[]);
    check("a\u{0}b", "a b", &[]);
}

#[test]
fn operators_are_read_whatever_their_case() {
    check("site:example.com rust", "rust @example.com", &[]);
    check("SITE:https://Www.Example.com/ rust", "rust @www.example.com", &[]);
    check("site:exämple.com site:b.org", "@xn--exmple-cua.com @b.org", &[]);
    check("lang:RO școli", "școli %ro", &[]);
    check("intitle:rust intitle:\"polite bot\" -intitle:ruby", "title:rust title:polite+bot -title:ruby", &[]);
    check("foo:bar", "foo bar", &[]);
    check("(a OR b) AND c*", "a OR b AND c", &[]);
}

#[test]
fn what_cannot_be_used_is_told_of() {
    check("", "", &[PassedOver::NothingWanted]);
    check("!!! --- \"\"", "", &[PassedOver::NothingWanted]);
    check("-rust", "-rust", &[PassedOver::NothingWanted]);
    check("lang:ro", "%ro", &[PassedOver::NothingWanted]);
    check("\"a b", "a+b", &[PassedOver::OpenQuotation]);
    check("a site:", "a", &[PassedOver::NoDomain(String::new())]);
    check("a site:a..b", "a", &[PassedOver::NoDomain("a..b".into())]);
    check("a lang:english", "a", &[PassedOver::NoLanguage("english".into())]);
    check("a lang:ro lang:en", "a %ro", &[PassedOver::SecondLanguage("en".into())]);
    check("a -site:b.com -lang:ro", "a", &[PassedOver::MinusBefore("site:"), PassedOver::MinusBefore("lang:")]);
    check("a intitle:", "a", &[PassedOver::NoTitleWord]);
}

#[test]
fn a_long_query_is_cut_at_a_word_and_at_sixteen_words() {
    let many: Vec<String> = (0..30).map(|number| format!("w{number}")).collect();
    let query = Query::parse(&many.join(" "));
    assert_eq!((query.num_words(), query.passed_over), (16, vec![PassedOver::TooManyWords]));
    let query = Query::parse(&format!("\"{}\"", many.join(" ")));
    assert_eq!((query.wanted.len(), query.num_words()), (1, 16));
    let query = Query::parse(&format!("first {} last", "ț".repeat(200)));
    assert_eq!((shown(&query).as_str(), query.passed_over), ("first", vec![PassedOver::TooLong]));
    let query = Query::parse(&"(".repeat(100_000));
    assert_eq!(query.passed_over, [PassedOver::TooLong, PassedOver::NothingWanted]);
}

proptest::proptest! {
    #[test]
    fn whatever_is_typed_is_a_query_within_its_bounds(typed in "([\"\\-:()a-c țșă\\PC]|site:|lang:|intitle:|-\"){0,60}") {
        let query = Query::parse(&typed);
        proptest::prop_assert!(query.typed.len() <= MAX_QUERY_BYTES);
        proptest::prop_assert!(query.num_words() <= MAX_QUERY_WORDS);
        proptest::prop_assert!(query.can_be_asked() || query.passed_over.contains(&PassedOver::NothingWanted));
        for term in query.wanted.iter().chain(&query.unwanted) {
            proptest::prop_assert!(!term.words.is_empty());
            proptest::prop_assert!(term.words.iter().all(|word| !text::folded(word).is_empty()));
        }
        // Read again, it is the same.
        let again = Query::parse(&query.typed);
        proptest::prop_assert_eq!((again.wanted, again.unwanted), (query.wanted, query.unwanted));
    }
}
