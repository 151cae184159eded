//! Taking a domain out, and back in (P8).
//!
//! The order makes the answer true: first no new request can start (the rule is in force here and in the ledger), then no request is open
//! (each host actor it touches has answered), then nothing is stored (the index has purged, and refuses what comes late).

use actix::prelude::*;
use futures_util::future::{JoinAll, join_all};
use lohisoftbot_core::exclusion::{Domain, Exclusion};
use lohisoftbot_core::ledger::LedgerEvent;

use super::FrontierActor;
use crate::host::{ExclusionsChanged, HostActor};
use crate::index::ApplyChange;
use crate::ledger::AppendEvents;
use crate::storage::{Applied, ExclusionCounts, StoreChange};

/// Take a domain out.
#[derive(Debug, Message)]
#[rtype(result = "Option<ExclusionAnswer>")]
pub struct ExcludeDomain {
    /// Which.
    pub domain: Domain,
    /// The operator's words.
    pub reason: String,
}

/// What an exclusion did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ExclusionAnswer {
    /// Live sites that were told, each with no request to the domain open any more.
    pub num_live_sites: u64,
    /// URLs that left the queues of live sites.
    pub num_live_urls: u64,
    /// What left the store.
    #[serde(flatten)]
    pub stored: ExclusionCounts,
}

/// Take a domain back in. Answered with whether it was out.
#[derive(Debug, Message)]
#[rtype(result = "Option<bool>")]
pub struct IncludeDomain(pub Domain);

impl FrontierActor {
    /// Tells each live site that `domain` touches which exclusions touch it now; done when all have answered or are gone.
    fn tell_live(&self, domain: &Domain) -> JoinAll<Request<HostActor, ExclusionsChanged>> {
        let touched = self.live.iter().filter(|(site, _)| domain.touches_site(site));
        join_all(touched.map(|(site, live)| live.address.send(ExclusionsChanged(self.exclusions.touching(site)))))
    }
}

impl Handler<ExcludeDomain> for FrontierActor {
    type Result = ResponseFuture<Option<ExclusionAnswer>>;

    fn handle(&mut self, ExcludeDomain { domain, reason }: ExcludeDomain, _: &mut Self::Context) -> Self::Result {
        let now = self.clock.now();
        let exclusion = Exclusion { at: now, reason };
        self.exclusions.insert(domain.clone(), exclusion.clone());
        let event = LedgerEvent::Excluded { domain: domain.clone(), exclusion: exclusion.clone() };
        let recorded = self.ledger.send(AppendEvents(vec![(now, event)]));
        let told = self.tell_live(&domain);
        let index = self.index.clone();
        Box::pin(async move {
            recorded.await.ok()?.ok()?;
            let mut answer = ExclusionAnswer::default();
            // An actor that is gone has no request open, and was told nothing.
            for num_urls in told.await.into_iter().flatten() {
                answer.num_live_sites += 1;
                answer.num_live_urls += num_urls as u64;
            }
            match index.send(ApplyChange(StoreChange::Exclude { domain, exclusion })).await.ok()?.ok()? {
                Applied::Excluded(counts) => answer.stored = counts,
                Applied::Done
                | Applied::Absent
                | Applied::Saved(_)
                | Applied::RefusedExcluded { .. }
                | Applied::RefusedFull
                | Applied::Finished(_) => {}
            }
            Some(answer)
        })
    }
}

impl Handler<IncludeDomain> for FrontierActor {
    type Result = ResponseFuture<Option<bool>>;

    fn handle(&mut self, IncludeDomain(domain): IncludeDomain, _: &mut Self::Context) -> Self::Result {
        let was_out = self.exclusions.remove(&domain);
        let now = self.clock.now();
        let recorded = self.ledger.send(AppendEvents(vec![(now, LedgerEvent::Included { domain: domain.clone() })]));
        let told = self.tell_live(&domain);
        let index = self.index.clone();
        Box::pin(async move {
            recorded.await.ok()?.ok()?;
            told.await;
            index.send(ApplyChange(StoreChange::Include { domain })).await.ok()?.ok()?;
            Some(was_out)
        })
    }
}
