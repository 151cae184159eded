//! Reads one mebibyte of something hostile, or of plain text of the same kind, and says what it cost. `cargo xtask bombs` runs it.
//!
//! `bombs` lists the inputs, one a line: its kind and its name, `plain` for the one that the others of its kind are compared with.
//! `bombs KIND NAME` reads that input three times in this process and prints the median in nanoseconds, and the most memory that the
//! process ever had, in KiB, less what it had before the first reading.
//!
//! A page is read under the node's own deadline, as it is in life; everything else must end by itself.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use lohisoftbot_core::extract::{FetchedPage, extract};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::robots::RobotsPolicy;
use lohisoftbot_core::sitemap::{SitemapFile, SitemapLimits, read};
use rustix::time::{ClockId, clock_gettime};
use url::Url;

const MIB: usize = 1 << 20;
/// How long the node reads one page at most.
const PAGE_DEADLINE: Duration = Duration::from_millis(200);
/// Readings of one process.
const NUM_READINGS: usize = 3;
/// Paths that a policy is asked about: a page's worth of links.
const NUM_PATHS: usize = 20;

/// A mebibyte: `start`, and then what `piece` gives for 0, 1, 2 and so on.
struct Input {
    kind: &'static str,
    name: &'static str,
    start: &'static str,
    piece: fn(usize) -> String,
}

/// A piece that is the same each time.
macro_rules! same {
    ($text:expr) => {
        |_| String::from($text)
    };
}

const fn robots(name: &'static str, start: &'static str, piece: fn(usize) -> String) -> Input {
    Input { kind: "robots", name, start, piece }
}

const fn page(name: &'static str, start: &'static str, piece: fn(usize) -> String) -> Input {
    Input { kind: "page", name, start, piece }
}

const fn sitemap(name: &'static str, start: &'static str, piece: fn(usize) -> String) -> Input {
    Input { kind: "sitemap", name, start, piece }
}

const INPUTS: [Input; 44] = [
    robots("plain", "User-agent: *\n", |n| format!("Disallow: /folder/page-{n}.html\n")),
    robots("one line of *a", "User-agent: *\nDisallow: /", same!("*a")),
    robots("long lines of *a", "User-agent: *\n", |n| format!("Disallow: /{}{n}\n", "*a".repeat(8000))),
    robots("short lines of *a", "User-agent: *\n", same!("Allow:*a*b\n")),
    robots("shortest lines", "User-agent: *\n", same!("Allow:*b\n")),
    robots("lines of stars", "User-agent: *\n", |n| format!("Disallow: /{}{n}\n", "*".repeat(8000))),
    robots("lines of dollars", "User-agent: *\n", |n| format!("Disallow: /{}{n}\n", "$".repeat(8000))),
    robots("lines of long literals", "User-agent: *\n", |n| format!("Disallow: /*{}{n}\n", "a".repeat(1000))),
    robots("percent signs", "User-agent: *\nDisallow: /", same!("%")),
    robots("user agents", "", |n| format!("User-agent: bot-{n}\n")),
    robots("line ends", "User-agent: *\n", same!("\r")),
    page("plain", "<title>Plain</title>", |_| format!("<p>{}</p>\n", "word ".repeat(60))),
    page("paragraphs with a link each", "<title>Plain</title>", |n| {
        format!("<p class=x>{}<a href=/{n} title=z>link</a></p>\n", "word ".repeat(60))
    }),
    page("nested divs", "", same!("<div>")),
    page("nested lists", "", same!("<ul><li>")),
    page("nested quotes with text", "", same!("<blockquote>x")),
    page("attributes of one tag", "<p", |n| format!(" a{n}")),
    page("attributes of many tags", "", same!("<p a b c d e f g h i j k l m n o p q r s t u v w x y z>")),
    page("open formatting tags", "<p>", |n| format!("<b a={n}>")),
    page("formatting opened again", "<p>", |n| if n < 4000 { format!("<b a={n}>") } else { "<p>x".to_owned() }),
    page("misnested formatting", "", same!("<a><b><i><u><p></a></b></i></u>")),
    page("misnested links", "", same!("<a href=/x><p>x</a>")),
    page("unclosed tables", "", same!("<table><td>x")),
    page("text in tables", "<table>", same!("x<tr>")),
    page("nested headings", "", same!("<h1>deep<div>")),
    page("nested links", "", same!("<a href=/x>deep<object>")),
    page("links", "", |n| format!("<a href=/{n}>x</a>")),
    page("links under a long base", "", |n| {
        if n == 0 { format!("<base href='/{}/'>", "d".repeat(2000)) } else { format!("<a href={n}>") }
    }),
    page("nested svg", "", same!("<svg><desc>")),
    page("nested templates", "", same!("<template>")),
    page("options", "<select>", same!("<option>")),
    page("entities", "", same!("&amp;")),
    page("entities without an end", "", same!("&notit")),
    page("comments", "", same!("<!---->")),
    page("end tags", "<div>", same!("</p>")),
    page("less-than signs", "", same!("<")),
    page("NUL bytes", "", same!("\0")),
    sitemap("plain", "<urlset>", |n| format!("<url><loc>https://a.example/page-{n}</loc></url>\n")),
    sitemap("nested elements", "<urlset><url>", same!("<a>")),
    sitemap("nested sitemaps", "<sitemapindex>", same!("<sitemap>")),
    sitemap("entries that are never closed", "<urlset>", same!("<url><loc>/a</loc>")),
    sitemap("attributes of one tag", "<urlset ", |n| format!("a{n}='b' ")),
    sitemap("entities", "<urlset><url><loc>", same!("&amp;")),
    sitemap("short relative URLs", "<urlset>", same!("<url><loc>x</loc></url>")),
];

