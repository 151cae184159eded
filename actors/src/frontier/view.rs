//! Looking at one site: what store, ledger and its actor know of it.

use actix::prelude::*;
use lohisoftbot_core::discovery::LinkDropCounts;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::politeness::{HostState, OriginRobots};
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};

use super::FrontierActor;
use crate::host::DescribeState;
use crate::index::ReadStore;
use crate::ledger::AccountOf;

/// Look at a site.
#[derive(Debug, Message)]
#[rtype(result = "Option<Box<SiteView>>")]
pub struct ViewSite(pub Site);

/// All that is known of a site.
#[derive(Clone, Debug)]
pub struct SiteView {
    /// Its row; the account in it is the newest one.
    pub row: SiteRow,
    /// Its queue, weighed.
    pub queue: PageQueue,
    /// Its robots cache.
    pub robots: Vec<OriginRobots>,
    /// Its stored pages.
    pub pages: Vec<PageRecord>,
    /// Links that were not taken up since it went live; none where it is not.
    pub dropped_links: Option<LinkDropCounts>,
}

impl Handler<ViewSite> for FrontierActor {
    type Result = ResponseFuture<Option<Box<SiteView>>>;

    fn handle(&mut self, ViewSite(site): ViewSite, _: &mut Self::Context) -> Self::Result {
        let (index, ledger) = (self.index.clone(), self.ledger.clone());
        let live = self.live.get(&site).map(|live| live.address.clone());
        Box::pin(async move {
            let wanted = site.clone();
            let read = ReadStore::as_applied(move |store| {
                let Some(row) = store.site(&wanted)? else { return Ok(None) };
                let queue = store.frontier(&wanted)?.into();
                let robots = store.robots(&wanted)?.iter().filter_map(OriginRobots::from_stored).collect();
                Ok(Some(SiteView { row, queue, robots, pages: store.pages_of(&wanted)?, dropped_links: None }))
            });
            let mut view = index.send(read).await.ok()?.ok()??;
            if let Some((account, _)) = ledger.send(AccountOf(site)).await.ok()? {
                view.row.account = account;
            }
            if let Some(live) = live
                && let Ok(Some(state)) = live.send(DescribeState).await
            {
                let state: Box<HostState> = state;
                view.queue = state.queue().clone();
                view.robots = state.robots().to_vec();
                view.dropped_links = Some(*state.dropped_links());
                view.row.standing = SiteStanding::Live;
            }
            // Whoever looks at the queue may ask for its order.
            view.queue.weigh();
            Some(Box::new(view))
        })
    }
}
