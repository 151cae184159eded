//! What an answer to `/robots.txt` means, how long its meaning is kept, and which copy counts while no answer comes.
//!
//! RFC 9309 §2.3.1 and §2.4, read the cautious way: where the standard leaves it open and permission is in doubt,
//! nothing is fetched. The caller owns the fetching, the waits after a failed one (backoff, Retry-After), and whether
//! another site's file may be asked for.

use std::time::Duration;

use crate::origin::Origin;
use crate::outcome::FetchFailure;
use crate::response::ResponseHead;
use crate::time::Timestamp;
use crate::url::PageUrl;

use super::lines::MAX_ROBOTS_BYTES;
use super::policy::RobotsPolicy;

/// Redirects that are followed; RFC 9309 §2.3.1.2 asks for at least five.
pub const MAX_ROBOTS_HOPS: usize = 5;

/// A copy is used without asking again for no longer than this (RFC 9309 §2.4).
pub const MAX_COPY_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// A copy is used without asking again for at least this, whatever Cache-Control says.
pub const MIN_COPY_TTL: Duration = Duration::from_secs(10 * 60);

/// Once the file has been unreachable for this long, a copy older than [`MAX_COPY_TTL`] counts again.
pub const OLD_COPY_AFTER: Duration = Duration::from_secs(12 * 60 * 60);

/// It does so until the file has been unreachable for this long (the span that
/// RFC 9309 §2.3.1.4 gives as its example).
pub const OLD_COPY_UNTIL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The way of one robots fetch: where it began and every redirect target since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsHops {
    asked: Vec<PageUrl>,
}

impl RobotsHops {
    /// Begins at the origin's own `/robots.txt`.
    pub fn from_origin(origin: &Origin) -> Self {
        Self { asked: vec![origin.robots_url()] }
    }

    /// What to ask for now.
    pub fn current(&self) -> &PageUrl {
        self.asked.last().expect("a way has a beginning and only grows")
    }

    /// Redirects taken so far.
    pub fn num_hops(&self) -> usize {
        self.asked.len() - 1
    }

    /// Goes on to the target of a [`RobotsReading::Hop`].
    pub fn follow(&mut self, target: PageUrl) {
        self.asked.push(target);
    }
}

/// Whether a body came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// All of it is here.
    Whole,
    /// Something is missing: cut short, not decodable to its end, or longer than what is read.
    Cut,
}

/// Whether the request carried validators of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validators {
    /// It did: 304 says that the copy still stands.
    Sent,
    /// It did not: 304 says nothing.
    NotSent,
}

/// An answer to a robots request, decoded.
#[derive(Clone, Copy, Debug)]
pub struct RobotsAnswer<'a> {
    /// Status and fields.
    pub head: &'a ResponseHead,
    /// The body, at least the first [`MAX_ROBOTS_BYTES`] of it.
    pub body: &'a [u8],
    /// Whether that is all.
    pub body_end: BodyEnd,
    /// Whether the request was conditional.
    pub validators: Validators,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsReading {
    /// These rules count, for the origin where the way began and for no other.
    Rules(RobotsPolicy),
    /// There are none: everything is allowed.
    NoRules(NoRulesReason),
    /// Everything is forbidden.
    DisallowAll(DisallowAllReason),
    /// The copy that the request named still stands, as if fetched now.
    Unchanged,
    /// The file lies elsewhere on the same site: ask there.
    Hop(PageUrl),
    /// The file is another site's own `/robots.txt`: to be asked for only as that site's own fetch, under its delay;
    /// who cannot have that done takes it as unreachable.
    OtherSite(PageUrl),
    /// No usable answer: the site waits, then [`rules_in_force`] says what counts.
    Unreachable(UnreachableReason),
}

impl RobotsReading {
    /// The policy to keep, if the answer makes one.
    pub fn into_policy(self) -> Option<RobotsPolicy> {
        match self {
            Self::Rules(policy) => Some(policy),
            Self::NoRules(reason) => Some(RobotsPolicy::without_file(reason.status())),
            Self::DisallowAll(DisallowAllReason::LoginRequired { status }) => {
                Some(RobotsPolicy::login_required(status))
            }
            Self::Unchanged | Self::Hop(_) | Self::OtherSite(_) | Self::Unreachable(_) => None,
        }
    }
}

/// Why there are no rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRulesReason {
    /// The file is not there.
    Unavailable {
        /// The status that said so.
        status: u16,
    },
    /// 403: no rules either, but it may announce a barrier, so it is shown, and the home page alone is asked first.
    Forbidden,
}

impl NoRulesReason {
    /// The status that said so.
    pub const fn status(self) -> u16 {
        match self {
            Self::Unavailable { status } => status,
            Self::Forbidden => 403,
        }
    }
}

/// Why everything is forbidden although an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisallowAllReason {
    /// A login stands before the site.
    LoginRequired {
        /// 401 or 407.
        status: u16,
    },
}

