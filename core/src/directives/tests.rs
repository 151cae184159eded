//! Directives of metas and header fields, row by row, and that no field lifts what another forbids.

use super::*;

const NOTHING: Directives =
    Directives { noindex: false, nofollow: false, noarchive: false, nosnippet: false, unavailable_after: None };

/// `wanted` names the directives that are set, by their first letters.
fn of_letters(wanted: &str) -> Directives {
    Directives {
        noindex: wanted.contains('i'),
        nofollow: wanted.contains('f'),
        noarchive: wanted.contains('a'),
        nosnippet: wanted.contains('s'),
        unavailable_after: None,
    }
}

#[track_caller]
fn check_meta(content: &str, wanted: &str) {
    assert_eq!(Directives::of_meta_content(content), of_letters(wanted), "content {content:?}");
}

#[track_caller]
fn check_headers(values: &[&str], wanted: &str) {
    let mut head = ResponseHead::new(200);
    values.iter().for_each(|value| head.push("X-Robots-Tag", value.as_bytes()));
    assert_eq!(Directives::of_headers(&head, "lohisoftbot"), of_letters(wanted), "values {values:?}");
}

#[test]
fn meta_content_is_a_list_in_any_case() {
    check_meta("noindex,nofollow", "if");
    check_meta("NOINDEX , Follow", "i");
    check_meta("index, noindex", "i");
    check_meta("none", "if");
    check_meta("all", "");
    check_meta("", "");
    check_meta("noarchive, nosnippet, noimageindex, notranslate", "as");
    check_meta("noindex nofollow", "if");
    check_meta("noindex;nofollow", "if");
    check_meta("max-snippet:0", "s");
    check_meta("max-snippet: 0, max-image-preview:none", "s");
    check_meta("max-snippet:-1, max-snippet:20", "");
    check_meta("noindexing, xnofollow", "");
}

#[test]
fn headers_add_up_and_hold_for_the_robot_they_name() {
    check_headers(&[], "");
    check_headers(&["noindex, nofollow"], "if");
    check_headers(&["nofollow", "lohisoftbot: noindex"], "if");
    check_headers(&["LohiSoftBot: none"], "if");
    check_headers(&["googlebot: noindex, nofollow"], "");
    check_headers(&["googlebot: noindex, lohisoftbot: nofollow"], "f");
    check_headers(&["nofollow, googlebot: noindex"], "f");
    check_headers(&["googlebot: noindex", "nosnippet"], "s");
    check_headers(&["*: noarchive"], "a");
    check_headers(&["max-snippet:0, noindex"], "si");
}

#[test]
fn a_date_keeps_its_commas_and_colons() {
    for value in [
        "unavailable_after: Wednesday, 03-Jul-13 15:30:00 GMT, noindex",
        "noindex, unavailable_after: 3 Jul 2013 15:30:00 GMT",
        "noindex, lohisoftbot: unavailable_after: Wednesday, Jul 3, 2013 15:30 UTC",
        "noindex, unavailable_after: 2013-07-03T15:30:00Z",
    ] {
        let head = ResponseHead::new(200).with("x-robots-tag", value);
        let wanted = Some(Timestamp::from_secs(1_372_865_400));
        let found = Directives::of_headers(&head, "lohisoftbot");
        assert_eq!(found, Directives { noindex: true, unavailable_after: wanted, ..NOTHING }, "value {value:?}");
    }
}

#[test]
fn the_earlier_of_two_ends_wins_and_an_unreadable_one_is_none() {
    let both = Directives::of_meta_content("unavailable_after: 2020-09-21, unavailable_after: 2019-01-01");
    assert_eq!(both.unavailable_after, parse_date("2019-01-01"));
    assert_eq!(Directives::of_meta_content("unavailable_after: soon, nofollow"), of_letters("f"));
}

#[test]
fn storing_ends_at_the_moment_named() {
    let end = Timestamp::from_secs(1000);
    let directives = Directives { unavailable_after: Some(end), ..NOTHING };
    assert!(directives.allows_storing(Timestamp::from_secs(999)));
    assert!(!directives.allows_storing(end));
    assert!(!Directives { noindex: true, ..NOTHING }.allows_storing(Timestamp::EPOCH));
}

#[track_caller]
fn check_field(name: &str, value: &str, wanted: &str) {
    let head = ResponseHead::new(200).with(name, value);
    assert_eq!(Directives::of_headers(&head, "lohisoftbot"), of_letters(wanted), "{name}: {value}");
}

/// The new form under its own name, and under the old one, to which the draft gives it too.
#[track_caller]
fn check_structured(value: &str, wanted: &str) {
    check_field("Robots-Tag", value, wanted);
    check_field("X-Robots-Tag", value, wanted);
}

