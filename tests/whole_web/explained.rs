//! What `explain` says of one URL of each kind, held against what the generator knows of it.

use std::collections::{BTreeMap, BTreeSet};

use lohisoftbot::control::{AskedUrl, Command};
use lohisoftbot::practice_web::faults::{FaultWeight, PageFault, RobotsKind, SitemapKind};
use lohisoftbot::practice_web::labels::{AnswerKind, ForbiddenBy, Permission, UrlLabel};
use serde_json::Value;

use super::crawl::crawl;
use super::url_of;
use crate::harness::Rig;

/// An explanation and what it is about.
pub struct Explained {
    label: UrlLabel,
    robots: RobotsKind,
    was_asked: bool,
    answer: Value,
}

/// Asks about one URL of each kind: one that was asked for, where there is one.
pub fn one_of_each(rig: &Rig) -> Vec<Explained> {
    let asked: BTreeSet<String> = rig.web().log().entries().iter().map(url_of).collect();
    let mut chosen: BTreeMap<String, (UrlLabel, bool)> = BTreeMap::new();
    let plans = rig.web().sites().sites();
    let of_site: BTreeMap<&str, RobotsKind> = plans.iter().map(|site| (site.name.as_str(), site.robots)).collect();
    let sitemaps: BTreeMap<&str, Option<SitemapKind>> =
        plans.iter().map(|site| (site.name.as_str(), site.sitemap)).collect();
    for label in rig.web().labels() {
        let was_asked = asked.contains(&label.url);
        let closed_home = label.path == "/" && label.permission == Permission::Forbidden(ForbiddenBy::ClosedSite);
        let kind = if closed_home { Some(of_site[label.site.as_str()]) } else { None };
        let sitemap = sitemaps[label.site.as_str()].filter(|_| label.answer == AnswerKind::Sitemap);
        let key = format!("{:?} {:?} {kind:?} {sitemap:?}", label.answer, label.permission);
        let better = chosen.get(&key).is_none_or(|(_, had)| was_asked && !had);
        if better {
            chosen.insert(key, (label, was_asked));
        }
    }
    let explain = |(label, was_asked): (UrlLabel, bool)| {
        let answer = rig.ask_at_once(&Command::Explain { asked: AskedUrl::parse(&label.url).unwrap() });
        Explained { robots: of_site[label.site.as_str()], label, was_asked, answer }
    };
    chosen.into_values().map(explain).collect()
}

/// The words of the reasons that fit; none where several fates can be defended.
fn fitting(explained: &Explained) -> Option<&'static [&'static str]> {
    let Explained { label, robots, was_asked, .. } = explained;
    match (label.permission, label.answer) {
        (Permission::Forbidden(ForbiddenBy::RobotsRule), _) => {
            Some(&["robots_line", "robots_usage", "resting_site", "not_linked"])
        }
        (Permission::Forbidden(ForbiddenBy::ClosedSite), _) if label.path == "/" => Some(match robots {
            RobotsKind::DisallowAll => &["robots_line"],
            RobotsKind::Unauthorized => &["robots_login"],
            // Reading one another's, they are left alone for as long as the other is.
            _ => &["robots_unreachable", "retry_after", "backoff", "no_answer"],
        }),
        (Permission::Forbidden(ForbiddenBy::ClosedSite | ForbiddenBy::ForeignHop), _) => None,
        // At the end of a cycle links to pages that were not taken go.
        (Permission::Forbidden(ForbiddenBy::Nofollow), _) => Some(&["nofollow", "resting_site", "not_linked"]),
        (Permission::Forbidden(ForbiddenBy::TooLong), _) => Some(&["url_too_long"]),
        (Permission::Forbidden(ForbiddenBy::Barrier), _) => Some(&["resting_site", "not_linked"]),
        (Permission::Allowed, AnswerKind::Robots(_)) if label.path == "/robots.txt" => Some(&["robots_file"]),
        (Permission::Allowed, AnswerKind::Robots(_)) => Some(&["earlier_cycle", "resting_site", "not_linked"]),
        (Permission::Allowed, _) if !was_asked => None,
        (Permission::Allowed, AnswerKind::Page | AnswerKind::Trap(_)) => Some(&["stored"]),
        (Permission::Allowed, AnswerKind::PanicPage) => Some(&["extraction_failed"]),
        (Permission::Allowed, AnswerKind::ChainHop) => Some(&["redirect", "moved"]),
        (Permission::Allowed, AnswerKind::LoginForm) => Some(&["barrier"]),
        (Permission::Allowed, AnswerKind::Sitemap) => Some(&["sitemap_read", "no_sitemap"]),
        (Permission::Allowed, AnswerKind::Fault(fault)) => Some(of_fault(fault)),
    }
}

