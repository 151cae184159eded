//! Which stored page makes room when a site has as many as are kept and a new one comes.
//!
//! Pages that were found right in the running cycle stay: they are the choice of the day. Of the others the one goes that was longest not
//! found right; among those of one cycle, the one that was asked last, since a cycle asks the better ones first. So at the end of a cycle
//! a site's records are those that it confirmed, and of earlier ones the best that there is room for.

use super::PageRecord;

/// The record that makes room for a page of that cycle; none where all are of this cycle.
pub fn makes_room<'a>(stored: impl IntoIterator<Item = &'a PageRecord>, cycle: u32) -> Option<&'a PageRecord> {
    let older = stored.into_iter().filter(|record| record.cycle < cycle);
    older.min_by(|one, other| {
        let by_cycle = one.cycle.cmp(&other.cycle);
        by_cycle.then(other.fetched_at.cmp(&one.fetched_at)).then_with(|| other.url.as_str().cmp(one.url.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::ExtractedPage;
    use crate::response::ResponseHead;
    use crate::time::Timestamp;
    use crate::url::PageUrl;

    /// Stored: path, cycle, second at which it was fetched.
    #[track_caller]
    fn check(stored: &[(&str, u32, u64)], cycle: u32, wanted: Option<&str>) {
        let record = |(path, cycle, secs): &(&str, u32, u64)| {
            let url = PageUrl::parse(&format!("https://a.test{path}"), None).unwrap();
            let at = Timestamp::from_secs(*secs);
            PageRecord::of_extracted(&ExtractedPage::default(), &url, &ResponseHead::new(200), *cycle, at).record
        };
        let records: Vec<_> = stored.iter().map(record).collect();
        let going = makes_room(&records, cycle).map(|record| record.url.path_and_query());
        assert_eq!(going, wanted, "{stored:?} in cycle {cycle}");
    }

    #[test]
    fn oldest_cycle_goes_first_and_of_it_what_was_asked_last() {
        check(&[("/", 1, 10), ("/a", 1, 20), ("/b", 1, 30)], 2, Some("/b"));
        check(&[("/", 2, 110), ("/a", 1, 20), ("/b", 1, 15)], 2, Some("/a"));
        check(&[("/", 3, 210), ("/a", 2, 120), ("/b", 1, 15)], 3, Some("/b"));
        check(&[("/a", 1, 10), ("/b", 1, 10)], 2, Some("/b"));
    }

    #[test]
    fn pages_of_the_running_cycle_stay() {
        check(&[("/", 2, 10), ("/a", 2, 20)], 2, None);
        check(&[("/", 2, 10), ("/a", 3, 20)], 2, None);
        check(&[], 1, None);
    }
}
