//! Reading a sitemap: the same guard and the same deadline as for pages; what it lists goes to the `HostActor`, the bytes go nowhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use actix::prelude::*;
use bytes::Bytes;
use lohisoftbot_core::ledger::TicketNumber;
use lohisoftbot_core::politeness::SitemapEnd;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::sitemap::{self, SitemapFile, SitemapKind, SitemapLimits};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use super::{ExtractorActor, ReadingEnd, Reply, WORK_BUDGET, fail_point};
use crate::permits::PagePermit;

/// Read this sitemap.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReadSitemap {
    /// Where it was fetched.
    pub url: PageUrl,
    /// The head of the answer.
    pub head: ResponseHead,
    /// The body, decompressed; dropped when it is read.
    pub body: Bytes,
    /// The body is incomplete.
    pub cut: bool,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Pages that are wanted of it.
    pub max_pages: usize,
    /// Ends when it is read.
    pub permit: PagePermit,
    /// Who wants to know.
    pub reply: Reply<SitemapRead>,
}

/// A sitemap was read.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct SitemapRead {
    /// The ticket it was fetched under.
    pub ticket: TicketNumber,
    /// What came of it.
    pub end: SitemapEnd,
}

impl ReadingEnd for SitemapRead {
    fn lost(ticket: TicketNumber) -> Self {
        Self { ticket, end: SitemapEnd::Failed }
    }
}

/// What it lists of its own site.
fn read(wanted: &ReadSitemap) -> SitemapEnd {
    fail_point(&wanted.body);
    let deadline = Instant::now() + WORK_BUDGET;
    let mut may_go_on = || Instant::now() < deadline;
    let (site, content_type) = (wanted.url.site(), wanted.head.first("content-type"));
    let file = SitemapFile {
        at: wanted.url.as_url(),
        content_type: content_type.as_deref(),
        bytes: &wanted.body,
        cut: wanted.cut,
    };
    let reading = sitemap::read(file, &SitemapLimits::default(), &mut may_go_on);
    if let SitemapKind::Nothing(_) = reading.kind {
        return SitemapEnd::NoSitemap;
    }
    let chosen = sitemap::choose(&reading.urls, &site, wanted.fetched_at, wanted.max_pages, &mut may_go_on);
    let own_sitemaps = reading.sitemaps.into_iter().filter_map(|url| PageUrl::from_url(url).ok());
    SitemapEnd::Read {
        pages: chosen.into_iter().map(|(url, _)| url).collect(),
        sitemaps: own_sitemaps.filter(|url| site.contains_host(url.host())).collect(),
    }
}

impl Handler<ReadSitemap> for ExtractorActor {
    type Result = ();

    fn handle(&mut self, wanted: ReadSitemap, _: &mut Self::Context) {
        let end = catch_unwind(AssertUnwindSafe(|| read(&wanted))).unwrap_or_else(|_| {
            self.stats.num_extraction_panics.add_one();
            tracing::warn!(url = %wanted.url, "the sitemap made its reading fail; nothing of it is kept");
            SitemapEnd::Failed
        });
        let ReadSitemap { body, permit, reply, .. } = wanted;
        // The next request may need the room at once.
        drop((body, permit));
        reply.tell(|ticket| SitemapRead { ticket, end });
    }
}
