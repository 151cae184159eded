//! The answer to each request for a page: pure, from the plan, the request and how often it was asked before.

use std::time::{Duration, SystemTime};

use super::{
    barriers, encode,
    faults::PageFault,
    freshness::{self, Epoch},
    labels::AnswerKind,
    odd_pages,
    page::{CharsetNote, render},
    script::{Answer, Head, Step},
    site_plan::{PagePlan, Ports, PracticeSites, SitePlan},
    sitemaps,
};

/// The wait of a 429 or 413 in seconds.
const WAIT_IN_SECONDS: Duration = Duration::from_secs(2);
/// The wait of a 429 as a date, counted from the answer's own Date.
const WAIT_AS_DATE: Duration = Duration::from_secs(3);
/// The silence of `SlowFirstByte`.
const SLOW_FIRST_BYTE: Duration = Duration::from_millis(600);
/// The pause between the pieces of a dripping body.
const DRIP_PAUSE: Duration = Duration::from_millis(400);
/// What the bomb decodes to, beside its page.
const BOMB_BYTES: usize = 32 << 20;
const HTML_UTF8: &str = "text/html; charset=utf-8";
const FILLER: &str = "<!-- This line is repeated for as long as somebody reads it, and says nothing each time. -->\n";

/// One asking of a planned page.
pub struct PageAsked<'a> {
    /// All sites.
    pub sites: &'a PracticeSites,
    /// The site asked.
    pub site: &'a SitePlan,
    /// The page asked.
    pub page: &'a PagePlan,
    /// How often this page was asked before.
    pub num_before: usize,
    /// The epoch of its site.
    pub epoch: Epoch,
    /// The If-None-Match of the request.
    pub if_none_match: Option<&'a str>,
    /// Its If-Modified-Since.
    pub if_modified_since: Option<&'a str>,
    /// The ports of the web.
    pub ports: Ports,
    /// For the Date field.
    pub now: SystemTime,
}

/// The answer to a planned page.
pub fn answer(asked: &PageAsked<'_>) -> Answer {
    if let Some(life) = asked.page.life {
        return freshness::answer(asked, life);
    }
    match asked.page.answer {
        AnswerKind::Page | AnswerKind::PanicPage => ok_page(asked, "page"),
        AnswerKind::LoginForm => ok_page(asked, "login form"),
        AnswerKind::ChainHop => redirect(asked, "chain hop"),
        AnswerKind::Sitemap => sitemaps::answer(asked),
        AnswerKind::Trap(kind) => ok_page(asked, &format!("trap {kind:?}")),
        AnswerKind::Fault(fault) => fault_answer(asked, fault),
        // A robots.txt is never planned as a page; should it be, there is no such page.
        AnswerKind::Robots(_) => not_found(asked.now),
    }
}

/// The answer to a path that was never planned.
pub fn not_found(now: SystemTime) -> Answer {
    let body = b"<!DOCTYPE html>\n<html lang=\"en\"><head><title>Not found</title></head><body><p>No such page.</p></body></html>\n";
    Head::new(404, now).with("Content-Type", HTML_UTF8).answer("no such page", body)
}

