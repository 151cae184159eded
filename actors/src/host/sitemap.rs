//! The way of a sitemap that came: to an extractor, and what it lists back into the state.

use actix::prelude::*;
use lohisoftbot_core::politeness::{Arrival, Ticket};

use super::{HostActor, Step};
use crate::extractor::{ReadSitemap, Reply, SitemapRead};
use crate::permits::PagePermit;
use crate::ports::FetchedResponse;

impl HostActor {
    pub(super) fn read_sitemap(
        &mut self,
        ticket: &Ticket,
        response: FetchedResponse,
        permit: PagePermit,
        arrival: Arrival,
        ctx: &mut Context<Self>,
    ) {
        self.step = Step::Extracting(ticket.number, response.head.status, arrival);
        let wanted = ReadSitemap {
            url: ticket.intent.url.clone(),
            head: response.head,
            body: response.body,
            cut: response.cut,
            fetched_at: arrival.at,
            max_pages: self.state.max_queued_urls(),
            permit,
            reply: Reply::new(ticket.number, ctx.address().recipient()),
        };
        // Without an extractor the sitemap is dropped here, and its reply says so.
        if let Some(extractor) = self.ports.extractors.for_site(self.state.site()) {
            extractor.do_send(wanted);
        }
    }
}

impl Handler<SitemapRead> for HostActor {
    type Result = ();

    fn handle(&mut self, SitemapRead { ticket, end }: SitemapRead, ctx: &mut Self::Context) {
        let Step::Extracting(number, status, arrival) = self.step else { return };
        if number != ticket {
            return;
        }
        self.state.on_sitemap(ticket, status, end, arrival);
        self.settle(ctx);
    }
}
