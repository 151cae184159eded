//! The practice web, asked over raw sockets: what it sends must be what its labels say, and its log what was asked.

use std::{collections::BTreeSet, time::Duration};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::{
    faults::{Faults, PageFault, RobotsKind},
    labels::{AnswerKind, Permission, RequestKind, Storage},
    log::{EndedBy, LogEntry},
    plan::Canaries,
    script::{Backoff, RobotsRole},
    site_plan::{Rel, SitePlan},
    *,
};

const AGENT: &str = "LohiSoftBot/1.0 (+message@lohisoft.com)";
/// More than any finite answer has.
const ANSWER_LIMIT: u64 = 1 << 20;

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Connects to a URL's site as its scheme says; an error is one of the handshake.
async fn connect(web: &PracticeWeb, scheme: Scheme, host: &str) -> io::Result<Box<dyn Stream>> {
    let site = web.sites().site_of_host(host).expect("the host is one of the web's");
    let tcp = TcpStream::connect((site.address, web.ports().of(scheme))).await?;
    match scheme {
        Scheme::Http => Ok(Box::new(tcp)),
        Scheme::Https => {
            let mut roots = RootCertStore::empty();
            roots
                .add(CertificateDer::from_pem_slice(web.ca_pem().as_bytes()).expect("it is PEM"))
                .expect("it is a certificate");
            let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring has them")
                .with_root_certificates(roots)
                .with_no_client_auth();
            let name = ServerName::try_from(host.to_owned()).expect("it is a name");
            Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, tcp).await?))
        }
    }
}

async fn send(stream: &mut dyn Stream, host: &str, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the web reads requests");
    stream.flush().await.expect("the web reads requests");
}

/// What one request brought, up to the end of the connection or to the limit.
async fn ask(web: &PracticeWeb, scheme: Scheme, host: &str, path: &str) -> Vec<u8> {
    let mut stream = connect(web, scheme, host).await.expect("the handshake succeeds");
    send(&mut *stream, host, path).await;
    let mut bytes = Vec::new();
    // A body that drips is left after its first bytes, as it would never reach the limit.
    let is_drip = path == page_path(web, PageFault::Drip);
    let limit = if is_drip { 1_000 } else { ANSWER_LIMIT };
    // A reset is an answer too: what came before it counts.
    let _ = stream.take(limit).read_to_end(&mut bytes).await;
    bytes
}

async fn ask_main(web: &PracticeWeb, site: &SitePlan, path: &str) -> Vec<u8> {
    ask(web, site.scheme, &site.main_host, path).await
}

fn split(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end..])
}

/// The status of an answer; 0 if it is no HTTP.
fn status_of(bytes: &[u8]) -> u16 {
    let (head, _) = split(bytes);
    head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}

fn field_of(bytes: &[u8], name: &str) -> Option<String> {
    let (head, _) = split(bytes);
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
}

async fn start(plan: PracticePlan) -> PracticeWeb {
    PracticeWeb::start(PracticeSites::generate(plan)).await.expect("it starts")
}

fn site_of(web: &PracticeWeb, robots: RobotsKind) -> &SitePlan {
    web.sites().sites().iter().find(|site| site.robots == robots).expect("the plan has such a site")
}

/// The path that shows a fault, empty if none does.
fn page_path(web: &PracticeWeb, fault: PageFault) -> &str {
    let mut pages = web.sites().sites().iter().flat_map(|site| &site.pages);
    pages.find(|page| page.answer == AnswerKind::Fault(fault)).map_or("", |page| page.path.as_str())
}

/// The site and the path that show a fault.
fn page_of(web: &PracticeWeb, fault: PageFault) -> (&SitePlan, &str) {
    let mut pages = web.sites().sites().iter().flat_map(|site| site.pages.iter().map(move |page| (site, page)));
    let found = pages.find(|(_, page)| page.answer == AnswerKind::Fault(fault));
    found.map(|(site, page)| (site, page.path.as_str())).expect("the plan has such a page")
}

fn rules() -> AuditRules {
    AuditRules::new(Duration::ZERO, Duration::from_millis(1), vec![AGENT.to_owned()])
}

/// All lines but those with a date.
fn undated(bytes: &[u8]) -> Vec<Vec<u8>> {
    let is_dated = |line: &&[u8]| line.starts_with(b"Date: ") || line.starts_with(b"Retry-After: ");
    bytes.split(|byte| *byte == b'\n').filter(|line| !is_dated(line)).map(<[u8]>::to_vec).collect()
}

