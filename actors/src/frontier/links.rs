//! Links from one site to another: they go to the site they lead to, if that is one the node works on.

use std::collections::BTreeMap;

use actix::prelude::*;
use lohisoftbot_core::politeness::{Seed, SeedScheme};
use lohisoftbot_core::site::Site;
use lohisoftbot_core::url::PageUrl;

use super::{AddSeeds, Discovery, FrontierActor};
use crate::host::InlinksFound;
use crate::index::ReadStore;

/// Links that lead out of the site they stand on.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct LinksFound(pub Vec<PageUrl>);

impl Handler<LinksFound> for FrontierActor {
    type Result = ();

    fn handle(&mut self, LinksFound(urls): LinksFound, ctx: &mut Self::Context) {
        let mut by_site: BTreeMap<Site, Vec<PageUrl>> = BTreeMap::new();
        for url in urls {
            if !self.exclusions.covers_host(url.host()) {
                by_site.entry(url.site()).or_default().push(url);
            }
        }
        let mut unknown = Vec::new();
        for (site, urls) in by_site {
            match self.live.get(&site) {
                Some(live) => live.address.do_send(InlinksFound(urls)),
                None => unknown.extend(urls),
            }
        }
        match self.settings.discovery {
            Discovery::Seeds => {}
            Discovery::Links { max_sites } if !unknown.is_empty() => self.take_up(unknown, max_sites, ctx),
            Discovery::Links { .. } => {}
        }
    }
}

impl FrontierActor {
    /// Takes sites up that a link led to, while fewer than `max_sites` are known.
    fn take_up(&mut self, urls: Vec<PageUrl>, max_sites: u64, ctx: &mut Context<Self>) {
        let (index, me) = (self.index.clone(), ctx.address());
        actix_rt::spawn(async move {
            let Ok(Ok(stats)) = index.send(ReadStore::as_applied(|store| Ok(store.stats()))).await else { return };
            let num_free = usize::try_from(max_sites.saturating_sub(stats.num_sites)).unwrap_or(usize::MAX);
            let seed = |url: PageUrl| Seed { url: url.origin().home(), scheme: SeedScheme::Written };
            let mut seeds: Vec<Seed> = urls.into_iter().map(seed).take(num_free).collect();
            seeds.dedup();
            if !seeds.is_empty() {
                me.do_send(AddSeeds(seeds));
            }
        });
    }
}
