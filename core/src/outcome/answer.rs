//! From a response head to what it says.

use std::time::Duration;

use crate::barrier::{self, BarrierKind};
use crate::ledger::RequestKind;
use crate::response::ResponseHead;
use crate::retry_after;
use crate::time::Timestamp;
use crate::url::PageUrl;

/// What an answer says. The waits are those that its Retry-After asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200 with an HTML or XHTML page, where a page was asked for.
    Html,
    /// 200 where a sitemap was asked for: whether it is one, its bytes say, not its Content-Type.
    Sitemap,
    /// 200 with anything else: there is no HTML page, or none any more.
    OtherType,
    /// Another 2xx.
    OtherContent,
    /// 304: the stored copy is still right, where the request named one.
    NotModified,
    /// 301, 302, 303, 307 or 308.
    Redirect {
        /// Where to.
        target: RedirectTarget,
        /// For how long.
        permanence: Permanence,
        /// The wait before the target may be asked (RFC 9110 §10.2.3).
        retry_after: Option<Duration>,
    },
    /// 404 or 410: there is no such page, or no longer.
    Gone,
    /// A login, paywall or bot protection.
    Barrier {
        /// Which.
        kind: BarrierKind,
        /// The status it came with: a 429 or 5xx backs off all the same.
        status: u16,
        /// The wait that was asked for.
        retry_after: Option<Duration>,
    },
    /// 408, 421 or 425: the same request may do better.
    AskOnceMore {
        /// The wait that was asked for.
        retry_after: Option<Duration>,
    },
    /// 429 or 5xx, or no status that HTTP knows (RFC 9110 §15: to be taken for a 5xx).
    Busy {
        /// The status.
        status: u16,
        /// The wait that was asked for.
        retry_after: Option<Duration>,
    },
    /// Any other 3xx or 4xx.
    Refused {
        /// The status.
        status: u16,
        /// The wait that was asked for.
        retry_after: Option<Duration>,
    },
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// To a URL that may be queued; whether it may be asked is checked as for any other.
    To(PageUrl),
    /// Back to the very page, in canonical form: what differs is a fragment, a session or a tracking parameter.
    ToItself,
    /// To nothing that this crawler asks for, or nowhere.
    Unusable,
}

/// Whether a redirect is for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permanence {
    /// 301 or 308: the old URL is to be given up.
    Permanent,
    /// 302, 303 or 307.
    Temporary,
}

/// What the answer to `request`, sent for a page or a sitemap, says, received at `now`.
pub fn classify(kind: RequestKind, head: &ResponseHead, request: &PageUrl, now: Timestamp) -> Answer {
    let status = head.status;
    let retry_after = retry_after::wait_of(head, now);
    if let Some(kind) = barrier::of_head(head) {
        return Answer::Barrier { kind, status, retry_after };
    }
    match status {
        200 if kind == RequestKind::Sitemap => Answer::Sitemap,
        200 if is_html(head) => Answer::Html,
        200 => Answer::OtherType,
        201..=299 => Answer::OtherContent,
        301 | 308 => redirect(head, request, Permanence::Permanent, retry_after),
        302 | 303 | 307 => redirect(head, request, Permanence::Temporary, retry_after),
        304 => Answer::NotModified,
        404 | 410 => Answer::Gone,
        408 | 421 | 425 => Answer::AskOnceMore { retry_after },
        _ if is_busy(status) => Answer::Busy { status, retry_after },
        _ => Answer::Refused { status, retry_after },
    }
}

/// Whether the status makes the site wait: 429, 5xx, and what is to be taken for a 5xx. That is any status outside of HTTP (RFC 9110
/// §15), and 1xx, which is no final answer.
pub(super) const fn is_busy(status: u16) -> bool {
    !matches!(status, 200..=499) || status == 429
}

/// Whether the body that follows `head` is to be read: all of robots.txt where it came, of a page only HTML, of a sitemap
/// whatever comes with a 200, since sitemaps are sent under every type there is. Whatever else is on the way, an archive of gigabytes or an
/// error page, is left unread.
pub fn wants_body(kind: RequestKind, head: &ResponseHead) -> bool {
    match kind {
        RequestKind::Robots => (200..=299).contains(&head.status),
        RequestKind::Page => head.status == 200 && is_html(head) && barrier::of_head(head).is_none(),
        RequestKind::Sitemap => head.status == 200 && barrier::of_head(head).is_none(),
    }
}

/// Whether the content is HTML or XHTML by its Content-Type. Without one, or with one that is no media type, it is taken for HTML: such
/// servers are old and small, and what they send by default is a page. Of several types the last counts, as in browsers.
fn is_html(head: &ResponseHead) -> bool {
    let mut is_html = true;
    for value in head.all("content-type") {
        for part in String::from_utf8_lossy(value).split(',') {
            let essence = part.split(';').next().unwrap_or_default().trim();
            let is_media_type = essence.split_once('/').is_some_and(|(main, sub)| !main.is_empty() && !sub.is_empty());
            if is_media_type && essence != "*/*" {
                is_html = ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html));
            }
        }
    }
    is_html
}

fn redirect(head: &ResponseHead, request: &PageUrl, permanence: Permanence, retry_after: Option<Duration>) -> Answer {
    let location = head.first("location").filter(|location| !location.is_empty());
    let target = match location.map(|location| PageUrl::parse(&location, Some(request))) {
        Some(Ok(target)) if target == *request => RedirectTarget::ToItself,
        Some(Ok(target)) if barrier::is_login_redirect(request, &target) => {
            return Answer::Barrier { kind: BarrierKind::LoginRedirect, status: head.status, retry_after };
        }
        Some(Ok(target)) if barrier::is_challenge_redirect(&target) => {
            return Answer::Barrier { kind: BarrierKind::Challenge, status: head.status, retry_after };
        }
        Some(Ok(target)) => RedirectTarget::To(target),
        Some(Err(_)) | None => RedirectTarget::Unusable,
    };
    Answer::Redirect { target, permanence, retry_after }
}
