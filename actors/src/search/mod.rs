//! `SearchActor` owns the search index and is its only writer: it follows the store by its marks, and answers what is asked.
//!
//! A round reads what is marked, a batch at a time, writes it into the index, commits, and has the marks taken away. It works on another
//! thread and comes back as a message, so neither searches nor the store wait for a commit. Searches read what is committed, on threads of
//! their own.
//!
//! Invariants: the index is given only what is durable in the store, so it never knows more than the store after a crash; until it has
//! caught up once, nothing is answered, so what was excluded before a crash is not found after it; an answered [`CommitNow`] means
//! that every change which was durable when it was sent can be seen by every search from then on.
//!
//! An index that fails ends searching and nothing else: the next start builds it anew or catches up.

mod port;
mod round;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::prelude::*;
use lohisoftbot_core::search::{SearchAnswer, SearchRequest};
use tokio::sync::{Semaphore, oneshot};

pub use port::{IndexStanding, IndexStats, SearchIndex, SearchIndexError, SearchReader};

use crate::index::IndexActor;
use round::{Finished, Job, RoundFailure, Worker};

/// Searches that run at once; further ones wait for their turn.
const MAX_SEARCHES: usize = 4;

/// Owns the search index.
pub struct SearchActor {
    /// None while a round works on it, and after a failure.
    index: Option<Box<dyn SearchIndex>>,
    reader: Arc<dyn SearchReader>,
    stats: IndexStats,
    store: Addr<IndexActor>,
    commit_interval: Duration,
    state: State,
    /// Who waits for a round that begins after now.
    waiting: Vec<oneshot::Sender<()>>,
    /// Who waits for the round that is under way.
    being_served: Vec<oneshot::Sender<()>>,
    rebuild: Option<Rebuild>,
    timer: Option<SpawnHandle>,
    searches: Arc<Semaphore>,
    is_ending: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    CatchingUp,
    Serving,
    Failed,
}

/// A rebuild under way: from where it goes on, and who waits for its end.
struct Rebuild {
    next: Job,
    waiting: Vec<oneshot::Sender<()>>,
}

/// Nothing can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchUnavailable {
    /// The start is not over.
    #[error("the search index is catching up with the store; ask again in a moment")]
    CatchingUp,
    /// The index failed.
    #[error("the search index failed; the node's log says why. Start the node again")]
    Failed,
    /// There is no index.
    #[error("there is no search index: search.enabled is false")]
    Disabled,
}

/// Search.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<SearchAnswer, SearchUnavailable>")]
pub struct Search(pub SearchRequest);

/// How what was typed may go on.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<Vec<String>, SearchUnavailable>")]
pub struct Suggest {
    /// What was typed so far.
    pub prefix: String,
    /// How many at most.
    pub limit: u32,
}

/// Commit all that is in the store now; answered when every search sees it.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<(), SearchUnavailable>")]
pub struct CommitNow;

/// Build the index anew while the old one serves; answered when the new one does.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<IndexStats, SearchUnavailable>")]
pub struct Reindex;

/// How searching is.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "SearchStatus")]
pub struct ViewSearch;

/// What [`ViewSearch`] is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, MessageResponse, serde::Serialize)]
pub struct SearchStatus {
    /// In a word.
    pub state: &'static str,
    /// What the serving index comes to.
    pub index: IndexStats,
}

/// The node ends: commit once more, then begin nothing.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct EndSearch;

#[derive(Message)]
#[rtype(result = "()")]
struct Wake;

#[derive(Message)]
#[rtype(result = "()")]
struct RoundDone {
    worker: Worker,
    result: Result<Finished, RoundFailure>,
}

impl SearchActor {
    /// Over an open index and the store that it follows.
    pub fn new(index: Box<dyn SearchIndex>, store: Addr<IndexActor>, commit_interval: Duration) -> Self {
        Self {
            reader: index.reader(),
            stats: index.stats(),
            index: Some(index),
            store,
            commit_interval,
            state: State::CatchingUp,
            waiting: Vec::new(),
            being_served: Vec::new(),
            rebuild: None,
            timer: None,
            searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
            is_ending: Arc::default(),
        }
    }

    /// Begins a round, unless one is under way.
    fn begin(&mut self, job: Job, ctx: &mut Context<Self>) {
        let Some(index) = self.index.take() else { return };
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        self.being_served.append(&mut self.waiting);
        let (here, is_ending) = (ctx.address(), self.is_ending.clone());
        let mut worker = Worker::new(index, self.store.clone(), is_ending);
        actix_rt::spawn(async move {
            let result = worker.run(job).await;
            here.do_send(RoundDone { worker, result });
        });
    }

    /// What comes next: those who wait, then a rebuild, then a rest.
    fn go_on(&mut self, ctx: &mut Context<Self>) {
        if !self.waiting.is_empty() {
            return self.begin(Job::Commit, ctx);
        }
        if self.is_ending.load(Ordering::Relaxed) {
            self.rebuild = None;
            return;
        }
        match &self.rebuild {
            Some(rebuild) => self.begin(rebuild.next.clone(), ctx),
            None => self.timer = Some(ctx.notify_later(Wake, self.commit_interval)),
        }
    }

    fn fail(&mut self, failure: &RoundFailure) {
        // The store's own failure ends the node and is told by it.
        match failure {
            RoundFailure::Index(error) => tracing::error!(%error, "searching ends until the next start"),
            RoundFailure::Lost => {
                tracing::error!("the search index was lost by a panic; searching ends until the next start")
            }
            RoundFailure::Store | RoundFailure::Ended => {}
        }
        self.state = State::Failed;
        self.index = None;
        self.waiting.clear();
        self.being_served.clear();
        self.rebuild = None;
    }

