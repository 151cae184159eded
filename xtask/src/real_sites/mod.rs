//! Real input: Debian's HTML documentation, served by nginx on loopback addresses and crawled by the node.
//!
//! Pages that nobody wrote for this crawler, a server that nobody wrote for it, and judges that share no code with it: nginx's access
//! log says what was asked and when, html5lib says what the pages hold. Installs missing packages as root; everything else lies in a
//! temporary folder, and no process outlives the routine.

mod access_log;
pub(crate) mod doc_sets;
mod nginx;
mod node;
pub(crate) mod packages;
mod stored;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use access_log::{Request, Rules};
use doc_sets::RealSite;
use nginx::Nginx;

/// Most page requests a site, as promised.
const MAX_PAGE_REQUESTS: usize = 20;
/// Fewest pages of a site that must be stored: documentation has plenty, so a crawl that ends with fewer lost some.
const MIN_STORED_PAGES: usize = 16;
/// What a log in whole milliseconds and a server that reads its clock once a turn may lose of a gap.
const GAP_TOLERANCE_MS: u64 = 5;
/// The two published forms of the User-Agent.
const AGENTS: [&str; 2] = ["LohiSoftBot/1.0 (+message@lohisoft.com)", "LohiSoftBot/1.0 (+https://lohisoft.com/bot)"];
/// Problems shown before the rest is only counted.
const MAX_SHOWN: usize = 60;

/// What to do.
#[derive(Args)]
pub struct Options {
    /// Only serve the sites and read them with html5lib: checks the ground, crawls nothing.
    #[arg(long)]
    ground_only: bool,
    /// Take `lohisoftbot` and `lohisoftbot-dump` from this folder instead of building them for release.
    #[arg(long, value_name = "DIR")]
    binaries: Option<PathBuf>,
    /// Keep the folder with nginx's log, the configuration and the store, and say where it is.
    #[arg(long)]
    keep: bool,
}

/// Runs the routine.
///
/// # Errors
/// Something is missing, or a promise was broken; each broken one is printed before.
pub fn run(options: &Options) -> Result<()> {
    let folder =
        tempfile::Builder::new().prefix("real-sites-").tempdir().context("cannot create a temporary folder")?;
    let result = run_in(folder.path(), options);
    if options.keep {
        println!("kept: {}", folder.keep().display());
    }
    result
}

fn run_in(folder: &Path, options: &Options) -> Result<()> {
    let sites = doc_sets::prepare(&folder.join("overlays"))?;
    let nginx = Nginx::start(&sites, &folder.join("nginx"))?;
    for site in &sites {
        println!(
            "{:<18} http://{}:{}/  {} pages of {}",
            site.host,
            site.address,
            nginx.port(),
            site.num_pages(),
            site.package
        );
    }
    if options.ground_only {
        return check_ground(&sites, &nginx);
    }
    let binaries = match &options.binaries {
        Some(folder) => node::Binaries::in_folder(folder)?,
        None => node::Binaries::build()?,
    };
    let run = node::Run::prepare(&folder.join("node"), &sites, nginx.port())?;
    let crawled = run.crawl(&binaries);
    // What came in is judged whatever the node says of itself.
    let requests = access_log::parse(&nginx.access_log()?)?;
    let mut problems = check_requests(&requests, &sites);
    crawled.with_context(|| format!("{} broken promises until then", problems.len()))?;
    let pages = stored::parse_dump(&run.dump_pages(&binaries)?)?;
    problems.extend(check_store(&pages, &sites)?);
    print_table(&requests, &pages, &sites);
    conclude(&problems)
}

/// What nginx saw, held against the promises.
fn check_requests(requests: &[Request], sites: &[RealSite]) -> Vec<String> {
    let forbidden = sites.iter().filter_map(|site| Some((site.host.to_owned(), site.forbidden?.to_owned()))).collect();
    let rules = Rules {
        max_page_requests: MAX_PAGE_REQUESTS,
        min_gap_ms: node::MIN_DELAY_MS,
        tolerance_ms: GAP_TOLERANCE_MS,
        agents: &AGENTS,
        forbidden,
    };
    access_log::audit(requests, &rules).iter().map(ToString::to_string).collect()
}

