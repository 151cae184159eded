//! `SearchActor` over an index in memory: what it writes when, and what it answers meanwhile.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_actors::clock::AnchoredClock;
use lohisoftbot_actors::index::{ApplyChange, IndexActor, ReadStore};
use lohisoftbot_actors::search::{
    CommitNow, EndSearch, IndexStanding, IndexStats, Reindex, Search, SearchActor, SearchIndex, SearchIndexError,
    SearchReader, SearchUnavailable, ViewSearch,
};
use lohisoftbot_actors::stats::NodeStats;
use lohisoftbot_actors::storage::{RecordStore, StoreChange};
use lohisoftbot_actors::supervisor::NodeSupervisor;
use lohisoftbot_actors::testkit::memory_storage::MemoryStore;
use lohisoftbot_actors::testkit::node::run_paused;
use lohisoftbot_actors::testkit::storage_contract::{exclusion, page};
use lohisoftbot_core::exclusion::Domain;
use lohisoftbot_core::search::{Query, SearchAnswer, SearchRequest, SiteDocuments};
use lohisoftbot_core::site::Site;
use tokio::sync::oneshot;

const INTERVAL: Duration = Duration::from_secs(10);

/// Number of pages by site.
type Pages = BTreeMap<Site, usize>;

#[derive(Default)]
struct Shelf {
    written: Pages,
    committed: Pages,
    building: Option<Pages>,
    standing: Option<IndexStanding>,
    num_commits: usize,
    num_rebuilds: usize,
    is_broken: bool,
}

/// An index in memory; clones share it.
#[derive(Clone, Default)]
struct MemoryIndex(Arc<Mutex<Shelf>>);

