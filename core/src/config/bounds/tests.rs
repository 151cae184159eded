//! Each bound, from both sides, and what is said of a value outside.

use std::net::Ipv4Addr;

use super::*;

/// Changes the defaults and wants exactly these keys to be complained of, each with something to write.
#[track_caller]
fn check(change: impl FnOnce(&mut Config), wanted: &[&str]) {
    let mut config = Config::default();
    change(&mut config);
    let found = config.problems();
    let keys: Vec<&str> = found.iter().map(|problem| problem.key).collect();
    assert_eq!(keys, wanted, "{found:?}");
    for problem in found {
        assert!(problem.to_string().contains("write") || problem.to_string().contains("publish"), "{problem}");
    }
}

#[test]
fn budget_may_only_be_lowered() {
    check(|c| c.budget.page_requests = 21, &["budget.page_requests"]);
    check(|c| c.budget.page_requests = 0, &["budget.page_requests"]);
    check(|c| c.budget.page_requests = 1, &[]);
}

#[test]
fn product_that_robots_files_cannot_name_is_refused() {
    for product in ["", "Bot2", "Lohi Soft", "bot/1.0", "Bot\r\nX: y", "бот"] {
        check(|c| c.identity.product = product.to_owned(), &["identity.product"]);
    }
    check(|c| c.identity.product = "my-bot_x".to_owned(), &[]);
}

#[test]
fn contact_and_page_that_would_break_the_user_agent_are_refused() {
    for contact in ["", "nobody", "a@b", "a b@c.de", "a)@c.de", "a@c.de\r\nX: y", "@c.de", "a@@c.de"] {
        check(|c| c.identity.contact = contact.to_owned(), &["identity.contact"]);
    }
    for url in
        ["", "lohisoft.com/bot", "ftp://a.de/", "https://a.de/(x)", "https://a.de/ x", "https:///", "https://u:p@a.de/"]
    {
        check(|c| c.identity.info_url = url.to_owned(), &["identity.info_url"]);
    }
    check(|c| c.identity.version = "1.0 (x)".to_owned(), &["identity.version"]);
    check(|c| c.identity.user_agent_url_share = 101, &["identity.user_agent_url_share"]);
}

#[test]
fn published_host_names_end_in_the_suffix_with_its_dot() {
    let named = |host: &'static str| {
        move |c: &mut Config| drop(c.identity.addresses.insert(Ipv4Addr::new(192, 0, 2, 1), host.to_owned()))
    };
    check(named("a.bot.lohisoft.com"), &[]);
    for host in ["bot.lohisoft.com", "evilbot.lohisoft.com", "a.bot.lohisoft.com.evil.example", "", ".bot.lohisoft.com"]
    {
        check(named(host), &["identity.addresses"]);
    }
}

#[test]
fn requests_leave_from_published_addresses_only() {
    let from = |last| move |c: &mut Config| c.network.source_addresses = vec![Ipv4Addr::new(127, 0, 0, last)];
    check(from(2), &["network.source_addresses"]);
    check(
        |c| {
            from(2)(c);
            c.network.allow_ranges = vec!["127.0.0.0/8".parse().unwrap()];
        },
        &[],
    );
    check(
        |c| {
            from(2)(c);
            c.identity.enforce = false;
        },
        &[],
    );
}

#[test]
fn limits_that_stop_all_work_are_refused() {
    check(|c| c.network.max_in_flight = 0, &["network.max_in_flight"]);
    check(|c| c.network.host_threads = 1025, &["network.host_threads"]);
    check(|c| c.network.max_in_flight_bytes = MIB, &["network.max_in_flight_bytes"]);
    check(|c| c.network.connect_timeout = Duration::ZERO, &["network.connect_timeout"]);
    check(|c| c.discovery.max_live_sites = 0, &["discovery.max_live_sites"]);
    check(|c| c.politeness.per_address_concurrency = 0, &["politeness.per_address_concurrency"]);
    check(|c| c.politeness.per_address_delay = DAY, &["politeness.per_address_delay"]);
    check(|c| c.recrawl.interval = Duration::ZERO, &["recrawl.interval", "recrawl.min_interval"]);
    check(|c| c.backoff.first = DAY + SECOND, &["backoff.first", "backoff.max"]);
    check(|c| c.store.data_dir = "".into(), &["store.data_dir"]);
}

