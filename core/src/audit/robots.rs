//! What a ledger says of the robots.txt of a site's origins: when each was read, and since when it could not be.

use std::collections::VecDeque;
use std::time::Duration;

use super::Breach;
use crate::ledger::EndKind;
use crate::origin::Origin;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// A copy is used for a day (RFC 9309 §2.4), and for its first use a little longer, since a Crawl-delay may be as long as a day.
const COPY_LIFE: Duration = Duration::from_secs(24 * 3600 + 600);
/// An older copy counts again once the file has been unreachable for so long,
const OLD_COPY_FROM: Duration = Duration::from_secs(12 * 3600);
/// and no longer than that (RFC 9309 §2.3.1.4).
const OLD_COPY_TO: Duration = Duration::from_secs(30 * 86_400);

/// Failures that are kept of a file: in 30 days the ladder has hardly more.
const MAX_FAILURES: usize = 64;

/// How the last answer stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// There are rules, or none are needed.
    Rules,
    /// A login stands before everything.
    Login(u16),
}

/// One origin's file.
#[derive(Clone, Debug)]
struct File {
    origin: Origin,
    /// The last answer that was this file's for certain.
    read: Option<(Timestamp, Read)>,
    /// A later one that may have been: its end is not known, or where its way began.
    maybe_read_at: Option<Timestamp>,
    failures: Failures,
}

/// When a file could not be read, since it last could; of the last 30 days.
#[derive(Clone, Debug, Default)]
struct Failures(VecDeque<Timestamp>);

/// The files of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    files: Vec<File>,
    /// Where a way of redirects began that goes on; several origins where the entries leave it open.
    way: Vec<Origin>,
    /// When some file of the site could not be read, and no entry says which; of the last 30 days.
    troubles: Failures,
    /// What was known before the last answer, of the files that it counts for.
    before_last: Vec<File>,
}

/// How a wait says that a robots.txt could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is the reason given.
    Named,
    /// The wait is one rung up the ladder, whatever its reason.
    Rung,
}

impl Files {
    /// A request for a robots.txt, or for a step on its way, ended. A lost one may have been read: the ledger alone cannot say.
    pub(super) fn ended(&mut self, url: &PageUrl, asked_at: Timestamp, at: Timestamp, end: EndKind) {
        let own = url.origin();
        let is_plain = *url == own.robots_url();
        // The way goes on to this URL, or began anew here; where both can be, the answer counts for both.
        let mut concerned = std::mem::take(&mut self.way);
        if (is_plain || concerned.is_empty()) && !concerned.contains(&own) {
            concerned.push(own);
        }
        self.before_last = Vec::new();
        let is_certain = concerned.len() == 1;
        for origin in concerned {
            let before = self.file_of(&origin).clone();
            self.before_last.push(before);
            match end {
                EndKind::Answered(status @ (401 | 407)) if is_certain => {
                    self.note_read(origin, at, Read::Login(status))
                }
                EndKind::Answered(401 | 407) => {}
                EndKind::Answered(200..=299 | 400..=428 | 430..=499) if is_certain => {
                    self.note_read(origin, at, Read::Rules);
                }
                EndKind::Answered(200..=299 | 400..=428 | 430..=499) => self.file_of(&origin).maybe_read_at = Some(at),
                EndKind::Lost => self.file_of(&origin).maybe_read_at = Some(asked_at),
                EndKind::Answered(301 | 302 | 303 | 307 | 308) => self.way.push(origin),
                EndKind::Answered(_) | EndKind::Failed(_) => self.file_of(&origin).failures.note(at),
                EndKind::Abandoned => {}
            }
        }
    }

    /// Another site's file counts for `origin`.
    pub(super) fn borrowed(&mut self, origin: &Origin, read_at: Timestamp) {
        self.way.clear();
        self.note_read(origin.clone(), read_at, Read::Rules);
    }

