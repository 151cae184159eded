//! The crawl that all tests of `addresses` look at: sites whose names, redirects, links and sitemaps lead to addresses that are not open.
//! It is made once, by whichever test comes first.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use hickory_resolver::proto::op::ResponseCode;
use lohisoftbot::practice_web::name_server::{Answer, PracticeNameServer, Question, Reply};
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::DiscoveryMode;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{PlainServer, Rig, Visit};

/// The only address that the configuration opens.
pub const OPEN: Ipv4Addr = Ipv4Addr::new(127, 95, 0, 1);
/// Loopback like it, but not open; somebody listens here all the same.
pub const CLOSED: [Ipv4Addr; 3] =
    [Ipv4Addr::new(127, 95, 0, 9), Ipv4Addr::new(127, 0, 0, 9), Ipv4Addr::new(127, 0, 0, 1)];

/// Hosts, with `{port}` for that of the servers, that stand for closed addresses, or for nothing that may be asked, in odd forms.
const ODD_FORMS: [&str; 20] = [
    "http://2130706433:{port}/",
    "http://0x7f.9:{port}/",
    "http://0177.0.0.011:{port}/",
    "http://127.9:{port}/",
    "http://127.0.0.9.:{port}/",
    "http://%31%32%37.0.0.9:{port}/",
    "http://１２７。０。０。９:{port}/",
    "http://[::ffff:127.0.0.9]:{port}/",
    "http://[::1]:{port}/",
    "http://localhost:{port}/",
    "http://www.localhost.:{port}/",
    "http://printer.local:{port}/",
    "http://hidden.onion:{port}/",
    "http://metadata.google.internal:{port}/",
    "http://user@127.0.0.9:{port}/",
    "http://forms.test:25/",
    "http://forms.test:6000/",
    "ftp://127.0.0.9:{port}/",
    "file://127.0.0.9/etc/passwd",
    "gopher://127.0.0.9:{port}/_x",
];

/// All that is left of the crawl.
pub struct Crawl {
    pub port: u16,
    pub visits: Vec<Visit>,
    pub asked: Vec<Question>,
    /// By site.
    pub sites: BTreeMap<String, BTreeMap<String, Value>>,
    /// What was said of each URL of the queues.
    pub frontier: BTreeMap<String, String>,
    /// What `explain` and `site` say for people of a refused URL and its site.
    pub explained: String,
    pub site_shown: String,
    /// Where the counting was tried out when all was over.
    pub control_visits: Vec<Visit>,
}

impl Crawl {
    /// The paths that were asked of a host, with where they were asked.
    pub fn asked_of(&self, host: &str) -> Vec<(Ipv4Addr, &str)> {
        self.visits.iter().filter(|visit| visit.host == host).map(|visit| (visit.to, visit.path.as_str())).collect()
    }

    /// How often the name server was asked for a name.
    pub fn num_asked(&self, name: &str) -> usize {
        self.asked.iter().filter(|question| question.name == name).count()
    }

    /// Why a URL was dropped.
    #[track_caller]
    pub fn fate_of(&self, url: &str) -> &str {
        let url = url.replace("{port}", &self.port.to_string());
        self.frontier.get(&url).unwrap_or_else(|| panic!("{url} is not among {:#?}", self.frontier.keys()))
    }
}

/// The crawl.
pub fn crawl() -> &'static Crawl {
    static CRAWL: LazyLock<Crawl> = LazyLock::new(make);
    &CRAWL
}

/// What the name server says, one answer a question.
fn names() -> Vec<(&'static str, Vec<Reply>)> {
    let records = |answers: &[Answer]| Reply::Records(answers.to_vec());
    let open = || records(&[Answer::address(OPEN)]);
    let closed = || records(&[Answer::address(CLOSED[0])]);
    let both = [Answer::address(CLOSED[0]), Answer::address(CLOSED[1]), Answer::address(OPEN)];
    vec![
        // robots.txt is read from the open address, and then the name turns.
        ("turn.test", vec![open(), closed()]),
        // It turns after two pages, and back again when it is too late.
        ("late.test", vec![open(), open(), open(), closed(), open()]),
        ("forms.test", vec![open()]),
        ("hop.test", vec![open()]),
        ("www.hop.test", vec![closed()]),
        ("page.test", vec![open()]),
        ("www.page.test", vec![closed()]),
        ("map.test", vec![open()]),
        ("www.map.test", vec![closed()]),
        ("many.test", vec![records(&both)]),
        ("kept.test", vec![records(&[Answer::address(OPEN).kept_for(86_400)])]),
        ("alias.test", vec![records(&[Answer::alias("target.test")])]),
        ("whole-alias.test", vec![records(&[Answer::alias("a.test"), Answer::address(CLOSED[0]).owned_by("a.test")])]),
        ("to-localhost.test", vec![records(&[Answer::alias("localhost")])]),
        ("target.test", vec![closed()]),
        ("mapped.test", vec![records(&[Answer::address(CLOSED[0].to_ipv6_mapped())])]),
        ("empty.test", vec![records(&[])]),
        ("broken.test", vec![Reply::Code(ResponseCode::ServFail)]),
        ("silent.test", vec![Reply::Silence]),
        ("garbage.test", vec![Reply::Garbage]),
        ("cut.test", vec![Reply::CutShort(vec![Answer::address(OPEN)])]),
        ("truncated.test", vec![Reply::Truncated]),
    ]
}