    fn serves(&self) -> Result<(), SearchUnavailable> {
        match self.state {
            State::Serving => Ok(()),
            State::CatchingUp => Err(SearchUnavailable::CatchingUp),
            State::Failed => Err(SearchUnavailable::Failed),
        }
    }

    /// Runs a read on a thread of its own.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn SearchReader) -> Result<T, SearchIndexError> + Send + 'static,
    ) -> ResponseFuture<Result<T, SearchUnavailable>> {
        let (serves, reader, searches) = (self.serves(), self.reader.clone(), self.searches.clone());
        Box::pin(async move {
            serves?;
            let _place = searches.acquire_owned().await.map_err(|_| SearchUnavailable::Failed)?;
            let done = actix_rt::task::spawn_blocking(move || read(&*reader)).await;
            match done {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => {
                    tracing::error!(%error, "a search failed");
                    Err(SearchUnavailable::Failed)
                }
                Err(_panic) => Err(SearchUnavailable::Failed),
            }
        })
    }

    /// A round that begins after now; its end answers.
    fn next_round(&mut self, ctx: &mut Context<Self>) -> oneshot::Receiver<()> {
        let (done, answered) = oneshot::channel();
        if self.state != State::Failed {
            self.waiting.push(done);
            self.begin(Job::Commit, ctx);
        }
        answered
    }
}

impl Actor for SearchActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.begin(Job::CatchUp, ctx);
    }
}

impl Handler<RoundDone> for SearchActor {
    type Result = ();

    fn handle(&mut self, RoundDone { worker, result }: RoundDone, ctx: &mut Self::Context) {
        let (finished, index) = match (result, worker.into_index()) {
            (Ok(finished), Some(index)) => (finished, index),
            (Ok(_), None) => return self.fail(&RoundFailure::Lost),
            (Err(failure), _) => return self.fail(&failure),
        };
        self.stats = index.stats();
        self.index = Some(index);
        match finished {
            Finished::CaughtUp => {
                self.state = State::Serving;
                tracing::info!(num_pages = self.stats.num_pages, "the search index serves");
            }
            Finished::Committed => {}
            Finished::Rebuilt { next: Some(next) } => {
                if let Some(rebuild) = &mut self.rebuild {
                    rebuild.next = next;
                }
            }
            Finished::Rebuilt { next: None } => {
                for waiting in self.rebuild.take().into_iter().flat_map(|rebuild| rebuild.waiting) {
                    // Whoever asked may be gone.
                    let _ = waiting.send(());
                }
            }
        }
        for served in self.being_served.drain(..) {
            let _ = served.send(());
        }
        self.go_on(ctx);
    }
}

impl Handler<Wake> for SearchActor {
    type Result = ();

    fn handle(&mut self, _: Wake, ctx: &mut Self::Context) {
        self.timer = None;
        self.begin(Job::Commit, ctx);
    }
}

impl Handler<Search> for SearchActor {
    type Result = ResponseFuture<Result<SearchAnswer, SearchUnavailable>>;

    fn handle(&mut self, Search(request): Search, _: &mut Self::Context) -> Self::Result {
        self.read(move |reader| reader.search(&request))
    }
}

impl Handler<Suggest> for SearchActor {
    type Result = ResponseFuture<Result<Vec<String>, SearchUnavailable>>;

    fn handle(&mut self, Suggest { prefix, limit }: Suggest, _: &mut Self::Context) -> Self::Result {
        self.read(move |reader| reader.suggest(&prefix, limit))
    }
}

impl Handler<CommitNow> for SearchActor {
    type Result = ResponseFuture<Result<(), SearchUnavailable>>;

    fn handle(&mut self, _: CommitNow, ctx: &mut Self::Context) -> Self::Result {
        let done = self.next_round(ctx);
        Box::pin(async move { done.await.map_err(|_| SearchUnavailable::Failed) })
    }
}

impl Handler<Reindex> for SearchActor {
    type Result = ResponseActFuture<Self, Result<IndexStats, SearchUnavailable>>;

    fn handle(&mut self, _: Reindex, ctx: &mut Self::Context) -> Self::Result {
        if let Err(unavailable) = self.serves() {
            return Box::pin(std::future::ready(Err(unavailable)).into_actor(self));
        }
        let (done, answered) = oneshot::channel();
        let rebuild = self.rebuild.get_or_insert_with(|| Rebuild { next: Job::BeginRebuild, waiting: Vec::new() });
        rebuild.waiting.push(done);
        let next = rebuild.next.clone();
        self.begin(next, ctx);
        Box::pin(answered.into_actor(self).map(|done, actor, _| match done {
            Ok(()) => Ok(actor.stats),
            Err(_) => Err(SearchUnavailable::Failed),
        }))
    }
}

impl Handler<ViewSearch> for SearchActor {
    type Result = SearchStatus;

    fn handle(&mut self, _: ViewSearch, _: &mut Self::Context) -> SearchStatus {
        let state = match (self.state, &self.rebuild) {
            (State::CatchingUp, _) => "catching up",
            (State::Serving, None) => "serving",
            (State::Serving, Some(_)) => "serving while a new index is built",
            (State::Failed, _) => "failed",
        };
        SearchStatus { state, index: self.stats }
    }
}

impl Handler<EndSearch> for SearchActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: EndSearch, ctx: &mut Self::Context) -> Self::Result {
        self.is_ending.store(true, Ordering::Relaxed);
        let done = self.next_round(ctx);
        // A failure was told where it happened.
        Box::pin(async move { drop(done.await) })
    }
}
