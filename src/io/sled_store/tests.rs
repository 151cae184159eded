mod damage;
mod expiry;
mod kill;
mod model;

use std::cell::RefCell;

use lohisoftbot_actors::storage::{Applied, RecordStore, StoreChange, catch_up};
use lohisoftbot_actors::testkit::memory_storage::MemoryStore;
use lohisoftbot_actors::testkit::storage_contract::{
    check_record_store, check_same_as_twin, entry, exclusion, frontier, page, row, site, stored_link, ticket_event,
};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::ledger::{LedgerEntry, LedgerEvent};
use lohisoftbot_core::site_row::SiteStanding;
use tempfile::TempDir;

use super::state::PURGE_PREFIX;
use super::*;

fn open(dir: &Path) -> (SledStore, StoreOpenReport) {
    try_open(dir).unwrap()
}

/// Opens a store that nobody has open any more.
fn try_open(dir: &Path) -> Result<(SledStore, StoreOpenReport), StoreOpenError> {
    durable::wait_until_free(&dir.join("records/db"));
    SledStore::open(&DataDir::new(dir), StoreOptions { cache_bytes: 8 << 20 })
}

/// A store with a few sites, pages, links and an exclusion, checkpointed.
fn fill(store: &mut impl RecordStore) {
    for host in ["a.example", "b.example", "c.example"] {
        let address = format!("http://{host}/");
        let links = vec![stored_link("http://a.example/", "to a"), stored_link("http://b.example/x", "to b")];
        store.apply(StoreChange::SavePage { record: Box::new(page(&address, 1)), links }).unwrap();
        let row = Box::new(row(host, SiteStanding::Due, 3));
        store.apply(StoreChange::SaveSite { row, frontier: Some(frontier(&[&address])), robots: None }).unwrap();
    }
    let domain = Domain::parse("out.example").unwrap();
    store.apply(StoreChange::Exclude { domain, exclusion: exclusion("asked") }).unwrap();
    store.checkpoint(7).unwrap();
}

#[track_caller]
fn check_verifies(store: &SledStore) {
    let mut problems = Vec::new();
    store.verify(&mut |problem| problems.push(problem.to_string())).unwrap();
    assert_eq!(problems, [] as [String; 0]);
}

#[test]
fn sled_store_keeps_the_contract() {
    let dirs = RefCell::new(Vec::new());
    check_record_store(|| {
        let dir = TempDir::new().unwrap();
        let (store, report) = open(dir.path());
        assert!(report.created);
        dirs.borrow_mut().push(dir);
        store
    });
}

#[test]
fn reopened_store_is_the_same() {
    let dir = TempDir::new().unwrap();
    let mut twin = MemoryStore::new();
    fill(&mut twin);
    let (mut store, _) = open(dir.path());
    fill(&mut store);
    drop(store);
    let (store, report) = open(dir.path());
    assert_eq!((report.created, report.num_rows > 0), (false, true));
    check_same_as_twin(&store, &twin, &[site("out.example")]);
    check_verifies(&store);
}

#[test]
fn second_process_is_refused_in_one_clear_line() {
    let dir = TempDir::new().unwrap();
    let _held = open(dir.path());
    let error = SledStore::open(&DataDir::new(dir.path()), StoreOptions::default()).unwrap_err();
    assert!(matches!(error, StoreOpenError::Held(_)), "{error:?}");
    assert!(error.to_string().ends_with("is held by another process: stop the other node"), "{error}");
}

#[test]
fn purge_that_a_crash_cut_short_is_ended_at_the_next_start() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    fill(&mut store);
    // As after the first transaction of an exclusion: in force and marked, nothing removed.
    let mut plan = store.plan();
    plan.put_value(Tree::Exclusions, b"b.example".to_vec(), &exclusion("asked")).unwrap();
    plan.put(Tree::Meta, [PURGE_PREFIX, b"b.example"].concat(), Vec::new()).unwrap();
    let planned = plan.finish();
    store.commit(planned).unwrap();
    drop(store);

    let (store, report) = open(dir.path());
    assert_eq!(report.resumed_purges, [Domain::parse("b.example").unwrap()]);
    assert_eq!(store.site(&site("b.example")).unwrap(), None);
    assert_eq!(store.inlinks_of_site(&site("b.example")).unwrap(), []);
    check_verifies(&store);
    drop(store);
    assert_eq!(open(dir.path()).1.resumed_purges, [], "done once");
}

#[test]
fn write_of_another_writer_is_noticed() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    let foreign = StoreState { change_seq: 99, ..store.state.clone() };
    store.trees.all()[Tree::Meta.index()].insert(STATE_KEY, encode_state(&foreign).unwrap()).unwrap();
    let error =
        store.apply(StoreChange::SavePage { record: Box::new(page("http://a.example/", 1)), links: Vec::new() });
    assert!(matches!(error, Err(StoreError::ForeignWriter { found: 99, .. })), "{error:?}");
}

