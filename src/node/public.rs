//! The public pages of a node: they are bound before anything else is touched, and ask the node's search index once there is one.

use std::sync::{Arc, OnceLock};

use actix::Addr;
use futures_util::future::LocalBoxFuture;
use lohisoftbot_actors::search::{Search, SearchActor, SearchUnavailable as IndexUnavailable, Suggest};
use lohisoftbot_core::config::Config;
use lohisoftbot_core::search::{Query, SearchAnswer, SearchRequest};
use lohisoftbot_core::site::Site;
use tokio::task::JoinHandle;

use crate::web::{Bound, PublicSite, SearchUnavailable, Searcher, StopHandle, WebError};

/// What the pages ask. Until the node has started, it says that the index is being prepared.
#[derive(Default)]
struct NodeSearcher {
    /// The inner one is none where the node has no index.
    search: OnceLock<Option<Addr<SearchActor>>>,
}

impl NodeSearcher {
    fn index(&self) -> Result<Addr<SearchActor>, SearchUnavailable> {
        match self.search.get() {
            None => Err(SearchUnavailable::Starting),
            Some(None) => Err(SearchUnavailable::NoAnswer),
            Some(Some(search)) => Ok(search.clone()),
        }
    }
}

impl Searcher for NodeSearcher {
    fn search(
        &self,
        typed: String,
        site: Option<String>,
        offset: u32,
        limit: u32,
    ) -> LocalBoxFuture<'_, Result<SearchAnswer, SearchUnavailable>> {
        Box::pin(async move {
            let site = site.as_deref().map(Site::of_host);
            let request = SearchRequest { query: Query::parse(&typed), site, offset, limit };
            self.index()?.send(Search(request)).await.map_err(|_| SearchUnavailable::NoAnswer)?.map_err(unavailable)
        })
    }

    fn suggest(&self, prefix: String, limit: u32) -> LocalBoxFuture<'_, Result<Vec<String>, SearchUnavailable>> {
        Box::pin(async move {
            let suggest = Suggest { prefix, limit };
            self.index()?.send(suggest).await.map_err(|_| SearchUnavailable::NoAnswer)?.map_err(unavailable)
        })
    }
}

fn unavailable(why: IndexUnavailable) -> SearchUnavailable {
    match why {
        IndexUnavailable::CatchingUp => SearchUnavailable::Starting,
        IndexUnavailable::Failed | IndexUnavailable::Disabled => SearchUnavailable::NoAnswer,
    }
}

/// The pages, bound and not served yet.
pub(super) struct Prepared {
    bound: Option<Bound>,
    searcher: Arc<NodeSearcher>,
}

impl Prepared {
    /// Takes the address that the settings name.
    pub(super) fn bind(config: &Config) -> Result<Self, WebError> {
        let searcher = Arc::<NodeSearcher>::default();
        Ok(Self { bound: PublicSite::bind(&config.web, &config.identity.info_url, searcher.clone())?, searcher })
    }

    /// Serves the pages of a node that has started; none where `web.listen` is off.
    pub(super) fn serve(self, search: Option<Addr<SearchActor>>) -> Option<PublicPages> {
        // Set here and nowhere else, once.
        let _ = self.searcher.search.set(search);
        let bound = self.bound?;
        let (url, handle) = (bound.url(), bound.handle());
        tracing::info!(%url, "the search page is open");
        let server = actix_rt::spawn(async move {
            if let Err(error) = bound.serve().await {
                tracing::error!(%error, "the public pages ended; the crawl goes on");
            }
        });
        Some(PublicPages { url, handle, server })
    }
}

/// The pages, served.
pub(super) struct PublicPages {
    /// Of the search page.
    pub(super) url: String,
    handle: StopHandle,
    server: JoinHandle<()>,
}

impl PublicPages {
    /// Lets answers that are under way go out, and ends.
    pub(super) async fn stop(self) {
        self.handle.stop().await;
        if self.server.await.is_err() {
            tracing::warn!("the server of the public pages ended by a panic");
        }
    }
}
