//! What the parts of this module come to together, by clause of RFC 9309, and what hostile files cost.

use std::time::Duration;

use super::*;
use crate::codec::{decode, encode};
use crate::ledger::RobotsGround;

/// Parses for `bot`, and holds every test to the promise that a stored policy is the policy.
#[track_caller]
fn parse(file: &str) -> RobotsPolicy {
    let policy = RobotsPolicy::parse(file.as_bytes(), "bot");
    assert_eq!(decode::<RobotsPolicy>(&encode(&policy).unwrap()).unwrap(), policy);
    policy
}

#[track_caller]
fn check(file: &str, path: &str, wanted: &str) {
    let got = match parse(file).verdict_for_path(path) {
        RobotsVerdict::Allowed(RobotsGround::RobotsFile) => "allowed: the file itself".to_owned(),
        RobotsVerdict::Allowed(RobotsGround::NoRule) => "allowed: no rule".to_owned(),
        RobotsVerdict::Allowed(RobotsGround::Line { number, text }) => format!("allowed: {number} {text}"),
        RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) => format!("disallowed: {} {}", line.number, line.text),
        RobotsVerdict::Disallowed(RobotsRefusal::LoginRequired { status }) => format!("disallowed: {status}"),
    };
    assert_eq!(got, wanted, "{path} under {file:?}");
}

#[test]
fn rfc9309_2_2_1_groups_that_name_us_count_as_one_and_hide_the_group_of_all_others() {
    let file = "User-agent: *\nDisallow: /\n\nUser-agent: BOT\nDisallow: /a\n\nUser-agent: x\nUser-agent: bot/2.1\nDisallow: /b";
    check(file, "/a", "disallowed: 5 Disallow: /a");
    check(file, "/b", "disallowed: 9 Disallow: /b");
    check(file, "/c", "allowed: no rule");
    assert_eq!(parse(file).group().name(), Some("BOT"));
}

#[test]
fn rfc9309_2_2_1_without_a_group_of_our_own_the_one_for_all_others_counts() {
    for agent in ["*", "* # all", "*  x"] {
        check(&format!("User-agent: {agent}\nDisallow: /a"), "/a", "disallowed: 2 Disallow: /a");
    }
    for agent in ["botany", "bo", "bot-news", "*bot", "a bot", "123"] {
        let file = format!("User-agent: {agent}\nDisallow: /a");
        check(&file, "/a", "allowed: no rule");
        assert_eq!(*parse(&file).group(), RobotsGroup::None);
    }
}

#[test]
fn rfc9309_2_2_1_an_own_group_without_rules_allows_all() {
    check("User-agent: *\nDisallow: /\nUser-agent: bot\nDisallow:", "/a", "allowed: no rule");
    check("User-agent: *\nDisallow: /\nUser-agent: bot", "/a", "allowed: no rule");
}

#[test]
fn an_agent_without_a_name_never_has_a_group_of_its_own() {
    let policy = RobotsPolicy::parse(b"User-agent: 7\nDisallow: /", "*");
    assert!(policy.verdict_for_path("/a").is_allowed());
}

#[test]
fn rules_before_any_user_agent_line_bind_nobody() {
    check("Disallow: /\nUser-agent: x\nDisallow: /", "/a", "allowed: no rule");
}

#[test]
fn rfc9309_2_2_2_the_most_octets_win_and_allow_wins_a_tie() {
    let file = "User-agent: *\nDisallow: /\nAllow: /page\nDisallow: /page/x\nDisallow: /*.htm\nAllow: /p.htm";
    check(file, "/other", "disallowed: 2 Disallow: /");
    check(file, "/page", "allowed: 3 Allow: /page");
    check(file, "/page/x/y", "disallowed: 4 Disallow: /page/x");
    check(file, "/page.htm", "disallowed: 5 Disallow: /*.htm");
    check(file, "/p.htm", "allowed: 6 Allow: /p.htm");
    check("User-agent: *\nDisallow: /a\nAllow: /a", "/a", "allowed: 3 Allow: /a");
    check("User-agent: *\nDisallow: /\u{e9}\nAllow: /%c3%A9", "/%C3%A9", "allowed: 3 Allow: /%c3%A9");
}

#[test]
fn rfc9309_2_2_2_the_file_itself_is_always_allowed() {
    check("User-agent: *\nDisallow: /", "/robots.txt", "allowed: the file itself");
    check("User-agent: *\nDisallow: /", "/robots.txt?x", "disallowed: 2 Disallow: /");
}

