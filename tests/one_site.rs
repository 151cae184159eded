//! One site under any name, through the running programs: a seeds file with every spelling of a host, and what the web saw of it.

use std::collections::BTreeSet;

use lohisoftbot::practice_web::faults::Faults;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::site_plan::PageHost;

use crate::harness::Rig;

/// The most page requests that a site may get.
const BUDGET: usize = 20;

/// ASCII letters in their full-width forms.
fn full_width(text: &str) -> String {
    let wide = |c: char| char::from_u32(u32::from(c) + 0xFEE0).filter(|_| c.is_ascii_lowercase()).unwrap_or(c);
    text.chars().map(wide).collect()
}

fn percent_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn seeds_file_with_every_spelling_of_a_host_is_one_site_to_the_web_and_one_exclusion_takes_it_out() {
    let plan = PracticePlan {
        pages_per_site: (30, 40),
        base_address: [127, 80, 0, 0].into(),
        faults: Faults::none(),
        ..PracticePlan::small(80, 1)
    };
    let rig = Rig::start(plan, |_| {});
    let site = &rig.web().sites().sites()[0];
    let host = site.host(PageHost::Main);
    let (scheme, port) = (site.scheme.as_str(), rig.web().ports().of(site.scheme));
    let names = [
        host.clone(),
        host.to_uppercase(),
        format!("{host}."),
        host.replace('.', "。"),
        host.replace('.', "%2e"),
        full_width(&host),
        percent_encoded(&host),
        format!("{}｡", full_width(&host.to_lowercase()).replace('.', "．")),
    ];
    let paths: Vec<&str> = site.pages.iter().map(|page| page.path.as_str()).collect();
    let seeds: Vec<String> =
        names.iter().zip(paths.iter().cycle()).map(|(name, path)| format!("{scheme}://{name}:{port}{path}")).collect();
    let seeds_path = rig.path("spelled.txt");
    std::fs::write(&seeds_path, seeds.join("\n")).unwrap();

    let mut node = rig.node(&["--seeds", seeds_path.to_str().unwrap(), "--until-idle", "--max-wait", "3s"]);
    node.expect_end(0);
    rig.expect_no_violation();
    let entries = rig.web().log().entries();
    let hosts: BTreeSet<&str> = entries.iter().map(|entry| entry.field("host").unwrap()).collect();
    assert!(hosts.iter().all(|asked| asked.rsplit_once(':').unwrap().0.ends_with(&site.name)), "{hosts:?}");
    let main = format!("{host}:{port}");
    let num_robots =
        entries.iter().filter(|entry| entry.path == "/robots.txt" && entry.field("host").unwrap() == main).count();
    assert_eq!(num_robots, 1, "one origin has one robots.txt");
    let num_pages = entries.iter().filter(|entry| entry.path != "/robots.txt").count();
    assert_eq!(num_pages, BUDGET);
    assert_eq!(rig.rows(&["sites"]).len(), 1);

    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    let answer = rig.ask(&["exclude", &format!("{}.", full_width(&site.name.to_uppercase()))]);
    assert_eq!(answer["removed"]["num_sites"], 1, "{answer}");
    assert_eq!(rig.ask(&["exclusions"])["exclusions"][0]["domain"], site.name.as_str());
    let refused = rig.ctl(&["--json", "seed", &format!("{scheme}://{}:{port}/", names[3])]);
    assert!(refused.stdout.contains("exclu"), "{refused:?}");
    rig.ctl(&["shutdown"]).expect_code(0);
    node.expect_end(0);
    assert_eq!(rig.web().log().num_requests(), entries.len(), "an excluded seed was asked");
}
