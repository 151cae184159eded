//! Cases that are answered differently on purpose: read from `differences.txt` beside this file, each with its reason.

/// The list, as it was when the runner was built.
const LIST: &str = include_str!("differences.txt");

/// Why this case may differ; none where it may not.
pub fn reason_for(id: &str) -> Option<&'static str> {
    reason_in(LIST, id)
}

/// Each line is an id, white space, and the reason; empty lines and lines that begin with `#` say nothing.
fn reason_in<'a>(list: &'a str, id: &str) -> Option<&'a str> {
    let entries =
        list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(char::is_whitespace));
    entries
        .map(|(listed, reason)| (listed, reason.trim()))
        .find_map(|(listed, reason)| (listed == id).then_some(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, id: &str, expected: Option<&str>) {
        assert_eq!(reason_in(list, id), expected, "{id} in {list:?}");
    }

    #[test]
    fn a_reason_is_found_by_the_whole_id_alone() {
        let list = "# rs-1 a comment\n\nrs-1  The reason, in words.\nrs-22 Another.\n";
        check(list, "rs-1", Some("The reason, in words."));
        check(list, "rs-22", Some("Another."));
        check(list, "rs-2", None);
        check(list, "#", None);
        check(list, "", None);
    }

    #[test]
    fn every_listed_case_has_a_reason() {
        for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let reason = line.split_once(char::is_whitespace).map(|(_, reason)| reason.trim());
            assert!(reason.is_some_and(|reason| !reason.is_empty()), "no reason: {line:?}");
        }
    }
}