#[test]
fn rfc9309_2_2_4_other_lines_do_not_end_a_group() {
    for other in ["Sitemap: /s.xml", "Crawl-delay: 5", "Host: x", "Content-Usage: search=n", "nonsense", "", "# x"] {
        let file = format!("User-agent: bot\n{other}\nUser-agent: x\n{other}\nDisallow: /a\n{other}\nDisallow: /b");
        check(&file, "/a", "disallowed: 5 Disallow: /a");
        check(&file, "/b", "disallowed: 7 Disallow: /b");
    }
}

#[test]
fn a_line_is_named_by_its_place_in_the_original_file() {
    check("\u{feff}# x\r\n\r\rUser-agent: *\r\n\tDISALOW /a # why\n", "/a", "disallowed: 5 DISALOW /a # why");
}

#[test]
fn the_text_of_a_line_is_capped_in_a_verdict_but_not_in_its_rule() {
    let path = "/".to_owned() + &"a".repeat(600);
    let policy = parse(&format!("User-agent: *\nDisallow: {path}"));
    let RobotsVerdict::Disallowed(RobotsRefusal::Line(line)) = policy.verdict_for_path(&path) else {
        panic!("allowed")
    };
    assert_eq!(line.text.len(), MAX_LINE_TEXT_BYTES);
    assert!(policy.verdict_for_path(&path[..500]).is_allowed());
}

#[track_caller]
fn check_delay(file: &str, wanted_millis: Option<u64>) {
    assert_eq!(parse(file).crawl_delay(), wanted_millis.map(Duration::from_millis), "{file:?}");
}

#[test]
fn a_crawl_delay_is_seconds_and_anything_else_is_none() {
    for (value, wanted) in [
        ("10", Some(10_000)),
        ("0.25", Some(250)),
        (".5", Some(500)),
        ("5.", Some(5_000)),
        ("0", Some(0)),
        ("86401", Some(86_400_000)),
        ("115792089237316195423570985008687907853269984665640564039457584007913129639936", Some(86_400_000)),
        ("-1", None),
        ("1.2.1", None),
        ("10a", None),
        ("1e400", None),
        ("inf", None),
        ("NaN", None),
        ("+5", None),
        (".", None),
        ("", None),
    ] {
        check_delay(&format!("User-agent: *\nCrawl-delay: {value}"), wanted);
    }
}

#[test]
fn a_crawl_delay_binds_the_agents_named_directly_above_it() {
    check_delay("User-agent: bot\nCrawl-delay: 1\nUser-agent: x\nCrawl-delay: 2\nDisallow: /", Some(1_000));
    check_delay("User-agent: bot\nUser-agent: x\nCrawl-delay: 2", Some(2_000));
    check_delay("User-agent: bot\nDisallow:\nUser-agent: x\nCrawl-delay: 2", None);
    check_delay("User-agent: x\nCrawl-delay: 9\nUser-agent: *\nDisallow:", None);
    check_delay("User-agent: bot\nDisallow:\nUser-agent: *\nCrawl-delay: 2", None);
    check_delay("User-agent: bot\nCrawl-delay: 3\nCrawl-delay: 7\nCrawl-delay: x\nCrawl-delay: 5", Some(7_000));
    check_delay("Crawl-delay: 4\nUser-agent: *\nDisallow:", Some(4_000));
    check_delay("Crawl-delay: 4\nUser-agent: bot\nDisallow:", None);
}

#[test]
fn sitemaps_are_the_whole_files_and_resolve_against_it() {
    let file = "Sitemap: /a.xml\nUser-agent: x\nSITEMAP: https://b.example/\u{e9}.xml#f\n\
                Sitemap: /a.xml\nsitemap:\nSitemap: ftp://c.example/\n";
    let policy = parse(file);
    assert_eq!(policy.sitemaps(), ["/a.xml", "https://b.example/\u{e9}.xml", "ftp://c.example/"]);
    let urls = policy.sitemap_urls(&url::Url::parse("http://a.example/robots.txt").unwrap());
    let urls: Vec<&str> = urls.iter().map(url::Url::as_str).collect();
    assert_eq!(urls, ["http://a.example/a.xml", "https://b.example/%C3%A9.xml"]);
    let many: String = (0..1000).map(|n| format!("Sitemap: /{n}\n")).collect();
    assert_eq!(parse(&many).sitemaps().len(), MAX_SITEMAPS);
}

#[track_caller]
fn check_search(lines: &str, path: &str, wanted: Option<u32>) {
    let policy = parse(&format!("User-agent: *\n{lines}"));
    assert_eq!(policy.search_usage_forbidden(path).map(|line| line.number), wanted, "{lines:?} for {path}");
    assert!(policy.verdict_for_path(path).is_allowed());
}

