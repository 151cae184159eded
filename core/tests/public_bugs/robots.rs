//! Reading robots.txt.

use lohisoftbot_core::robots::{MAX_ROBOTS_BYTES, RobotsPolicy};

#[track_caller]
fn check(report: &str, file: &str, rows: &[(&str, bool)]) {
    let policy = RobotsPolicy::parse(file.as_bytes(), "LohiSoftBot");
    for (path, allowed) in rows {
        assert_eq!(policy.verdict_for_path(path).is_allowed(), *allowed, "{report}: {path} under {file:?}");
    }
}

#[test]
fn a_group_for_another_bot_does_not_bind_us() {
    check(
        "janreges/siteone-crawler#64",
        "User-agent: adbot\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
        &[("/x", true)],
    );
    check(
        "janreges/siteone-crawler#39",
        "User-agent: a\nUser-agent: b\nDisallow: /\n\nUser-agent: *\nDisallow: /admin/\n\nUser-agent: c\nDisallow: /\n",
        &[("/", true), ("/blog", true), ("/admin/x", false)],
    );
}

#[test]
fn no_robots_txt_blocks_nothing() {
    let policy = RobotsPolicy::without_file(404);
    assert!(policy.verdict_for_path("/any/link").is_allowed(), "xorbitsai/xagent#2043");
}

#[test]
fn wildcards_before_the_end_mark_match() {
    let file = "User-agent: *\nDisallow: /*/filter/\nAllow: /*/filter/page=*/$\n";
    check(
        "scrapy/protego#51",
        file,
        &[("/1/filter/page=5/", true), ("/1/filter/page=5/x", false), ("/1/filter/", false)],
    );
}

#[test]
fn an_encoded_slash_in_a_rule_is_no_slash() {
    let file = "User-agent: *\nDisallow: /*%2F*\n";
    check(
        "crawler-commons/crawler-commons#195",
        file,
        &[("/a%2Fb", false), ("/a%2fb", false), ("/a/b", true), ("/", true)],
    );
}

#[test]
fn an_end_mark_and_a_question_mark_after_a_wildcard_are_told_apart() {
    let file = "User-agent: *\nDisallow: /*.print$\n";
    check("yasserg/crawler4j#107", file, &[("/a.print", false), ("/a.print?x", true), ("/a.printer", true)]);
    let file = "User-agent: *\nDisallow: /*.print?\n";
    check("yasserg/crawler4j#107", file, &[("/a.print?x", false), ("/a.print", true), ("/a.printer?x", true)]);
}

#[test]
fn thousands_of_user_agent_lines_are_read_once_each() {
    // As long a file as is read at all; a parser whose work grows with the square of the lines would not come back.
    let mut file: String = (0..5_200).map(|number| format!("User-agent: agent{number}\n")).collect();
    while file.len() < MAX_ROBOTS_BYTES - 100 {
        file.push_str("User-agent: lohisoftbot\n");
    }
    file.push_str("Disallow: /x\n");
    check("andreburgaud/robotspy#212", &file, &[("/x", false), ("/y", true)]);
}
