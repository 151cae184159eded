//! Asking a stored page again: the condition that its record allows, whether what comes back makes another record, and what a 304 renews.
//!
//! Invariants: a request carries one condition at most (RFC 9110 §13.1.3: beside If-None-Match, If-Modified-Since means nothing); a
//! validator goes back byte for byte as it came, and only where it is one by the letter, so that no server's slip (`ETag: *`) becomes
//! a condition that always holds.

use xxhash_rust::xxh3::xxh3_64;

use super::{MAX_VALIDATOR_BYTES, PageRecord};
use crate::codec;
use crate::directives::Directives;
use crate::http_date;
use crate::response::ResponseHead;
use crate::time::Timestamp;

/// A page is wanted only if it is not what the record was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `If-None-Match` with this entity-tag (RFC 9110 §13.1.2).
    NoneMatch(String),
    /// `If-Modified-Since` with this date, as the server wrote it (RFC 9110 §13.1.3).
    ModifiedSince(String),
}

/// What a record says of the page, in short: records of equal content have equal marks. Never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentMark(pub u64);

/// What the store holds of a page that is about to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCopy {
    /// Under which condition the page is wanted; none where the record has no validator that could be sent.
    pub condition: Option<Condition>,
    /// What it says.
    pub mark: ContentMark,
    /// The cycle in which it was last found right.
    pub cycle: u32,
}

/// What the head of a 304 tells (RFC 9110 §15.4.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    etag: Option<String>,
    last_modified: Option<String>,
    directives: Directives,
}

impl StoredCopy {
    /// Of this record, to be asked again at `now`.
    pub fn of(record: &PageRecord, now: Timestamp) -> Self {
        Self { condition: condition_of(record, now), mark: ContentMark::of(record), cycle: record.cycle }
    }
}

impl ContentMark {
    /// Of what a reader would see of the record: its dates and validators are no part of it.
    pub fn of(record: &PageRecord) -> Self {
        let PageRecord { title, description, headings, lang, canonical, .. } = record;
        let content = codec::encode_body(&(title, description, headings, lang, canonical));
        // A record that cannot be written is never stored, so no two of them are ever compared.
        Self(content.map_or(0, |bytes| xxh3_64(&bytes)))
    }
}

impl Renewal {
    /// As the head says it to the robot with that product token.
    pub fn of_head(head: &ResponseHead, product_token: &str) -> Self {
        Self {
            etag: etag_of(head),
            last_modified: last_modified_of(head),
            directives: Directives::of_headers(head, product_token),
        }
    }

    /// Whether the page may be kept at `now`: a 304 carries X-Robots-Tag as a 200 does (P7).
    pub fn allows_storing(&self, now: Timestamp) -> bool {
        self.directives.allows_storing(now)
    }

    /// From this moment on the page must not be kept, if the head says so.
    pub fn unavailable_after(&self) -> Option<Timestamp> {
        self.directives.unavailable_after
    }

    /// Renews a record that was found right at `at`, in that cycle of its site.
    ///
    /// Validators that the 304 carries take the place of the stored ones (RFC 9111 §3.2, §4.3.4). Where its entity-tag is another than the one
    /// that was sent, the answer speaks of a copy that is not ours: then none is kept, and the page is asked plainly next time.
    pub fn apply(&self, record: &mut PageRecord, at: Timestamp, cycle: u32) {
        record.fetched_at = at;
        record.cycle = cycle;
        match (&record.etag, &self.etag) {
            (Some(sent), Some(told)) if opaque_tag(sent) != opaque_tag(told) => {
                (record.etag, record.last_modified) = (None, None);
            }
            (_, told) => {
                record.etag = told.clone().or(record.etag.take());
                record.last_modified = self.last_modified.clone().or(record.last_modified.take());
            }
        }
        if self.directives.nosnippet {
            record.nosnippet = true;
            record.description = None;
        }
        let told = self.directives.unavailable_after;
        record.unavailable_after = match (record.unavailable_after, told) {
            (Some(known), Some(told)) => Some(known.min(told)),
            (known, told) => known.or(told),
        };
    }
}

/// The ETag of an answer, where it is one (RFC 9110 §8.8.3).
pub(super) fn etag_of(head: &ResponseHead) -> Option<String> {
    validator(head, "etag").filter(|etag| is_entity_tag(etag))
}

/// The Last-Modified of an answer, in visible ASCII.
pub(super) fn last_modified_of(head: &ResponseHead) -> Option<String> {
    validator(head, "last-modified").filter(|date| date.bytes().all(|byte| matches!(byte, b' '..=b'~')))
}

/// A validator goes back as it came, so one that is too long cannot be cut and is dropped.
fn validator(head: &ResponseHead, name: &str) -> Option<String> {
    let value = std::str::from_utf8(head.all(name).next()?).ok()?.trim_matches([' ', '\t']);
    (!value.is_empty() && value.len() <= MAX_VALIDATOR_BYTES).then(|| value.to_owned())
}

/// `"…"` or `W/"…"` of visible ASCII without a quotation mark inside. The grammar has bytes beyond ASCII as well; they are left out, since
/// proxies differ in what they make of them.
fn is_entity_tag(text: &str) -> bool {
    let quoted = opaque_tag(text).strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted.is_some_and(|tag| tag.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e)))
}

/// Without the mark of weakness: If-None-Match compares weakly (RFC 9110 §8.8.3.2).
fn opaque_tag(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// The ETag decides where there is one; a date counts to the second only, and is sent where it names a moment that has passed. A page that
/// was read in part is wanted whole.
fn condition_of(record: &PageRecord, now: Timestamp) -> Option<Condition> {
    if record.cut {
        return None;
    }
    // Checked once more, since records of earlier versions of this program hold what servers sent.
    let etag = record.etag.as_ref().filter(|etag| is_entity_tag(etag));
    let date = record.last_modified.as_ref().filter(|date| is_past_http_date(date, now));
    etag.cloned().map(Condition::NoneMatch).or_else(|| date.cloned().map(Condition::ModifiedSince))
}

/// One of the three forms of RFC 9110 §5.6.7, of a moment up to `now`. A recipient ignores what is none (§13.1.3), so it is not sent.
fn is_past_http_date(text: &str, now: Timestamp) -> bool {
    let is_asctime =
        text.len() == "Sun Nov  6 08:49:37 1994".len() && text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_http_form = (text.contains(", ") && text.ends_with(" GMT")) || (is_asctime && !text.contains(','));
    is_http_form && http_date::parse(text, now).is_some_and(|moment| moment <= now)
}

#[cfg(test)]
mod tests;