#[test]
fn content_usage_keeps_a_path_out_of_search() {
    check_search("Content-Usage: search=n", "/x", Some(2));
    check_search("Content-Usage: train-ai=y, search=n;x", "/x", Some(2));
    check_search("Content-Usage: /a/ search=n", "/a/b", Some(2));
    check_search("Content-Usage: /a/ search=n", "/b", None);
    check_search("Content-Usage: search=n\nContent-Usage: /a/ search=y", "/a/b", None);
    check_search("Content-Usage: search=y\nContent-Usage: search=n", "/a/b", Some(3));
    for other in ["train-ai=n", "search", "search=maybe", "", "/a search=n", "research=n"] {
        check_search(&format!("Content-Usage: {other}"), "/x", None);
    }
}

#[test]
fn a_policy_without_file_allows_and_one_behind_a_login_forbids() {
    for (policy, allowed) in [(RobotsPolicy::without_file(404), true), (RobotsPolicy::login_required(401), false)] {
        assert_eq!(policy.verdict_for_path("/a").is_allowed(), allowed);
        assert!(policy.verdict_for_path("/robots.txt").is_allowed());
        assert_eq!(decode::<RobotsPolicy>(&encode(&policy).unwrap()).unwrap(), policy);
    }
}

/// Every line that can be made small, as many as fit: the largest policies there are.
#[test]
fn hostile_files_make_policies_that_can_be_stored() {
    for line in
        ["allow:/\n", "allow:/\r\n\n\n\n\n", "Disallow: /\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}\n", "Sitemap:/\n"]
    {
        let body = line.repeat((MAX_ROBOTS_BYTES - 20) / line.len());
        parse(&format!("User-agent: *\n{body}"));
    }
    let mut bytes = b"User-agent: *\n".to_vec();
    while bytes.len() < MAX_ROBOTS_BYTES {
        bytes.extend(b"allow:/\xFF\n");
    }
    let policy = RobotsPolicy::parse(&bytes, "bot");
    assert!(policy.rules.len() > 45_000);
    assert_eq!(decode::<RobotsPolicy>(&encode(&policy).unwrap()).unwrap(), policy);
    assert!(!policy.sitemaps.iter().any(|s| s.is_empty()));
}

#[test]
fn thousands_of_user_agent_lines_with_one_rule_leave_one_rule() {
    let file: String = (0..5_200).map(|n| format!("User-agent: agent-{n}\n")).collect();
    let policy = parse(&format!("{file}User-agent: bot\nDisallow: /x"));
    assert_eq!(policy.rules.len(), 1);
    check(&format!("{file}User-agent: bot\nDisallow: /x"), "/x", "disallowed: 5202 Disallow: /x");
}

#[test]
fn damaged_stored_lines_are_refused_not_forgotten() {
    let bytes = encode(&parse("User-agent: *\nDisallow: /x")).unwrap();
    for (from, to) in [("Disallow", "Dispense"), ("2 Dis", "x Dis"), ("2 Dis", "2-Dis")] {
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        let mut damaged = bytes.clone();
        damaged[at..at + from.len()].copy_from_slice(to.as_bytes());
        assert!(decode::<RobotsPolicy>(&damaged).is_err(), "{to}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_make_a_policy_that_answers_and_can_be_stored(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
        path in "/\\PC{0,20}",
    ) {
        let mut file = b"User-agent: *\nDisallow: /".to_vec();
        file.extend(bytes);
        let policy = RobotsPolicy::parse(&file, "bot");
        let stored: RobotsPolicy = decode(&encode(&policy).unwrap()).unwrap();
        proptest::prop_assert_eq!(policy.verdict_for_path(&path), stored.verdict_for_path(&path));
        proptest::prop_assert_eq!(policy, stored);
    }

    /// Lines made of the words that matter, in any order: the decision is the one that the standard's own words give.
    #[test]
    fn the_verdict_is_that_of_the_longest_match(
        rules in proptest::collection::vec(("(Allow|Disallow)", "/[ab]{0,3}"), 0..8),
        path in "/[ab]{0,4}",
    ) {
        let body: String = rules.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let allowed = RobotsPolicy::parse(format!("User-agent: *\n{body}").as_bytes(), "bot").verdict_for_path(&path).is_allowed();
        let longest = |key: &str| {
            rules.iter().filter(|(k, v)| k == key && path.starts_with(v.as_str())).map(|(_, v)| v.len()).max()
        };
        proptest::prop_assert_eq!(allowed, longest("Allow") >= longest("Disallow"));
    }
}
