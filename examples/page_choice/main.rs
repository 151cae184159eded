//! What share of a site's link weight twenty requests bring home: by the node's choice, in breadth-first order, and by a crawler that
//! knows all. `cargo xtask page-choice` runs it and writes docs/PAGE_CHOICE.md, which says what is measured.
//!
//! `page_choice FOLDERS.json SEED SITES`: folders to serve as sites, as JSON (`[{"host":..,"root":..,"overlay":..}]`, `[]` for none), and the
//! practice web beside them. Prints a JSON line a site. Exit code: 0, or 2 where something cannot be read.

mod crawlers;
mod graph;
mod judge;
mod ours;
mod rank;
mod reading;
mod served;
#[cfg(test)]
mod tests;

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use lohisoftbot::practice_web::PracticeWeb;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::site_plan::PracticeSites;
use serde::Serialize;

use graph::Graph;
use judge::Weights;
use served::{DocFolder, PracticeSite, Served};

/// What a site came to; the shares are of all weight.
#[derive(Clone, Debug, Serialize)]
struct Figures {
    site: String,
    is_real: bool,
    urls: usize,
    documents: usize,
    twins: usize,
    is_cut: bool,
    requests: usize,
    ours: f64,
    breadth_first: f64,
    greedy: f64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folders, seed, sites] = &words[..] else {
        eprintln!("usage: page_choice FOLDERS.json SEED SITES");
        return ExitCode::from(2);
    };
    match run(folders, seed, sites) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("page_choice: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(folders: &str, seed: &str, sites: &str) -> anyhow::Result<()> {
    let text = fs::read_to_string(folders).with_context(|| format!("cannot read {folders}"))?;
    let folders: Vec<DocFolder> = serde_json::from_str(&text).with_context(|| format!("in {folders}"))?;
    for folder in &folders {
        println!("{}", serde_json::to_string(&measure(folder, Pages::Real)?)?);
    }
    for figures in measure_practice(&practice_web(seed.parse()?, sites.parse()?))? {
        println!("{}", serde_json::to_string(&figures)?);
    }
    Ok(())
}

fn practice_web(seed: u64, num_sites: usize) -> PracticeSites {
    PracticeWeb::generate(PracticePlan { num_sites, ..PracticePlan::demo(seed) })
}

/// The sites of a practice web whose robots.txt is an ordinary one: the others are there to be left alone.
fn measure_practice(sites: &PracticeSites) -> anyhow::Result<Vec<Figures>> {
    // Of a trap it is no merit to bring much home.
    let plain = sites.sites().iter().filter(|site| site.is_plain() && site.trap.is_none());
    plain.map(|site| measure(&PracticeSite { sites, site }, Pages::Generated)).collect()
}

/// Where the pages of a site are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pages {
    /// People wrote them.
    Real,
    /// The practice web made them.
    Generated,
}

fn measure(served: &dyn Served, pages: Pages) -> anyhow::Result<Figures> {
    let graph = Graph::of(served).with_context(|| served.name())?;
    let weights = Weights::of(&graph);
    let places = graph.places();
    let asked = ours::requests(served).with_context(|| served.name())?;
    let share = |kept: f64| kept / weights.total().max(f64::MIN_POSITIVE);
    Ok(Figures {
        site: served.name(),
        is_real: pages == Pages::Real,
        urls: graph.nodes.len(),
        documents: weights.of_document.len(),
        twins: weights.num_twins,
        is_cut: graph.is_cut,
        requests: asked.len(),
        ours: share(weights.kept(asked.iter().filter_map(|url| places.get(url).copied()))),
        breadth_first: share(weights.kept(crawlers::breadth_first(&graph))),
        greedy: share(weights.kept(crawlers::greedy(&graph, &weights))),
    })
}