/// The hosts of the seeds.
const SEEDS: [&str; 24] = [
    "turn.test",
    "late.test",
    "forms.test",
    "hop.test",
    "page.test",
    "map.test",
    "many.test",
    "kept.test",
    "alias.test",
    "whole-alias.test",
    "to-localhost.test",
    "target.test",
    "mapped.test",
    "empty.test",
    "broken.test",
    "silent.test",
    "garbage.test",
    "cut.test",
    "truncated.test",
    "no-such-name.test",
    "127.95.0.9",
    "0x7f.9",
    "localhost",
    "hidden.onion",
];

/// What the servers answer, on whatever address they are reached.
fn answer(port: u16, host: &str, path: &str) -> String {
    let page = |body: &str| with_head("200 OK", "content-type: text/html\r\n", body);
    let redirect = |target: &str| with_head("302 Found", &format!("location: {}\r\n", encoded(target)), "");
    match (host, path) {
        ("hop.test", "/robots.txt") => redirect(&format!("http://www.hop.test:{port}/robots.txt")),
        ("map.test", "/robots.txt") => with_head(
            "200 OK",
            "content-type: text/plain\r\n",
            &format!(
                "Sitemap: http://www.map.test:{port}/sitemap.xml\nSitemap: http://127.0.0.9:{port}/sitemap.xml\n\
                 Sitemap: http://map.test:{port}/moved.xml\n"
            ),
        ),
        ("map.test", "/moved.xml") => redirect(&format!("http://www.map.test:{port}/sitemap.xml")),
        ("map.test", "/sitemap.xml") => with_head(
            "200 OK",
            "content-type: application/xml\r\n",
            &format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>http://www.map.test:{port}/listed</loc></url>\
                 <url><loc>http://map.test:{port}/listed</loc></url></urlset>"
            ),
        ),
        (_, "/robots.txt") => with_head("404 Not Found", "", ""),
        ("page.test", "/") => redirect(&format!("http://www.page.test:{port}/")),
        ("map.test", "/") => page(&format!("<a href=\"http://www.map.test:{port}/\">the same elsewhere</a>")),
        ("late.test" | "kept.test", _) => page("<a href=1>1</a><a href=2>2</a><a href=3>3</a><a href=4>4</a>"),
        ("forms.test", "/") => {
            let direct = ODD_FORMS.iter().map(|form| format!("<a href=\"{}\">x</a>", with_port(form, port)));
            let redirecting = (0..ODD_FORMS.len()).map(|number| format!("<a href=\"/go/{number}\">x</a>"));
            page(&direct.chain(redirecting).collect::<String>())
        }
        ("forms.test", path) => match path.strip_prefix("/go/").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => redirect(&with_port(ODD_FORMS[number], port)),
            None => with_head("404 Not Found", "", ""),
        },
        _ => page("<title>a page</title>"),
    }
}

fn with_head(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{fields}\r\n{body}", body.len())
}

fn with_port(form: &str, port: u16) -> String {
    form.replace("{port}", &port.to_string())
}

/// Full-width digits as a server would send them in a header field.
fn encoded(target: &str) -> String {
    let escape = |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    target.bytes().map(escape).collect()
}

fn make() -> Crawl {
    let server = PlainServer::start(&[OPEN, CLOSED[0], CLOSED[1], CLOSED[2]], answer);
    let name_server = PracticeNameServer::start(names()).unwrap();
    let port = server.port();
    // The practice web is here for its rig alone; nobody crawls it.
    let plan = PracticePlan { base_address: [127, 94, 0, 0].into(), ..PracticePlan::small(94, 1) };
    let rig = Rig::start(plan, |config| {
        config.network.allow_ranges = vec![OPEN.to_string().parse().unwrap()];
        config.network.nameservers = vec![name_server.address().to_string().parse().unwrap()];
        config.network.dns_timeout = Duration::from_millis(500);
        config.discovery.mode = DiscoveryMode::Links;
        config.politeness.min_delay = Duration::from_millis(20);
    });
    let seeds: Vec<String> = SEEDS.map(|host| format!("http://{host}:{port}/")).into();
    std::fs::write(rig.path("seeds.txt"), seeds.join("\n")).unwrap();
    rig.node_with_seeds(&["--until-idle", "--max-wait", "900ms"]).expect_end(0);

    let by_site = |row: BTreeMap<String, Value>| (row["site"].as_str().unwrap().to_owned(), row);
    let standing = |row: BTreeMap<String, Value>| {
        let words = row["reason"].as_str().or(row["standing"].as_str()).unwrap().to_owned();
        (row["url"].as_str().unwrap().to_owned(), words)
    };
    let sites = rig.rows(&["sites"]).into_iter().map(by_site).collect();
    let frontier = rig.rows(&["frontier", "--limit", "1000"]).into_iter().map(standing).collect();

    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    let explained = rig.ctl(&["explain", &format!("http://www.page.test:{port}/")]).expect_code(0).stdout;
    let site_shown = rig.ctl(&["site", "target.test"]).expect_code(0).stdout;
    node.signal(Signal::TERM);
    node.expect_end(0);

    let visits = server.visits();
    let last = CLOSED.map(|address| TcpStream::connect((address, port)).unwrap());
    drop(last);
    let mut control_visits = server.visits();
    while control_visits.len() < visits.len() + CLOSED.len() {
        std::thread::yield_now();
        control_visits = server.visits();
    }
    let control_visits = control_visits.split_off(visits.len());
    Crawl { port, visits, asked: name_server.asked(), sites, frontier, explained, site_shown, control_visits }
}