fn fault_answer(asked: &PageAsked<'_>, fault: PageFault) -> Answer {
    let label = format!("{fault:?}");
    let label = label.as_str();
    let is_first = asked.num_before == 0;
    match fault {
        PageFault::NotFound => error_page(asked, 404, label),
        PageFault::Gone => error_page(asked, 410, label),
        PageFault::BadRequest => error_page(asked, 400, label),
        PageFault::ContentTooLarge => {
            limited(asked, 413, label, &WAIT_IN_SECONDS.as_secs().to_string(), WAIT_IN_SECONDS)
        }
        PageFault::RequestTimeoutOnce if is_first => error_page(asked, 408, label),
        PageFault::Redirect301
        | PageFault::Redirect302
        | PageFault::Redirect303
        | PageFault::Redirect307
        | PageFault::Redirect308
        | PageFault::RedirectChain
        | PageFault::RedirectChainTooLong
        | PageFault::RedirectToSelf
        | PageFault::RedirectToForbidden
        | PageFault::RedirectToOtherSite
        | PageFault::ChallengeRedirect
        | PageFault::LoginRedirect => redirect(asked, label),
        PageFault::SlowFirstByte => {
            let mut answer = ok_page(asked, label);
            answer.steps.insert(0, Step::Pause(SLOW_FIRST_BYTE));
            answer
        }
        PageFault::EndlessBody => endless(asked, label, Duration::ZERO),
        // Whether a page that dripped until the time-out is a failure or a cut page is the asker's to say, so it asks for no wait.
        PageFault::Drip => endless(asked, label, DRIP_PAUSE),
        PageFault::OddHead => odd_head(asked, label),
        PageFault::ShortBody => {
            let body = html(asked, CharsetNote::Meta("utf-8"));
            let head = page_head(asked, HTML_UTF8).with("Content-Length", &(body.len() + 5_000).to_string());
            sent(label, head, body.into_bytes())
        }
        PageFault::CutChunks => {
            let head = page_head(asked, HTML_UTF8).with("Transfer-Encoding", "chunked");
            sent(label, head, encode::chunks(html(asked, CharsetNote::Meta("utf-8")).as_bytes()))
        }
        PageFault::CloseDelimited => {
            sent(label, page_head(asked, HTML_UTF8), html(asked, CharsetNote::Meta("utf-8")).into_bytes())
        }
        PageFault::InterimResponses => {
            let mut answer = ok_page(asked, label);
            let interim =
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
            answer.steps.insert(0, Step::Send(interim.to_vec()));
            answer
        }
        PageFault::Windows1252
        | PageFault::Windows1251
        | PageFault::Gbk
        | PageFault::Iso88592
        | PageFault::Undeclared1252
        | PageFault::Undeclared1251
        | PageFault::WrongCharset => in_charset(asked, fault, label),
        PageFault::Gzip
        | PageFault::GzipMembers
        | PageFault::Brotli
        | PageFault::Zstd
        | PageFault::Deflate
        | PageFault::RawDeflate
        | PageFault::Bomb => coded(asked, fault, label),
        PageFault::NoindexHeader
        | PageFault::NoindexOthers
        | PageFault::NoindexLastHeader
        | PageFault::NoindexStructured
        | PageFault::NoindexStructuredOthers
        | PageFault::SearchForbidden
        | PageFault::TrainingForbidden
        | PageFault::Expired => tagged(asked, fault, label),
        PageFault::Pdf => {
            let body = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";
            page_head(asked, "application/pdf").answer(label, body)
        }
        PageFault::Image => {
            page_head(asked, "image/png").answer(label, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01")
        }
        PageFault::Unauthorized => {
            let head = error_head(asked, 401).with("WWW-Authenticate", "Basic realm=\"members\"");
            head.answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
        }
        PageFault::PaymentRequired => error_page(asked, 402, label),
        PageFault::Forbidden => error_page(asked, 403, label),
        PageFault::LegalReasons => error_page(asked, 451, label),
        PageFault::Challenge => challenge(asked, label),
        PageFault::LimitedSeconds if is_first => {
            limited(asked, 429, label, &WAIT_IN_SECONDS.as_secs().to_string(), WAIT_IN_SECONDS).with_backoff()
        }
        PageFault::LimitedDate if is_first => {
            let until = httpdate::fmt_http_date(asked.now + WAIT_AS_DATE);
            limited(asked, 429, label, &until, WAIT_AS_DATE).with_backoff()
        }
        PageFault::LimitedPlain if is_first => error_page(asked, 429, label).with_backoff(),
        PageFault::UnavailableOnce if is_first => error_page(asked, 503, label).with_backoff(),
        PageFault::ServerError => error_page(asked, 500, label).with_backoff(),
        PageFault::MalformedHead => {
            Answer::without_status(label, Step::Send(b"\x16\x03garbage, no HTTP\r\n\r\n".to_vec()))
        }
        PageFault::Reset => Answer::without_status(label, Step::Reset),
        PageFault::Stall => Answer::without_status(label, Step::Stall),
        PageFault::ChallengeScript
        | PageFault::ChallengeRefresh
        | PageFault::ChallengeFrame
        | PageFault::ChallengeProof
        | PageFault::ChallengeWords
        | PageFault::ChallengeCaptcha
        | PageFault::PasswordForm => {
            let html = barriers::bare_barrier(fault, &odd_pages::name(fault), &asked.page.canaries.join(" "));
            page_head(asked, HTML_UTF8).answer(label, html.as_bytes())
        }
        PageFault::ChallengeField => {
            let head = error_head(asked, 202).with("SG-Captcha", "challenge");
            head.answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
        }
        PageFault::BehindProtection => {
            let fields = barriers::dress(fault).fields;
            let head = fields.iter().fold(page_head(asked, HTML_UTF8), |head, (name, value)| head.with(name, value));
            head.answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
        }
        // What marks these pages stands in their HTML or in their address.
        PageFault::NoindexMeta
        | PageFault::NoindexOurs
        | PageFault::NofollowMeta
        | PageFault::LongUrl
        | PageFault::TooLongUrl
        | PageFault::Paywalled
        | PageFault::PaywalledTier
        | PageFault::MeteredTier
        | PageFault::FreeArticle
        | PageFault::PaidPart
        | PageFault::PaidThing
        | PageFault::AboutLogins
        | PageFault::PasswordHelp
        | PageFault::LoginBox
        | PageFault::LoginLinked
        | PageFault::AboutChallenges
        | PageFault::CaptchaOnForm
        | PageFault::NewsletterForm
        | PageFault::SearchForm
        | PageFault::ScriptNote
        | PageFault::CookieBanner => ok_page(asked, label),
        // Asked again, these are ordinary pages.
        PageFault::RequestTimeoutOnce
        | PageFault::LimitedSeconds
        | PageFault::LimitedDate
        | PageFault::LimitedPlain
        | PageFault::UnavailableOnce => ok_page(asked, label),
    }
}

fn html(asked: &PageAsked<'_>, note: CharsetNote) -> String {
    render(asked.sites, asked.site, asked.page, asked.ports, note)
}

fn page_head(asked: &PageAsked<'_>, content_type: &str) -> Head {
    let head = Head::new(200, asked.now).with("Content-Type", content_type);
    let head = head.with("ETag", &format!("\"{:x}\"", asked.page.text_seed));
    // Some sites set cookies; nobody may send one back.
    if asked.page.text_seed.is_multiple_of(4) { head.with("Set-Cookie", "visit=1; Path=/") } else { head }
}

fn error_head(asked: &PageAsked<'_>, status: u16) -> Head {
    Head::new(status, asked.now).with("Content-Type", HTML_UTF8)
}

fn ok_page(asked: &PageAsked<'_>, label: &str) -> Answer {
    page_head(asked, HTML_UTF8).answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
}

fn error_page(asked: &PageAsked<'_>, status: u16, label: &str) -> Answer {
    error_head(asked, status).answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
}

fn limited(asked: &PageAsked<'_>, status: u16, label: &str, retry_after: &str, wait: Duration) -> Answer {
    let head = error_head(asked, status).with("Retry-After", retry_after);
    head.answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes()).with_wait(wait)
}

