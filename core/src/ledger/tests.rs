//! What events make of an account, and what resumes a cycle.

use super::*;

#[test]
fn closed_cycle_goes_on_where_urls_wait_and_its_end_is_not_final() {
    let account = |cycle_closed| SiteAccount { cycle: 1, cycle_closed, num_page_requests: 5, ..SiteAccount::default() };
    assert!(!account(None).may_resume(20, 1), "it is open");
    // By the reason: with requests left, and with none.
    for (reason, wanted) in [
        (FinishReason::QueueEmpty, [true, true]),
        (FinishReason::Excluded, [true, true]),
        (FinishReason::AddressRefused, [true, true]),
        (FinishReason::BudgetSpent, [true, false]),
        (FinishReason::NoSuchName, [false, false]),
    ] {
        let account = account(Some(reason));
        assert_eq!([account.may_resume(6, 1), account.may_resume(5, 1)], wanted, "{reason:?}");
        assert!(!account.may_resume(20, 0), "{reason:?}");
    }
}

#[test]
fn grounds_and_ends_are_told_in_one_wording() {
    let line = RobotsGround::Line { number: 3, text: "Allow: /".to_owned() };
    for (ground, words) in [
        (RobotsGround::RobotsFile, "robots.txt itself needs no leave"),
        (RobotsGround::NoRule, "no line of robots.txt matches"),
        (line, "line 3 of robots.txt: Allow: /"),
    ] {
        assert_eq!(ground.describe(), words);
    }
    for (end, words) in [
        (EndKind::Answered(200), "answered 200"),
        (EndKind::Failed(FetchFailure::ConnectRefused), "connection refused"),
        (EndKind::Lost, "the node ended before the answer; counted as sent"),
        (EndKind::Abandoned, "broken off: the domain was excluded, or the node was stopped"),
    ] {
        assert_eq!(end.describe(), words);
    }
}
