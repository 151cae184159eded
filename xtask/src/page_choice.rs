//! Runs the example `page_choice` on Debian's documentation and on a practice web, and writes the tables of docs/PAGE_CHOICE.md.
//!
//! The example measures; here is only what it is given, what must come of it, and how it is shown. Nothing is served and nothing is
//! asked: the example reads the packages' files. The tables stand between two markers, and nothing else of the page is touched.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::command::{Built, capture, workspace_root};
use crate::real_sites::doc_sets::{self, RealSite};
use crate::real_sites::packages;

const PAGE: &str = "docs/PAGE_CHOICE.md";
const BEGIN: &str = "<!-- written by `cargo xtask page-choice` from here -->";
const END: &str = "<!-- to here -->";

/// On what, and what must come of it.
#[derive(Args)]
pub struct Options {
    /// The seed of the practice web.
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Its sites; those with an ordinary robots.txt are measured.
    #[arg(long, value_name = "N", default_value_t = 64)]
    sites: u32,
    /// The least share of what the all-knowing crawler brings home that is wanted on each real site, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 85)]
    bar: u32,
    /// Print the tables, and leave the page as it is.
    #[arg(long)]
    dry_run: bool,
}

/// What the example says of one site; shares are of all weight.
#[derive(Clone, Debug, Deserialize)]
struct Figures {
    site: String,
    is_real: bool,
    urls: u64,
    documents: u64,
    twins: u64,
    is_cut: bool,
    requests: u64,
    ours: f64,
    breadth_first: f64,
    greedy: f64,
}

impl Figures {
    /// What a share is of the all-knowing crawler's; all of it where there is nothing to bring home.
    fn of_greedy(&self, share: f64) -> f64 {
        if self.greedy > 0.0 { share / self.greedy } else { 1.0 }
    }
}

/// Measures, prints, and writes the page.
///
/// # Errors
/// A package is missing, the example does not build or fails, the page has no markers, or a real site stays below the bar.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let sites = doc_sets::prepare(&folder.path().join("overlays"))?;
    let folders: Vec<_> =
        sites.iter().map(|site| json!({"host": site.host, "root": site.root, "overlay": site.overlay})).collect();
    let list = folder.path().join("folders.json");
    fs::write(&list, serde_json::to_string(&folders)?).with_context(|| format!("cannot write {}", list.display()))?;
    let built = Built::with(&["--quiet", "--workspace", "--example", "page_choice"])?;
    let mut example = Command::new(built.executable("example", "page_choice")?);
    example.arg(&list).args([options.seed.to_string(), options.sites.to_string()]);
    let said = capture(&mut example)?;
    if !said.succeeded {
        bail!("the example failed: {}", said.stderr);
    }
    let read = |line: &str| serde_json::from_str(line).with_context(|| format!("the example said {line:?}"));
    let figures = said.stdout.lines().map(read).collect::<Result<Vec<Figures>>>()?;
    let text = tables(&figures, &versions(&sites)?, options);
    println!("{text}");
    if !options.dry_run {
        let page = workspace_root().join(PAGE);
        let old = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        fs::write(&page, with_tables(&old, &text)?).with_context(|| format!("cannot write {}", page.display()))?;
    }
    judge(&figures, options.bar)
}

/// The package and version of each real site.
fn versions(sites: &[RealSite]) -> Result<BTreeMap<String, String>> {
    let version = |site: &RealSite| {
        let words = format!("{} {}", site.package, packages::version_of(&site.package)?);
        Ok((site.host.to_owned(), words))
    };
    sites.iter().map(version).collect()
}

fn judge(figures: &[Figures], bar: u32) -> Result<()> {
    if let Some(cut) = figures.iter().find(|site| site.is_cut) {
        bail!("page choice: {} has more URLs than are looked at", cut.site);
    }
    let bar = f64::from(bar) / 100.0;
    let low = figures.iter().filter(|site| site.is_real && site.of_greedy(site.ours) < bar);
    let low: Vec<&str> = low.map(|site| site.site.as_str()).collect();
    if !low.is_empty() {
        bail!("page choice: below the bar on {}", low.join(", "));
    }
    Ok(())
}

