//! One round of work on the index: away from the actor, whose timers and searches must not wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix::prelude::*;
use lohisoftbot_core::record::{InlinkRow, PageRecord};
use lohisoftbot_core::search::SiteDocuments;
use lohisoftbot_core::search::document::MAX_INLINK_ROWS;
use lohisoftbot_core::site::Site;

use super::port::{IndexStanding, SearchIndex, SearchIndexError};
use crate::index::{IndexActor, ReadStore, StoreUnavailable, write_store};
use crate::storage::{RecordStore, StoreError, UnindexedSite};

/// Sites read from the store before others get their turn there.
const SITES_AT_ONCE: usize = 64;
/// Rows of links read at once, beyond those of the first site.
const ROWS_AT_ONCE: usize = 8192;
/// Sites that go into one commit at most, so that what a crash costs is bounded.
const SITES_PER_COMMIT: usize = 20_000;

/// What a round does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// The first one: an index that does not fit the store is built anew, then what is marked is caught up with.
    CatchUp,
    /// Catch up with what is marked.
    Commit,
    /// Begin a new index.
    BeginRebuild,
    /// Go on with it behind this site.
    Rebuild(Option<Site>),
}

/// What a round came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// The index has what the store had when the round began.
    CaughtUp,
    /// The same, later.
    Committed,
    /// A part of a rebuild is done; none is left where there is no next.
    Rebuilt {
        /// The next part.
        next: Option<Job>,
    },
}

/// Why a round came to nothing.
#[derive(Debug)]
pub enum RoundFailure {
    /// The index failed.
    Index(SearchIndexError),
    /// The index was lost with the thread that worked on it.
    Lost,
    /// The store failed, and the node is ending.
    Store,
    /// The node is ending.
    Ended,
}

impl From<StoreUnavailable> for RoundFailure {
    fn from(_: StoreUnavailable) -> Self {
        Self::Store
    }
}

/// Has the index while it works.
pub struct Worker {
    index: Option<Box<dyn SearchIndex>>,
    store: Addr<IndexActor>,
    is_ending: Arc<AtomicBool>,
}

/// Sites as the store has them, durably.
struct Batch {
    /// What was marked; for a rebuild, nothing.
    marks: Vec<UnindexedSite>,
    sites: Vec<StoredSite>,
    /// Up to where the store has them.
    standing: IndexStanding,
    /// The site behind which to go on; none at the end.
    next: Option<Site>,
}

/// A site as it was read; what the index needs of it is worked out away from the store's thread.
struct StoredSite {
    site: Site,
    records: Vec<PageRecord>,
    inlinks: Vec<InlinkRow>,
}

impl StoredSite {
    fn documents(self) -> SiteDocuments {
        SiteDocuments::of_stored(self.site, self.records, self.inlinks)
    }
}

/// Which sites a batch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Marked,
    AllWithPages,
}

impl Worker {
    /// With the index.
    pub fn new(index: Box<dyn SearchIndex>, store: Addr<IndexActor>, is_ending: Arc<AtomicBool>) -> Self {
        Self { index: Some(index), store, is_ending }
    }

    /// The index, if it was not lost.
    pub fn into_index(self) -> Option<Box<dyn SearchIndex>> {
        self.index
    }

    /// Does a round.
    pub async fn run(&mut self, job: Job) -> Result<Finished, RoundFailure> {
        match job {
            Job::CatchUp => {
                if !self.fits().await? {
                    tracing::info!("the search index is built anew from the store");
                    let mut part = Job::BeginRebuild;
                    while let Some(next) = self.rebuild(part).await? {
                        if self.is_ending.load(Ordering::Relaxed) {
                            return Err(RoundFailure::Ended);
                        }
                        part = next;
                    }
                }
                self.commit().await?;
                Ok(Finished::CaughtUp)
            }
            Job::Commit => self.commit().await.map(|()| Finished::Committed),
            Job::BeginRebuild | Job::Rebuild(_) => Ok(Finished::Rebuilt { next: self.rebuild(job).await? }),
        }
    }

