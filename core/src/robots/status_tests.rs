//! RFC 9309 §2.3.1 and §2.4, row by row.

use super::*;
use crate::robots::RobotsBasis;

const FILE: &[u8] = b"User-agent: *\nDisallow: /private/\n";

fn url(raw: &str) -> PageUrl {
    PageUrl::parse(raw, None).unwrap()
}

fn way(asked: &[&str]) -> RobotsHops {
    let mut hops = RobotsHops::from_origin(&url(asked[0]).origin());
    for target in &asked[1..] {
        hops.follow(url(target));
    }
    hops
}

fn whole<'a>(head: &'a ResponseHead, body: &'a [u8]) -> RobotsAnswer<'a> {
    RobotsAnswer { head, body, body_end: BodyEnd::Whole, validators: Validators::NotSent }
}

fn read_status(status: u16) -> RobotsReading {
    read_answer(&way(&["http://a.example/"]), &whole(&ResponseHead::new(status), FILE), "bot")
}

#[test]
fn rfc9309_2_3_1_1_success_is_parsed_whatever_the_type() {
    for status in [200, 203, 206, 299] {
        let RobotsReading::Rules(policy) = read_status(status) else { panic!("{status} is not read as rules") };
        assert!(!policy.verdict_for_path("/private/x").is_allowed());
        assert_eq!(policy.basis(), RobotsBasis::File);
    }
    let head = ResponseHead::new(200).with("content-type", "text/html");
    let page = whole(&head, b"<!doctype html><title>Home</title><p>User-agent: *<p>Disallow: /");
    let reading = read_answer(&way(&["http://a.example/"]), &page, "bot");
    assert!(reading.into_policy().unwrap().verdict_for_path("/x").is_allowed());
}

#[test]
fn rfc9309_2_3_1_3_client_errors_mean_no_rules_and_their_body_is_none() {
    for status in [400, 402, 404, 405, 408, 410, 418, 425, 451, 499] {
        assert_eq!(read_status(status), RobotsReading::NoRules(NoRulesReason::Unavailable { status }));
    }
    assert_eq!(read_status(403), RobotsReading::NoRules(NoRulesReason::Forbidden));
    let policy = read_status(403).into_policy().unwrap();
    assert_eq!(policy.basis(), RobotsBasis::NoFile { status: 403 });
    assert!(policy.verdict_for_path("/private/x").is_allowed());
}

#[test]
fn a_login_before_the_file_forbids_all() {
    for status in [401, 407] {
        let reading = read_status(status);
        assert_eq!(reading, RobotsReading::DisallowAll(DisallowAllReason::LoginRequired { status }));
        assert!(!reading.into_policy().unwrap().verdict_for_path("/").is_allowed());
    }
}

#[test]
fn rfc9309_2_3_1_4_server_errors_429_and_odd_codes_are_unreachable() {
    for status in [429, 500, 501, 503, 530, 599] {
        assert_eq!(read_status(status), RobotsReading::Unreachable(UnreachableReason::ServerError { status }));
    }
    for status in [0, 99, 101, 300, 304, 305, 399, 600, 777] {
        assert_eq!(read_status(status), RobotsReading::Unreachable(UnreachableReason::OddStatus { status }));
    }
}

#[test]
fn a_body_cut_short_of_the_cap_is_unreachable_and_one_past_it_is_read() {
    let head = ResponseHead::new(200);
    let cut = RobotsAnswer { body_end: BodyEnd::Cut, ..whole(&head, FILE) };
    let hops = way(&["http://a.example/"]);
    assert_eq!(read_answer(&hops, &cut, "bot"), RobotsReading::Unreachable(UnreachableReason::BodyCut));
    let mut long = FILE.to_vec();
    long.resize(MAX_ROBOTS_BYTES, b'\n');
    let cut = RobotsAnswer { body: &long, ..cut };
    assert!(matches!(read_answer(&hops, &cut, "bot"), RobotsReading::Rules(_)));
}

#[test]
fn not_modified_counts_only_where_a_copy_was_asked_about() {
    let head = ResponseHead::new(304);
    let asked = RobotsAnswer { validators: Validators::Sent, ..whole(&head, b"") };
    assert_eq!(read_answer(&way(&["http://a.example/"]), &asked, "bot"), RobotsReading::Unchanged);
}

#[track_caller]
fn check_redirect(asked: &[&str], location: &str, wanted: RobotsReading) {
    let head = ResponseHead::new(302).with("location", location);
    assert_eq!(read_answer(&way(asked), &whole(&head, b""), "bot"), wanted, "{asked:?} to {location:?}");
}

