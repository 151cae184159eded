//! The costs of small runs, counted by hand.

use super::*;
use crate::backoff::BackoffPolicy;
use crate::budget::Budget;
use crate::ledger::{FinishReason, SiteAccount, Wait, WaitReason};
use crate::page_choice::PageQueue;
use crate::politeness::{OriginRobots, PolicyCopy, Seed, SiteRules};
use crate::robots::RobotsPolicy;
use crate::site_row::{SiteRow, SiteStanding};

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const MIB: u64 = 1 << 20;

fn rules() -> SiteRules {
    SiteRules {
        min_delay: Duration::from_secs(5),
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
        max_crawl_delay: Duration::from_secs(86_400),
        park_after: Duration::from_secs(60),
        backoff: BackoffPolicy::default(),
        budget: Budget::default(),
        max_queued_urls: 1000,
        recrawl_interval: Duration::from_secs(30 * 86_400),
        min_recrawl_interval: Duration::from_secs(7 * 86_400),
        max_recrawl_interval: Duration::from_secs(90 * 86_400),
        product_token: "LohiSoftBot".to_owned(),
    }
}

fn limits(max_live_sites: usize) -> RunLimits {
    RunLimits { max_live_sites, park_after: Duration::from_secs(60), per_address_delay: Duration::from_millis(200) }
}

fn seed(text: &str) -> Seed {
    Seed::parse(text).unwrap()
}

fn new(text: &str) -> SiteOutlook {
    let seed = seed(text);
    SiteOutlook::of_new(seed.url.site(), std::slice::from_ref(&seed), &rules(), 2 * MIB, NOW)
}

fn known(text: &str, new_seeds: &[&str], change: impl FnOnce(&mut SiteRow)) -> SiteOutlook {
    let (old, new_seeds) = (seed(text), new_seeds.iter().map(|text| seed(text)).collect::<Vec<_>>());
    let mut row = SiteRow::new(old.url.site(), vec![old], NOW);
    row.account = SiteAccount { cycle: 1, num_page_requests: 15, ..SiteAccount::default() };
    change(&mut row);
    let mut queue = PageQueue::default();
    for path in ["", "a", "b"] {
        queue.add(crate::url::PageUrl::parse(path, Some(&row.seeds[0].url)).unwrap(), 1, 0, 1000);
    }
    SiteOutlook::of_known(&row, &queue, &[], &new_seeds, &rules(), 2 * MIB, NOW)
}

fn after(secs: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(secs))
}

#[test]
fn new_site_may_cost_its_whole_budget_and_its_robots_txt() {
    let outlook = new("http://a.test/");
    assert_eq!((outlook.likely_page_requests, outlook.max_page_requests, outlook.robots_requests), (20, 20, 1));
    // Two of the twenty may be sitemaps of 10 MiB.
    assert_eq!(outlook.max_body_bytes, 18 * 2 * MIB + 2 * 10 * MIB + 500 * 1024);
    let run = forecast(vec![outlook], &limits(1), NOW);
    // Twenty-one requests have twenty gaps of five seconds.
    assert_eq!((run.ends_at, run.page_requests, run.robots_requests), ((after(100), after(100)), (20, 20), 1));
}

#[test]
fn sites_that_are_due_at_once_go_by_their_keys_and_wait_for_a_free_place() {
    let names = ["a.test", "b.test", "c.test", "d.test", "e.test"];
    let run = forecast(names.iter().map(|name| new(&format!("http://{name}/"))).collect(), &limits(2), NOW);
    let mut by_key = names.map(crate::site::Site::of_host);
    by_key.sort_by_key(key::site_prefix);
    let order: Vec<_> = run.sites.iter().map(|site| site.outlook.site.clone()).collect();
    assert_eq!(order, by_key);
    let starts: Vec<_> = run.sites.iter().map(|site| site.starts_at).collect();
    assert_eq!(starts, [NOW, NOW, after(100), after(100), after(200)]);
    assert_eq!(run.ends_at.0, after(300));
}

