//! The contract of the record store on what the search index has to look at again.

use super::records::{apply, exclude, save};
use super::samples::{page, renewal, site, stored_link, url};
use crate::storage::{Applied, RecordStore, StoreChange, UnindexedSite};

/// Checks a store; `empty` makes an empty one.
pub(super) fn check_unindexed<S: RecordStore>(empty: &impl Fn() -> S) {
    each_change_of_a_page_marks_its_site(&mut empty());
    a_link_marks_the_site_it_leads_to_if_pages_of_it_are_stored(&mut empty());
    what_changes_after_it_was_read_stays_marked(&mut empty());
    an_exclusion_marks_what_it_takes_and_what_it_linked_to(&mut empty());
    tells_sites_with_pages_and_marks_in_the_same_order(&mut empty());
}

fn marks(store: &impl RecordStore) -> Vec<UnindexedSite> {
    store.unindexed_after(None, usize::MAX).expect("reads")
}

/// The marked sites in alphabetical order; then takes all marks away.
fn taken(store: &mut impl RecordStore) -> Vec<String> {
    let found = marks(store);
    assert_eq!(store.num_unindexed(), found.len() as u64);
    let seq = store.stats().change_seq;
    assert!(found.iter().all(|mark| mark.change_seq <= seq));
    store.note_indexed(&found, seq).expect("notes");
    assert_eq!((marks(store), store.indexed_seq().expect("reads")), (Vec::new(), Some(seq)));
    let mut names: Vec<String> = found.into_iter().map(|mark| mark.site.to_string()).collect();
    names.sort();
    names
}

fn each_change_of_a_page_marks_its_site(store: &mut impl RecordStore) {
    assert_eq!(store.indexed_seq().expect("reads"), None);
    let home = "http://a.example/";
    save(store, page(home, 1), Vec::new());
    assert_eq!(taken(store), ["a.example"]);
    assert_eq!(apply(store, renewal(home, 90, 2, &[])), Applied::Done);
    assert_eq!(taken(store), ["a.example"]);
    apply(store, StoreChange::FinishCycle { site: site("a.example") });
    assert_eq!(taken(store), [] as [&str; 0]);
    apply(store, StoreChange::RemovePage { url: url(home) });
    assert_eq!(taken(store), ["a.example"]);
    store.forget_index().expect("forgets");
    assert_eq!(store.indexed_seq().expect("reads"), None);
}

fn a_link_marks_the_site_it_leads_to_if_pages_of_it_are_stored(store: &mut impl RecordStore) {
    save(store, page("http://known.example/", 1), Vec::new());
    taken(store);
    let link = |text| vec![stored_link("http://known.example/", text), stored_link("http://unknown.example/", text)];
    save(store, page("http://source.example/", 1), link("once"));
    assert_eq!(taken(store), ["known.example", "source.example"]);
    save(store, page("http://source.example/", 2), link("again"));
    assert_eq!(taken(store), ["known.example", "source.example"]);
    save(store, page("http://source.example/", 3), Vec::new());
    assert_eq!(taken(store), ["known.example", "source.example"]);
    save(store, page("http://source.example/", 4), link("back"));
    taken(store);
    apply(store, StoreChange::RemovePage { url: url("http://source.example/") });
    assert_eq!(taken(store), ["known.example", "source.example"]);
}

fn what_changes_after_it_was_read_stays_marked(store: &mut impl RecordStore) {
    save(store, page("http://a.example/", 1), Vec::new());
    save(store, page("http://b.example/", 1), Vec::new());
    let read = marks(store);
    save(store, page("http://b.example/", 2), Vec::new());
    store.note_indexed(&read, 1).expect("notes");
    assert_eq!(taken(store), ["b.example"]);
}

fn an_exclusion_marks_what_it_takes_and_what_it_linked_to(store: &mut impl RecordStore) {
    save(store, page("http://b.example/", 1), vec![stored_link("http://out.example/", "out")]);
    save(store, page("http://out.example/", 1), vec![stored_link("http://b.example/", "to b")]);
    taken(store);
    exclude(store, "out.example");
    assert_eq!(taken(store), ["b.example", "out.example"]);
}

fn tells_sites_with_pages_and_marks_in_the_same_order(store: &mut impl RecordStore) {
    let hosts = ["a.example", "b.example", "c.example", "d.example", "e.example"];
    for host in hosts {
        save(store, page(&format!("http://{host}/"), 1), vec![stored_link("http://none.example/", "none")]);
        save(store, page(&format!("http://{host}/2"), 1), Vec::new());
    }
    let all = store.sites_with_pages_after(None, usize::MAX).expect("reads");
    assert_eq!(all.len(), hosts.len());
    assert!(marks(store).into_iter().map(|mark| mark.site).eq(all.iter().cloned()));
    assert_eq!(store.sites_with_pages_after(Some(&all[1]), 2).expect("reads"), all[2..4]);
    let behind = store.unindexed_after(Some(&all[3]), 9).expect("reads");
    assert_eq!(behind.into_iter().map(|mark| mark.site).collect::<Vec<_>>(), all[4..]);
    let rows = store.some_inlinks_of_site(&site("none.example"), 2).expect("reads");
    assert_eq!(rows, store.inlinks_of_site(&site("none.example")).expect("reads")[..2]);
}