    /// Whether the marks of the store say all that the index does not have.
    async fn fits(&mut self) -> Result<bool, RoundFailure> {
        let standing = self.on_index(|index| Ok(index.standing())).await?;
        let read = ReadStore::flushed(|store| Ok((standing_of(store), store.indexed_seq()?)));
        let (now, noted) = self.store.send(read).await.map_err(|_| RoundFailure::Store)??;
        // An index ahead of the store knows what a lost or restored store does not; one behind what was noted lacks what has no mark.
        Ok(standing.is_some_and(|index| {
            let is_noted = noted.is_some_and(|noted| noted <= index.commit_seq);
            index.epoch == now.epoch && index.commit_seq <= now.commit_seq && is_noted
        }))
    }

    /// Catches up with all that is marked now.
    async fn commit(&mut self) -> Result<(), RoundFailure> {
        let mut after = None;
        loop {
            let mut done = Vec::new();
            let standing = loop {
                let Batch { marks, sites, standing, next } = self.batch(Which::Marked, after).await?;
                done.extend(marks);
                self.on_index(move |index| sites.into_iter().try_for_each(|site| index.replace(&site.documents())))
                    .await?;
                after = next;
                if after.is_none() || done.len() >= SITES_PER_COMMIT {
                    break standing;
                }
            };
            if !done.is_empty() {
                self.on_index(move |index| index.commit(standing)).await?;
                self.note(done, standing).await?;
            }
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Does a part of a rebuild; says what comes next.
    async fn rebuild(&mut self, part: Job) -> Result<Option<Job>, RoundFailure> {
        let after = match part {
            Job::Rebuild(after) => after,
            Job::CatchUp | Job::Commit | Job::BeginRebuild => {
                self.on_index(|index| index.begin_rebuild()).await?;
                None
            }
        };
        let Batch { sites, standing, next, .. } = self.batch(Which::AllWithPages, after).await?;
        self.on_index(move |index| sites.into_iter().try_for_each(|site| index.rebuild(&site.documents()))).await?;
        if next.is_some() {
            return Ok(Some(Job::Rebuild(next)));
        }
        self.on_index(move |index| index.finish_rebuild(standing)).await?;
        self.note(Vec::new(), standing).await?;
        Ok(None)
    }

    async fn note(&self, done: Vec<UnindexedSite>, standing: IndexStanding) -> Result<(), RoundFailure> {
        write_store(&self.store, move |store| store.note_indexed(&done, standing.commit_seq)).await?;
        Ok(())
    }

    async fn batch(&self, which: Which, after: Option<Site>) -> Result<Batch, RoundFailure> {
        let read = ReadStore::flushed(move |store| read_batch(store, which, after.as_ref()));
        Ok(self.store.send(read).await.map_err(|_| RoundFailure::Store)??)
    }

    /// Works on the index on a thread that may block.
    async fn on_index<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut dyn SearchIndex) -> Result<T, SearchIndexError> + Send + 'static,
    ) -> Result<T, RoundFailure> {
        let mut index = self.index.take().ok_or(RoundFailure::Lost)?;
        let worked = actix_rt::task::spawn_blocking(move || {
            let result = work(&mut *index);
            (index, result)
        });
        let (index, result) = worked.await.map_err(|_| RoundFailure::Lost)?;
        self.index = Some(index);
        result.map_err(RoundFailure::Index)
    }
}

fn standing_of(store: &dyn RecordStore) -> IndexStanding {
    IndexStanding { epoch: store.epoch(), commit_seq: store.stats().change_seq }
}

fn read_batch(store: &dyn RecordStore, which: Which, after: Option<&Site>) -> Result<Batch, StoreError> {
    let (marks, sites) = match which {
        Which::Marked => {
            let marks = store.unindexed_after(after, SITES_AT_ONCE)?;
            let sites = marks.iter().map(|mark| mark.site.clone()).collect();
            (marks, sites)
        }
        Which::AllWithPages => (Vec::new(), store.sites_with_pages_after(after, SITES_AT_ONCE)?),
    };
    let num_sites = sites.len();
    let mut batch = Batch { marks, sites: Vec::new(), standing: standing_of(store), next: None };
    let (mut num_rows, mut last) = (0, None);
    for site in sites {
        let inlinks = store.some_inlinks_of_site(&site, MAX_INLINK_ROWS)?;
        num_rows += inlinks.len();
        last = Some(site.clone());
        batch.sites.push(StoredSite { records: store.pages_of(&site)?, site, inlinks });
        if num_rows > ROWS_AT_ONCE {
            break;
        }
    }
    batch.marks.truncate(batch.sites.len());
    if batch.sites.len() < num_sites || num_sites == SITES_AT_ONCE {
        batch.next = last;
    }
    Ok(batch)
}