#[test]
fn crawl_delay_of_a_stored_copy_counts_and_a_fresh_copy_is_not_asked_for_again() {
    let seed = seed("http://a.test/");
    let mut row = SiteRow::new(seed.url.site(), vec![seed.clone()], NOW);
    row.account.cycle = 1;
    let policy = RobotsPolicy::parse(b"User-agent: *\nCrawl-delay: 120\n", "LohiSoftBot");
    let copy = PolicyCopy { policy, fetched_at: NOW, expires_at: after(60), num_hops: 0, kept_at: NOW };
    let robots = OriginRobots {
        origin: seed.url.origin(),
        copy: Some(copy),
        unreachable_since: None,
        retry_at: Timestamp::EPOCH,
        num_failures: 0,
    };
    let at = |now| {
        SiteOutlook::of_known(&row, &PageQueue::default(), std::slice::from_ref(&robots), &[], &rules(), MIB, now)
    };
    assert_eq!((at(NOW).delay, at(NOW).robots_requests), (Duration::from_secs(120), 0));
    assert_eq!(at(after(60)).robots_requests, 1);
    // Such a site is parked between its requests, so that the other does not wait for its place.
    let run = forecast(vec![at(NOW), new("http://b.test/")], &limits(1), NOW);
    let starts: Vec<_> = run.sites.iter().map(|site| site.starts_at).collect();
    assert!(starts.iter().all(|at| *at <= after(100)), "{starts:?}");
    assert!(run.ends_at.0 >= after(19 * 120));
}

#[test]
fn sites_at_one_address_take_as_long_as_its_requests() {
    let at_one =
        |number: u32| SiteOutlook { address: Some([127, 0, 0, 1].into()), ..new(&format!("http://s{number}.test/")) };
    let run = forecast((0..50).map(at_one).collect(), &limits(1000), NOW);
    // 50 * 21 requests have 1049 gaps of 200 ms.
    assert_eq!(run.ends_at.0, NOW.plus(Duration::from_millis(1049 * 200)));
    assert_eq!(run.num_shared_addresses, 1);
}

#[test]
fn what_a_stopped_node_knew_is_taken_from_it() {
    // In mid-cycle, parked: five requests are left, and three URLs wait.
    let parked = known("http://a.test/", &[], |row| {
        row.standing = SiteStanding::Parked { reason: WaitReason::RetryAfter };
        row.due_at = after(600);
        row.account.wait = Some(Wait { until: after(600), reason: WaitReason::RetryAfter });
        row.account.rung = 1;
    });
    assert_eq!((parked.likely_page_requests, parked.max_page_requests, parked.robots_requests), (3, 5, 1));
    let run = forecast(vec![parked], &limits(1), NOW);
    // Twice the delay while the backoff is not forgiven.
    assert_eq!((run.sites[0].starts_at, run.ends_at), (after(600), (after(630), after(650))));

    let closed = |reason| {
        move |row: &mut SiteRow| {
            row.standing = SiteStanding::Finished { reason };
            row.due_at = after(1000);
            row.account.cycle_closed = Some(reason);
            row.account.next_cycle_at = after(1000);
        }
    };
    let rests = known("http://a.test/", &["http://a.test/new"], |row| {
        closed(FinishReason::BudgetSpent)(row);
        row.account.num_page_requests = 20;
    });
    assert_eq!((rests.rest, rests.max_page_requests), (Some(Rest::UntilNextCycle(FinishReason::BudgetSpent)), 0));
    let resumed = known("http://a.test/", &["http://a.test/new"], closed(FinishReason::QueueEmpty));
    assert_eq!((resumed.rest, resumed.max_page_requests, resumed.due_at), (None, 5, NOW));
    // Of a budget that was raised since, and of one whose URLs `recrawl` queued again.
    let raised = known("http://a.test/", &["http://a.test/new"], closed(FinishReason::BudgetSpent));
    assert_eq!((raised.rest, raised.max_page_requests, raised.due_at), (None, 5, NOW));
    let reopened = known("http://a.test/", &[], |row| {
        closed(FinishReason::QueueEmpty)(row);
        (row.standing, row.due_at) = (SiteStanding::Due, after(10));
    });
    assert_eq!((reopened.rest, reopened.likely_page_requests, reopened.due_at), (None, 3, after(10)));
    let not_resumed = known("http://a.test/", &["http://a.test/"], closed(FinishReason::QueueEmpty));
    assert_eq!(not_resumed.rest, Some(Rest::UntilNextCycle(FinishReason::QueueEmpty)));
    let paused = known("http://a.test/", &[], |row| row.standing = SiteStanding::Paused);
    assert_eq!(paused.rest, Some(Rest::Paused));
    let run = forecast(vec![rests, not_resumed, paused], &limits(1), NOW);
    assert_eq!((run.sites.len(), run.resting.len(), run.page_requests, run.ends_at.0), (0, 3, (0, 0), NOW));
}