fn redirect(asked: &PageAsked<'_>, label: &str) -> Answer {
    // Every redirecting page is planned with its target; without one it would be a page that does not exist.
    let Some((status, target)) = &asked.page.redirect else { return not_found(asked.now) };
    let location = asked.sites.url(target, asked.ports);
    Head::new(*status, asked.now).with("Location", &location).answer(label, b"")
}

fn sent(label: &str, head: Head, body: Vec<u8>) -> Answer {
    Answer::of_steps(200, label, vec![Step::Send(head.bytes()), Step::Send(body)])
}

fn endless(asked: &PageAsked<'_>, label: &str, pause: Duration) -> Answer {
    let head = page_head(asked, HTML_UTF8).with("Transfer-Encoding", "chunked");
    let page = encode::chunks(html(asked, CharsetNote::Meta("utf-8")).as_bytes());
    let lines = if pause.is_zero() { 200 } else { 1 };
    let filler = encode::chunks(FILLER.repeat(lines).as_bytes());
    Answer::of_steps(200, label, vec![Step::Send(head.bytes()), Step::Send(page), Step::Endless(filler, pause)])
}

/// A head as hand-written servers send it: folded, with a line that is no field, with a byte that is not ASCII, with its length twice.
fn odd_head(asked: &PageAsked<'_>, label: &str) -> Answer {
    let body = html(asked, CharsetNote::Meta("utf-8"));
    let date = httpdate::fmt_http_date(asked.now);
    let mut bytes =
        format!("HTTP/1.1 200\r\nDate: {date}\r\nX-Folded: one\r\n  two\r\nthis is no field\r\n").into_bytes();
    bytes.extend_from_slice(b"X-Latin: caf\xe9\r\nContent-Type: text/html;charset=\"UTF-8\"\r\n");
    let length = body.len();
    bytes.extend_from_slice(format!("Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n").as_bytes());
    bytes.extend_from_slice(body.as_bytes());
    Answer::of_steps(200, label, vec![Step::Send(bytes)])
}

