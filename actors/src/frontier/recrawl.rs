//! `recrawl SITE`: opening a finished cycle again for what its budget still holds.
//!
//! What may be done is decided by [`order`]. Queue and due time change in one transaction of the store, and the answer says that it is
//! durable: so a crash forgets nothing that the operator was told, and the account, which alone counts requests, is never touched here.

use std::collections::HashMap;

use actix::prelude::*;
use futures_util::future::ready;
use lohisoftbot_core::budget::Budget;
use lohisoftbot_core::page_choice::PageQueue;
use lohisoftbot_core::recrawl::order::{RecrawlRefusal, Reopened, order};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::FrontierActor;
use crate::ledger::AccountOf;
use crate::storage::{RecordStore, StoreChange, StoreError};

/// Crawl a site before its interval is over, as far as the budget of its running cycle allows. Without an answer the node is ending.
#[derive(Debug, Message)]
#[rtype(result = "Option<Result<Reopened, RecrawlRefusal>>")]
pub struct RecrawlSite(pub Site);

impl Handler<RecrawlSite> for FrontierActor {
    type Result = ResponseFuture<Option<Result<Reopened, RecrawlRefusal>>>;

    fn handle(&mut self, RecrawlSite(site): RecrawlSite, ctx: &mut Self::Context) -> Self::Result {
        let budget = self.settings.rules.budget;
        if self.exclusions.covers_host(site.as_str()) {
            return Box::pin(ready(Some(Err(RecrawlRefusal::Excluded))));
        }
        if self.live.contains_key(&site) {
            let account = self.ledger.send(AccountOf(site));
            return Box::pin(async move {
                let num_spent = account.await.ok()?.map_or(0, |(account, _)| account.num_page_requests);
                let num_requests_left = budget.page_requests().saturating_sub(num_spent);
                Some(Err(RecrawlRefusal::Underway { num_requests_left }))
            });
        }
        let (now, wanted) = (self.clock.now(), site.clone());
        let reopened = self.change_store([site], move |store| reopen(store, &wanted, budget, now), ctx);
        Box::pin(async move { reopened.await.ok() })
    }
}

fn reopen(
    store: &mut dyn RecordStore,
    site: &Site,
    budget: Budget,
    now: Timestamp,
) -> Result<Result<Reopened, RecrawlRefusal>, StoreError> {
    let Some(row) = store.site(site)? else { return Ok(Err(RecrawlRefusal::Unknown)) };
    let mut queue: PageQueue = store.frontier(site)?.into();
    let pages = store.pages_of(site)?.into_iter();
    let asked_at: HashMap<PageUrl, Timestamp> = pages.map(|page| (page.url, page.fetched_at)).collect();
    let reopened = order(&row, &mut queue, |url| asked_at.get(url).copied(), budget, now);
    if let Ok(reopened) = &reopened {
        let row = Box::new(SiteRow { standing: SiteStanding::Due, due_at: reopened.not_before, ..row });
        store.apply(StoreChange::SaveSite { row, frontier: Some(queue.to_stored()), robots: None })?;
    }
    Ok(reopened)
}
