mod found;
mod kept;

use lohisoftbot_actors::storage::{RecordStore, StoreChange};
use lohisoftbot_actors::testkit::memory_storage::MemoryStore;
use lohisoftbot_actors::testkit::storage_contract::{page, stored_link, url};
use lohisoftbot_core::extract::Heading;
use lohisoftbot_core::record::{PageRecord, StoredLink};
use lohisoftbot_core::search::document::MAX_INLINK_ROWS;
use lohisoftbot_core::search::{MarkedText, Query, SearchAnswer};
use tempfile::TempDir;

use lohisoftbot_core::search::SearchRequest;

use super::*;

fn settings() -> SearchSettings {
    SearchSettings { memory_bytes: 16 << 20, ..SearchSettings::default() }
}

/// A store and an index of it.
struct Rig {
    dir: TempDir,
    store: MemoryStore,
    index: TantivyIndex,
}

impl Rig {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let index = TantivyIndex::open(dir.path(), &settings()).unwrap();
        Self { dir, store: MemoryStore::new(), index }
    }

    fn save(&mut self, address: &str, lang: &str, texts: [&str; 3], links: Vec<StoredLink>) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let headings = texts[2].split('|').filter(|text| !text.is_empty());
        let record = PageRecord {
            title: some(texts[0]),
            description: some(texts[1]),
            headings: headings.map(|text| Heading { level: 2, text: text.to_owned() }).collect(),
            lang: some(lang),
            ..page(address, 1)
        };
        self.store.apply(StoreChange::SavePage { record: Box::new(record), links }).unwrap();
    }

    fn remove(&mut self, address: &str) {
        self.store.apply(StoreChange::RemovePage { url: url(address) }).unwrap();
    }

    /// Writes what changed, and stops short of the commit.
    fn write(&mut self) -> Vec<lohisoftbot_actors::storage::UnindexedSite> {
        let marks = self.store.unindexed_after(None, usize::MAX).unwrap();
        for mark in &marks {
            self.index.replace(&documents(&self.store, &mark.site)).unwrap();
        }
        marks
    }

    fn commit(&mut self) {
        let marks = self.write();
        let standing = IndexStanding { epoch: self.store.epoch(), commit_seq: self.store.stats().change_seq };
        self.index.commit(standing).unwrap();
        self.store.note_indexed(&marks, standing.commit_seq).unwrap();
    }

    fn reopen(self) -> Self {
        let Self { dir, store, index } = self;
        drop(index);
        let index = TantivyIndex::open(dir.path(), &settings()).unwrap();
        Self { dir, store, index }
    }

    fn search(&self, typed: &str) -> SearchAnswer {
        self.index.reader().search(&SearchRequest::new(Query::parse(typed))).unwrap()
    }

    fn urls(&self, typed: &str) -> Vec<String> {
        self.search(typed).results.into_iter().map(|result| result.url.to_string()).collect()
    }

    #[track_caller]
    fn check(&self, typed: &str, wanted: &[&str]) {
        let mut found = self.urls(typed);
        found.sort();
        assert_eq!(found, wanted, "{typed:?}");
    }

    #[track_caller]
    fn check_first(&self, typed: &str, wanted: &str) {
        let found = self.urls(typed);
        assert_eq!(found.first().map(String::as_str), Some(wanted), "{typed:?} {found:?}");
    }
}

fn documents(store: &MemoryStore, site: &lohisoftbot_core::site::Site) -> SiteDocuments {
    let inlinks = store.some_inlinks_of_site(site, MAX_INLINK_ROWS).unwrap();
    SiteDocuments::of_stored(site.clone(), store.pages_of(site).unwrap(), inlinks)
}

fn shown(pieces: &[MarkedText]) -> String {
    pieces.iter().map(|piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text.clone() }).collect()
}
