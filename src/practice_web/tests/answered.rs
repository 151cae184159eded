//! What is answered: each label's own kind of answer, byte for byte the same from the same plan.

use super::*;

/// All lines but those with a date.
fn undated(bytes: &[u8]) -> Vec<Vec<u8>> {
    let is_dated = |line: &&[u8]| line.starts_with(b"Date: ") || line.starts_with(b"Retry-After: ");
    bytes.split(|byte| *byte == b'\n').filter(|line| !is_dated(line)).map(<[u8]>::to_vec).collect()
}

#[tokio::test]
async fn same_plan_and_ports_send_same_bytes() {
    let plan = PracticePlan::small(21, 3);
    let web = start(plan.clone()).await;
    let ports = web.ports();
    let host = web.sites().sites()[0].main_host.clone();
    let first = ask_main(&web, &web.sites().sites()[0], "/").await;
    web.shutdown().await;
    let again = start(PracticePlan { http_port: Some(ports.http), https_port: Some(ports.https), ..plan }).await;
    let second = ask_main(&again, again.sites().site_of_host(&host).expect("the same names"), "/").await;
    assert!(first.len() > 6_000 && undated(&first) == undated(&second));
    again.shutdown().await;
}

#[tokio::test]
async fn every_planned_page_answers_as_its_label_says() {
    let web = start(all_faults()).await;
    for label in web.labels() {
        let site = web.sites().site_of_host(&label.site).expect("labels name sites");
        if site.robots == RobotsKind::WrongCertificate || label.request_kind == RequestKind::Robots {
            continue;
        }
        let wanted = match label.answer {
            AnswerKind::Fault(fault) => wanted_status(fault),
            AnswerKind::ChainHop => 301,
            AnswerKind::Robots(_)
            | AnswerKind::Page
            | AnswerKind::PanicPage
            | AnswerKind::LoginForm
            | AnswerKind::Trap(_)
            | AnswerKind::Sitemap => 200,
        };
        let host =
            label.url.split('/').nth(2).and_then(|authority| authority.split(':').next()).expect("URLs have hosts");
        if label.answer == AnswerKind::Fault(PageFault::Stall) {
            continue;
        }
        let bytes = ask(&web, site.scheme, host, &label.path).await;
        assert_eq!(status_of(&bytes), wanted, "{label:?}");
        let coded = field_of(&bytes, "Content-Encoding").is_some();
        if let (Some(title), false) = (&label.title, coded) {
            let charset = String::from_utf8_lossy(split(&bytes).1).contains("<meta charset=\"utf-8\">");
            let html = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
            let title = title.replace('&', "&amp;");
            assert!(!charset || html.contains(&title), "{title} in {}", label.url);
        }
    }
    web.shutdown().await;
}

/// The first status that a fault sends.
fn wanted_status(fault: PageFault) -> u16 {
    use PageFault as F;
    match fault {
        F::NotFound => 404,
        F::Gone => 410,
        F::BadRequest => 400,
        F::ContentTooLarge => 413,
        F::RequestTimeoutOnce => 408,
        F::Redirect301 | F::RedirectChain | F::RedirectToOtherSite => 301,
        F::Redirect302
        | F::RedirectChainTooLong
        | F::RedirectToSelf
        | F::RedirectToForbidden
        | F::LoginRedirect
        | F::ChallengeRedirect => 302,
        F::ChallengeField => 202,
        F::Redirect303 => 303,
        F::Redirect307 => 307,
        F::Redirect308 => 308,
        F::InterimResponses => 100,
        F::Unauthorized => 401,
        F::PaymentRequired => 402,
        F::Forbidden | F::Challenge => 403,
        F::LegalReasons => 451,
        F::LimitedSeconds | F::LimitedDate | F::LimitedPlain => 429,
        F::UnavailableOnce => 503,
        F::ServerError => 500,
        F::MalformedHead | F::Reset | F::Stall => 0,
        F::ChallengeScript
        | F::ChallengeRefresh
        | F::ChallengeFrame
        | F::ChallengeProof
        | F::ChallengeWords
        | F::ChallengeCaptcha
        | F::PasswordForm
        | F::Paywalled
        | F::PaywalledTier
        | F::MeteredTier
        | F::FreeArticle
        | F::PaidPart
        | F::PaidThing
        | F::AboutLogins
        | F::PasswordHelp
        | F::LoginBox
        | F::LoginLinked
        | F::AboutChallenges
        | F::CaptchaOnForm
        | F::BehindProtection
        | F::NewsletterForm
        | F::SearchForm
        | F::ScriptNote
        | F::CookieBanner
        | F::SlowFirstByte
        | F::EndlessBody
        | F::OddHead
        | F::ShortBody
        | F::CutChunks
        | F::CloseDelimited
        | F::Windows1252
        | F::Windows1251
        | F::Gbk
        | F::Iso88592
        | F::Undeclared1252
        | F::Undeclared1251
        | F::WrongCharset
        | F::Gzip
        | F::GzipMembers
        | F::Brotli
        | F::Zstd
        | F::Deflate
        | F::RawDeflate
        | F::Bomb
        | F::NoindexMeta
        | F::NoindexOurs
        | F::NoindexHeader
        | F::NoindexOthers
        | F::NoindexLastHeader
        | F::NoindexStructured
        | F::NoindexStructuredOthers
        | F::SearchForbidden
        | F::TrainingForbidden
        | F::NofollowMeta
        | F::Expired
        | F::Pdf
        | F::Image
        | F::LongUrl
        | F::TooLongUrl
        | F::Drip => 200,
    }
}