#[test]
fn exclusion_of_a_site_with_many_inlinks_goes_in_batches() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    for number in 0..600 {
        let record = Box::new(page(&format!("http://s{number}.example/"), 1));
        let links = vec![stored_link("http://hub.test/", "hub"), stored_link("http://a.example/", "a")];
        store.apply(StoreChange::SavePage { record, links }).unwrap();
    }
    let before = store.stats().change_seq;
    let domain = Domain::parse("hub.test").unwrap();
    let applied = store.apply(StoreChange::Exclude { domain, exclusion: exclusion("asked") }).unwrap();
    let Applied::Excluded(counts) = applied else { panic!("{applied:?}") };
    assert_eq!((counts.num_anchors_to, counts.num_pages), (600, 0));
    assert!(store.stats().change_seq - before >= 4, "no transaction holds all of it");
    assert_eq!((store.stats().num_links, store.stats().num_pages), (600, 600));
    check_verifies(&store);
}

#[test]
fn unchanged_pieces_of_a_queue_are_not_written_again() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    let addresses: Vec<String> = (0..1000).map(|number| format!("http://a.example/{number}/{:0>80}", 7)).collect();
    let mut queue = frontier(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    let save = |queue: &SiteFrontier| StoreChange::SaveSite {
        row: Box::new(row("a.example", SiteStanding::Live, 0)),
        frontier: Some(queue.clone()),
        robots: None,
    };
    store.apply(save(&queue)).unwrap();
    queue.entries[500].standing = lohisoftbot_core::page_choice::EntryStanding::Stored;
    let mut plan = store.plan();
    let row = row("a.example", SiteStanding::Live, 0);
    site_change::save_site(&mut plan, &Exclusions::default(), row, Some(queue), None).unwrap();
    let (writes, _) = plan.finish();
    let pieces = writes.keys().filter(|(tree, _)| *tree == Tree::Frontier).count();
    assert_eq!(pieces, 1);
}

#[test]
fn store_catches_up_with_the_ledger_and_refuses_one_that_lost_its_end() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    fill(&mut store);
    let domain = Domain::parse("c.example").unwrap();
    let events = [
        ticket_event("http://a.example/", 1),
        ticket_event("http://new.example/", 1),
        LedgerEvent::Excluded { domain: domain.clone(), exclusion: exclusion("asked") },
        ticket_event("http://a.example/2", 2),
        LedgerEvent::Excluded { domain: Domain::parse("b.example").unwrap(), exclusion: exclusion("asked") },
        LedgerEvent::Included { domain: Domain::parse("b.example").unwrap() },
    ];
    let entries: Vec<LedgerEntry> = events.into_iter().zip(8..).map(|(event, seq)| entry(seq, event)).collect();
    let stream = || entries.iter().cloned().map(Ok::<_, lohisoftbot_actors::storage::LedgerError>);
    let counts = catch_up(&mut store, 13, stream()).unwrap();
    assert_eq!((counts.num_entries, counts.num_sites, counts.num_new_sites, counts.last_seq), (3, 2, 1, 13));
    let account = store.site(&site("a.example")).unwrap().unwrap().account;
    assert_eq!((account.num_page_requests, account.last_ticket), (2, 2));
    assert_eq!(store.site(&site("c.example")).unwrap(), None, "excluded while the store lagged behind");
    assert!(store.site(&site("b.example")).unwrap().is_some(), "taken out and back in: nothing is lost twice");
    let again = catch_up(&mut store, 13, stream()).unwrap();
    assert_eq!(again.num_entries, 0, "each entry is folded once");
    assert_eq!(store.site(&site("a.example")).unwrap().unwrap().account.num_page_requests, 2);

    let error = catch_up(&mut store, 6, std::iter::empty::<Result<_, lohisoftbot_actors::storage::LedgerError>>());
    let message = error.unwrap_err().to_string();
    assert!(message.contains("ends at entry 6") && message.contains("seen entry 7"), "{message}");
}

#[test]
fn rows_ahead_of_the_ledger_show_its_loss_where_no_checkpoint_does() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    let mut ahead = row("a.example", SiteStanding::Due, 1);
    ahead.account_seq = 50;
    store.apply(StoreChange::SaveSite { row: Box::new(ahead), frontier: None, robots: None }).unwrap();
    assert_eq!(store.ledger_seq(), 0);
    let nothing = std::iter::empty::<Result<_, lohisoftbot_actors::storage::LedgerError>>;
    let message = catch_up(&mut store, 49, nothing()).unwrap_err().to_string();
    assert!(message.contains("ends at entry 49") && message.contains("seen entry 50"), "{message}");
    assert!(catch_up(&mut store, 50, nothing()).is_ok());
}