fn in_charset(asked: &PageAsked<'_>, fault: PageFault, label: &str) -> Answer {
    use encoding_rs::{GBK, ISO_8859_2, WINDOWS_1251, WINDOWS_1252};
    const UNDECLARED: &str = "text/html";
    const CHARSETS: [(PageFault, &encoding_rs::Encoding, &str, CharsetNote); 7] = [
        (PageFault::Windows1252, WINDOWS_1252, "text/html; charset=windows-1252", CharsetNote::Silent),
        (PageFault::Windows1251, WINDOWS_1251, UNDECLARED, CharsetNote::Meta("windows-1251")),
        (PageFault::Gbk, GBK, "text/html; charset=gbk", CharsetNote::Silent),
        (PageFault::Iso88592, ISO_8859_2, UNDECLARED, CharsetNote::HttpEquiv("iso-8859-2")),
        (PageFault::Undeclared1252, WINDOWS_1252, UNDECLARED, CharsetNote::Silent),
        (PageFault::Undeclared1251, WINDOWS_1251, UNDECLARED, CharsetNote::Silent),
        (PageFault::WrongCharset, WINDOWS_1252, HTML_UTF8, CharsetNote::Silent),
    ];
    let Some(&(_, encoding, content_type, note)) = CHARSETS.iter().find(|(of, ..)| *of == fault) else {
        return ok_page(asked, label);
    };
    page_head(asked, content_type).answer(label, &encode::in_charset(&html(asked, note), encoding))
}

fn coded(asked: &PageAsked<'_>, fault: PageFault, label: &str) -> Answer {
    type Coder = fn(&[u8]) -> Vec<u8>;
    const CODERS: [(PageFault, &str, Coder); 7] = [
        (PageFault::Gzip, "gzip", encode::gzip),
        (PageFault::GzipMembers, "gzip", encode::gzip_members),
        (PageFault::Brotli, "br", encode::brotli),
        (PageFault::Zstd, "zstd", encode::zstd),
        (PageFault::Deflate, "deflate", encode::deflate),
        (PageFault::RawDeflate, "deflate", encode::raw_deflate),
        (PageFault::Bomb, "gzip", |bytes| encode::gzip_bomb(bytes, BOMB_BYTES)),
    ];
    let Some((_, name, coder)) = CODERS.iter().find(|(of, ..)| *of == fault) else { return ok_page(asked, label) };
    let body = coder(html(asked, CharsetNote::Meta("utf-8")).as_bytes());
    page_head(asked, HTML_UTF8).with("Content-Encoding", name).answer(label, &body)
}

/// A page whose header fields say what may become of it.
fn tagged(asked: &PageAsked<'_>, fault: PageFault, label: &str) -> Answer {
    type Fields = &'static [(&'static str, &'static str)];
    const FIELDS: [(PageFault, Fields); 8] = [
        (PageFault::NoindexHeader, &[("X-Robots-Tag", "noindex")]),
        (PageFault::NoindexOthers, &[("X-Robots-Tag", "otherbot: noindex, nofollow")]),
        (
            PageFault::NoindexLastHeader,
            &[
                ("X-Robots-Tag", "otherbot: nofollow"),
                ("X-Robots-Tag", "max-image-preview: large"),
                ("x-robots-tag", "LohiSoftBot: noindex"),
            ],
        ),
        (PageFault::NoindexStructured, &[("Robots-Tag", "*;noindex, otherbot;")]),
        (PageFault::NoindexStructuredOthers, &[("Robots-Tag", "*;max-snippet=200, otherbot;noindex;nofollow")]),
        (PageFault::SearchForbidden, &[("Content-Usage", "train-ai=y, search=n")]),
        (PageFault::TrainingForbidden, &[("Content-Usage", "train-ai=n, search=y")]),
        (PageFault::Expired, &[("X-Robots-Tag", "unavailable_after: 25 Jun 2010 15:00:00 GMT")]),
    ];
    let fields = FIELDS.iter().find(|(of, _)| *of == fault).map_or(&[][..], |(_, fields)| fields);
    let head = fields.iter().fold(page_head(asked, HTML_UTF8), |head, (name, value)| head.with(name, value));
    head.answer(label, html(asked, CharsetNote::Meta("utf-8")).as_bytes())
}

fn challenge(asked: &PageAsked<'_>, label: &str) -> Answer {
    let canaries = asked.page.canaries.join(" ");
    let body = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Just a moment...</title>\n\
         <script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"></script></head>\n\
         <body><p>Checking your browser before you may go on. {canaries}</p></body></html>\n"
    );
    error_head(asked, 403).with("cf-mitigated", "challenge").answer(label, body.as_bytes())
}