#[tokio::test]
async fn every_robots_answers_as_its_kind_says() {
    let web = start(all_faults()).await;
    let skipped = [RobotsKind::WrongCertificate, RobotsKind::AlwaysStalled];
    for &kind in RobotsKind::ALL.iter().filter(|kind| !skipped.contains(kind)) {
        let site = site_of(&web, kind);
        let bytes = ask_main(&web, site, "/robots.txt").await;
        let wanted = match kind {
            RobotsKind::NotFound => 404,
            RobotsKind::Gone => 410,
            RobotsKind::Forbidden => 403,
            RobotsKind::Unauthorized => 401,
            RobotsKind::LimitedThenFine => 429,
            RobotsKind::UnavailableThenFine | RobotsKind::AlwaysUnavailable => 503,
            RobotsKind::AlwaysReset => 0,
            RobotsKind::OneHop
            | RobotsKind::FiveHops
            | RobotsKind::SixHops
            | RobotsKind::HopLoop
            | RobotsKind::OtherSitesRobots
            | RobotsKind::EachOthersFirst
            | RobotsKind::EachOthersSecond
            | RobotsKind::OtherSitesPath => 301,
            RobotsKind::Rules
            | RobotsKind::OwnGroup
            | RobotsKind::Empty
            | RobotsKind::CrawlDelay
            | RobotsKind::ByteOrderMark
            | RobotsKind::CarriageReturns
            | RobotsKind::HtmlPage
            | RobotsKind::TooLarge
            | RobotsKind::DisallowAll
            | RobotsKind::CutBody
            | RobotsKind::AlwaysStalled
            | RobotsKind::WrongCertificate => 200,
        };
        assert_eq!(status_of(&bytes), wanted, "{kind:?}");
    }
    web.shutdown().await;
}

#[tokio::test]
async fn robots_hops_end_in_rules_after_one_and_five() {
    let faults = Faults::none().with_robots(RobotsKind::OneHop).with_robots(RobotsKind::FiveHops);
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 6) }).await;
    for (kind, wanted) in [(RobotsKind::OneHop, 1), (RobotsKind::FiveHops, 5)] {
        let site = site_of(&web, kind);
        let (mut path, mut num_hops) = ("/robots.txt".to_owned(), 0);
        while let Some(location) = field_of(&ask_main(&web, site, &path).await, "Location") {
            (path, num_hops) = (location, num_hops + 1);
        }
        assert_eq!(num_hops, wanted, "{kind:?}");
        let bytes = ask_main(&web, site, &path).await;
        assert!(split(&bytes).1.starts_with(b"User-agent: *\n"));
    }
    let roles: BTreeSet<bool> =
        web.log().entries().iter().map(|entry| entry.robots_role == RobotsRole::NotRobots).collect();
    assert_eq!(roles, BTreeSet::from([false]));
    web.shutdown().await;
}

#[tokio::test]
async fn limited_robots_and_pages_answer_once_the_wait_is_told() {
    let faults = Faults::none().with_robots(RobotsKind::LimitedThenFine).with_page(PageFault::LimitedDate);
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 4) }).await;
    let site = site_of(&web, RobotsKind::LimitedThenFine);
    assert_eq!(field_of(&ask_main(&web, site, "/robots.txt").await, "Retry-After").as_deref(), Some("2"));
    assert_eq!(status_of(&ask_main(&web, site, "/robots.txt").await), 200);
    let (site, path) = page_of(&web, PageFault::LimitedDate);
    let limited = ask_main(&web, site, path).await;
    let date = |name| httpdate::parse_http_date(&field_of(&limited, name).expect("it is sent")).expect("it is a date");
    assert_eq!(date("Retry-After").duration_since(date("Date")).ok(), Some(Duration::from_secs(3)));
    assert_eq!(status_of(&ask_main(&web, site, path).await), 200);
    let entries = web.log().entries();
    let waits: Vec<Option<u64>> = entries.iter().map(|entry| entry.end.and_then(|end| end.wait_until_us)).collect();
    assert!(waits[0] >= Some(entries[0].start_us + 2_000_000) && waits[2] >= Some(entries[2].start_us + 3_000_000));
    assert_eq!((waits[1], waits[3]), (None, None));
    assert_eq!(entries[0].backoff, Backoff::Site);
    let report = web.audit(&rules());
    assert_eq!(report.of_kind(auditor::ViolationKind::InsideWait).count(), 2, "{report}");
    web.shutdown().await;
}