/// Every fault on small sites.
fn all_faults() -> PracticePlan {
    PracticePlan {
        pages_per_site: (3, 8),
        faults: Faults::all(),
        canaries: Some(Canaries::default()),
        ..PracticePlan::demo(5)
    }
}

#[test]
fn same_seed_gives_same_sites_and_another_seed_others() {
    let sites = |seed| PracticeSites::generate(PracticePlan::demo(seed));
    assert_eq!(sites(1).sites(), sites(1).sites());
    assert_ne!(sites(1).sites(), sites(2).sites());
}

#[test]
fn demo_web_has_enough_sites_and_pages_within_the_budget() {
    for seed in 0..20 {
        let sites = PracticeSites::generate(PracticePlan::demo(seed));
        assert!(sites.sites().len() >= 60);
        assert!(sites.num_storable(20) >= 600, "seed {seed}: {}", sites.num_storable(20));
    }
}

#[test]
fn full_web_shows_every_fault_and_every_kind_of_robots() {
    let sites = PracticeSites::generate(PracticePlan { faults: Faults::all(), ..PracticePlan::demo(3) });
    let kinds: BTreeSet<RobotsKind> = sites.sites().iter().map(|site| site.robots).collect();
    assert_eq!(kinds.len(), RobotsKind::ALL.len());
    let pages = || sites.sites().iter().flat_map(|site| &site.pages);
    for fault in PageFault::ALL {
        assert_eq!(pages().filter(|page| page.answer == AnswerKind::Fault(*fault)).count(), 1, "{fault:?}");
    }
    let shared: BTreeSet<Ipv4Addr> = sites.sites()[58..].iter().map(|site| site.address).collect();
    let all: BTreeSet<Ipv4Addr> = sites.sites().iter().map(|site| site.address).collect();
    assert_eq!((shared.len(), all.len()), (1, 59));
}

#[test]
fn every_page_that_may_be_kept_is_reachable_from_its_home_page() {
    let sites = PracticeSites::generate(PracticePlan { faults: Faults::all(), ..PracticePlan::demo(9) });
    for site in sites.sites().iter().filter(|site| site.is_open()) {
        let mut reached = BTreeSet::from(["/"]);
        let mut queue = vec!["/"];
        while let Some(page) = queue.pop().and_then(|path| site.page(path)) {
            let followed = page.links.iter().filter(|link| {
                link.target.site == site.index
                    && link.rel == Rel::Plain
                    && page.answer != AnswerKind::Fault(PageFault::NofollowMeta)
            });
            let redirected = page.redirect.iter().map(|(_, target)| target).filter(|target| target.site == site.index);
            for target in followed.map(|link| &link.target).chain(redirected) {
                let may = site.page(&target.path).is_some_and(|page| page.permission == Permission::Allowed);
                if may && reached.insert(&target.path) {
                    queue.push(&target.path);
                }
            }
        }
        for page in site.pages.iter().filter(|page| page.storage == Storage::Stored) {
            assert!(reached.contains(page.path.as_str()), "{} {}", site.name, page.path);
        }
    }
}

#[test]
fn page_sizes_look_like_real_ones() {
    let sites = PracticeSites::generate(PracticePlan::demo(4));
    let mut sizes: Vec<usize> = Vec::new();
    for site in sites.sites() {
        sizes.extend(site.pages.iter().map(|page| page.target_bytes));
    }
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!((34_000..46_000).contains(&median), "median {median}");
    assert!(sizes[sizes.len() - 1] > 200_000);
}

