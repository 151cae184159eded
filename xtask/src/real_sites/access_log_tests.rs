//! Each kind of violation is planted in a sound log and must be found, and nothing else.

use super::*;

const AGENT: &str = "Bot/1.0 (+a)";
const OTHER_AGENT: &str = "Bot/1.0 (+b)";

fn rules() -> Rules {
    Rules {
        max_page_requests: 3,
        min_gap_ms: 300,
        tolerance_ms: 5,
        agents: &[AGENT, OTHER_AGENT],
        forbidden: vec![("a.test".to_owned(), "/private".to_owned())],
    }
}

fn request(started_ms: u64, path: &str) -> Request {
    Request {
        site: "a.test".to_owned(),
        host: "a.test".to_owned(),
        started_ms,
        ended_ms: started_ms + 10,
        method: "GET".to_owned(),
        path: path.to_owned(),
        status: 200,
        agent: AGENT.to_owned(),
        baggage: String::new(),
    }
}

/// robots.txt, the home page and two more: the budget of three, each 310 ms after the last end.
fn sound() -> Vec<Request> {
    vec![request(1_000, "/robots.txt"), request(1_320, "/"), request(1_640, "/b"), request(1_960, "/c")]
}

#[track_caller]
fn check(plant: impl FnOnce(&mut Vec<Request>), expected: &[Violation]) {
    let mut requests = sound();
    plant(&mut requests);
    requests.sort_by_key(|request| request.started_ms);
    assert_eq!(audit(&requests, &rules()), expected, "{requests:#?}");
}

fn site() -> String {
    "a.test".to_owned()
}

#[test]
fn a_sound_log_has_no_violation() {
    check(|_| {}, &[]);
    assert_eq!(audit(&[], &rules()), []);
}

#[test]
fn a_request_over_the_budget_is_found_and_robots_is_not_counted() {
    check(|log| log.push(request(2_280, "/d")), &[Violation::OverBudget { site: site(), num_requests: 4 }]);
    check(|log| log.push(request(2_280, "/robots.txt")), &[]);
}

#[test]
fn a_page_before_robots_is_found() {
    let expected = Violation::BeforeRobots { site: site(), path: "/".to_owned() };
    check(|log| drop(log.remove(0)), &[expected]);
    // A query makes it another file.
    let expected = Violation::BeforeRobots { site: site(), path: "/robots.txt?x".to_owned() };
    check(
        |log| {
            log.remove(3);
            log[0].path = "/robots.txt?x".to_owned();
        },
        &[expected],
    );
}

#[test]
fn two_requests_at_once_are_found() {
    check(|log| log[1].ended_ms = 1_641, &[Violation::TwoAtOnce { site: site(), path: "/b".to_owned() }]);
}

#[test]
fn a_gap_is_measured_from_the_end_and_may_lose_the_tolerance_and_no_more() {
    let short = |gap_ms| Violation::GapTooShort { site: site(), path: "/c".to_owned(), gap_ms };
    check(|log| log[2].ended_ms = 1_960 - 295, &[]);
    check(|log| log[2].ended_ms = 1_960 - 294, &[short(294)]);
    check(|log| log[2].ended_ms = 1_960, &[short(0)]);
}

#[test]
fn gaps_of_different_sites_do_not_meet() {
    check(
        |log| {
            for (started_ms, path) in [(1_001, "/robots.txt"), (1_321, "/")] {
                let mut other = request(started_ms, path);
                other.site = "b.test".to_owned();
                other.host = "b.test".to_owned();
                log.push(other);
            }
        },
        &[],
    );
}

#[test]
fn a_missing_or_strange_user_agent_is_found_on_robots_too() {
    let strange = |agent: &str| Violation::StrangeAgent { site: site(), agent: agent.to_owned() };
    check(|log| log[0].agent.clear(), &[strange("")]);
    check(|log| log[2].agent = "Mozilla/5.0".to_owned(), &[strange("Mozilla/5.0")]);
}

#[test]
fn both_forms_of_the_user_agent_at_one_site_are_found() {
    check(|log| log[3].agent = OTHER_AGENT.to_owned(), &[Violation::TwoAgents { site: site() }]);
    check(|log| log.iter_mut().for_each(|request| request.agent = OTHER_AGENT.to_owned()), &[]);
}

#[test]
fn a_forbidden_path_is_found_at_its_own_site_only() {
    let expected = Violation::Forbidden { site: site(), path: "/private/x".to_owned() };
    check(|log| log[2].path = "/private/x".to_owned(), &[expected]);
    check(
        |log| {
            for request in log {
                request.site = "b.test".to_owned();
                request.host = "b.test".to_owned();
                if request.path == "/b" {
                    request.path = "/private/x".to_owned();
                }
            }
        },
        &[],
    );
}

#[test]
fn another_method_or_baggage_is_found() {
    let expected = [Violation::NotPlain { site: site(), path: "/b".to_owned() }];
    check(|log| log[2].method = "HEAD".to_owned(), &expected);
    check(|log| log[2].baggage = "session=1".to_owned(), &expected);
}

#[test]
fn a_strange_host_is_found() {
    let expected = Violation::WrongHost { site: site(), host: "127.77.0.1".to_owned() };
    check(|log| log[2].host = "127.77.0.1".to_owned(), &[expected]);
}

#[test]
fn a_line_of_nginx_is_read_and_its_start_reckoned_from_its_end() {
    let line = concat!(
        r#"{"site":"git.test","host":"git.test","ended":"1700000000.007","took":"0.012","method":"GET","path":"/a?b=\u00e9","#,
        r#""status":"200","agent":"Bot/1.0 (+a)","remote":"127.0.0.1","cookie":"","authorization":"","referer":""}"#
    );
    let requests = parse(line).unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].started_ms, requests[0].ended_ms), (1_699_999_999_995, 1_700_000_000_007));
    assert_eq!((requests[0].path.as_str(), requests[0].status), ("/a?b=\u{e9}", 200));
    assert_eq!(requests[0].baggage, "");
}

#[test]
fn a_line_that_is_not_ours_is_named_by_its_number() {
    let error = parse("nonsense").unwrap_err();
    assert!(error.to_string().starts_with("line 1 of the access log"), "{error:#}");
}