#[tokio::test]
async fn cut_answers_promise_more_than_they_send() {
    let faults =
        Faults::none().with_robots(RobotsKind::CutBody).with_page(PageFault::ShortBody).with_page(PageFault::CutChunks);
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 4) }).await;
    let robots = ask_main(&web, site_of(&web, RobotsKind::CutBody), "/robots.txt").await;
    let (site, path) = page_of(&web, PageFault::ShortBody);
    let page = ask_main(&web, site, path).await;
    for bytes in [robots, page] {
        let promised: usize = field_of(&bytes, "Content-Length").expect("it is sent").parse().expect("it is a number");
        assert!(split(&bytes).1.len() < promised);
    }
    let (site, path) = page_of(&web, PageFault::CutChunks);
    let bytes = ask_main(&web, site, path).await;
    assert!(split(&bytes).0.contains("chunked") && !bytes.ends_with(b"0\r\n\r\n"));
    web.shutdown().await;
}

#[tokio::test]
async fn wrong_certificate_is_refused_by_name() {
    let faults = Faults::none().with_robots(RobotsKind::WrongCertificate);
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 2) }).await;
    let site = site_of(&web, RobotsKind::WrongCertificate);
    assert!(connect(&web, Scheme::Https, &site.main_host).await.is_err());
    assert_eq!(web.log().num_requests(), 0);
    web.shutdown().await;
}

#[tokio::test]
async fn other_origins_of_a_plain_site_redirect_to_the_main_one() {
    let web = start(PracticePlan::small(3, 8)).await;
    let site = web.sites().sites().iter().find(|site| site.scheme == Scheme::Https).expect("some are https");
    let location = field_of(&ask(&web, Scheme::Http, &site.name, "/robots.txt").await, "Location");
    assert_eq!(location, Some(format!("{}/robots.txt", site.origin(PageHost::Main, web.ports()))));
    assert_eq!(web.log().entries()[0].robots_role, RobotsRole::Hop);
    web.shutdown().await;
}

/// All that a decoder gives.
fn read_all(mut decoder: impl std::io::Read) -> Vec<u8> {
    let mut decoded = Vec::new();
    decoder.read_to_end(&mut decoded).expect("it is encoded well");
    decoded
}

#[tokio::test]
async fn coded_pages_decode_to_the_page() {
    type Decoder = fn(&[u8]) -> Vec<u8>;
    let gunzip: Decoder = |body| read_all(flate2::read::MultiGzDecoder::new(body));
    let coded: [(PageFault, Decoder); 7] = [
        (PageFault::Gzip, gunzip),
        (PageFault::GzipMembers, gunzip),
        (PageFault::Bomb, gunzip),
        (PageFault::Brotli, |body| read_all(brotli::Decompressor::new(body, 4_096))),
        (PageFault::Zstd, |body| read_all(zstd::Decoder::new(body).expect("it begins well"))),
        (PageFault::Deflate, |body| read_all(flate2::read::ZlibDecoder::new(body))),
        (PageFault::RawDeflate, |body| read_all(flate2::read::DeflateDecoder::new(body))),
    ];
    let faults = coded.iter().fold(Faults::none(), |faults, (fault, _)| faults.with_page(*fault));
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 5) }).await;
    for (fault, decoder) in coded {
        let (site, path) = page_of(&web, fault);
        let page = site.page(path).expect("it was found");
        let html = page::render(web.sites(), site, page, web.ports(), page::CharsetNote::Meta("utf-8"));
        let decoded = decoder(split(&ask_main(&web, site, path).await).1);
        assert!(decoded.starts_with(html.as_bytes()), "{fault:?}");
        assert_eq!(decoded.len() > 30 << 20, fault == PageFault::Bomb, "{fault:?}");
    }
    web.shutdown().await;
}

#[tokio::test]
async fn pages_in_old_charsets_decode_to_their_title() {
    use encoding_rs::{GBK, ISO_8859_2, WINDOWS_1251, WINDOWS_1252};
    let charsets = [
        (PageFault::Windows1252, WINDOWS_1252),
        (PageFault::Windows1251, WINDOWS_1251),
        (PageFault::Gbk, GBK),
        (PageFault::Iso88592, ISO_8859_2),
        (PageFault::Undeclared1252, WINDOWS_1252),
        (PageFault::Undeclared1251, WINDOWS_1251),
        (PageFault::WrongCharset, WINDOWS_1252),
    ];
    let faults = charsets.iter().fold(Faults::none(), |faults, (fault, _)| faults.with_page(*fault));
    let web = start(PracticePlan { faults, ..PracticePlan::small(2, 5) }).await;
    for (fault, encoding) in charsets {
        let (site, path) = page_of(&web, fault);
        let page = site.page(path).expect("it was found");
        let answer = ask_main(&web, site, path).await;
        let body = split(&answer).1;
        assert!(std::str::from_utf8(body).is_err(), "{fault:?} is no UTF-8");
        let html = encoding.decode_without_bom_handling(body).0;
        let html = html.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(html.contains(&page.title.replace('&', "&amp;")), "{fault:?}");
        assert!(!html.contains("&#"), "{fault:?} can write its language");
    }
    web.shutdown().await;
}
