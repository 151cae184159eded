//! How much may be asked of a site in one cycle, and how much of it is kept (P1, P3).
//!
//! What it deliberately does not do: count. The count lives in [`crate::ledger::SiteAccount`], where no crash forgets it.
//!
//! Invariant: no [`Budget`] is above the promise, whatever a configuration says; it can only be below.

/// Most requests to a site in a crawl cycle, robots.txt aside (P1). Redirects, errors and sitemaps count.
pub const MAX_PAGE_REQUESTS_PER_CYCLE: u16 = 20;
/// Most origins of a site whose robots.txt is asked for in a crawl cycle (P3).
pub const MAX_ORIGINS_PER_CYCLE: u16 = 20;
/// Most pages of a site that are stored (P1).
pub const MAX_STORED_PAGES: u16 = 20;

/// The limits of one site and cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    page_requests: u16,
    stored_pages: u16,
}

/// A configured budget is none that may or can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a budget of {asked} is out of bounds: give a number from 1 to 20")]
pub struct BudgetError {
    asked: u16,
}

impl Default for Budget {
    /// What the operator promises in public.
    fn default() -> Self {
        Self { page_requests: MAX_PAGE_REQUESTS_PER_CYCLE, stored_pages: MAX_STORED_PAGES }
    }
}

impl Budget {
    /// A budget of `page_requests` a cycle and `stored_pages` kept; refused where either is 0 or above the promise.
    pub fn new(page_requests: u16, stored_pages: u16) -> Result<Self, BudgetError> {
        for (asked, most) in [(page_requests, MAX_PAGE_REQUESTS_PER_CYCLE), (stored_pages, MAX_STORED_PAGES)] {
            if !(1..=most).contains(&asked) {
                return Err(BudgetError { asked });
            }
        }
        Ok(Self { page_requests, stored_pages })
    }

    /// Page requests a cycle.
    pub const fn page_requests(self) -> u16 {
        self.page_requests
    }

    /// Pages of the site that are stored.
    pub const fn stored_pages(self) -> u16 {
        self.stored_pages
    }

    /// Origins a cycle.
    pub const fn origins(self) -> u16 {
        MAX_ORIGINS_PER_CYCLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_configuration_raises_it_above_the_promise() {
        for (page_requests, stored_pages) in [(21, 20), (20, 21), (u16::MAX, 1), (0, 20), (20, 0)] {
            assert!(Budget::new(page_requests, stored_pages).is_err(), "{page_requests}, {stored_pages}");
        }
    }

    #[test]
    fn a_configuration_lowers_it() {
        let budget = Budget::new(3, 2).unwrap();
        assert_eq!((budget.page_requests(), budget.stored_pages()), (3, 2));
        assert_eq!(Budget::new(20, 20), Ok(Budget::default()));
    }
}