#[test]
fn repext_3_1_1_keys_are_robots_and_parameters_are_rules() {
    check_structured("*;noindex", "i");
    check_structured("*;noindex;nosnippet, ExampleBot;", "is");
    check_structured(";noindex;nosnippet, ExampleBot=;", "is");
    check_structured("*; NoIndex ;\tnoarchive", "ia");
    check_structured("lohisoftbot;noindex", "i");
    check_structured("LohiSoftBot;none", "if");
    check_structured("LohiSoftBot/1.0;nofollow", "f");
    check_structured("*;noarchive, lohisoftbot;nofollow, *;nosnippet", "afs");
    check_structured("*;max-snippet=0", "s");
    check_structured("*;max-snippet=\"0\"", "s");
    check_structured("*;max-snippet=20;unknown=1", "");
}

#[test]
fn repext_3_1_1_rules_may_stand_in_a_list_or_a_value() {
    check_structured("*=(noindex nosnippet)", "is");
    check_structured("*=(\"noindex\" \"nofollow\"), examplebot=()", "if");
    check_structured("*=noindex", "i");
    check_structured("\"*\"=\"noindex, nofollow\"", "if");
    check_structured("lohisoftbot=( noindex );nosnippet", "is");
}

#[test]
fn repext_3_1_1_rules_of_other_robots_are_not_ours() {
    for value in ["ExampleBot;noindex", "examplebot;none, otherbot;noindex", "\"x\";noindex", "notlohisoftbot;noindex"]
    {
        check_field("Robots-Tag", value, "");
    }
    check_structured("ExampleBot=(noindex none)", "");
    check_field("Robots-Tag", "examplebot=\"a, noindex\"", "");
    check_structured("*, *;, *;all;index", "");
    check_structured("*;noindexing", "");
    check_field("Robots-Tag", "*;noindex=?0;nofollow=?1", "f");
    check_field("Robots-Tag", "examplebot;noindex, *;nofollow", "f");
}

#[test]
fn the_old_form_under_the_new_name_is_read_as_what_it_is() {
    check_field("Robots-Tag", "noindex", "i");
    check_field("Robots-Tag", "noindex, nofollow", "if");
    check_field("Robots-Tag", "nocache;noindex", "i");
    check_field("Robots-Tag", "noindex nosnippet", "is");
    check_field("Robots-Tag", "lohisoftbot: noindex", "i");
    check_field("Robots-Tag", "examplebot: noindex, nofollow", "");
    check_field("Robots-Tag", "nosnippet, examplebot: noindex", "s");
    check_field("Robots-Tag", "max-snippet:0, noindex", "si");
    check_field("Robots-Tag", "max-snippet=0", "s");
}

#[test]
fn a_member_with_a_value_hides_no_rule_of_the_new_form_beside_it() {
    check_structured("*=(noindex), max-image-preview=large", "i");
    check_structured("max-image-preview=large, *=(noindex nofollow)", "if");
    check_structured("*=\"noindex\", max-snippet=0", "is");
    check_structured("max-snippet=\"0\", lohisoftbot=noindex", "si");
    check_structured("noindex=?1, max-video-preview=5", "i");
    check_structured("max-snippet=0;noindex", "is");
    check_structured("max-snippet: 20; nofollow", "f");
    check_structured("max-image-preview=large, examplebot=(noindex)", "");
    check_structured("max-image-preview=large, noindex=?0", "");
}

#[test]
fn a_robot_before_a_colon_hides_no_member_that_is_for_us() {
    check_structured("examplebot: nofollow, *;noindex", "i");
    check_structured("examplebot: nofollow, *=(noindex nosnippet)", "is");
    check_structured("examplebot: nofollow, lohisoftbot=\"noindex\"", "i");
    check_structured("lohisoftbot: nofollow, *=(noindex)", "if");
    check_structured("examplebot: nofollow; lohisoftbot: noindex", "i");
    check_structured("examplebot: nofollow, noindex, otherbot;nosnippet", "");
}

#[test]
fn a_broken_value_still_forbids_what_it_plainly_forbids() {
    check_structured("*;noindex;\"", "i");
    check_structured("*=(noindex", "i");
    check_structured("*=\"noindex", "i");
    check_structured("*;x=\"y, *;noindex", "i");
    check_structured(",,;;*;noindex,", "i");
    check_structured("* ; noindex !", "i");
    check_headers(&["\"noindex, nofollow\""], "if");
    check_headers(&["robots: noindex"], "i");
    check_headers(&["lohisoftbot/1.0 : noindex"], "i");
    check_headers(&["unavailable_after: Wed, 03 Foo 2013, 15:30, noindex"], "i");
}