#[test]
fn rfc9309_2_3_1_2_redirects_within_the_site_are_followed_wherever_they_lead() {
    for (location, target) in [
        ("https://a.example/robots.txt", "https://a.example/robots.txt"),
        ("http://www.a.example/x/robots.txt", "http://www.a.example/x/robots.txt"),
        ("/other.txt", "http://a.example/other.txt"),
        ("other.txt#x", "http://a.example/other.txt"),
    ] {
        check_redirect(&["http://a.example/"], location, RobotsReading::Hop(url(target)));
    }
}

#[test]
fn a_redirect_to_another_site_is_followed_to_its_own_robots_file_at_most() {
    let other = url("https://b.example/robots.txt");
    check_redirect(&["http://a.example/"], other.as_str(), RobotsReading::OtherSite(other.clone()));
    for location in ["https://b.example/x/robots.txt", "//b.example/", "https://b.example/robots.txt?x"] {
        let wanted = RobotsReading::Unreachable(UnreachableReason::OtherSitesPage);
        check_redirect(&["http://a.example/"], location, wanted);
    }
}

#[test]
fn a_redirect_to_nowhere_is_unreachable() {
    for location in
        ["", "ftp://a.example/robots.txt", "http://", "http://user:pw@a.example/robots.txt", "http://[::1]/"]
    {
        check_redirect(&["http://a.example/"], location, RobotsReading::Unreachable(UnreachableReason::NoTarget));
    }
    let bare = ResponseHead::new(301);
    let reading = read_answer(&way(&["http://a.example/"]), &whole(&bare, b""), "bot");
    assert_eq!(reading, RobotsReading::Unreachable(UnreachableReason::NoTarget));
}

#[test]
fn rfc9309_2_3_1_2_five_hops_are_followed_and_neither_a_sixth_nor_a_loop() {
    let asked: Vec<String> = (0..=5).map(|n| format!("http://a.example/{n}")).collect();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    check_redirect(&asked[..5], "/next", RobotsReading::Hop(url("http://a.example/next")));
    check_redirect(&asked, "/next", RobotsReading::Unreachable(UnreachableReason::TooManyHops));
    for location in ["/robots.txt", "/1"] {
        check_redirect(&asked[..3], location, RobotsReading::Unreachable(UnreachableReason::RedirectLoop));
    }
}

#[test]
fn rfc9309_2_4_a_copy_is_kept_as_cache_control_says_between_ten_minutes_and_a_day() {
    for (fields, wanted_secs) in [
        (&[][..], 86_400),
        (&[("cache-control", "max-age=3600")], 3_600),
        (&[("cache-control", "public, MAX-AGE=\"3600\"")], 3_600),
        (&[("cache-control", "max-age=3600"), ("age", "1800")], 1_800),
        (&[("cache-control", "max-age=3600"), ("age", "old")], 3_600),
        (&[("cache-control", "max-age=3600"), ("age", "")], 3_600),
        (&[("cache-control", "max-age=7200"), ("cache-control", "max-age=3600")], 3_600),
        (&[("cache-control", "max-age=0")], 600),
        (&[("cache-control", "no-store")], 600),
        (&[("cache-control", "no-cache, max-age=3600")], 600),
        (&[("cache-control", "max-age=99999999999999999999999")], 86_400),
        (&[("cache-control", "max-age=-1, private")], 86_400),
        (&[("cache-control", "s-maxage=700")], 86_400),
    ] {
        let mut head = ResponseHead::new(200);
        fields.iter().for_each(|(name, value)| head.push(name, value.as_bytes()));
        assert_eq!(copy_ttl(&head).as_secs(), wanted_secs, "{fields:?}");
    }
}

#[test]
fn rfc9309_2_3_1_4_which_copy_counts_while_the_file_is_unreachable() {
    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    let policy = RobotsPolicy::parse(FILE, "bot");
    let now = Timestamp::from_secs(1_000 * DAY);
    let ago = |secs: u64| Timestamp::from_secs(1_000 * DAY - secs);
    let kept = InForce::Copy(&policy);
    for (copy_age, unreachable_for, wanted) in [
        (None, None, InForce::AskFirst),
        (None, Some(0), InForce::DisallowAll),
        (None, Some(40 * DAY), InForce::DisallowAll),
        (Some(0), None, kept),
        (Some(DAY - 1), Some(HOUR), kept),
        (Some(DAY), None, InForce::AskFirst),
        (Some(DAY), Some(0), InForce::DisallowAll),
        (Some(DAY + HOUR), Some(12 * HOUR - 1), InForce::DisallowAll),
        (Some(2 * DAY), Some(12 * HOUR), kept),
        (Some(60 * DAY), Some(30 * DAY), kept),
        (Some(31 * DAY), Some(30 * DAY + 1), InForce::DisallowAll),
    ] {
        let copy = copy_age.map(|age| (&policy, ago(age)));
        assert_eq!(rules_in_force(copy, unreachable_for.map(ago), now), wanted, "{copy_age:?} {unreachable_for:?}");
    }
}