/// Why there is no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreachableReason {
    /// 429 or 5xx.
    ServerError {
        /// Which.
        status: u16,
    },
    /// A status that says nothing about rules: 1xx, odd 3xx, 304 unasked, outside 100 to 599.
    OddStatus {
        /// Which.
        status: u16,
    },
    /// The body ended early.
    BodyCut,
    /// A redirect to nowhere that could be asked.
    NoTarget,
    /// A redirect to where the way has been.
    RedirectLoop,
    /// More redirects than [`MAX_ROBOTS_HOPS`].
    TooManyHops,
    /// A redirect to something of another site that is not its `/robots.txt`.
    OtherSitesPage,
    /// No answer at all.
    Failed(FetchFailure),
}

/// What an answer to the current request of a way means. `product_token` picks the group.
pub fn read_answer(hops: &RobotsHops, answer: &RobotsAnswer<'_>, product_token: &str) -> RobotsReading {
    let status = answer.head.status;
    match status {
        // RFC 9309 §2.3.1.1. The content type is no judge: an HTML page parses to no rules.
        200..=299 => match answer.body_end {
            BodyEnd::Cut if answer.body.len() < MAX_ROBOTS_BYTES => {
                RobotsReading::Unreachable(UnreachableReason::BodyCut)
            }
            BodyEnd::Whole | BodyEnd::Cut => RobotsReading::Rules(RobotsPolicy::parse(answer.body, product_token)),
        },
        301 | 302 | 303 | 307 | 308 => read_redirect(hops, answer.head),
        304 if answer.validators == Validators::Sent => RobotsReading::Unchanged,
        // RFC 9309 §2.3.1.3 only says that a crawler MAY go on.
        401 | 407 => RobotsReading::DisallowAll(DisallowAllReason::LoginRequired { status }),
        429 | 500..=599 => RobotsReading::Unreachable(UnreachableReason::ServerError { status }),
        403 => RobotsReading::NoRules(NoRulesReason::Forbidden),
        400..=499 => RobotsReading::NoRules(NoRulesReason::Unavailable { status }),
        0..=199 | 300..=399 | 600.. => RobotsReading::Unreachable(UnreachableReason::OddStatus { status }),
    }
}

fn read_redirect(hops: &RobotsHops, head: &ResponseHead) -> RobotsReading {
    let location = head.first("location").filter(|location| !location.is_empty());
    let Some(target) = location.and_then(|raw| PageUrl::parse(&raw, Some(hops.current())).ok()) else {
        return RobotsReading::Unreachable(UnreachableReason::NoTarget);
    };
    if hops.asked.contains(&target) {
        RobotsReading::Unreachable(UnreachableReason::RedirectLoop)
    } else if hops.num_hops() >= MAX_ROBOTS_HOPS {
        RobotsReading::Unreachable(UnreachableReason::TooManyHops)
    } else if target.site() == hops.current().site() {
        RobotsReading::Hop(target)
    } else if target == target.origin().robots_url() {
        RobotsReading::OtherSite(target)
    } else {
        RobotsReading::Unreachable(UnreachableReason::OtherSitesPage)
    }
}

/// How long a copy is used without asking again: what Cache-Control leaves of its max-age (RFC 9111 §4.2), within
/// [`MIN_COPY_TTL`] and [`MAX_COPY_TTL`]; the longest where it says nothing.
pub fn copy_ttl(head: &ResponseHead) -> Duration {
    let mut ttl = MAX_COPY_TTL;
    for value in head.all("cache-control") {
        for directive in String::from_utf8_lossy(value).split(',') {
            ttl = ttl.min(directive_ttl(directive.trim(), head));
        }
    }
    ttl.clamp(MIN_COPY_TTL, MAX_COPY_TTL)
}

fn directive_ttl(directive: &str, head: &ResponseHead) -> Duration {
    let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
    match name.trim().to_ascii_lowercase().as_str() {
        "no-store" | "no-cache" => Duration::ZERO,
        "max-age" => match seconds(argument.trim().trim_matches('"')) {
            Some(max_age) => {
                max_age.saturating_sub(head.first("age").and_then(|age| seconds(&age)).unwrap_or_default())
            }
            None => MAX_COPY_TTL,
        },
        _ => MAX_COPY_TTL,
    }
}

fn seconds(digits: &str) -> Option<Duration> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| Duration::from_secs(digits.parse().unwrap_or(u64::MAX)))
}

/// What counts for an origin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InForce<'a> {
    /// This copy.
    Copy(&'a RobotsPolicy),
    /// Nothing yet: the file has to be asked for first.
    AskFirst,
    /// Everything is forbidden until the file answers (RFC 9309 §2.3.1.4).
    DisallowAll,
}

/// Which rules count, given the last good copy with when it was fetched (or confirmed), and since when the file has
/// been unreachable, if the last attempt found it so.
pub fn rules_in_force<'a>(
    copy: Option<(&'a RobotsPolicy, Timestamp)>,
    unreachable_since: Option<Timestamp>,
    now: Timestamp,
) -> InForce<'a> {
    if let Some((policy, fetched_at)) = copy {
        if now.since(fetched_at) < MAX_COPY_TTL {
            return InForce::Copy(policy);
        }
        let unreachable_for = unreachable_since.map(|since| now.since(since));
        if unreachable_for.is_some_and(|span| (OLD_COPY_AFTER..=OLD_COPY_UNTIL).contains(&span)) {
            return InForce::Copy(policy);
        }
    }
    match unreachable_since {
        Some(_) => InForce::DisallowAll,
        None => InForce::AskFirst,
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
