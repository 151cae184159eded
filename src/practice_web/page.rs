//! A planned page as HTML. The same page, sites and ports give the same text.

use std::fmt::Write as _;

use fastrand::Rng;

use super::{
    barriers::{self, Dress},
    faults::PageFault,
    labels::AnswerKind,
    site_plan::{LinkForm, PagePlan, PlannedLink, Ports, PracticeSites, Rel, SitePlan},
    words::Writer,
};

/// What the page says about its own charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetNote {
    /// A meta charset element with this name.
    Meta(&'static str),
    /// A meta http-equiv element with this name.
    HttpEquiv(&'static str),
    /// Nothing.
    Silent,
}

/// How many links stand in the navigation before the text; the others stand behind it.
const NUM_NAVIGATION_LINKS: usize = 7;

const STYLE: &str = "<style>\nbody { margin: 0; font: 16px/1.5 Georgia, serif; color: #222; background: #fdfcf9; }\n\
    header, main, aside, footer { max-width: 62rem; margin: 0 auto; padding: 0 1rem; }\nnav ul { list-style: none; display: flex; }\n\
    nav a { padding: .25rem .5rem; text-decoration: none; }\ntable { border-collapse: collapse; } td, th { border: 1px solid #ccc; }\n\
    @media (max-width: 40rem) { nav ul { display: block; } }\n</style>\n";
const SCRIPT: &str = "<script>\n(function () {\n  var root = document.documentElement;\n  if (1 < 2 && root) { root.className += ' js'; }\n\
    })();\n</script>\n";

/// The HTML of a page.
pub fn render(sites: &PracticeSites, site: &SitePlan, page: &PagePlan, ports: Ports, note: CharsetNote) -> String {
    let mut rng = Rng::with_seed(page.text_seed);
    let mut html = String::with_capacity(page.target_bytes + 8_192);
    push_head(&mut html, site, page, ports, note, &mut rng);
    let fail_point = if page.answer == AnswerKind::PanicPage { " data-fail-point=\"panic\"" } else { "" };
    let _ = write!(html, "<body class=\"page\"{fail_point}>\n<header>\n<nav aria-label=\"main\">\n<ul>\n");
    let (navigation, further) = page.links.split_at(page.links.len().min(NUM_NAVIGATION_LINKS));
    push_links(&mut html, sites, site, page, navigation, ports);
    html.push_str("</ul>\n</nav>\n</header>\n<main>\n<article>\n");
    if page.answer == AnswerKind::LoginForm {
        html.push_str(
            "<form method=\"post\" action=\"/login\">\n<label>Name <input name=\"user\"></label>\n\
             <label>Password <input type=\"password\" name=\"password\"></label>\n<button>Log in</button>\n</form>\n",
        );
    }
    html.push_str(dress_of(page.answer).in_body);
    push_text(&mut html, page, &mut rng);
    html.push_str("</article>\n</main>\n<aside>\n<ul>\n");
    push_links(&mut html, sites, site, page, further, ports);
    let _ = write!(html, "</ul>\n</aside>\n<footer>\n<p>{}</p>\n</footer>\n</body>\n</html>\n", site.name);
    html
}

fn push_head(html: &mut String, site: &SitePlan, page: &PagePlan, ports: Ports, note: CharsetNote, rng: &mut Rng) {
    let _ = write!(html, "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n", page.language.tag());
    let _ = match note {
        CharsetNote::Meta(name) => writeln!(html, "<meta charset=\"{name}\">"),
        CharsetNote::HttpEquiv(name) => {
            writeln!(html, "<meta http-equiv=\"Content-Type\" content=\"text/html; charset={name}\">")
        }
        CharsetNote::Silent => Ok(()),
    };
    html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let title = escape(&page.title);
    // Titles broken over lines are common, and a reader has to collapse them.
    let _ = if rng.u8(0..3) == 0 {
        writeln!(html, "<title>\n    {}\n  </title>", title.replacen(' ', "\n    ", 1))
    } else {
        writeln!(html, "<title>{title}</title>")
    };
    if let Some(description) = &page.description {
        let _ = writeln!(html, "<meta name=\"description\" content=\"{}\">", escape(description));
    }
    html.push_str(dress_of(page.answer).in_head);
    if let Some((name, content)) = robots_meta(page.answer) {
        let _ = writeln!(html, "<meta name=\"{name}\" content=\"{content}\">");
    }
    let url = format!("{}{}", site.origin(page.host, ports), escape(&page.path));
    let _ = writeln!(html, "<link rel=\"canonical\" href=\"{url}\">");
    let _ = writeln!(
        html,
        "<meta property=\"og:type\" content=\"article\">\n<meta property=\"og:title\" content=\"{title}\">"
    );
    let _ = writeln!(html, "<meta property=\"og:url\" content=\"{url}\">");
    html.push_str(STYLE);
    html.push_str(SCRIPT);
    html.push_str("</head>\n");
}

/// What the page wears to show its fault.
fn dress_of(answer: AnswerKind) -> Dress {
    match answer {
        AnswerKind::Fault(fault) => barriers::dress(fault),
        AnswerKind::Page
        | AnswerKind::PanicPage
        | AnswerKind::LoginForm
        | AnswerKind::ChainHop
        | AnswerKind::Sitemap
        | AnswerKind::Trap(_)
        | AnswerKind::Robots(_) => Dress::default(),
    }
}

/// Name and content of the robots meta element of a page, if it has one.
fn robots_meta(answer: AnswerKind) -> Option<(&'static str, &'static str)> {
    const METAS: [(PageFault, (&str, &str)); 3] = [
        (PageFault::NoindexMeta, ("robots", "noindex")),
        (PageFault::NoindexOurs, ("LohiSoftBot", "NoIndex, follow")),
        (PageFault::NofollowMeta, ("robots", "nofollow")),
    ];
    METAS.iter().find(|(fault, _)| answer == AnswerKind::Fault(*fault)).map(|(_, meta)| *meta)
}

/// Headings with paragraphs, lists and tables between them, until the page has its size. The canary words stand in the first and
/// the last paragraph.
fn push_text(html: &mut String, page: &PagePlan, rng: &mut Rng) {
    let writer = Writer::new(page.language);
    let canaries = page.canaries.join(" ");
    if page.answer == AnswerKind::LoginForm {
        // A login form and little else.
        html.push_str(&canaries);
        return;
    }
    let start = html.len();
    let per_heading = page.target_bytes.saturating_sub(start) / page.headings.len().max(1);
    for (number, (level, text)) in page.headings.iter().enumerate() {
        let _ = writeln!(html, "<h{level} id=\"part-{number}\">{}</h{level}>", escape(text));
        let until = start + per_heading * (number + 1);
        if number == 0 {
            push_paragraph(html, &writer, &canaries, rng);
        }
        while html.len() < until {
            match rng.u8(0..12) {
                0 => push_list(html, &writer, rng),
                1 => push_table(html, &writer, rng),
                2 => {
                    let _ = writeln!(
                        html,
                        "<figure><img src=\"/img/{}.jpg\" alt=\"\" width=\"640\"></figure>",
                        rng.u16(..)
                    );
                }
                _ => push_paragraph(html, &writer, "", rng),
            }
        }
    }
    push_paragraph(html, &writer, &canaries, rng);
}

fn push_paragraph(html: &mut String, writer: &Writer, canaries: &str, rng: &mut Rng) {
    html.push_str("<p>");
    html.push_str(&writer.sentence(rng));
    if !canaries.is_empty() {
        let _ = write!(html, "{canaries} ");
    }
    for number in 0..rng.usize(2..7) {
        let sentence = writer.sentence(rng);
        let _ = if number == 3 { write!(html, "<em>{}</em> ", sentence.trim()) } else { write!(html, "{sentence}") };
    }
    html.push_str("</p>\n");
}

fn push_list(html: &mut String, writer: &Writer, rng: &mut Rng) {
    html.push_str("<ul class=\"plain\">\n");
    for _ in 0..rng.usize(3..8) {
        let _ = writeln!(html, "<li>{}</li>", writer.sentence(rng).trim());
    }
    html.push_str("</ul>\n");
}

fn push_table(html: &mut String, writer: &Writer, rng: &mut Rng) {
    html.push_str("<table>\n");
    for _ in 0..rng.usize(3..9) {
        let _ = writeln!(html, "<tr><td>{}</td><td>{}</td></tr>", writer.phrase(rng, 2), rng.u16(..));
    }
    html.push_str("</table>\n");
}

fn push_links(
    html: &mut String,
    sites: &PracticeSites,
    site: &SitePlan,
    page: &PagePlan,
    links: &[PlannedLink],
    ports: Ports,
) {
    for link in links {
        let rel = match link.rel {
            Rel::Plain => "",
            Rel::Nofollow => " rel=\"nofollow\"",
        };
        let href = escape(&href(sites, site, page, link, ports));
        let _ = writeln!(html, "<li><a href=\"{href}\"{rel}>{}</a></li>", escape(&link.text));
    }
}

fn href(sites: &PracticeSites, site: &SitePlan, page: &PagePlan, link: &PlannedLink, ports: Ports) -> String {
    let target = &link.target;
    if target.site != site.index || target.host != page.host {
        return sites.url(target, ports);
    }
    match link.form {
        LinkForm::Absolute => sites.url(target, ports),
        LinkForm::Path => target.path.clone(),
        LinkForm::Fragment => format!("{}#part-1", target.path),
        LinkForm::SchemeRelative => {
            let url = sites.url(target, ports);
            url.strip_prefix(site.scheme.as_str()).and_then(|rest| rest.strip_prefix(':')).unwrap_or(&url).to_owned()
        }
        LinkForm::Relative => {
            let directory = page.path.rfind('/').map_or("/", |slash| &page.path[..=slash]);
            // A query may hold slashes of its own; such a page has no directory to be relative to.
            let rest = if page.path.contains('?') { None } else { target.path.strip_prefix(directory) };
            rest.filter(|rest| !rest.is_empty()).unwrap_or(&target.path).to_owned()
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