impl MemoryIndex {
    fn with<T>(&self, look: impl FnOnce(&mut Shelf) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn broken() -> SearchIndexError {
    SearchIndexError { path: PathBuf::from("nowhere"), doing: "committing", detail: "no space".to_owned() }
}

impl SearchIndex for MemoryIndex {
    fn standing(&self) -> Option<IndexStanding> {
        self.with(|shelf| shelf.standing)
    }

    fn replace(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError> {
        self.with(|shelf| {
            shelf.written.insert(site.site.clone(), site.pages.len());
            if let Some(building) = &mut shelf.building {
                building.insert(site.site.clone(), site.pages.len());
            }
        });
        Ok(())
    }

    fn commit(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError> {
        self.with(|shelf| {
            if shelf.is_broken {
                return Err(broken());
            }
            shelf.committed = shelf.written.clone();
            shelf.standing = Some(standing);
            shelf.num_commits += 1;
            Ok(())
        })
    }

    fn begin_rebuild(&mut self) -> Result<(), SearchIndexError> {
        self.with(|shelf| shelf.building = Some(Pages::new()));
        Ok(())
    }

    fn rebuild(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError> {
        self.with(|shelf| shelf.building.as_mut().unwrap().insert(site.site.clone(), site.pages.len()));
        Ok(())
    }

    fn finish_rebuild(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError> {
        self.with(|shelf| {
            shelf.written = shelf.building.take().unwrap();
            shelf.committed = shelf.written.clone();
            shelf.standing = Some(standing);
            shelf.num_rebuilds += 1;
        });
        Ok(())
    }

    fn reader(&self) -> Arc<dyn SearchReader> {
        Arc::new(self.clone())
    }

    fn stats(&self) -> IndexStats {
        IndexStats { num_pages: self.with(|shelf| shelf.committed.values().sum::<usize>() as u64), num_bytes: 1 }
    }
}

impl SearchReader for MemoryIndex {
    fn search(&self, _: &SearchRequest) -> Result<SearchAnswer, SearchIndexError> {
        Ok(SearchAnswer { num_results: self.stats().num_pages, ..SearchAnswer::default() })
    }

    fn suggest(&self, _: &str, _: u32) -> Result<Vec<String>, SearchIndexError> {
        Ok(Vec::new())
    }
}

struct Rig {
    index: MemoryIndex,
    store: Addr<IndexActor>,
    search: Addr<SearchActor>,
}

impl Rig {
    fn start(store: MemoryStore, index: MemoryIndex) -> Self {
        let stats = Arc::new(NodeStats::default());
        let supervisor = NodeSupervisor::new(stats.clone(), oneshot::channel().0).start();
        let clock = Arc::new(AnchoredClock::from_system());
        let store = IndexActor::new(Box::new(store), Duration::from_millis(200), supervisor, stats, clock).start();
        let search = SearchActor::new(Box::new(index.clone()), store.clone(), INTERVAL).start();
        Self { index, store, search }
    }

    async fn save(&self, address: &str) {
        self.apply(StoreChange::SavePage { record: Box::new(page(address, 1)), links: Vec::new() }).await;
    }

    async fn apply(&self, change: StoreChange) {
        self.store.send(ApplyChange(change)).await.unwrap().unwrap();
    }

    async fn search(&self) -> Result<u64, SearchUnavailable> {
        let request = SearchRequest::new(Query::parse("x"));
        self.search.send(Search(request)).await.unwrap().map(|answer| answer.num_results)
    }

    async fn commit(&self) -> Result<(), SearchUnavailable> {
        self.search.send(CommitNow).await.unwrap()
    }

    async fn num_marks(&self) -> u64 {
        self.store.send(ReadStore::as_applied(|store| Ok(store.num_unindexed()))).await.unwrap().unwrap()
    }
}

#[test]
fn nothing_is_answered_before_the_index_has_caught_up_once() {
    run_paused(async {
        let rig = Rig::start(MemoryStore::new(), MemoryIndex::default());
        assert_eq!(rig.search().await, Err(SearchUnavailable::CatchingUp));
        rig.commit().await.unwrap();
        assert_eq!(rig.search().await, Ok(0));
        assert_eq!(rig.search.send(ViewSearch).await.unwrap().state, "serving");
    });
}

#[test]
fn changes_can_be_found_after_the_interval_and_no_commit_is_made_without_any() {
    run_paused(async {
        let rig = Rig::start(MemoryStore::new(), MemoryIndex::default());
        rig.commit().await.unwrap();
        let before = rig.index.with(|shelf| shelf.num_commits);
        rig.save("http://a.example/").await;
        rig.save("http://a.example/2").await;
        assert_eq!(rig.search().await, Ok(0));
        tokio::time::sleep(2 * INTERVAL).await;
        rig.commit().await.unwrap();
        assert_eq!((rig.search().await, rig.num_marks().await), (Ok(2), 0));
        tokio::time::sleep(10 * INTERVAL).await;
        assert_eq!(rig.index.with(|shelf| shelf.num_commits), before + 1);
    });
}

#[test]
fn an_exclusion_is_gone_from_the_index_when_the_commit_is_answered() {
    run_paused(async {
        let rig = Rig::start(MemoryStore::new(), MemoryIndex::default());
        rig.save("http://a.example/").await;
        rig.save("http://b.example/").await;
        rig.commit().await.unwrap();
        assert_eq!(rig.search().await, Ok(2));
        let domain = Domain::parse("a.example").unwrap();
        rig.apply(StoreChange::Exclude { domain, exclusion: exclusion("asked") }).await;
        rig.commit().await.unwrap();
        assert_eq!(rig.search().await, Ok(1));
    });
}

#[test]
fn an_index_that_fits_is_caught_up_with_and_one_that_does_not_is_built_anew() {
    let fits = |change: fn(&mut IndexStanding)| {
        run_paused(async move {
            let mut store = MemoryStore::new();
            let save = StoreChange::SavePage { record: Box::new(page("http://a.example/", 1)), links: Vec::new() };
            store.apply(save).unwrap();
            let marks = store.unindexed_after(None, 9).unwrap();
            let mut standing = IndexStanding { epoch: store.epoch(), commit_seq: store.stats().change_seq };
            store.note_indexed(&marks, standing.commit_seq).unwrap();
            store.checkpoint(0).unwrap();
            change(&mut standing);
            let index = MemoryIndex::default();
            index.with(|shelf| shelf.standing = Some(standing));
            let rig = Rig::start(store, index);
            rig.save("http://b.example/").await;
            rig.commit().await.unwrap();
            (rig.index.with(|shelf| shelf.num_rebuilds), rig.search().await.unwrap())
        })
    };
    // The page that was noted is not looked at again, so the empty twin lacks it: nothing was built anew.
    assert_eq!(fits(|_| {}), (0, 1));
    assert_eq!(fits(|standing| standing.epoch += 1), (1, 2));
    assert_eq!(fits(|standing| standing.commit_seq += 1000), (1, 2));
    assert_eq!(fits(|standing| standing.commit_seq -= 1), (1, 2));
}

#[test]
fn a_rebuild_is_answered_when_the_new_index_serves() {
    run_paused(async {
        let rig = Rig::start(MemoryStore::new(), MemoryIndex::default());
        for number in 0..200 {
            rig.save(&format!("http://s{number}.example/")).await;
        }
        rig.commit().await.unwrap();
        let before = rig.index.with(|shelf| shelf.num_rebuilds);
        let (one, other, search) =
            futures_util::future::join3(rig.search.send(Reindex), rig.search.send(Reindex), rig.search()).await;
        assert_eq!((one.unwrap().unwrap().num_pages, other.unwrap().unwrap().num_pages, search), (200, 200, Ok(200)));
        assert_eq!(rig.index.with(|shelf| shelf.num_rebuilds), before + 1);
        rig.search.send(EndSearch).await.unwrap();
    });
}

#[test]
fn an_index_that_fails_ends_searching_and_nothing_else() {
    run_paused(async {
        let rig = Rig::start(MemoryStore::new(), MemoryIndex::default());
        rig.commit().await.unwrap();
        rig.index.with(|shelf| shelf.is_broken = true);
        rig.save("http://a.example/").await;
        assert_eq!(rig.commit().await, Err(SearchUnavailable::Failed));
        assert_eq!(rig.search().await, Err(SearchUnavailable::Failed));
        assert_eq!(rig.commit().await, Err(SearchUnavailable::Failed));
        rig.search.send(EndSearch).await.unwrap();
        rig.save("http://b.example/").await;
        assert_eq!(rig.num_marks().await, 2);
    });
}
