//! Settings of a site, within what a configuration may hold.

use std::time::Duration;

use lohisoftbot_core::backoff::BackoffPolicy;
use lohisoftbot_core::budget::Budget;
use lohisoftbot_core::politeness::SiteRules;

use crate::rng::Rng;
use crate::server::Temper;

pub fn random_rules(rng: &mut Rng, temper: Temper) -> SiteRules {
    let calm = temper == Temper::Calm;
    let pages = if rng.once_in(2) { 20 } else { 1 + rng.below(20) as u16 };
    SiteRules {
        min_delay: Duration::from_secs(rng.pick(&[5, 5, 5, 1, 30])),
        response_time_factor: 5,
        max_adaptive_delay: Duration::from_secs(60),
        max_crawl_delay: Duration::from_secs(86_400),
        park_after: Duration::from_secs(60),
        backoff: BackoffPolicy::default(),
        budget: Budget::new(pages, 20).expect("within 1 to 20"),
        max_queued_urls: if calm { 1000 } else { rng.pick(&[8, 30, 1000]) },
        recrawl_interval: Duration::from_secs(rng.pick(&[12 * 3600, 86_400, 7 * 86_400, 30 * 86_400])),
        min_recrawl_interval: Duration::from_secs(rng.pick(&[6 * 3600, 12 * 3600])),
        max_recrawl_interval: Duration::from_secs(90 * 86_400),
        product_token: "LohiSoftBot".to_owned(),
    }
}
