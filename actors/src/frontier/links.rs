//! Links from one site to another: they go to the site they lead to, if that is one the node works on. Those that lead nowhere are counted,
//! once for each page and site.

use std::collections::BTreeMap;

use actix::prelude::*;
use lohisoftbot_core::discovery::LinkDrop;
use lohisoftbot_core::politeness::{Seed, SeedScheme};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::SiteRow;
use lohisoftbot_core::url::PageUrl;

use super::{Discovery, FrontierActor};
use crate::events::FoundBy;
use crate::host::InlinksFound;
use crate::storage::{Applied, RecordStore, StoreChange};

/// Links that lead out of the site they stand on.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct LinksFound(pub Vec<PageUrl>);

impl Handler<LinksFound> for FrontierActor {
    type Result = ();

    fn handle(&mut self, LinksFound(urls): LinksFound, ctx: &mut Self::Context) {
        let mut by_site: BTreeMap<Site, Vec<PageUrl>> = BTreeMap::new();
        for url in urls {
            if self.exclusions.covers_host(url.host()) {
                self.stats.dropped_links.count(LinkDrop::Excluded);
            } else {
                by_site.entry(url.site()).or_default().push(url);
            }
        }
        let mut not_live = BTreeMap::new();
        for (site, urls) in by_site {
            match self.live.get(&site) {
                Some(live) => live.address.do_send(InlinksFound(urls)),
                None => not_live.extend(urls.into_iter().next().map(|url| (site, url))),
            }
        }
        match self.settings.discovery {
            Discovery::Seeds => not_live.keys().for_each(|_| self.stats.dropped_links.count(LinkDrop::OtherSite)),
            Discovery::Links { max_sites } if !not_live.is_empty() => self.take_up(not_live, max_sites, ctx),
            Discovery::Links { .. } => {}
        }
    }
}

impl FrontierActor {
    /// Takes sites up that a link led to, while fewer than `max_sites` are known. One URL a site is enough to start from, and more would
    /// let a page fill a row.
    fn take_up(&mut self, by_site: BTreeMap<Site, PageUrl>, max_sites: u64, ctx: &mut Context<Self>) {
        let (now, touched) = (self.clock.now(), by_site.keys().cloned().collect::<Vec<_>>());
        let stats = self.stats.clone();
        let take_up = move |store: &mut dyn RecordStore| {
            let mut found = Vec::new();
            for (site, url) in by_site {
                // First, since it asks nothing of the disk: at the cap a page of hundreds of links costs no look-up.
                if store.stats().num_sites >= max_sites {
                    stats.dropped_links.count(LinkDrop::TooManySites);
                } else if store.site(&site)?.is_some() {
                    stats.dropped_links.count(LinkDrop::RestingSite);
                } else {
                    let seed = Seed { url: url.origin().home(), scheme: SeedScheme::Written };
                    let row = Box::new(SiteRow::new(site.clone(), vec![seed], now));
                    match store.apply(StoreChange::SaveSite { row, frontier: None, robots: None })? {
                        // It was excluded since the link was looked at.
                        Applied::RefusedExcluded { .. } => stats.dropped_links.count(LinkDrop::Excluded),
                        Applied::Done
                        | Applied::Absent
                        | Applied::Saved(_)
                        | Applied::RefusedFull
                        | Applied::Finished(_)
                        | Applied::Excluded(_) => found.push(site),
                    }
                }
            }
            Ok(found)
        };
        let found = self.change_store(touched, take_up, ctx);
        self.tell_found(FoundBy::Link, found);
    }
}