#[test]
fn an_end_may_stand_in_the_new_form() {
    for value in [
        "*;unavailable_after=@1372865400",
        "*;unavailable_after=\"Wed, 03 Jul 2013 15:30:00 GMT\"",
        "*;unavailable_after=2013-07-03T15:30:00Z",
        "*;unavailable_after=3 Jul 2013 15:30:00 GMT",
        "unavailable_after: Wednesday, 03-Jul-13 15:30:00 GMT",
        "unavailable_after: 3 Jul 2013, 15:30:00 GMT",
        "unavailable_after: 3 Jul 2013, 15:30:00 GMT, *;nofollow",
        "noindex, unavailable_after=@1372865400",
        "unavailable_after=@1372865400, noindex",
        "lohisoftbot: unavailable_after=\"@1372865400\"",
        "*=(nofollow), unavailable_after=@1372865400;noindex",
    ] {
        for name in ["Robots-Tag", "X-Robots-Tag"] {
            let head = ResponseHead::new(200).with(name, value);
            let found = Directives::of_headers(&head, "lohisoftbot");
            assert_eq!(found.unavailable_after, Some(Timestamp::from_secs(1_372_865_400)), "{name}: {value}");
            assert_eq!(found.noindex, value.contains("noindex"), "{name}: {value}");
        }
    }
    // Under the old name a semicolon sets words apart as well, so that the other robot's end counts too.
    for (name, seconds) in [("Robots-Tag", 1_372_865_400), ("X-Robots-Tag", 1)] {
        let value = "*;unavailable_after=\"2013-07-03T15:30:00Z\", examplebot;unavailable_after=@1";
        let found = Directives::of_headers(&ResponseHead::new(200).with(name, value), "lohisoftbot");
        assert_eq!(found.unavailable_after, Some(Timestamp::from_secs(seconds)), "{name}");
    }
    let ended = Directives::of_meta_content("unavailable_after: @-5, noindex");
    assert_eq!(ended, Directives { noindex: true, unavailable_after: Some(Timestamp::EPOCH), ..NOTHING });
    for value in ["*;unavailable_after=@x", "*;unavailable_after=@99999999999999999999", "*;unavailable_after"] {
        check_field("Robots-Tag", value, "");
    }
}

#[test]
fn aipref_attach_2_content_usage_without_search_counts_as_noindex() {
    check_field("Content-Usage", "search=n", "i");
    check_field("Content-Usage", "train-ai=y, search=n;x=1", "i");
    check_field("Content-Usage", "search=y", "");
    check_field("Content-Usage", "train-ai=n", "");
    let head = ResponseHead::new(200).with("content-usage", "search=y").with("content-usage", "search=n");
    assert!(Directives::of_headers(&head, "lohisoftbot").noindex, "fields add up");
}

#[test]
fn fields_of_every_name_add_up() {
    let head = ResponseHead::new(200)
        .with("x-robots-tag", "nofollow")
        .with("robots-tag", "*;nosnippet")
        .with("robots-tag", "lohisoftbot;noarchive, examplebot;none")
        .with("content-usage", "search=n");
    assert_eq!(Directives::of_headers(&head, "LohiSoftBot"), of_letters("ifas"));
}

#[test]
fn a_name_with_a_version_is_ours_and_one_that_only_begins_so_is_not() {
    for name in ["lohisoftbot", " LohiSoftBot ", "LOHISOFTBOT/1.0", "lohisoftbot 1"] {
        assert!(is_our_name(name, "lohisoftbot"), "{name:?}");
    }
    for name in ["", "*", "robots", "lohisoftbot-news", "lohi", "xlohisoftbot"] {
        assert!(!is_our_name(name, "lohisoftbot"), "{name:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_value_makes_it_panic_and_a_prohibition_is_never_lifted(
        name in "(X-Robots-Tag|Robots-Tag|Content-Usage)",
        value in "(.{0,80}|[*a-z;=,:\"()\\\\ ?@0]{0,40})",
    ) {
        for forbidding in [("x-robots-tag", "noindex"), ("robots-tag", "*;noindex"), ("content-usage", "search=n")] {
            let head = ResponseHead::new(200).with(forbidding.0, forbidding.1).with(&name, &value);
            proptest::prop_assert!(Directives::of_headers(&head, "lohisoftbot").noindex);
        }
        Directives::of_meta_content(&value);
    }

    #[test]
    fn what_a_structured_field_says_to_another_robot_is_nothing_to_us(
        rules in proptest::collection::vec("(noindex|nofollow|none|nosnippet|max-snippet=0|x=\"a, b;c\"|unavailable_after=@1)", 0..6),
    ) {
        let head = ResponseHead::new(200).with("robots-tag", format!("examplebot;{}", rules.join(";")));
        proptest::prop_assert_eq!(Directives::of_headers(&head, "lohisoftbot"), NOTHING);
    }
}
