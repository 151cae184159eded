//! Politeness alone is easy for a crawler that asks nothing: a site that gives its pages must have been asked for them.

use lohisoftbot_core::ledger::FinishReason;
use lohisoftbot_core::page_choice::EntryStanding;
use lohisoftbot_core::url::PageUrl;

use crate::carrier::Carrier;
use crate::checker::Watched;
use crate::server::Temper;

impl Carrier {
    /// A calm site gives all its pages, or as many as the budget allows, whatever stands beside it.
    pub fn check_harvest(&self, reason: FinishReason) -> Watched {
        if self.server.temper != Temper::Calm {
            return Ok(());
        }
        let main = &self.server.origins[0];
        let file = self.checker.file_of(&main.origin);
        // Only what the home page links to is known, so that one must be open.
        let permitted = |path: &str| file.is_none_or(|file| file.permits(path));
        let asked = self.checker.cycle_pages();
        // A page that another origin gave under the same path is asked last, as another address of it: here it is not wanted.
        let is_doubled = |page: &PageUrl| {
            asked.iter().any(|url| url.origin() != main.origin && url.path_and_query() == page.path_and_query())
        };
        let is_open = |page: &&PageUrl| permitted("/") && permitted(page.path_and_query()) && !is_doubled(page);
        let num_open = main.pages.iter().filter(is_open).count();
        let num_main = asked.iter().filter(|url| main.pages.contains(url)).count();
        // What only a sitemap lists comes last, so it takes nothing from the pages that are linked to.
        let of_main_or_listed = |url: &&PageUrl| url.origin() == main.origin;
        let num_others = asked.len() - asked.iter().filter(of_main_or_listed).count();
        let num_spent = num_others + self.checker.num_cycle_sitemaps();
        let wanted = num_open.min(usize::from(self.rules.budget.page_requests()).saturating_sub(num_spent));
        if num_main < wanted {
            return Err(format!("finished ({reason:?}) with {num_main} of {wanted} pages of a calm site"));
        }
        let tried = self.checker.cycle_origins();
        let left_out = self.server.origins.iter().filter(|truth| !tried.contains(&truth.origin));
        // A copy from the last cycle may have said no without a request.
        let left_out = left_out.filter(|truth| !self.checker.was_read(&truth.origin));
        let mut left_out = left_out.filter(|truth| self.server.is_found(truth.origin.host()));
        match left_out.next() {
            Some(truth) if reason == FinishReason::QueueEmpty && permitted("/") && tried.len() < 20 => {
                Err(format!("finished without a try at {}", truth.origin))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A page is stored by a request, so a cycle without page requests that ends for want of URLs has no stored page in its queue.
    pub fn check_no_cycle_is_skipped(&self) -> Watched {
        let has_stored = || self.state.queue().entries().iter().any(|entry| entry.standing == EntryStanding::Stored);
        if self.account.num_page_requests == 0 && has_stored() {
            return Err("a cycle ends without a request, its queue is as the last cycle left it".to_owned());
        }
        Ok(())
    }
}