fn of_fault(fault: PageFault) -> &'static [&'static str] {
    match fault {
        PageFault::NotFound | PageFault::Gone => &["gone"],
        PageFault::BadRequest | PageFault::ContentTooLarge => &["status"],
        PageFault::Redirect301 | PageFault::Redirect308 => &["moved"],
        PageFault::Redirect302 | PageFault::Redirect303 | PageFault::Redirect307 => &["redirect"],
        PageFault::RedirectChain
        | PageFault::RedirectChainTooLong
        | PageFault::RedirectToForbidden
        | PageFault::RedirectToOtherSite => &["redirect", "moved"],
        PageFault::RedirectToSelf => &["redirect_nowhere"],
        PageFault::EndlessBody | PageFault::ShortBody | PageFault::CutChunks | PageFault::Bomb | PageFault::Drip => {
            &["stored_cut"]
        }
        PageFault::NoindexMeta
        | PageFault::NoindexOurs
        | PageFault::NoindexHeader
        | PageFault::NoindexLastHeader
        | PageFault::NoindexStructured
        | PageFault::SearchForbidden => &["noindex"],
        PageFault::Expired => &["noindex", "record_gone"],
        PageFault::Pdf | PageFault::Image => &["not_html"],
        PageFault::TooLongUrl => &["url_too_long"],
        // Whether a page that is asked for again and again gets its last try depends on what is left of the cycle.
        PageFault::ServerError | PageFault::MalformedHead | PageFault::Reset | PageFault::Stall => {
            &["too_many_tries", "budget_spent", "no_answer", "backoff"]
        }
        PageFault::RequestTimeoutOnce
        | PageFault::LimitedSeconds
        | PageFault::LimitedDate
        | PageFault::LimitedPlain
        | PageFault::UnavailableOnce => &["stored", "budget_spent", "retry_after", "backoff"],
        fault if fault.weight() == FaultWeight::Barrier => &["barrier"],
        // All that is odd about the others is how they come, or that they look like a barrier.
        _ => &["stored"],
    }
}

#[test]
fn explanation_of_one_url_of_each_kind_is_what_the_generator_knows_of_it() {
    let crawl = crawl();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for explained in &crawl.explained {
        let code = explained.answer["reason"].as_str().unwrap();
        seen.insert(code);
        let Some(fitting) = fitting(explained) else { continue };
        if !fitting.contains(&code) {
            let (answer, url) = (explained.label.answer, &explained.label.url);
            wrong.push(format!("{answer:?} {url}: {code}, not one of {fitting:?}: {:#}", explained.answer));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(crawl.explained.len() > 120, "{} kinds", crawl.explained.len());
    for code in [
        "stored",
        "stored_cut",
        "robots_line",
        "robots_login",
        "robots_unreachable",
        "robots_file",
        "noindex",
        "not_html",
        "gone",
        "redirect",
        "moved",
        "redirect_nowhere",
        "barrier",
        "status",
        "too_many_tries",
        "url_too_long",
        "not_linked",
        "sitemap_read",
        "no_sitemap",
        "extraction_failed",
    ] {
        assert!(seen.contains(code), "{code} is nowhere in {seen:?}");
    }
}

#[test]
fn explanation_of_a_page_that_was_asked_tells_when_on_what_ground_and_from_where() {
    for explained in crawl().explained.iter().filter(|explained| explained.was_asked) {
        let Explained { answer, label, .. } = explained;
        let requests = answer["requests"].as_array().unwrap_or_else(|| panic!("{}: {answer:#}", label.url));
        assert!(!requests.is_empty(), "{}: {answer:#}", label.url);
        let account = answer["account"].as_str().unwrap();
        assert!(account.contains("The last request for it left at "), "{account}");
        assert!(account.contains("LohiSoftBot/1.0"), "{account}");
    }
}