fn tables(figures: &[Figures], versions: &BTreeMap<String, String>, options: &Options) -> String {
    let mut text = String::from(
        "| real site | package | URLs | twins | ours | breadth-first | all-knowing | ours of all-knowing | breadth-first of it |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for site in figures.iter().filter(|site| site.is_real) {
        let version = versions.get(&site.site).map_or("", String::as_str);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "| {} | {version} | {} | {} | {} |", site.site, site.urls, site.twins, shares(site));
    }
    let practice: Vec<&Figures> = figures.iter().filter(|site| !site.is_real).collect();
    let mean = |of: &dyn Fn(&Figures) -> f64| {
        100.0 * practice.iter().map(|site| of(site)).sum::<f64>() / practice.len().max(1) as f64
    };
    let _ = write!(
        text,
        "\nPractice web of seed {}, {} sites, the {} of them with an ordinary robots.txt: on average {:.1} % of the all-knowing \
         crawler's share, breadth-first {:.1} %.\n\n\
         | practice site | URLs | documents | requests | ours | breadth-first | all-knowing | ours of all-knowing | breadth-first of it |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        options.seed,
        options.sites,
        practice.len(),
        mean(&|site| site.of_greedy(site.ours)),
        mean(&|site| site.of_greedy(site.breadth_first)),
    );
    for site in practice {
        let Figures { site: name, urls, documents, requests, .. } = site;
        let _ = writeln!(text, "| {name} | {urls} | {documents} | {requests} | {} |", shares(site));
    }
    text
}

fn shares(site: &Figures) -> String {
    let of_greedy = [site.ours, site.breadth_first].map(|share| 100.0 * site.of_greedy(share));
    let [ours, breadth_first, greedy] = [site.ours, site.breadth_first, site.greedy].map(|share| 100.0 * share);
    format!("{ours:.1} % | {breadth_first:.1} % | {greedy:.1} % | **{:.1} %** | {:.1} %", of_greedy[0], of_greedy[1])
}

/// The page with these tables between its markers.
fn with_tables(page: &str, tables: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("{PAGE} lacks the line {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} lacks the line {END}"))?;
    Ok(format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(site: &str, is_real: bool, ours: f64) -> Figures {
        Figures {
            site: site.to_owned(),
            is_real,
            urls: 3,
            documents: 2,
            twins: 1,
            is_cut: false,
            requests: 3,
            ours,
            breadth_first: 0.2,
            greedy: 0.5,
        }
    }

    #[test]
    fn the_tables_take_the_place_of_older_ones_and_nothing_else_changes() {
        let page = format!("# Head\n{BEGIN}\nold\n{END}\ntail\n");
        let wanted = format!("# Head\n{BEGIN}\n\n| new |\n\n{END}\ntail\n");
        assert_eq!(with_tables(&page, "| new |\n").unwrap(), wanted);
        assert_eq!(with_tables(&wanted, "| new |\n").unwrap(), wanted);
        assert!(with_tables("# Head\n", "new").is_err());
    }

    #[test]
    fn real_sites_alone_must_reach_the_bar() {
        assert!(judge(&[figures("a", true, 0.43), figures("b", false, 0.1)], 85).is_ok());
        assert!(judge(&[figures("a", true, 0.42)], 85).is_err());
        assert!(judge(&[Figures { is_cut: true, ..figures("a", true, 0.5) }], 85).is_err());
    }

    #[test]
    fn a_row_shows_the_shares_and_what_they_are_of_the_best() {
        assert_eq!(shares(&figures("a", true, 0.45)), "45.0 % | 20.0 % | 50.0 % | **90.0 %** | 40.0 %");
    }
}
