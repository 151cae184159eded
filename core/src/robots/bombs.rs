//! A mebibyte of what costs a matcher far more than its size: counted in octets that are looked at, and in bytes of what is kept.
//! `cargo xtask bombs` shows the time.

use super::lines::{MAX_LINE_BYTES, MAX_TEXT_BYTES};
use super::pattern::common_form;
use super::*;
use crate::codec::encode;

const MIB: usize = 1 << 20;
/// The longest path that can be asked for has about this many octets.
const PATH_OCTETS: usize = 2048;

/// Parses it and asks about a path that almost matches everywhere; gives the number of rules.
#[track_caller]
fn check(start: &str, repeated: &str) -> usize {
    let mut file = start.to_owned();
    file.push_str(&repeated.repeat((MIB - start.len()) / repeated.len()));
    let policy = RobotsPolicy::parse(file.as_bytes(), "bot");
    let name: String = file.chars().take(50).collect();

    let text_bytes: usize = policy.rules.iter().map(|rule| rule.text.len()).sum();
    assert!(text_bytes <= MAX_TEXT_BYTES, "{name}: {text_bytes} bytes of lines");
    assert!(policy.rules.iter().all(|rule| rule.text.len() <= MAX_LINE_BYTES), "{name}");
    let stored_bytes = encode(&policy).unwrap().len();
    assert!(stored_bytes <= 2 * MAX_TEXT_BYTES, "{name}: {stored_bytes} bytes stored");

    let path = common_form(&format!("/{}", "a".repeat(PATH_OCTETS - 1)));
    let mut num_steps = 0;
    policy.rules.iter().for_each(|rule| {
        rule.pattern.matches_in(&path, &mut num_steps);
    });
    // Each rule may walk through the path once, and through its own pattern, in which each octet may have become a triplet.
    let most = 2 * policy.rules.len() * path.len() + 2 * 3 * text_bytes;
    assert!(num_steps <= most, "{name}: {num_steps} steps");
    policy.rules.len()
}

#[test]
fn one_line_of_wildcards_is_read_up_to_the_longest_line() {
    for repeated in ["*a", "*a*a*a", "*", "*aaaaaaaaaaaaaaaaab", "*$", "%", "%2", "\u{e9}*"] {
        let line = format!("User-agent: *\nDisallow: /{}\n", repeated.repeat(MAX_ROBOTS_BYTES / 2 / repeated.len()));
        assert_eq!(check(&line, "# and so on\n"), 1, "{repeated}");
        // A line that goes beyond what is read of a file is not known, so it is none.
        assert_eq!(check("User-agent: *\nDisallow: /", repeated), 0, "{repeated}");
    }
}

#[test]
fn thousands_of_lines_of_wildcards_cost_a_walk_through_the_path_each() {
    for repeated in [
        format!("Disallow: /{}b\n", "*a".repeat(8000)),
        format!("Disallow: /{}$\n", "*a".repeat(900)),
        format!("Disallow: /{}b\n", "*".repeat(8000)),
        format!("Allow: /*{}b\n", "a".repeat(1000)),
    ] {
        assert!(check("User-agent: *\n", &repeated) >= 30, "{repeated:.40}");
    }
    assert!(check("User-agent: *\n", "Disallow:*a*a*a*b\n") > 25_000);
    assert!(check("User-agent: *\n", "Allow:*b\n") > 50_000);
}

#[test]
fn lines_that_bind_nobody_leave_nothing() {
    for repeated in ["User-agent: x\n", "Disallow: *a*a*a\n", "\r", "*a", "Sitemap: /*a*a\n"] {
        assert_eq!(check("", repeated), 0, "{repeated:?}");
    }
}