/// What was stored, held against the files that were served.
fn check_store(pages: &[stored::StoredPage], sites: &[RealSite]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for site in sites {
        let num_stored = num_pages_of(pages, site);
        if num_stored < MIN_STORED_PAGES {
            problems.push(format!("{}: {num_stored} pages stored, {MIN_STORED_PAGES} expected", site.host));
        }
    }
    let read = stored::ask_oracle(&stored::files_of(pages, sites)?)?;
    for (page, read) in pages.iter().zip(&read) {
        problems.extend(
            stored::differences(&page.texts, read).into_iter().map(|difference| format!("{}: {difference}", page.url)),
        );
        if page.texts.texts().any(|text| text.contains('\u{fffd}')) {
            problems.push(format!("{}: a stored text has a replacement character", page.url));
        }
    }
    problems.extend(stored::LANGUAGES.iter().filter_map(|language| stored::language_problem(language, pages)));
    Ok(problems)
}

fn num_pages_of(pages: &[stored::StoredPage], site: &RealSite) -> usize {
    pages.iter().filter(|page| page.host_and_path().is_some_and(|(host, _)| host == site.host)).count()
}

fn print_table(requests: &[Request], pages: &[stored::StoredPage], sites: &[RealSite]) {
    println!("{:<18} {:>9} {:>7} {:>7} {:>13}", "site", "requests", "robots", "stored", "smallest gap");
    for site in sites {
        let of_site: Vec<&Request> = requests.iter().filter(|request| request.site == site.host).collect();
        let num_pages = access_log::num_page_requests(of_site.iter().copied());
        let gap = access_log::smallest_gap_ms(&of_site).map_or_else(|| "-".to_owned(), |gap_ms| format!("{gap_ms} ms"));
        let num_robots = of_site.len() - num_pages;
        println!("{:<18} {num_pages:>9} {num_robots:>7} {:>7} {gap:>13}", site.host, num_pages_of(pages, site));
    }
    let num_headings: usize = pages.iter().map(|page| page.texts.headings.len()).sum();
    println!("{} titles and {num_headings} headings held against html5lib", pages.len());
}

fn conclude(problems: &[String]) -> Result<()> {
    for problem in problems.iter().take(MAX_SHOWN) {
        println!("  {problem}");
    }
    match problems.len() {
        0 => {
            println!("real sites: nothing broken");
            Ok(())
        }
        more => bail!("real sites: {more} problems"),
    }
}

/// Serves every home page once and reads a sample of each package with html5lib.
fn check_ground(sites: &[RealSite], nginx: &Nginx) -> Result<()> {
    const SAMPLE: usize = 25;
    let mut problems = Vec::new();
    for site in sites {
        let home = get(site, nginx.port(), "/")?;
        let robots = get(site, nginx.port(), "/robots.txt")?;
        let wanted_robots = if site.forbidden.is_some() { "200" } else { "404" };
        if !home.contains("<title")
            || !home.starts_with("HTTP/1.1 200")
            || !robots.starts_with(&format!("HTTP/1.1 {wanted_robots}"))
        {
            problems.push(format!("{}: is not served as it should be", site.host));
        }
        let files = sample(site, SAMPLE)?;
        let started = Instant::now();
        let read = stored::ask_oracle(&files)?;
        let num_titles = read.iter().filter(|page| page.title.is_some()).count();
        let num_headings: usize = read.iter().map(|page| page.headings.len()).sum();
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{:<18} {} files: {num_titles} titles, {num_headings} headings, {seconds:.1} s",
            site.host,
            files.len()
        );
        if num_titles != files.len() {
            problems.push(format!("{}: html5lib finds no title in {} files", site.host, files.len() - num_titles));
        }
    }
    let requests = access_log::parse(&nginx.access_log()?)?;
    let mut num_requests: BTreeMap<&str, usize> = BTreeMap::new();
    for request in &requests {
        *num_requests.entry(&request.site).or_default() += 1;
    }
    for site in sites {
        if num_requests.get(site.host) != Some(&2) {
            problems.push(format!("{}: the access log does not show its two requests", site.host));
        }
    }
    conclude(&problems)
}

/// The home page and some pages that lie beside it, or in Romanian where it has languages below it.
fn sample(site: &RealSite, count: usize) -> Result<Vec<PathBuf>> {
    let home = site.file_of("/");
    let places = ["/ro/", "/ro-RO/", "/"].map(|path| site.file_of(path));
    let folder =
        places.iter().find(|page| page.is_file()).and_then(|page| page.parent()).context("there is no page")?;
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let pages = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"));
    Ok(std::iter::once(home).chain(pages.take(count - 1)).collect())
}

/// One plain request; the whole answer, head included.
fn get(site: &RealSite, port: u16, path: &str) -> Result<String> {
    let mut stream =
        TcpStream::connect((site.address, port)).with_context(|| format!("cannot connect to {}", site.host))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", site.host)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