#[test]
fn rendered_page_has_its_size_its_metadata_and_its_canary_in_paragraphs_only() {
    let plan = PracticePlan { canaries: Some(Canaries::default()), ..PracticePlan::small(11, 4) };
    let sites = PracticeSites::generate(plan);
    let ports = Ports { http: 8_000, https: 8_001 };
    let canaries = Canaries::default();
    let mut num_titles = 0;
    for site in sites.sites() {
        for page in &site.pages {
            let html = page::render(&sites, site, page, ports, page::CharsetNote::Meta("utf-8"));
            assert!(html.len() < page.target_bytes * 2 + 20_000, "{} of {}", html.len(), page.target_bytes);
            let outside: String = html.lines().filter(|line| !line.starts_with("<p>")).collect::<Vec<_>>().join("\n");
            assert_eq!(html.matches(&canaries.paragraph).count(), 2);
            assert!(!outside.contains(&canaries.paragraph) && !outside.contains(&canaries.panic));
            num_titles += usize::from(outside.contains(&format!("<title>{}", canaries.title)))
                + usize::from(outside.contains(&format!("<title>\n    {}", canaries.title)));
            let is_panic = page.answer == AnswerKind::PanicPage;
            assert_eq!(html.contains("data-fail-point=\"panic\""), is_panic);
            assert_eq!(html.matches(&canaries.panic).count(), if is_panic { 2 } else { 0 });
        }
    }
    assert_eq!(num_titles, 1);
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
        F::Redirect302 | F::RedirectChainTooLong | F::RedirectToSelf | F::RedirectToForbidden | F::LoginRedirect => 302,
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
        F::SlowFirstByte
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

#[tokio::test]
async fn log_tells_each_request_and_its_file_tells_the_same() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let file = directory.path().join("requests.jsonl");
    let web = start(PracticePlan { log_file: Some(file.clone()), ..PracticePlan::small(6, 2) }).await;
    let site = &web.sites().sites()[0];
    ask_main(&web, site, "/robots.txt").await;
    ask_main(&web, site, "/").await;
    web.log().wait_until(|entries| entries.len() == 2 && entries.iter().all(|entry| entry.end.is_some())).await;
    let entries = web.log().entries();
    let told: Vec<(u64, &str, &str, Option<u16>)> =
        entries.iter().map(|entry| (entry.seq, entry.host.as_str(), entry.path.as_str(), entry.status)).collect();
    let host = site.main_host.as_str();
    assert_eq!(told, [(0, host, "/robots.txt", Some(200)), (1, host, "/", Some(200))]);
    assert!(entries.iter().all(|entry| entry.field("user-agent") == Some(AGENT) && entry.address == site.address));
    let end_us = |entry: &LogEntry| entry.end.map(|end| end.end_us);
    assert!(end_us(&entries[0]) >= Some(entries[0].start_us) && end_us(&entries[0]) <= Some(entries[1].start_us));
    assert_eq!(RequestLog::read_file(&file).expect("it is readable"), entries);
    let report = web.audit(&rules());
    assert_eq!(report.to_string().lines().last(), Some("0 violations on 1 site, 2 requests"), "{report}");
    web.shutdown().await;
}

#[tokio::test]
async fn stalled_request_ends_in_the_log_when_its_asker_leaves() {
    let faults = Faults::none().with_page(PageFault::Stall);
    let web = start(PracticePlan { faults, ..PracticePlan::small(6, 2) }).await;
    let (site, path) = page_of(&web, PageFault::Stall);
    let mut stream = connect(&web, site.scheme, &site.main_host).await.expect("the handshake succeeds");
    send(&mut *stream, &site.main_host, path).await;
    web.log().wait_until(|entries| entries.len() == 1).await;
    assert_eq!(web.log().entries()[0].end, None);
    drop(stream);
    web.log().wait_until(|entries| entries[0].end.is_some()).await;
    assert_eq!(web.log().entries()[0].end.map(|end| end.ended_by), Some(EndedBy::Client));
    web.shutdown().await;
}

#[tokio::test]
async fn shut_down_web_listens_no_more_even_with_an_open_request() {
    let faults = Faults::none().with_page(PageFault::Stall);
    let web = start(PracticePlan { faults, ..PracticePlan::small(6, 2) }).await;
    let (site, path) = page_of(&web, PageFault::Stall);
    let (scheme, address, host) = (site.scheme, site.address, site.main_host.clone());
    let mut stream = connect(&web, scheme, &host).await.expect("the handshake succeeds");
    send(&mut *stream, &host, path).await;
    web.log().wait_until(|entries| entries.len() == 1).await;
    let ports = web.ports();
    web.shutdown().await;
    let refused = TcpStream::connect((address, ports.http)).await.map(drop).expect_err("nobody listens");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn addresses_outside_the_loopback_are_refused() {
    let plan = PracticePlan { base_address: Ipv4Addr::new(10, 0, 0, 0), ..PracticePlan::small(1, 1) };
    let refused = PracticeWeb::start(PracticeSites::generate(plan)).await;
    assert!(matches!(refused, Err(StartError::NotLoopback(_))));
}

#[tokio::test]
async fn seeds_and_resolve_table_name_every_site() {
    let web = start(PracticePlan::demo(1)).await;
    let table = web.resolve_table();
    assert_eq!((web.seeds().len(), table.len()), (64, 128));
    for (seed, site) in web.seeds().iter().zip(web.sites().sites()) {
        assert!(seed.contains(&site.name) && table.contains(&(site.name.clone(), site.address)), "{seed}");
        assert!(table.contains(&(format!("*.{}", site.name), site.address)));
    }
    assert!(web.seeds().iter().any(|seed| seed.starts_with("https://")));
    web.shutdown().await;
}
