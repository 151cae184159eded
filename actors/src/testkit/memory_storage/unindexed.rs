//! What the twin knows of the search index: found by comparing, so that nothing can be forgotten.

use std::collections::BTreeSet;

use lohisoftbot_core::key;
use lohisoftbot_core::site::Site;

use super::Maps;

impl Maps {
    /// Marks the sites whose pages, or links to their pages, are not what they were in `before`.
    pub(super) fn mark_unindexed(&mut self, before: &Self) {
        let mut touched = BTreeSet::new();
        for url in self.pages.keys().chain(before.pages.keys()) {
            if self.pages.get(url) != before.pages.get(url) {
                touched.insert(url.site());
            }
        }
        for row in self.inlinks.keys().chain(before.inlinks.keys()) {
            if self.inlinks.get(row) != before.inlinks.get(row) && !self.urls_of(&row.0).is_empty() {
                touched.insert(row.0.clone());
            }
        }
        self.unindexed.extend(touched.into_iter().map(|site| (site, self.change_seq)));
    }
}

/// Sites in key order, those after `after`.
pub(super) fn behind(sites: impl IntoIterator<Item = Site>, after: Option<&Site>) -> impl Iterator<Item = Site> {
    let mut sites: Vec<Site> = sites.into_iter().collect();
    sites.sort_by_key(key::site_prefix);
    let after = after.map(key::site_prefix);
    sites.into_iter().skip_while(move |site| after.as_ref().is_some_and(|after| key::site_prefix(site) <= *after))
}
