//! Settings that were tightened since make no finding, and entries that are missing make none either; both are said.

use super::*;

/// The public promise, and these settings by now.
fn by_now(settings: Limits) -> AuditRules {
    AuditRules { promise: Limits::PROMISE, settings }
}

/// The codes of what is found, and those of what cannot be told with their counts.
#[track_caller]
fn check_by_now(settings: Limits, plant: impl FnOnce(&mut Story), wanted: &[&str], doubts: &[(&str, u64)]) {
    let mut story = Story::begun();
    plant(&mut story);
    let report = story.report_by(by_now(settings), History::Whole);
    let told: Vec<String> = report.findings.iter().map(Finding::describe).collect();
    assert_eq!(codes(&report), wanted, "{told:#?}");
    let counts: Vec<_> = report.doubts.counts().iter().map(|count| (count.doubt.code(), count.num)).collect();
    assert_eq!(counts, doubts);
}

fn pages(story: &mut Story, num: u32) {
    for page in 0..num {
        story.page(&format!("https://a.test/{page}"));
    }
}

#[test]
fn delay_that_was_kept_as_recorded_is_no_finding_when_the_settings_are_stricter_now() {
    let stricter = Limits { min_delay: 2 * DELAY, page_requests: 20, ..limits() };
    // The robots.txt and ten pages, each followed by the next after five seconds.
    check_by_now(stricter.clone(), |story| pages(story, 11), &[], &[("shorter_delay_than_now", 11)]);
    let late = |story: &mut Story| {
        story.pass(DELAY).page("https://a.test/");
    };
    check_by_now(stricter.clone(), late, &[], &[]);
    // Sooner than recorded is sooner than promised, whatever the settings.
    let too_soon = |story: &mut Story| {
        story.now -= 1;
        story.page("https://a.test/");
    };
    check_by_now(stricter, too_soon, &["too_soon"], &[]);
    let laxer = Limits { min_delay: Duration::from_millis(1), ..limits() };
    check_by_now(laxer, too_soon, &["too_soon"], &[]);
}

#[test]
fn recorded_delay_below_the_least_that_can_be_configured_is_a_finding() {
    for (rest, wanted) in [(0, &["too_soon"][..]), (1, &[])] {
        check_by_now(
            Limits::PROMISE,
            |story| {
                story.ticket(RequestKind::Page, "https://a.test/1", RobotsGround::NoRule);
                let (ticket, end, delay) = (story.ticket, EndKind::Answered(200), Duration::ZERO);
                story.event(SiteEvent::Outcome { ticket, end, wire_bytes: 1, took: DELAY, delay });
                story.pass(Duration::from_millis(rest)).page("https://a.test/2");
            },
            wanted,
            &[],
        );
    }
}

#[test]
fn answer_slower_than_the_recorded_delay_allows_for_is_a_doubt_about_the_settings() {
    check_by_now(
        limits(),
        |story| {
            story.ticket(RequestKind::Page, "https://a.test/1", RobotsGround::NoRule);
            let (ticket, end, took) = (story.ticket, EndKind::Answered(200), Duration::from_secs(4));
            story.event(SiteEvent::Outcome { ticket, end, wire_bytes: 1, took, delay: DELAY });
            story.pass(DELAY).page("https://a.test/2");
        },
        &[],
        &[("shorter_delay_than_now", 1)],
    );
}

#[test]
fn budget_that_was_lowered_since_makes_no_finding_up_to_the_promised_twenty() {
    check_by_now(limits(), |story| pages(story, 20), &[], &[("more_requests_than_now", 17)]);
    let beyond = &[("more_requests_than_now", 17)];
    check_by_now(limits(), |story| pages(story, 21), &["over_budget"], beyond);
    check_by_now(Limits::PROMISE, |story| pages(story, 21), &["over_budget"], &[]);
}

#[test]
fn interval_that_was_lengthened_since_makes_no_finding_of_a_cycle_that_kept_its_own() {
    let short_cycles = |story: &mut Story| {
        for cycle in 2..4 {
            let next_cycle_at = story.pass(30 * DAY).at().plus(DAY);
            story.event(SiteEvent::CycleOpened { cycle, next_cycle_at });
        }
    };
    check_by_now(limits(), short_cycles, &[], &[("shorter_interval_than_now", 2)]);
    check_by_now(
        limits(),
        |story| {
            short_cycles(story);
            story.cycle(4);
        },
        &["cycle_too_soon"],
        &[("shorter_interval_than_now", 2)],
    );
    check_by_now(
        limits(),
        |story| {
            let next_cycle_at = story.pass(30 * DAY).at().plus(Duration::from_millis(999));
            story.event(SiteEvent::CycleOpened { cycle: 2, next_cycle_at });
        },
        &["interval_too_short"],
        &[],
    );
}

#[test]
fn origins_beyond_todays_number_are_a_doubt_and_beyond_twenty_a_finding() {
    let origins = |story: &mut Story| {
        for port in 8001..8021 {
            story.robots(&format!("https://a.test:{port}/robots.txt"), 200);
        }
    };
    check_by_now(limits(), origins, &["too_many_origins"], &[("more_origins_than_now", 18)]);
}

#[test]
fn doubt_is_said_with_its_count_its_settings_and_where_it_begins() {
    let mut story = Story::begun();
    pages(&mut story, 2);
    let report = story.report_by(by_now(Limits { min_delay: 2 * DELAY, ..limits() }), History::Whole);
    let words = report.doubts.counts()[0].describe();
    for part in ["2 requests came sooner", "politeness.min_delay", "2027-01-15T08:00:0", "a.test", "no violation"] {
        assert!(words.contains(part), "{part:?} is missing in {words}");
    }
    assert!(report.is_clean(), "{}", report.summary());
}

#[test]
fn ledger_with_a_gap_is_judged_on_both_sides_of_it_and_is_never_clean() {
    let mut story = Story::begun();
    story.page("https://a.test/1").exclude("a.test");
    let before = std::mem::take(&mut story.entries);
    // Behind the gap the site was taken back in, went on, and two tickets and their ends are missing.
    story.ticket += 2;
    let account = SiteAccount {
        cycle: 1,
        next_cycle_at: story.at().plus(29 * DAY),
        num_page_requests: 2,
        last_ticket: story.ticket,
        ..SiteAccount::default()
    };
    story.event(SiteEvent::Snapshot(Box::new(account)));
    story.page("https://a.test/4").page("https://a.test/5");
    let read = |gap: Option<Gap>| {
        let mut auditor = Auditor::new(rules(), History::Whole);
        before.iter().for_each(|entry| auditor.read(entry));
        gap.into_iter().for_each(|gap| auditor.skip(gap));
        story.entries.iter().for_each(|entry| auditor.read(entry));
        auditor.finish()
    };
    let report = read(Some(Gap { what: "a segment is missing".to_owned() }));
    assert_eq!(codes(&report), ["over_budget"], "what the snapshot says counts, what stood before the gap does not");
    assert_eq!((report.num_requests, report.num_sites), (4, 1), "no site is counted twice");
    assert!(report.summary().ends_with("1 violations; the ledger is incomplete, at 1 place"), "{}", report.summary());
    assert!(!report.is_clean());
    let seamless = codes(&read(None));
    assert!(seamless.contains(&"ticket_out_of_order") && seamless.contains(&"excluded"), "{seamless:?}");
}