    /// A wait says that a robots.txt could not be read. On the way of a redirect it is the one where the way began; after a request of its
    /// own that one, whose answer was none to read then; else nothing says which.
    pub(super) fn unreachable(&mut self, at: Timestamp, last_ended_at: Option<Timestamp>, sign: Sign) {
        if !self.way.is_empty() {
            self.way.clone().iter().for_each(|origin| self.file_of(origin).failures.note(at));
            if sign == Sign::Named {
                self.way.clear();
                if last_ended_at != Some(at) {
                    // A redirect that leads nowhere and names a wait looks like a way that goes on; then this is about another file.
                    self.troubles.note(at);
                }
            }
        } else if last_ended_at == Some(at) {
            for mut before in std::mem::take(&mut self.before_last) {
                before.failures.note(at);
                let origin = before.origin.clone();
                *self.file_of(&origin) = before;
            }
        } else if sign == Sign::Named {
            self.troubles.note(at);
        }
    }

    /// The entries begin at `at`, with the site on the ladder: a file of it may have been unreachable for long.
    pub(super) fn begin_in_trouble(&mut self, at: Timestamp) {
        self.troubles.note(at);
    }

    /// A request for something else ended: the last robots.txt was read as its answer said.
    pub(super) fn other_ended(&mut self) {
        // Not cleared: of the sites of a whole ledger, hardly one is asked for its robots.txt just now.
        self.before_last = Vec::new();
    }

    /// What is wrong with a page request at `at`, if anything. Of files that were read before `unseen_before` nothing is known.
    pub(super) fn judge(&self, url: &PageUrl, at: Timestamp, unseen_before: Option<Timestamp>) -> Option<Breach> {
        let origin = url.origin();
        let file = self.files.iter().find(|file| file.origin == origin);
        let rules_again = |read_at: Timestamp| {
            file.is_some_and(|file| file.failures.let_rule_again(read_at, at))
                || self.troubles.let_rule_again(read_at, at)
        };
        let counts = |read_at: Timestamp| at.since(read_at) <= COPY_LIFE || rules_again(read_at);
        if file.and_then(|file| file.maybe_read_at).is_some_and(counts) {
            return None;
        }
        // Where name servers failed, no entry says for which file.
        let may_have_failed = file.is_some_and(|file| !file.failures.0.is_empty() || file.maybe_read_at.is_some())
            || !self.troubles.0.is_empty();
        match file.and_then(|file| file.read) {
            Some((_, Read::Login(status))) => Some(Breach::RobotsLogin { status }),
            Some((read_at, Read::Rules)) if counts(read_at) => None,
            Some((read_at, Read::Rules)) => Some(Breach::RobotsOld { read_at }),
            None => match unseen_before {
                Some(begins_at) if at.since(begins_at) <= COPY_LIFE || rules_again(Timestamp::EPOCH) => None,
                // A file that fails may have begun to long before.
                Some(begins_at) if may_have_failed && at.since(begins_at) <= OLD_COPY_TO => None,
                Some(_) | None => Some(Breach::RobotsUnread),
            },
        }
    }

    fn file_of(&mut self, origin: &Origin) -> &mut File {
        let place = self.files.iter().position(|file| file.origin == *origin).unwrap_or_else(|| {
            // Most sites have one origin, and few have many.
            self.files.reserve_exact(1);
            self.files.push(File {
                origin: origin.clone(),
                read: None,
                maybe_read_at: None,
                failures: Failures::default(),
            });
            self.files.len() - 1
        });
        &mut self.files[place]
    }

    fn note_read(&mut self, origin: Origin, at: Timestamp, read: Read) {
        let file = self.file_of(&origin);
        file.read = Some((at, read));
        file.maybe_read_at = None;
        file.failures.0.clear();
    }
}

impl Failures {
    fn note(&mut self, at: Timestamp) {
        self.0.retain(|failure| at.since(*failure) <= OLD_COPY_TO);
        if self.0.len() >= MAX_FAILURES {
            // Of the oldest, which an old copy counts by, none is lost.
            self.0.remove(MAX_FAILURES / 2);
        }
        self.0.push_back(at);
    }

    /// Whether a copy read at `read_at` may count again at `at`, since the file could not be read for long enough and not for too long.
    fn let_rule_again(&self, read_at: Timestamp, at: Timestamp) -> bool {
        let counts =
            |failure: &Timestamp| *failure > read_at && (OLD_COPY_FROM..=OLD_COPY_TO).contains(&at.since(*failure));
        self.0.iter().any(counts)
    }
}
