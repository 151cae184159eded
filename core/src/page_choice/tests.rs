//! Which URL comes first, and what the queue remembers.

use super::*;

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("https://a.test{path}"), None).unwrap()
}

fn queue(paths: &[(&str, u16, u32)]) -> PageQueue {
    let mut queue = PageQueue::default();
    for &(path, depth, num_links) in paths {
        for _ in 0..num_links {
            queue.add(url(path), depth, 0, 1000);
        }
    }
    queue
}

#[track_caller]
fn check(paths: &[(&str, u16, u32)], wanted: &str) {
    let mut queue = queue(paths);
    queue.weigh();
    assert_eq!(queue.best(|_| false).unwrap().url, url(wanted), "{paths:?}");
    assert_eq!(queue.by_choice(|_| false)[0], url(wanted), "{paths:?}");
}

#[test]
fn home_page_comes_before_everything() {
    check(&[("/a", 0, 90), ("/", 3, 1)], "/");
}

#[test]
fn shallow_pages_come_first_where_nothing_else_tells_them_apart() {
    check(&[("/b/x/c/d", 3, 1), ("/a", 1, 1)], "/a");
    check(&[("/c?page=2", 1, 2), ("/b", 1, 2)], "/b");
}

#[test]
fn equals_keep_the_order_in_which_they_were_found() {
    check(&[("/b", 1, 1), ("/a", 1, 1)], "/b");
}

#[test]
fn a_url_stands_in_the_queue_once_and_the_cap_holds() {
    let mut queue = PageQueue::default();
    assert_eq!(queue.add(url("/a"), 1, 0, 1), Added::New);
    assert_eq!(queue.add(url("/a"), 0, 0, 1), Added::Known);
    assert_eq!(queue.add(url("/b"), 0, 0, 1), Added::NoRoom);
    assert_eq!((queue.entries().len(), queue.entries()[0].depth, queue.entries()[0].num_inlinks), (1, 0, 2));
}

#[test]
fn a_new_cycle_asks_everything_again_but_what_was_gone() {
    let mut queue = queue(&[("/", 0, 1), ("/old", 1, 1), ("/kept", 1, 1)]);
    queue.settle(&url("/old"), EntryStanding::Dropped(DropReason::Gone));
    queue.settle(&url("/kept"), EntryStanding::Stored);
    queue.reopen();
    assert_eq!(queue.by_choice(|_| false), [url("/"), url("/kept")]);
    assert_eq!(queue.add(url("/old"), 1, 0, 1000), Added::New);
}

#[test]
fn tried_urls_wait_behind_untried_ones() {
    let mut queue = queue(&[("/", 0, 1), ("/a", 1, 1)]);
    queue.count_try(&url("/"));
    assert_eq!(queue.best(|_| false).unwrap().url, url("/a"));
}
