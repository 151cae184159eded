//! What the index keeps, what it gives up, and what a crash leaves.

use lohisoftbot_actors::testkit::storage_contract::exclusion;
use lohisoftbot_core::exclusion::Domain;

use super::*;

const PAGES: [&str; 3] = ["https://a.example/", "https://a.example/2", "https://b.example/"];

fn filled() -> Rig {
    let mut rig = Rig::new();
    let link = || vec![stored_link("https://b.example/", "quokka")];
    rig.save(PAGES[0], "en", ["Common alpha", "", ""], link());
    rig.save(PAGES[1], "en", ["Common beta", "", ""], Vec::new());
    rig.save(PAGES[2], "en", ["Common gamma", "", ""], Vec::new());
    rig.commit();
    rig
}

#[test]
fn what_is_committed_is_found_after_reopening() {
    let rig = filled().reopen();
    rig.check("common", &PAGES);
    let standing = rig.index.standing().unwrap();
    assert_eq!(Some(standing.commit_seq), rig.store.indexed_seq().unwrap());
    assert_eq!(rig.index.stats().num_pages, 3);
    assert!(rig.index.stats().num_bytes > 0);
}

#[test]
fn what_was_written_but_not_committed_is_made_up_for_by_what_is_still_marked() {
    let mut rig = filled();
    rig.save("https://c.example/", "en", ["Common delta", "", ""], Vec::new());
    rig.remove(PAGES[0]);
    rig.write();
    let mut rig = rig.reopen();
    rig.check("common", &PAGES);
    rig.commit();
    rig.check("common", &[PAGES[1], PAGES[2], "https://c.example/"]);
    rig.check("quokka", &[]);
}

#[test]
fn a_commit_that_was_not_noted_is_done_again_and_changes_nothing() {
    let mut rig = filled();
    rig.save(PAGES[1], "en", ["Common epsilon", "", ""], Vec::new());
    rig.write();
    let standing = IndexStanding { epoch: rig.store.epoch(), commit_seq: rig.store.stats().change_seq };
    rig.index.commit(standing).unwrap();
    let mut rig = rig.reopen();
    assert_eq!(rig.store.num_unindexed(), 1);
    rig.commit();
    rig.check("common", &PAGES);
    rig.check("epsilon", &[PAGES[1]]);
    rig.check("beta", &[]);
    assert_eq!(rig.index.stats().num_pages, 3);
}

#[test]
fn a_link_that_comes_or_goes_changes_what_its_target_is_found_by() {
    let mut rig = filled();
    rig.check("quokka", &["https://b.example/"]);
    rig.save(PAGES[0], "en", ["Common alpha", "", ""], vec![stored_link("https://b.example/", "wombat")]);
    rig.commit();
    rig.check("quokka", &[]);
    rig.check("wombat", &["https://b.example/"]);
}

#[test]
fn an_excluded_domain_is_found_by_nothing_and_suggested_by_nothing() {
    let mut rig = filled();
    let domain = Domain::parse("a.example").unwrap();
    rig.store.apply(StoreChange::Exclude { domain, exclusion: exclusion("asked") }).unwrap();
    rig.commit();
    rig.check("common", &["https://b.example/"]);
    for gone in ["alpha", "beta", "quokka", "site:a.example"] {
        rig.check(gone, &[]);
    }
    let reader = rig.index.reader();
    assert_eq!(reader.suggest("quok", 10).unwrap(), [] as [&str; 0]);
    assert_eq!(reader.suggest("alph", 10).unwrap(), [] as [&str; 0]);
    assert_eq!(rig.search("quoka").correction, None);
}

#[test]
fn the_old_index_serves_while_a_new_one_is_built() {
    let mut rig = filled();
    rig.index.begin_rebuild().unwrap();
    let sites = rig.store.sites_with_pages_after(None, usize::MAX).unwrap();
    rig.index.rebuild(&documents(&rig.store, &sites[0])).unwrap();
    rig.check("common", &PAGES);
    // A change meanwhile reaches both.
    rig.save("https://c.example/", "en", ["Common delta", "", ""], Vec::new());
    rig.commit();
    rig.check("delta", &["https://c.example/"]);
    for site in &sites[1..] {
        rig.index.rebuild(&documents(&rig.store, site)).unwrap();
    }
    let standing = IndexStanding { epoch: 1, commit_seq: rig.store.stats().change_seq };
    rig.index.finish_rebuild(standing).unwrap();
    let all = [PAGES[0], PAGES[1], PAGES[2], "https://c.example/"];
    rig.check("common", &all);
    assert_eq!(names(rig.dir.path()).unwrap().len(), 1);
    let rig = rig.reopen();
    assert_eq!(rig.index.standing(), Some(standing));
    rig.check("common", &all);
}

#[test]
fn a_rebuild_that_a_crash_cut_short_leaves_the_old_index() {
    let mut rig = filled();
    rig.index.begin_rebuild().unwrap();
    let rig = rig.reopen();
    rig.check("common", &PAGES);
    assert_eq!(names(rig.dir.path()).unwrap().len(), 1);
}

#[test]
fn a_damaged_index_and_one_of_another_form_are_begun_anew() {
    for damage in [
        |path: &Path| fs::write(path.join("meta.json"), "{").unwrap(),
        |path: &Path| {
            let meta = fs::read_to_string(path.join("meta.json")).unwrap();
            fs::write(path.join("meta.json"), meta.replace("\\\"format\\\":1", "\\\"format\\\":999")).unwrap();
        },
    ] {
        let rig = filled();
        let Rig { dir, store, index } = rig;
        let path = index.live.path.clone();
        drop(index);
        damage(&path);
        let index = TantivyIndex::open(dir.path(), &settings()).unwrap();
        let rig = Rig { dir, store, index };
        assert_eq!(rig.index.standing(), None);
        rig.check("common", &[]);
    }
}
