//! One of each reason, with its word and what its sentence must say.

use std::collections::BTreeSet;

use lohisoftbot_core::ledger::EndKind;

use super::*;

const AT: Timestamp = Timestamp::from_secs(1_800_000_000);
const THEN: &str = "2027-01-15T08:00:00.000Z";

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, None).unwrap()
}

fn stored(canonical: Option<&str>, part: Part) -> Reason {
    Reason::Stored { fetched_at: AT, canonical: canonical.map(url), part }
}

fn over(reason: FinishReason) -> Reason {
    Reason::CycleOver { reason, next_cycle_at: AT }
}

fn due(robots: RobotsFirst, num_before: usize) -> Reason {
    Reason::CycleDue { since: AT, robots, num_before, budget: 20 }
}

fn waits(reason: WaitReason) -> Reason {
    Reason::SiteWaits { reason, until: AT, cause: None }
}

fn line(text: &str) -> DropReason {
    DropReason::Robots { line: 7, text: text.to_owned() }
}

/// Every reason with its word and what must stand in its sentence.
fn table() -> Vec<(Reason, &'static str, Vec<&'static str>)> {
    let target = url("https://a.test/new");
    let exclusion = Exclusion { at: AT, reason: "asked by mail".to_owned() };
    let cause = Cause { at: AT, url: url("https://a.test/busy"), end: EndKind::Answered(503) };
    let retry_after = Reason::SiteWaits { reason: WaitReason::RetryAfter, until: AT, cause: Some(cause) };
    let dropped = Reason::Dropped;
    vec![
        (Reason::Never(UrlRefusal::OtherScheme), "scheme_refused", vec!["neither http nor https"]),
        (Reason::Never(UrlRefusal::NoUsableHost), "host_refused", vec!["host"]),
        (Reason::Never(UrlRefusal::LabelTooLong), "host_refused", vec!["label", "63 octets", "RFC 1035"]),
        (Reason::Never(UrlRefusal::HostTooLong), "host_refused", vec!["253 octets", "RFC 1035"]),
        (Reason::Never(UrlRefusal::Credentials), "credentials_refused", vec!["password"]),
        (Reason::Never(UrlRefusal::TooLong), "url_too_long", vec!["2048"]),
        (Reason::Never(UrlRefusal::Unparsable), "no_url", vec!["not a valid URL"]),
        (Reason::PortRefused(25), "port_refused", vec!["port 25"]),
        (
            Reason::Excluded(Domain::parse("a.test").unwrap(), exclusion),
            "excluded",
            vec!["a.test", THEN, "asked by mail", "Nothing of them is stored"],
        ),
        (Reason::RobotsFile, "robots_file", vec!["before anything else"]),
        (Reason::SiteUnknown(DiscoveryMode::Seeds), "site_not_seeded", vec!["only the sites that its operator names"]),
        (Reason::SiteUnknown(DiscoveryMode::Links), "site_unknown", vec!["no link"]),
        (Reason::TooManySites { max_sites: 5 }, "too_many_sites", vec!["5 sites"]),
        (stored(None, Part::Whole), "stored", vec![THEN, "stored"]),
        (stored(None, Part::Cut), "stored_cut", vec![THEN, "only in part"]),
        (stored(Some("https://a.test/new"), Part::Whole), "canonical_elsewhere", vec!["https://a.test/new"]),
        (Reason::RecordGone, "record_gone", vec!["unavailable_after", "room"]),
        (Reason::SitemapRead { num_urls: 9 }, "sitemap_read", vec!["9 were of use"]),
        (Reason::UnderWay, "under_way", vec!["at this moment"]),
        (Reason::Queued { num_before: 3, about_at: AT }, "queued", vec!["behind 3", THEN]),
        (
            Reason::BehindBudget { num_before: 30, num_left: 4, next_cycle_at: AT },
            "behind_budget",
            vec!["30 other", "4 requests are left", THEN],
        ),
        (Reason::BudgetSpent { budget: 20, next_cycle_at: AT }, "budget_spent", vec!["all 20 requests", THEN]),
        (
            due(RobotsFirst::Read, 3),
            "next_cycle_due",
            vec!["due now, since 2027", "First the robots.txt", "3 other pages"],
        ),
        (due(RobotsFirst::InForce, 0), "next_cycle_due", vec!["a place for the site. It is the first page"]),
        (
            due(RobotsFirst::InForce, 20),
            "next_cycle_due",
            vec!["20 other pages", "20 requests", "not be asked for in that"],
        ),
        (over(FinishReason::QueueEmpty), "cycle_over", vec!["every URL", THEN]),
        (over(FinishReason::BudgetSpent), "budget_spent", vec!["spent", THEN]),
        (over(FinishReason::NoSuchName), "no_such_name", vec!["name does not exist"]),
        (over(FinishReason::AddressRefused), "address_refused", vec!["never dialled"]),
        (over(FinishReason::Excluded), "excluded_then", vec!["excluded"]),
        (Reason::NodePaused, "node_paused", vec!["paused"]),
        (Reason::SitePaused, "site_paused", vec!["paused", "site"]),
        (retry_after, "retry_after", vec![THEN, "Retry-After", "https://a.test/busy", "answered 503"]),
        (waits(WaitReason::RetryAfter), "retry_after", vec![THEN, "Retry-After"]),
        (waits(WaitReason::Backoff), "backoff", vec![THEN, "busy or broken"]),
        (waits(WaitReason::Unreachable), "no_answer", vec![THEN, "did not answer"]),
        (waits(WaitReason::RobotsUnreachable), "robots_unreachable", vec![THEN, "robots.txt cannot be read"]),
        (waits(WaitReason::NoSuchName), "no_such_name", vec![THEN, "name does not exist"]),
        (waits(WaitReason::NameServers), "name_servers", vec![THEN, "name servers"]),
        (waits(WaitReason::CrawlDelay), "crawl_delay", vec![THEN, "Crawl-delay"]),
        (waits(WaitReason::Barrier), "barrier_wait", vec![THEN, "login, paywall or bot protection"]),
        (waits(WaitReason::SlowAnswers), "slow_answers", vec![THEN, "slow"]),
        (
            Reason::RobotsForbids { line: 7, text: "Disallow: /a".to_owned() },
            "robots_line",
            vec!["line 7", "Disallow: /a"],
        ),
        (Reason::RobotsLogin { status: 401 }, "robots_login", vec!["401", "login"]),
        (
            Reason::RobotsUnreachable { since: Some(AT), retry_at: AT },
            "robots_unreachable",
            vec!["since 2027", "asked for again no sooner than 2027"],
        ),
        (Reason::RobotsUnread, "robots_unread", vec!["robots.txt", "has to be read before"]),
        (Reason::QueueFull { max_urls: 1000 }, "queue_full", vec!["1000 URLs"]),
        (
            Reason::Trap(TrapKind::EndlessCalendar),
            "trap_endless_calendar",
            vec!["a calendar that has no end", "as a seed"],
        ),
        (Reason::Nofollow { source: url("https://a.test/p") }, "nofollow", vec!["https://a.test/p", "nofollow"]),
        (
            Reason::RestingSite { source: url("https://b.test/p"), next_cycle_at: AT },
            "resting_site",
            vec!["linked from https://b.test/p", "at rest when that page was read", "not before 2027"],
        ),
        (
            Reason::SiteNotBegun { source: url("https://b.test/p") },
            "site_not_begun",
            vec!["linked from https://b.test/p", "nothing of its site was asked for yet", "as a seed"],
        ),
        (Reason::NotLinked, "not_linked", vec!["no link that may be followed"]),
        (Reason::EarlierCycle, "earlier_cycle", vec!["earlier"]),
        (dropped(line("Disallow: /a")), "robots_line", vec!["line 7", "Disallow: /a"]),
        (dropped(line("Content-Usage: /a search=n")), "robots_usage", vec!["line 7", "search=n", "out of search"]),
        (dropped(DropReason::RobotsLogin { status: 401 }), "robots_login", vec!["401"]),
        (dropped(DropReason::RobotsUnreachable), "robots_unreachable", vec!["cannot be read"]),
        (dropped(DropReason::Excluded), "excluded_then", vec!["excluded"]),
        (dropped(DropReason::TooManyOrigins), "too_many_origins", vec!["origins"]),
        (dropped(DropReason::NotHtml), "not_html", vec!["no HTML page"]),
        (dropped(DropReason::OtherFormat), "other_format", vec!["whatever its type says"]),
        (dropped(DropReason::Gone), "gone", vec!["does not exist"]),
        (dropped(DropReason::Barrier(BarrierKind::LoginRequired)), "barrier", vec!["a login is required"]),
        (
            dropped(DropReason::Barrier(BarrierKind::Challenge)),
            "barrier",
            vec!["a bot protection", "no second try is made in another guise"],
        ),
        (dropped(DropReason::Noindex), "noindex", vec!["noindex", "meta", "X-Robots-Tag"]),
        (
            dropped(DropReason::Redirect { target: Some(target.clone()) }),
            "redirect",
            vec!["redirects to https://a.test/new"],
        ),
        (dropped(DropReason::Redirect { target: None }), "redirect_nowhere", vec!["redirects to nothing"]),
        (dropped(DropReason::MovedForGood { target }), "moved", vec!["moved to https://a.test/new for good"]),
        (dropped(DropReason::Status(418)), "status", vec!["answered 418"]),
        (dropped(DropReason::TooManyTries), "too_many_tries", vec!["failed as often"]),
        (dropped(DropReason::ExtractionFailed), "extraction_failed", vec!["reading it failed"]),
        (
            dropped(DropReason::AddressRefused { why: "127.0.0.1 is loopback".to_owned() }),
            "address_refused",
            vec!["127.0.0.1 is loopback"],
        ),
        (dropped(DropReason::NoSuchName), "no_such_name", vec!["name does not exist"]),
        (dropped(DropReason::StoreFull), "store_full", vec!["pages are all taken"]),
        (dropped(DropReason::NoSitemap), "no_sitemap", vec!["as a sitemap and is none"]),
        (dropped(DropReason::SitemapsSpent), "sitemaps_spent", vec!["no request left"]),
    ]
}

#[test]
fn each_reason_has_its_word_and_a_sentence_that_says_what_matters() {
    for (reason, code, words) in table() {
        assert_eq!(reason.code(), code, "{reason:?}");
        let sentence = reason.sentence();
        for word in words {
            assert!(sentence.contains(word), "{word:?} is missing: {sentence}");
        }
        assert!(sentence.starts_with("It ") && sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
        assert!(!sentence.contains("  "), "{sentence}");
    }
}

#[test]
fn no_word_has_blanks_or_capitals_and_few_reasons_share_one() {
    let words: Vec<&str> = table().iter().map(|(reason, _, _)| reason.code()).collect();
    assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    assert!(words.iter().collect::<BTreeSet<_>>().len() >= 48, "{words:?}");
}