impl Input {
    fn bytes(&self) -> Vec<u8> {
        let mut text = self.start.to_owned();
        let pieces = (0..).map(self.piece);
        for piece in pieces {
            if text.len() + piece.len() > MIB {
                break;
            }
            text.push_str(&piece);
        }
        text.into_bytes()
    }

    fn read(&self, bytes: &[u8]) {
        let at = Url::parse("https://a.example/s/sitemap.xml").expect("a constant URL parses");
        match self.kind {
            "robots" => {
                let policy = black_box(RobotsPolicy::parse(bytes, "LohiSoftBot"));
                for number in 0..NUM_PATHS {
                    let mut path = format!("/{number}/");
                    while path.len() < 2000 {
                        let _ = write!(path, "aaaaaaaaa{number}");
                    }
                    black_box(policy.verdict_for_path(&path));
                }
            }
            "page" => {
                let head = ResponseHead::new(200).with("Content-Type", "text/html; charset=utf-8");
                let page = FetchedPage { url: &at, head: &head, body: bytes, cut: false, product_token: "lohisoftbot" };
                let started = now();
                black_box(extract(page, &mut || now() - started < PAGE_DEADLINE));
            }
            _ => {
                let file = SitemapFile { at: &at, content_type: None, bytes, cut: false };
                black_box(read(file, &SitemapLimits::default(), &mut || true));
            }
        }
    }
}

/// The processor time of this thread, which other work on the machine does not lengthen.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// The most memory that this process ever had in use, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [kind, name] = &asked[..] else {
        INPUTS.iter().for_each(|input| println!("{} {}", input.kind, input.name));
        return ExitCode::SUCCESS;
    };
    let Some(input) = INPUTS.iter().find(|input| input.kind == kind && input.name == name) else {
        eprintln!("bombs: there is no input `{kind} {name}`");
        return ExitCode::from(2);
    };
    let bytes = input.bytes();
    let peak_before = peak_kib();
    let mut times: Vec<Duration> = (0..NUM_READINGS)
        .map(|_| {
            let started = now();
            input.read(&bytes);
            now() - started
        })
        .collect();
    times.sort();
    println!("{} {}", times[NUM_READINGS / 2].as_nanos(), peak_kib().saturating_sub(peak_before));
    ExitCode::SUCCESS
}
