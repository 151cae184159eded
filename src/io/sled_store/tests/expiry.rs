//! Pages that expire: stores that were written before they were kept in order, and rows that disagree.

use lohisoftbot_actors::storage::{RecordStore, StoreChange};
use lohisoftbot_actors::testkit::storage_contract::{page, url};
use lohisoftbot_core::codec;
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::time::Timestamp;
use tempfile::TempDir;

use super::super::state::{STATE_KEY, StoreState};
use super::super::trees::{TreeName, expiry_key, page_key};
use super::{SledStore, check_verifies, open};

/// A state as version 1 of it was written: an epoch, change 9, ledger entry 7, then rows by tree, links, URLs and standings from 1 to 14.
const STATE_V1: &str = "0101000000887766554433221109000000000000000700000000000000000000000000000001000000000000000200000000000000030000000000000004\
                        00000000000000050000000000000006000000000000000700000000000000080000000000000009000000000000000a000000000000000b00\
                        0000000000000c000000000000000d000000000000000e00000000000000";
const U64: usize = size_of::<u64>();
/// Version, schema, three numbers, and the rows of eight trees.
const COMMON_BYTES: usize = 1 + 4 + 3 * U64 + 8 * U64;

fn save_expiring(store: &mut SledStore, number: u64) {
    let record = page(&format!("http://s{number}.example/"), 1);
    let record = PageRecord { unavailable_after: Some(Timestamp::from_secs(1000 + number)), ..record };
    store.apply(StoreChange::SavePage { record: Box::new(record), links: Vec::new() }).unwrap();
}

/// What version 1 would have written of the same store.
fn to_v1(state: &[u8]) -> Vec<u8> {
    let without_flag = &state[..state.len() - 1];
    let mut old = [&without_flag[..COMMON_BYTES], &without_flag[COMMON_BYTES + 2 * U64..]].concat();
    old[0] = 1;
    old
}

#[test]
fn state_of_version_1_reads() {
    let digits = STATE_V1.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let state: StoreState = codec::decode(&bytes).unwrap();
    assert_eq!((state.schema, state.epoch, state.change_seq, state.ledger_seq), (1, 0x1122_3344_5566_7788, 9, 7));
    assert_eq!(state.counts.rows, [0, 1, 2, 3, 4, 5, 6, 7, 0, 0]);
    assert_eq!((state.counts.num_links, state.counts.num_frontier_urls), (8, 9));
    assert_eq!((state.counts.standing.num_due, state.counts.standing.num_paused), (10, 14));
    assert!(!state.expiries_entered);
    assert_eq!(to_v1(&codec::encode(&state).unwrap()), bytes);
}

#[test]
fn state_of_version_2_reads() {
    let mut state = StoreState::new(5);
    state.counts.rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0];
    state.counts.num_links = 9;
    let bytes = codec::encode(&state).unwrap();
    let without_unindexed = COMMON_BYTES + U64;
    let mut old = [&bytes[..without_unindexed], &bytes[without_unindexed + U64..]].concat();
    old[0] = 2;
    assert_eq!(codec::decode::<StoreState>(&old).unwrap(), state);
}

#[test]
fn pages_of_a_store_without_expiries_are_entered_when_it_is_opened() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    store.apply(StoreChange::SavePage { record: Box::new(page("http://a.example/", 1)), links: Vec::new() }).unwrap();
    (0..600).for_each(|number| save_expiring(&mut store, number));
    // As the program before this tree left it.
    let state = StoreState { expiries_entered: false, ..store.state.clone() };
    let meta = store.trees.all()[TreeName::Meta.index()];
    meta.insert(STATE_KEY, to_v1(&codec::encode(&state).unwrap())).unwrap();
    store.trees.db().drop_tree(TreeName::Expiries.as_str()).unwrap();
    store.trees.db().drop_tree(TreeName::Unindexed.as_str()).unwrap();
    store.trees.db().flush().unwrap();
    drop(store);

    let (mut store, _) = open(dir.path());
    assert_eq!(store.first_expiry().unwrap(), Some(Timestamp::from_secs(1000)));
    assert_eq!(store.expired_until(Timestamp::from_secs(1599), usize::MAX).unwrap().len(), 600);
    check_verifies(&store);
    store.checkpoint(1).unwrap();
    let seq = store.stats().change_seq;
    drop(store);
    let (store, _) = open(dir.path());
    assert_eq!(store.stats().change_seq, seq, "entered once");
    check_verifies(&store);
}

#[test]
fn row_that_its_record_does_not_bear_out_is_passed_over_and_told() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    save_expiring(&mut store, 7);
    let mut plan = store.plan();
    let other_time = expiry_key(Timestamp::from_secs(3), &page_key(&url("http://s7.example/")));
    let no_record = expiry_key(Timestamp::from_secs(4), &page_key(&url("http://b.example/")));
    for key in [other_time, no_record, b"short".to_vec()] {
        plan.put(TreeName::Expiries, key, Vec::new()).unwrap();
    }
    let planned = plan.finish();
    store.commit(planned).unwrap();
    assert_eq!(store.first_expiry().unwrap(), Some(Timestamp::from_secs(1007)));
    assert_eq!(store.expired_until(Timestamp::from_secs(1006), 9).unwrap(), []);
    let mut problems = Vec::new();
    store.verify(&mut |problem| problems.push(problem.tree)).unwrap();
    assert_eq!(problems, [TreeName::Expiries; 3]);
}

#[test]
fn page_that_expires_and_is_not_among_the_expiries_is_told() {
    let dir = TempDir::new().unwrap();
    let (mut store, _) = open(dir.path());
    save_expiring(&mut store, 7);
    let mut plan = store.plan();
    let key = expiry_key(Timestamp::from_secs(1007), &page_key(&url("http://s7.example/")));
    plan.remove(TreeName::Expiries, key).unwrap();
    let planned = plan.finish();
    store.commit(planned).unwrap();
    let mut problems = Vec::new();
    store.verify(&mut |problem| problems.push(problem.to_string())).unwrap();
    assert!(problems.len() == 1 && problems[0].contains("no place among the expiries"), "{problems:?}");
}
