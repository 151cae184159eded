//! Forms that are read, forms that are not, and the century of a year in two digits.

use proptest::prelude::*;

use super::*;

/// 2019-06-03T11:00:00Z, a Monday.
const SEEN_AT: Timestamp = Timestamp::from_secs(1_559_559_600);

#[track_caller]
fn check(text: &str, wanted: Option<&str>) {
    let got = parse(text, SEEN_AT).map(|at| at.to_string().replace(".000Z", "Z"));
    assert_eq!(got.as_deref(), wanted, "{text:?}");
}

#[test]
fn rfc9110_5_6_7_reads_its_three_forms() {
    check("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z"));
    check("Sunday, 06-Nov-94 08:49:37 GMT", Some("1994-11-06T08:49:37Z"));
    check("Sun Nov  6 08:49:37 1994", Some("1994-11-06T08:49:37Z"));
    check("Sun Nov 16 08:49:37 1994", Some("1994-11-16T08:49:37Z"));
    check("Sat, 31 Dec 2016 23:59:60 GMT", Some("2017-01-01T00:00:00Z"));
    check("Thu, 29 Feb 2024 00:00:00 GMT", Some("2024-02-29T00:00:00Z"));
}

#[test]
fn near_misses_that_leave_no_doubt_are_read() {
    for text in [
        " Mon, 03 Jun 2019 11:30:12 GMT\t",
        "Mon, 3 Jun 2019 11:30:12 UTC",
        "Mon, 03 Jun 2019 11:30:12 +0000",
        "Mon, 03 Jun 2019 13:30:12 +0200",
        "Mon, 03 Jun 2019 06:00:12 -0530",
        "Mon, 03-Jun-2019 11:30:12 GMT",
        "Monday, 03-Jun-19 11:30:12 GMT",
        "mon, 03 jun 2019 11:30:12 gmt",
        "Tue, 03 Jun 2019 11:30:12 GMT",
        "03 Jun 2019 11:30:12 GMT",
        "2019-06-03T11:30:12Z",
        "2019-06-03T11:30:11.25Z",
        "2019-06-03 13:30:12+02:00",
    ] {
        check(text, Some("2019-06-03T11:30:12Z"));
    }
}

#[test]
fn what_names_no_clear_moment_is_not_read() {
    for text in [
        "",
        "Mon",
        "Mon, 31 Feb 2019 11:30:12 GMT",
        "Fri, 29 Feb 2019 11:30:12 GMT",
        "Mon, 00 Jun 2019 11:30:12 GMT",
        "Mon, 03 Jun 2019 24:00:00 GMT",
        "Mon, 03 Jun 2019 11:60:00 GMT",
        "Mon, 03 Jun 2019 11:30 GMT",
        "Mon, 03 Jun 2019 11:30:12",
        "Mon, 03 Jun 2019 11:30:12 EST",
        "Mon, 03 Jun 2019 11:30:12 GMT+1",
        "Mon, 03 Jun 2019 11:30:12 GMT x",
        "Mon, 03 Jux 2019 11:30:12 GMT",
        "Moon, 03 Jun 2019 11:30:12 GMT",
        "Sunday, 06-Nov-94 08+49:37 GMT",
        "Sunday, 06-Nov-194 08:49:37 GMT",
        "Sun Nov  6 08:49:37 94",
        "Mon, 03 Jun 2019 1１:30:12 GMT",
        "2019-06-03",
        "2019-06-03T11:30:12",
        "2019-13-03T11:30:12Z",
        "2019-06-03T11:30:12.Z",
        "1559563200",
    ] {
        check(text, None);
    }
    check(&format!("{}Mon, 03 Jun 2019 11:30:12 GMT", "Mon, ".repeat(1000)), None);
}

#[test]
fn rfc9110_5_6_7_a_year_in_two_digits_is_at_most_50_years_ahead() {
    check("Monday, 03-Jun-19 11:30:12 GMT", Some("2019-06-03T11:30:12Z"));
    check("Monday, 03-Jun-20 11:30:12 GMT", Some("2020-06-03T11:30:12Z"));
    check("Monday, 03-Jun-69 11:00:00 GMT", Some("2069-06-03T11:00:00Z"));
    check("Monday, 03-Jun-69 11:00:01 GMT", Some("1970-01-01T00:00:00Z"));
    check("Thursday, 03-Jun-70 11:00:10 GMT", Some("1970-06-03T11:00:10Z"));
    check("Sunday, 06-Nov-94 08:49:37 GMT", Some("1994-11-06T08:49:37Z"));
    let in_1999 = parse("Monday, 03-Jun-19 11:30:12 GMT", Timestamp::from_secs(946_684_799)).unwrap();
    assert_eq!(in_1999.to_string(), "2019-06-03T11:30:12.000Z");
}

#[test]
fn a_moment_before_1970_is_the_epoch() {
    check("Mon, 03 Jun 1912 11:30:12 GMT", Some("1970-01-01T00:00:00Z"));
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(secs in 0u64..253_402_300_799) {
        let at = Timestamp::from_secs(secs);
        prop_assert_eq!(parse(&at.to_string(), SEEN_AT), Some(at));
    }

    #[test]
    fn the_year_of_a_day_is_found(days in 0i64..2_932_896) {
        let year = year_from_days(days);
        prop_assert!(days_from_civil(year, 1, 1) <= days && days < days_from_civil(year + 1, 1, 1));
    }

    #[test]
    fn any_text_is_read_without_panic(text in ".{0,70}", seen_secs in any::<u64>()) {
        let _ = parse(&text, Timestamp::from_secs(seen_secs));
    }

    #[test]
    fn date_like_text_is_read_without_panic(text in "[A-Za-z]{3},? [0-9]{1,2}[- ][A-Z][a-z]{2}[- ][0-9]{2,4} [0-9:]{8} [A-Z+0-9-]{1,6}") {
        let _ = parse(&text, SEEN_AT);
    }
}
