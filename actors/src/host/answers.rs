//! What comes back: the answer to a request goes into the state, a page or sitemap by way of its extractor.

use actix::prelude::*;
use lohisoftbot_core::ledger::{RequestKind, TicketNumber};
use lohisoftbot_core::outcome::{self, Answer, RedirectTarget};
use lohisoftbot_core::page_choice::LinkedPage;
use lohisoftbot_core::politeness::{Arrival, PageEnd, RobotsEnd, Ticket};
use lohisoftbot_core::record::Renewal;
use lohisoftbot_core::robots::status::BodyEnd;

use super::request::Fetched;
use super::{HostActor, Step};
use crate::extractor::{ExtractPage, PageExtracted, Reply};
use crate::frontier::LinksFound;
use crate::permits::PagePermit;
use crate::ports::FetchReport;

impl HostActor {
    fn arrival(&mut self, report: &FetchReport) -> Arrival {
        self.ports.stats.num_wire_bytes.add(report.wire_bytes);
        Arrival { at: self.now(), took: report.took, wire_bytes: report.wire_bytes, chance: self.rng.f64() }
    }

    fn on_robots_report(&mut self, ticket: &Ticket, report: &FetchReport) {
        let arrival = self.arrival(report);
        let end = match &report.result {
            Ok(response) => RobotsEnd::Answered {
                head: &response.head,
                body: &response.body,
                body_end: if response.cut { BodyEnd::Cut } else { BodyEnd::Whole },
            },
            Err(failure) => RobotsEnd::Failed(*failure),
        };
        self.state.on_robots(ticket.number, end, arrival);
        self.robots_changed = true;
    }

    fn on_page_report(&mut self, ticket: &Ticket, report: FetchReport, permit: PagePermit, ctx: &mut Context<Self>) {
        let arrival = self.arrival(&report);
        let url = ticket.intent.url.clone();
        let response = match report.result {
            Err(failure) => {
                self.ports.stats.num_failures.add_one();
                return self.end_page(ticket.number, PageEnd::Failed(failure), arrival);
            }
            Ok(response) => response,
        };
        let status = response.head.status;
        let kind = ticket.intent.kind;
        match outcome::classify(kind, &response.head, &url, arrival.at) {
            Answer::Sitemap => self.read_sitemap(ticket, response, permit, arrival, ctx),
            Answer::Html => {
                self.step = Step::Extracting(ticket.number, status, arrival);
                let page = ExtractPage {
                    url,
                    head: response.head,
                    body: response.body,
                    cut: response.cut,
                    cycle: self.state.account().cycle,
                    fetched_at: arrival.at,
                    permit,
                    reply: Reply::new(ticket.number, ctx.address().recipient()),
                };
                // Without an extractor the page is dropped here, and its reply says so.
                if let Some(extractor) = self.ports.extractors.for_site(self.state.site()) {
                    extractor.do_send(page);
                }
            }
            Answer::NotModified => {
                let renewal = Renewal::of_head(&response.head, self.state.product_token());
                self.end_page(ticket.number, PageEnd::NotModified(renewal), arrival);
            }
            answer => {
                self.pass_redirect_on(kind, &answer);
                self.end_page(ticket.number, PageEnd::Answered { status, answer }, arrival);
            }
        }
    }

    /// The state decides what follows, the end of a record included; here it is counted.
    fn end_page(&mut self, ticket: TicketNumber, end: PageEnd, arrival: Arrival) {
        if end.barrier().is_some() {
            self.ports.stats.num_barriers.add_one();
        }
        self.state.on_outcome(ticket, end, arrival);
    }

    /// Where a page of another site is sent to is a link to it; where a sitemap is sent to is no page that somebody links to.
    fn pass_redirect_on(&self, kind: RequestKind, answer: &Answer) {
        if let Answer::Redirect { target: RedirectTarget::To(target), .. } = answer
            && kind == RequestKind::Page
            && !self.state.site().contains_host(target.host())
        {
            self.frontier.do_send(LinksFound(vec![target.clone()]));
        }
    }
}

impl Handler<Fetched> for HostActor {
    type Result = ();

    fn handle(&mut self, Fetched(number, report): Fetched, ctx: &mut Self::Context) {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::InFlight(ticket, permit, _) if ticket.number == number => {
                match ticket.intent.kind {
                    RequestKind::Robots => self.on_robots_report(&ticket, &report),
                    RequestKind::Page | RequestKind::Sitemap => self.on_page_report(&ticket, report, permit, ctx),
                }
                if matches!(self.step, Step::Idle) {
                    self.settle(ctx);
                }
            }
            other => self.step = other,
        }
    }
}

impl Handler<PageExtracted> for HostActor {
    type Result = ();

    fn handle(&mut self, extracted: PageExtracted, ctx: &mut Self::Context) {
        let PageExtracted { ticket, stored, mut links, dropped } = extracted;
        let Step::Extracting(number, status, arrival) = self.step else { return };
        if number != ticket {
            return;
        }
        let is_other = |link: &mut LinkedPage| !self.state.site().contains_host(link.url.host());
        let others: Vec<_> = links.links.extract_if(.., is_other).map(|link| link.url).collect();
        self.state.note_dropped_links(&dropped);
        self.state.on_page_links(ticket, links, arrival.at);
        self.end_page(ticket, PageEnd::Page { status, stored }, arrival);
        if !others.is_empty() {
            self.frontier.do_send(LinksFound(others));
        }
        self.settle(ctx);
    }
}
