//! `ExtractorActor` reads pages and sitemaps: it parses, extracts, and drops the body. It owns nothing.
//!
//! The record goes straight to the `IndexActor`, with the page's permit; the `HostActor` gets links and what became of the page. The
//! bytes are hostile, so reading them happens under `catch_unwind` and under a deadline. Invariant: no byte of a body leaves this module.

mod reply;
mod sitemap;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use bytes::Bytes;
use lohisoftbot_core::barrier::BarrierKind;
use lohisoftbot_core::discovery::LinkDropCounts;
use lohisoftbot_core::extract::{FetchedPage, extract, is_other_format};
use lohisoftbot_core::ledger::TicketNumber;
use lohisoftbot_core::page_choice::PageLinks;
use lohisoftbot_core::politeness::StoredAs;
use lohisoftbot_core::record::{ContentMark, PageRecord, StoredLink, StoredPage};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::PageUrl;

use crate::index::{IndexActor, StorePage};
use crate::permits::PagePermit;
use crate::stats::NodeStats;
use crate::supervisor::DeathNotice;

pub use reply::{ReadingEnd, Reply};
pub use sitemap::{ReadSitemap, SitemapRead};

/// Longest work on one page; then what was read so far is stored as cut.
pub const WORK_BUDGET: Duration = Duration::from_millis(200);

/// Reads pages.
pub struct ExtractorActor {
    index: Addr<IndexActor>,
    product_token: Arc<str>,
    stats: Arc<NodeStats>,
    _death_notice: DeathNotice,
}

/// Read this page.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ExtractPage {
    /// Where it was fetched.
    pub url: PageUrl,
    /// The head of the answer.
    pub head: ResponseHead,
    /// The body; dropped when the page is read.
    pub body: Bytes,
    /// The body is incomplete.
    pub cut: bool,
    /// The site's cycle.
    pub cycle: u32,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Ends when the record is stored, or with this message.
    pub permit: PagePermit,
    /// Who wants to know.
    pub reply: Reply<PageExtracted>,
}

/// A page was read.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct PageExtracted {
    /// The ticket it was fetched under.
    pub ticket: TicketNumber,
    /// What became of it.
    pub stored: StoredAs,
    /// The links on it that may be followed, and what else it says about the pages around it.
    pub links: PageLinks,
    /// How many other links are on it, by what is against them.
    pub dropped: LinkDropCounts,
}

impl ReadingEnd for PageExtracted {
    fn lost(ticket: TicketNumber) -> Self {
        let (links, dropped) = (PageLinks::default(), LinkDropCounts::default());
        Self { ticket, stored: StoredAs::ExtractionFailed, links, dropped }
    }
}

impl ExtractorActor {
    /// Sends records to `index`; reads directives for `product_token`.
    pub fn new(
        index: Addr<IndexActor>,
        product_token: Arc<str>,
        stats: Arc<NodeStats>,
        death_notice: DeathNotice,
    ) -> Self {
        Self { index, product_token, stats, _death_notice: death_notice }
    }

    fn read(&self, page: &ExtractPage) -> ReadPage {
        fail_point(&page.body);
        if is_other_format(&page.body) {
            return ReadPage::NotHtml;
        }
        let deadline = Instant::now() + WORK_BUDGET;
        let mut may_go_on = || Instant::now() < deadline;
        let fetched = FetchedPage {
            url: page.url.as_url(),
            head: &page.head,
            body: &page.body,
            cut: page.cut,
            product_token: &self.product_token,
        };
        let extracted = extract(fetched, &mut may_go_on);
        if let Some(kind) = extracted.barrier {
            return ReadPage::Barrier(kind);
        }
        let StoredPage { record, links, dropped } =
            PageRecord::of_extracted(&extracted, &page.url, &page.head, page.cycle, page.fetched_at);
        let around = PageLinks::of_extracted(&extracted, &links);
        if extracted.directives.allows_storing(page.fetched_at) {
            ReadPage::Storable { record: Box::new(record), links, around, dropped }
        } else {
            ReadPage::Noindex { around, dropped }
        }
    }
}

/// What was read off a page.
enum ReadPage {
    Storable {
        record: Box<PageRecord>,
        links: Vec<StoredLink>,
        around: PageLinks,
        dropped: LinkDropCounts,
    },
    /// It asks not to be indexed; its links may be followed all the same.
    Noindex {
        around: PageLinks,
        dropped: LinkDropCounts,
    },
    /// It is no page, whatever its type says.
    NotHtml,
    /// It shows a barrier instead of what it should hold.
    Barrier(BarrierKind),
}

impl Actor for ExtractorActor {
    type Context = Context<Self>;
}

impl Handler<ExtractPage> for ExtractorActor {
    type Result = ();

    fn handle(&mut self, page: ExtractPage, _: &mut Self::Context) {
        let read = catch_unwind(AssertUnwindSafe(|| self.read(&page)));
        let ExtractPage { url, permit, reply, body, .. } = page;
        drop(body);
        let nothing = LinkDropCounts::default();
        let (stored, links, dropped) = match read {
            Err(_) => {
                self.stats.num_extraction_panics.add_one();
                tracing::warn!(%url, "the page made its extraction fail; nothing of it is kept");
                (StoredAs::ExtractionFailed, PageLinks::default(), nothing)
            }
            // Where an older record has to go, the site's state says so.
            Ok(ReadPage::NotHtml) => (StoredAs::NotHtml, PageLinks::default(), nothing),
            Ok(ReadPage::Barrier(kind)) => (StoredAs::Barrier(kind), PageLinks::default(), nothing),
            Ok(ReadPage::Noindex { around, dropped }) => (StoredAs::Noindex, around, dropped),
            Ok(ReadPage::Storable { record, links, around, dropped }) => {
                let mark = ContentMark::of(&record);
                self.index.do_send(StorePage { record, links, permit });
                (StoredAs::Record(mark), around, dropped)
            }
        };
        reply.tell(|ticket| PageExtracted { ticket, stored, links, dropped });
    }
}

/// Makes an extractor die, as a fault of its own would.
#[cfg(feature = "fail-points")]
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct DieNow;

#[cfg(feature = "fail-points")]
impl Handler<DieNow> for ExtractorActor {
    type Result = ();

    fn handle(&mut self, _: DieNow, _: &mut Self::Context) {
        panic!("fail point reached: the extractor dies");
    }
}

/// Lets a test make extraction panic by the page's own bytes.
#[cfg(feature = "fail-points")]
fn fail_point(body: &[u8]) {
    const MARK: &[u8] = b"data-fail-point=\"panic\"";
    if body.windows(MARK.len()).any(|window| window == MARK) {
        panic!("fail point reached: {}", String::from_utf8_lossy(body));
    }
}

#[cfg(not(feature = "fail-points"))]
fn fail_point(_body: &[u8]) {}
