use super::*;

#[track_caller]
fn check_words(text: &str, wanted: &[&str]) {
    let found: Vec<&str> = words(text).map(|word| word.text).collect();
    assert_eq!(found, wanted, "{text:?}");
    for word in words(text) {
        assert_eq!(&text[word.start..word.end], word.text);
    }
}

#[test]
fn words_are_runs_of_letters_and_digits() {
    check_words("", &[]);
    check_words(" - !", &[]);
    check_words("Hello, world!", &["Hello", "world"]);
    check_words("e-mail: a.b@c.de", &["e", "mail", "a", "b", "c", "de"]);
    check_words("C++ 3.14 l'eau", &["C", "3", "14", "l", "eau"]);
    check_words("Școala Națională", &["Școala", "Națională"]);
    check_words("s\u{326}coala", &["s\u{326}coala"]);
    check_words("हिन्दी भाषा", &["हिन्दी", "भाषा"]);
    check_words("한국어 위키", &["한국어", "위키"]);
}

#[test]
fn scripts_without_spaces_are_taken_apart() {
    check_words("東京都2026", &["東", "京", "都", "2026"]);
    check_words("Debian日本", &["Debian", "日", "本"]);
    check_words("ก็ดี", &["ก็", "ดี"]);
}

#[track_caller]
fn check_folded(word: &str, wanted: &str) {
    assert_eq!(folded(word), wanted, "{word:?}");
}

#[test]
fn romanian_letters_are_one_with_comma_with_cedilla_and_without() {
    for word in ["școlilor", "şcolilor", "scolilor", "ȘCOLILOR", "Şcolilor", "s\u{326}colilor", "s\u{327}colilor"] {
        check_folded(word, "scolilor");
    }
    for word in ["înțelegând", "înţelegînd", "intelegand", "ÎNȚELEGÂND"] {
        assert!(["intelegand", "intelegind"].contains(&folded(word).as_str()), "{word}");
    }
    check_folded("țară", "tara");
    check_folded("ţară", "tara");
}

#[test]
fn marks_and_odd_letters_of_other_languages_fold() {
    for (word, wanted) in [
        ("Straße", "strasse"),
        ("Ærø", "aero"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ıslak", "islak"),
        ("naïve", "naive"),
        ("Việt", "viet"),
        ("Ελλάδα", "ελλαδα"),
        ("λόγος", "λογοσ"),
        ("ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("ﬁn", "fin"),
        ("Ｆｕｌｌ", "full"),
        ("½", "12"),
        ("हिन्दी", "हिन्दी"),
        ("한국어", "한국어"),
    ] {
        check_folded(word, wanted);
    }
}

#[track_caller]
fn check_one_stem(language: &str, forms: &[&str]) {
    let language = StemLanguage::of_tag(language).unwrap();
    let of = |form: &str| stems(form, language);
    let first = of(forms[0]);
    for form in forms {
        assert!(of(form).iter().any(|stem| first.contains(stem)), "{form}: {:?}, {}: {first:?}", of(form), forms[0]);
    }
}

#[test]
fn forms_of_a_word_share_a_stem_with_diacritics_and_without() {
    check_one_stem("ro", &["școlilor", "şcolilor", "scolilor", "școlile", "scolile", "școli", "scoli"]);
    check_one_stem("ro", &["bibliotecă", "biblioteca", "bibliotecii", "biblioteci", "bibliotecile"]);
    check_one_stem("ro", &["muzeul", "muzeului"]);
    check_one_stem("ro", &["primărie", "primăria", "primariei", "primăriei", "primarie"]);
    check_one_stem("en", &["connection", "connections", "connected", "connecting"]);
    check_one_stem("de-AT", &["Häuser", "Hauser", "häusern"]);
    check_one_stem("fr", &["continué", "continue", "continuer"]);
    check_one_stem("mo", &["muzeul", "muzeului"]);
    check_one_stem("nn-NO", &["havnen", "havn"]);
}

/// Measured with frostem 1.20260821: 28 of these 34 pairs meet as written, 26 with one form typed without diacritics.
#[test]
fn a_romanian_form_without_diacritics_meets_no_fewer_forms_than_one_with_them() {
    let ro = StemLanguage::of_tag("ro").unwrap();
    let pairs = [
        ("știință", "științe"),
        ("știință", "științei"),
        ("cărți", "cărților"),
        ("mașină", "mașini"),
        ("mașina", "mașinilor"),
        ("pădure", "păduri"),
        ("pădurea", "pădurilor"),
        ("învățător", "învățători"),
        ("învățătorul", "învățătorilor"),
        ("țară", "țara"),
        ("țări", "țărilor"),
        ("frumusețe", "frumuseți"),
        ("întâmplare", "întâmplări"),
        ("câine", "câini"),
        ("câinele", "câinilor"),
        ("română", "românești"),
        ("român", "românilor"),
        ("sănătate", "sănătății"),
        ("universitate", "universității"),
        ("universitatea", "universităților"),
        ("cetățean", "cetățeni"),
        ("cetățenilor", "cetățeni"),
        ("București", "Bucureștiului"),
        ("călătorie", "călătorii"),
        ("călătorii", "călătoriilor"),
        ("informație", "informații"),
        ("informația", "informațiilor"),
        ("stațiune", "stațiuni"),
        ("rețetă", "rețete"),
        ("rețetele", "rețetelor"),
        ("mâncare", "mâncăruri"),
        ("brânză", "brânzeturi"),
        ("oraș", "orașe"),
        ("orașul", "orașelor"),
    ];
    let meets = |one: &str, other: &str| stems(one, ro).iter().any(|stem| stems(other, ro).contains(stem));
    let (mut with, mut without) = (0, 0);
    for (one, other) in pairs {
        with += usize::from(meets(one, other));
        without += usize::from(meets(&folded(one), other));
    }
    assert!(with >= 28, "{with} of {}", pairs.len());
    assert!(without >= 26, "{without} without diacritics, {with} with");
}

#[test]
fn a_language_is_named_only_where_it_is_beyond_doubt() {
    for (text, wanted) in [
        ("Primăria municipiului anunță programul de lucru cu publicul pentru luna decembrie", Some("ro")),
        ("The city council announces the opening hours of its offices for the month of December", Some("en")),
        ("Die Stadtverwaltung teilt die Öffnungszeiten ihrer Büros für den Monat Dezember mit", Some("de")),
        ("kernel", None),
        ("", None),
        ("東京都の天気予報と週間天気、雨雲レーダーをお届けします。お出かけ前にご確認ください。", None),
    ] {
        assert_eq!(detect(text).map(StemLanguage::tag), wanted, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn folding_twice_is_folding_once(text in "\\PC{0,60}") {
        let once = folded(&text);
        proptest::prop_assert!(once.chars().count() <= MAX_WORD_CHARS);
        proptest::prop_assert_eq!(folded(&once), once);
    }

    #[test]
    fn words_of_any_text_lie_in_it_in_order_and_have_stems_in_every_language(text in "\\PC{0,40}") {
        let mut last = 0;
        for word in words(&text) {
            proptest::prop_assert!(word.start >= last && !word.text.is_empty());
            proptest::prop_assert_eq!(&text[word.start..word.end], word.text);
            last = word.end;
            for language in StemLanguage::all() {
                proptest::prop_assert!(stems(word.text, language).len() <= 2);
            }
        }
        detect(&text);
    }
}