#[test]
fn search_settings_lie_within_what_the_index_can_do() {
    check(|c| c.search.commit_interval = MILLI, &["search.commit_interval"]);
    check(|c| c.search.memory_bytes = MIB, &["search.memory_bytes"]);
    check(|c| c.search.title_weight = 101, &["search.title_weight"]);
    check(|c| c.search.authority_weight = 0, &[]);
}

#[test]
fn recrawl_interval_lies_between_its_bounds() {
    let seconds = |interval, min, max| {
        move |c: &mut Config| {
            (c.recrawl.interval, c.recrawl.min_interval) = (interval * SECOND, min * SECOND);
            c.recrawl.max_interval = max * SECOND;
        }
    };
    check(seconds(3, 3, 3), &[]);
    check(seconds(3, 1, 10), &[]);
    check(seconds(3, 4, 10), &["recrawl.min_interval"]);
    check(seconds(3, 1, 2), &["recrawl.max_interval"]);
    check(seconds(3, 0, 10), &["recrawl.min_interval"]);
    check(|c| c.recrawl.interval = DAY, &["recrawl.min_interval"]);
    check(|c| c.recrawl.interval = 91 * DAY, &["recrawl.max_interval"]);
}

#[test]
fn connections_to_a_shared_address_may_not_be_idle_for_long() {
    let key: &[&str] = &["politeness.per_address_delay"];
    for (num_inside, millis, wanted) in [
        (1, 0, &[][..]),
        (1, 10_000, &[]),
        (1, 10_001, key),
        (2, 10_000, &[]),
        (3, 10_000, key),
        (4, 5_000, &[]),
        (4, 5_001, key),
        (100, 200, &[]),
        (1000, 200, key),
        (1000, 120_000, key),
    ] {
        let set = |c: &mut Config| {
            c.politeness.per_address_concurrency = num_inside;
            c.politeness.per_address_delay = Duration::from_millis(millis);
        };
        check(set, wanted);
    }
}

#[test]
fn socket_path_that_the_system_cannot_hold_is_refused() {
    check(|c| c.control.socket = "x".repeat(107).into(), &[]);
    check(|c| c.control.socket = "x".repeat(108).into(), &["control.socket"]);
    check(|c| c.store.data_dir = "x".repeat(100).into(), &["control.socket"]);
}

#[test]
fn every_problem_is_named_at_once() {
    check(
        |c| {
            c.budget.page_requests = 40;
            c.identity.contact = String::new();
            c.store.cache_bytes = 1;
        },
        &["identity.contact", "budget.page_requests", "store.cache_bytes"],
    );
}

#[test]
fn public_pages_need_names_both_halves_of_tls_and_room_for_a_visitor() {
    check(|c| c.web.hostnames = vec!["search.example.org".to_owned(), "192.0.2.1".to_owned()], &[]);
    for name in ["", "https://search.example.org", "search.example.org:443", "*.example.org", "a b"] {
        check(|c| c.web.hostnames = vec![name.to_owned()], &["web.hostnames"]);
    }
    check(|c| c.web.tls_key = "key.pem".into(), &["web.tls_certificate"]);
    check(|c| c.web.tls_certificate = "chain.pem".into(), &["web.tls_key"]);
    check(|c| c.web.max_connections = 0, &["web.max_connections"]);
    check(|c| c.web.request_timeout = Duration::ZERO, &["web.request_timeout"]);
    check(|c| c.web.keep_alive = DAY, &["web.keep_alive"]);
    check(|c| c.web.requests_per_minute = 0, &["web.requests_per_minute"]);
    check(|c| c.web.request_burst = 0, &["web.request_burst"]);
}
